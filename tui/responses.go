package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

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
