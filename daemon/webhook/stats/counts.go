// Package stats defines delivery statistics: the counts of each minute, which are stored, reports
// from them, the backlog, and the totals since the start, for metrics.
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
	Traffic
	Disabled int64 // subscriptions disabled by the service
	Refused  int64 // events that could not be stored
	Removed  int64 // obsolete messages and idempotency keys
}

// outcomeClasses names the classes of outcomes, as metrics report them.
var outcomeClasses = [...]string{"ok", "3xx", "4xx", "5xx", "timeout", "network", "forbidden"}

const classCount = len(outcomeClasses)

// classOf returns an outcome's index in outcomeClasses. Non-standard status codes that
// net/http accepts belong to the nearest class.
func classOf(o webhook.Outcome) int {
	switch {
	case o.Success():
		return 0
	case o.Cause == webhook.TimedOut:
		return 4
	case o.Cause == webhook.TargetForbidden:
		return 6
	case o.Cause != webhook.Responded:
		return 5
	case o.Code < http.StatusBadRequest:
		return 1
	case o.Code < http.StatusInternalServerError:
		return 2
	}
	return 3
}

func (c *Counts) add(other Counts) {
	c.Traffic.Add(other.Traffic)
	c.Disabled += other.Disabled
	c.Refused += other.Refused
	c.Removed += other.Removed
}

// maxGap is the maximum age of the previous reading. A difference over a longer time is
// not reported as a rate.
const maxGap = 5 * time.Second

// NewThroughput returns a function to be called about once a second. It returns the
// throughput of all daemons since the previous call, and reports whether there is anything new:
// counts have grown or the state of the engine has changed. minutes returns the traffic from a
// minute on. If it fails, the counts are included in the next throughput. troubles returns the same
// pointer while nothing has changed.
func NewThroughput(
	now func() time.Time, minutes func(first int64) ([]Minute, error), inHand func() wire.InHand,
	troubles func() *wire.Troubles,
) func() (wire.Throughput, bool) {
	var mu sync.Mutex
	var previous map[int64]Traffic // by minute
	var readAt time.Time
	var last wire.Throughput
	return func() (wire.Throughput, bool) {
		mu.Lock()
		defer mu.Unlock()
		calledAt := now()
		var traffic Traffic
		current, err := minutes(MinuteOf(calledAt) - 1) // with the end of the minute before
		if err == nil {
			counted := make(map[int64]Traffic, len(current))
			for _, m := range current {
				counted[m.Minute] = m.Traffic
				traffic.Add(m.since(previous[m.Minute]))
			}
			if calledAt.Sub(readAt) > maxGap {
				traffic = Traffic{}
			}
			previous = counted
			readAt = calledAt
		}

		held := inHand()
		p := wire.Throughput{
			Events:           traffic.Events,
			Delivered:        traffic.Delivered,
			Failed:           traffic.Failed + traffic.GivenUp,
			InFlight:         held.InFlight,
			MessagesInMemory: held.MessagesInMemory,
			OpenBreakers:     held.OpenBreakers,
			Troubles:         troubles(),
		}
		last.At = wire.Timestamp{}
		changed := p != last || p.Events+p.Delivered+p.Failed > 0
		last = p
		p.At = wire.Timestamp(calledAt)
		return p, changed
	}
}
