package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// How many minutes are retained.
const (
	daySpan   = 24 * 60 // for all subscriptions together
	queueSpan = 60      // for each subscription
)

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// Traffic holds the counts of a period.
type Traffic struct {
	Events    uint32 // stored
	Messages  uint32 // created for these events
	Delivered uint32 // attempts that the receiver accepted
	Failed    uint32 // failed attempts that are retried
	GivenUp   uint32 // messages that finally failed
}

func (t *Traffic) add(other Traffic) {
	t.Events += other.Events
	t.Messages += other.Messages
	t.Delivered += other.Delivered
	t.Failed += other.Failed
	t.GivenUp += other.GivenUp
}

// addStatus counts an attempt by the message's new status.
func (t *Traffic) addStatus(s webhook.Status) {
	switch s {
	case webhook.Successful:
		t.Delivered++
	case webhook.Failed:
		t.GivenUp++
	default:
		t.Failed++
	}
}

// cell holds the counts of one minute.
type cell struct {
	minute int64
	Traffic
	took histogram
}

// series lists the minutes with traffic, the oldest first. Its memory grows up to the
// span.
type series []cell

// at returns the cell of a minute, which is the last one or a new one. Clocks that go
// back a little are ignored. Minutes outside of the span are dropped.
func (s *series) at(minute, span int64) *cell {
	if n := len(*s); n == 0 || (*s)[n-1].minute < minute {
		kept := copy(*s, s.last(minute, span))
		*s = append((*s)[:kept], cell{minute: minute})
	}
	return &(*s)[len(*s)-1]
}

// last returns the cells of the last span minutes, up to the given one.
func (s series) last(minute, span int64) series {
	from, _ := slices.BinarySearchFunc(s, s.end(minute)-span+1, func(c cell, m int64) int {
		return cmp.Compare(c.minute, m)
	})
	return s[from:]
}

// end returns the current minute, which is the latest one counted if the clock has gone
// back.
func (s series) end(minute int64) int64 {
	if n := len(s); n > 0 {
		return max(minute, s[n-1].minute)
	}
	return minute
}

// total sums up the last span minutes.
func (s series) total(minute, span int64) (t Traffic, took histogramSum) {
	cells := s.last(minute, span)
	for i := range cells {
		took.add(&cells[i].took)
	}
	return s.traffic(minute, span), took
}

// traffic is total without durations.
func (s series) traffic(minute, span int64) (t Traffic) {
	cells := s.last(minute, span)
	for i := range cells {
		t.add(cells[i].Traffic)
	}
	return t
}

// minutes returns the last span minutes one by one, the oldest first.
func (s series) minutes(minute, span int64) []Traffic {
	all := make([]Traffic, span)
	for _, c := range s.last(minute, span) {
		all[span-1-(s.end(minute)-c.minute)] = c.Traffic
	}
	return all
}
