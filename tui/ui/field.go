package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/display"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// Field is one line of a form, or a part of one.
type Field struct {
	Name            string // as the service calls it, so that its complaints find their place
	Label           string
	Help            string
	Masked          bool
	Stored          bool // it has a value that only the service knows; what is typed takes its place
	SameLine        bool // it stands on the line of the one before
	Input           textinput.Model
	Error           string
	Suggest         func(text string) []Suggestion
	suggestionIndex int           // which of these tab takes, from 0
	Options         []string      // what it can be; nil for any text
	OnChoose        func()        // another of these was chosen; nil where nobody cares
	Check           func() string // says what is wrong with it, "" for nothing; nil where the service alone knows
	AddMore         func()        // makes room for more before the next field is gone to; nil where there is never more
}

// MaxField is how many characters a field holds.
const MaxField = 64 << 10

// NewField makes a field with a value.
func NewField(name, label, value, help string) *Field {
	one := &Field{Name: name, Label: label, Help: help, Input: NewInput("")}
	one.Input.CharLimit = MaxField
	one.Set(value)
	return one
}

// Set replaces what is typed.
func (f *Field) Set(text string) {
	f.Input.SetValue(text)
	f.Input.CursorEnd()
}

// Text is what is typed, without blanks around it.
func (f *Field) Text() string { return strings.TrimSpace(f.Input.Value()) }

// Empty reports whether the field has no value.
func (f *Field) Empty() bool { return f.Text() == "" && !f.Stored }

// validate is what is wrong with what is typed, as far as that is known here.
func (f *Field) validate() string {
	if f.Check == nil {
		return ""
	}
	return f.Check()
}

// HandleKey edits the field. What does not fit is not taken at all: a part of a key
// or an address would be another one.
func (f *Field) HandleKey(m tea.KeyMsg) {
	f.Error, f.suggestionIndex = "", 0
	if f.Options != nil {
		f.cycleOption(m)
		return
	}
	if len([]rune(f.Input.Value()))+len(m.Runes) > MaxField {
		f.Error = fmt.Sprintf("this is too long and was not taken: a field holds %s characters", display.Thousands(MaxField))
		return
	}
	f.Input, _ = f.Input.Update(m)
	if f.Input.Value() != "" || slices.Contains(erasingKeys, m.Type) {
		f.Stored = false
	}
}

// erasingKeys are the keys that take text away.
var erasingKeys = []tea.KeyType{tea.KeyBackspace, tea.KeyDelete, tea.KeyCtrlU, tea.KeyCtrlK, tea.KeyCtrlW, tea.KeyCtrlD}

// cycleOption goes through what a field can be, or to what begins with a letter.
func (f *Field) cycleOption(m tea.KeyMsg) {
	at := slices.Index(f.Options, f.Input.Value())
	to := at
	switch m.Type {
	case tea.KeyRight, tea.KeySpace:
		to++
	case tea.KeyLeft:
		to += len(f.Options) - 1
	case tea.KeyRunes:
		begins := func(text string) bool { return strings.HasPrefix(text, string(m.Runes)) }
		if to = slices.IndexFunc(f.Options, begins); to < 0 {
			to = at
		}
	}
	f.Input.SetValue(f.Options[to%len(f.Options)])
	if to != at && f.OnChoose != nil {
		f.OnChoose()
	}
}

// suggestions are what can be picked.
func (f *Field) suggestions() []Suggestion {
	if f.Suggest == nil {
		return nil
	}
	return f.Suggest(f.Input.Value())
}

// moveSuggestion goes through what can be picked. It is false where that is nothing,
// or where there is nothing before the first.
func (f *Field) moveSuggestion(step int) bool {
	list := f.suggestions()
	if len(list) == 0 || f.suggestionIndex+step < 0 {
		return false
	}
	f.suggestionIndex = min(f.suggestionIndex+step, len(list)-1)
	return true
}

// complete takes what is picked: where nothing was typed or chosen, nothing.
func (f *Field) complete() {
	if f.Input.Value() == "" && f.suggestionIndex == 0 {
		return
	}
	if list := f.suggestions(); len(list) > 0 {
		f.Set(list[min(f.suggestionIndex, len(list)-1)].Text)
	}
	f.suggestionIndex = 0
}
