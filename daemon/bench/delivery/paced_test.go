package delivery

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// pacedSeconds is the duration of a round with a fixed rate of events.
const pacedSeconds = 3 // in seconds

// pacedLatency measures the latency of events published at 300/s.
func pacedLatency(s *suite, b *testing.B) {
	const rate = 300
	r, urls := listen(b, 1)
	h, g := startDaemon(b), startFloor(b, urls[0])
	h.subscribe(b, event(0), urls[0])
	p50 := samples{title: "publish to received at 300/s, median", metric: "p50-ms", unit: "ms", digits: 2}
	p99 := samples{title: "publish to received at 300/s, p99", metric: "p99-ms", unit: "ms", digits: 2}
	daemon := func() (p50, p99 float64) { return measurePaced(b, r, rate, h.publishTarget(event(0))) }
	floor := func() (p50, p99 float64) { return measurePaced(b, r, rate, g.target) }
	rounds(b, func(n int) {
		var o50, o99, f50, f99 float64
		benchtest.InTurns(n, func() { o50, o99 = daemon() }, func() { f50, f99 = floor() })
		p50.add(o50, f50)
		p99.add(o99, f99)
	})
	s.table.addSamples(b, p50, limits{limit: 2, goal: 1.2})
	s.table.addSamples(b, p99, limits{limit: 6, goal: 4})
}

// measurePaced publishes at a rate and returns the latency of the events, in ms.
func measurePaced(b *testing.B, r *receiver, rate int, t target) (p50, p99 float64) {
	b.Helper()
	return measureFor(b, r, rate, pacedSeconds, t)
}

// measureFor is measurePaced for some seconds.
func measureFor(b *testing.B, r *receiver, rate, seconds int, t target) (p50, p99 float64) {
	b.Helper()
	r.reset()
	if err := publishPaced(rate*seconds, rate, t); err != nil {
		b.Fatal(err)
	}
	r.await(b, rate*seconds)
	r.mu.Lock()
	defer r.mu.Unlock()
	return percentile(r.latencies, 50), percentile(r.latencies, 99)
}

// latencyWithHangingEndpoint measures a healthy endpoint while another one hangs.
func latencyWithHangingEndpoint(s *suite, b *testing.B) {
	const rate = 100
	r, urls := listen(b, 1)
	hanging, hangs := listen(b, 1)
	hanging.code.Store(0)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	h.subscribe(b, event(1), hangs[0])
	got := samples{
		title:        "p99 of a healthy endpoint while another one hangs",
		metric:       "p99-ms",
		unit:         "ms",
		digits:       2,
		baselineName: "alone",
	}
	alone := func() float64 {
		_, p99 := measurePaced(b, r, rate, h.publishTarget(event(0)))
		return p99
	}
	withHanging := func() float64 {
		done := make(chan error, 1)
		go func() { done <- publishPaced(rate*pacedSeconds, rate, h.publishTarget(event(1))) }()
		p99 := alone()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		return p99
	}
	rounds(b, func(int) {
		withoutHanging := alone() // measured first, since messages of the hanging endpoint stay
		got.add(withHanging(), withoutHanging)
	})
	s.table.addSamples(b, got, limits{limit: 2, goal: 1.2, timesBaseline: true})
}

// retryDelay measures by how much retries are late.
func retryDelay(s *suite, b *testing.B) {
	const messages = 300
	r, urls := listen(b, 1)
	h := startDaemon(b, "--webhooks-retry-schedule", "4s,1h")
	h.subscribe(b, event(0), urls[0])
	r.recordMessages = true
	late := samples{title: "a retry fires after it is due, p99", metric: "p99-ms", unit: "ms"}
	rounds(b, func(int) {
		r.reset()
		r.mu.Lock()
		clear(r.arrivals)
		r.mu.Unlock()
		r.code.Store(422)
		if err := publishAll(messages, h.publishTarget(event(0))); err != nil {
			b.Fatal(err)
		}
		r.await(b, messages)
		for h.count(b, "SELECT COUNT(*) FROM SY_WebhookMessage WHERE Attempts = 1 AND Status = 2") < messages {
			time.Sleep(10 * time.Millisecond)
		}
		due := h.dueTimes(b)
		r.code.Store(200)
		r.await(b, 2*messages)
		h.awaitNothingOpen(b)
		late.values = append(late.values, percentile(r.lateness(due), 99))
	})
	s.table.addSamples(b, late, limits{limit: 500, goal: 100})
}

// dueTimes returns when the next attempt of each message is due.
func (h *benchDaemon) dueTimes(b *testing.B) map[string]time.Time {
	b.Helper()
	conn := h.openTables(b, sqlite.Options{ReadOnly: true})
	defer conn.Close()
	s, err := conn.Prepare("SELECT RecID, NextAttemptDateTime FROM SY_WebhookMessage WHERE NextAttemptDateTime IS NOT NULL")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Reset()
	all := make(map[string]time.Time)
	for {
		hasRow, err := s.Step()
		if err != nil {
			b.Fatal(err)
		}
		if !hasRow {
			return all
		}
		at, err := time.Parse("2006-01-02T15:04:05.0000000", string(s.Text(1)))
		if err != nil {
			b.Fatal(err)
		}
		all[string(s.Text(0))] = at
	}
}

// lateness returns the delays of second attempts after their due times.
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

// idle measures the CPU usage of an idle daemon.
func idle(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	const span = 5 * time.Second
	r, urls := listen(b, 1)
	h := startDaemon(b)
	h.subscribe(b, event(0), urls[0])
	measure(b, r, 500, 1, h.publishTarget(event(0)))
	h.awaitNothingOpen(b)
	got := samples{title: "CPU of an idle daemon", metric: "cpu-percent", unit: "%", digits: 2}
	rounds(b, func(int) {
		used := benchtest.CPUUsed(b, h.PID(), func() { time.Sleep(span) })
		got.values = append(got.values, 100*used.Seconds()/span.Seconds())
	})
	s.table.addSamples(b, got, limits{limit: 1, goal: 0.1})
}
