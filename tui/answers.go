package tui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/ui"
)

// answer hands an answer to the screen that asked, if it is still there.
func (a *app) answer(m answered) tea.Cmd {
	r := m.about()
	if r.to != nil && !a.isOpen(r.to) {
		a.afterwards(m)
		return nil
	}
	if was := a.link.signedOut; ofService(m) && !errors.Is(r.err, errReadOnly) {
		a.link.heard(r.err, a.now)
		a.askWho(was)
	}
	switch {
	case r.to == nil:
		return a.own(m)
	case client.Is(r.err, client.Cancelled):
		return nil
	}
	return r.to.update(m)
}

// ofService reports whether an answer is the service's: others say nothing of
// the way to it.
func ofService(m answered) bool {
	switch m.(type) {
	case keptMsg, profilesMsg, unlockedMsg, switchedMsg, exportMsg, viewsMsg:
		return false
	}
	return true
}

// afterwards tells how a change went whose screen was left meanwhile.
func (a *app) afterwards(m answered) {
	switch m := m.(type) {
	case doneMsg:
		a.done(m)
	case changedMsg:
		a.changed(m)
	case subscriptionMsg:
		a.subscribed(m)
	case retriedMsg:
		a.settled(m)
	}
}

// askWho asks for a password when the session has just ended.
func (a *app) askWho(was bool) {
	if a.link.signedOut && !was && a.over == nil && a.line == nil {
		a.over = newLogin(a)
	}
}

func (a *app) isOpen(s screen) bool {
	for _, stack := range a.tabs {
		for _, one := range stack {
			if h, ok := one.(holder); one == s || ok && h.holds(s) {
				return true
			}
		}
	}
	return false
}

// own takes the answers to what the app asked itself.
func (a *app) own(m answered) tea.Cmd {
	switch m := m.(type) {
	case whoMsg:
		return a.introduced(m)
	case unlockedMsg:
		if m.era != a.era || m.asked != a.forbidden { // :ro was said since
			return nil
		}
		if m.err != nil {
			a.fail("read-only as before", m.err)
			return nil
		}
		a.client, a.readOnly = m.client, false
		delete(a.locked, a.options.Profile)
		a.tell(ui.Warning, "changes are allowed for this session (:ro forbids them)")
	case signedInMsg:
		if m.era != a.era {
			return nil
		}
		return a.signedIn(m)
	case switchedMsg:
		return a.switched(m)
	case profilesMsg:
		a.listed(m)
	case rotatedMsg:
		a.rotated(m)
	case trialMsg:
		return a.tried(m)
	case outcomeMsg:
		return a.happened(m)
	case eventNamesMsg:
		a.learnt(m)
	case keptMsg:
		a.fail("keeping how things are shown", m.err)
	case heldMsg:
		if m.era == a.era {
			a.hold(m.unsent)
		}
	case exportMsg:
		a.exported(m)
	case billMsg:
		return a.billed(m)
	case billFieldsMsg:
		a.listedBill(m)
	}
	return nil
}

// introduced learns who we are and what the service can do.
func (a *app) introduced(m whoMsg) tea.Cmd {
	if m.era != a.era {
		return nil
	}
	a.polling = false
	if m.info != nil {
		a.features = make(map[string]bool)
		for _, name := range m.info.Features {
			a.features[name] = true
		}
	}
	if m.user != nil {
		a.user = m.user.UserName
	}
	if m.err == nil && a.link.idle(a.now) {
		return a.listen()
	}
	return nil
}
