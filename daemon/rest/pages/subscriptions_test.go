package pages

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestHealthByTraffic checks that an endpoint is in trouble if it fails now, or if less than 90 % of
// its attempts have succeeded.
func TestHealthByTraffic(t *testing.T) {
	x := &edge.Context{Timing: edge.Timing{Start: time.Now()}}
	now := wire.Timestamp(x.Timing.Start)
	soon := wire.Timestamp(x.Timing.Start.Add(3 * time.Second))
	for _, c := range []struct {
		queue wire.Queue
		want  health
	}{
		{wire.Queue{}, health{"waiting", "○", "idle", 0}},
		{wire.Queue{Delivered: 5}, health{"all delivered", "●", "good", 0}},
		{wire.Queue{Delivered: 5, Pending: 39}, health{"all attempts delivered", "●", "good", 0}},
		{wire.Queue{Delivered: 5, Pending: 39, RateUntilDateTime: soon}, health{"rate limit, next in 3s", "○", "idle", 0}},
		{wire.Queue{Failed: 5, Pending: 39, RateUntilDateTime: soon}, health{"failing; rate limit, next in 3s", "▲", "warn", 1}},
		{wire.Queue{Delivered: 5, Failed: 5, Pending: 19, RateUntilDateTime: soon},
			health{"failing in part; rate limit, next in 3s", "▲", "warn", 1}},
		{wire.Queue{Delivered: 90, Failed: 9, GivenUp: 1}, health{"90.0 % of attempts delivered", "●", "good", 0}},
		{wire.Queue{Delivered: 89, Failed: 11}, health{"failing in part", "▲", "warn", 1}},
		{wire.Queue{Delivered: 99, Failed: 1, FailingSince: now}, health{"failing in part", "▲", "warn", 1}},
		{wire.Queue{Failed: 1}, health{"failing", "▲", "warn", 1}},
		{wire.Queue{FailingSince: now}, health{"failing", "▲", "warn", 1}},
	} {
		if got := healthOf(x, true, "", &c.queue); got != c.want {
			t.Errorf("%d delivered, %d failed, %d given up: got %v, want %v",
				c.queue.Delivered, c.queue.Failed, c.queue.GivenUp, got, c.want)
		}
	}
}

// TestFailingOnce checks that the facts about a subscription do not repeat that it is failing.
func TestFailingOnce(t *testing.T) {
	since := time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC)
	view := &subscriptionView{State: trafficHealth(&wire.Queue{Failed: 1}), Failing: moment{Words: "2m ago"}}
	view.FailingSince = wire.Timestamp(since)
	var page bytes.Buffer
	err := templates().ExecuteTemplate(&page, "subscriptionFacts", view)
	if err != nil {
		t.Fatal(err)
	}
	const want = "failing</span>, failures since 2026-01-31 14:00:00 UTC"
	if !strings.Contains(page.String(), want) {
		t.Errorf("got %s, want %q in it", page.String(), want)
	}
}

// TestTries checks that retries by hand do not exceed a maximum.
func TestTries(t *testing.T) {
	for _, c := range []struct {
		retries int
		want    string
	}{{0, ""}, {1, "1 of 2 retries"}, {3, "3 retries"}} {
		if got := tries(&wire.Message{Retries: c.retries, MaxRetries: 2}); got != c.want {
			t.Errorf("%d retries: got %q, want %q", c.retries, got, c.want)
		}
	}
}
