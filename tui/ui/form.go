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
	title    string
	verb     string // what ctrl+s does, such as create
	CanTest  bool   // ctrl+t does it too, and sends a test message
	Fields   []*Field
	At       int
	Notes    []string
	Send     func(values map[string]string, try bool) tea.Cmd
	FieldFor func(wrong wire.FieldError) *Field // which of several fields of one name a complaint is about; nil where names are enough
	OnCancel func()                             // what esc does besides closing it; nil for nothing
	IsSignIn bool                               // it asks for a password
	Sent     bool                               // and not answered yet
	lastKey  time.Time                          // when the last character was typed
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
			if b.Hint = f.verb + " and test"; !f.CanTest {
				continue
			}
		}
		all = append(all, b)
	}
	if f.Fields[f.At].Options != nil {
		all = append(all, keymap.Binding{Scope: keymap.InForm, Keys: "left/right", Hint: "choose"})
	}
	return all
}

// HandleKey edits the field.
func (f *Form) HandleKey(m tea.KeyMsg) tea.Cmd {
	if !m.Paste && (m.Type == tea.KeyRunes || m.Type == tea.KeySpace) {
		f.lastKey = f.Now
	}
	f.Fields[f.At].HandleKey(m)
	return nil
}

// Do implements Overlay.
func (f *Form) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoBack:
		f.ShowOverlay(nil)
		if f.OnCancel != nil {
			f.OnCancel()
		}
	case keymap.NextField:
		if f.pasted() {
			return nil
		}
		return f.next()
	case keymap.PreviousField:
		f.At = max(0, f.step(-1))
	case keymap.LineDown:
		if !f.Fields[f.At].moveSuggestion(1) && f.step(1) < len(f.Fields) {
			return f.next()
		}
	case keymap.LineUp:
		if !f.Fields[f.At].moveSuggestion(-1) {
			f.At = max(0, f.step(-1))
		}
	case keymap.Submit:
		return f.submit(false)
	case keymap.SubmitAndTest:
		if f.CanTest {
			return f.submit(true)
		}
	}
	return nil
}

// pasted takes an enter or a tab that came faster than anybody types for a part
// of the text: where a terminal does not mark pastes, their line breaks would
// send the form. A blank takes their place, except where one would choose.
func (f *Form) pasted() bool {
	if f.Now.Sub(f.lastKey) >= PasteInterval {
		return false
	}
	if f.lastKey = f.Now; f.Fields[f.At].Options == nil {
		f.HandleKey(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
	}
	f.Notify(Warning, "taken for the line break of a paste: press it once more")
	return true
}

// next goes to the next field; behind the last it sends the form.
func (f *Form) next() tea.Cmd {
	one := f.Fields[f.At]
	one.complete()
	if wrong := one.validate(); wrong != "" {
		one.Error = wrong
		return nil
	}
	if one.AddMore != nil {
		one.AddMore()
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
	if to > 0 && to < len(f.Fields) && f.Fields[to].SameLine && f.Fields[to].Empty() && f.Fields[to-1].Empty() {
		to += by
	}
	return to
}

// ShowFieldErrors puts the service's complaints to the fields that they are about. It is
// false where there is none for any.
func (f *Form) ShowFieldErrors(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	shown := false
	for _, wrong := range e.Fields {
		if one := f.fieldFor(wrong); one != nil {
			one.Error, f.At, shown = wrong.Message, slices.Index(f.Fields, one), true
		}
	}
	return shown
}

// fieldFor is the field that a complaint names; nil where there is none.
func (f *Form) fieldFor(wrong wire.FieldError) *Field {
	if f.FieldFor != nil {
		if one := f.FieldFor(wrong); one != nil {
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
	Form     *Form
	Response tea.Msg
}

// submit sends the form, once: keys that are pressed until the answer is here
// make nothing twice.
func (f *Form) submit(test bool) tea.Cmd {
	if f.Sent {
		f.Notify(Info, "it is sent already; esc leaves the form")
		return nil
	}
	values := make(map[string]string)
	for i, one := range f.Fields {
		if wrong := one.validate(); wrong != "" {
			one.Error, f.At = wrong, i
			return nil
		}
		values[one.Name] = one.Text()
	}
	cmd := f.Send(values, test)
	if cmd == nil {
		return nil
	}
	return f.Track(cmd)
}

// Track makes a command one whose answer is the form's. Until that is here the
// form cannot be sent.
func (f *Form) Track(cmd tea.Cmd) tea.Cmd {
	f.Sent = true
	return func() tea.Msg { return SentMsg{f, cmd()} }
}

// IsOpen reports whether the form is what is typed into. A form that there is not
// is not open.
func (f *Form) IsOpen() bool { return f != nil && f.Overlay() == Overlay(f) }

// Finish takes the form away, also where it waits below something else.
func (f *Form) Finish() {
	if f != nil {
		f.CloseOverlay(f)
	}
}

// CanOpen reports whether an answer may open something: where another thing is
// being typed or read, it may not. The form that was answered gives way.
func CanOpen(h Host, form *Form) bool {
	return !h.InputOpen() && (h.Overlay() == nil || form.IsOpen())
}

// RejectedFields reports whether an error was shown at the fields of the form, which is
// still open.
func (f *Form) RejectedFields(err error) bool {
	return err != nil && f.IsOpen() && f.ShowFieldErrors(err)
}

// NotifyUnchanged says that there is nothing to be sent.
func (f *Form) NotifyUnchanged() {
	f.Notify(Info, "nothing is changed yet; "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" leaves the form")
}
