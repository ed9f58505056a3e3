package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
)

// Suggestion is a completion of an input.
type Suggestion struct {
	Text string // the whole input after completion
	Name string // shown
	Help string
	Key  string // does the same without the input; empty for none
}

// SuggestionGroup is a part of the list below an empty input.
type SuggestionGroup struct {
	Title       string
	Suggestions []Suggestion
	Compact     bool // only the names are listed if there is no room for all suggestions
}

// LineHost is the part of the app that an input line uses.
type LineHost interface {
	CurrentSession() *Session
	Notify(l Level, text string)
	// ShowInput opens an input line below the tabs; nil closes it.
	ShowInput(l *InputLine)
}

// InputLine is an input below the tabs: a command, a filter or a search.
type InputLine struct {
	host         LineHost
	session      *Session
	kind         string // key of its history
	prompt       string
	input        textinput.Model
	Help         string            // in the hint line
	Groups       []SuggestionGroup // listed below the input while it is empty; none lists Suggest
	Suggest      func(text string) []Suggestion
	Check        func(text string) error // called on every change
	Accept       func(text string) tea.Cmd
	err          error     // of Check; nil for valid input
	initial      string    // text when the input was opened
	lastKey      time.Time // time of the last key
	historyIndex int       // position in the history from its end; 0 is the current input
	draft        string    // the current input while one of the history is shown
}

// PasteInterval is the minimum time in which a user types five keys; faster input is
// treated as pasted.
const PasteInterval = 30 * time.Millisecond

// maxLineLength is the maximum number of characters of an input.
const maxLineLength = 4096

// NewInputLine returns an input line with an initial text.
func NewInputLine(h LineHost, kind, prompt, text string) *InputLine {
	return &InputLine{
		host:    h,
		session: h.CurrentSession(),
		kind:    kind,
		prompt:  prompt,
		input:   NewInput(text),
		initial: text,
	}
}

// NewInput returns a focused text input.
func NewInput(text string) textinput.Model {
	input := textinput.New()
	input.CharLimit = maxLineLength
	input.SetValue(text)
	input.CursorEnd()
	input.Focus() // the returned command only makes the cursor blink
	return input
}

// Binding returns the binding of a key message. Several characters in one message are
// text, even if they spell the name of a key, such as "up".
func Binding(scopes []keymap.Scope, m tea.KeyMsg) (keymap.Binding, bool) {
	isText := m.Type == tea.KeyRunes && len(m.Runes) != 1
	if m.Paste || isText {
		return keymap.Binding{}, false
	}
	return keymap.Bindings.Lookup(scopes, m.String())
}

// typeInto edits a text input. It marks several characters as pasted, since the input
// looks keys up by their names too.
func typeInto(input *textinput.Model, m tea.KeyMsg) {
	if m.Type == tea.KeyRunes && len(m.Runes) > 1 {
		m.Paste = true
	}
	*input, _ = input.Update(m)
}

