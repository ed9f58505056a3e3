package tui

import (
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

// answer hands an answer to the screen that asked, if it is still there.
func (a *App) answer(m tea.Msg) tea.Cmd {
	r, _ := about(m)
	one, ofScreen := m.(ui.Response)
	if r.to != nil && !a.isOpen(r.to) {
		if one.ApplyLate != nil {
			one.ApplyLate()
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
	return one.Apply()
}

// ofService reports whether an answer is the service's: others say nothing of
// the way to it.
func ofService(m tea.Msg) bool {
	switch m := m.(type) {
	case keptMsg, profilesMsg, unlockedMsg, switchedMsg, exportMsg:
		return false
	case ui.Response:
		return !m.Local
	}
	return true
}

// own takes the answers to what the app asked itself.
func (a *App) own(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case whoMsg:
		return a.onSession(m)
	case unlockedMsg:
		if m.session != a.Session || m.asked != a.forbidden { // :ro was said since
			return nil
		}
		if m.err != nil {
			a.ShowError("read-only as before", m.err)
			return nil
		}
		a.Client, a.ReadOnly = m.client, false
		delete(a.locked, a.Profile)
		a.Notify(ui.Warning, "changes are allowed for this session (:ro forbids them)")
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
		a.ShowError("keeping how things are shown", m.err)
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
func (a *App) arrived(m ui.SentMsg) tea.Cmd {
	m.Form.Sent = false
	switch one := m.Response.(type) {
	case heldMsg:
		one.unsent.form = m.Form
		return a.answer(one)
	case ui.Response, answered:
		return a.answer(one)
	}
	return func() tea.Msg { return m.Response }
}

// reply is what every answer to a command begins with: who asked, and what went
// wrong.
type reply struct {
	to  ui.Screen
	err error
}

func (r reply) about() reply { return r }

// about is who asked for what a message brings, false for other messages.
func about(m tea.Msg) (reply, bool) {
	switch m := m.(type) {
	case ui.Response:
		return reply{m.To, m.Err}, true
	case answered:
		return m.about(), true
	}
	return reply{}, false
}

// answered is every message that answers a command.
type answered interface{ about() reply }

// The messages. The app hands answers to the screens that asked.
type (
	// tickMsg comes once a second.
	tickMsg struct{}

	// LiveMsg is what happened at the service since the one before.
	LiveMsg struct {
		Session   int // of the stream
		Changes   []wire.MessageChange
		Requests  int
		Pulse     *wire.Pulse
		Connected bool
		Beat      bool
		Ahead     time.Duration // how far the service's clock is ahead of ours
		Reset     bool
		Lost      error         // the connection
		Retry     time.Duration // after which it is made again
		Final     error         // the service refuses the stream
		Fault     string        // what panicked where the stream is read
	}

	// whoMsg says who we are to the service, and what it can do.
	whoMsg struct {
		reply
		user    *wire.CurrentSession
		info    *wire.Info
		session *ui.Session // that asked
	}

	// unlockedMsg brings a client that may change things.
	unlockedMsg struct {
		reply
		client  *client.Client
		session *ui.Session // that asked
		asked   int         // how often :ro had been said by then
	}

	// keptMsg says that something was written down.
	keptMsg struct{ reply }

	// toastMsg is something to tell.
	toastMsg struct {
		level ui.Level
		text  string
	}

	// exportMsg tells that an export has ended.
	exportMsg struct {
		reply
		job *export.Job
	}
)

// signedInMsg tells how signing in went.
type signedInMsg struct {
	reply
	session *ui.Session // that asked
	user    string
	form    *ui.Form // that it answers; nil for none
}
