package tui

import (
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// reply is what every answer to a command begins with: who asked, and what went
// wrong.
type reply struct {
	to  screen
	err error
}

func (r reply) about() reply { return r }

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
		reset     bool
		lost      error         // the connection
		retry     time.Duration // after which it is made again
		final     error         // the service refuses the stream
	}

	// whoMsg says who we are to the service, and what it can do.
	whoMsg struct {
		reply
		user *wire.CurrentSession
		info *wire.Info
	}

	// unlockedMsg brings a client that may change things.
	unlockedMsg struct {
		reply
		client *client.Client
	}

	// doneMsg says that a change was made.
	doneMsg struct {
		reply
		what string // for people
		ids  []string
	}

	// toastMsg is something to tell.
	toastMsg struct {
		level level
		text  string
	}

	// pageMsg brings rows of a query.
	pageMsg struct {
		reply
		generation, number int
		rows               []client.Row
		cut                map[int]bool // rows some of whose values were too long to keep
	}

	// totalMsg brings the number of matches of a query.
	totalMsg struct {
		reply
		generation int
		name       string // of the kind, where several are counted
		total      int
	}

	// recordMsg brings one whole record.
	recordMsg struct {
		reply
		row client.Row
	}

	// exportMsg tells how an export goes.
	exportMsg struct {
		reply
		path string
		rows int
	}

	subscribersMsg struct {
		reply
		list  []wire.Subscriber
		total int
	}

	subscriptionsMsg struct {
		reply
		list []wire.Subscription
	}

	subscriptionMsg struct {
		reply
		subscription *wire.Subscription
	}

	messagesMsg struct {
		reply
		generation, number int
		list               []wire.Message
		total              int
	}

	messageMsg struct {
		reply
		message   *wire.Message
		responses []wire.MessageResponse
	}

	eventsMsg struct {
		reply
		list          []wire.Event
		subscriptions []wire.Subscription
	}

	statsMsg struct {
		reply
		stats    *wire.Stats
		failures []wire.Message
		counts   [4]int // of messages, by Status
	}

	// retriedMsg tells what a bulk retry did, or would do.
	retriedMsg struct {
		reply
		dry     bool
		retried *wire.MessagesRetried
		deleted *wire.MessagesDeleted
	}
)

// signedInMsg tells how signing in went.
type signedInMsg struct {
	reply
	user string
}
