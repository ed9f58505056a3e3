package webhooktest

import (
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// traced is two subscriptions with the messages of four events with the keys a, b, a and A, and
// three changes of records with the keys a, b and a. The first event is that of the first change.
type traced struct {
	h             hooks
	sub, otherSub webhook.Subscription
	events        []*webhook.Event
	toSub         []*webhook.Message // one of each event
	toOther       []*webhook.Message
}

// writeTraced writes the messages and changes of a trace.
func writeTraced(h hooks, lease delivery.Lease) traced {
	h.t.Helper()
	captures{h}.begin()
	tr := traced{h: h, sub: h.subscribe(), otherSub: h.subscribe()}
	b := h.batch(lease)
	for _, key := range []string{"a", "b", "a", "A"} {
		both := h.publish(&b, noon, "{}", tr.sub.ID, tr.otherSub.ID)
		both[0].Event.Key = key
		tr.toSub = append(tr.toSub, both[0])
		tr.toOther = append(tr.toOther, both[1])
	}
	for i, key := range []string{"a", "b", "a"} {
		capture(&b, "updated", key, "{}", int64(i+1))
	}
	b.Captured.Changes[0].EventID = b.Events[0].ID
	h.check(h.Engine.Write(h.t.Context(), b))
	tr.events = b.Events
	return tr
}

// trace returns the trace of a key.
func (h hooks) trace(key string) *admin.Trace {
	h.t.Helper()
	trace, err := h.Admin.Trace(h.t.Context(), key)
	h.check(err)
	return trace
}

// traces reads the changes, events, messages and attempts of a key, and of one message.
func traces(h hooks) {
	lease := h.lease(time.Hour)
	sent := writeTraced(h, lease)
	first := sent.toSub[0]
	h.record(lease, attempt(first, 500, webhook.RetryPending, noon.Add(time.Minute)))
	first.Attempts++
	h.record(lease, attempt(first, 200, webhook.Successful, time.Time{}))

	trace := h.trace("a")
	h.expectIDs("messages of the key", trace.Messages,
		first, sent.toOther[0], sent.toSub[2], sent.toOther[2])
	got := trace.Messages[0]
	if got.Status != webhook.Successful || got.Attempts != 2 || got.URL != first.URL {
		h.t.Errorf("the first message is %+v, want it delivered at the second attempt at %s", got, first.URL)
	}
	if got.Event.GUID != first.Event.GUID || got.Event.Name != "debtor.created" {
		h.t.Errorf("the first event is %+v, want %+v", got.Event, first.Event)
	}
	if len(trace.Events) != 2 || trace.More {
		h.t.Errorf("the events are %+v (more: %v), want 2 and no more", trace.Events, trace.More)
	}
	sent.expectAttempts(trace, first)
	sent.expectChanges(trace)

	trace, err := h.Admin.TraceMessage(h.t.Context(), sent.toSub[2].GUID)
	h.check(err)
	h.expectIDs("a message of the other subscription, and this one", trace.Messages, sent.toOther[0], sent.toSub[2])
	if trace.Only != trace.Messages[1] || len(trace.Events) != 1 || len(trace.Changes) != 0 {
		h.t.Errorf("the trace of a message is %+v, want only its event and no changes", trace)
	}

	trace = h.trace("none")
	if len(trace.Changes)+len(trace.Events)+len(trace.Messages) > 0 {
		h.t.Errorf("the trace of an unknown key is %+v, want nothing", trace)
	}
}

// expectAttempts checks the two attempts of the only message that has any.
func (tr traced) expectAttempts(trace *admin.Trace, m *webhook.Message) {
	tr.h.t.Helper()
	attempts := trace.Attempts[m.ID]
	if len(attempts) != 2 || len(trace.Attempts) != 1 {
		tr.h.t.Fatalf("the attempts are %+v, want 2 of message %d", trace.Attempts, m.ID)
	}
	first, second := attempts[0], attempts[1]
	if first.Number != 1 || first.Code != 500 {
		tr.h.t.Errorf("the first attempt is %+v, want number 1 with status 500", first)
	}
	if second.Code != 200 || second.Took != 20*time.Millisecond || second.At.IsZero() {
		tr.h.t.Errorf("the second attempt is %+v, want status 200 after 20 ms", second)
	}
}

// expectChanges checks the two changes with the key a. The first has the first event.
func (tr traced) expectChanges(trace *admin.Trace) {
	tr.h.t.Helper()
	if len(trace.Changes) != 2 {
		tr.h.t.Fatalf("the changes are %+v, want 2", trace.Changes)
	}
	event := tr.events[0]
	first, second := trace.Changes[0], trace.Changes[1]
	if first.Kind != capturedKind || first.Op != "updated" || first.ID != 1 || first.EventID != event.ID {
		tr.h.t.Errorf("the first change is %+v, want number 1 with event %d", first, event.ID)
	}
	if second.ID != 3 || second.EventID != 0 || !second.At.Equal(noon) {
		tr.h.t.Errorf("the second change is %+v, want number 3 without an event", second)
	}
}

// traceOfRemoved reads the trace of a key after the messages of an event were removed. The event
// is still traced with its change.
func traceOfRemoved(h hooks) {
	ctx := h.t.Context()
	sent := writeTraced(h, h.lease(time.Hour))
	_, err := h.Admin.RemoveMessage(ctx, addressOf(sent.sub, sent.toSub[0]))
	h.check(err)
	_, err = h.Admin.RemoveMessage(ctx, addressOf(sent.otherSub, sent.toOther[0]))
	h.check(err)

	trace := h.trace("a")
	h.expectIDs("messages of the key", trace.Messages, sent.toSub[2], sent.toOther[2])
	want := sent.events[0]
	got := trace.Events[want.ID]
	if got == nil {
		h.t.Fatalf("the event of a change without messages is missing in %+v", trace)
	}
	if got.GUID != want.GUID || got.Name != want.Name || !got.AddedAt.Equal(noon) {
		h.t.Errorf("the event of a change without messages is %+v, want %+v", got, want)
	}
}

// traceOfMany reads the trace of a key with more messages than it may have: the newest, and the
// open ones before them.
func traceOfMany(h hooks) {
	const maxMessages = 100
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	b := h.batch(lease)
	for range maxMessages + 1 {
		h.publish(&b, noon, "{}", sub.ID)[0].Event.Key = "many"
	}
	h.check(h.Engine.Write(h.t.Context(), b))

	trace := h.trace("many")
	h.expectIDs("the newest, and the open one before them", trace.Messages, b.Messages...)
	if !trace.More || !trace.Since.Equal(noon) {
		h.t.Errorf("the trace has more: %v, since %v, want true, since %v", trace.More, trace.Since, noon)
	}

	h.record(lease, attempt(b.Messages[0], 200, webhook.Successful, time.Time{}))
	h.expectIDs("the newest", h.trace("many").Messages, b.Messages[1:]...)
}

// traceOfOldMessage reads the trace of a message with a key that has changed more often since than a trace
// may show: the change of the message is there.
func traceOfOldMessage(h hooks) {
	const newerChanges = 101
	lease := h.lease(time.Hour)
	sent := writeTraced(h, lease)
	b := h.batch(lease)
	for i := range int64(newerChanges) {
		capture(&b, "updated", "a", "{}", 4+i)
	}
	h.check(h.Engine.Write(h.t.Context(), b))

	trace, err := h.Admin.TraceMessage(h.t.Context(), sent.toSub[0].GUID)
	h.check(err)
	if len(trace.Changes) != 1 || trace.Changes[0].ID != 1 || trace.More {
		h.t.Errorf("the changes are %+v (more: %v), want only number 1", trace.Changes, trace.More)
	}
}

// traceOfManyChanges reads the trace of a key that has more changes than a trace may show, but as
// many messages: no message was left out.
func traceOfManyChanges(h hooks) {
	const maxMessages = 100
	captures{h}.begin()
	sub := h.subscribe()
	b := h.batch(h.lease(time.Hour))
	for range maxMessages {
		h.publish(&b, noon, "{}", sub.ID)[0].Event.Key = "many"
	}
	for i := range int64(maxMessages + 1) {
		capture(&b, "updated", "many", "{}", i+1)
	}
	h.check(h.Engine.Write(h.t.Context(), b))

	trace := h.trace("many")
	h.expectIDs("all messages", trace.Messages, b.Messages...)
	if len(trace.Changes) != maxMessages || !trace.More || !trace.Since.IsZero() {
		h.t.Errorf("the trace has %d changes, more: %v, messages since %v, want 100, true, and all messages",
			len(trace.Changes), trace.More, trace.Since)
	}
}
