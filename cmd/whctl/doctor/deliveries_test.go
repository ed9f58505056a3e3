package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/wire"
)

func TestDeliveryResult(t *testing.T) {
	for _, c := range []struct {
		inHand wire.InHand
		status check.Status
		detail string
	}{
		{
			inHand: wire.InHand{InFlight: 1},
			status: check.OK,
			detail: "1 attempt in flight",
		},
		{
			inHand: wire.InHand{Uncharged: map[string]int64{"dns": 2, "descriptors": 1}},
			status: check.OK,
			detail: "attempts not charged to their endpoints since the start, by cause: descriptors 1, dns 2",
		},
		{
			inHand: wire.InHand{Uncharged: map[string]int64{"proxy": 2}}, // it has been repaired
			status: check.OK,
			detail: "attempts not charged to their endpoints since the start, by cause: proxy 2",
		},
		{
			inHand: wire.InHand{
				Uncharged: map[string]int64{"proxy": 7},
				Blocked:   map[string]int64{"proxy": 2, "ports": 1},
			},
			status: check.Warning,
			detail: "webhooks.proxy cannot be used: messages of 2 subscriptions wait, and are sent later",
		},
		{
			inHand: wire.InHand{Blocked: map[string]int64{"ports": 1, "network": 2}},
			status: check.Warning,
			detail: "messages wait because of the machine of the service, and are sent later; " +
				"subscriptions by cause: network 2, ports 1",
		},
		{
			inHand: wire.InHand{Overdue: 2, Uncharged: map[string]int64{"dns": 2}},
			status: check.Warning,
			detail: "2 requests are still open after webhooks.attempt_timeout; the messages are not affected",
		},
		{
			inHand: wire.InHand{Paused: "no file descriptors\x1b[2J", Overdue: 1},
			status: check.Failed,
			detail: "no file descriptors^[[2J",
		},
	} {
		got := deliveryResult(c.inHand)
		if got.Status != c.status || got.Detail != c.detail {
			t.Errorf("%+v: %s %q, want %s %q", c.inHand, got.Status, got.Detail, c.status, c.detail)
		}
	}
}

// TestQueueResult checks which problem of subscriptions is reported, and that the first one is named.
func TestQueueResult(t *testing.T) {
	now := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	since := func(d time.Duration) wire.Timestamp { return wire.Timestamp(now.Add(-d)) }
	fine := wire.Queue{SubscriptionID: "A", IsEnabled: true, Breaker: wire.BreakerClosed, Pending: 5}
	failing := wire.Queue{
		SubscriptionID: "B",
		SubscriberName: "Web shop\x1b",
		EventName:      "debtor.*",
		IsEnabled:      true,
		Breaker:        wire.BreakerOpen,
		FailingSince:   since(3 * time.Minute),
		Pending:        1200,
		LastFailure:    &wire.Failed{Message: "connection refused"},
	}
	stopped := wire.Queue{
		SubscriptionID: "C",
		SubscriberName: "Till",
		EventName:      "*",
		Breaker:        wire.BreakerOpen,
		DisabledReason: "the endpoint responded with 410 Gone",
		Pending:        1,
	}
	byHand := wire.Queue{SubscriptionID: "D", Pending: 7, HeldEvents: []string{"own.created"}}
	held := wire.Queue{SubscriptionID: "E", IsEnabled: true, HeldEvents: []string{"own.created"}}
	for name, c := range map[string]struct {
		queues      []wire.Queue
		status      check.Status
		detail, fix string
	}{
		"fine": {[]wire.Queue{fine, byHand}, check.OK, "1 attempt in flight", ""},
		"failing": {
			[]wire.Queue{failing, fine, stopped, held},
			check.Warning,
			"the endpoint of 1 subscription fails (circuit breaker open), 1,200 messages wait: " +
				"Web shop^[ debtor.*, for 3m, connection refused",
			"see whctl subscriptions show B; a delivered test ends the wait: whctl subscriptions test B",
		},
		"several failing": {
			[]wire.Queue{failing, failing, failing},
			check.Warning,
			"the endpoints of 3 subscriptions fail (circuit breaker open), 3,600 messages wait: " +
				"Web shop^[ debtor.*, for 3m, connection refused",
			"see whctl subscriptions show B; a delivered test ends the wait: whctl subscriptions test B",
		},
		"stopped": {
			[]wire.Queue{fine, stopped, held},
			check.Warning,
			"1 subscription sends nothing, 1 message waits: Till *, the endpoint responded with 410 Gone",
			"see whctl subscriptions show C; if it was disabled, once its endpoint works: " +
				"whctl subscriptions enable C",
		},
		"held": {
			[]wire.Queue{held},
			check.Warning,
			"messages of 1 subscription are held: the owner may not read their records",
			"have a user that may read the records save the subscription; see whctl subscriptions show E",
		},
	} {
		got := queueResult(c.queues, now, passed("1 attempt in flight"))
		if got.Status != c.status || got.Detail != c.detail || got.Fix != c.fix {
			t.Errorf("%s: got %+v, want %s %q with the remedy %q", name, got, c.status, c.detail, c.fix)
		}
	}
}

// TestWaitingResult checks that only subscriptions with messages that wait are counted: the wait of an
// endpoint goes on if its messages are deleted or its subscription is disabled.
func TestWaitingResult(t *testing.T) {
	start := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	in := func(d time.Duration) wire.Timestamp { return wire.Timestamp(start.Add(d)) }
	waiting, until := waitingSubscriptions([]wire.Queue{
		{SubscriptionID: "A", IsEnabled: true, Pending: 2},
		{SubscriptionID: "B", IsEnabled: true, Pending: 2, WaitUntilDateTime: in(12 * time.Minute)},
		{SubscriptionID: "C", IsEnabled: true, Pending: 1, WaitUntilDateTime: in(5 * time.Minute)},
		{SubscriptionID: "D", IsEnabled: true, WaitUntilDateTime: in(time.Hour)},
		{SubscriptionID: "E", Pending: 1, WaitUntilDateTime: in(time.Hour)},
	})
	got := waitingResult(waiting, until.Sub(start))
	const want = "messages of 2 subscriptions wait: their endpoints requested it by Retry-After, for up to another 12m"
	if got.Status != check.Warning || got.Detail != want || !strings.Contains(got.Fix, "subscriptions test B") {
		t.Errorf("%v: got %+v, want a warning %q that names B", waiting, got, want)
	}
	const single = "messages of 1 subscription wait: the endpoint requested it by Retry-After, for another 12m"
	if got := waitingResult(waiting[:1], until.Sub(start)); got.Detail != single {
		t.Errorf("got %q for one subscription, want %q", got.Detail, single)
	}
}

func TestHeldResult(t *testing.T) {
	queues := []wire.Queue{
		{SubscriptionID: "A", IsEnabled: true},
		{SubscriptionID: "B", IsEnabled: true, HeldEvents: []string{"own.created"}},
		{SubscriptionID: "C", IsEnabled: true, HeldEvents: []string{"own.created", "own.updated"}},
		{SubscriptionID: "D", HeldEvents: []string{"own.created"}}, // disabled by hand
	}
	held := heldSubscriptions(queues)
	got := heldResult(held)
	const want = "messages of 2 subscriptions are held: the owner may not read their records"
	if got.Status != check.Warning || got.Detail != want || !strings.HasSuffix(got.Fix, "show B") {
		t.Errorf("%v: got %+v, want a warning %q that names B", held, got, want)
	}
}
