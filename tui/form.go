package tui

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// form asks for what a new thing needs, or for what is to be changed of one.
type form struct {
	dialog
	title  string
	verb   string // what ctrl+s does, such as create
	tries  bool   // ctrl+t does it too, and sends a test message
	fields []*field
	at     int
	notes  []string
	send   func(values map[string]string, try bool) tea.Cmd
	place  func(wrong wire.FieldError) *field // which of several fields of one name a complaint is about; nil where names are enough
	leave  func()                             // what esc does besides closing it; nil for nothing
	login  bool                               // it asks for a password
	sent   bool                               // and not answered yet
	last   time.Time                          // when the last character was typed
}

func newForm(h Host, title, verb string) *form {
	return &form{dialog: dialogOf(h), title: title, verb: verb}
}

func (f *form) add(name, label, value, help string) *field {
	one := newField(name, label, value, help)
	f.fields = append(f.fields, one)
	return one
}

func (f *form) scopes() []keymap.Scope { return []keymap.Scope{keymap.InForm} }

// hints are those of the table of keys, in the words of this form.
func (f *form) hints() []keymap.Binding {
	var all []keymap.Binding
	for _, b := range keymap.Bindings.Hints([]keymap.Scope{keymap.InForm}) {
		switch b.Action {
		case keymap.Submit:
			b.Hint = f.verb
		case keymap.SubmitAndTest:
			if b.Hint = f.verb + " and test"; !f.tries {
				continue
			}
		}
		all = append(all, b)
	}
	if f.fields[f.at].among != nil {
		all = append(all, keymap.Binding{Scope: keymap.InForm, Keys: "left/right", Hint: "choose"})
	}
	return all
}

// typed edits the field.
func (f *form) typed(m tea.KeyMsg) tea.Cmd {
	if !m.Paste && (m.Type == tea.KeyRunes || m.Type == tea.KeySpace) {
		f.last = f.Now
	}
	f.fields[f.at].typed(m)
	return nil
}

func (f *form) do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoBack:
		f.Show(nil)
		if f.leave != nil {
			f.leave()
		}
	case keymap.NextField:
		if f.pasted() {
			return nil
		}
		return f.next()
	case keymap.PreviousField:
		f.at = max(0, f.step(-1))
	case keymap.LineDown:
		if !f.fields[f.at].choosePick(1) && f.step(1) < len(f.fields) {
			return f.next()
		}
	case keymap.LineUp:
		if !f.fields[f.at].choosePick(-1) {
			f.at = max(0, f.step(-1))
		}
	case keymap.Submit:
		return f.submit(false)
	case keymap.SubmitAndTest:
		if f.tries {
			return f.submit(true)
		}
	}
	return nil
}

// pasted takes an enter or a tab that came faster than anybody types for a part
// of the text: where a terminal does not mark pastes, their line breaks would
// send the form. A blank takes their place, except where one would choose.
func (f *form) pasted() bool {
	if f.Now.Sub(f.last) >= burstWithin {
		return false
	}
	if f.last = f.Now; f.fields[f.at].among == nil {
		f.typed(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
	}
	f.Tell(ui.Warning, "taken for the line break of a paste: press it once more")
	return true
}

// next goes to the next field; behind the last it sends the form.
func (f *form) next() tea.Cmd {
	one := f.fields[f.at]
	one.complete()
	if wrong := one.fault(); wrong != "" {
		one.wrong = wrong
		return nil
	}
	if one.more != nil {
		one.more()
	}
	to := f.step(1)
	if to >= len(f.fields) {
		return f.submit(false)
	}
	f.at = to
	return nil
}

// step is the field before or after this one. What stands behind something empty
// is left out.
func (f *form) step(by int) int {
	to := f.at + by
	if to > 0 && to < len(f.fields) && f.fields[to].behind && f.fields[to].empty() && f.fields[to-1].empty() {
		to += by
	}
	return to
}

// refuse puts the service's complaints to the fields that they are about. It is
// false where there is none for any.
func (f *form) refuse(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	placed := false
	for _, wrong := range e.Fields {
		if one := f.about(wrong); one != nil {
			one.wrong, f.at, placed = wrong.Message, slices.Index(f.fields, one), true
		}
	}
	return placed
}

// about is the field that a complaint names; nil where there is none.
func (f *form) about(wrong wire.FieldError) *field {
	if f.place != nil {
		if one := f.place(wrong); one != nil {
			return one
		}
	}
	for _, one := range f.fields {
		if strings.EqualFold(one.name, wrong.FieldName) {
			return one
		}
	}
	return nil
}

// sentMsg is the answer to what a form has sent.
type sentMsg struct {
	form   *form
	answer tea.Msg
}

// submit sends the form, once: keys that are pressed until the answer is here
// make nothing twice.
func (f *form) submit(try bool) tea.Cmd {
	if f.sent {
		f.Tell(ui.Info, "it is sent already; esc leaves the form")
		return nil
	}
	values := make(map[string]string)
	for i, one := range f.fields {
		if wrong := one.fault(); wrong != "" {
			one.wrong, f.at = wrong, i
			return nil
		}
		values[one.name] = one.text()
	}
	cmd := f.send(values, try)
	if cmd == nil {
		return nil
	}
	return f.through(cmd)
}

// through makes a command one whose answer is the form's. Until that is here the
// form cannot be sent.
func (f *form) through(cmd tea.Cmd) tea.Cmd {
	f.sent = true
	return func() tea.Msg { return sentMsg{f, cmd()} }
}

// open reports whether the form is what is typed into. A form that there is not
// is not open.
func (f *form) open() bool { return f != nil && f.Overlay() == overlay(f) }

// close takes the form away, also where it waits below something else.
func (f *form) close() {
	if f != nil {
		f.Close(f)
	}
}

// free reports whether an answer may open something: where another thing is
// being typed or read, it may not. The form that was answered gives way.
func free(h Host, answered *form) bool {
	return !h.Typing() && (h.Overlay() == nil || answered.open())
}

// refused reports whether an error was shown at the fields of the form, which is
// still open.
func (f *form) refused(err error) bool { return err != nil && f.open() && f.refuse(err) }

// unchanged says that there is nothing to be sent.
func (f *form) unchanged() {
	f.Tell(ui.Info, "nothing is changed yet; "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" leaves the form")
}
