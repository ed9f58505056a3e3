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

// expectExist checks which messages exist.
func (h hooks) expectExist(when string, sub webhook.Subscription, messages []*webhook.Message, want ...bool) {
	h.t.Helper()
	for i, m := range messages {
		_, err := h.Admin.Message(h.t.Context(), addressOf(sub, m))
		exists := err == nil
		if !exists && !fault.Is(err, fault.NotFound) {
			h.t.Fatalf("%s: reading message %d: %v", when, i, err)
		}
		if exists != want[i] {
			h.t.Errorf("%s: message %d exists: %v, want %v", when, i, exists, want[i])
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
		successful, failed time.Time // cutoffs
		rows               int       // removed
		exist              []bool    // afterwards, of the messages sent
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
		h.expectExist(c.name, sub, sent, c.exist...)
	}
	h.expectIDs("open", h.open(lease.Partition, sub.ID), sent[0], sent[1])
}

// pruneWalk checks that the scan stops at its limit and continues after the last
// scanned message, but does not skip messages that are not old enough yet. An event is
// removed with its last message.
func pruneWalk(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	shared := h.publishShared(lease, sub, otherSub)
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
	h.expectShared(otherSub, shared[1])
	h.expectIDs("open messages, which are not old enough", h.open(lease.Partition, sub.ID), young.Messages...)
}

// pruneAndRetry makes messages due while they are pruned: each is either removed,
// or due and complete.
func pruneAndRetry(h hooks) {
	const size = 16
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, size)
	for _, m := range sent {
		h.record(lease, ended(m, noon, webhook.Failed))
	}
	prune := func() {
		p := delivery.Prune{Limit: 100, Failed: noon.Add(time.Second)}
		_, err := h.Engine.Prune(h.t.Context(), p)
		if err != nil {
			h.t.Error(err)
		}
	}
	isDue := make([]bool, size)
	retry := func(i int) {
		m, err := h.Admin.RetryMessage(h.t.Context(), addressOf(sub, sent[i]), noon.Add(time.Minute))
		if err != nil && !fault.Is(err, fault.NotFound) {
			h.t.Error(err)
		}
		isDue[i] = err == nil && m.Status == webhook.RetryPending
	}
	concurrently(size+1, func(i int) {
		if i == size {
			prune()
		} else {
			retry(i)
		}
	})

	h.expectExist("after both", sub, sent, isDue...)
	for _, m := range h.open(lease.Partition, sub.ID) {
		m.Attempts = 1
		h.record(lease, attempt(m, 200, webhook.Successful, time.Time{}))
		h.expectState(addressOf(sub, m), webhook.State{Status: webhook.Successful, Attempts: 2})
	}
}

// prune removes ended messages. All attempts of a history end at noon.
func (n *model) prune(t *rapid.T) {
	p := delivery.Prune{
		Limit:      rapid.IntRange(1, 5).Draw(t, "limit"),
		Successful: n.drawTime(t, "successful"),
		Failed:     n.drawTime(t, "failed"),
	}
	n.pruneAll(t, p)

	for id, m := range n.rows {
		want := false
		switch m.Status {
		case webhook.Successful:
			want = p.Successful.After(noon)
		case webhook.Failed:
			want = p.Failed.After(noon)
		}
		_, err := n.h.Admin.Message(n.h.t.Context(), n.address(m))
		isGone := fault.Is(err, fault.NotFound)
		if isGone != want {
			t.Fatalf("pruning %+v: message %d, %+v, is gone: %v (%v), want %v", p, id, m.State, isGone, err, want)
		}
		if isGone {
			delete(n.rows, id)
		}
	}
}

// pruneAll prunes step by step until there is no more to remove.
func (n *model) pruneAll(t *rapid.T, p delivery.Prune) {
	for {
		step, err := n.h.Engine.Prune(n.h.t.Context(), p)
		if err != nil {
			t.Fatalf("pruning %+v: %v", p, err)
		}
		if step.Rows > p.Limit {
			t.Fatalf("pruning %+v removed %d rows", p, step.Rows)
		}
		if !step.More {
			return
		}
		if step.Last <= p.After {
			t.Fatalf("pruning %+v ended at message %d, want progress", p, step.Last)
		}
		p.After = step.Last
	}
}
