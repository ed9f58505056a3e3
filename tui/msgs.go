package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
)

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
	case ui.Answer:
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

	// liveMsg is what happened at the service since the one before.
	liveMsg struct {
		session   int // of the stream
		changes   []wire.MessageChange
		requests  int
		pulse     *wire.Pulse
		connected bool
		beat      bool
		ahead     time.Duration // how far the service's clock is ahead of ours
		reset     bool
		lost      error         // the connection
		retry     time.Duration // after which it is made again
		final     error         // the service refuses the stream
		fault     string        // what panicked where the stream is read
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
