package delivery_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// queueOf returns a subscription's queue in a report, nil if it is not included.
func queueOf(s stats.Report, r webhook.Subscription) *stats.Queue {
	for i, l := range s.Queues {
		if l.Subscription.GUID == r.GUID {
			return &s.Queues[i]
		}
	}
	return nil
}

// stats returns the statistics of the last minutes, with the current backlog.
func (x *simulation) stats(minutes int) stats.Report {
	x.t.Helper()
	x.advance(10 * time.Second) // so that the backlog is counted again
	open, err := x.engine.Backlog(context.Background(), 0)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.engine.Stats(minutes, 100, open.Subscriptions)
}

// TestStats reports a working and a failing endpoint.
func TestStats(t *testing.T) {
	simulate(t, func(x *simulation) {
		good := x.subscribe("https://good.example/in", "debtor.*")
		bad := x.subscribe("https://bad.example/in", "debtor.created")
		idle := x.subscribe("https://idle.example/in", "creditor.*")
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.URL == bad.URL {
				return 503
			}
			return 200
		})
		for range 6 {
			x.publish("debtor.created", "{}")
		}
		x.advance(time.Second)
		s := x.stats(60)
		if want := (stats.Traffic{Events: 6, Messages: 12, Delivered: 6, Failed: s.Total.Failed}); s.Total != want || s.Total.Failed < 5 {
			t.Errorf("total %+v, want %+v", s.Total, want)
		}
		const longest = wire.TimeSpan(attemptTime)
		if q := s.Attempts; q.P50 < wire.TimeSpan(2*time.Millisecond) || q.P50 > longest || q.P99 < q.P50 || q.P99 > longest {
			t.Errorf("attempts took %+v, want %v", q, attemptTime)
		}
		if q := s.Delay; q.P50 <= wire.TimeSpan(2*time.Millisecond) || q.P99 > wire.TimeSpan(time.Second) {
			t.Errorf("deliveries took %+v", q)
		}
		if len(s.Queues) != 2 || queueOf(s, idle) != nil {
			t.Fatalf("reported %+v", s.Queues)
		}
		failing := s.Queues[0]
		isOpen := failing.BreakerOpen && failing.Failures >= 5 && failing.NextProbe.After(x.clockTime())
		isWaiting := failing.NotSent+failing.RetryPending == 6 && failing.RetryPending > 0
		if failing.Subscription.GUID != bad.GUID || !isOpen || !isWaiting || failing.FailingSince.IsZero() {
			t.Errorf("the failing queue is %+v", failing)
		}
		last := failing.Last
		if last.HTTPCode != 503 || last.Message != "Service Unavailable" || failing.Traffic.Failed != s.Total.Failed {
			t.Errorf("the last attempt of the failing queue is %+v", last)
		}
		working := s.Queues[1]
		if working.Subscription.GUID != good.GUID || !hasRecovered(working) || working.Subscription.SubscriberInfo.Name != "Shop" {
			t.Errorf("the working queue is %+v", working)
		}
		if working.P99 == 0 || working.Limit == 0 {
			t.Errorf("the working queue has %+v", working)
		}
		if s := x.engine.Stats(60, 1, nil); len(s.Queues) != 1 || s.Omitted != 1 || s.Queues[0].Subscription.GUID != bad.GUID {
			t.Errorf("with a limit of 1: %+v and %d omitted", s.Queues, s.Omitted)
		}
		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.advance(5 * time.Minute)
		if l := queueOf(x.stats(60), bad); l == nil || !hasRecovered(*l) {
			t.Errorf("after the recovery: %+v", l)
		}
	})
}

// hasRecovered reports whether a queue works and has delivered its six messages.
func hasRecovered(q stats.Queue) bool {
	isFailing := q.BreakerOpen || !q.FailingSince.IsZero()
	return !isFailing && q.Traffic.Delivered == 6 && q.NotSent+q.RetryPending == 0
}

// clockTime returns the engine's time.
func (x *simulation) clockTime() time.Time { return time.Now().UTC() }

