package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Prompter asks questions on a terminal.
type Prompter struct {
	Keyboard *os.File  // nil where nothing can be answered
	Screen   io.Writer // where questions are written
	Watches  bool      // Screen is a terminal
	Colours  bool      // questions may have colours
}

// PrompterAt finds out whether questions can be asked and answered.
func PrompterAt(stdin io.Reader, stderr io.Writer) Prompter {
	p := Prompter{Screen: stderr}
	screen, isFile := stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(screen.Fd())) {
		return p
	}
	p.Watches, p.Colours = true, true
	if keyboard, isFile := stdin.(*os.File); isFile && term.IsTerminal(int(keyboard.Fd())) {
		p.Keyboard = keyboard
	}
	return p
}

// interruption is a question that was not answered.
type interruption struct{}

func (interruption) Error() string { return "interrupted" }

// Unwrap lets tables of exit codes find the cause.
func (interruption) Unwrap() error { return context.Canceled }

// ErrDiffer is the error of AskTwice.
var ErrDiffer = errors.New("the two passwords differ; nothing was changed")

// Ask asks for a line of text.
func (p Prompter) Ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.Screen, question)
	answer, err := Interruptible(ctx, func() (string, error) { return readLine(p.Keyboard) })
	return strings.TrimSpace(answer), err
}

// AskSecret asks for a line that is not shown. The terminal stops showing what
// is typed before the question is there to be answered, and is as before when
// AskSecret returns.
func (p Prompter) AskSecret(ctx context.Context, question string) (text string, err error) {
	keyboard := int(p.Keyboard.Fd())
	before, err := term.MakeRaw(keyboard)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(keyboard, before)) }()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.Keyboard, p.Screen}, "")
	return Interruptible(ctx, func() (string, error) { return screen.ReadPassword(question) })
}

// AskTwice asks for a new password two times, since what is typed is not shown.
func (p Prompter) AskTwice(ctx context.Context, question string) (string, error) {
	first, err := p.AskSecret(ctx, question)
	if err != nil {
		return "", err
	}
	second, err := p.AskSecret(ctx, "Once more: ")
	if err == nil && first != second {
		err = ErrDiffer
	}
	return first, err
}

// Interruptible waits for an answer or an interruption, of which Ctrl-C and Ctrl-D are
// one too while the terminal passes on every key. A read that is left behind
// ends with the process.
func Interruptible(ctx context.Context, read func() (string, error)) (string, error) {
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
		if errors.Is(r.err, io.EOF) {
			return "", interruption{}
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", interruption{}
	}
}

// readLine reads up to the end of a line and not beyond.
func readLine(from io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := from.Read(one)
		if n > 0 && one[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if line = append(line, one[:n]...); err != nil {
			return "", err
		}
	}
}

// maxLine keeps a wrong file or redirection from being read whole.
const maxLine = 4096

// FirstLine reads one line, which the end of the text can also end, without its end.
func FirstLine(from io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(from, maxLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}
