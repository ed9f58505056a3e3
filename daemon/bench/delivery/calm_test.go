package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/sqlite"
)

// calmSpan is how long the rounds are in which events come at a fixed pace.
const calmSpan = 3 // seconds

// calmLatency measures how long events take that come at 300 a second.
func calmLatency(s *stage, b *testing.B) {
	const pace = 300
	r, urls := listen(b, 1)
	h, g := build(b), lay(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	p50 := samples{what: "publish to received at 300/s, median", metric: "p50-ms", unit: "ms", digits: 2}
	p99 := samples{what: "publish to received at 300/s, p99", metric: "p99-ms", unit: "ms", digits: 2}
	ours := func() (p50, p99 float64) { return calm(b, r, pace, h.target(event(0))) }
	base := func() (p50, p99 float64) { return calm(b, r, pace, g.target) }
	rounds(b, func(n int) {
		var o50, o99, f50, f99 float64
		inTurns(n, func() { o50, o99 = ours() }, func() { f50, f99 = base() })
		p50.add(o50, f50)
		p99.add(o99, f99)
	})
	s.table.note(b, p50, bounds{must: 2, aim: 1.2})
	s.table.note(b, p99, bounds{must: 6, aim: 4})
}

// calm publishes at a pace and gives how long events took, in ms.
func calm(b *testing.B, r *receiver, pace int, t target) (p50, p99 float64) {
	b.Helper()
	r.reset()
	if err := calmly(pace*calmSpan, pace, t); err != nil {
		b.Fatal(err)
	}
	r.await(b, pace*calmSpan)
	r.mu.Lock()
	defer r.mu.Unlock()
	return percentile(r.waits, 50), percentile(r.waits, 99)
}

// besideAHangingOne measures a healthy endpoint while another one never
// answers.
func besideAHangingOne(s *stage, b *testing.B) {
	const pace = 100
	r, urls := listen(b, 1)
	hanging, hangs := listen(b, 1)
	hanging.code.Store(0)
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), hangs[0])
	got := samples{what: "p99 of a healthy endpoint beside a hanging one", metric: "p99-ms", unit: "ms", digits: 2, named: "alone"}
	alone := func() float64 {
		_, p99 := calm(b, r, pace, h.target(event(0)))
		return p99
	}
	beside := func() float64 {
		done := make(chan error, 1)
		go func() { done <- calmly(pace*calmSpan, pace, h.target(event(1))) }()
		p99 := alone()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		return p99
	}
	rounds(b, func(int) {
		base := alone() // before the other one, whose messages stay
		got.add(beside(), base)
	})
	s.table.note(b, got, bounds{must: 2, aim: 1.2, times: true})
}

// retriesOnTime measures when second attempts come, against when they are due.
func retriesOnTime(s *stage, b *testing.B) {
	const messages = 300
	r, urls := listen(b, 1)
	h := build(b, "--webhooks-retry-schedule", "4s,1h")
	h.subscribe(b, event(0), urls[0])
	r.keeps = true
	late := samples{what: "a retry fires after it is due, p99", metric: "p99-ms", unit: "ms"}
	rounds(b, func(int) {
		r.reset()
		r.mu.Lock()
		clear(r.arrivals)
		r.mu.Unlock()
		r.code.Store(422)
		if err := flood(messages, h.target(event(0))); err != nil {
			b.Fatal(err)
		}
		r.await(b, messages)
		for h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE Attempts = 1 AND Status = 2") < messages {
			time.Sleep(10 * time.Millisecond)
		}
		due := h.due(b)
		r.code.Store(200)
		r.await(b, 2*messages)
		h.settled(b)
		late.ours = append(late.ours, percentile(r.lateness(due), 99))
	})
	s.table.note(b, late, bounds{must: 500, aim: 100})
}

// due is when the next attempt of each message is due.
func (h *house) due(b *testing.B) map[string]time.Time {
	b.Helper()
	conn := h.tables(b, sqlite.Options{ReadOnly: true})
	defer conn.Close()
	s, err := conn.Prepare("SELECT RecID, NextAttemptDateTime FROM SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Reset()
	all := make(map[string]time.Time)
	for {
		more, err := s.Step()
		if err != nil {
			b.Fatal(err)
		}
		if !more {
			return all
		}
		at, err := time.Parse("2006-01-02T15:04:05.0000000", string(s.Text(1)))
		if err != nil {
			b.Fatal(err)
		}
		all[string(s.Text(0))] = at
	}
}

// lateness is how long after its time each second attempt came.
func (r *receiver) lateness(due map[string]time.Time) (late []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range due {
		if times := r.arrivals[id]; len(times) == 2 {
			late = append(late, times[1].Sub(at))
		}
	}
	return late
}

// idle measures what a daemon uses that has nothing to do.
func idle(s *stage, b *testing.B) {
	if !s.table.canMeasure(b) {
		return
	}
	const span = 5 * time.Second
	r, urls := listen(b, 1)
	h := build(b)
	h.subscribe(b, event(0), urls[0])
	run(b, r, 500, 1, h.target(event(0)))
	h.settled(b)
	got := samples{what: "CPU of an idle daemon", metric: "cpu-percent", unit: "%", digits: 2}
	rounds(b, func(int) {
		used := cpu(b, h.PID(), func() { time.Sleep(span) })
		got.ours = append(got.ours, 100*used.Seconds()/span.Seconds())
	})
	s.table.note(b, got, bounds{must: 1, aim: 0.1})
}
