package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// confirm is a question on the screen. The key that asks it is never the one
// that answers it, and keys that arrive at once are not heard.
type confirm struct {
	app   *app
	title string
	lines []string
	yes   string // what it does
	run   func() tea.Cmd
	since time.Time
}

const (
	// confirmPause is how long a question hears nothing: a paste must not answer it.
	confirmPause = 250 * time.Millisecond
	// countTyped is from how many objects on their number has to be typed.
	countTyped = 21
)

// ask opens a question about one thing.
func (a *app) ask(title, yes string, lines []string, run func() tea.Cmd) {
	a.askMany(1, title, yes, lines, run)
}

// askMany opens a question about a number of things. Where they are many, the
// number has to be typed; of a protected profile its name.
func (a *app) askMany(count int, title, yes string, lines []string, run func() tea.Cmd) {
	one := confirm{app: a, title: title, lines: lines, yes: yes, run: run, since: a.now}
	switch {
	case a.options.Protected && a.options.Profile != "":
		a.over = &typedConfirm{confirm: one, word: a.options.Profile, what: "protected: type " + a.options.Profile}
	case count >= countTyped:
		a.over = &typedConfirm{confirm: one, word: strconv.Itoa(count), what: "type " + strconv.Itoa(count)}
	default:
		a.over = &one
	}
}

func (c *confirm) scopes() []scope { return []scope{inConfirm} }

// deaf reports whether the question was asked so lately that nobody can have
// read it.
func (c *confirm) deaf() bool { return c.app.now.Sub(c.since) < confirmPause }

func (c *confirm) do(b binding) tea.Cmd {
	if c.deaf() {
		return nil
	}
	c.app.over = nil
	if b.action == accept {
		return c.run()
	}
	return nil
}

func (c *confirm) box(width, height int) []string {
	t := c.app.theme
	width = min(width, 72) - 4
	return c.framed(width, height, c.app.compose(width, nil, []span{{"y ", t.key}, {c.yes, ""}, {"      enter/esc ", t.key}, {"cancel", ""}}))
}

// framed draws the question and below it how to answer.
func (c *confirm) framed(width, height int, answer ...string) []string {
	var lines []string
	for _, text := range c.lines[:min(len(c.lines), max(1, height-4-len(answer)))] {
		lines = append(lines, c.app.theme.Fit(text, width, false))
	}
	return c.app.frame(c.title, width, append(append(lines, strings.Repeat(" ", width)), answer...))
}

// typedConfirm is a question that one word answers, which is typed key by key.
type typedConfirm struct {
	confirm
	word  string
	what  string // is to be typed
	input *textinput.Model
	last  time.Time // when the last key came
	wrong bool
}

func (c *typedConfirm) scopes() []scope { return []scope{inTypedConfirm} }

// typed takes single keys only: a paste is no answer.
func (c *typedConfirm) typed(m tea.KeyMsg) tea.Cmd {
	if c.deaf() {
		return nil
	}
	if m.Paste || len(m.Runes) > 1 {
		c.app.tell(warning, "a paste is no answer: type it key by key")
		return nil
	}
	if c.input == nil {
		c.input = new(newInput(""))
	}
	*c.input, _ = c.input.Update(m)
	c.last, c.wrong = c.app.now, false
	return nil
}

// do takes enter behind the right word only. Alone it cancels, and what comes
// faster than anybody types is not heard.
func (c *typedConfirm) do(b binding) tea.Cmd {
	if c.deaf() || c.app.now.Sub(c.last) < burstWithin {
		return nil
	}
	switch {
	case b.action == decline || c.text() == "":
		c.app.over = nil
	case c.text() != c.word:
		c.wrong = true
	default:
		c.app.over = nil
		return c.run()
	}
	return nil
}

func (c *typedConfirm) text() string {
	if c.input == nil {
		return ""
	}
	return strings.TrimSpace(c.input.Value())
}

func (c *typedConfirm) box(width, height int) []string {
	t := c.app.theme
	width = min(width, 72) - 4
	input := newInput("")
	if c.input != nil {
		input = *c.input
	}
	help := fmt.Sprintf("%s and enter to %s; esc cancels", c.what, c.yes)
	ink := t.dim
	if c.wrong {
		help, ink = fmt.Sprintf("that is not %s; esc cancels", c.word), t.status[3]
	}
	return c.framed(width, height, ink.Paint(t.Fit(help, width, false)), t.key.Paint("> ")+c.app.typing(input, width-2, ""))
}
