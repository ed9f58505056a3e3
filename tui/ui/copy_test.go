package ui_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
	"github.com/bizhook/whd/tui/ui"
)

// Each clipboard method copies the complete text and is named in the message.
func TestCopyNamesMethod(t *testing.T) {
	const text = "D100512\x1b[31m世"
	sequence := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	for _, test := range []struct {
		name string
		env  []string
		sent string
		want string
	}{
		{"over ssh", []string{"SSH_CONNECTION=1", "DISPLAY=:0"}, sequence, "sent to the terminal via OSC 52: 13 characters"},
		{"with the terminal of ssh", []string{"SSH_TTY=/dev/pts/1"}, sequence, "via OSC 52"},
		{"without a desktop", nil, sequence, "via OSC 52"},
		{
			"through tmux",
			[]string{"TMUX=/tmp/tmux,1,0"},
			sequence + "\x1bPtmux;\x1b" + sequence + "\x1b\\",
			"sent to the terminal via OSC 52 through tmux",
		},
		{"through screen", []string{"STY=1.pts"}, "\x1bP" + sequence + "\x1b\\", "via OSC 52 through screen"},
		{"as it is set", []string{"WHCTL_CLIPBOARD=osc52", "DISPLAY=:0"}, sequence, "via OSC 52"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TMUX", filepath.Join(t.TempDir(), "none")+",1,0") // no server
			d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Env: tuitest.Environment(test.env...)})
			d.Copied.Reset()
			d.App.Copy(text)
			d.Press("g")
			if d.Copied.String() != test.sent {
				t.Errorf("sent %q, want %q", d.Copied.String(), test.sent)
			}
			d.WantText(test.want)
		})
	}
}

// Inside tmux the text is given to tmux, which sends it to its terminal unless its option
// set-clipboard is off.
func TestCopyThroughTmux(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	script(t, dir, "tmux", "echo \"$@\" > '"+dir+"/options'; cat > '"+dir+"/copied'")
	env := tuitest.Environment("TMUX=/tmp/tmux,1,0", "SSH_TTY=/dev/pts/1")
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Env: env})
	d.Copied.Reset()
	d.App.Copy("00123")
	d.Press("g")
	d.WantText("sent to the terminal via OSC 52 through tmux: 5 characters")
	d.WantNoText("copied")
	wantFile(t, filepath.Join(dir, "options"), "load-buffer -w -\n")
	wantFile(t, filepath.Join(dir, "copied"), "00123")
	if d.Copied.Len() > 0 {
		t.Errorf("the terminal got %q, want nothing", d.Copied.String())
	}
}

// wantFile fails unless a file has a content.
func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s has %q, want %q", filepath.Base(path), got, want)
	}
}

// The clipboard program of the desktop is used; if it fails, OSC 52 is.
func TestCopyFallsBackToOSC52(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	script(t, dir, "xclip", "cat > '"+dir+"/copied'")
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{Env: tuitest.Environment("DISPLAY=:0")})
	d.Copied.Reset()
	d.App.Copy("00123")
	d.Press("g")
	d.WantText("copied via xclip: 5 characters")
	wantFile(t, filepath.Join(dir, "copied"), "00123")
	if d.Copied.Len() > 0 {
		t.Errorf("the terminal got %q, want nothing", d.Copied.String())
	}

	script(t, dir, "xclip", "exit 1")
	script(t, dir, "xsel", "exit 1")
	d.App.Copy("00123")
	d.Press("g")
	d.WantText("via OSC 52")
}

// script writes a program that runs shell commands.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Text that is too long for OSC 52 is written to a file that only the user can read.
func TestCopyLongTextToFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := strings.Repeat("x", ui.ClipMax)
	d := tuitest.Drive(t, tuitest.Unreachable(t), tui.Options{})
	d.Resize(200, 24)
	d.Copied.Reset()
	d.App.Copy(long)
	d.Press("g")
	d.WantText("written to "+os.Getenv("TMPDIR"), ": 74,994 characters")
	files := tuitest.Files(t, os.Getenv("TMPDIR"), "whctl-copy-*.txt")
	if len(files) != 1 || d.Copied.Len() > 0 {
		t.Fatalf("the files are %q, and the terminal got %d bytes; want one file, none", files, d.Copied.Len())
	}
	wantFile(t, files[0], long)
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the mode of the file is %v, want 0600", mode)
	}
}
