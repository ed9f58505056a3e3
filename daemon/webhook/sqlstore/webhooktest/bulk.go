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
func (h hooks) candidates(sub webhook.Subscription, messages ...*webhook.Message) []admin.Candidate {
	h.t.Helper()
	var selected []admin.Candidate
	for _, m := range messages {
		current, err := h.Admin.Message(h.t.Context(), addressOf(sub, m))
		h.check(err)
		selected = append(selected, admin.Candidate{
			ID:      current.ID,
			Status:  current.Status,
			Retries: current.Retries(),
		})
	}
	return selected
}

// statuses are messages of a subscription, one of each status. All but the one that is not sent
// have one attempt.
type statuses struct {
	notSent   *webhook.Message // due at noon
	delivered *webhook.Message // with status 200
	pending   *webhook.Message // after status 500, due an hour after noon
	failed    *webhook.Message // with status 410
}

// all returns the messages, ordered by ID.
func (s statuses) all() []*webhook.Message {
	return []*webhook.Message{s.notSent, s.delivered, s.pending, s.failed}
}

// oneOfEach sends one message for each status.
func (h hooks) oneOfEach(lease delivery.Lease, sub webhook.Subscription) statuses {
	h.t.Helper()
	sent := h.send(lease, sub.ID, 4)
	s := statuses{
		notSent:   sent[0],
		delivered: sent[1],
		pending:   sent[2],
		failed:    sent[3],
	}
	h.record(lease,
		attempt(s.delivered, 200, webhook.Successful, time.Time{}),
		attempt(s.pending, 500, webhook.RetryPending, noon.Add(time.Hour)),
		attempt(s.failed, 410, webhook.Failed, time.Time{}))
	return s
}

// expectChanged checks the results of a bulk operation.
func (h hooks) expectChanged(operation string, got []admin.Changed, err error, want ...admin.Changed) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%s: %v", operation, err)
	}
	if len(got) != len(want) {
		h.t.Fatalf("%s: got %d changes, want %d: %+v", operation, len(got), len(want), got)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			h.t.Errorf("%s: change %d is\n%+v, want\n%+v", operation, i, got[i], want[i])
		}
	}
}

// changedFrom returns the result of a bulk operation for a message.
func changedFrom(
	sub webhook.Subscription, m *webhook.Message, before webhook.Status, change webhook.Change,
) admin.Changed {
	change.Message = m.GUID
	change.Subscriber = sub.Subscriber
	change.Subscription = sub.GUID
	change.Event = m.Event.Name
	return admin.Changed{ID: m.ID, Subscription: sub.ID, Before: before, Change: change}
}

// retried returns the result of the retry of a message with attempts, which is due at once.
func retried(
	sub webhook.Subscription, m *webhook.Message, before webhook.Status, code int, at time.Time,
) admin.Changed {
	return changedFrom(sub, m, before, webhook.Change{
		Status: webhook.RetryPending,
		Next:   at,
		At:     at,
		Code:   code,
	})
}

// stillWaiting returns the result of the retry of a message without an attempt.
func stillWaiting(sub webhook.Subscription, m *webhook.Message) admin.Changed {
	return changedFrom(sub, m, webhook.NotSent, webhook.Change{Next: noon})
}

// retryBulk retries messages of each status. Delivered ones, and those of other subscriptions,
// stay as they are.
func retryBulk(h hooks) {
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.oneOfEach(lease, sub)
	spared := h.oneOfEach(lease, otherSub)
	later := noon.Add(time.Minute)

	done, err := h.Admin.RetryMessages(h.t.Context(), h.candidates(sub, sent.all()...), later)
	h.expectChanged("retry of messages of each status", done, err,
		stillWaiting(sub, sent.notSent),
		retried(sub, sent.pending, webhook.RetryPending, 500, later),
		retried(sub, sent.failed, webhook.Failed, 410, later))

	due := webhook.State{Status: webhook.RetryPending, Attempts: 1, Next: later}
	h.expectState(addressOf(sub, sent.notSent), webhook.State{Next: noon})
	h.expectState(addressOf(sub, sent.delivered), webhook.State{Status: webhook.Successful, Attempts: 1})
	h.expectState(addressOf(sub, sent.pending), due)
	h.expectState(addressOf(sub, sent.failed), due)
	stillOpen := h.open(lease.Partition, sub.ID)
	h.expectIDs("open messages after the retry", stillOpen, sent.notSent, sent.pending, sent.failed)

	h.expectState(addressOf(otherSub, spared.failed), webhook.State{
		Status:   webhook.Failed,
		Attempts: 1,
	})
	h.expectState(addressOf(otherSub, spared.pending), webhook.State{
		Status:   webhook.RetryPending,
		Attempts: 1,
		Next:     noon.Add(time.Hour),
	})
}

