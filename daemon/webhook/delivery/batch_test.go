package delivery

import (
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// The health updates of a subscription since the last write are merged into one.
func TestHealthIsMerged(t *testing.T) {
	one, two := time.Unix(1, 0), time.Unix(2, 0)
	for name, c := range map[string]struct {
		noted []Health
		want  Health
	}{
		"fails":                  {[]Health{{1, one, false}}, Health{1, one, false}},
		"fails, succeeds":        {[]Health{{1, one, false}, {Subscription: 1}}, Health{Subscription: 1}},
		"fails, succeeds, fails": {[]Health{{1, one, false}, {Subscription: 1}, {1, two, false}}, Health{1, two, true}},
		"fails again, restored":  {[]Health{{1, one, false}, {1, two, true}}, Health{1, two, true}},
	} {
		g := newPending()
		for _, h := range c.noted {
			g.setHealth(h)
		}
		if !slices.Equal(g.health, []Health{c.want}) {
			t.Errorf("%s: merged into %+v, want %+v", name, g.health, c.want)
		}
	}
}

// The number of events of a batch is limited: many subscriptions that are disabled at
// the same time, each with its own event, are written in several batches.
func TestBatchEventLimit(t *testing.T) {
	const many = 3*batchRows + 1
	g := newPending()
	for i := range int64(many) {
		if err := g.publish(&publication{event: &webhook.Event{}}); err != nil {
			t.Fatal(err)
		}
		g.disable(Disabled{Subscription: i})
	}
	events, disabled := 0, int64(0)
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
