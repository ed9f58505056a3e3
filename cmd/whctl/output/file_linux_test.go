package output

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or a device is written, not replaced. Otherwise root could replace /dev/stdout
// by a file with a secret.
func TestReplaceFileKeepsPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0) // O_RDWR does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := ReplaceFile(path, []byte("new"), PrivateFile); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe was replaced: %v, %v", info, err)
	}
	text := make([]byte, 3)
	if _, err := reader.Read(text); err != nil || string(text) != "new" {
		t.Errorf("read %q, %v", text, err)
	}
}

// Errors of the temporary file name the file that it should have replaced.
func TestErrorsNameFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "totals.csv")
	_, opened := createPart(filepath.Join(dir, "gone", "totals.csv"), PrivateFile)
	part, err := createPart(path, PrivateFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(part.Name()); err != nil {
		t.Fatal(err)
	}
	kept := keepPart(part, path)
	if err := os.Symlink("/dev/full", part.Name()); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile(part.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	_, written := partWriter{full, path}.Write([]byte("x"))
	for want, err := range map[string]error{
		"open " + dir + "/gone/totals.csv: no such file or directory": opened,
		"rename " + path + ": no such file or directory":              kept,
		"write " + path + ": no space left on device":                 written,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
