//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// Commands send no queries to the terminal and end even if it never replies. The test
// builds the program, because a test binary initializes its packages in another order.
func TestNoEscapeSequencesOnUnresponsiveTerminal(t *testing.T) {
	t.Parallel()
	binary := builtProgram(t)
	for _, args := range [][]string{
		{"--version"},
		{"records"},
		{"help"},
		{"query", "DB_Class", "--url", "http://127.0.0.1:1"},
	} {
		out := styles.ReplaceAll(outputOnTerminal(t, binary, args...), nil)
		if bytes.ContainsRune(out, 0x1b) {
			t.Errorf("whctl %q: got %q, want no escape sequences but styles", args, out)
		}
		if len(out) == 0 {
			t.Errorf("whctl %q: printed nothing", args)
		}
	}
	out := styles.ReplaceAll(outputOnTerminal(t, binary, "records", "IN_Colours"), nil)
	want := "Field         Type    Operators\r\nRecID  "
	if !bytes.HasPrefix(out, []byte(want)) {
		t.Errorf("whctl records IN_Colours on a terminal: got %q, want a table that starts with %q",
			out, want)
	}
}

// styles matches the sequences that only set colours and other styles.
var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// outputOnTerminal runs a program on a pseudo-terminal and returns its output.
func outputOnTerminal(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	// CI and NO_COLOR would suppress queries.
	cmd.Env = append(withoutEnv("CI", "NO_COLOR", "TERM"), "TERM=xterm-256color")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	out, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // Linux returns EIO if the other side is closed
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is irrelevant
	if ctx.Err() != nil {
		t.Fatalf("whctl %q did not end within %s; output %q", args, testTimeout, out)
	}
	return out
}

// withoutEnv returns the environment without some variables.
func withoutEnv(names ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(names, name)
	})
}

// loginHandler is a service that accepts one password.
func loginHandler(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path != "/auth":
		io.WriteString(w, `{"UserName":"ann","Role":"reader","SessionId":"s1"}`)
	case strings.Contains(string(body), `"correct horse"`):
		io.WriteString(w, `{"SessionId":"s1","UserName":"ann"}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"Unauthorized",`+
			`"Message":"Invalid Username or Password"}}`)
	}
}

// terminalProgram is a program that runs on a pseudo-terminal.
type terminalProgram struct {
	t      *testing.T
	screen *os.File
	cmd    *exec.Cmd
	before *term.State // state of the terminal at the start
	seen   []byte      // all output so far
	ended  chan exitState
}

// exitState is the result of a program and the terminal state that it left.
type exitState struct {
	err   error
	after *term.State
}

// startOnTerminal starts whctl on a terminal, with loginHandler as the service.
func startOnTerminal(t *testing.T, args ...string) *terminalProgram {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(loginHandler))
	t.Cleanup(server.Close)
	return startCommandOnTerminal(t, process(t, server.URL, args...), server.URL)
}

// startCommandOnTerminal starts any program on a terminal, with an empty configuration.
func startCommandOnTerminal(t *testing.T, cmd *exec.Cmd, url string) *terminalProgram {
	t.Helper()
	dir := t.TempDir()
	cmd.Env = append(cmd.Environ(),
		profile.EnvURL+"="+url,
		profile.EnvConfig+"="+filepath.Join(dir, "config.toml"),
		"HOME="+dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "bus"),
		"TERM=xterm")
	screen, keyboard, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(keyboard.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = keyboard
	cmd.Stdout = keyboard
	cmd.Stderr = keyboard
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &terminalProgram{
		t:      t,
		screen: screen,
		cmd:    cmd,
		before: before,
		ended:  make(chan exitState, 1),
	}
	go c.watch(keyboard)
	return c
}

// watch closes the terminal when the program ends, so that a read of the screen does not
// block.
func (c *terminalProgram) watch(keyboard *os.File) {
	watchdog := time.AfterFunc(testTimeout, func() { _ = c.cmd.Process.Kill() })
	defer watchdog.Stop()
	end := exitState{err: c.cmd.Wait()}
	end.after, _ = term.GetState(int(keyboard.Fd())) // nil differs from the state before
	_ = keyboard.Close()
	c.ended <- end
}

// await reads the screen until a text appears.
func (c *terminalProgram) await(text string) {
	c.t.Helper()
	chunk := make([]byte, 4096)
	for !strings.Contains(string(c.seen), text) {
		n, err := c.screen.Read(chunk)
		c.seen = append(c.seen, chunk[:n]...)
		if err != nil {
			c.t.Fatalf("waiting for %q: %v; got the screen %q", text, err, c.seen)
		}
	}
}

