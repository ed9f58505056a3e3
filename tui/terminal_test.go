//go:build linux

package tui_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/tuitest"
)

// programEnv makes a test binary run the screens as a program; it panics when its clock
// is read after a file exists.
const programEnv = "TUI_TEST_PROGRAM"

func init() {
	if os.Getenv(programEnv) != "" {
		os.Exit(program())
	}
}

// program is the main function of that program.
func program() int {
	dir := os.Getenv(programEnv)
	c, err := client.New(client.Options{URL: "http://127.0.0.1:9"})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	defer c.Close()
	o := tui.Options{Input: os.Stdin, Output: os.Stdout, State: dir, Appearance: tui.Appearance{Mouse: true}, Now: func() time.Time {
		if _, err := os.Stat(filepath.Join(dir, "panic")); err == nil {
			panic("the clock has stopped")
		}
		return time.Now()
	}}
	if err := tui.Run(context.Background(), c, o); err != nil {
		fmt.Printf("ended: %v\n", err)
		return 1
	}
	return 0
}

// The terminal is restored however the program ends: modes, screen, cursor and mouse.
func TestTerminalIsRestored(t *testing.T) {
	signalled := func(signal syscall.Signal) func(*testing.T, *os.File, *exec.Cmd, string) {
		return func(t *testing.T, _ *os.File, cmd *exec.Cmd, _ string) {
			if err := cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
		}
	}
	typed := func(keys string) func(*testing.T, *os.File, *exec.Cmd, string) {
		return func(t *testing.T, screen *os.File, _ *exec.Cmd, _ string) {
			if _, err := screen.WriteString(keys); err != nil {
				t.Error(err)
			}
		}
	}
	for _, test := range []struct {
		name string
		end  func(*testing.T, *os.File, *exec.Cmd, string)
		code int
		want string
	}{
		{"quit", typed("q"), 0, ""},
		{"ctrl+c", typed("\x03"), 0, ""},
		{"SIGTERM", signalled(syscall.SIGTERM), 0, ""},
		{"SIGHUP", signalled(syscall.SIGHUP), 0, ""},
		{"panic", func(t *testing.T, _ *os.File, _ *exec.Cmd, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "panic"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}, 1, "crash.log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			out, code := runInTerminal(t, dir, func(screen *os.File, cmd *exec.Cmd) { test.end(t, screen, cmd, dir) })
			if code != test.code || !strings.Contains(out, test.want) {
				t.Errorf("exit %d, want %d; it wrote %q", code, test.code, out)
			}
			for _, mode := range []struct{ on, off, name string }{
				{"\x1b[?1049h", "\x1b[?1049l", "the other screen"}, {"\x1b[?25l", "\x1b[?25h", "no cursor"},
				{"\x1b[?1002h", "\x1b[?1002l", "the mouse"}, {"\x1b[?1006h", "\x1b[?1006l", "the mouse's form"}, {"\x1b[?2004h", "\x1b[?2004l", "marked pastes"},
			} {
				on, off := strings.LastIndex(out, mode.on), strings.LastIndex(out, mode.off)
				if on < 0 || off < on {
					t.Errorf("%s was enabled at %d and disabled at %d", mode.name, on, off)
				}
			}
			if text, err := os.ReadFile(filepath.Join(dir, "crash.log")); test.want != "" && (err != nil || !strings.Contains(string(text), "the clock has stopped") || !strings.Contains(string(text), "app.go")) {
				t.Errorf("crash log: %q, %v", text, err)
			}
		})
	}
}

// runInTerminal runs the screens on a terminal, calls act once they are drawn, and
// returns the output and the exit code.
func runInTerminal(t *testing.T, dir string, act func(screen *os.File, cmd *exec.Cmd)) (written string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tuitest.Timeout)
	defer cancel()
	screen, keyboard, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before := modes(keyboard)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), programEnv+"="+dir, "TERM=xterm-256color")
	cmd.Stdin = keyboard
	cmd.Stdout = keyboard
	cmd.Stderr = keyboard
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	var after string
	go func() {
		err := cmd.Wait()
		after = modes(keyboard)
		_ = keyboard.Close()
		ended <- err
	}()
	var out strings.Builder
	checked := false
	for some := make([]byte, 4096); ; {
		n, err := screen.Read(some)
		out.Write(some[:n])
		if err != nil {
			break // on Linux, the error after the other side was closed
		}
		if !checked && strings.Contains(out.String(), "Messages") {
			checked = true
			act(screen, cmd)
		}
	}
	err = <-ended
	if after != before || before == "" {
		t.Errorf("terminal mode %q, want %q", after, before)
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("the program did not end; output %q", out.String())
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return out.String(), 0
}

// modes returns the mode of a terminal as printed by stty, "" if unknown.
func modes(terminal *os.File) string {
	stty := exec.Command("stty", "-g")
	stty.Stdin = terminal
	out, err := stty.Output()
	if err != nil {
		return ""
	}
	return string(out)
}
