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

// handleResponse passes a response to the screen that made the request, if it is still open.
func (a *App) handleResponse(m tea.Msg) tea.Cmd {
	r, _ := baseOf(m)
	one, ofScreen := m.(ui.Response)
	if r.to != nil && !a.isOpen(r.to) {
		if one.ApplyLate != nil {
			one.ApplyLate()
		}
		return nil
	}
	if was := a.conn.signedOut; isFromService(m) && !errors.Is(r.err, errNotSent) {
		a.conn.addOutcome(r.err, a.Now)
		a.promptSignIn(was)
	}
	switch {
	case !ofScreen:
		return a.handleOwn(m)
	case r.to != nil && client.Is(r.err, client.Cancelled):
		return nil
	}
	return one.Apply()
}

// isFromService reports whether a response shows that the service is reachable or not.
// Other responses do not affect the connection state.
func isFromService(m tea.Msg) bool {
	switch m := m.(type) {
	case savedMsg, profilesMsg, unlockedMsg, switchedMsg, exportMsg:
		return false
	case ui.Response:
		return !m.Background
	}
	return true
}

// handleOwn handles responses to requests of the app itself.
func (a *App) handleOwn(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case accountMsg:
		return a.accountFetched(m)
	case unlockedMsg:
		if m.session != a.Session || m.count != a.readOnlyCount { // :ro was entered since
			return nil
		}
		if m.err != nil {
			a.ShowError("allowing changes", m.err)
			return nil
		}
		a.Client, a.ReadOnly = m.client, false
		delete(a.readOnlyProfiles, a.Profile)
		a.Notify(ui.Warning, "changes are allowed in this session (:ro forbids them)")
	case signedInMsg:
		if m.session != a.Session {
			return nil
		}
		return a.signedIn(m)
	case switchedMsg:
		return a.switched(m)
	case profilesMsg:
		a.profilesFetched(m)
	case savedMsg:
		a.ShowError("saving settings", m.err)
	case pendingMsg:
		if m.session == a.Session {
			a.keepPending(m.change)
		}
	case exportMsg:
		a.exportEnded(m)
	}
	return nil
}

// formResponded handles the response to a form immediately, before a key can submit the form
// again.
func (a *App) formResponded(m ui.SentMsg) tea.Cmd {
	m.Form.Sent = false
	switch one := m.Response.(type) {
	case pendingMsg:
		one.change.form = m.Form
		return a.handleResponse(one)
	case ui.Response, response:
		return a.handleResponse(one)
	}
	return func() tea.Msg { return m.Response }
}

// responseBase is the common part of responses to commands.
type responseBase struct {
	to  ui.Screen
	err error
}

func (r responseBase) base() responseBase { return r }

// baseOf returns the common part of a response, false for other messages.
func baseOf(m tea.Msg) (responseBase, bool) {
	switch m := m.(type) {
	case ui.Response:
		return responseBase{m.To, m.Err}, true
	case response:
		return m.base(), true
	}
	return responseBase{}, false
}

// response is implemented by all responses except ui.Response.
type response interface{ base() responseBase }

// Messages of the app.
type (
	// tickMsg is sent once a second.
	tickMsg struct{}

	// LiveMsg contains the events of the live stream since the previous LiveMsg.
	LiveMsg struct {
		Session      int // number of the stream
		Changes      []wire.MessageChange
		Requests     int
		Throughput   *wire.Throughput
		Connected    bool
		Beat         bool
		ServerOffset time.Duration // difference between the clock of the service and the local clock
		Reset        bool
		Lost         error         // why the connection was lost
		Retry        time.Duration // delay before the next attempt
		Final        error         // why the service rejected the stream
		Fault        string        // panic in the stream reader
	}

	// accountMsg contains the signed-in user.
	accountMsg struct {
		responseBase
		user    *wire.CurrentSession
		session *ui.Session // that made the request
	}

	// unlockedMsg contains a client that may change data.
	unlockedMsg struct {
		responseBase
		client  *client.Client
		session *ui.Session // that made the request
		count   int         // value of account.readOnlyCount when requested
	}

	// savedMsg reports the outcome of saving settings.
	savedMsg struct{ responseBase }

	// toastMsg is a message to the user.
	toastMsg struct {
		level ui.Level
		text  string
		then  func(text string) // called after the message is shown; nil for nothing
	}

	// exportMsg reports the end of an export.
	exportMsg struct {
		responseBase
		job *export.Job
	}
)

// signedInMsg reports the outcome of a sign-in.
type signedInMsg struct {
	responseBase
	session *ui.Session // that made the request
	user    string
	form    *ui.Form // the sign-in form; nil for none
}
