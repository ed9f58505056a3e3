package main

import (
	"io"
	"net/http"
	"net/http/httptest"
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
		if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
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
			program := process(t, server.URL, "tui")
			args := append([]string{"-c", script}, program.Args...)
			cmd := exec.CommandContext(t.Context(), "sh", args...)
			cmd.Env = program.Env
			c := startCommandOnTerminal(t, cmd, server.URL)
			c.await("tui needs a terminal")
			c.wantEnd(2)
			c.wantNone("\x1b[?")
		})
	}
}
