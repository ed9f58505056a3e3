package webhook_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/webhooktest"
)

// laneOf finds a subscription's lane among those that are told of.
func laneOf(s webhook.Stats, r webhook.Registration) *webhook.Lane {
	for i, l := range s.Lanes {
		if l.Subscription.GUID == r.GUID {
			return &s.Lanes[i]
		}
	}
	return nil
}

// stats are the figures of the last minutes, with what is open as it is now.
func (x *trial) stats(minutes int) webhook.Stats {
	x.t.Helper()
	x.pass(10 * time.Second) // so that it is counted anew
	open, err := x.engine.Open(context.Background(), 0)
	if err != nil {
		x.t.Fatal(err)
	}
	return x.engine.Stats(minutes, 100, open.Each)
}

// TestStats tells of an endpoint that works and of one that does not.
func TestStats(t *testing.T) {
	inBubble(t, func(x *trial) {
		good := x.subscribe("https://good.example/in", "debtor.*")
		bad := x.subscribe("https://bad.example/in", "debtor.created")
		idle := x.subscribe("https://idle.example/in", "creditor.*")
		x.postman.answers(func(_ int, m *webhook.Message) int {
			if m.URL == bad.URL {
				return 503
			}
			return 200
		})
		for range 6 {
			x.publish("debtor.created", "{}")
		}
		x.pass(time.Second)
		s := x.stats(60)
		if want := (webhook.Traffic{Events: 6, Messages: 12, Delivered: 6, Failed: s.Total.Failed}); s.Total != want || s.Total.Failed < 5 {
			t.Errorf("in all %+v, want %+v", s.Total, want)
		}
		if q := s.Attempts; q.P50 < 2*time.Millisecond || q.P50 > travel || q.P99 < q.P50 || q.P99 > travel {
			t.Errorf("attempts took %+v, want %v", q, travel)
		}
		if q := s.Delay; q.P50 <= 2*time.Millisecond || q.P99 > time.Second {
			t.Errorf("deliveries took %+v", q)
		}
		if len(s.Lanes) != 2 || laneOf(s, idle) != nil {
			t.Fatalf("told of %+v", s.Lanes)
		}
		if l := s.Lanes[0]; l.Subscription.GUID != bad.GUID || !l.Open || l.Failures < 5 || !l.Probe.After(x.now()) || l.FailingSince.IsZero() ||
			l.NotSent+l.RetryPending != 6 || l.RetryPending == 0 || l.Last.Code != 503 || l.Last.Reason != "Service Unavailable" || l.Traffic.Failed != s.Total.Failed {
			t.Errorf("the bad one is %+v", l)
		}
		if l := s.Lanes[1]; l.Subscription.GUID != good.GUID || l.Open || l.Traffic.Delivered != 6 || l.NotSent+l.RetryPending != 0 || !l.FailingSince.IsZero() ||
			l.P99 == 0 || l.Limit == 0 || l.Subscription.SubscriberName != "Shop" {
			t.Errorf("the good one is %+v", l)
		}
		if s := x.engine.Stats(60, 1, nil); len(s.Lanes) != 1 || s.Others != 1 || s.Lanes[0].Subscription.GUID != bad.GUID {
			t.Errorf("only the worst: %+v and %d others", s.Lanes, s.Others)
		}
		x.postman.answers(func(int, *webhook.Message) int { return 200 })
		x.pass(5 * time.Minute)
		if l := laneOf(x.stats(60), bad); l == nil || l.Open || l.Traffic.Delivered != 6 || l.NotSent+l.RetryPending != 0 || !l.FailingSince.IsZero() {
			t.Errorf("the bad one has recovered: %+v", l)
		}
	})
}

// now is the engine's time.
func (x *trial) now() time.Time { return time.Now().UTC() }

