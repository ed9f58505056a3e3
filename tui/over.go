package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// overlay lies over the screen and gets all keys.
type overlay interface {
	scopes() []keymap.Scope
	do(keymap.Binding) tea.Cmd
	box(width, height int) []string // at most so large, its frame included
}

// typist is an overlay that is typed into.
type typist interface{ typed(tea.KeyMsg) tea.Cmd }

// text is an overlay of lines to read.
type text struct {
	app   *app
	title string
	lines []theme.Span
	top   int
	only  string           // the lines that hold it; empty for all
	copy  string           // what y copies; empty for nothing
	names map[int][]string // of lines, by number: those whose name is sought come first
	hang  int              // cells before what is left of a line that is too long
}

// named gives a line names by which it is found.
func (t *text) named(line int, names []string) {
	if t.names == nil {
		t.names = make(map[int][]string)
	}
	t.names[line] = names
}

func (t *text) scopes() []keymap.Scope { return []keymap.Scope{keymap.InText} }

func (t *text) do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		t.top--
	case keymap.GoDown:
		t.top++
	case keymap.PageUp:
		t.top -= max(1, t.app.height-linesAround-4)
	case keymap.PageDown:
		t.top += max(1, t.app.height-linesAround-4)
	case keymap.GoTop:
		t.top = 0
	case keymap.GoBottom:
		t.top = len(t.shown())
	case keymap.AskFilter:
		t.app.line = t.find()
	case keymap.CopyCell:
		t.app.clip(t.copy)
	case keymap.GoBack:
		t.app.over = nil
	}
	t.top = max(0, min(t.top, len(t.shown())-(t.app.height-linesAround-2)))
	return nil
}

// find narrows the text while it is typed.
func (t *text) find() *line {
	l := newLine(t.app, "find", "/", t.only)
	l.help = "only the lines that hold it; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps them, " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " shows what was shown"
	l.check = func(text string) error {
		t.only, t.top = text, 0
		return nil
	}
	l.accept = func(string) tea.Cmd { return nil }
	return l
}

// shown are the lines as they are seen: long ones are broken.
func (t *text) shown() []theme.Span {
	var lines []theme.Span
	for _, line := range t.meant() {
		before := min(t.hang, len(line.Text))
		for before > 0 && before < len(line.Text) && !utf8.RuneStart(line.Text[before]) {
			before--
		}
		if ansi.StringWidth(line.Text) <= t.wide() {
			lines = append(lines, line)
			continue
		}
		lead := line.Text[:before]
		for _, piece := range theme.Wrap(line.Text[before:], t.wide()-t.hang) {
			lines = append(lines, theme.Span{Text: lead + piece.Text, Ink: line.Ink})
			lead = strings.Repeat(" ", before)
		}
	}
	return lines
}

// meant are the lines that hold what is sought, in front those that are called
// so.
func (t *text) meant() []theme.Span {
	if t.only == "" {
		return t.lines
	}
	var first, others []theme.Span
	for i, line := range t.lines {
		switch {
		case slices.Contains(t.names[i], t.only):
			first = append(first, line)
		case strings.Contains(strings.ToLower(line.Text), strings.ToLower(t.only)):
			others = append(others, line)
		}
	}
	return append(first, others...)
}

// widestText is how wide a text becomes, its frame included.
const widestText = 96

// wide is how many cells its lines have.
func (t *text) wide() int { return min(t.app.width-4, widestText) - 4 }

func (t *text) box(_, height int) []string {
	width := t.wide()
	var lines []string
	shown := t.shown()
	for i := t.top; i < len(shown) && len(lines) < height-2; i++ {
		lines = append(lines, shown[i].Ink.Paint(t.app.theme.Fit(shown[i].Text, width, false)))
	}
	if len(shown) == 0 {
		lines = append(lines, t.app.theme.Dim.Paint(t.app.theme.Fit("nothing holds "+t.only, width, false)))
	}
	title := t.title
	if len(shown) > height-2 {
		title += "  (" + t.app.theme.Up + t.app.theme.Down + ")"
	}
	return t.app.theme.Frame(title, width, lines)
}

