package daemon

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/bizhook/whd/daemon/config"
	"golang.org/x/term"
)

func passwordOptions() []config.Option {
	return []config.Option{
		{Name: "password-stdin", Help: "read the password from standard input, one line"},
		{Name: "generate", Help: "make up a password and print it, once"},
	}
}

// A password is one line. The bound keeps a wrong redirection from being read whole.
const maxPasswordLine = 4096

var (
	errInterrupted = errors.New("interrupted")
	errNoTerminal  = config.Usagef("there is no terminal to ask for the password; use --password-stdin or --generate")
)

// newPassword gets a password in the way that the flags ask for. One that was
// made up still has to be printed, once it is in force.
func (c *call) newPassword(ctx context.Context) (password string, madeUp bool, err error) {
	fromStdin, generate := c.own["password-stdin"] == "true", c.own["generate"] == "true"
	switch {
	case fromStdin && generate:
		return "", false, config.Usagef("--password-stdin and --generate exclude each other")
	case generate:
		return rand.Text(), true, nil
	case fromStdin:
		password, err = interruptible(ctx, c.readLine)
	default:
		password, err = c.askTwice(ctx)
	}
	if err == nil && password == "" {
		err = config.Usagef("the password is empty")
	}
	return password, false, err
}

func (c *call) readLine() (string, error) {
	line, err := bufio.NewReader(io.LimitReader(c.Stdin, maxPasswordLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// askTwice asks on the terminal without showing what is typed. The terminal is
// put back before the command goes on, whatever happens meanwhile.
func (c *call) askTwice(ctx context.Context) (password string, err error) {
	terminal, is := c.Stdin.(*os.File)
	if !is || !term.IsTerminal(int(terminal.Fd())) {
		return "", errNoTerminal
	}
	before, err := term.MakeRaw(int(terminal.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(int(terminal.Fd()), before)) }()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{terminal, c.Stderr}, "")
	first, err := ask(ctx, screen, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := ask(ctx, screen, "Once more: ")
	if err == nil && first != second {
		err = errors.New("the two passwords differ; nothing was changed")
	}
	return first, err
}

// ask treats the end of input as an interruption: so does the terminal show
// Ctrl-C and Ctrl-D while it passes on every key.
func ask(ctx context.Context, screen *term.Terminal, prompt string) (string, error) {
	password, err := interruptible(ctx, func() (string, error) { return screen.ReadPassword(prompt) })
	if errors.Is(err, io.EOF) {
		err = errInterrupted
	}
	return password, err
}

// interruptible waits for read or the context, whichever ends first. A read
// that is left behind ends with the process.
func interruptible(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", errInterrupted
	}
}
