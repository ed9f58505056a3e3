package webhooks

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// A subscription has the same state in its list, in the text about its problem, and as the worst one of
// its subscriber, also if its queue reports several ones.
func TestStatesOfEndpointAgree(t *testing.T) {
	const id, subscriberID = "subscription", "subscriber"
	later := wire.Timestamp(time.Date(2026, 7, 1, 14, 2, 6, 0, time.UTC))
	everything := wire.Queue{
		SubscriptionID:    id,
		SubscriberID:      subscriberID,
		IsEnabled:         true,
		Breaker:           wire.BreakerOpen,
		WaitUntilDateTime: later,
		FailingSince:      later,
		RateUntilDateTime: later,
	}
	with := func(change func(*wire.Queue)) wire.Queue {
		queue := everything
		change(&queue)
		return queue
	}
	closed := func(q *wire.Queue) { q.Breaker = wire.BreakerClosed }
	tests := map[string]struct {
		queue                        wire.Queue
		state, ofSubscriber, problem string // the start of the problem
	}{
		"an open circuit breaker": {everything, "paused", "paused", "paused after failures"},
		"a wait requested by an endpoint that fails": {
			with(closed), "waiting (Retry-After)", "waiting", "waiting (Retry-After); next attempt",
		},
		"failures": {
			with(func(q *wire.Queue) {
				closed(q)
				q.WaitUntilDateTime = wire.Timestamp{}
			}),
			"failing", "failing", "failing for",
		},
		"a disabled subscriber, after a wait": {
			with(func(q *wire.Queue) { q.IsEnabled = false }),
			"enabled", "enabled", "the subscriber is disabled",
		},
		"a disabled subscriber with messages, after a wait": {
			with(func(q *wire.Queue) {
				q.IsEnabled = false
				q.Pending = 3
			}),
			"enabled", "stopped", "the subscriber is disabled",
		},
	}
	for name, test := range tests {
		s := new(ui.Session)
		s.Now = time.Time(later).Add(-time.Minute)
		s.Queues.Known = map[string]wire.Queue{id: test.queue}
		subscription := wire.Subscription{RecID: id, IsEnabled: true}
		if got := stateCell(subscription, s).Text; got != test.state {
			t.Errorf("%s: the subscription is %q, want %q", name, got, test.state)
		}
		if got := problemText(subscription, s); !strings.HasPrefix(got, test.problem) {
			t.Errorf("%s: the problem is %q, want it to start with %q", name, got, test.problem)
		}
		subscriber := wire.Subscriber{RecID: subscriberID, IsEnabled: true}
		if got := subscriberCell(subscriber, s).Text; got != test.ofSubscriber {
			t.Errorf("%s: the subscriber is %q, want %q", name, got, test.ofSubscriber)
		}
	}
}
