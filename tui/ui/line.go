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

// InputLine is a line that is typed below the tabs: a command, a filter, or what to
// find.
type InputLine struct {
	Dialog
	kind         string // of its history
	prompt       string
	input        textinput.Model
	Help         string // in the line of hints
	Words        string // that are shown below while nothing is typed
	Suggest      func(text string) []Suggestion
	Check        func(text string) error // while it is typed
	Accept       func(text string) tea.Cmd
	err          error
	initial      string
	lastKey      time.Time // when something was typed last
	historyIndex int       // in the history, counted from its end; 0 is what is typed now
	draft        string
}

// PasteInterval is how long five keys take at least that somebody types.
const PasteInterval = 30 * time.Millisecond

// maxLineLength is how long a line may be.
const maxLineLength = 4096

// NewInputLine makes a line that is typed, with a text in it.
func NewInputLine(h Host, kind, prompt, text string) *InputLine {
	l := &InputLine{Dialog: NewDialog(h), kind: kind, prompt: prompt, input: NewInput(text), initial: text}
	return l
}

// NewInput is an editable text that is ready to be typed into.
func NewInput(text string) textinput.Model {
	input := textinput.New()
	input.CharLimit = maxLineLength
	input.SetValue(text)
	input.CursorEnd()
	input.Focus() // its command only makes the cursor blink
	return input
}

// Key edits the line, or leaves it.
func (l *InputLine) Key(m tea.KeyMsg) tea.Cmd {
	b, bound := keymap.Bindings.Lookup([]keymap.Scope{keymap.InLine}, m.String())
	if !bound || m.Paste {
		l.input, _ = l.input.Update(m)
		l.historyIndex, l.lastKey = 0, l.Now
		l.verify()
		return nil
	}
	switch b.Action {
	case keymap.GoBack:
		l.ShowInput(nil)
		if l.Check != nil {
			_ = l.Check(l.initial) // lists that narrow while it is typed are as they were
		}
	case keymap.Complete:
		if list := l.suggestions(); len(list) > 0 {
			l.Set(list[0].Text)
		}
	case keymap.HistoryPrevious:
		l.recall(1)
	case keymap.HistoryNext:
		l.recall(-1)
	case keymap.Submit:
		return l.submit()
	}
	return nil
}

// submit does what the line says, unless it is wrong.
func (l *InputLine) submit() tea.Cmd {
	if l.verify(); l.err != nil {
		return nil
	}
	if l.Now.Sub(l.lastKey) < PasteInterval { // nobody is so fast: it belongs to a paste
		l.Notify(Info, "it came with a paste: "+keymap.KeyFor(keymap.InLine, keymap.Submit)+" once more does it")
		return nil
	}
	text := l.input.Value()
	l.remember(l.kind, text)
	l.ShowInput(nil)
	return l.Accept(text)
}

// Set replaces what is typed.
func (l *InputLine) Set(text string) {
	l.input.SetValue(text)
	l.input.CursorEnd()
	l.verify()
}

// recall goes through what was typed before.
func (l *InputLine) recall(step int) {
	history := l.History[l.kind]
	if l.historyIndex == 0 {
		l.draft = l.input.Value()
	}
	l.historyIndex = max(0, min(l.historyIndex+step, len(history)))
	if l.historyIndex == 0 {
		l.Set(l.draft)
		return
	}
	l.Set(history[len(history)-l.historyIndex])
}

func (l *InputLine) verify() {
	l.err = nil
	if l.Check != nil {
		l.err = l.Check(l.input.Value())
	}
}

func (l *InputLine) suggestions() []Suggestion {
	if l.Suggest == nil {
		return nil
	}
	return l.Suggest(l.input.Value())
}

// View draws the line.
func (l *InputLine) View(width int) string {
	prompt := " " + l.prompt + " "
	return l.Theme.Paint(theme.Key, prompt) + drawInput(l.Theme, l.input, width-ansi.StringWidth(prompt), "")
}

// drawInput draws an editable text with its cursor in width cells. A mask takes
// the place of its characters.
func drawInput(t *theme.Theme, input textinput.Model, width int, mask string) string {
	value := []rune(input.Value())
	if mask != "" {
		value = slices.Repeat([]rune(mask)[:1], len(value))
	}
	at := min(input.Position(), len(value))
	first := max(0, at-width+2)
	before, _ := t.Sanitize(string(value[first:at]), width-1)
	under, rest := " ", ""
	if at < len(value) {
		under, rest = string(value[at:at+1]), string(value[at+1:])
	}
	under, underWidth := t.Sanitize(under, 2)
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
func (l *InputLine) Hint() string {
	if l.err != nil {
		return l.err.Error()
	}
	return l.Help
}

// wordLines are what can be typed by its name, all of it.
func (l *InputLine) wordLines(width int) []string {
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
func (l *InputLine) Suggestions(width, room int) []string {
	lines := l.wordLines(width)
	for _, s := range l.suggestions() {
		if len(lines) == min(8, room) {
			break
		}
		name := l.Theme.Fit(s.Name, 28, false)
		lines = append(lines, l.Theme.Compose(width, []theme.Span{{Text: "   "}, {Text: name, Role: theme.Key}, {Text: "  " + s.Help, Role: theme.Dim}}, nil))
	}
	return lines
}
