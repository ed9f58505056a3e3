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

// shellEnv makes a test binary run that program as a job, as a shell does.
const shellEnv = "TUI_TEST_SHELL"

func init() {
	if os.Getenv(shellEnv) != "" {
		os.Exit(shell())
	}
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

// exists reports whether a file exists.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shell runs the program in a process group of its own. When it is stopped, shell prints the mode
// of the terminal, and continues it after a file exists.
func shell() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), shellEnv+"=")
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 2
	}
	fmt.Printf("job %d\n", cmd.Process.Pid)
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			fmt.Println(err)
			return 2
		case status.Stopped():
			fmt.Printf("stopped in mode %s\n", strings.TrimSpace(modes(os.Stdin)))
			for !exists(filepath.Join(os.Getenv(programEnv), "continue")) {
				time.Sleep(10 * time.Millisecond)
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
		default:
			return status.ExitStatus()
		}
	}
}

// The terminal is restored while the program is suspended, and the screens are back afterwards.
func TestTerminalIsRestoredWhileSuspended(t *testing.T) {
	for name, suspend := range map[string]func(screen *os.File, job int) error{
		"ctrl+z": func(screen *os.File, _ int) error {
			_, err := screen.WriteString("\x1a")
			return err
		},
		"SIGTSTP": func(_ *os.File, job int) error { return syscall.Kill(job, syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
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
			before := strings.TrimSpace(modes(keyboard))
			dir := t.TempDir()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), shellEnv+"=1", programEnv+"="+dir, "TERM=xterm-256color")
			cmd.Stdin = keyboard
			cmd.Stdout = keyboard
			cmd.Stderr = keyboard
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = keyboard.Close()

			start := readUntil(t, screen, "Messages")
			var job int
			if _, err := fmt.Sscanf(start[strings.Index(start, "job "):], "job %d", &job); err != nil {
				t.Fatalf("%v in the output %q", err, start)
			}
			if err := suspend(screen, job); err != nil {
				t.Fatal(err)
			}
			stopped := readUntil(t, screen, "stopped in mode ", "\n")
			checkModesRestored(t, start+stopped)
			if !strings.Contains(stopped, "stopped in mode "+before+"\r\n") {
				t.Errorf("the output is %q, want the mode %s while the program is stopped", stopped, before)
			}
			if err := os.WriteFile(filepath.Join(dir, "continue"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			readUntil(t, screen, "\x1b[?1049h", "Messages")
			if _, err := screen.WriteString("q"); err != nil {
				t.Fatal(err)
			}
			end := readUntil(t, screen)
			checkModesRestored(t, "\x1b[?1049h\x1b[?25l\x1b[?1002h\x1b[?1006h\x1b[?2004h"+end)
			if err := cmd.Wait(); err != nil {
				t.Errorf("after q: %v; output %q", err, end)
			}
		})
	}
}

// readUntil reads the output until it has texts in their order, or to its end for none.
func readUntil(t *testing.T, screen *os.File, texts ...string) string {
	t.Helper()
	var out strings.Builder
	start := 0
	isEnd := len(texts) == 0
	buffer := make([]byte, 4096)
	for isEnd || len(texts) > 0 {
		n, err := screen.Read(buffer)
		out.Write(buffer[:n])
		if err != nil && isEnd {
			break
		}
		if err != nil {
			t.Fatalf("%v; the output is %q, want %q in it", err, out.String(), texts)
		}
		for len(texts) > 0 {
			_, after, isWritten := strings.Cut(out.String()[start:], texts[0])
			if !isWritten {
				break
			}
			start = out.Len() - len(after)
			texts = texts[1:]
		}
	}
	return out.String()
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