// typeKeys types keys on the keyboard of the terminal.
func (c *terminalProgram) typeKeys(keys string) {
	c.t.Helper()
	if _, err := c.screen.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// kill kills the program and waits for its end.
func (c *terminalProgram) kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// end waits for the program, checks that the terminal state is restored, and returns the
// exit code.
func (c *terminalProgram) end() (code int) {
	c.t.Helper()
	end := <-c.ended
	code = exitOf(c.t, end.err)
	if !reflect.DeepEqual(end.after, c.before) {
		c.t.Error("the terminal state was not restored")
	}
	return code
}

// TestLoginPromptsForPassword checks that the password is not echoed, and that the terminal is
// restored in any case.
func TestLoginPromptsForPassword(t *testing.T) {
	const passwordPrompt = "Password of ann: "
	t.Run("right password", func(t *testing.T) {
		c := startOnTerminal(t, "login", "--insecure-storage", "--no-color")
		c.await("User name: ")
		c.typeKeys("ann\r")
		c.await(passwordPrompt)
		c.typeKeys("correct horse\r")
		c.await("signed in to ")
		c.await("logins.toml")
		c.wantEnd(0)
		c.wantNone("horse")
		c.wantNone("\x1b")
	})
	t.Run("interrupt", func(t *testing.T) {
		c := startOnTerminal(t, "login", "--user", "ann")
		c.await(passwordPrompt)
		c.typeKeys("correct ho\x03")
		c.await("interrupted")
		c.wantEnd(130)
		c.wantNone("correct")
	})
	t.Run("wrong password", func(t *testing.T) {
		c := startOnTerminal(t, "login", "--user", "ann")
		c.await(passwordPrompt)
		c.typeKeys("wrong\r")
		c.await("Invalid Username or Password")
		c.wantEnd(4)
	})
	t.Run("no input", func(t *testing.T) {
		c := startOnTerminal(t, "login", "--user", "ann", "--no-input")
		c.await("cannot prompt for the password of ann without a terminal; " +
			"use --password-stdin, --password-file or WHCTL_PASSWORD")
		c.wantEnd(2)
	})
}

// wantEnd waits for the program and checks its exit code.
func (c *terminalProgram) wantEnd(code int) {
	c.t.Helper()
	if got := c.end(); got != code {
		c.t.Errorf("got exit code %d, want %d; screen %q", got, code, c.seen)
	}
}

// wantNone checks that a text was not on the screen.
func (c *terminalProgram) wantNone(text string) {
	c.t.Helper()
	if strings.Contains(string(c.seen), text) {
		c.t.Errorf("got %q on the screen %q", text, c.seen)
	}
}

// typedLine returns a prompter with a line of input on its keyboard.
func typedLine(t *testing.T, line string) cmdline.Prompter {
	t.Helper()
	screen, keyboard, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		screen.Close()
		keyboard.Close()
	})
	if _, err := screen.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
	return cmdline.Prompter{Keyboard: keyboard, Colours: true}
}

// TestConfirmationPrompts checks that prompts show the name of the profile in its colour, and that
// any other than the expected answer changes nothing.
func TestConfirmationPrompts(t *testing.T) {
	const (
		red      = "\x1b[1;31mprod\x1b[0m"
		yesOrNo  = red + ": set a value? [y/N] "
		typeName = "Profile " + red + " is protected. To set a value, type its name: "
	)
	for _, c := range []struct {
		protected bool
		args      string
		answer    string
		code      int
		stderr    string // start of standard error; empty for none
		changes   int    // number of changes that are sent
	}{
		{args: "poke", changes: 1},
		{args: "poke --sweeping", answer: "y", stderr: yesOrNo, changes: 1},
		{args: "poke --sweeping", answer: " YES ", stderr: yesOrNo, changes: 1},
		{args: "poke --sweeping", answer: "", code: 9, stderr: yesOrNo},
		{args: "poke --sweeping", answer: "n", code: 9, stderr: yesOrNo},
		{args: "poke --sweeping --yes", answer: "n", changes: 1},
		{
			args:    "poke --sweeping --no-color",
			answer:  "y",
			stderr:  "prod: set a value? [y/N] ",
			changes: 1,
		},
		{protected: true, args: "poke", answer: "prod", stderr: typeName, changes: 1},
		{
			protected: true,
			args:      "poke --sweeping --no-color",
			answer:    "prod",
			stderr:    "Profile prod is protected. To set a value, type its name: ",
			changes:   1,
		},
		{protected: true, args: "poke --yes", answer: "y", code: 9, stderr: typeName},
		{protected: true, args: "poke --confirm prod", changes: 1},
		{
			protected: true,
			args:      "poke --dry-run",
			stderr:    "dry run, nothing was changed: set a value (1 request)\n",
		},
		{protected: true, args: "query SO_Totals --csv"},
	} {
		changes := 0
		inv := invocation{
			config: writeConfig(t, fmt.Sprintf("profile = 'prod'\n[profiles.prod]\n"+
				"colour = 'red'\nprotected = %v\n", c.protected)),
			prompter: typedLine(t, c.answer),
			handler:  countChanges(&changes),
		}
		got := inv.run(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.HasPrefix(got.stderr, c.stderr) {
			t.Errorf("whctl %s, answer %q: got %v; want exit code %d, stderr that starts with %q",
				c.args, c.answer, got, c.code, c.stderr)
		}
		if c.stderr == "" && got.stderr != "" {
			t.Errorf("whctl %s, answer %q: got stderr %q, want none", c.args, c.answer, got.stderr)
		}
		if changes != c.changes {
			t.Errorf("whctl %s, answer %q: sent %d changes, want %d",
				c.args, c.answer, changes, c.changes)
		}
	}
}
