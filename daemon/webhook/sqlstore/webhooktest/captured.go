package webhooktest

import (
	"errors"
	"maps"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// capturedKind is a kind with a capture, and captureFence the fence of the capture.
const (
	capturedKind = "K"
	captureFence = 3
)

// captures are the changes of records that a store receives from capture.
type captures struct{ h hooks }

// begin makes changes of capturedKind acceptable under captureFence.
func (c captures) begin() {
	c.h.t.Helper()
	_, err := c.h.changes.Begin(c.h.t.Context(), capturedKind, captureFence)
	c.h.check(err)
}

// capture adds a change of a record to a batch, under captureFence.
func capture(b *delivery.Batch, op, key, body string, number int64) {
	if b.Captured == nil {
		b.Captured = &delivery.Captured{Kind: capturedKind, Fence: captureFence, AddedAt: noon}
	}
	b.Captured.Changes = append(b.Captured.Changes, delivery.CapturedChange{
		ID:        number,
		Op:        op,
		Key:       key,
		Body:      []byte(body),
		Number:    number,
		ShadowKey: []byte{byte(number)},
	})
}

// addTwo adds two changes to a batch, numbered from first, and an event of the first of them
// with a message to a subscription.
func (c captures) addTwo(b *delivery.Batch, sub webhook.Subscription, first int64) *webhook.Message {
	c.h.t.Helper()
	capture(b, "created", "k", "größe", first)
	capture(b, "created", "k", "größe", first+1)
	message := c.h.publish(b, noon, "größe", sub.ID)[0]
	b.Captured.Changes[0].EventID = message.Event.ID
	return message
}

// expect checks the number of stored changes of addTwo, and their bodies.
func (c captures) expect(when string, want int) {
	c.h.t.Helper()
	changes, err := c.h.changes.Changes(c.h.t.Context(), capturedKind, 0, 10)
	c.h.check(err)
	if len(changes) != want {
		c.h.t.Errorf("%s: %d changes, want %d", when, len(changes), want)
	}
	for _, change := range changes {
		if string(change.Body) != "größe" {
			c.h.t.Errorf("%s: change %d has the body %q, want %q", when, change.ID, change.Body, "größe")
		}
	}
}

// capturedRefused checks that a batch with changes under another fence, at another position or under a
// lost lease is not written at all.
func capturedRefused(h hooks) {
	captured := captures{h}
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	captured.begin()
	for _, c := range []struct {
		name         string
		fence, first int64
	}{
		{"older fence", captureFence - 1, 1},
		{"newer fence", captureFence + 1, 1},
		{"gap in the numbers", captureFence, 2},
	} {
		b := h.batch(lease)
		captured.addTwo(&b, sub, c.first)
		b.Captured.Fence = c.fence
		b.Keys = []delivery.Key{{Hash: [32]byte{byte(c.first)}, Event: guid(1), Until: noon}}
		err := h.Engine.Write(h.t.Context(), b)
		if !errors.Is(err, delivery.ErrCaptureLost) {
			h.t.Errorf("%s: error %v, want %v", c.name, err, delivery.ErrCaptureLost)
		}
		h.expectIDs(c.name, h.open(lease.Partition, sub.ID))
	}

	fenced := h.batch(delivery.Lease{Partition: lease.Partition, Fence: lease.Fence + 1})
	captured.addTwo(&fenced, sub, 1)
	err := h.Engine.Write(h.t.Context(), fenced)
	if !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("lost lease: error %v, want %v", err, delivery.ErrFenced)
	}
	captured.expect("after refused batches", 0)
}

// capturedChanges checks that the event of a change stays until both its messages and the change
// are gone.
func capturedChanges(h hooks) {
	captured := captures{h}
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	captured.begin()

	b := h.batch(lease)
	first := captured.addTwo(&b, sub, 1)
	h.check(h.Engine.Write(ctx, b))
	h.expectIDs("open messages of the first batch", h.open(lease.Partition, sub.ID), first)
	err := h.Engine.Write(ctx, b)
	if !errors.Is(err, delivery.ErrCaptureLost) {
		h.t.Errorf("writing changes a second time: error %v, want %v", err, delivery.ErrCaptureLost)
	}
	b = h.batch(lease)
	second := captured.addTwo(&b, sub, 3)
	h.check(h.Engine.Write(ctx, b))
	captured.expect("after two batches", 4)

	// The first event loses its messages first, the second one its change.
	h.record(lease, ended(first, noon, webhook.Successful))
	_, err = h.Engine.Prune(ctx, delivery.Prune{Limit: 10, Successful: noon.Add(time.Minute)})
	h.check(err)
	h.expectIDs("open messages after pruning", h.open(lease.Partition, sub.ID), second)
	captured.expectEvent("without messages", first, true)
	captured.expect("after pruning messages", 4)

	const maxSize = 1 << 40 // bytes
	_, err = h.changes.Prune(ctx, noon.Add(time.Minute), maxSize, 10)
	h.check(err)
	captured.expect("after pruning changes", 0)
	captured.expectEvent("without a change and messages", first, false)
	captured.expectEvent("without a change", second, true)

	_, err = h.Admin.RemoveMessage(ctx, addressOf(sub, second))
	h.check(err)
	captured.expectEvent("without a message and a change", second, false)
}

// expectEvent checks whether the event of a message exists.
func (c captures) expectEvent(when string, m *webhook.Message, want bool) {
	c.h.t.Helper()
	bodies, err := c.h.Engine.Bodies(c.h.t.Context(), []int64{m.Event.ID})
	c.h.check(err)
	if exists := len(bodies) == 1; exists != want {
		c.h.t.Errorf("%s: the event exists: %v, want %v", when, exists, want)
	}
}

// eventRoles keeps the roles of events that are not captured any more.
func eventRoles(h hooks) {
	type roles map[string]string
	for _, step := range []struct{ current, want roles }{
		{
			current: nil,
			want:    roles{},
		},
		{
			current: roles{"a.created": "admin", "A.created": ""},
			want:    roles{"a.created": "admin", "A.created": ""},
		},
		{
			current: roles{"b.created": "writer"},
			want:    roles{"a.created": "admin", "A.created": "", "b.created": "writer"},
		},
		{
			current: roles{"a.created": "reader"},
			want:    roles{"a.created": "reader", "A.created": "", "b.created": "writer"},
		},
		{
			current: nil,
			want:    roles{"a.created": "reader", "A.created": "", "b.created": "writer"},
		},
	} {
		got, err := h.Engine.KeepEventRoles(h.t.Context(), step.current)
		h.check(err)
		if !maps.Equal(got, step.want) {
			h.t.Errorf("with %v: %v, want %v", step.current, got, step.want)
		}
	}
}
