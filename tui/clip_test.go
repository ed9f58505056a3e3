package tui

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/tui/ui"
)

// environment answers like the variables of a session.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// lastCopied is the text that the terminal was asked to copy.
func (d *driver) lastCopied() string {
	d.t.Helper()
	_, encoded, _ := strings.Cut(d.copied.String(), "\x1b]52;c;")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "\a"))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// On every way the text arrives whole, and the user is told which way that was.
func TestClip(t *testing.T) {
	const text = "D100512\x1b[31m世"
	sequence := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	for _, test := range []struct {
		name string
		env  []string
		sent string
		told string
	}{
		{"over ssh", []string{"SSH_CONNECTION=1", "DISPLAY=:0"}, sequence, "copied 13 characters via OSC 52"},
		{"with the terminal of ssh", []string{"SSH_TTY=/dev/pts/1"}, sequence, "via OSC 52"},
		{"without a desktop", nil, sequence, "via OSC 52"},
		{"through tmux", []string{"TMUX=/tmp/tmux,1,0"}, "\x1bPtmux;\x1b" + sequence + "\x1b\\", "via OSC 52 through tmux"},
		{"through screen", []string{"STY=1.pts"}, "\x1bP" + sequence + "\x1b\\", "via OSC 52 through screen"},
		{"as it is set", []string{"WHCTL_CLIPBOARD=osc52", "DISPLAY=:0"}, sequence, "via OSC 52"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := drive(t, unreachable(t), Options{Env: environment(test.env...)})
			d.copied.Reset()
			d.app.Copy(text)
			d.press("g")
			if d.copied.String() != test.sent {
				t.Errorf("sent %q, want %q", d.copied.String(), test.sent)
			}
			d.sees(test.told)
		})
	}
}

// The program of the desktop gets the text; where it fails, the terminal does.
func TestClipOfTheDesktop(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	script(t, dir, "xclip", "cat > "+dir+"/copied")
	d := drive(t, unreachable(t), Options{Env: environment("DISPLAY=:0")})
	d.copied.Reset()
	d.app.Copy("00123")
	d.press("g")
	d.sees("copied 5 characters via xclip")
	if got, err := os.ReadFile(filepath.Join(dir, "copied")); string(got) != "00123" || err != nil || d.copied.Len() > 0 {
		t.Errorf("copied %q, %v, and to the terminal %q", got, err, d.copied.String())
	}
	script(t, dir, "xclip", "exit 1")
	script(t, dir, "xsel", "exit 1")
	d.app.Copy("00123")
	d.press("g")
	d.sees("via OSC 52")
}

func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// What is too long for a terminal goes to a file that only the user can read.
func TestClipOfLongText(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := strings.Repeat("x", ui.ClipMax)
	d := drive(t, unreachable(t), Options{})
	d.resize(200, 24)
	d.copied.Reset()
	d.app.Copy(long)
	d.press("g")
	d.sees("copied 74,994 characters to " + os.Getenv("TMPDIR"))
	files, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "whctl-copy-*.txt"))
	if len(files) != 1 || d.copied.Len() > 0 {
		t.Fatalf("files %v, and to the terminal %d bytes", files, d.copied.Len())
	}
	text, err := os.ReadFile(files[0])
	info, statErr := os.Stat(files[0])
	if string(text) != long || err != nil || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, %v, %v, %v", len(text), err, info.Mode(), statErr)
	}
}
