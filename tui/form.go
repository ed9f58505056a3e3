package tui

import (
	"errors"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/grid"
)

// field is one line of a form.
type field struct {
	name   string // as the service calls it, so that its complaints find their place
	label  string
	help   string
	masked bool
	input  textinput.Model
	wrong  string
	pick   func(text string) []suggestion
	among  []string // what it can be; nil for any text
	chosen func()   // another of these was chosen; nil where nobody cares
}

// form asks for what a new thing needs.
type form struct {
	app    *app
	title  string
	fields []*field
	at     int
	notes  []string
	send   func(values map[string]string, try bool) tea.Cmd
	leave  func() // what esc does besides closing it; nil for nothing
	login  bool   // it asks for a password
	sent   bool   // and not answered yet
}

func (f *form) add(name, label, value, help string) *field {
	one := &field{name: name, label: label, help: help, input: newInput(value)}
	f.fields = append(f.fields, one)
	return one
}

func (f *form) scopes() []scope { return []scope{inForm} }

// typed edits the field.
func (f *form) typed(m tea.KeyMsg) tea.Cmd {
	one := f.fields[f.at]
	one.wrong = ""
	if one.among != nil {
		one.choose(m)
		return nil
	}
	one.input, _ = one.input.Update(m)
	return nil
}

// choose goes through what a field can be.
func (f *field) choose(m tea.KeyMsg) {
	step := 0
	switch m.Type {
	case tea.KeyRight, tea.KeySpace:
		step = 1
	case tea.KeyLeft:
		step = -1
	}
	at := slices.Index(f.among, f.input.Value())
	f.input.SetValue(f.among[(at+step+len(f.among))%len(f.among)])
	if step != 0 && f.chosen != nil {
		f.chosen()
	}
}

func (f *form) do(b binding) tea.Cmd {
	switch b.action {
	case goBack:
		f.app.over = nil
		if f.leave != nil {
			f.leave()
		}
	case nextField:
		f.complete()
		if f.at == len(f.fields)-1 {
			return f.submit(false)
		}
		f.at++
	case previousField:
		f.at = max(0, f.at-1)
	case submit:
		return f.submit(false)
	case submitAndTest:
		return f.submit(true)
	}
	return nil
}

// complete takes the first of what can be picked where the text begins it.
func (f *form) complete() {
	one := f.fields[f.at]
	if one.pick == nil || one.input.Value() == "" {
		return
	}
	if list := one.pick(one.input.Value()); len(list) > 0 {
		one.input.SetValue(list[0].text)
		one.input.CursorEnd()
	}
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
		f.app.tell(info, "it is sent already; esc leaves the form")
		return nil
	}
	values := make(map[string]string)
	for _, one := range f.fields {
		values[one.name] = strings.TrimSpace(one.input.Value())
	}
	cmd := f.send(values, try)
	if cmd == nil {
		return nil
	}
	f.sent = true
	return func() tea.Msg { return sentMsg{f, cmd()} }
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
		for i, one := range f.fields {
			if strings.EqualFold(one.name, wrong.FieldName) {
				one.wrong, f.at, placed = wrong.Message, i, true
			}
		}
	}
	return placed
}

func (f *form) box(width, height int) []string {
	t := f.app.theme
	width = min(width, 76) - 4
	var lines []string
	for i, one := range f.fields {
		lines = append(lines, f.fieldLine(one, i == f.at, width))
		if one.wrong != "" {
			lines = append(lines, t.status[3].Paint(t.Fit("          "+one.wrong, width, false)))
		} else if i == f.at {
			lines = append(lines, t.dim.Paint(t.Fit("          "+one.help, width, false)))
			lines = append(lines, f.picks(one, width, height-len(f.fields)*2-4)...)
		}
	}
	for _, note := range f.notes {
		lines = append(lines, t.dim.Paint(t.Fit(note, width, false)))
	}
	return f.app.frame(f.title, width, lines[:min(len(lines), max(1, height-2))])
}

func (f *form) fieldLine(one *field, active bool, width int) string {
	t := f.app.theme
	label := t.Fit(one.label, 10, false)
	mask := ""
	if one.masked {
		mask = "*"
	}
	if one.among != nil {
		ink := grid.Ink("")
		if active {
			ink, label = t.Selected, t.key.Paint(label)
		}
		return label + f.app.compose(width-10, []span{{t.Less + " ", t.dim}, {one.input.Value(), ink}, {" " + t.More, t.dim}}, nil)
	}
	if active {
		return t.key.Paint(label) + f.app.typing(one.input, width-10, mask)
	}
	value := one.input.Value()
	if one.masked {
		value = strings.Repeat("*", len([]rune(value)))
	}
	return t.dim.Paint(label) + t.Fit(value, width-10, false)
}

// picks lists what can be picked.
func (f *form) picks(one *field, width, room int) []string {
	if one.pick == nil {
		return nil
	}
	var lines []string
	for _, s := range one.pick(one.input.Value()) {
		if len(lines) >= min(5, room) {
			break
		}
		lines = append(lines, f.app.theme.dim.Paint(f.app.theme.Fit("          "+s.name+"  "+s.help, width, false)))
	}
	return lines
}

// newLogin asks for a password, where the session has ended.
func newLogin(a *app) overlay {
	f := &form{app: a, title: "Sign in to " + shortURL(a.options.URL), login: true}
	if a.held != nil {
		f.notes = []string{"your action (" + a.held.what + ") runs after"}
	}
	f.add("UserName", "User", a.user, "")
	f.add("Password", "Password", "", "it is kept for this session only").masked = true
	if a.user != "" {
		f.at = 1
	}
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		return a.signIn(values["UserName"], values["Password"])
	}
	f.leave = a.giveUp
	return f
}

// signingIn is what fails where a password is wrong.
const signingIn = "signing in"

// signedIn goes on after the sign-in.
func (a *app) signedIn(m signedInMsg) tea.Cmd {
	if m.err != nil {
		a.fail(signingIn, m.err)
		return nil
	}
	a.over, a.user, a.link.signedOut, a.link.refused = nil, m.user, false, nil
	a.tell(info, "signed in as "+m.user)
	return tea.Batch(a.listen(), a.whoAmI(), a.refresh(), a.release())
}
