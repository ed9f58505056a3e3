package delivery

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestHealthIsMerged checks that the health updates of a subscription since the last write are
// merged into one.
func TestHealthIsMerged(t *testing.T) {
	first := time.Unix(1, 0)
	second := time.Unix(2, 0)
	failure := Health{Subscription: 1, Since: first}
	success := Health{Subscription: 1}
	later := Health{Subscription: 1, Since: second}
	replaced := Health{Subscription: 1, Since: second, Replace: true}
	for name, tt := range map[string]struct {
		recorded []Health
		want     Health
	}{
		"fails":                  {[]Health{failure}, failure},
		"fails, succeeds":        {[]Health{failure, success}, success},
		"fails, succeeds, fails": {[]Health{failure, success, later}, replaced},
		"fails again, restored":  {[]Health{failure, replaced}, replaced},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPending()
			for _, h := range tt.recorded {
				p.setHealth(h)
			}
			if !slices.Equal(p.health, []Health{tt.want}) {
				t.Errorf("merged into %+v, want %+v", p.health, tt.want)
			}
		})
	}
}

// TestBatchEventLimit checks that the number of events of a batch is limited: many
// subscriptions that are disabled at the same time, each with its own event, are written in
// several batches.
func TestBatchEventLimit(t *testing.T) {
	const many = 3*batchRows + 1
	g := newPending()
	for i := range int64(many) {
		if err := g.publish(&publication{event: &webhook.Event{}}); err != nil {
			t.Fatal(err)
		}
		g.disable(Disabled{Subscription: i})
	}
	var events int
	var disabled int64
	for g.await(nil) {
		l := g.next()
		if n := len(l.publications) + len(l.disabled); n > MaxBatchEvents || n == 0 {
			t.Fatalf("a batch has %d events, want 1 to %d", n, MaxBatchEvents)
		}
		events += len(l.publications)
		for _, d := range l.disabled {
			if d.Subscription != disabled {
				t.Fatalf("subscription %d is disabled before %d", d.Subscription, disabled)
			}
			disabled++
		}
		if events == many && disabled == many {
			return
		}
	}
}

// TestResultsWaitForEvent checks that results wait for the next event, but not longer than
// their delay.
func TestResultsWaitForEvent(t *testing.T) {
	result := webhook.AttemptResult{Message: &webhook.Message{}}
	for name, c := range map[string]struct {
		delays []time.Duration // of results, recorded a microsecond apart
		event  time.Duration   // when an event is published, 0 for never
		want   time.Duration   // when the batch is written
	}{
		"one":                     {[]time.Duration{resultDelay}, 0, resultDelay},
		"two":                     {[]time.Duration{resultDelay, resultDelay}, 0, resultDelay},
		"of an ordered queue":     {[]time.Duration{resultDelay, orderedDelay}, 0, time.Microsecond + orderedDelay},
		"and before":              {[]time.Duration{orderedDelay, resultDelay}, 0, orderedDelay},
		"with an event":           {[]time.Duration{resultDelay, resultDelay}, 3 * time.Millisecond, 3 * time.Millisecond},
		"without an event so far": {[]time.Duration{resultDelay}, time.Hour, resultDelay},
		"many":                    {slices.Repeat([]time.Duration{resultDelay}, resultRows), 0, (resultRows - 1) * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newPending()
				began := time.Now()
				var all sync.WaitGroup
				defer all.Wait()
				all.Go(func() {
					for i, delay := range c.delays {
						time.Sleep(time.Until(began.Add(time.Duration(i) * time.Microsecond)))
						g.record(result, "", delay)
					}
					if c.event > 0 {
						time.Sleep(time.Until(began.Add(c.event)))
						_ = g.publish(&publication{event: &webhook.Event{}})
					}
				})
				g.await(nil)
				if took := time.Since(began); took != c.want {
					t.Errorf("written after %v, want %v", took, c.want)
				}
				if b := g.next(); len(b.results) != len(c.delays) {
					t.Errorf("%d results in the batch, want %d", len(b.results), len(c.delays))
				}
			})
		})
	}
}

// TestResultsDoNotDelayStop checks that results that are pending when the engine stops are
// written at once.
func TestResultsDoNotDelayStop(t *testing.T) {
	g := newPending()
	stop := make(chan struct{})
	close(stop)
	if g.await(stop) {
		t.Error("there is work without a result, want none")
	}
	g.record(webhook.AttemptResult{Message: &webhook.Message{}}, "", time.Hour)
	if !g.await(stop) {
		t.Error("there is no work with a result, want some at once")
	}
}

// TestRestoredResultsAreDue checks that results of a batch that was not written are due at
// once, without another event.
func TestRestoredResultsAreDue(t *testing.T) {
	g := newPending()
	g.record(webhook.AttemptResult{Message: &webhook.Message{}}, "", time.Hour)
	if err := g.publish(&publication{event: &webhook.Event{}}); err != nil {
		t.Fatal(err)
	}
	b := g.next()
	g.restore(b)
	if len(b.results) != 1 {
		t.Errorf("%d results in the batch, want 1", len(b.results))
	}
	if _, due := g.hasWork(); !due {
		t.Error("no restored result is due, want all")
	}
}
