package tui

import (
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/ui"
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
		user *wire.CurrentSession
		info *wire.Info
		era  int // of the app that asked
	}

	// unlockedMsg brings a client that may change things.
	unlockedMsg struct {
		reply
		client *client.Client
		era    int // of the app that asked
		asked  int // how often :ro had been said by then
	}

	// keptMsg says that something was written down.
	keptMsg struct{ reply }

	// viewsMsg brings how many rows views have.
	viewsMsg struct {
		reply
		counts map[string]string // by name
	}

	// doneMsg says that a change was made.
	doneMsg struct {
		reply
		what string // for people
		ids  []string
	}

	// toastMsg is something to tell.
	toastMsg struct {
		level ui.Level
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

	// exportMsg tells that an export has ended.
	exportMsg struct {
		reply
		job *export.Job
	}

	// billMsg brings what a custom field of a bill holds, or holds now.
	billMsg struct {
		reply
		field   client.BillField
		value   *wire.CustomFieldValue
		changed bool
		era     int   // of the app that asked
		form    *form // that it answers; nil for none
	}

	// billFieldsMsg brings what all custom fields of a bill's stage hold.
	billFieldsMsg struct {
		reply
		stage  client.BillStage
		values []wire.CustomFieldValue
		era    int   // of the app that asked
		form   *form // that it answers; nil for none
	}

	subscribersMsg struct {
		reply
		list          []wire.Subscriber
		total         int
		subscriptions map[string]int // how many each has, by its id; nil where that is not known
	}

	subscriptionsMsg struct {
		reply
		list       []wire.Subscription
		subscriber *wire.Subscriber // whose they are; nil where those of all were asked for
	}

	// eventNamesMsg brings the events that the service has.
	eventNamesMsg struct {
		reply
		list []wire.Event
		era  int // of the app that asked
	}

	subscriptionMsg struct {
		reply
		subscription *wire.Subscription
		trial        *trialMsg // of its test message; nil where none was wanted
		form         *form     // that it answers; nil for none
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
		responses []wire.Attempt
		headers   []wire.Header // the subscription's own, without values
		noHeaders string        // why they are not known
	}

	eventsMsg struct {
		reply
		list          []wire.Event
		subscriptions []wire.Subscription
		names         map[string]string    // of the subscribers, by id
		last          map[string]time.Time // when an event was raised last, of the newest messages
		looked        int                  // how many messages these were
	}

	statsMsg struct {
		reply
		stats    *wire.Stats
		failures []wire.Message
		counts   [4]int // of messages, by Status
	}

	// lanesMsg brings how deliveries to subscriptions stand.
	lanesMsg struct {
		reply
		stats *wire.Stats
	}

	// retriedMsg tells what a bulk action did.
	retriedMsg struct {
		reply
		what    string // for people
		retried *wire.MessagesRetried
		deleted *wire.MessagesDeleted
	}
)

// signedInMsg tells how signing in went.
type signedInMsg struct {
	reply
	era  int // of the app that asked
	user string
	form *form // that it answers; nil for none
}
