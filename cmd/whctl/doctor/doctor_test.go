package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/check"
	"github.com/bizhook/whd/client/wire"
)

func TestClockResult(t *testing.T) {
	for _, c := range []struct {
		offset time.Duration
		status check.Status
		detail string
	}{
		{offset: 5 * time.Second, status: check.OK, detail: "5s ahead of the service"},
		{offset: -5 * time.Second, status: check.OK, detail: "5s behind the service"},
		{offset: -61 * time.Second, status: check.Warning, detail: "1m1s behind the service"},
		{offset: 61 * time.Second, status: check.Warning, detail: "1m1s ahead of the service"},
	} {
		got := clockResult(c.offset)
		if got.Status != c.status || got.Detail != c.detail {
			t.Errorf("%s: %s %q, want %s %q", c.offset, got.Status, got.Detail, c.status, c.detail)
		}
	}
}

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
			inHand: wire.InHand{Uncharged: map[string]int64{"proxy": 2}},
			status: check.Warning,
			detail: "webhooks.proxy failed 2 attempts since the start; the messages are sent later",
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

func TestWaitingResult(t *testing.T) {
	start := time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
	waiting, until := waitingSubscriptions([]wire.Queue{
		{SubscriptionID: "A"},
		{SubscriptionID: "B", WaitUntilDateTime: wire.Timestamp(start.Add(12 * time.Minute))},
		{SubscriptionID: "C", WaitUntilDateTime: wire.Timestamp(start.Add(5 * time.Minute))},
	})
	got := waitingResult(waiting, until.Sub(start))
	const want = "messages of 2 subscriptions wait: the endpoint requested it by Retry-After, for another 12m"
	if got.Status != check.Warning || got.Detail != want || !strings.Contains(got.Fix, "subscriptions test B") {
		t.Errorf("%v: got %+v, want a warning %q that names B", waiting, got, want)
	}
}

func TestHeldResult(t *testing.T) {
	queues := []wire.Queue{
		{SubscriptionID: "A"},
		{SubscriptionID: "B", HeldEvents: []string{"own.created"}},
		{SubscriptionID: "C", HeldEvents: []string{"own.created", "own.updated"}},
	}
	held := heldSubscriptions(queues)
	got := heldResult(held)
	const want = "messages of 2 subscriptions are held: the owner may not read their records"
	if got.Status != check.Warning || got.Detail != want || !strings.HasSuffix(got.Fix, "show B") {
		t.Errorf("%v: got %+v, want a warning %q that names B", held, got, want)
	}
}
