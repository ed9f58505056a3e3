package tui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// answer hands an answer to the screen that asked, if it is still there.
func (a *app) answer(m tea.Msg) tea.Cmd {
	r, _ := about(m)
	one, ofScreen := m.(ui.Answer)
	if r.to != nil && !a.isOpen(r.to) {
		if one.Late != nil {
			one.Late()
		}
		return nil
	}
	if was := a.link.signedOut; ofService(m) && !errors.Is(r.err, errReadOnly) {
		a.link.heard(r.err, a.Now)
		a.askWho(was)
	}
	switch {
	case !ofScreen:
		return a.own(m)
	case r.to != nil && client.Is(r.err, client.Cancelled):
		return nil
	}
	return one.Take()
}

// ofService reports whether an answer is the service's: others say nothing of
// the way to it.
func ofService(m tea.Msg) bool {
	switch m := m.(type) {
	case keptMsg, profilesMsg, unlockedMsg, switchedMsg, exportMsg:
		return false
	case ui.Answer:
		return !m.Local
	}
	return true
}

// own takes the answers to what the app asked itself.
func (a *app) own(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case whoMsg:
		return a.onSession(m)
	case unlockedMsg:
		if m.session != a.Session || m.asked != a.forbidden { // :ro was said since
			return nil
		}
		if m.err != nil {
			a.Fail("read-only as before", m.err)
			return nil
		}
		a.Client, a.ReadOnly = m.client, false
		delete(a.locked, a.Profile)
		a.Tell(ui.Warning, "changes are allowed for this session (:ro forbids them)")
	case signedInMsg:
		if m.session != a.Session {
			return nil
		}
		return a.signedIn(m)
	case switchedMsg:
		return a.switched(m)
	case profilesMsg:
		a.listed(m)
	case keptMsg:
		a.Fail("keeping how things are shown", m.err)
	case heldMsg:
		if m.session == a.Session {
			a.hold(m.unsent)
		}
	case exportMsg:
		a.exported(m)
	}
	return nil
}

// arrived takes the answer to a form at once, before any other key, which could
// send it again.
func (a *app) arrived(m ui.SentMsg) tea.Cmd {
	m.Form.Sent = false
	switch one := m.Answer.(type) {
	case heldMsg:
		one.unsent.form = m.Form
		return a.answer(one)
	case ui.Answer, answered:
		return a.answer(one)
	}
	return func() tea.Msg { return m.Answer }
}
