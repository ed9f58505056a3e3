package admin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// Selection selects the messages of a bulk operation.
type Selection struct {
	Select Selector
	Filter audit.Detail // as shown in the audit trail
	Max    int64        // maximum number of messages, the oldest first; Unlimited for all
	DryRun bool         // only count, change nothing
	Replay bool         // retry also delivered messages
}

// Unlimited is the Max of a selection without a limit.
const Unlimited = -1

// Selector returns up to limit matching messages in the order of IDs, with IDs greater
// than after and at most last. Fewer do not mean that there are no more: some may have
// changed while they were read.
type Selector func(ctx context.Context, after, last int64, limit int) ([]Candidate, error)

// Candidate is a matching message with the state it had when it was read.
type Candidate struct {
	ID      int64
	Status  webhook.Status
	Retries int
}

// Changed is a message that a bulk operation has changed.
type Changed struct {
	ID           int64
	Subscription int64
	Before       webhook.Status
	webhook.Change
}

// BulkResult is the result of a bulk operation.
type BulkResult struct {
	Matched  int64
	Done     int64 // removed or due now, or in a dry run would be
	Replayed int64 // how many of these had been delivered
	Ordered  int64 // how many of the replayed are sent before newer ones of their subscription
}

// Actions on many messages, for the audit trail.
const (
	retryMessages  audit.Action = "messages retry"
	removeMessages audit.Action = "messages delete"
)

// maxWaiting limits the messages without an attempt that a retry sends before others: queues
// remember no more.
const maxWaiting = 1000

// RetryMessages makes selected messages due now that have failed or await a retry. Those without an
// attempt are due already; they are sent now like the others if their endpoint is left alone. If
// requested, it also makes delivered ones due, for one more attempt.
func (svc *Service) RetryMessages(ctx context.Context, s Selection, by audit.Actor) (BulkResult, error) {
	b := &bulk{
		Service:        svc,
		Selection:      s,
		action:         retryMessages,
		apply:          svc.store.RetryMessages,
		pageSize:       bulkPageSize,
		notifyQueue:    svc.notifier.MarkDue,
		notifyInterval: time.Second,
		eligible:       func(status webhook.Status) bool { return status != webhook.Successful },
		stale:          func(Changed) bool { return true },
	}
	if !s.Replay {
		return b.run(ctx, by)
	}
	r := newReplay(b)
	defer r.release()
	return b.run(ctx, by)
}

// RemoveMessages removes selected messages in any state and cancels their pending
// attempts.
func (svc *Service) RemoveMessages(ctx context.Context, s Selection, by audit.Actor) (BulkResult, error) {
	b := &bulk{
		Service:     svc,
		Selection:   s,
		action:      removeMessages,
		apply:       svc.store.RemoveMessages,
		pageSize:    bulkPageSize,
		notifyQueue: func(subscription int64, _ []int64) { svc.notifier.Invalidate(subscription) },
		eligible:    func(webhook.Status) bool { return true },
		stale:       func(a Changed) bool { return a.Before.Open() }, // queues hold only open messages in memory
	}
	return b.run(ctx, by)
}

// Pacing of bulk operations, so that they do not slow down deliveries and publishers.
const (
	bulkPageSize  = 250
	replayPage    = 50                   // of a replay, which must not delay fresh messages
	bulkMinPause  = 2 * time.Millisecond // minimum; otherwise as long as the preceding work
	bulkPageTries = 4                    // for messages that change during the operation
)

// bulk is a running bulk operation. Pages that are done stay done if a later page
// fails.
type bulk struct {
	*Service
	Selection
	action         audit.Action
	apply          func(context.Context, []Candidate, time.Time) ([]Changed, error)
	eligible       func(webhook.Status) bool // reports whether the operation applies to a message with this status
	stale          func(Changed) bool        // reports whether the queue's memory may be outdated after the change
	notifyQueue    func(subscription int64, messages []int64)
	pageSize       int64
	notifyInterval time.Duration                            // between notifications, since each makes the queue drop its memory
	count          func(context.Context, []Candidate) error // counts messages in a dry run; nil for none

	result     BulkResult
	waiting    int               // messages without an attempt so far
	pending    map[int64][]int64 // messages to notify queues of, by subscription
	retried    map[int64]bool    // subscriptions with messages that were made due
	notifiedAt time.Time
}

