package stats

import (
	"sync"
	"time"
)

// Throughput is what happened since the pulse before, and what is in hand.
type Throughput struct {
	At        time.Time
	Events    int64 // stored
	Delivered int64 // attempts that the receiver took
	Failed    int64 // attempts that failed
	Underway  int   // attempts
	InMemory  int   // messages that wait for an attempt
	Troubled  int   // endpoints that are only probed
}

// quiet reports whether nothing happened.
func (p Throughput) quiet() bool { return p.Events == 0 && p.Delivered == 0 && p.Failed == 0 }

// maxGap is the time after which the pulse before is too old: what happened
// since then is no rate any more.
const maxGap = 5 * time.Second

// NewThroughput gives a function that is to be called about once a second for
// the throughput since the call before. It also reports whether anything is new:
// something has happened, or what is in hand has changed.
func NewThroughput(now func() time.Time, counts func() Counts, depth func() Depth) func() (Throughput, bool) {
	var mu sync.Mutex
	var was Counts
	var last Throughput
	return func() (Throughput, bool) {
		is, d, at := counts(), depth(), now()
		mu.Lock()
		defer mu.Unlock()
		if at.Sub(last.At) > maxGap {
			was = is
		}
		p := Throughput{Events: is.Events - was.Events, Delivered: is.Delivered - was.Delivered, Failed: is.Failed + is.GivenUp - was.Failed - was.GivenUp,
			Underway: d.Underway, InMemory: d.InMemory, Troubled: d.Troubled}
		before := last
		before.At = time.Time{}
		changed := !p.quiet() || p != before
		p.At = at
		was, last = is, p
		return p, changed
	}
}
