package delivery_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// queueOf returns a subscription's queue in a report, nil if it is not included.
func queueOf(report stats.Report, sub webhook.Subscription) *stats.Queue {
	i := slices.IndexFunc(report.Queues, func(q stats.Queue) bool { return q.Subscription.GUID == sub.GUID })
	if i < 0 {
		return nil
	}
	return &report.Queues[i]
}

// stats returns the statistics of the last minutes, with the current backlog.
func (x *simulation) stats(minutes int) stats.Report {
	x.t.Helper()
	x.advance(10 * time.Second) // so that the backlog is counted again
	open, err := x.engine.Backlog(context.Background(), 0)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.report(minutes, 100, open.Subscriptions)
}

// report returns the statistics of the last minutes.
func (h *testEnv) report(minutes, limit int, open []stats.Backlog) stats.Report {
	h.t.Helper()
	report, err := h.engine.Stats(context.Background(), minutes, limit, open)
	if err != nil {
		h.t.Fatal(err)
	}
	return report
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
		const events = 6
		for range events {
			x.publish("debtor.created", "{}")
		}
		x.advance(time.Second)

		report := x.stats(60)
		failed := report.Total.Failed
		want := stats.Traffic{Events: events, Messages: 2 * events, Delivered: events, Failed: failed}
		if report.Total != want || failed < 5 {
			t.Errorf("the total is %+v, want %+v with at least 5 failed", report.Total, want)
		}
		checkTimes(t, report)
		if len(report.Queues) != 2 || queueOf(report, idle) != nil {
			t.Fatalf("the queues are %+v, want those of the failing and the working endpoint", report.Queues)
		}
		checkFailingQueue(t, report.Queues[0], bad, failed)
		working := report.Queues[1]
		if working.Subscription.GUID != good.GUID || working.Subscription.SubscriberInfo.Name != "Shop" {
			t.Errorf("the second queue is of %+v, want the working one", working.Subscription)
		}
		if !hasRecovered(working) || working.P99 == 0 || working.Limit == 0 {
			t.Errorf("the working queue is %+v, want %d deliveries and no failure", working, events)
		}

		limited := x.report(60, 1, nil)
		if len(limited.Queues) != 1 || limited.Omitted != 1 || queueOf(limited, bad) == nil {
			t.Errorf("with a limit of 1 the queues are %+v, %d omitted, want the failing one and 1 omitted",
				limited.Queues, limited.Omitted)
		}

		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.advance(5 * time.Minute)
		recovered := queueOf(x.stats(60), bad)
		if recovered == nil || !hasRecovered(*recovered) {
			t.Errorf("after the recovery the queue is %+v, want %d deliveries and no failure", recovered, events)
		}
	})
}

// checkTimes checks how long attempts and deliveries took.
func checkTimes(t *testing.T, report stats.Report) {
	t.Helper()
	// The class of durations that attemptTime is in.
	const shortest, longest = wire.TimeSpan(2500 * time.Microsecond), wire.TimeSpan(6 * time.Millisecond)
	attempts := report.Attempts
	if attempts.P50 < shortest || attempts.P99 < attempts.P50 || attempts.P99 > longest {
		t.Errorf("attempts took %+v, want %v", attempts, attemptTime)
	}
	delay := report.Delay
	if delay.P50 <= shortest || delay.P99 > wire.TimeSpan(time.Second) {
		t.Errorf("deliveries took %+v, want more than %v and at most a second", delay, shortest)
	}
}

// checkFailingQueue checks the queue of an endpoint that responds to all attempts with 503.
func checkFailingQueue(t *testing.T, got stats.Queue, sub webhook.Subscription, failed int64) {
	t.Helper()
	if got.Subscription.GUID != sub.GUID || got.FailingSince.IsZero() {
		t.Errorf("the first queue is %+v, want the failing one", got)
	}
	if !got.BreakerOpen || got.Failures < 5 || !got.NextProbe.After(time.Now()) {
		t.Errorf("the breaker of the failing queue is open: %v, after %d failures, until %v, want open after at least 5",
			got.BreakerOpen, got.Failures, got.NextProbe)
	}
	if got.NotSent+got.RetryPending != 6 || got.RetryPending == 0 {
		t.Errorf("in the failing queue %d messages are not sent and %d retried, want 6 together", got.NotSent, got.RetryPending)
	}
	if got.Last.HTTPCode != 503 || got.Last.Message != "Service Unavailable" || got.Traffic.Failed != failed {
		t.Errorf("the last of %d failed attempts is %+v, want status 503 and %d", got.Traffic.Failed, got.Last, failed)
	}
}

