package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/theme"
)

// field is one line of a form, or a part of one.
type field struct {
	name   string // as the service calls it, so that its complaints find their place
	label  string
	help   string
	masked bool
	kept   bool // it has a value that only the service knows; what is typed takes its place
	behind bool // it stands on the line of the one before
	input  textinput.Model
	wrong  string
	pick   func(text string) []suggestion
	picked int           // which of these tab takes, from 0
	among  []string      // what it can be; nil for any text
	chosen func()        // another of these was chosen; nil where nobody cares
	check  func() string // says what is wrong with it, "" for nothing; nil where the service alone knows
	more   func()        // makes room for more before the next field is gone to; nil where there is never more
}

// fieldMost is how many characters a field holds.
const fieldMost = 64 << 10

func newField(name, label, value, help string) *field {
	one := &field{name: name, label: label, help: help, input: newInput("")}
	one.input.CharLimit = fieldMost
	one.set(value)
	return one
}

// set replaces what is typed.
func (f *field) set(text string) {
	f.input.SetValue(text)
	f.input.CursorEnd()
}

// text is what is typed, without blanks around it.
func (f *field) text() string { return strings.TrimSpace(f.input.Value()) }

func (f *field) empty() bool { return f.text() == "" && !f.kept }

// fault is what is wrong with what is typed, as far as that is known here.
func (f *field) fault() string {
	if f.check == nil {
		return ""
	}
	return f.check()
}

// typed edits the field. What does not fit is not taken at all: a part of a key
// or an address would be another one.
func (f *field) typed(m tea.KeyMsg) {
	f.wrong, f.picked = "", 0
	if f.among != nil {
		f.choose(m)
		return
	}
	if len([]rune(f.input.Value()))+len(m.Runes) > fieldMost {
		f.wrong = fmt.Sprintf("this is too long and was not taken: a field holds %s characters", theme.Thousands(fieldMost))
		return
	}
	f.input, _ = f.input.Update(m)
	if f.input.Value() != "" || slices.Contains(erasing, m.Type) {
		f.kept = false
	}
}

// erasing are the keys that take text away.
var erasing = []tea.KeyType{tea.KeyBackspace, tea.KeyDelete, tea.KeyCtrlU, tea.KeyCtrlK, tea.KeyCtrlW, tea.KeyCtrlD}

// choose goes through what a field can be, or to what begins with a letter.
func (f *field) choose(m tea.KeyMsg) {
	at := slices.Index(f.among, f.input.Value())
	to := at
	switch m.Type {
	case tea.KeyRight, tea.KeySpace:
		to++
	case tea.KeyLeft:
		to += len(f.among) - 1
	case tea.KeyRunes:
		begins := func(text string) bool { return strings.HasPrefix(text, string(m.Runes)) }
		if to = slices.IndexFunc(f.among, begins); to < 0 {
			to = at
		}
	}
	f.input.SetValue(f.among[to%len(f.among)])
	if to != at && f.chosen != nil {
		f.chosen()
	}
}

// suggestions are what can be picked.
func (f *field) suggestions() []suggestion {
	if f.pick == nil {
		return nil
	}
	return f.pick(f.input.Value())
}

// choosePick goes through what can be picked. It is false where that is nothing,
// or where there is nothing before the first.
func (f *field) choosePick(step int) bool {
	list := f.suggestions()
	if len(list) == 0 || f.picked+step < 0 {
		return false
	}
	f.picked = min(f.picked+step, len(list)-1)
	return true
}

// complete takes what is picked: where nothing was typed or chosen, nothing.
func (f *field) complete() {
	if f.input.Value() == "" && f.picked == 0 {
		return
	}
	if list := f.suggestions(); len(list) > 0 {
		f.set(list[min(f.picked, len(list)-1)].text)
	}
	f.picked = 0
}