// retryBulkTwice retries messages as a query returned them before their first retry: one that had
// failed then is left out, since its status has changed.
func retryBulkTwice(h hooks) {
	sub := h.subscribe()
	sent := h.oneOfEach(h.lease(time.Hour), sub)
	selected := h.candidates(sub, sent.all()...)
	_, err := h.Admin.RetryMessages(h.t.Context(), selected, noon.Add(time.Minute))
	h.check(err)

	secondTime := noon.Add(2 * time.Minute)
	done, err := h.Admin.RetryMessages(h.t.Context(), selected, secondTime)
	h.expectChanged("second retry of the same candidates", done, err,
		stillWaiting(sub, sent.notSent),
		retried(sub, sent.pending, webhook.RetryPending, 500, secondTime))
}

// retryBulkOfNone retries a message that does not exist, and no message.
func retryBulkOfNone(h hooks) {
	missing := []admin.Candidate{{ID: 1 << 40, Status: webhook.Failed}}
	done, err := h.Admin.RetryMessages(h.t.Context(), missing, noon)
	h.expectChanged("retry of a message that does not exist", done, err)
	done, err = h.Admin.RetryMessages(h.t.Context(), nil, noon)
	h.expectChanged("retry of an empty list", done, err)
}

// retryBulkAttempts delivers a message after its retry: its attempts continue to count.
func retryBulkAttempts(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	failed := h.oneOfEach(lease, sub).failed
	_, err := h.Admin.RetryMessages(h.t.Context(), h.candidates(sub, failed), noon)
	h.check(err)

	failed.Attempts = 1
	h.record(lease, attempt(failed, 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(sub, failed), webhook.State{Status: webhook.Successful, Attempts: 2})
}

// removed returns the result of the removal of a message at a time.
func removed(
	sub webhook.Subscription, m *webhook.Message, before webhook.Status, code int, at time.Time,
) admin.Changed {
	return changedFrom(sub, m, before, webhook.Change{Status: before, Code: code, At: at, Deleted: true})
}

// removeBulk removes messages of each status, twice. Those of other subscriptions stay as they are.
func removeBulk(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.oneOfEach(lease, sub)
	spared := h.oneOfEach(lease, otherSub)
	selected := h.candidates(sub, sent.all()...)

	done, err := h.Admin.RemoveMessages(ctx, selected, noon)
	h.expectChanged("removal of messages of each status", done, err,
		removed(sub, sent.notSent, webhook.NotSent, 0, noon),
		removed(sub, sent.delivered, webhook.Successful, 200, noon),
		removed(sub, sent.pending, webhook.RetryPending, 500, noon),
		removed(sub, sent.failed, webhook.Failed, 410, noon))
	for _, m := range sent.all() {
		_, err := h.Admin.Message(ctx, addressOf(sub, m))
		h.expectMissing(err)
	}
	h.expectIDs("open messages after the removal", h.open(lease.Partition, sub.ID))
	h.expectIDs("open messages of another subscription", h.open(lease.Partition, otherSub.ID),
		spared.notSent, spared.pending)

	done, err = h.Admin.RemoveMessages(ctx, selected, noon)
	h.expectChanged("second removal of the same candidates", done, err)
}

// removeBulkShared removes one of two messages of an event. The other one keeps its body.
func removeBulkShared(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	both := h.publishShared(lease, sub, otherSub)

	done, err := h.Admin.RemoveMessages(ctx, h.candidates(sub, both[0]), noon)
	h.expectChanged("removal of one of two messages", done, err,
		removed(sub, both[0], webhook.NotSent, 0, noon))
	h.expectShared(otherSub, both[1])
}

// removeBulkChanged removes a message that a query returned with another status: it is left out.
func removeBulkChanged(h hooks) {
	ctx := h.t.Context()
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 2)
	selected := h.candidates(sub, sent...)
	changed := sent[1]
	h.record(lease, attempt(changed, 500, webhook.RetryPending, noon))

	done, err := h.Admin.RemoveMessages(ctx, selected, noon)
	h.expectChanged("removal after an attempt", done, err, removed(sub, sent[0], webhook.NotSent, 0, noon))
	h.expectIDs("open messages after the removal", h.open(lease.Partition, sub.ID), changed)
	last, err := h.Admin.LastMessage(ctx)
	h.check(err)
	if last != changed.ID {
		h.t.Errorf("the last message is %d, want %d", last, changed.ID)
	}
}

