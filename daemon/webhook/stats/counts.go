// Package stats counts what deliveries come to: totals since the start, figures by
// the minute for all and for each subscription, and what is open.
package stats

import (
	"net/http"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Counts are totals since the engine's start.
type Counts struct {
	Events    int64 // stored
	Messages  int64 // made of them
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed, and are made again
	GivenUp   int64 // messages that failed for good
	Disabled  int64 // subscriptions disabled by the service
	Refused   int64 // events that could not be stored
	Removed   int64 // messages and idempotency keys, since they are not needed any more
}

// classNames are what can come of an attempt, as the figures tell it apart.
var classNames = [...]string{"ok", "3xx", "4xx", "5xx", "timeout", "network", "forbidden"}

const classes = len(classNames)

// classOf is an outcome's index in classNames. Status codes outside of HTTP's
// ranges that net/http accepts count with the closest class.
func classOf(o webhook.Outcome) int {
	switch {
	case o.Success():
		return 0
	case o.Cause == webhook.TimedOut:
		return 4
	case o.Cause == webhook.TargetForbidden:
		return 6
	case o.Cause != webhook.Answered:
		return 5
	case o.Code < http.StatusBadRequest:
		return 1
	case o.Code < http.StatusInternalServerError:
		return 2
	}
	return 3
}

func (c *Counts) add(other Counts) {
	c.Events += other.Events
	c.Messages += other.Messages
	c.Delivered += other.Delivered
	c.Failed += other.Failed
	c.GivenUp += other.GivenUp
	c.Disabled += other.Disabled
	c.Refused += other.Refused
	c.Removed += other.Removed
}

// maxGap is the time after which the reading before is too old: what happened
// since then is no rate any more.
const maxGap = 5 * time.Second

// NewThroughput gives a function that is to be called about once a second for
// the throughput since the call before. It also reports whether anything is new:
// something has happened, or what is in hand has changed.
func NewThroughput(now func() time.Time, counts func() Counts, inHand func() wire.InHand) func() (wire.Pulse, bool) {
	var mu sync.Mutex
	var was Counts
	var last wire.Pulse
	return func() (wire.Pulse, bool) {
		is, d, at := counts(), inHand(), now()
		mu.Lock()
		defer mu.Unlock()
		if at.Sub(time.Time(last.At)) > maxGap {
			was = is
		}
		p := wire.Pulse{Events: is.Events - was.Events, Delivered: is.Delivered - was.Delivered, Failed: is.Failed + is.GivenUp - was.Failed - was.GivenUp,
			InFlight: d.InFlight, MessagesInMemory: d.MessagesInMemory, OpenBreakers: d.OpenBreakers}
		last.At = wire.Moment{}
		changed := p != last || p.Events+p.Delivered+p.Failed > 0
		p.At = wire.Moment(at)
		was, last = is, p
		return p, changed
	}
}