// Key handles a key press.
func (l *InputLine) Key(m tea.KeyMsg) tea.Cmd {
	b, ok := Binding([]keymap.Scope{keymap.InLine}, m)
	if !ok {
		typeInto(&l.input, m)
		l.historyIndex = 0
		l.lastKey = l.session.Now
		l.verify()
		return nil
	}
	switch b.Action {
	case keymap.GoBack:
		l.host.ShowInput(nil)
		if l.Check != nil {
			_ = l.Check(l.initial) // restores lists that are filtered while typing
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

// submit accepts the input if it is valid.
func (l *InputLine) submit() tea.Cmd {
	l.verify()
	if l.err != nil {
		return nil
	}
	if l.session.Now.Sub(l.lastKey) < PasteInterval { // too fast for typing: part of a paste
		l.host.Notify(Info,
			"ignored because it was part of a paste: press "+keymap.KeyFor(keymap.InLine, keymap.Submit)+" again")
		return nil
	}
	text := l.input.Value()
	l.session.remember(l.kind, text)
	l.host.ShowInput(nil)
	return l.Accept(text)
}

// Set replaces the input.
func (l *InputLine) Set(text string) {
	l.input.SetValue(text)
	l.input.CursorEnd()
	l.verify()
}

// recall moves through the history.
func (l *InputLine) recall(step int) {
	history := l.session.History[l.kind]
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
	if l.showsGroups() {
		var list []Suggestion
		for _, group := range l.Groups {
			list = append(list, group.Suggestions...)
		}
		return list
	}
	if l.Suggest == nil {
		return nil
	}
	return l.Suggest(l.input.Value())
}

// View draws the input line.
func (l *InputLine) View(width int) string {
	prompt := " " + l.prompt + " "
	return l.session.Theme.Paint(theme.Key, prompt) +
		drawInput(l.session.Theme, l.input, width-ansi.StringWidth(prompt), false)
}

// drawInput draws a text input with its cursor in width cells. If it is masked, each
// character is a star.
func drawInput(t *theme.Theme, input textinput.Model, width int, masked bool) string {
	value := []rune(input.Value())
	if masked {
		value = slices.Repeat([]rune{'*'}, len(value))
	}
	position := min(input.Position(), len(value))
	first := max(0, position-width+2) // scrolls so that the cursor is visible
	before, _ := t.Sanitize(string(value[first:position]), width-1)
	beforeWidth := ansi.StringWidth(before)

	// The cursor is a blank after the text, and on a character that has no width or no room.
	cursor, cursorWidth := " ", 1
	after := ""
	if position < len(value) {
		character, characterWidth := t.Sanitize(string(value[position]), 2)
		if characterWidth > 0 && beforeWidth+characterWidth <= width {
			cursor, cursorWidth = character, characterWidth
		}
		after = string(value[position+1:])
	}
	return before + t.Paint(theme.Cursor, cursor) + t.Fit(after, width-beforeWidth-cursorWidth, false)
}

// Hint returns the text of the hint line: the error of the input, or its help.
func (l *InputLine) Hint() string {
	if l.err != nil {
		return l.err.Error()
	}
	return l.Help
}

const (
	maxCompletions  = 8  // lines below an input line with text
	completionWidth = 28 // cells of the name of a completion
	groupWidth      = 11 // cells of the title of a group
)

// showsGroups reports whether the input is empty and groups are listed.
func (l *InputLine) showsGroups() bool { return l.input.Value() == "" && len(l.Groups) > 0 }

// Suggestions draws the completions below the input.
func (l *InputLine) Suggestions(width, room int) []string {
	if l.showsGroups() {
		return l.drawGroups(width, room)
	}
	var lines []string
	for _, s := range l.suggestions() {
		if len(lines) == min(maxCompletions, room) {
			break
		}
		lines = append(lines, l.drawSuggestion(width, "", s))
	}
	return lines
}

// drawSuggestion draws a completion after a text at the left.
func (l *InputLine) drawSuggestion(width int, before string, s Suggestion) string {
	t := l.session.Theme
	spans := []theme.Span{
		{Text: "   " + before, Role: theme.Dim},
		{Text: t.Fit(s.Name, completionWidth, false), Role: theme.Key},
		{Text: "  " + s.Help, Role: theme.Dim},
	}
	if s.Key == "" {
		return t.Compose(width, spans, nil)
	}
	return t.Compose(width, spans, []theme.Span{{Text: s.Key + " ", Role: theme.Key}})
}

// drawGroups draws the groups in at most room lines. The last line counts the others.
func (l *InputLine) drawGroups(width, room int) []string {
	names := l.compactNames(width, room)
	counts := groupCounts(l.Groups, names, room)
	var lines []string
	hidden := 0
	for i, group := range l.Groups {
		title := group.Title
		for _, line := range names[i] {
			lines = append(lines, l.drawNames(width, title, line))
			title = ""
		}
		if len(names[i]) > 0 {
			continue
		}
		for _, s := range group.Suggestions[:counts[i]] {
			lines = append(lines, l.drawSuggestion(width, l.groupTitle(title), s))
			title = ""
		}
		hidden += len(group.Suggestions) - counts[i]
	}
	if hidden > 0 {
		note := display.Count(hidden, "other", "others") + ": enter a part of the name"
		lines = append(lines, l.session.Theme.Compose(width, []theme.Span{{Text: "   " + note, Role: theme.Dim}}, nil))
	}
	return lines
}

// groupTitle returns the title of a group in its column.
func (l *InputLine) groupTitle(title string) string {
	return l.session.Theme.Fit(title, groupWidth, false)
}

// drawNames draws a line of names of a compact group.
func (l *InputLine) drawNames(width int, title, names string) string {
	spans := []theme.Span{
		{Text: "   " + l.groupTitle(title), Role: theme.Dim},
		{Text: names, Role: theme.Key},
	}
	return l.session.Theme.Compose(width, spans, nil)
}

// compactNames returns the lines with the names of each compact group, none if there is room for all
// suggestions.
func (l *InputLine) compactNames(width, room int) [][]string {
	names := make([][]string, len(l.Groups))
	total := 0
	for _, group := range l.Groups {
		total += len(group.Suggestions)
	}
	if total <= room {
		return names
	}
	for i, group := range l.Groups {
		if !group.Compact {
			continue
		}
		text := record.Texts(group.Suggestions, func(s Suggestion) string { return s.Name })
		for _, line := range theme.Wrap(strings.Join(text, "  "), width-groupWidth-4) {
			names[i] = append(names[i], line.Text)
		}
	}
	return names
}

// groupCounts returns how many suggestions of each group are listed in at most room lines, of which
// the names of compact groups take some. The longest groups are shortened first, and of equally long
// ones the last.
func groupCounts(groups []SuggestionGroup, names [][]string, room int) []int {
	counts := make([]int, len(groups))
	lines := 0
	for i, group := range groups {
		room -= len(names[i])
		if len(names[i]) == 0 {
			counts[i] = len(group.Suggestions)
			lines += counts[i]
		}
	}
	if lines <= room {
		return counts
	}
	const note = 1 // line that counts the others
	for lines > max(0, room-note) {
		longest := 0
		for i := range counts {
			if counts[i] >= counts[longest] {
				longest = i
			}
		}
		counts[longest]--
		lines--
	}
	return counts
}
