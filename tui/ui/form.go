package ui

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
)

// Form asks for what a new thing needs, or for what is to be changed of one.
type Form struct {
	Dialog
	title  string
	verb   string // what ctrl+s does, such as create
	Tries  bool   // ctrl+t does it too, and sends a test message
	Fields []*Field
	At     int
	Notes  []string
	Send   func(values map[string]string, try bool) tea.Cmd
	Place  func(wrong wire.FieldError) *Field // which of several fields of one name a complaint is about; nil where names are enough
	Leave  func()                             // what esc does besides closing it; nil for nothing
	Login  bool                               // it asks for a password
	Sent   bool                               // and not answered yet
	last   time.Time                          // when the last character was typed
}

// NewForm makes a form without fields; verb says what sending it does.
func NewForm(h Host, title, verb string) *Form {
	return &Form{Dialog: NewDialog(h), title: title, verb: verb}
}

// Add adds a field.
func (f *Form) Add(name, label, value, help string) *Field {
	one := NewField(name, label, value, help)
	f.Fields = append(f.Fields, one)
	return one
}

// Scopes implements Overlay.
func (f *Form) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InForm} }

// Hints are those of the table of keys, in the words of this form.
func (f *Form) Hints() []keymap.Binding {
	var all []keymap.Binding
	for _, b := range keymap.Bindings.Hints([]keymap.Scope{keymap.InForm}) {
		switch b.Action {
		case keymap.Submit:
			b.Hint = f.verb
		case keymap.SubmitAndTest:
			if b.Hint = f.verb + " and test"; !f.Tries {
				continue
			}
		}
		all = append(all, b)
	}
	if f.Fields[f.At].Among != nil {
		all = append(all, keymap.Binding{Scope: keymap.InForm, Keys: "left/right", Hint: "choose"})
	}
	return all
}

// Typed edits the field.
func (f *Form) Typed(m tea.KeyMsg) tea.Cmd {
	if !m.Paste && (m.Type == tea.KeyRunes || m.Type == tea.KeySpace) {
		f.last = f.Now
	}
	f.Fields[f.At].Typed(m)
	return nil
}

// Do implements Overlay.
func (f *Form) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoBack:
		f.Show(nil)
		if f.Leave != nil {
			f.Leave()
		}
	case keymap.NextField:
		if f.pasted() {
			return nil
		}
		return f.next()
	case keymap.PreviousField:
		f.At = max(0, f.step(-1))
	case keymap.LineDown:
		if !f.Fields[f.At].choosePick(1) && f.step(1) < len(f.Fields) {
			return f.next()
		}
	case keymap.LineUp:
		if !f.Fields[f.At].choosePick(-1) {
			f.At = max(0, f.step(-1))
		}
	case keymap.Submit:
		return f.submit(false)
	case keymap.SubmitAndTest:
		if f.Tries {
			return f.submit(true)
		}
	}
	return nil
}

// pasted takes an enter or a tab that came faster than anybody types for a part
// of the text: where a terminal does not mark pastes, their line breaks would
// send the form. A blank takes their place, except where one would choose.
func (f *Form) pasted() bool {
	if f.Now.Sub(f.last) >= PasteWithin {
		return false
	}
	if f.last = f.Now; f.Fields[f.At].Among == nil {
		f.Typed(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
	}
	f.Tell(Warning, "taken for the line break of a paste: press it once more")
	return true
}

// next goes to the next field; behind the last it sends the form.
func (f *Form) next() tea.Cmd {
	one := f.Fields[f.At]
	one.complete()
	if wrong := one.fault(); wrong != "" {
		one.Wrong = wrong
		return nil
	}
	if one.More != nil {
		one.More()
	}
	to := f.step(1)
	if to >= len(f.Fields) {
		return f.submit(false)
	}
	f.At = to
	return nil
}

// step is the field before or after this one. What stands behind something empty
// is left out.
func (f *Form) step(by int) int {
	to := f.At + by
	if to > 0 && to < len(f.Fields) && f.Fields[to].Behind && f.Fields[to].Empty() && f.Fields[to-1].Empty() {
		to += by
	}
	return to
}

// Refuse puts the service's complaints to the fields that they are about. It is
// false where there is none for any.
func (f *Form) Refuse(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	placed := false
	for _, wrong := range e.Fields {
		if one := f.about(wrong); one != nil {
			one.Wrong, f.At, placed = wrong.Message, slices.Index(f.Fields, one), true
		}
	}
	return placed
}

// about is the field that a complaint names; nil where there is none.
func (f *Form) about(wrong wire.FieldError) *Field {
	if f.Place != nil {
		if one := f.Place(wrong); one != nil {
			return one
		}
	}
	for _, one := range f.Fields {
		if strings.EqualFold(one.Name, wrong.FieldName) {
			return one
		}
	}
	return nil
}

// SentMsg is the answer to what a form has sent.
type SentMsg struct {
	Form   *Form
	Answer tea.Msg
}

// submit sends the form, once: keys that are pressed until the answer is here
// make nothing twice.
func (f *Form) submit(try bool) tea.Cmd {
	if f.Sent {
		f.Tell(Info, "it is sent already; esc leaves the form")
		return nil
	}
	values := make(map[string]string)
	for i, one := range f.Fields {
		if wrong := one.fault(); wrong != "" {
			one.Wrong, f.At = wrong, i
			return nil
		}
		values[one.Name] = one.Text()
	}
	cmd := f.Send(values, try)
	if cmd == nil {
		return nil
	}
	return f.Through(cmd)
}

// Through makes a command one whose answer is the form's. Until that is here the
// form cannot be sent.
func (f *Form) Through(cmd tea.Cmd) tea.Cmd {
	f.Sent = true
	return func() tea.Msg { return SentMsg{f, cmd()} }
}

// IsOpen reports whether the form is what is typed into. A form that there is not
// is not open.
func (f *Form) IsOpen() bool { return f != nil && f.Overlay() == Overlay(f) }

// Finish takes the form away, also where it waits below something else.
func (f *Form) Finish() {
	if f != nil {
		f.Close(f)
	}
}

// Free reports whether an answer may open something: where another thing is
// being typed or read, it may not. The form that was answered gives way.
func Free(h Host, answered *Form) bool {
	return !h.Typing() && (h.Overlay() == nil || answered.IsOpen())
}

// Refused reports whether an error was shown at the fields of the form, which is
// still open.
func (f *Form) Refused(err error) bool { return err != nil && f.IsOpen() && f.Refuse(err) }

// Unchanged says that there is nothing to be sent.
func (f *Form) Unchanged() {
	f.Tell(Info, "nothing is changed yet; "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" leaves the form")
}