// expectNumber checks the number of results of a bulk operation.
func (h hooks) expectNumber(operation string, got []admin.Changed, err error, want int) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("%s: %v", operation, err)
	}
	if len(got) != want {
		h.t.Errorf("%s: got %d changes, want %d", operation, len(got), want)
	}
}

// largeBulk runs a bulk operation of the largest size on messages of two
// subscriptions.
func largeBulk(h hooks) {
	const half = 250 // of the largest number of messages
	ctx := h.t.Context()
	sub := h.subscribe()
	otherSub := h.subscribe()
	lease := h.lease(time.Hour)
	var selected []admin.Candidate
	for _, m := range append(h.send(lease, sub.ID, half), h.send(lease, otherSub.ID, half)...) {
		selected = append(selected, admin.Candidate{ID: m.ID})
	}
	kept := h.send(lease, sub.ID, 1)

	done, err := h.Admin.RetryMessages(ctx, selected, noon)
	h.expectNumber("retry of messages without an attempt", done, err, 2*half)
	h.expectState(addressOf(sub, kept[0]), webhook.State{Next: noon})

	done, err = h.Admin.RemoveMessages(ctx, selected, noon)
	h.expectNumber("removal of messages without an attempt", done, err, 2*half)
	h.expectIDs("open messages after the removal", h.open(lease.Partition, sub.ID), kept...)
	h.expectIDs("open messages of another subscription", h.open(lease.Partition, otherSub.ID))
}

// bulkAndOutcomes runs bulk operations while results of the same messages are
// written: each operation takes effect before or after a result, and only once.
func bulkAndOutcomes(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	for range 4 { // small batches, since a server takes long to start many connections
		sent := h.send(lease, sub.ID, 12)
		removals := h.removeDuringOutcomes(lease, sent)
		for _, m := range sent {
			h.expectRemovedOrFailed(sub, m, removals[m.ID])
		}
	}
}

// removeDuringOutcomes writes that messages have failed while it retries them and removes them
// twice. It returns the number of removals by ID.
func (h hooks) removeDuringOutcomes(lease delivery.Lease, sent []*webhook.Message) map[int64]int {
	ctx := h.t.Context()
	outcomes := h.batch(lease)
	var failed []admin.Candidate
	for _, m := range sent {
		outcomes.Outcomes = append(outcomes.Outcomes, attempt(m, 500, webhook.Failed, time.Time{}))
		failed = append(failed, admin.Candidate{ID: m.ID, Status: webhook.Failed})
	}

	var mu sync.Mutex
	removals := make(map[int64]int)
	remove := func() error {
		done, err := h.Admin.RemoveMessages(ctx, failed, noon)
		mu.Lock()
		defer mu.Unlock()
		for _, change := range done {
			removals[change.ID]++
		}
		return err
	}
	retry := func() error {
		_, err := h.Admin.RetryMessages(ctx, failed, noon)
		return err
	}
	write := func() error { return h.Engine.Write(ctx, outcomes) }

	operations := []func() error{write, retry, remove, remove}
	concurrently(len(operations), func(i int) {
		if err := operations[i](); err != nil {
			h.t.Error(err)
		}
	})
	return removals
}

// expectRemovedOrFailed checks that a message was removed once, or exists with its attempt.
func (h hooks) expectRemovedOrFailed(sub webhook.Subscription, m *webhook.Message, removals int) {
	h.t.Helper()
	current, err := h.Admin.Message(h.t.Context(), addressOf(sub, m))
	switch removals {
	case 0:
		if err != nil {
			h.t.Errorf("message %d, which was not removed: %v", m.ID, err)
		} else if current.Attempts != 1 {
			h.t.Errorf("the outcome of message %d was lost: %+v", m.ID, current.State)
		}
	case 1:
		h.expectMissing(err)
	default:
		h.t.Errorf("message %d was removed %d times, want at most once", m.ID, removals)
	}
}
