package webhooktest

import (
	"errors"
	"maps"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// capturedChanges checks that a batch with changes of records is written whole or not at
// all, and that the event of a change stays until both its messages and the change are gone.
func capturedChanges(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	l := h.lease(time.Hour)
	_, err := h.changes.Begin(ctx, "K", 3)
	h.check(err)
	group := func(b *delivery.Batch, fence, first int64) []*webhook.Message {
		b.Captured = &delivery.Captured{Kind: "K", Fence: fence, AddedAt: noon}
		for i := range int64(2) {
			id := first + i
			b.Captured.Changes = append(b.Captured.Changes, delivery.CapturedChange{
				ID:        id,
				Op:        "created",
				Key:       "k",
				Body:      []byte("größe"),
				Number:    id,
				ShadowKey: []byte{byte(id)},
			})
		}
		m := h.publish(b, noon, "größe", sub.ID)
		b.Captured.Changes[0].EventID = m[0].Event.ID
		return m
	}
	for name, c := range map[string]struct{ fence, first int64 }{"older fence": {2, 1}, "newer fence": {4, 1}, "gap": {3, 2}} {
		b := h.batch(l)
		group(&b, c.fence, c.first)
		b.Keys = []delivery.Key{{Hash: [32]byte{byte(c.first)}, Event: guid(1), Until: noon}}
		if err := h.Engine.Write(ctx, b); !errors.Is(err, delivery.ErrCaptureLost) {
			h.t.Errorf("%s: %v", name, err)
		}
		h.expectIDs(name, h.open(l.Partition, sub.ID))
	}
	stale := h.batch(delivery.Lease{Partition: l.Partition, Fence: l.Fence + 1})
	group(&stale, 3, 1)
	if err := h.Engine.Write(ctx, stale); !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("under a lost lease: %v", err)
	}
	expect := func(name string, n int) {
		h.t.Helper()
		changes, err := h.changes.Changes(ctx, "K", 0, 10)
		h.check(err)
		if len(changes) != n {
			h.t.Errorf("%s: %d changes, want %d", name, len(changes), n)
		}
		for _, change := range changes {
			if string(change.Body) != "größe" {
				h.t.Errorf("%s: change %d has the body %q", name, change.ID, change.Body)
			}
		}
	}
	expect("refused", 0)
	b := h.batch(l)
	first := group(&b, 3, 1)
	h.check(h.Engine.Write(ctx, b))
	h.expectIDs("written", h.open(l.Partition, sub.ID), first...)
	if err := h.Engine.Write(ctx, b); !errors.Is(err, delivery.ErrCaptureLost) {
		h.t.Errorf("written again: %v", err)
	}
	b = h.batch(l)
	second := group(&b, 3, 3)
	h.check(h.Engine.Write(ctx, b))
	expect("written", 4)
	bodies := func(name string, m *webhook.Message, left bool) {
		h.t.Helper()
		bodies, err := h.Engine.Bodies(ctx, []int64{m.Event.ID})
		h.check(err)
		if isLeft := len(bodies) == 1; isLeft != left {
			h.t.Errorf("%s: the event is left: %v", name, isLeft)
		}
	}

	// The first event loses its messages first, the second one its change.
	h.record(l, ended(first[0], noon, webhook.Successful))
	_, err = h.Engine.Prune(ctx, delivery.Prune{Limit: 10, Successful: noon.Add(time.Minute)})
	h.check(err)
	h.expectIDs("after pruning", h.open(l.Partition, sub.ID), second...)
	bodies("without messages", first[0], true)
	expect("without messages", 4)
	_, err = h.changes.Prune(ctx, noon.Add(time.Minute), 1<<40, 10)
	h.check(err)
	expect("pruned", 0)
	bodies("without a change and messages", first[0], false)
	bodies("without a change", second[0], true)
	_, err = h.Admin.RemoveMessage(ctx, addressOf(sub, second[0]))
	h.check(err)
	bodies("without a message and a change", second[0], false)
}

// eventRoles keeps the roles of events that are not captured any more.
func eventRoles(h hooks) {
	for _, step := range []struct{ current, want map[string]string }{
		{nil, map[string]string{}},
		{map[string]string{"a.created": "admin", "A.created": ""}, map[string]string{"a.created": "admin", "A.created": ""}},
		{map[string]string{"b.created": "writer"}, map[string]string{"a.created": "admin", "A.created": "", "b.created": "writer"}},
		{map[string]string{"a.created": "reader"}, map[string]string{"a.created": "reader", "A.created": "", "b.created": "writer"}},
		{nil, map[string]string{"a.created": "reader", "A.created": "", "b.created": "writer"}},
	} {
		got, err := h.Engine.KeepEventRoles(h.t.Context(), step.current)
		h.check(err)
		if !maps.Equal(got, step.want) {
			h.t.Errorf("with %v: %v, want %v", step.current, got, step.want)
		}
	}
}