// newHelp lists the keys of what is on the screen, then those of everywhere. It
// is made of the table of keys, like dispatch.
func newHelp(a *app) overlay {
	const keys = 18 // cells
	t := &text{app: a, title: "Help", hang: 2 + keys + 1}
	scopes := append(a.front().scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if len(t.lines) > 0 {
			t.lines = append(t.lines, theme.Span{})
		}
		t.lines = append(t.lines, theme.Span{Text: keymap.ScopeNames[s], Ink: a.theme.Crumb})
		for _, b := range a.inUse(scopes, s) {
			t.named(len(t.lines), strings.Fields(b.Keys))
			t.lines = append(t.lines, theme.Span{Text: "  " + a.theme.Fit(b.Keys, keys, false) + " " + b.Said()})
		}
	}
	return t
}

// newTwin shows the command that does the same.
func newTwin(a *app, command string) overlay {
	profile := ""
	if name := a.options.Profile; name != "" {
		profile = " --profile " + argument(name) // the shell's is another one, maybe
	}
	command += profile
	t := &text{app: a, title: "The same on the command line", copy: command}
	t.lines = append(t.lines, theme.Span{Text: command}, theme.Span{}, theme.Span{Text: "copied, where the terminal allows it", Ink: a.theme.Dim})
	if d, ok := a.front().(doer); ok {
		t.lines = append(t.lines, theme.Span{}, theme.Span{Text: "What can be done here:", Ink: a.theme.Crumb})
		for _, deed := range d.deeds() {
			t.lines = append(t.lines, theme.Span{Text: deed + profile})
		}
	}
	a.clip(command)
	return t
}

// menu lists what can be done, and why what cannot.
type menu struct {
	app  *app
	of   screen // whose actions they are
	rows []keymap.Binding
	at   int
}

func newMenu(a *app) overlay {
	m := &menu{app: a, of: a.front()}
	scopes := append(m.of.scopes(), keymap.Everywhere)
	for _, s := range scopes {
		if s == keymap.InLists {
			continue
		}
		m.rows = append(m.rows, a.inUse(scopes, s)...)
	}
	return m
}

func (m *menu) scopes() []keymap.Scope { return []keymap.Scope{keymap.InMenu} }

func (m *menu) do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		m.at = max(0, m.at-1)
	case keymap.GoDown:
		m.at = min(len(m.rows)-1, m.at+1)
	case keymap.GoBack:
		m.app.over = nil
	case keymap.Accept:
		m.app.over = nil
		if m.app.front() != m.of {
			m.app.tell(ui.Warning, "nothing was done, since another screen took the place of the one that it was about")
			return nil
		}
		return m.app.perform(m.rows[m.at], "")
	}
	return nil
}

func (m *menu) box(width, height int) []string {
	t := m.app.theme
	width = min(width, 76) - 4
	room := max(1, height-2)
	var lines []string
	for i := max(0, m.at-room+1); i < len(m.rows) && len(lines) < room; i++ {
		pointer, ink := "  ", theme.Ink("")
		if i == m.at {
			pointer, ink = t.Pointer+" ", t.Selected
		}
		if m.app.reason(m.rows[i]) != "" && m.rows[i].Scope != keymap.Everywhere {
			ink = t.Dim
		}
		lines = append(lines, ink.Paint(t.Fit(pointer+m.line(m.rows[i]), width, false)))
	}
	return m.app.theme.Frame("Actions", width, lines)
}

// line is a key and what it does; of one that cannot be used now the reason
// stands where all of it is seen.
func (m *menu) line(b keymap.Binding) string {
	room := 0
	for _, one := range m.rows {
		room = max(room, len(one.Label()))
	}
	text := m.app.theme.Fit(b.Label(), room+2, false)
	if reason := m.app.reason(b); reason != "" && b.Scope != keymap.Everywhere {
		return text + m.app.theme.Fit(b.Name(), widestName, false) + "  " + reason
	}
	return text + b.Said()
}

// widestName is what is seen of what a key does where the reason why it cannot
// be used stands behind it.
const widestName = 16
