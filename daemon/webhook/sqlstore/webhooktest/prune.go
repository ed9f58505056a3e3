package webhooktest

import (
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"pgregory.net/rapid"
)

// ended returns the result of an attempt that ended at a time.
func ended(m *webhook.Message, at time.Time, after webhook.Status) webhook.AttemptResult {
	r := attempt(m, 0, after, time.Time{})
	if after.Open() {
		r.After.Next = noon
	}
	r.Began = at
	r.Took = 0
	return r
}

// expectLeft checks which messages still exist.
func (h hooks) expectLeft(name string, sub webhook.Subscription, messages []*webhook.Message, left ...bool) {
	h.t.Helper()
	for i, m := range messages {
		_, err := h.Admin.Message(h.t.Context(), addressOf(sub, m))
		isGone := fault.Is(err, fault.NotFound)
		if isGone == left[i] || !isGone && err != nil {
			h.t.Errorf("%s: message %d exists: %v (error %v), want %v", name, i, !isGone, err, left[i])
		}
	}
}

// pruneOld checks the retention of each final status, and that open messages are
// not removed.
func pruneOld(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	before := noon.Add(-time.Second)
	never := time.Time{}
	sent := h.send(lease, sub.ID, 6)
	h.record(lease,
		ended(sent[1], before, webhook.RetryPending),
		ended(sent[2], before, webhook.Successful),
		ended(sent[3], noon, webhook.Successful),
		ended(sent[4], before, webhook.Failed),
		ended(sent[5], noon, webhook.Failed))
	after := noon.Add(time.Second) // the messages were added at noon
	for _, c := range []struct {
		name               string
		successful, failed time.Time
		rows               int
		left               []bool
	}{
		{"no cutoff", never, never, 0, []bool{true, true, true, true, true, true}},
		{"cutoff before all", before, before, 0, []bool{true, true, true, true, true, true}},
		{"successful only", noon, never, 1, []bool{true, true, false, true, true, true}},
		{"failed only", never, noon, 1, []bool{true, true, false, true, false, true}},
		{"later cutoff for both", after, after, 2, []bool{true, true, false, false, false, false}},
	} {
		got, err := h.Engine.Prune(ctx, delivery.Prune{Limit: 100, Successful: c.successful, Failed: c.failed})
		if err != nil || got.Rows != c.rows || got.More {
			h.t.Errorf("%s: %+v (%v), want %d rows and no more", c.name, got, err, c.rows)
		}
		h.expectLeft(c.name, sub, sent, c.left...)
	}
	h.expectIDs("open", h.open(lease.Partition, sub.ID), sent[0], sent[1])
}

// pruneWalk checks that the scan stops at its limit and continues after the last
// scanned message, but does not skip messages that are not old enough yet. An event is
// removed with its last message.
func pruneWalk(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	other := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	shared := h.publish(&b, noon, "shared", sub.ID, other.ID)
	h.check(h.Engine.Write(ctx, b))
	old := append(shared[:1:1], h.send(lease, sub.ID, 24)...)
	for _, m := range old {
		h.record(lease, ended(m, noon, webhook.Successful))
	}
	young := h.batch(lease)
	for range 3 {
		h.publish(&young, noon, "{}", sub.ID)[0].Event.AddedAt = noon.Add(time.Hour)
	}
	h.check(h.Engine.Write(ctx, young))
	lastID := int64(0)
	for i, want := range []delivery.Removed{
		{Rows: 10, More: true, Last: old[9].ID},
		{Rows: 10, More: true, Last: old[19].ID},
		{Rows: 5, Last: old[24].ID},
		{Last: old[24].ID},
	} {
		got, err := h.Engine.Prune(ctx, delivery.Prune{After: lastID, Limit: 10, Successful: noon.Add(time.Minute)})
		h.check(err)
		got.Took = 0
		if got != want {
			h.t.Errorf("step %d: %+v, want %+v", i, got, want)
		}
		lastID = got.Last
	}
	if left := h.open(lease.Partition, other.ID); len(left) != 1 || string(left[0].Event.Body) != "shared" {
		h.t.Errorf("messages of the other subscription: %+v, want one with the body \"shared\"", left)
	}
	h.expectIDs("young ones", h.open(lease.Partition, sub.ID), young.Messages...)
}

// pruneAndRetry makes messages due while they are pruned: each is either removed,
// or due and complete.
func pruneAndRetry(h hooks) {
	const size = 16
	sub, lease := h.subscribe(), h.lease(time.Hour)
	sent := h.send(lease, sub.ID, size)
	for _, m := range sent {
		h.record(lease, ended(m, noon, webhook.Failed))
	}
	due := make([]bool, size)
	concurrently(size+1, func(i int) {
		if i == size {
			if _, err := h.Engine.Prune(h.t.Context(), delivery.Prune{Limit: 100, Failed: noon.Add(time.Second)}); err != nil {
				h.t.Error(err)
			}
			return
		}
		m, err := h.Admin.RetryMessage(h.t.Context(), addressOf(sub, sent[i]), noon.Add(time.Minute))
		if err != nil && !fault.Is(err, fault.NotFound) {
			h.t.Error(err)
		}
		due[i] = err == nil && m.Status == webhook.RetryPending
	})
	h.expectLeft("after both", sub, sent, due...)
	for _, m := range h.open(lease.Partition, sub.ID) {
		m.Attempts = 1
		h.record(lease, attempt(m, 200, webhook.Successful, time.Time{}))
		h.expectState(addressOf(sub, m), webhook.State{Status: webhook.Successful, Attempts: 2})
	}
}

// prune removes ended messages. All attempts of a history end at noon.
func (n *naiveHooks) prune(t *rapid.T) {
	p := delivery.Prune{
		Limit:      rapid.IntRange(1, 5).Draw(t, "limit"),
		Successful: n.drawTime(t, "successful"),
		Failed:     n.drawTime(t, "failed"),
	}
	isPruned := func(m *naiveMessage) bool {
		return m.Status == webhook.Successful && p.Successful.After(noon) || m.Status == webhook.Failed && p.Failed.After(noon)
	}
	for isDone := false; !isDone; {
		r, err := n.h.Engine.Prune(n.h.t.Context(), p)
		if err != nil || r.Rows > p.Limit || r.More && r.Last <= p.After {
			t.Fatalf("%+v: %+v (%v)", p, r, err)
		}
		isDone = !r.More
		p.After = r.Last
	}
	for id, m := range n.rows {
		_, err := n.h.Admin.Message(n.h.t.Context(), n.address(m))
		isGone := fault.Is(err, fault.NotFound)
		if isGone != isPruned(m) {
			t.Fatalf("message %d, %+v, is gone: %v (%v)", id, m.State, isGone, err)
		}
		if isPruned(m) {
			delete(n.rows, id)
		}
	}
}
