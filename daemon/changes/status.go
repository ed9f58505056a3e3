package changes

import (
	"maps"
	"sync"
	"time"
)

// Status is the state of a capture in this daemon.
type Status struct {
	Kind    string
	Phase   Phase
	Reason  string        // why it has stopped or lags
	Rows    int64         // in the shadow
	Swept   int64         // rows that sweeps have read since the start
	Lag     time.Duration // age of the last complete look
	Changes map[Op]int64  // since the start
	Omitted []string      // fields that are not captured, with reasons

	looked time.Time
}

// statusBox guards a Status.
type statusBox struct {
	mu     sync.Mutex
	status Status
}

func (b *statusBox) set(change func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.status)
}

func (b *statusBox) get() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	s.Lag = time.Since(s.looked)
	s.Changes = maps.Clone(s.Changes)
	return s
}
