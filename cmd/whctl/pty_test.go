//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// On a terminal that never answers, commands end without having asked it
// anything. The program is built for this, as it is shipped: a test binary
// would initialise its packages in another order.
func TestSilentTerminal(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "whctl")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"--version"}, {"records"}, {"help"}, {"query", "DB_Class", "--url", "http://127.0.0.1:1"}} {
		out := onTerminal(t, binary, args...)
		if bytes.ContainsRune(out, 0x1b) {
			t.Errorf("%v wrote escape sequences: %q", args, out)
		}
		if len(out) == 0 {
			t.Errorf("%v wrote nothing", args)
		}
	}
	if out := onTerminal(t, binary, "records", "DB_Class"); !bytes.HasPrefix(out, []byte("Field  Type    Operators\r\nClass  string  = ^= $= *= ~= between in\r\n")) {
		t.Errorf("a terminal shows no table: %q", out)
	}
}

// onTerminal runs a program to its end on a pseudo-terminal.
func onTerminal(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	// CI and NO_COLOR would keep a probe from happening at all.
	cmd.Env = append(withoutEnv("CI", "NO_COLOR", "TERM"), "TERM=xterm-256color")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	out, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // which is how Linux says that the other side is closed
		t.Fatal(err)
	}
	_ = cmd.Wait() // how it ended is not the question
	if ctx.Err() != nil {
		t.Fatalf("%v did not end; it wrote %q", args, out)
	}
	return out
}

func withoutEnv(names ...string) []string {
	var kept []string
next:
	for _, pair := range os.Environ() {
		for _, name := range names {
			if strings.HasPrefix(pair, name+"=") {
				continue next
			}
		}
		kept = append(kept, pair)
	}
	return kept
}
