package command

import (
	"io"
	"os"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
)

// TestHasInput checks a pipe without data, with data and at its end, and that the data stays in it.
func TestHasInput(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s := &Session{Connector: profile.Connector{Stdin: reader}}
	if s.HasInput() {
		t.Error("an empty pipe has input")
	}
	if _, err := io.WriteString(writer, "text"); err != nil {
		t.Fatal(err)
	}
	if !s.HasInput() {
		t.Error("a pipe with a text has no input")
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if !s.HasInput() {
		t.Error("a closed pipe with a text has no input")
	}
	text, err := io.ReadAll(reader)
	if err != nil || string(text) != "text" {
		t.Errorf("after HasInput, the pipe had %q, error %v; want the text", text, err)
	}
	if s.HasInput() {
		t.Error("a pipe at its end has input")
	}
}

// TestFilesAreNoInput checks that only pipes count as input.
func TestFilesAreNoInput(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte("text"), 0); err != nil {
		t.Fatal(err)
	}
	s := &Session{Connector: profile.Connector{Stdin: file}}
	if s.HasInput() {
		t.Error("a file is input")
	}
}
