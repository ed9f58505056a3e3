package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// unsent is a change that the service refused since the session had ended. It is
// made after the next sign-in.
type unsent struct {
	what  string // for people
	again tea.Cmd
	form  *ui.Form   // that it was sent by; nil for none
	under ui.Overlay // what the question for the password covers
}

// heldMsg says that a change was not made, since we are not signed in.
type heldMsg struct {
	reply
	unsent  unsent
	session *ui.Session // that asked
}

// repeatable makes a command that changes something one that can be made again
// after a sign-in.
func (a *app) repeatable(what string, cmd tea.Cmd) tea.Cmd {
	session := a.Session
	return func() tea.Msg {
		m := cmd()
		if r, _ := about(m); ui.SignedOut(r.err) {
			return heldMsg{reply{err: r.err}, unsent{what: what, again: cmd}, session}
		}
		return m
	}
}

// hold keeps a change and asks for the password.
func (a *app) hold(h unsent) {
	h.under = a.over
	if s, told := a.over.(*ui.Secret); told {
		h.under = s.Under // the password is asked for below it
	}
	if f, asked := h.under.(*ui.Form); asked && f.Login {
		h.under = nil
		if a.held != nil {
			h.under = a.held.under
		}
	}
	a.held, a.line = &h, nil
	a.over = newLogin(a)
}

// release makes what was held, once somebody has signed in.
func (a *app) release() tea.Cmd {
	h := a.held
	if h == nil {
		return nil
	}
	if a.held = nil; a.over == nil {
		a.over = h.under
	}
	a.Tell(ui.Info, "now: "+h.what)
	again := a.repeatable(h.what, h.again)
	if h.form == nil {
		return again
	}
	return h.form.Through(again)
}

// giveUp forgets what was held: nobody signed in.
func (a *app) giveUp() {
	if a.held == nil {
		return
	}
	a.over = a.held.under
	a.Tell(ui.Warning, "not done: "+a.held.what)
	a.held = nil
}
