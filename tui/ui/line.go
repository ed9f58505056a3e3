package ui

import (
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Suggestion is what could be typed, and what it means.
type Suggestion struct {
	Text string // the whole line that it makes
	Name string // shown
	Help string
}

// Line is a line that is typed below the tabs: a command, a filter, or what to
// find.
type Line struct {
	Dialog
	kind    string // of its history
	prompt  string
	input   textinput.Model
	Help    string // in the line of hints
	Words   string // that are shown below while nothing is typed
	Suggest func(text string) []Suggestion
	Check   func(text string) error // while it is typed
	Accept  func(text string) tea.Cmd
	wrong   error
	start   string
	last    time.Time // when something was typed last
	at      int       // in the history, counted from its end; 0 is what is typed now
	typed   string
}

// PasteWithin is how long five keys take at least that somebody types.
const PasteWithin = 30 * time.Millisecond

// lineMost is how long a line may be.
const lineMost = 4096

// NewLine makes a line that is typed, with a text in it.
func NewLine(h Host, kind, prompt, text string) *Line {
	l := &Line{Dialog: NewDialog(h), kind: kind, prompt: prompt, input: NewInput(text), start: text}
	return l
}

// NewInput is an editable text that is ready to be typed into.
func NewInput(text string) textinput.Model {
	input := textinput.New()
	input.CharLimit = lineMost
	input.SetValue(text)
	input.CursorEnd()
	input.Focus() // its command only makes the cursor blink
	return input
}

// Key edits the line, or leaves it.
func (l *Line) Key(m tea.KeyMsg) tea.Cmd {
	b, bound := keymap.Bindings.Lookup([]keymap.Scope{keymap.InLine}, m.String())
	if !bound || m.Paste {
		l.input, _ = l.input.Update(m)
		l.at, l.last = 0, l.Now
		l.verify()
		return nil
	}
	switch b.Action {
	case keymap.GoBack:
		l.Type(nil)
		if l.Check != nil {
			_ = l.Check(l.start) // lists that narrow while it is typed are as they were
		}
	case keymap.Complete:
		if list := l.list(); len(list) > 0 {
			l.Set(list[0].Text)
		}
	case keymap.Older:
		l.recall(1)
	case keymap.Newer:
		l.recall(-1)
	case keymap.Submit:
		return l.submit()
	}
	return nil
}

// submit does what the line says, unless it is wrong.
func (l *Line) submit() tea.Cmd {
	if l.verify(); l.wrong != nil {
		return nil
	}
	if l.Now.Sub(l.last) < PasteWithin { // nobody is so fast: it belongs to a paste
		l.Tell(Info, "it came with a paste: "+keymap.KeyFor(keymap.InLine, keymap.Submit)+" once more does it")
		return nil
	}
	text := l.input.Value()
	l.remember(l.kind, text)
	l.Type(nil)
	return l.Accept(text)
}

// Set replaces what is typed.
func (l *Line) Set(text string) {
	l.input.SetValue(text)
	l.input.CursorEnd()
	l.verify()
}

// recall goes through what was typed before.
func (l *Line) recall(step int) {
	history := l.History[l.kind]
	if l.at == 0 {
		l.typed = l.input.Value()
	}
	l.at = max(0, min(l.at+step, len(history)))
	if l.at == 0 {
		l.Set(l.typed)
		return
	}
	l.Set(history[len(history)-l.at])
}

func (l *Line) verify() {
	l.wrong = nil
	if l.Check != nil {
		l.wrong = l.Check(l.input.Value())
	}
}

func (l *Line) list() []Suggestion {
	if l.Suggest == nil {
		return nil
	}
	return l.Suggest(l.input.Value())
}

// View draws the line.
func (l *Line) View(width int) string {
	prompt := " " + l.prompt + " "
	return l.Theme.Paint(theme.Key, prompt) + typing(l.Theme, l.input, width-ansi.StringWidth(prompt), "")
}

// typing draws an editable text with its cursor in width cells. A mask takes
// the place of its characters.
func typing(t *theme.Theme, input textinput.Model, width int, mask string) string {
	value := []rune(input.Value())
	if mask != "" {
		value = slices.Repeat([]rune(mask)[:1], len(value))
	}
	at := min(input.Position(), len(value))
	first := max(0, at-width+2)
	before, _ := t.Inert(string(value[first:at]), width-1)
	under, rest := " ", ""
	if at < len(value) {
		under, rest = string(value[at:at+1]), string(value[at+1:])
	}
	under, underWidth := t.Inert(under, 2)
	if underWidth == 0 {
		under, underWidth = " ", 1
	}
	used := ansi.StringWidth(before)
	if used+underWidth > width {
		under, underWidth = " ", 1
	}
	return before + t.Paint(theme.Cursor, under) + t.Fit(rest, width-used-underWidth, false)
}

// Hint is what the line of hints says meanwhile.
func (l *Line) Hint() string {
	if l.wrong != nil {
		return l.wrong.Error()
	}
	return l.Help
}

// wordLines are what can be typed by its name, all of it.
func (l *Line) wordLines(width int) []string {
	if l.Words == "" || l.input.Value() != "" {
		return nil
	}
	var lines []string
	for _, words := range theme.Wrap(l.Words, width-4) {
		lines = append(lines, l.Theme.Compose(width, []theme.Span{{Text: "   " + words.Text, Role: theme.Key}}, nil))
	}
	return lines
}

// Suggestions are drawn below the line.
func (l *Line) Suggestions(width, room int) []string {
	lines := l.wordLines(width)
	for _, s := range l.list() {
		if len(lines) == min(8, room) {
			break
		}
		name := l.Theme.Fit(s.Name, 28, false)
		lines = append(lines, l.Theme.Compose(width, []theme.Span{{Text: "   "}, {Text: name, Role: theme.Key}, {Text: "  " + s.Help, Role: theme.Dim}}, nil))
	}
	return lines
}