// TestStatsByTheMinute puts figures into their minutes, and lets them pass.
func TestStatsByTheMinute(t *testing.T) {
	inBubble(t, func(x *trial) {
		r := x.subscribe("https://a.example/in", "debtor.*")
		for n := range 3 { // 3 in this minute, 2 in the next, 1 in the one after
			for range 3 - n {
				x.publish("debtor.created", "{}")
			}
			x.pass(time.Minute)
		}
		delivered := func(minutes int) (all []uint32) {
			for _, m := range x.engine.Stats(minutes, 0, nil).Minutes {
				all = append(all, m.Delivered)
			}
			return all
		}
		if got := delivered(4); !slices.Equal(got, []uint32{3, 2, 1, 0}) {
			t.Errorf("by the minute %v", got)
		}
		if s := x.engine.Stats(3, 100, nil); s.Total.Delivered != 3 || laneOf(s, r).Traffic.Delivered != 3 {
			t.Errorf("of the last three minutes: %+v", s)
		}
		x.pass(time.Hour)
		if s := x.engine.Stats(24*60, 100, nil); s.Total.Delivered != 6 || len(s.Minutes) != 24*60 || laneOf(s, r) != nil {
			t.Errorf("of the last day: %+v", s.Total)
		}
		x.pass(24 * time.Hour)
		if s := x.engine.Stats(24*60, 100, nil); s.Total != (webhook.Traffic{}) || s.Attempts != (webhook.Quantiles{}) {
			t.Errorf("a day later: %+v", s)
		}
		if c := x.engine.Counts(); c.Events != 6 || c.Delivered != 6 {
			t.Errorf("since the start: %+v", c)
		}
	})
}

// TestPerformance counts attempts by what came of them.
func TestPerformance(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.subscribe("https://a.example/in", "debtor.*")
		x.postman.answers(func(n int, _ *webhook.Message) int { return []int{0, 500, 404, 302, 200}[n-1] })
		x.publish("debtor.created", "{}")
		x.pass(time.Hour)
		p := x.engine.Performance()
		for name, want := range map[string]int64{"network": 1, "5xx": 1, "4xx": 1, "3xx": 1, "ok": 1, "timeout": 0, "forbidden": 0} {
			if p.Attempts[name] != want {
				t.Errorf("%d attempts are %s, want %d", p.Attempts[name], name, want)
			}
		}
		if p.Took.Count != 5 || p.Took.Total != 5*travel || p.Took.Buckets[0.003] != 5 || p.Took.Buckets[0.002] != 0 || p.Took.Buckets[7200] != 5 {
			t.Errorf("attempts took %+v", p.Took)
		}
		if p.Delay.Count != 0 {
			t.Errorf("a delivery at the fifth attempt says nothing of the delay: %+v", p.Delay)
		}
	})
}

// TestOpenIsCountedOnce asks from many sides at once, and again and again.
func TestOpenIsCountedOnce(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.subscribe("https://a.example/in", "debtor.*")
		gate := webhooktest.NewGate()
		x.faulty.Set(gate.Hold, webhooktest.Backlog)
		var askers sync.WaitGroup
		for range 50 {
			askers.Go(func() {
				if o, err := x.engine.Open(context.Background(), 0); err != nil || o.At.IsZero() {
					t.Errorf("%+v (%v)", o, err)
				}
			})
		}
		gate.Await(1)
		gate.Open()
		askers.Wait()
		for range 9 {
			x.pass(time.Second)
			if _, err := x.engine.Open(context.Background(), 0); err != nil {
				t.Error(err)
			}
		}
		if n := x.faulty.Calls(webhooktest.Backlog); n != 1 {
			t.Errorf("counted %d times, want once", n)
		}
		x.pass(2 * time.Second)
		for _, age := range []time.Duration{15 * time.Second, 0, 0} {
			if _, err := x.engine.Open(context.Background(), age); err != nil {
				t.Error(err)
			}
			if n, want := x.faulty.Calls(webhooktest.Backlog), map[bool]int{true: 1, false: 2}[age > 0]; n != want {
				t.Errorf("counted %d times, want %d", n, want)
			}
		}
	})
}