// hasRecovered reports whether a queue works and has delivered its six messages.
func hasRecovered(q stats.Queue) bool {
	isFailing := q.BreakerOpen || !q.FailingSince.IsZero()
	return !isFailing && q.Traffic.Delivered == 6 && q.NotSent+q.RetryPending == 0
}

// TestStatsByMinute counts events in their minutes, and lets these pass.
func TestStatsByMinute(t *testing.T) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("https://a.example/in", "debtor.*")
		for _, events := range []int{3, 2, 1} {
			for range events {
				x.publish("debtor.created", "{}")
			}
			x.advance(time.Minute)
		}
		var byMinute []int64
		for _, m := range x.report(4, 0, nil).Minutes {
			byMinute = append(byMinute, m.Delivered)
		}
		if want := []int64{3, 2, 1, 0}; !slices.Equal(byMinute, want) {
			t.Errorf("deliveries by minute are %v, want %v", byMinute, want)
		}
		last := x.report(3, 100, nil)
		if last.Total.Delivered != 3 || queueOf(last, sub).Traffic.Delivered != 3 {
			t.Errorf("the last three minutes have %+v, want 3 deliveries", last)
		}

		const day = 24 * 60 // minutes
		x.advance(time.Hour)
		later := x.report(day, 100, nil)
		if later.Total.Delivered != 6 || len(later.Minutes) != day || queueOf(later, sub) != nil {
			t.Errorf("an hour later the last day has %+v in %d minutes, want 6 deliveries and no queue",
				later.Total, len(later.Minutes))
		}
		x.advance(day * time.Minute)
		nextDay := x.report(day, 100, nil)
		if nextDay.Total != (stats.Traffic{}) || nextDay.Attempts != (wire.Latency{}) {
			t.Errorf("a day later the last day has %+v, want nothing", nextDay)
		}
		if counts := x.engine.Counts(); counts.Events != 6 || counts.Delivered != 6 {
			t.Errorf("the counts since the start are %+v, want 6 events and deliveries", counts)
		}
	})
}

// TestStatsAfterRestart checks that a restart changes no statistics.
func TestStatsAfterRestart(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://good.example/in", "debtor.*")
		bad := x.subscribe("https://bad.example/in", "debtor.created")
		x.fakeSender.setStatus(func(_ int, m *webhook.Message) int {
			if m.URL == bad.URL {
				return 503
			}
			return 200
		})
		for range 3 {
			x.publish("debtor.created", "{}")
		}
		x.advance(40 * time.Second) // the next retry is in a minute
		before := x.report(60, 100, nil)
		x.stop(testTimeout)
		x.startEngine()
		after := x.report(60, 100, nil)

		if after.Total != before.Total || after.Total.Delivered != 3 || after.Total.Failed == 0 {
			t.Errorf("the total is %+v after a restart, want %+v", after.Total, before.Total)
		}
		if !slices.Equal(after.Minutes, before.Minutes) || !after.Since.Equal(before.Since) {
			t.Errorf("the minutes since %v are %v after a restart, want %v since %v",
				after.Since, after.Minutes, before.Minutes, before.Since)
		}
		if after.Attempts != before.Attempts || after.Delay != before.Delay {
			t.Errorf("attempts took %+v and deliveries %+v after a restart, want %+v and %+v",
				after.Attempts, after.Delay, before.Attempts, before.Delay)
		}
		for _, want := range before.Queues {
			got := queueOf(after, *want.Subscription)
			if got == nil || got.Traffic != want.Traffic || got.P99 != want.P99 {
				t.Errorf("after a restart the queue is %+v, want %+v", got, want)
			}
		}
		if got, want := queueOf(after, bad).Last, queueOf(before, bad).Last; got == nil || *got != *want {
			t.Errorf("the last failed attempt is %+v after a restart, want %+v", got, want)
		}

		x.fakeSender.setStatus(func(int, *webhook.Message) int { return 200 })
		x.advance(5 * time.Minute)
	})
}