// run runs the operation, and records it in the audit trail unless it is a dry run.
func (b *bulk) run(ctx context.Context, by audit.Actor) (BulkResult, error) {
	if b.DryRun {
		return b.result, b.runPages(ctx)
	}
	if err := b.store.AddAuditEntry(ctx, b.entry(by, b.action, "messages", b.Filter)); err != nil {
		return b.result, err
	}
	b.pending = make(map[int64][]int64)
	b.retried = make(map[int64]bool)
	err := b.runPages(ctx)
	b.notifyQueues()
	for subscription := range b.retried {
		if err == nil {
			err = b.endRequestedWait(ctx, subscription)
		}
	}
	b.log.Info(string(b.action), "by", by.Name, "matched", b.result.Matched, "done", b.result.Done, "whole", err == nil)
	return b.result, b.partialError(err)
}

// partialError adds the progress of a failed operation to its error.
func (b *bulk) partialError(err error) error {
	if err == nil || b.result.Done == 0 || fault.Is(err, fault.Internal) {
		return err
	}
	f := *fault.From(err)
	f.Message += fmt.Sprintf("; %d messages were already changed and stay changed", b.result.Done)
	f.Err = err
	return &f
}

// runPages goes once through the messages that exist at the start.
func (b *bulk) runPages(ctx context.Context) error {
	last, err := b.store.LastMessage(ctx)
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		limit := b.limit()
		if limit == 0 {
			return nil
		}
		page, err := b.Select(ctx, after, last, limit)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		b.result.Matched += int64(len(page))
		start := time.Now()
		err = b.runPage(ctx, page, after)
		if err != nil {
			return err
		}
		after = page[len(page)-1].ID
		if b.DryRun {
			continue
		}
		err = backoff.Sleep(ctx, max(bulkMinPause, time.Since(start)))
		if err != nil {
			return err
		}
	}
}

// limit returns the size of the next page.
func (b *bulk) limit() int {
	if b.Max == Unlimited {
		return int(b.pageSize)
	}
	return int(min(b.pageSize, b.Max-b.result.Matched))
}

// runPage applies the operation to a page. Messages that have changed since they were
// read, for example by an attempt, are read again: they may no longer match.
func (b *bulk) runPage(ctx context.Context, page []Candidate, after int64) error {
	todo := slices.DeleteFunc(slices.Clone(page), b.ineligible)
	if b.DryRun {
		b.result.Done += int64(len(todo))
		if b.count != nil {
			return b.count(ctx, todo)
		}
		return nil
	}
	todo = slices.DeleteFunc(todo, b.isAmongMany)
	for try := 1; len(todo) > 0; try++ {
		done, err := b.apply(context.WithoutCancel(ctx), todo, b.notifier.Now())
		b.recordChanges(done)
		if err != nil {
			return err
		}
		if len(done) == len(todo) || try == bulkPageTries {
			return nil
		}
		// The others have changed since they were read, and may still match.
		reread, err := b.Select(ctx, after, page[len(page)-1].ID, bulkPageSize)
		if err != nil {
			return err
		}
		todo = slices.DeleteFunc(reread, func(c Candidate) bool {
			isTodo := slices.ContainsFunc(todo, func(t Candidate) bool { return t.ID == c.ID })
			isDone := slices.ContainsFunc(done, func(d Changed) bool { return d.ID == c.ID })
			return b.ineligible(c) || !isTodo || isDone
		})
	}
	return nil
}

// ineligible reports whether the operation does not apply to a message.
func (b *bulk) ineligible(p Candidate) bool { return !b.eligible(p.Status) }

// isAmongMany reports whether a message to retry is due already and is sent in its turn, since many
// others are to be sent first. It counts it as done.
func (b *bulk) isAmongMany(c Candidate) bool {
	if b.action != retryMessages || c.Status != webhook.NotSent {
		return false
	}
	b.waiting++
	if b.waiting <= maxWaiting {
		return false
	}
	b.result.Done++
	return true
}

// recordChanges counts the changes and notifies the engine and the streams.
func (b *bulk) recordChanges(done []Changed) {
	var changes []webhook.Change
	for _, a := range done {
		if b.action == retryMessages {
			b.retried[a.Subscription] = true
		}
		if b.stale(a) {
			b.pending[a.Subscription] = append(b.pending[a.Subscription], a.ID)
		}
		isWaiting := b.action == retryMessages && a.Before == webhook.NotSent
		if !isWaiting {
			changes = append(changes, a.Change)
		}
	}
	b.result.Done += int64(len(done))
	b.notifier.Announce(changes)
	if time.Since(b.notifiedAt) >= b.notifyInterval {
		b.notifyQueues()
	}
}

