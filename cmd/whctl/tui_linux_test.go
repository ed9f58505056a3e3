package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestHangupsRestoreTerminal checks that the screens end properly after several hangups, as a
// closed terminal sends them.
func TestHangupsRestoreTerminal(t *testing.T) {
	c := startOnTerminal(t, "tui")
	c.await("\x1b[?1049h") // the alternate screen
	go io.Copy(io.Discard, c.screen)
	for range 3 {
		err := c.cmd.Process.Signal(syscall.SIGHUP)
		if err != nil && !errors.Is(err, os.ErrProcessDone) { // the first one ends the program
			t.Fatal(err)
		}
	}
	if code := c.end(); code != 0 {
		t.Errorf("whctl tui after hangups: got exit code %d, want 0", code)
	}
}

// TestScreensNeedInputFromTerminal checks that the screens do not start without a keyboard. The
// terminal would be left in the alternate screen, with a hidden cursor.
func TestScreensNeedInputFromTerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(loginHandler))
	defer server.Close()
	for name, script := range map[string]string{
		"empty input":  `"$0" "$@" </dev/null`,
		"closed input": `"$0" "$@" <&-`,
		"pipe":         `echo q | "$0" "$@"`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startCommandOnTerminal(t, screensInShell(t, server.URL, script), server.URL)
			c.await("tui needs a terminal")
			c.wantEnd(2)
			c.wantNone("\x1b[?")
		})
	}
}

// screensInShell returns a shell that runs a script, which starts whctl tui as "$0" "$@".
func screensInShell(t *testing.T, url, script string) *exec.Cmd {
	t.Helper()
	program := process(t, url, "tui")
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script}, program.Args...)...)
	cmd.Env = program.Env
	return cmd
}

// TestSuspend checks that ctrl+z returns to a shell with job control. Without one, as in a
// terminal window of its own, the screens go on.
func TestSuspend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(loginHandler))
	defer server.Close()
	const (
		alternateScreen = "\x1b[?1049h"
		notice          = "cannot be suspended"
		ctrlZ           = "\x1a"
		ctrlC           = "\x03"
	)
	for name, script := range map[string]string{
		"no shell":            `exec "$0" "$@"`,
		"shell without jobs":  `"$0" "$@"; exit $?`,
		"script without jobs": `sh -c '"$0" "$@"; exit $?' "$0" "$@"; exit $?`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startCommandOnTerminal(t, screensInShell(t, server.URL, script), server.URL)
			c.await("Home")
			c.typeKeys(ctrlZ)
			c.await(notice)
			c.typeKeys(ctrlC)
			go io.Copy(io.Discard, c.screen)
			c.wantEnd(0)
		})
	}
	for name, script := range map[string]string{
		"shell":           `set -m; "$0" "$@"; echo in the shell; fg; exit $?`,
		"script in shell": `set -m; sh -c '"$0" "$@"; exit $?' "$0" "$@"; echo in the shell; fg; exit $?`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startCommandOnTerminal(t, screensInShell(t, server.URL, script), server.URL)
			c.await("Home")
			c.typeKeys(ctrlZ)
			const stopped = "in the shell"
			c.await(stopped)
			_, resumed, _ := bytes.Cut(c.seen, []byte(stopped))
			c.seen = resumed
			c.await(alternateScreen)
			c.typeKeys(ctrlC)
			go io.Copy(io.Discard, c.screen)
			c.wantEnd(0)
		})
	}
}
