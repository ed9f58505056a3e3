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

// Form is a form for creating or changing an object.
type Form struct {
	HostSession
	title   string
	verb    string // action of ctrl+s, such as create
	CanTest bool   // ctrl+t submits too, and sends a test message
	// EnterSubmits makes enter submit the form in every field.
	EnterSubmits bool
	Fields       []*Field
	At           int      // index of the active field
	Notes        []string // below the fields
	// Send submits the values by the names of the fields. With test, a test message is sent, too.
	Send func(values map[string]string, test bool) tea.Cmd
	// FieldFor returns the field of an error if several fields have the same name; nil if names
	// are unique.
	FieldFor func(wrong wire.FieldError) *Field
	OnCancel func()    // called by esc; nil for nothing
	IsSignIn bool      // it is the sign-in form
	Sent     bool      // submitted, and no response yet
	lastKey  time.Time // when the last character was typed
	initial  *string   // the values before the first key; nil before
	warnedAt time.Time // when the last key was an esc that keeps the changes; zero otherwise
}

// NewForm returns a form without fields; verb is the label of the submit key.
func NewForm(h Host, title, verb string) *Form {
	return &Form{HostSession: NewHostSession(h), title: title, verb: verb}
}

// Add adds a field.
func (f *Form) Add(name, label, value, help string) *Field {
	field := NewField(name, label, value, help)
	f.Fields = append(f.Fields, field)
	return field
}

func (f *Form) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InForm} }

