package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// overlay lies over the screen and gets all keys.
type overlay interface {
	scopes() []scope
	do(binding) tea.Cmd
	box(width, height int) []string // at most so large, its frame included
}

// typist is an overlay that is typed into.
type typist interface{ typed(tea.KeyMsg) tea.Cmd }

// text is an overlay of lines to read.
type text struct {
	app   *app
	title string
	lines []span
	top   int
}

func (t *text) scopes() []scope { return []scope{inText} }

func (t *text) do(b binding) tea.Cmd {
	switch b.action {
	case goUp:
		t.top--
	case goDown:
		t.top++
	case pageUp:
		t.top -= max(1, t.app.height-linesAround-4)
	case pageDown:
		t.top += max(1, t.app.height-linesAround-4)
	case goTop:
		t.top = 0
	case goBottom:
		t.top = len(t.lines)
	case goBack:
		t.app.over = nil
	}
	t.top = max(0, min(t.top, len(t.lines)-(t.app.height-linesAround-2)))
	return nil
}

// widestText is how wide a text becomes, its frame included.
const widestText = 96

// wide is how many cells its lines have.
func (t *text) wide() int { return min(t.app.width-4, widestText) - 4 }

func (t *text) box(_, height int) []string {
	width := t.wide()
	var lines []string
	for i := t.top; i < len(t.lines) && len(lines) < height-2; i++ {
		lines = append(lines, t.lines[i].ink.Paint(t.app.theme.Fit(t.lines[i].text, width, false)))
	}
	title := t.title
	if len(t.lines) > height-2 {
		title += "  (" + t.app.theme.Up + t.app.theme.Down + ")"
	}
	return t.app.frame(title, width, lines)
}

// newHelp lists the keys of what is on the screen, then those of everywhere. It
// is made of the table of keys, like dispatch.
func newHelp(a *app) overlay {
	t := &text{app: a, title: "Help"}
	scopes := append(a.front().scopes(), everywhere)
	for _, s := range scopes {
		if len(t.lines) > 0 {
			t.lines = append(t.lines, span{})
		}
		t.lines = append(t.lines, span{scopeNames[s], a.theme.crumb})
		for _, b := range within(scopes, s) {
			t.lines = append(t.lines, span{"  " + a.theme.Fit(b.keys, 18, false) + " " + b.help, ""})
		}
	}
	return t
}

// newErrors lists the failures so far, the last first.
func newErrors(a *app) overlay {
	t := &text{app: a, title: "Errors"}
	for i := len(a.toasts.failed) - 1; i >= 0; i-- {
		one := a.toasts.failed[i]
		t.lines = append(t.lines, wrapped(a.clock(one.at)+"  "+one.text, t.wide())...)
	}
	if len(t.lines) == 0 {
		t.lines = []span{{"Nothing has failed so far.", ""}}
	}
	return t
}

// newTwin shows the command that does the same.
func newTwin(a *app, command string) overlay {
	t := &text{app: a, title: "The same on the command line"}
	t.lines = append(wrapped(command, t.wide()), span{}, span{"copied, where the terminal allows it", a.theme.dim})
	a.clip(command)
	return t
}

// wrapped breaks a long text into lines: between words, and within those that
// are longer than a line.
func wrapped(long string, width int) []span {
	width = max(10, width)
	var lines []span
	for word := range strings.FieldsSeq(long) {
		for len(word) > width {
			lines = append(lines, span{word[:width], ""})
			word = word[width:]
		}
		last := len(lines) - 1
		if last >= 0 && len(lines[last].text)+1+len(word) <= width {
			lines[last].text += " " + word
			continue
		}
		lines = append(lines, span{word, ""})
	}
	return lines
}

// confirm is a question before something is changed. The key that asks it is
// never the one that answers it, and keys that arrive at once are not heard.
type confirm struct {
	app   *app
	title string
	lines []string
	yes   string
	run   func() tea.Cmd
	since time.Time
}

// confirmPause is how long a question hears nothing: a paste must not answer it.
const confirmPause = 250 * time.Millisecond

// ask opens a question.
func (a *app) ask(title, yes string, lines []string, run func() tea.Cmd) {
	a.over = &confirm{app: a, title: title, lines: lines, yes: yes, run: run, since: a.now}
}

func (c *confirm) scopes() []scope { return []scope{inConfirm} }

func (c *confirm) do(b binding) tea.Cmd {
	if c.app.now.Sub(c.since) < confirmPause {
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
	var lines []string
	for _, text := range c.lines[:min(len(c.lines), max(1, height-5))] {
		lines = append(lines, t.Fit(text, width, false))
	}
	lines = append(lines, strings.Repeat(" ", width),
		c.app.compose(width, nil, []span{{"y ", t.key}, {c.yes, ""}, {"      enter/esc ", t.key}, {"cancel", ""}}))
	return c.app.frame(c.title, width, lines)
}

// menu lists what can be done, and why what cannot.
type menu struct {
	app  *app
	rows []binding
	at   int
}

func newMenu(a *app) overlay {
	m := &menu{app: a}
	scopes := append(a.front().scopes(), everywhere)
	for _, s := range scopes {
		if s == inLists {
			continue
		}
		m.rows = append(m.rows, within(scopes, s)...)
	}
	return m
}

func (m *menu) scopes() []scope { return []scope{inMenu} }

func (m *menu) do(b binding) tea.Cmd {
	switch b.action {
	case goUp:
		m.at = max(0, m.at-1)
	case goDown:
		m.at = min(len(m.rows)-1, m.at+1)
	case goBack:
		m.app.over = nil
	case accept:
		m.app.over = nil
		return m.app.press(m.rows[m.at].keyNames()[0])
	}
	return nil
}

func (m *menu) box(width, height int) []string {
	t := m.app.theme
	width = min(width, 76) - 4
	room := max(1, height-2)
	var lines []string
	for i := max(0, m.at-room+1); i < len(m.rows) && len(lines) < room; i++ {
		b := m.rows[i]
		text, ink := "  "+t.Fit(b.label(), 8, false)+b.help, t.Selected
		if i == m.at {
			text = t.Pointer + text[1:]
		} else {
			ink = ""
		}
		if reason := m.app.reason(b); reason != "" && b.scope != everywhere {
			text, ink = text+": "+reason, t.dim
		}
		lines = append(lines, ink.Paint(t.Fit(text, width, false)))
	}
	return m.app.frame("Actions", width, lines)
}
