//go:build linux

package tui_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	o := tui.Options{
		Input:      os.Stdin,
		Output:     os.Stdout,
		State:      dir,
		Appearance: tui.Appearance{Mouse: true},
		Now: func() time.Time {
			if _, err := os.Stat(filepath.Join(dir, "panic")); err == nil {
				panic("the clock has stopped")
			}
			return time.Now()
		},
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	if err := tui.Run(ctx, c, o); err != nil {
		fmt.Printf("ended: %v\n", err)
		return 1
	}
	return 0
}

// The terminal is restored however the program ends: modes, screen, cursor and mouse.
func TestTerminalIsRestored(t *testing.T) {
	for _, test := range []struct {
		name     string
		end      func(p runningProgram) error
		exitCode int
	}{
		{"quit", func(p runningProgram) error { return p.press("q") }, 0},
		{"ctrl+c", func(p runningProgram) error { return p.press("\x03") }, 0},
		{"SIGTERM", func(p runningProgram) error { return p.cmd.Process.Signal(syscall.SIGTERM) }, 0},
		{"SIGHUP", func(p runningProgram) error { return p.cmd.Process.Signal(syscall.SIGHUP) }, 0},
		{"SIGQUIT", func(p runningProgram) error { return p.cmd.Process.Signal(syscall.SIGQUIT) }, 2},
		{"panic", runningProgram.panic, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			out, code := runInTerminal(t, dir, func(p runningProgram) {
				if err := test.end(p); err != nil {
					t.Error(err)
				}
			})
			if code != test.exitCode {
				t.Errorf("exit code %d, want %d; it wrote %q", code, test.exitCode, out)
			}
			checkModesRestored(t, out)
			if test.exitCode == 1 {
				checkCrashLog(t, dir, out)
			}
		})
	}
}

// runningProgram is a program on a terminal.
type runningProgram struct {
	screen *os.File
	cmd    *exec.Cmd
	dir    string
}

// press presses keys.
func (p runningProgram) press(keys string) error {
	_, err := p.screen.WriteString(keys)
	return err
}

// panic makes the program panic.
func (p runningProgram) panic() error {
	return os.WriteFile(filepath.Join(p.dir, "panic"), nil, 0o600)
}

// checkModesRestored fails unless the output enables each mode and then disables it.
func checkModesRestored(t *testing.T, out string) {
	t.Helper()
	for _, mode := range []struct{ name, enable, disable string }{
		{"the alternate screen", "\x1b[?1049h", "\x1b[?1049l"},
		{"the hidden cursor", "\x1b[?25l", "\x1b[?25h"},
		{"mouse events", "\x1b[?1002h", "\x1b[?1002l"},
		{"the format of mouse events", "\x1b[?1006h", "\x1b[?1006l"},
		{"bracketed paste", "\x1b[?2004h", "\x1b[?2004l"},
	} {
		enabled, disabled := strings.LastIndex(out, mode.enable), strings.LastIndex(out, mode.disable)
		if enabled < 0 || disabled < enabled {
			t.Errorf("%s: enabled at byte %d of the output, disabled at %d; want it disabled last",
				mode.name, enabled, disabled)
		}
	}
}

// checkCrashLog fails unless the output names the crash log, and that has the panic with its
// stack.
func checkCrashLog(t *testing.T, dir, out string) {
	t.Helper()
	if !strings.Contains(out, "crash.log") {
		t.Errorf("the output does not name the crash log: %q", out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "crash.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the clock has stopped", "app.go"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the crash log is\n%s\nwant %q in it", text, want)
		}
	}
}

// runInTerminal runs the screens on a terminal, calls act once they are drawn, and
// returns the output and the exit code.
func runInTerminal(t *testing.T, dir string, act func(p runningProgram)) (written string, code int) {
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
	buffer := make([]byte, 4096)
	isDrawn := false
	for {
		n, err := screen.Read(buffer)
		out.Write(buffer[:n])
		if err != nil {
			break // on Linux, the error after the other side was closed
		}
		if !isDrawn && strings.Contains(out.String(), "Messages") {
			isDrawn = true
			act(runningProgram{screen: screen, cmd: cmd, dir: dir})
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
