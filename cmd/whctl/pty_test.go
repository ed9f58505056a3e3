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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
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
	if out := onTerminal(t, binary, "records", "IN_Colours"); !bytes.HasPrefix(out, []byte("Field         Type    Operators\r\nRecID  ")) {
		t.Errorf("a terminal shows no table: %q", out)
	}
}

// onTerminal runs a program to its end on a pseudo-terminal.
func onTerminal(t *testing.T, binary string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
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

// signingIn is a service that knows one password.
func signingIn(w http.ResponseWriter, r *http.Request) {
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

// conversation is a program on a terminal, and what its user sees.
type conversation struct {
	t      *testing.T
	screen *os.File
	cmd    *exec.Cmd
	before *term.State
	seen   []byte
	ended  chan ending
}

// ending is how a program ended, and how it left the terminal.
type ending struct {
	err   error
	after *term.State
}

func converse(t *testing.T, args ...string) *conversation {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(signingIn))
	t.Cleanup(server.Close)
	return converseWith(t, process(t, server.URL, args...), server.URL)
}

// converseWith runs any program on a terminal, with a configuration of its own.
func converseWith(t *testing.T, cmd *exec.Cmd, url string) *conversation {
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = keyboard, keyboard, keyboard
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &conversation{t: t, screen: screen, cmd: cmd, before: before, ended: make(chan ending, 1)}
	go c.watch(keyboard)
	return c
}

// watch waits for the end, and closes the terminal then, so that nobody waits
// for what is not coming.
func (c *conversation) watch(keyboard *os.File) {
	watchdog := time.AfterFunc(testTimeout, func() { _ = c.cmd.Process.Kill() })
	defer watchdog.Stop()
	end := ending{err: c.cmd.Wait()}
	end.after, _ = term.GetState(int(keyboard.Fd())) // nil is another state too
	_ = keyboard.Close()
	c.ended <- end
}

// await reads the screen until a text is there.
func (c *conversation) await(text string) {
	c.t.Helper()
	for some := make([]byte, 4096); !strings.Contains(string(c.seen), text); {
		n, err := c.screen.Read(some)
		if c.seen = append(c.seen, some[:n]...); err != nil {
			c.t.Fatalf("%v instead of %q behind %q", err, text, c.seen)
		}
	}
}

func (c *conversation) typeKeys(keys string) {
	c.t.Helper()
	if _, err := c.screen.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// leave ends the program in the middle of what it does.
func (c *conversation) leave() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

// end waits for the program, and looks whether the terminal is as it was.
func (c *conversation) end() (code int) {
	c.t.Helper()
	end := <-c.ended
	code = exitOf(c.t, end.err)
	if !reflect.DeepEqual(end.after, c.before) {
		c.t.Error("the terminal was left in another state")
	}
	return code
}

// A password that is asked for is not shown, and Ctrl-C leaves a sane terminal.
func TestPasswordIsAskedFor(t *testing.T) {
	c := converse(t, "login", "--insecure-storage", "--no-color")
	c.await("User name: ")
	c.typeKeys("ann\r")
	c.await("Password of ann: ")
	c.typeKeys("correct horse\r")
	c.await("signed in to ")
	c.await("logins.toml")
	if code := c.end(); code != 0 || strings.Contains(string(c.seen), "horse") || bytes.ContainsRune(c.seen, 0x1b) {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = converse(t, "login", "--user", "ann")
	c.await("Password of ann: ")
	c.typeKeys("correct ho\x03")
	c.await("interrupted")
	if code := c.end(); code != 130 || strings.Contains(string(c.seen), "correct") {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = converse(t, "login", "--user", "ann")
	c.await("Password of ann: ")
	c.typeKeys("wrong\r")
	c.await("Invalid Username or Password")
	if code := c.end(); code != 4 {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}

	c = converse(t, "login", "--user", "ann", "--no-input")
	c.await("cannot ask for the password of ann without a terminal; use --password-stdin, --password-file or WHCTL_PASSWORD")
	if code := c.end(); code != 2 {
		t.Errorf("exit %d, screen %q", code, c.seen)
	}
}

// typed is somebody who has typed a line already.
func typed(t *testing.T, line string) cmdline.Prompter {
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

// Changes are asked about in the colour of the profile; anything but the right
// answer changes nothing.
func TestChangesAreAskedAbout(t *testing.T) {
	const red, question = "\x1b[1;31mprod\x1b[0m", "Profile %s is protected. To set a value, type its name: "
	for _, c := range []struct {
		protected    bool
		args, answer string
		code         int
		asked        string
	}{
		{false, "poke", "", 0, ""},
		{false, "poke --sweeping", "y", 0, red + ": set a value? [y/N] "},
		{false, "poke --sweeping", " YES ", 0, red + ": set a value? [y/N] "},
		{false, "poke --sweeping", "", 9, red + ": set a value? [y/N] "},
		{false, "poke --sweeping", "n", 9, red + ": set a value? [y/N] "},
		{false, "poke --sweeping --yes", "n", 0, ""},
		{false, "poke --sweeping --no-color", "y", 0, "prod: set a value? [y/N] "},
		{true, "poke", "prod", 0, fmt.Sprintf(question, red)},
		{true, "poke --sweeping --no-color", "prod", 0, fmt.Sprintf(question, "prod")},
		{true, "poke --yes", "y", 9, fmt.Sprintf(question, red)},
		{true, "poke --confirm prod", "", 0, ""},
		{true, "poke --dry-run", "", 0, ""},
		{true, "query SO_Totals --csv", "", 0, ""},
	} {
		config := configOf(t, fmt.Sprintf("profile = 'prod'\n[profiles.prod]\ncolour = 'red'\nprotected = %v\n", c.protected))
		changes := 0
		got := trial{config: config, prompter: typed(t, c.answer), handler: changesCounted(&changes)}.run(t, strings.Fields(c.args)...)
		if got.code != c.code || !strings.HasPrefix(got.stderr, c.asked) || c.asked == "" && got.stderr != "" {
			t.Errorf("%s, answer %q: exit %d, want %d; stderr %q, want %q", c.args, c.answer, got.code, c.code, got.stderr, c.asked)
		}
		if changed := strings.HasPrefix(c.args, "poke") && c.code == 0 && !strings.Contains(c.args, "dry"); changed != (changes == 1) {
			t.Errorf("%s, answer %q: %d changes", c.args, c.answer, changes)
		}
	}
}