// TestStatsByMinute counts events in their minutes, and lets these pass.
func TestStatsByMinute(t *testing.T) {
	simulate(t, func(x *simulation) {
		r := x.subscribe("https://a.example/in", "debtor.*")
		for n := range 3 { // 3 in this minute, 2 in the next, 1 in the one after
			for range 3 - n {
				x.publish("debtor.created", "{}")
			}
			x.advance(time.Minute)
		}
		delivered := func(minutes int) []uint32 {
			var counts []uint32
			for _, m := range x.engine.Stats(minutes, 0, nil).Minutes {
				counts = append(counts, m.Delivered)
			}
			return counts
		}
		if got := delivered(4); !slices.Equal(got, []uint32{3, 2, 1, 0}) {
			t.Errorf("by minute %v", got)
		}
		if s := x.engine.Stats(3, 100, nil); s.Total.Delivered != 3 || queueOf(s, r).Traffic.Delivered != 3 {
			t.Errorf("of the last three minutes: %+v", s)
		}
		x.advance(time.Hour)
		if s := x.engine.Stats(24*60, 100, nil); s.Total.Delivered != 6 || len(s.Minutes) != 24*60 || queueOf(s, r) != nil {
			t.Errorf("of the last day: %+v", s.Total)
		}
		x.advance(24 * time.Hour)
		if s := x.engine.Stats(24*60, 100, nil); s.Total != (stats.Traffic{}) || s.Attempts != (wire.Latency{}) {
			t.Errorf("a day later: %+v", s)
		}
		if c := x.engine.Counts(); c.Events != 6 || c.Delivered != 6 {
			t.Errorf("since the start: %+v", c)
		}
	})
}

// TestPerformance counts attempts by outcome.
func TestPerformance(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		x.fakeSender.setStatus(inTurn(0, 500, 404, 302, 200))
		x.publish("debtor.created", "{}")
		x.advance(time.Hour)
		p := x.engine.Performance()
		for name, want := range map[string]int64{"network": 1, "5xx": 1, "4xx": 1, "3xx": 1, "ok": 1, "timeout": 0, "forbidden": 0} {
			if p.Attempts[name] != want {
				t.Errorf("%d attempts are %s, want %d", p.Attempts[name], name, want)
			}
		}
		d := p.Durations
		if d.Count != 5 || d.Total != 5*attemptTime {
			t.Errorf("%d attempts took %v", d.Count, d.Total)
		}
		if d.Buckets[0.002] != 0 || d.Buckets[0.003] != 5 || d.Buckets[7200] != 5 {
			t.Errorf("attempts took %+v", d)
		}
		if p.Delays.Count != 0 {
			t.Errorf("a delivery by the fifth attempt is counted as a delay: %+v", p.Delays)
		}
	})
}

// TestThroughput measures counts per second.
func TestThroughput(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		pulse := x.engine.Throughput()
		expect := func(when string, wantChanged bool, want wire.Throughput) {
			t.Helper()
			got, changed := pulse()
			got.At = wire.Timestamp{}
			if got != want || changed != wantChanged {
				t.Errorf("%s: %+v (changed: %v), want %+v (%v)", when, got, changed, want, wantChanged)
			}
		}
		x.publish("debtor.created", "{}")
		x.advance(time.Second)
		expect("before the first interval", false, wire.Throughput{})
		x.fakeSender.setStatus(inTurn(500, 200))
		x.publish("debtor.created", "{}")
		x.publish("debtor.created", "{}")
		x.advance(500 * time.Millisecond)
		expect("after two events", true, wire.Throughput{Events: 2, Failed: 2, MessagesInMemory: 2})
		x.advance(time.Second)
		expect("after their second attempts", true, wire.Throughput{Delivered: 2})
		x.advance(time.Second)
		expect("the first without news", true, wire.Throughput{})
		x.advance(time.Second)
		expect("the second", false, wire.Throughput{})
		x.publish("debtor.created", "{}")
		x.advance(time.Minute)
		expect("after a gap", false, wire.Throughput{})
	})
}
