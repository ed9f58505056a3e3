package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
)

// Field is one input of a form.
type Field struct {
	Name            string // member name in the API, by which errors are assigned to fields
	Label           string
	Help            string
	Masked          bool
	ShowEnd         bool // the end is shown if the value is too long, as of a path
	Stored          bool // it has a value that only the service knows; typing replaces it
	SameLine        bool // shown on the line of the previous field
	Input           textinput.Model
	Error           string
	Suggest         func(text string) []Suggestion
	suggestionIndex int           // steps to the selected suggestion, see selected
	Options         []string      // allowed values; nil for any text
	OnChoose        func()        // called when another option is chosen; nil for nothing
	Check           func() string // returns the error of the value, "" if valid; nil for no local check
	AddMore         func()        // adds fields before moving to the next one; nil for nothing
}

// MaxField is the maximum number of characters of a field.
const MaxField = 64 << 10

// NewField returns a field with an initial value.
func NewField(name, label, value, help string) *Field {
	field := &Field{Name: name, Label: label, Help: help, Input: NewInput("")}
	field.Input.CharLimit = MaxField
	field.Set(value)
	return field
}

// Set replaces the value.
func (f *Field) Set(text string) {
	f.Input.SetValue(text)
	f.Input.CursorEnd()
}

// Text returns the value without surrounding space.
func (f *Field) Text() string { return strings.TrimSpace(f.Input.Value()) }

// Empty reports whether the field has no value.
func (f *Field) Empty() bool { return f.Text() == "" && !f.Stored }

// validate returns the error of the value, "" if it is valid.
func (f *Field) validate() string {
	if f.Check == nil {
		return ""
	}
	return f.Check()
}

// HandleKey edits the field. Input that does not fit is rejected as a whole: a
// truncated key or URL would be wrong.
func (f *Field) HandleKey(m tea.KeyMsg) {
	f.Error = ""
	f.suggestionIndex = 0
	if f.Options != nil {
		f.cycleOption(m)
		return
	}
	if len([]rune(f.Input.Value()))+len(m.Runes) > MaxField {
		f.Error = fmt.Sprintf("too long: a field holds at most %s characters", display.Thousands(MaxField))
		return
	}
	if isURL(string(m.Runes)) && isScheme(f.Input.Value()) {
		f.Input.SetValue("") // a pasted URL has its own scheme
	}
	typeInto(&f.Input, m)
	if f.Input.Value() != "" || slices.Contains(erasingKeys, m.Type) {
		f.Stored = false
	}
}

// schemes are the schemes of URLs that fields start with.
var schemes = []string{"https://", "http://"}

// isScheme reports whether a text is nothing but the scheme of a URL.
func isScheme(text string) bool { return slices.Contains(schemes, text) }

// isURL reports whether a text starts with the scheme of a URL.
func isURL(text string) bool {
	return slices.ContainsFunc(schemes, func(scheme string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), scheme)
	})
}

// erasingKeys are the keys that delete text.
var erasingKeys = []tea.KeyType{
	tea.KeyBackspace, tea.KeyDelete, tea.KeyCtrlU, tea.KeyCtrlK, tea.KeyCtrlW, tea.KeyCtrlD,
}

// cycleOption selects the next or previous option, or the first that starts with the
// typed character.
func (f *Field) cycleOption(m tea.KeyMsg) {
	previous := slices.Index(f.Options, f.Input.Value())
	chosen := previous
	switch m.Type {
	case tea.KeyRight, tea.KeySpace:
		chosen++
	case tea.KeyLeft:
		chosen += len(f.Options) - 1
	case tea.KeyRunes:
		matches := func(text string) bool { return strings.HasPrefix(text, string(m.Runes)) }
		if i := slices.IndexFunc(f.Options, matches); i >= 0 {
			chosen = i
		}
	}
	f.Input.SetValue(f.Options[chosen%len(f.Options)])
	if chosen != previous && f.OnChoose != nil {
		f.OnChoose()
	}
}

// suggestions returns the suggestions for the current value.
func (f *Field) suggestions() []Suggestion {
	if f.Suggest == nil {
		return nil
	}
	return f.Suggest(f.Input.Value())
}

// selected returns the index of the selected suggestion of a list: -1 in an untouched
// field, and otherwise the first one until another is chosen.
func (f *Field) selected(list []Suggestion) int {
	if f.Input.Value() == "" {
		return min(f.suggestionIndex, len(list)) - 1
	}
	return min(f.suggestionIndex, len(list)-1)
}

// moveSuggestion selects the next or previous suggestion and reports whether there was
// one.
func (f *Field) moveSuggestion(step int) bool {
	list := f.suggestions()
	if len(list) == 0 || f.suggestionIndex+step < 0 {
		return false
	}
	if step < 0 || f.selected(list) < len(list)-1 {
		f.suggestionIndex += step
	}
	return true
}

// complete replaces the value with the selected suggestion, if there is one.
func (f *Field) complete() {
	list := f.suggestions()
	if i := f.selected(list); i >= 0 {
		f.Set(list[i].Text)
	}
	f.suggestionIndex = 0
}
