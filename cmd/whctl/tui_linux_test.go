package main

import (
	"io"
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
