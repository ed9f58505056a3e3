package webhooktest

import (
	"reflect"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// expectBacklog compares the backlog, in any order.
func (h hooks) expectBacklog(when string, want ...stats.Backlog) {
	h.t.Helper()
	slices.SortFunc(want, func(a, b stats.Backlog) int { return int(a.Subscription - b.Subscription) })
	got, err := h.Engine.Backlog(h.t.Context())
	if err != nil || !reflect.DeepEqual(got, want) {
		h.t.Errorf("%s: the backlog is %+v (%v), want %+v", when, got, err, want)
	}
}

// backlogs checks that the backlog has the open messages of all partitions, by
// subscription.
func backlogs(h hooks) {
	h.expectBacklog("at first")
	a := h.subscribe()
	b := h.subscribe()
	l := h.lease(time.Hour)
	other := h.lease(time.Hour)
	backlog := func(r webhook.Subscription, notSent, retries int64, oldest time.Time) stats.Backlog {
		return stats.Backlog{Subscription: r.ID, NotSent: notSent, RetryPending: retries, Oldest: oldest}
	}
	early := h.sendAt(l, a.ID, 3, noon)
	late := h.sendAt(other, a.ID, 2, noon.Add(time.Minute))
	h.sendAt(other, b.ID, 1, noon.Add(time.Hour))
	h.expectBacklog("not sent yet", backlog(a, 5, 0, noon), backlog(b, 1, 0, noon.Add(time.Hour)))

	h.record(l,
		attempt(early[0], 200, webhook.Successful, time.Time{}),
		attempt(early[1], 500, webhook.Failed, time.Time{}),
		attempt(early[2], 500, webhook.RetryPending, noon.Add(time.Hour)))
	h.expectBacklog("after attempts", backlog(a, 2, 1, noon), backlog(b, 1, 0, noon.Add(time.Hour)))

	_, err := h.Admin.RetryMessage(h.t.Context(), addressOf(a, early[1]), noon)
	h.check(err)
	h.expectBacklog("made due again", backlog(a, 2, 2, noon), backlog(b, 1, 0, noon.Add(time.Hour)))

	for _, m := range early {
		_, err := h.Admin.RemoveMessage(h.t.Context(), addressOf(a, m))
		h.check(err)
	}
	h.expectBacklog("removed", backlog(a, 2, 0, noon.Add(time.Minute)), backlog(b, 1, 0, noon.Add(time.Hour)))

	_, err = h.Admin.RemoveSubscription(h.t.Context(), b.Subscriber, b.GUID, noon)
	h.check(err)
	h.expectBacklog("subscription removed", backlog(a, 2, 0, noon.Add(time.Minute)))

	h.record(other,
		attempt(late[0], 200, webhook.Successful, time.Time{}),
		attempt(late[1], 200, webhook.Successful, time.Time{}))
	h.expectBacklog("all sent")
}

// sendAt writes n messages of events that were added at a time.
func (h hooks) sendAt(l delivery.Lease, sub int64, n int, at time.Time) []*webhook.Message {
	h.t.Helper()
	b := h.batch(l)
	for range n {
		h.publish(&b, at, "{}", sub)
	}
	for _, e := range b.Events {
		e.AddedAt = at
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	return b.Messages
}