// notifyQueues notifies queues of the messages that were changed since the last time.
func (b *bulk) notifyQueues() {
	for subscription, messages := range b.pending {
		b.notifyQueue(subscription, messages)
	}
	clear(b.pending)
	b.notifiedAt = time.Now()
}

// TestMessage is the content of a test delivery. Its zero value is a plain test
// message.
type TestMessage struct {
	Event string // event to imitate, one that matches the subscription; empty for none
	Body  []byte // nil for a sample
}

// SendTest sends a test message, marked by its headers, to a subscription.
func (svc *Service) SendTest(ctx context.Context, subscriber, id string, t TestMessage) (*webhook.Message, error) {
	s, err := svc.Subscription(ctx, subscriber, id)
	if err != nil {
		return nil, err
	}
	name, body := record.TestEvent, t.Body
	if t.Event != "" {
		event, err := svc.Rules().TestableEvent(t.Event)
		if err != nil {
			return nil, err
		}
		if !record.MatchesEvent(s.Pattern, event) {
			return nil, webhook.Invalid(webhook.MemberEvent, "must match the subscription's events, which are %s", s.Pattern)
		}
		name = record.TestEventFor(event)
		if body == nil {
			body = []byte(record.SampleBody(event))
		}
	}
	if body == nil {
		body = []byte(`{"Test":true,"SubscriptionID":"` + s.GUID + `"}`)
	}
	if err := svc.endRequestedWait(ctx, s.ID); err != nil {
		return nil, err
	}
	return svc.notifier.SendTest(ctx, s.ID, name, body)
}

// address converts the IDs of a path to stored form.
func address(a Address) (Address, error) {
	subscriber, subscription, err := guids(a.Subscriber, a.Subscription)
	if err != nil {
		return a, err
	}
	message, err := guid(a.Message, "message")
	return Address{subscriber, subscription, message}, err
}

// RemoveMessage removes a message in any state and cancels its pending attempt. It
// returns no error if the message does not exist but its subscription does.
func (svc *Service) RemoveMessage(ctx context.Context, a Address) error {
	a, err := address(a)
	if err != nil {
		return err
	}
	if _, err := svc.store.Subscription(ctx, a.Subscriber, a.Subscription); err != nil {
		return err
	}
	m, err := svc.store.RemoveMessage(ctx, a)
	if err == nil && m != nil {
		svc.notifier.Invalidate(m.Subscription)
		change := svc.changeOf(a, m)
		change.Deleted = true
		change.Next = time.Time{}
		svc.notifier.Announce([]webhook.Change{change})
	}
	return err
}

// RetryMessage makes a failed message due now.
func (svc *Service) RetryMessage(ctx context.Context, a Address) (*webhook.Message, error) {
	a, err := address(a)
	if err != nil {
		return nil, err
	}
	m, err := svc.store.RetryMessage(ctx, a, svc.notifier.Now())
	if err != nil {
		return m, err
	}
	svc.notifier.MarkDue(m.Subscription, []int64{m.ID})
	svc.notifier.Announce([]webhook.Change{svc.changeOf(a, m)})
	return m, svc.endRequestedWait(ctx, m.Subscription)
}

// endRequestedWait makes the messages of a subscription due now that wait as Retry-After has
// requested: a test or a retry on request shows whether the endpoint accepts messages again, and in
// an order it would wait for them.
func (svc *Service) endRequestedWait(ctx context.Context, subscription int64) error {
	ctx = context.WithoutCancel(ctx)
	postponed, err := svc.notifier.PostponedRetries(ctx, subscription)
	if err != nil {
		return err
	}
	var waiting []Candidate
	for id, retries := range postponed {
		waiting = append(waiting, Candidate{ID: id, Status: webhook.RetryPending, Retries: retries})
	}
	changed, err := svc.store.RetryMessages(ctx, waiting, svc.notifier.Now())
	if err != nil || len(changed) == 0 {
		return err
	}
	var ids []int64
	var changes []webhook.Change
	for _, c := range changed {
		ids = append(ids, c.ID)
		changes = append(changes, c.Change)
	}
	svc.notifier.MarkDue(subscription, ids)
	svc.notifier.Announce(changes)
	return nil
}

// changeOf returns the change that a request made to the message at an address.
func (svc *Service) changeOf(a Address, m *webhook.Message) webhook.Change {
	c := webhook.NewChange(m, m.State, svc.notifier.Now())
	c.Subscriber = a.Subscriber
	c.Subscription = a.Subscription
	return c
}
