package webhooktest

import (
	"reflect"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// asPicked are messages as a query finds them.
func (h hooks) asPicked(r webhook.Subscription, all ...*webhook.Message) []admin.Candidate {
	h.t.Helper()
	var picked []admin.Candidate
	for _, m := range all {
		is, err := h.Message(h.t.Context(), addressOf(r, m))
		h.check(err)
		picked = append(picked, admin.Candidate{ID: is.ID, Status: is.Status, Retries: is.Retries()})
	}
	return picked
}

// oneOfEach sends messages and has them stand in each status: not sent,
// received, waiting, failed.
func (h hooks) oneOfEach(l delivery.Lease, r webhook.Subscription) []*webhook.Message {
	h.t.Helper()
	sent := h.send(l, r.ID, 4)
	h.record(l, attempt(sent[1], 200, webhook.Successful, time.Time{}),
		attempt(sent[2], 500, webhook.RetryPending, noon.Add(time.Hour)), attempt(sent[3], 410, webhook.Failed, time.Time{}))
	return sent
}

func (h hooks) expectAltered(what string, got []admin.Changed, err error, want ...admin.Changed) {
	h.t.Helper()
	if err != nil || len(got) != len(want) {
		h.t.Fatalf("%s: %+v (%v), want %d", what, got, err, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			h.t.Errorf("%s: altered %d is\n%+v, want\n%+v", what, i, got[i], want[i])
		}
	}
}

// alteredFrom is what is told of a message that an operation on many has
// changed.
func alteredFrom(r webhook.Subscription, m *webhook.Message, was webhook.Status, c webhook.Change) admin.Changed {
	c.Message, c.Subscriber, c.Subscription, c.Event = m.GUID, r.Subscriber, r.GUID, m.Event.Name
	return admin.Changed{ID: m.ID, Subscription: r.ID, Before: was, Change: c}
}

func retryMany(h hooks) {
	ctx, r, other, l, later := h.t.Context(), h.subscribe(), h.subscribe(), h.lease(time.Hour), noon.Add(time.Minute)
	sent, spared := h.oneOfEach(l, r), h.oneOfEach(l, other)
	picked := h.asPicked(r, sent...)
	done, err := h.RetryMessages(ctx, picked, later)
	due := webhook.Change{Status: webhook.RetryPending, Next: later, At: later, Code: 500}
	gone := due
	gone.Code = 410
	h.expectAltered("retried", done, err, alteredFrom(r, sent[2], webhook.RetryPending, due), alteredFrom(r, sent[3], webhook.Failed, gone))
	for i, want := range []webhook.State{
		{Next: noon}, {Status: webhook.Successful, Attempts: 1},
		{Status: webhook.RetryPending, Attempts: 1, Next: later}, {Status: webhook.RetryPending, Attempts: 1, Next: later},
	} {
		h.expectState(addressOf(r, sent[i]), want)
	}
	h.expectState(addressOf(other, spared[3]), webhook.State{Status: webhook.Failed, Attempts: 1})
	h.expectState(addressOf(other, spared[2]), webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: noon.Add(time.Hour)})
	h.expectNumbers("open", h.open(l.Partition, r.ID), sent[0], sent[2], sent[3])

	again, err := h.RetryMessages(ctx, picked, later.Add(time.Minute))
	h.expectAltered("as they were picked before", again, err, alteredFrom(r, sent[2], webhook.RetryPending,
		webhook.Change{Status: webhook.RetryPending, Next: later.Add(time.Minute), At: later.Add(time.Minute), Code: 500}))
	none, err := h.RetryMessages(ctx, []admin.Candidate{{ID: 1 << 40, Status: webhook.Failed}}, later)
	h.expectAltered("of a message that is gone", none, err)
	none, err = h.RetryMessages(ctx, nil, later)
	h.expectAltered("of none", none, err)

	sent[3].Attempts = 1 // the number of attempts goes on counting
	h.record(l, attempt(sent[3], 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(r, sent[3]), webhook.State{Status: webhook.Successful, Attempts: 2})
}

func removeMany(h hooks) {
	ctx, r, other, l, at := h.t.Context(), h.subscribe(), h.subscribe(), h.lease(time.Hour), noon.Add(time.Minute)
	b := h.batch(l)
	both := h.raise(&b, noon, "shared", r.ID, other.ID)
	h.check(h.Write(ctx, b))
	sent, spared := h.oneOfEach(l, r), h.oneOfEach(l, other)
	picked := h.asPicked(r, append(sent, both[0])...)
	changed := h.send(l, r.ID, 1)[0]
	picked = append(picked, h.asPicked(r, changed)...)
	h.record(l, attempt(changed, 500, webhook.RetryPending, noon)) // since it was picked
	done, err := h.RemoveMessages(ctx, picked, at)
	told := func(m *webhook.Message, was webhook.Status, code int) admin.Changed {
		return alteredFrom(r, m, was, webhook.Change{Status: was, Code: code, At: at, Deleted: true})
	}
	h.expectAltered("removed", done, err, told(both[0], webhook.NotSent, 0), told(sent[0], webhook.NotSent, 0), told(sent[1], webhook.Successful, 200),
		told(sent[2], webhook.RetryPending, 500), told(sent[3], webhook.Failed, 410))
	for _, m := range append(sent, both[0]) {
		_, err := h.Message(ctx, addressOf(r, m))
		h.expectMissing(err)
	}
	h.expectNumbers("of the one", h.open(l.Partition, r.ID), changed)
	left := h.open(l.Partition, other.ID)
	h.expectNumbers("of the other", left, both[1], spared[0], spared[2])
	if len(left) > 0 && string(left[0].Event.Body) != "shared" {
		h.t.Errorf("body is %q", left[0].Event.Body)
	}
	again, err := h.RemoveMessages(ctx, picked, at)
	h.expectAltered("removed again", again, err)
	last, err := h.LastMessage(ctx)
	if h.check(err); last != changed.ID {
		h.t.Errorf("the last message is %d, want %d", last, changed.ID)
	}
}

// A batch of the largest size, of messages of two subscriptions.
func manyAtOnce(h hooks) {
	ctx, r, other, l := h.t.Context(), h.subscribe(), h.subscribe(), h.lease(time.Hour)
	const half = 250
	var picked []admin.Candidate
	for _, m := range append(h.send(l, r.ID, half), h.send(l, other.ID, half)...) {
		picked = append(picked, admin.Candidate{ID: m.ID})
	}
	kept := h.send(l, r.ID, 1)
	done, err := h.RetryMessages(ctx, picked, noon)
	h.expectAltered("none of them was attempted", done, err)
	if done, err = h.RemoveMessages(ctx, picked, noon); err != nil || len(done) != 2*half {
		h.t.Errorf("removed %d (%v)", len(done), err)
	}
	h.expectNumbers("of the one", h.open(l.Partition, r.ID), kept...)
	h.expectNumbers("of the other", h.open(l.Partition, other.ID))
}

// Whoever removes or retries messages at once with their outcomes does so before
// or after them, never in between, and nobody twice.
func manyAndOutcomes(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	for range 4 { // few at once, again and again: a server takes its time to begin with each
		h.manyAndOutcomes(r, l, h.send(l, r.ID, 12))
	}
}

func (h hooks) manyAndOutcomes(r webhook.Subscription, l delivery.Lease, sent []*webhook.Message) {
	outcomes, failed := h.batch(l), make([]admin.Candidate, len(sent))
	for i, m := range sent {
		outcomes.Outcomes = append(outcomes.Outcomes, attempt(m, 500, webhook.Failed, time.Time{}))
		failed[i] = admin.Candidate{ID: m.ID, Status: webhook.Failed}
	}
	var mu sync.Mutex
	removed := make(map[int64]int)
	atOnce(4, func(i int) {
		var done []admin.Changed
		var err error
		switch i {
		case 0:
			err = h.Write(h.t.Context(), outcomes)
		case 1:
			_, err = h.RetryMessages(h.t.Context(), failed, noon)
		default:
			done, err = h.RemoveMessages(h.t.Context(), failed, noon)
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
		is, err := h.Message(h.t.Context(), addressOf(r, m))
		switch n := removed[m.ID]; {
		case n > 1 || n == 1 && err == nil || n == 0 && err != nil:
			h.t.Errorf("message %d was removed %d times (%v)", m.ID, n, err)
		case err == nil && is.Attempts != 1:
			h.t.Errorf("the outcome of message %d was lost: %+v", m.ID, is.State)
		}
	}
}
