package webhooktest

import (
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// traces reads the changes, events, messages and attempts of a key.
func traces(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	_, err := h.changes.Begin(ctx, "K", 3)
	h.check(err)
	b := h.batch(l)
	for _, key := range []string{"a", "b", "a", "A"} {
		h.publish(&b, noon, "{}", r.ID, other.ID)[0].Event.Key = key
	}
	b.Captured = &delivery.Captured{Kind: "K", Fence: 3, AddedAt: noon}
	for i, key := range []string{"a", "b", "a"} {
		id := int64(i + 1)
		b.Captured.Changes = append(b.Captured.Changes, delivery.CapturedChange{
			ID:        id,
			Op:        "updated",
			Key:       key,
			Body:      []byte("{}"),
			Number:    id,
			ShadowKey: []byte{byte(id)},
		})
	}
	b.Captured.Changes[0].EventID = b.Events[0].ID
	h.check(h.Engine.Write(ctx, b))
	m := b.Messages
	h.record(l, attempt(m[0], 500, webhook.RetryPending, noon.Add(time.Minute)))
	m[0].Attempts++
	h.record(l, attempt(m[0], 200, webhook.Successful, time.Time{}))
	trace, err := h.Admin.Trace(ctx, "a")
	h.check(err)
	h.expectIDs("traced", trace.Messages, m[0], m[1], m[4], m[5])
	first := trace.Messages[0]
	if first.Status != webhook.Successful || first.Attempts != 2 || first.URL != m[0].URL {
		h.t.Errorf("the message is %+v", first)
	}
	if first.Event.GUID != b.Events[0].GUID || first.Event.Name != "debtor.created" {
		h.t.Errorf("the event is %+v", first.Event)
	}
	a := trace.Attempts[m[0].ID]
	if len(a) != 2 || len(trace.Attempts) != 1 {
		h.t.Fatalf("the attempts are %+v", trace.Attempts)
	}
	if a[0].Number != 1 || a[0].Code != 500 {
		h.t.Errorf("the first attempt is %+v", a[0])
	}
	if a[1].Code != 200 || a[1].Took != 20*time.Millisecond || a[1].At.IsZero() {
		h.t.Errorf("the second attempt is %+v", a[1])
	}
	c := trace.Changes
	if len(c) != 2 {
		h.t.Fatalf("the changes are %+v", c)
	}
	if c[0].Kind != "K" || c[0].Op != "updated" || c[0].ID != 1 || c[0].EventID != b.Events[0].ID {
		h.t.Errorf("the first change is %+v", c[0])
	}
	if c[1].ID != 3 || c[1].EventID != 0 || !c[1].At.Equal(noon) {
		h.t.Errorf("the second change is %+v", c[1])
	}
	if len(trace.Events) != 2 || trace.More {
		h.t.Errorf("the events are %+v", trace.Events)
	}
	alone, err := h.Admin.TraceMessage(ctx, m[4].GUID)
	h.check(err)
	h.expectIDs("of a message, and those before it", alone.Messages, m[1], m[4])
	if alone.Only != alone.Messages[1] || len(alone.Events) != 1 || len(alone.Changes) != 0 {
		h.t.Errorf("the trace of a message is %+v", alone)
	}
	_, err = h.Admin.RemoveMessage(ctx, addressOf(r, m[0]))
	h.check(err)
	_, err = h.Admin.RemoveMessage(ctx, addressOf(other, m[1]))
	h.check(err)
	trace, err = h.Admin.Trace(ctx, "a")
	h.check(err)
	e := trace.Events[b.Events[0].ID]
	if len(trace.Messages) != 2 || e == nil {
		h.t.Fatalf("after the removal of its messages there is %+v", trace)
	}
	if e.GUID != b.Events[0].GUID || e.Name != "debtor.created" || !e.AddedAt.Equal(noon) {
		h.t.Errorf("the event of a change without messages is %+v of %+v", e, trace)
	}
	trace, err = h.Admin.Trace(ctx, "none")
	h.check(err)
	if len(trace.Changes)+len(trace.Events)+len(trace.Messages) > 0 {
		h.t.Errorf("an unknown key has %+v", trace)
	}
	b = h.batch(l)
	for range 101 {
		h.publish(&b, noon, "{}", r.ID)[0].Event.Key = "many"
	}
	h.check(h.Engine.Write(ctx, b))
	trace, err = h.Admin.Trace(ctx, "many")
	h.check(err)
	h.expectIDs("the newest, and the open one before them", trace.Messages, b.Messages...)
	if !trace.More || !trace.Since.Equal(noon) {
		h.t.Errorf("there are more, until %v", trace.Since)
	}
	h.record(l, attempt(b.Messages[0], 200, webhook.Successful, time.Time{}))
	trace, err = h.Admin.Trace(ctx, "many")
	h.check(err)
	h.expectIDs("the newest", trace.Messages, b.Messages[1:]...)
}