// TestStatsOfLateResults counts a result that could not be written for some minutes in the minute of
// its attempt.
func TestStatsOfLateResults(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		x.publish("debtor.created", "{}")
		x.faultyStore.SetRule(deliverytest.Refuse(deliverytest.Unavailable("disk full")), deliverytest.Write)
		x.advance(5 * time.Minute)
		if got := x.report(60, 100, nil).Total.Delivered; got != 0 {
			t.Fatalf("%d deliveries are counted that are not stored", got)
		}
		x.faultyStore.SetRule(nil, deliverytest.Write)
		x.advance(2 * time.Minute)
		report := x.report(60, 100, nil)
		const ago = 7 // minutes
		if last := len(report.Minutes) - 1; report.Total.Delivered != 1 || report.Minutes[last-ago].Delivered != 1 {
			t.Errorf("the minutes are %+v, want a delivery %d minutes ago", report.Minutes, ago)
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
		for name, want := range map[string]int64{
			"network":   1,
			"5xx":       1,
			"4xx":       1,
			"3xx":       1,
			"ok":        1,
			"timeout":   0,
			"forbidden": 0,
		} {
			if got := p.Attempts[name]; got != want {
				t.Errorf("%d attempts are %s, want %d", got, name, want)
			}
		}
		d := p.Durations
		if d.Count != 5 || d.Total != 5*attemptTime {
			t.Errorf("%d attempts took %v together, want 5 and %v", d.Count, d.Total, 5*attemptTime)
		}
		for bound, want := range map[float64]uint64{0.002: 0, 0.003: 5, 7200: 5} {
			if got := d.Buckets[bound]; got != want {
				t.Errorf("%d attempts took at most %v s, want %d", got, bound, want)
			}
		}
		if p.Delays.Count != 0 { // a delivery by the fifth attempt is none
			t.Errorf("the delays are %+v, want none", p.Delays)
		}
	})
}

// TestThroughput measures counts per second.
func TestThroughput(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		throughput := x.engine.Throughput()
		expect := func(when string, wantChanged bool, want wire.Throughput) {
			t.Helper()
			got, changed := throughput()
			got.At = wire.Timestamp{}
			got.Troubles = nil
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
		expect("after a second without traffic", true, wire.Throughput{})
		x.advance(time.Second)
		expect("after another one", false, wire.Throughput{})

		x.publish("debtor.created", "{}")
		x.advance(time.Minute)
		expect("after a gap", true, wire.Throughput{}) // no message waits for a retry any more
	})
}

// TestTroubles checks the numbers of endpoints and messages with problems.
func TestTroubles(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		throughput := x.engine.Throughput()
		expect := func(when string, want wire.Troubles) {
			t.Helper()
			for range 30 { // the backlog is counted every ten seconds, for a later reading
				x.advance(time.Second)
				_, _ = throughput()
			}
			got, _ := throughput()
			if got.Troubles == nil || *got.Troubles != want {
				t.Errorf("%s: %+v, want %+v", when, got.Troubles, want)
			}
		}

		if got, _ := throughput(); got.Troubles != nil {
			t.Errorf("before the backlog is counted: %+v, want none", got.Troubles)
		}
		expect("without messages", wire.Troubles{})
		x.fakeSender.setStatus(inTurn(500))
		x.publish("debtor.created", "{}")
		x.publish("debtor.created", "{}")
		expect("while the endpoint fails", wire.Troubles{Endpoints: 1, RetryPending: 2})
		x.fakeSender.setStatus(inTurn(200))
		x.advance(48 * time.Hour)
		expect("after it has recovered", wire.Troubles{})
	})
}