// Hints returns the hints of the form, labelled with its verb.
func (f *Form) Hints() []keymap.Binding {
	var all []keymap.Binding
	for _, b := range keymap.Bindings.Hints([]keymap.Scope{keymap.InForm}) {
		switch b.Action {
		case keymap.Submit:
			b.Hint = f.verb
			if f.EnterSubmits {
				b.Keys = "enter"
			}
		case keymap.SubmitAndTest:
			b.Hint = f.verb + " and test"
			if !f.CanTest {
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
func (f *Form) HandleKey(m tea.KeyMsg) {
	f.begin()
	if !m.Paste && (m.Type == tea.KeyRunes || m.Type == tea.KeySpace) {
		f.lastKey = f.Session.Now
	}
	f.Fields[f.At].HandleKey(m)
}

// begin is called by each key. It keeps the values before the first one, and the changes.
func (f *Form) begin() {
	if f.initial == nil {
		f.initial = new(f.content())
	}
	if !f.warnedAt.IsZero() {
		f.warnedAt = time.Time{}
		f.Host.ClearToast()
	}
}

// content returns the values of all fields.
func (f *Form) content() string {
	var all strings.Builder
	for _, field := range f.Fields {
		if !field.Empty() {
			all.WriteString(field.Name + "\x00" + field.Text() + "\x00")
		}
	}
	return all.String()
}

// changed reports whether the user has changed a value since the first key.
func (f *Form) changed() bool { return f.initial != nil && *f.initial != f.content() }

func (f *Form) Do(b keymap.Binding) tea.Cmd {
	discardsChanges := b.Action == keymap.GoBack && !f.Sent && !f.IsSignIn && f.changed()
	isWarned := f.Session.Now.Sub(f.warnedAt) < ToastDuration[Warning]
	if discardsChanges && !isWarned {
		f.warnedAt = f.Session.Now
		f.Host.Notify(Warning, "press "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" again to discard the changes")
		return nil
	}
	f.begin()
	switch b.Action {
	case keymap.GoBack:
		f.Host.ShowOverlay(nil)
		if f.OnCancel != nil {
			f.OnCancel()
		}
	case keymap.NextField, keymap.NextFieldOrSubmit:
		return f.leaveField(b.Action == keymap.NextFieldOrSubmit)
	case keymap.PreviousField:
		f.previous()
	case keymap.LineDown:
		moved := f.Fields[f.At].moveSuggestion(1)
		if !moved && f.step(1) < len(f.Fields) {
			f.next()
		}
	case keymap.LineUp:
		moved := f.Fields[f.At].moveSuggestion(-1)
		if !moved {
			f.previous()
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

// leaveField handles enter, which submits the form in the last field, and tab, which goes to the
// first field from there.
func (f *Form) leaveField(isEnter bool) tea.Cmd {
	if f.pasted() {
		return nil
	}
	last := f.next()
	if isEnter && (last || f.EnterSubmits) {
		return f.submit(false)
	}
	if last {
		f.At = 0
	}
	return nil
}

// pasted handles enter and tab that arrive faster than typing as part of a paste:
// terminals without bracketed paste would otherwise submit the form at line breaks. In
// text fields, it inserts a space instead.
func (f *Form) pasted() bool {
	if f.Session.Now.Sub(f.lastKey) >= PasteInterval {
		return false
	}
	f.lastKey = f.Session.Now
	if f.Fields[f.At].Options == nil {
		f.HandleKey(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
	}
	f.Host.Notify(Warning, "ignored because it was part of a paste: press it again")
	return true
}

// next goes to the next field, unless the value is invalid. It stays in the last field
// and reports that.
func (f *Form) next() (last bool) {
	field := f.Fields[f.At]
	field.complete()
	if wrong := field.validate(); wrong != "" {
		field.Error = wrong
		return false
	}
	if field.AddMore != nil {
		field.AddMore()
	}
	index := f.step(1)
	if index >= len(f.Fields) {
		return true
	}
	f.At = index
	return false
}

// previous goes to the previous field, if there is one.
func (f *Form) previous() { f.At = max(0, f.step(-1)) }

// step returns the index of the next or previous field. It skips the second field of an
// empty pair.
func (f *Form) step(direction int) int {
	index := f.At + direction
	isSecond := index > 0 && index < len(f.Fields) && f.Fields[index].SameLine
	if isSecond && f.Fields[index].Empty() && f.Fields[index-1].Empty() {
		index += direction
	}
	return index
}

// RejectedFields shows the errors of the service at their fields if the form is still
// open, and reports whether there was a field for any.
func (f *Form) RejectedFields(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || !f.IsOpen() {
		return false
	}
	shown := false
	for _, wrong := range e.Fields {
		if field := f.fieldFor(wrong); field != nil {
			field.Error = wrong.Message
			f.At = slices.Index(f.Fields, field)
			shown = true
		}
	}
	return shown
}

// fieldFor returns the field of an error, nil if there is none.
func (f *Form) fieldFor(wrong wire.FieldError) *Field {
	if f.FieldFor != nil {
		if field := f.FieldFor(wrong); field != nil {
			return field
		}
	}
	for _, field := range f.Fields {
		if strings.EqualFold(field.Name, wrong.FieldName) {
			return field
		}
	}
	return nil
}

// SentMsg is the response to a submitted form.
type SentMsg struct {
	Form     *Form
	Response tea.Msg
}

// submit sends the form, unless it is already sent.
func (f *Form) submit(test bool) tea.Cmd {
	if f.Sent {
		f.Host.Notify(Info, "already submitted; esc closes the form")
		return nil
	}
	values := make(map[string]string)
	for i, field := range f.Fields {
		if wrong := field.validate(); wrong != "" {
			field.Error = wrong
			f.At = i
			return nil
		}
		values[field.Name] = field.Text()
	}
	cmd := f.Send(values, test)
	if cmd == nil {
		return nil
	}
	return f.Track(cmd)
}

// Track marks the form as submitted until cmd returns its response.
func (f *Form) Track(cmd tea.Cmd) tea.Cmd {
	f.Sent = true
	return func() tea.Msg { return SentMsg{f, cmd()} }
}

// IsOpen reports whether the form is the overlay in front. It returns false for a nil
// form.
func (f *Form) IsOpen() bool { return f != nil && f.Host.Overlay() == Overlay(f) }

// Finish closes the form, even if another overlay covers it.
func (f *Form) Finish() {
	if f != nil {
		f.Host.CloseOverlay(f)
	}
}

// CanOpen reports whether a response may open an overlay: nothing else is open except
// the form that it answers.
func CanOpen(h Host, form *Form) bool {
	return h.Input() == nil && (h.Overlay() == nil || form.IsOpen())
}

// NotifyUnchanged notifies the user that no field was changed.
func (f *Form) NotifyUnchanged() {
	f.Host.Notify(Info, "no changes; "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" closes the form")
}
