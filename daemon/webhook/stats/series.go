package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// How far back minutes are remembered.
const (
	daySpan   = 24 * 60 // of everything
	queueSpan = 60      // of one subscription
)

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// Traffic is what happened within some time.
type Traffic struct {
	Events    uint32 // stored
	Messages  uint32 // made of them
	Delivered uint32 // attempts that the receiver took
	Failed    uint32 // attempts that failed, and are made again
	GivenUp   uint32 // messages that failed for good
}

func (t *Traffic) add(other Traffic) {
	t.Events += other.Events
	t.Messages += other.Messages
	t.Delivered += other.Delivered
	t.Failed += other.Failed
	t.GivenUp += other.GivenUp
}

// became counts what an attempt made of its message.
func (t *Traffic) became(s webhook.Status) {
	switch s {
	case webhook.Successful:
		t.Delivered++
	case webhook.Failed:
		t.GivenUp++
	default:
		t.Failed++
	}
}

// cell is one minute.
type cell struct {
	minute int64
	Traffic
	took histogram
}

// series are the minutes in which something happened, the oldest first. Its
// memory grows with them, up to the span.
type series []cell

// at is the cell of a minute, which is the last one or a new one. Clocks that go
// back a little are not followed. Minutes out of the span make room.
func (s *series) at(minute, span int64) *cell {
	if n := len(*s); n == 0 || (*s)[n-1].minute < minute {
		kept := copy(*s, s.last(minute, span))
		*s = append((*s)[:kept], cell{minute: minute})
	}
	return &(*s)[len(*s)-1]
}

// last are the cells of the last minutes, so many up to this one.
func (s series) last(minute, span int64) series {
	from, _ := slices.BinarySearchFunc(s, s.end(minute)-span+1, func(c cell, m int64) int { return cmp.Compare(c.minute, m) })
	return s[from:]
}

// end is the present minute, where the clock has not gone back.
func (s series) end(minute int64) int64 {
	if n := len(s); n > 0 {
		return max(minute, s[n-1].minute)
	}
	return minute
}

// total adds up the last minutes.
func (s series) total(minute, span int64) (t Traffic, took sum) {
	cells := s.last(minute, span)
	for i := range cells {
		took.add(&cells[i].took)
	}
	return s.traffic(minute, span), took
}

// traffic is total without how long attempts took.
func (s series) traffic(minute, span int64) (t Traffic) {
	cells := s.last(minute, span)
	for i := range cells {
		t.add(cells[i].Traffic)
	}
	return t
}

// minutes are the last minutes one by one, the oldest first.
func (s series) minutes(minute, span int64) []Traffic {
	all := make([]Traffic, span)
	for _, c := range s.last(minute, span) {
		all[span-1-(s.end(minute)-c.minute)] = c.Traffic
	}
	return all
}
