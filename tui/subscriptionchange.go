package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// changedMsg tells what became of something that a form made or changed.
type changedMsg struct {
	reply
	form         *form
	what         string // was done, for people
	subscription *wire.Subscription
	subscriber   *wire.Subscriber // one of both, unless nothing was changed
	trial        *trialMsg        // of the test message; nil where none was wanted
}

// changed tells how a change went: what was wrong stands at its field, and the
// form is closed once it is done.
func (a *app) changed(m changedMsg) {
	open := a.over == overlay(m.form)
	done := m.subscription != nil || m.subscriber != nil
	if done && open {
		a.over = nil
	}
	switch {
	case m.trial != nil:
		m.trial.before = m.what + ": done; "
		a.later(a.tried(*m.trial))
	case m.err == nil:
		a.tell(ui.Info, m.what+": done")
	case done || !open || !m.form.refuse(m.err):
		a.fail(m.what, m.err)
	}
}

// unchanged says that there is nothing to be sent.
func (f *form) unchanged() {
	f.app.tell(ui.Info, "nothing is changed yet; "+keymap.KeyFor(keymap.InForm, keymap.GoBack)+" leaves the form")
}

// changeForm asks what a subscription is to be.
func (s *subscriptions) changeForm(one wire.Subscription) overlay {
	return s.app.changeForm(s, s.subscriber, one)
}

// changeForm asks what a subscription is to be, for a screen.
func (a *app) changeForm(to screen, of wire.Subscriber, one wire.Subscription) overlay {
	f := &form{app: a, title: "Change " + one.EventName + " for " + of.Name, verb: "change", tries: true}
	headers := f.subscriptionFields(one)
	a.later(a.askEventNames())
	f.send = func(values map[string]string, try bool) tea.Cmd {
		request := subscriptionOf(values, one)
		if headers.changed() {
			// all of them take the place of those that were shown, and of no others
			request.Headers, request.RowHash = new(headers.headers()), one.RowHash
		}
		if request.URL == nil && request.EventName == nil && request.Headers == nil && request.Ordered == nil && request.RetrySchedule == nil {
			f.unchanged()
			return nil
		}
		return a.changeSubscription(to, f, one, request, try)
	}
	return f
}
