package pages

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// TestHealthByTraffic checks that an endpoint is in trouble if it fails now, or if less than 90 % of
// its attempts have succeeded.
func TestHealthByTraffic(t *testing.T) {
	now := wire.Timestamp(time.Now())
	for _, c := range []struct {
		queue wire.Queue
		want  health
	}{
		{wire.Queue{}, health{"waiting", "○", "idle", 0}},
		{wire.Queue{Delivered: 5}, health{"all delivered", "●", "good", 0}},
		{wire.Queue{Delivered: 90, Failed: 9, GivenUp: 1}, health{"90.0 % of attempts delivered", "●", "good", 0}},
		{wire.Queue{Delivered: 89, Failed: 11}, health{"fails in part", "▲", "warn", 1}},
		{wire.Queue{Delivered: 99, Failed: 1, FailingSince: now}, health{"fails in part", "▲", "warn", 1}},
		{wire.Queue{Failed: 1}, health{"fails", "▲", "warn", 1}},
		{wire.Queue{FailingSince: now}, health{"fails", "▲", "warn", 1}},
	} {
		if got := healthOf(nil, true, "", &c.queue); got != c.want {
			t.Errorf("%d delivered, %d failed, %d given up: got %v, want %v",
				c.queue.Delivered, c.queue.Failed, c.queue.GivenUp, got, c.want)
		}
	}
}
