package webhooktest

import (
	"reflect"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// candidates returns messages as a query returns them.
func (h hooks) candidates(r webhook.Subscription, messages ...*webhook.Message) []admin.Candidate {
	h.t.Helper()
	var selected []admin.Candidate
	for _, m := range messages {
		current, err := h.Admin.Message(h.t.Context(), addressOf(r, m))
		h.check(err)
		selected = append(selected, admin.Candidate{ID: current.ID, Status: current.Status, Retries: current.Retries()})
	}
	return selected
}

// oneOfEach sends one message for each status: not sent, delivered, retry pending,
// failed.
func (h hooks) oneOfEach(l delivery.Lease, r webhook.Subscription) []*webhook.Message {
	h.t.Helper()
	sent := h.send(l, r.ID, 4)
	h.record(l, attempt(sent[1], 200, webhook.Successful, time.Time{}),
		attempt(sent[2], 500, webhook.RetryPending, noon.Add(time.Hour)), attempt(sent[3], 410, webhook.Failed, time.Time{}))
	return sent
}

func (h hooks) expectChanged(name string, got []admin.Changed, err error, want ...admin.Changed) {
	h.t.Helper()
	if err != nil || len(got) != len(want) {
		h.t.Fatalf("%s: %+v (%v), want %d", name, got, err, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			h.t.Errorf("%s: change %d is\n%+v, want\n%+v", name, i, got[i], want[i])
		}
	}
}

// changedFrom returns the result of a bulk operation for a message.
func changedFrom(r webhook.Subscription, m *webhook.Message, before webhook.Status, c webhook.Change) admin.Changed {
	c.Message = m.GUID
	c.Subscriber = r.Subscriber
	c.Subscription = r.GUID
	c.Event = m.Event.Name
	return admin.Changed{ID: m.ID, Subscription: r.ID, Before: before, Change: c}
}

func retryBulk(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	later := noon.Add(time.Minute)
	sent, spared := h.oneOfEach(l, r), h.oneOfEach(l, other)
	selected := h.candidates(r, sent...)
	done, err := h.Admin.RetryMessages(ctx, selected, later)
	due := webhook.Change{Status: webhook.RetryPending, Next: later, At: later, Code: 500}
	gone := due
	gone.Code = 410
	waiting := changedFrom(r, sent[0], webhook.NotSent, webhook.Change{Next: noon})
	h.expectChanged("retried", done, err,
		waiting,
		changedFrom(r, sent[2], webhook.RetryPending, due),
		changedFrom(r, sent[3], webhook.Failed, gone))
	for i, want := range []webhook.State{
		{Next: noon}, {Status: webhook.Successful, Attempts: 1},
		{Status: webhook.RetryPending, Attempts: 1, Next: later}, {Status: webhook.RetryPending, Attempts: 1, Next: later},
	} {
		h.expectState(addressOf(r, sent[i]), want)
	}
	h.expectState(addressOf(other, spared[3]), webhook.State{Status: webhook.Failed, Attempts: 1})
	h.expectState(addressOf(other, spared[2]), webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: noon.Add(time.Hour)})
	h.expectIDs("open", h.open(l.Partition, r.ID), sent[0], sent[2], sent[3])

	secondTime := later.Add(time.Minute)
	repeated, err := h.Admin.RetryMessages(ctx, selected, secondTime)
	due.Next = secondTime
	due.At = secondTime
	h.expectChanged("as they were picked before", repeated, err, waiting, changedFrom(r, sent[2], webhook.RetryPending, due))
	none, err := h.Admin.RetryMessages(ctx, []admin.Candidate{{ID: 1 << 40, Status: webhook.Failed}}, later)
	h.expectChanged("of a message that is gone", none, err)
	none, err = h.Admin.RetryMessages(ctx, nil, later)
	h.expectChanged("of none", none, err)

	sent[3].Attempts = 1 // the attempts continue to count
	h.record(l, attempt(sent[3], 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(r, sent[3]), webhook.State{Status: webhook.Successful, Attempts: 2})
}

func removeBulk(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	at := noon.Add(time.Minute)
	b := h.batch(l)
	both := h.publish(&b, noon, "shared", r.ID, other.ID)
	h.check(h.Engine.Write(ctx, b))
	sent, spared := h.oneOfEach(l, r), h.oneOfEach(l, other)
	selected := h.candidates(r, append(sent, both[0])...)
	changed := h.send(l, r.ID, 1)[0]
	selected = append(selected, h.candidates(r, changed)...)
	h.record(l, attempt(changed, 500, webhook.RetryPending, noon)) // after the query
	done, err := h.Admin.RemoveMessages(ctx, selected, at)
	changedMessage := func(m *webhook.Message, before webhook.Status, code int) admin.Changed {
		return changedFrom(r, m, before, webhook.Change{Status: before, Code: code, At: at, Deleted: true})
	}
	h.expectChanged("removed", done, err,
		changedMessage(both[0], webhook.NotSent, 0),
		changedMessage(sent[0], webhook.NotSent, 0),
		changedMessage(sent[1], webhook.Successful, 200),
		changedMessage(sent[2], webhook.RetryPending, 500),
		changedMessage(sent[3], webhook.Failed, 410))
	for _, m := range append(sent, both[0]) {
		_, err := h.Admin.Message(ctx, addressOf(r, m))
		h.expectMissing(err)
	}
	h.expectIDs("of the one", h.open(l.Partition, r.ID), changed)
	left := h.open(l.Partition, other.ID)
	h.expectIDs("of the other", left, both[1], spared[0], spared[2])
	if len(left) > 0 && string(left[0].Event.Body) != "shared" {
		h.t.Errorf("body is %q", left[0].Event.Body)
	}
	repeated, err := h.Admin.RemoveMessages(ctx, selected, at)
	h.expectChanged("removed again", repeated, err)
	last, err := h.Admin.LastMessage(ctx)
	h.check(err)
	if last != changed.ID {
		h.t.Errorf("the last message is %d, want %d", last, changed.ID)
	}
}

// largeBulk runs a bulk operation of the largest size on messages of two
// subscriptions.
func largeBulk(h hooks) {
	ctx := h.t.Context()
	r := h.subscribe()
	other := h.subscribe()
	l := h.lease(time.Hour)
	const half = 250
	var selected []admin.Candidate
	for _, m := range append(h.send(l, r.ID, half), h.send(l, other.ID, half)...) {
		selected = append(selected, admin.Candidate{ID: m.ID})
	}
	kept := h.send(l, r.ID, 1)
	done, err := h.Admin.RetryMessages(ctx, selected, noon)
	if err != nil || len(done) != 2*half {
		h.t.Errorf("a retry of %d messages without an attempt returned %d (%v)", 2*half, len(done), err)
	}
	h.expectState(addressOf(r, kept[0]), webhook.State{Next: noon})
	done, err = h.Admin.RemoveMessages(ctx, selected, noon)
	if err != nil || len(done) != 2*half {
		h.t.Errorf("removed %d (%v)", len(done), err)
	}
	h.expectIDs("of the one", h.open(l.Partition, r.ID), kept...)
	h.expectIDs("of the other", h.open(l.Partition, other.ID))
}

// bulkAndOutcomes runs bulk operations while results of the same messages are
// written: each operation takes effect before or after a result, and only once.
func bulkAndOutcomes(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	for range 4 { // small batches, since a server takes long to start many connections
		h.bulkAndOutcomes(r, l, h.send(l, r.ID, 12))
	}
}

func (h hooks) bulkAndOutcomes(r webhook.Subscription, l delivery.Lease, sent []*webhook.Message) {
	outcomes, failed := h.batch(l), make([]admin.Candidate, len(sent))
	for i, m := range sent {
		outcomes.Outcomes = append(outcomes.Outcomes, attempt(m, 500, webhook.Failed, time.Time{}))
		failed[i] = admin.Candidate{ID: m.ID, Status: webhook.Failed}
	}
	var mu sync.Mutex
	removed := make(map[int64]int)
	concurrently(4, func(i int) {
		var done []admin.Changed
		var err error
		switch i {
		case 0:
			err = h.Engine.Write(h.t.Context(), outcomes)
		case 1:
			_, err = h.Admin.RetryMessages(h.t.Context(), failed, noon)
		default:
			done, err = h.Admin.RemoveMessages(h.t.Context(), failed, noon)
		}
		if err != nil {
			h.t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, a := range done {
			removed[a.ID]++
		}
	})
	for _, m := range sent {
		current, err := h.Admin.Message(h.t.Context(), addressOf(r, m))
		n := removed[m.ID]
		if n > 1 || n == 1 && err == nil || n == 0 && err != nil {
			h.t.Errorf("message %d was removed %d times (%v)", m.ID, n, err)
		} else if err == nil && current.Attempts != 1 {
			h.t.Errorf("the outcome of message %d was lost: %+v", m.ID, current.State)
		}
	}
}
