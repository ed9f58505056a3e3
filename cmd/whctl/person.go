package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/urfave/cli/v2"
)

// person is who sits at the terminal, if anyone does.
type person struct {
	keyboard *os.File // nil where nobody can answer
	watches  bool     // standard error is a terminal
	colours  bool     // questions may have colours
}

// personAt finds out whether questions can be asked and answered.
func personAt(stdin io.Reader, stderr io.Writer) person {
	screen, isFile := stderr.(*os.File)
	if !isFile || !term.IsTerminal(int(screen.Fd())) {
		return person{}
	}
	p := person{watches: true, colours: true}
	if keyboard, isFile := stdin.(*os.File); isFile && term.IsTerminal(int(keyboard.Fd())) {
		p.keyboard = keyboard
	}
	return p
}

// mayAsk reports whether somebody is there to answer, and wants to.
func (p *program) mayAsk(c *cli.Context) bool {
	return p.person.keyboard != nil && !c.Bool("no-input")
}

// ask asks for a line of text.
func (p *program) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(p.stderr, question)
	answer, err := p.answer(ctx, func() (string, error) { return readLine(p.person.keyboard) })
	return strings.TrimSpace(answer), err
}

// askSecret asks for a line that is not shown. The terminal stops showing what
// is typed before the question is there to be answered.
func (p *program) askSecret(ctx context.Context, question string) (text string, err error) {
	keyboard := int(p.person.keyboard.Fd())
	before, err := term.MakeRaw(keyboard)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, term.Restore(keyboard, before)) }()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{p.person.keyboard, p.stderr}, "")
	return p.answer(ctx, func() (string, error) { return screen.ReadPassword(question) })
}

// answer waits for an answer or an interruption, of which Ctrl-C and Ctrl-D are
// one too while the terminal passes on every key. A read that is left behind
// ends with the process.
func (p *program) answer(ctx context.Context, read func() (string, error)) (string, error) {
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
