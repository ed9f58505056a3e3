package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// How a form is sent, and what its answer meets.

// sentMsg is the answer to what a form has sent.
type sentMsg struct {
	form   *form
	answer tea.Msg
}

// submit sends the form, once: keys that are pressed until the answer is here
// make nothing twice.
func (f *form) submit(try bool) tea.Cmd {
	if f.sent {
		f.app.tell(ui.Info, "it is sent already; esc leaves the form")
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

// arrived takes the answer to a form at once, before any other key, which could
// send it again.
func (a *app) arrived(m sentMsg) tea.Cmd {
	m.form.sent = false
	switch one := m.answer.(type) {
	case heldMsg:
		one.unsent.form = m.form
		return a.answer(one)
	case signedInMsg:
		one.form = m.form
		return a.answer(one)
	case subscriptionMsg:
		one.form = m.form
		return a.answer(one)
	case billMsg:
		one.form = m.form
		return a.answer(one)
	case billFieldsMsg:
		one.form = m.form
		return a.answer(one)
	case answered:
		return a.answer(one)
	}
	return func() tea.Msg { return m.answer }
}

// open reports whether the form is what is typed into. A form that there is not
// is not open.
func (f *form) open() bool { return f != nil && f.app.over == overlay(f) }

// close takes the form away, also where it waits below something else.
func (f *form) close() {
	if f == nil {
		return
	}
	a := f.app
	if f.open() {
		a.over = nil
	}
	if a.held != nil && a.held.under == overlay(f) {
		a.held.under = nil
	}
	for _, s := range a.secrets {
		if s.under == overlay(f) {
			s.under = nil
		}
	}
}

// free reports whether an answer may open something: where another thing is
// being typed or read, it may not. The form that was answered gives way.
func (a *app) free(answered *form) bool {
	return a.line == nil && (a.over == nil || answered.open())
}
