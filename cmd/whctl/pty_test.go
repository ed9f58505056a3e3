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
	binary := program(t)
	for _, args := range [][]string{
		{"--version"},
		{"records"},
		{"help"},
		{"query", "DB_Class", "--url", "http://127.0.0.1:1"},
	} {
		out := styles.ReplaceAll(outputOnTerminal(t, binary, args...), nil)
		if bytes.ContainsRune(out, 0x1b) {
			t.Errorf("%v printed escape sequences: %q", args, out)
		}
		if len(out) == 0 {
			t.Errorf("%v printed nothing", args)
		}
	}
	if out := styles.ReplaceAll(outputOnTerminal(t, binary, "records", "IN_Colours"), nil); !bytes.HasPrefix(out, []byte("Field         Type    Operators\r\nRecID  ")) {
		t.Errorf("no table on a terminal: %q", out)
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
		t.Fatalf("%v did not end; output %q", args, out)
	}
	return out
}

// withoutEnv returns the environment without some variables.
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
		io.WriteString(w, `{"ResponseStatus":{"ErrorCode":"Unauthorized","Message":"Invalid Username or Password"}}`)
	}
}

// terminalProgram is a program that runs on a pseudo-terminal.
type terminalProgram struct {
	t      *testing.T
	screen *os.File
	cmd    *exec.Cmd
	before *term.State
	seen   []byte
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
	cmd.Env = append(cmd.Environ(), profile.EnvURL+"="+url, profile.EnvConfig+"="+filepath.Join(dir, "config.toml"), "HOME="+dir,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(dir, "bus"), "TERM=xterm")
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
			c.t.Fatalf("%v; no %q in %q", err, text, c.seen)
		}
	}
}

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

// The password is not echoed, and Ctrl-C restores the terminal.
func TestLoginPromptsForPassword(t *testing.T) {
	c := startOnTerminal(t, "login", "--insecure-storage", "--no-color")
	c.await("User name: ")
	c.typeKeys("ann\r")
	c.await("Password of ann: ")
	c.typeKeys("correct horse\r")
	c.await("signed in to ")
	c.await("logins.toml")
	if code := c.end(); code != 0 || strings.Contains(string(c.seen), "horse") || bytes.ContainsRune(c.seen, 0x1b) {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = startOnTerminal(t, "login", "--user", "ann")
	c.await("Password of ann: ")
	c.typeKeys("correct ho\x03")
	c.await("interrupted")
	if code := c.end(); code != 130 || strings.Contains(string(c.seen), "correct") {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = startOnTerminal(t, "login", "--user", "ann")
	c.await("Password of ann: ")
	c.typeKeys("wrong\r")
	c.await("Invalid Username or Password")
	if code := c.end(); code != 4 {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = startOnTerminal(t, "login", "--user", "ann", "--no-input")
	c.await("cannot prompt for the password of ann without a terminal; use --password-stdin, --password-file or WHCTL_PASSWORD")
	if code := c.end(); code != 2 {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}
}

// typedLine returns a prompter with a line of input on its keyboard.
func typedLine(t *testing.T, line string) cmdline.Prompter {
	t.Helper()
	screen, keyboard, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close(); keyboard.Close() })
	if _, err := screen.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
	return cmdline.Prompter{Keyboard: keyboard, Colours: true}
}

// Prompts show the name of the profile in its colour. Any other than the expected
// answer changes nothing.
func TestConfirmationPrompts(t *testing.T) {
	const red, question = "\x1b[1;31mprod\x1b[0m", "Profile %s is protected. To set a value, type its name: "
	for _, c := range []struct {
		protected    bool
		args, answer string
		code         int
		prompt       string
	}{
		{args: "poke", code: 0},
		{args: "poke --sweeping", answer: "y", code: 0, prompt: red + ": set a value? [y/N] "},
		{args: "poke --sweeping", answer: " YES ", code: 0, prompt: red + ": set a value? [y/N] "},
		{args: "poke --sweeping", code: 9, prompt: red + ": set a value? [y/N] "},
		{args: "poke --sweeping", answer: "n", code: 9, prompt: red + ": set a value? [y/N] "},
		{args: "poke --sweeping --yes", answer: "n", code: 0},
		{args: "poke --sweeping --no-color", answer: "y", code: 0, prompt: "prod: set a value? [y/N] "},
		{protected: true, args: "poke", answer: "prod", code: 0, prompt: fmt.Sprintf(question, red)},
		{
			protected: true,
			args:      "poke --sweeping --no-color",
			answer:    "prod",
			code:      0,
			prompt:    fmt.Sprintf(question, "prod"),
		},
		{protected: true, args: "poke --yes", answer: "y", code: 9, prompt: fmt.Sprintf(question, red)},
		{protected: true, args: "poke --confirm prod", code: 0},
		{
			protected: true,
			args:      "poke --dry-run",
			code:      0,
			prompt:    "dry run, nothing was changed: set a value (1 request)\n",
		},
		{protected: true, args: "query SO_Totals --csv", code: 0},
	} {
		config := writeConfig(t, fmt.Sprintf("profile = 'prod'\n[profiles.prod]\ncolour = 'red'\nprotected = %v\n", c.protected))
		changes := 0
		got := invocation{config: config, prompter: typedLine(t, c.answer), handler: countChanges(&changes)}.run(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.HasPrefix(got.stderr, c.prompt) || c.prompt == "" && got.stderr != "" {
			t.Errorf("%s, answer %q: exit %d, want %d; stderr %q, want %q", c.args, c.answer, got.code, c.code, got.stderr, c.prompt)
		}
		if changed := strings.HasPrefix(c.args, "poke") && c.code == 0 && !strings.Contains(c.args, "dry"); changed != (changes == 1) {
			t.Errorf("%s, answer %q: %d changes", c.args, c.answer, changes)
		}
	}
}