// TestASlowCountStaysGoodForLonger keeps the store from doing nothing else.
func TestASlowCountStaysGoodForLonger(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.faulty.Set(func(ctx context.Context, do func(context.Context) error) error {
			time.Sleep(3 * time.Second)
			return do(ctx)
		}, webhooktest.Backlog)
		for range 63 { // asked every second, for 3 seconds and 20 times as long
			_, err := x.engine.Open(context.Background(), 0)
			if x.pass(time.Second); err != nil {
				t.Error(err)
			}
		}
		if n := x.faulty.Calls(webhooktest.Backlog); n != 2 {
			t.Errorf("counted %d times, want 2", n)
		}
	})
}

// TestOpenWithoutTheStore gives what was counted last.
func TestOpenWithoutTheStore(t *testing.T) {
	inBubble(t, func(x *trial) {
		away := webhooktest.Away("it is being moved")
		x.faulty.Set(webhooktest.Refuse(away), webhooktest.Backlog)
		if o, err := x.engine.Open(context.Background(), 0); !errors.Is(err, away) || !o.At.IsZero() {
			t.Errorf("%+v (%v)", o, err)
		}
		x.pass(9 * time.Second)
		x.faulty.Set(nil, webhooktest.Backlog)
		if _, err := x.engine.Open(context.Background(), 0); !errors.Is(err, away) {
			t.Errorf("it was tried again at once: %v", err)
		}
		x.pass(time.Second)
		counted, err := x.engine.Open(context.Background(), 0)
		if err != nil || counted.At.IsZero() {
			t.Errorf("%+v (%v)", counted, err)
		}
		x.pass(10 * time.Second)
		hangs := webhooktest.NewGate()
		x.faulty.Set(hangs.Hold, webhooktest.Backlog)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if o, err := x.engine.Open(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || !o.At.Equal(counted.At) {
			t.Errorf("%+v (%v)", o, err)
		}
		hangs.Open()
	})
}

// TestOpenNeedsAnEngineAtWork asks one that was not started, and one that is
// stopped meanwhile.
func TestOpenNeedsAnEngineAtWork(t *testing.T) {
	if _, err := webhook.New(webhook.Config{}).Open(t.Context(), 0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("before the start: %v", err)
	}
	inBubble(t, func(x *trial) {
		engine, gate := x.engine, webhooktest.NewGate()
		x.faulty.Set(gate.Hold, webhooktest.Backlog)
		asked := make(chan error)
		go func() {
			_, err := engine.Open(context.Background(), 0)
			asked <- err
		}()
		gate.Await(1)
		stopped := make(chan struct{})
		go func() { defer close(stopped); x.stop(patience) }()
		if err := <-asked; err == nil {
			t.Error("the engine has ended, and counted all the same")
		}
		<-stopped
		gate.Open()
	})
}

// TestPulses tells what happens from second to second.
func TestPulses(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.subscribe("https://a.example/in", "debtor.*")
		pulse := x.engine.Pulses()
		expect := func(when string, news bool, want webhook.Pulse) {
			t.Helper()
			got, is := pulse()
			if got.At = (time.Time{}); got != want || is != news {
				t.Errorf("%s: %+v (news: %v), want %+v (%v)", when, got, is, want, news)
			}
		}
		x.publish("debtor.created", "{}")
		x.pass(time.Second)
		expect("of what was before nothing is told", false, webhook.Pulse{})
		x.postman.answers(func(n int, m *webhook.Message) int { return []int{500, 200}[min(n, 2)-1] })
		x.publish("debtor.created", "{}")
		x.publish("debtor.created", "{}")
		x.pass(500 * time.Millisecond)
		expect("after two events", true, webhook.Pulse{Events: 2, Failed: 2, InMemory: 2})
		x.pass(time.Second)
		expect("after their second attempts", true, webhook.Pulse{Delivered: 2})
		x.pass(time.Second)
		expect("the first without news", true, webhook.Pulse{})
		x.pass(time.Second)
		expect("the second", false, webhook.Pulse{})
		x.publish("debtor.created", "{}")
		x.pass(time.Minute)
		expect("after a while in which nobody asked", false, webhook.Pulse{})
	})
}
