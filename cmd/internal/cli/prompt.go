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

// Prompter reads answers to questions from a terminal.
type Prompter struct {
	Keyboard *os.File  // nil if no answer can be read
	Screen   io.Writer // receives the questions
	Watches  bool      // Screen is a terminal
	Colours  bool      // questions may have colours
}

// PrompterAt returns a Prompter for the streams. It has a Keyboard only if both are
// terminals.
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

// interruption is the error of a prompt that was cancelled.
type interruption struct{}

func (interruption) Error() string { return "interrupted" }

// Unwrap makes errors.Is find context.Canceled.
func (interruption) Unwrap() error { return context.Canceled }

// ErrDiffer is returned by ReadTwice if the two answers differ.
var ErrDiffer = errors.New("the two passwords differ; nothing was changed")

// ReadLine prompts for a line of text and returns it without surrounding blanks.
func (p Prompter) ReadLine(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.Screen, question)
	answer, err := Interruptible(ctx, func() (string, error) { return readLine(p.Keyboard) })
	return strings.TrimSpace(answer), err
}

// ReadSecret prompts for a line that is not echoed. Echo is off before the question
// is written; the terminal state is restored when ReadSecret returns.
func (p Prompter) ReadSecret(ctx context.Context, question string) (text string, err error) {
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

// ReadTwice prompts for a new password twice, because the input is not echoed.
func (p Prompter) ReadTwice(ctx context.Context, question string) (string, error) {
	first, err := p.ReadSecret(ctx, question)
	if err != nil {
		return "", err
	}
	second, err := p.ReadSecret(ctx, "Repeat it: ")
	if err == nil && first != second {
		err = ErrDiffer
	}
	return first, err
}

// Interruptible waits until read returns or ctx is done. The end of the input,
// which is Ctrl-C or Ctrl-D on a raw terminal, also counts as an interruption. A
// read that is abandoned ends with the process.
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

// readLine reads a line byte by byte, so that it consumes no input after it.
func readLine(from io.Reader) (string, error) {
	var line []byte
	buffer := make([]byte, 1)
	for {
		n, err := from.Read(buffer)
		if n > 0 && buffer[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, buffer[:n]...)
		if err != nil {
			return "", err
		}
	}
}

// maxLine limits how much of a wrong file or redirection is read, in bytes.
const maxLine = 4096

// FirstLine reads the first line, which may end with the input. The line break does not belong to
// it, nor does the byte order mark that editors and PowerShell on Windows write.
func FirstLine(from io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(from, maxLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	line = strings.TrimPrefix(line, "\ufeff")
	return strings.TrimRight(line, "\r\n"), nil
}
