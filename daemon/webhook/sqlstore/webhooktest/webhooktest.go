// Package webhooktest is the conformance test suite of the stored webhooks.
package webhooktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/sqlstore"
)

// Run runs the suite. Each call of place returns a function that opens an empty
// store; further calls of that function open the same store for other daemons.
// Stores are closed when the test ends.
func Run(t *testing.T, place func(t *testing.T) (open func() *storage.Store)) {
	for name, test := range map[string]func(hooks){
		"Leases":               leases,
		"ConcurrentLeases":     concurrentLeases,
		"Clock":                storeClock,
		"AllocateIDs":          concurrentIDs,
		"Subscribers":          subscriberRows,
		"Subscriptions":        subscriptionRows,
		"SubscriptionPages":    subscriptionPages,
		"Versions":             versionsIncremented,
		"Secrets":              oldSecrets,
		"Snapshot":             snapshotOfAll,
		"Messages":             messageRows,
		"SpecialTexts":         specialTexts,
		"Pages":                pagesInOrder,
		"MakeDue":              makeDue,
		"AttemptedURL":         attemptedURL,
		"PagesOfKey":           pagesOfKey,
		"Traces":               traces,
		"FencedWrites":         fencedWrites,
		"Stale":                staleVersion,
		"ChangedSubscriptions": changedSubscriptions,
		"Bounds":               boundedHeaders,
		"BoundsOfNumber":       boundedSubscriptions,
		"Outcomes":             outcomesOnce,
		"Disabled":             disabledByEngine,
		"Keys":                 idempotencyKeys,
		"OutboxMarks":          outboxMarks,
		"RepeatedWrite":        repeatedWrite,
		"RemoveMessage":        removeMessage,
		"RetryMessage":         retryMessage,
		"RetryBulk":            retryBulk,
		"RetryBulkTwice":       retryBulkTwice,
		"RetryBulkOfNone":      retryBulkOfNone,
		"RetryBulkAttempts":    retryBulkAttempts,
		"RemoveBulk":           removeBulk,
		"RemoveBulkShared":     removeBulkShared,
		"RemoveBulkChanged":    removeBulkChanged,
		"LargeBulk":            largeBulk,
		"BulkAndOutcomes":      bulkAndOutcomes,
		"Sweep":                sweepRemoved,
		"Prune":                pruneOld,
		"PruneWalk":            pruneWalk,
		"PruneAndRetry":        pruneAndRetry,
		"Captured":             capturedChanges,
		"Backlog":              backlogs,
		"TenThousand":          tenThousand,
		"ConcurrentWriters":    concurrentWriters,
		"DeleteAndOutcome":     deleteAndOutcome,
		"Cancelled":            cancelledCalls,
		"History":              history,
		"PeerEvents":           peerEvents,
		"AdminPeerEvents":      adminPeerEvents,
		"Daemons":              daemonsCounted,
		"Changes":              peerChanges,
		"Health":               storedHealth,
		"Succeeded":            successSince,
		"OtherPartition":       otherPartition,
		"MessageLists":         messageLists,
		"EventRoles":           eventRoles,
		"Replays":              replays,
		"OrderedReplays":       orderedReplays,
	} {
		t.Run(name, func(t *testing.T) {
			open := place(t)
			s := open()
			test(hooks{Store: s.Webhooks, t: t, changes: s.Changes, reopen: open})
		})
	}
	t.Run("Closed", func(t *testing.T) {
		s := place(t)()
		h := hooks{Store: s.Webhooks, t: t}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		h.expectUnavailable(t.Context())
	})
}

// hooks are the webhooks of a test.
type hooks struct {
	*sqlstore.Store
	t       *testing.T
	reopen  func() *storage.Store // opens the store for another daemon
	changes changes.Store
}

// Subscriptions returns the subscriptions of a subscriber.
func (h hooks) Subscriptions(ctx context.Context, subscriber string) ([]webhook.Subscription, error) {
	all, _, err := h.Store.Admin.Subscriptions(ctx, subscriber, 0, -1)
	return all, err
}

// check ends the test on an error.
func (h hooks) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// auditEntry returns the entry of a change of a subscriber.
func auditEntry() audit.Entry {
	return audit.Entry{Actor: audit.Actor{Name: "ann", Via: "cookie"}, At: noon, Action: "subscriber change", Subject: "Shop"}
}

// subscribe adds a subscriber with one subscription.
func (h hooks) subscribe() webhook.Subscription {
	h.t.Helper()
	s, err := h.Admin.AddSubscriber(h.t.Context(), admin.Subscriber{Name: "Shop", Enabled: true}, auditEntry())
	h.check(err)
	r, err := h.Admin.AddSubscription(h.t.Context(), webhook.Subscription{
		Subscriber: s.GUID, Pattern: "debtor.*", URL: "https://shop.example/in", Enabled: true, Secret: "whsec_x", SavedAt: noon,
	}, nil)
	h.check(err)
	return r
}

func (h hooks) lease(term time.Duration) delivery.Lease {
	h.t.Helper()
	l, err := h.Engine.Lease(h.t.Context(), term)
	h.check(err)
	return l
}

func (h hooks) version() int64 {
	h.t.Helper()
	v, err := h.Engine.Version(h.t.Context())
	h.check(err)
	return v
}

// batch returns an empty batch with the current version.
func (h hooks) batch(leases ...delivery.Lease) delivery.Batch {
	h.t.Helper()
	return delivery.Batch{Version: h.version(), Leases: leases}
}

// publish adds an event to a batch, with a message for each subscription.
func (h hooks) publish(b *delivery.Batch, due time.Time, body string, subs ...int64) []*webhook.Message {
	h.t.Helper()
	first, err := h.Engine.AllocateIDs(h.t.Context(), 1+len(subs))
	h.check(err)
	return add(b, first, due, body, subs...)
}

func add(b *delivery.Batch, first int64, due time.Time, body string, subs ...int64) []*webhook.Message {
	e := &webhook.Event{ID: first, GUID: guid(first), Name: "debtor.created", Body: []byte(body), AddedAt: noon}
	b.Events = append(b.Events, e)
	var messages []*webhook.Message
	for i, sub := range subs {
		id := first + 1 + int64(i)
		messages = append(messages, &webhook.Message{
			ID: id, GUID: guid(id), Event: e, Partition: b.Leases[0].Partition, Subscription: sub, URL: "https://shop.example/in",
			State: webhook.State{Next: due},
		})
	}
	b.Messages = append(b.Messages, messages...)
	return messages
}

// guid returns the GUID for a number.
func guid(n int64) string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", n) }

// send writes n messages to a subscription, each of a new event.
func (h hooks) send(l delivery.Lease, sub int64, n int) []*webhook.Message {
	h.t.Helper()
	b := h.batch(l)
	first, err := h.Engine.AllocateIDs(h.t.Context(), 2*n)
	h.check(err)
	for i := range n {
		add(&b, first+2*int64(i), noon, "{}", sub)
	}
	h.check(h.Engine.Write(h.t.Context(), b))
	return b.Messages
}

// attempt returns the result of a message's next attempt.
func attempt(m *webhook.Message, code int, after webhook.Status, next time.Time) webhook.AttemptResult {
	return webhook.AttemptResult{
		Message: m, After: webhook.State{Status: after, Attempts: m.Attempts + 1, Next: next},
		Outcome: webhook.Outcome{Code: code, Began: noon, Took: 20 * time.Millisecond},
	}
}

func (h hooks) record(l delivery.Lease, outcomes ...webhook.AttemptResult) {
	h.t.Helper()
	b := h.batch(l)
	b.Outcomes = outcomes
	h.check(h.Engine.Write(h.t.Context(), b))
}

// open returns all open messages of a subscription, ordered by ID.
func (h hooks) open(partition, sub int64) []*webhook.Message {
	h.t.Helper()
	return h.page(delivery.Page{Partition: partition, Subscription: sub, InOrder: true, Limit: 100_000})
}

// page returns a page, with the bodies.
func (h hooks) page(p delivery.Page) []*webhook.Message {
	h.t.Helper()
	messages, err := h.Engine.OpenMessages(h.t.Context(), p)
	h.check(err)
	var events []int64
	for _, m := range messages {
		events = append(events, m.Event.ID)
	}
	bodies, err := h.Engine.Bodies(h.t.Context(), events)
	h.check(err)
	for _, m := range messages {
		m.Event.Body = bodies[m.Event.ID]
		if m.Event.Size < len(m.Event.Body) {
			h.t.Errorf("a body of %d bytes is listed as %d bytes", len(m.Event.Body), m.Event.Size)
		}
	}
	return messages
}

func idsOf(messages []*webhook.Message) []int64 {
	var ids []int64
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

func (h hooks) expectIDs(name string, got []*webhook.Message, want ...*webhook.Message) {
	h.t.Helper()
	if a, b := idsOf(got), idsOf(want); !slices.Equal(a, b) {
		h.t.Errorf("%s: messages %v, want %v", name, a, b)
	}
}

func (h hooks) expectState(at admin.Address, want webhook.State) {
	h.t.Helper()
	m, err := h.Admin.Message(h.t.Context(), at)
	h.check(err)
	if m.Status != want.Status || m.Attempts != want.Attempts || !m.Next.Equal(want.Next) {
		h.t.Errorf("the message is %+v, want %+v", m.State, want)
	}
}

func addressOf(r webhook.Subscription, m *webhook.Message) admin.Address {
	return admin.Address{Subscriber: r.Subscriber, Subscription: r.GUID, Message: m.GUID}
}

// everyMethod calls every method of the store and passes its error to expect.
func (h hooks) everyMethod(ctx context.Context, expect func(name string, err error)) {
	l := delivery.Lease{Partition: 1, Fence: 1}
	b := delivery.Batch{Leases: []delivery.Lease{l}}
	add(&b, 1, noon, "{}", 3)
	at := admin.Address{Subscriber: guid(1), Subscription: guid(2), Message: guid(3)}
	page := delivery.Page{Partition: 1, Subscription: 1, Limit: 1}
	for name, call := range map[string]func() error{
		"Lease":                func() error { _, err := h.Engine.Lease(ctx, time.Hour); return err },
		"TakeOver":             func() error { _, err := h.Engine.TakeOver(ctx, time.Hour); return err },
		"Renew":                func() error { _, err := h.Engine.Renew(ctx, b.Leases, time.Hour); return err },
		"Release":              func() error { return h.Engine.Release(ctx, b.Leases) },
		"Now":                  func() error { _, err := h.Engine.Now(ctx); return err },
		"AllocateIDs":          func() error { _, err := h.Engine.AllocateIDs(ctx, 1); return err },
		"Snapshot":             func() error { _, err := h.Engine.Snapshot(ctx); return err },
		"Version":              func() error { _, err := h.Engine.Version(ctx); return err },
		"ChangedSubscriptions": func() error { _, _, err := h.Engine.ChangedSubscriptions(ctx, 1, 2); return err },
		"Write":                func() error { return h.Engine.Write(ctx, b) },
		"OpenMessages":         func() error { _, err := h.Engine.OpenMessages(ctx, page); return err },
		"Bodies":               func() error { _, err := h.Engine.Bodies(ctx, []int64{1}); return err },
		"NextDue":              func() error { _, err := h.Engine.NextDue(ctx, page); return err },
		"OpenSubscriptions":    func() error { _, err := h.Engine.OpenSubscriptions(ctx, 1); return err },
		"IdempotencyKey":       func() error { _, err := h.Engine.IdempotencyKey(ctx, [32]byte{}); return err },
		"CountSubscribers":     func() error { _, err := h.Admin.CountSubscribers(ctx); return err },
		"AddSubscriber":        func() error { _, err := h.Admin.AddSubscriber(ctx, admin.Subscriber{}, auditEntry()); return err },
		"ChangeSubscriber": func() error {
			_, err := h.Admin.ChangeSubscriber(ctx, guid(1), admin.SubscriberChange{}, auditEntry())
			return err
		},
		"RemoveSubscriber": func() error { _, err := h.Admin.RemoveSubscriber(ctx, guid(1), auditEntry()); return err },
		"Subscriber":       func() error { _, err := h.Admin.Subscriber(ctx, guid(1)); return err },
		"Subscriptions":    func() error { _, _, err := h.Store.Admin.Subscriptions(ctx, guid(1), 1, 1); return err },
		"AddSubscription": func() error {
			_, err := h.Admin.AddSubscription(ctx, webhook.Subscription{SavedAt: noon}, nil)
			return err
		},
		"RemoveSubscription": func() error { _, err := h.Admin.RemoveSubscription(ctx, guid(1), guid(2), noon); return err },
		"Message":            func() error { _, err := h.Admin.Message(ctx, at); return err },
		"RemoveMessage":      func() error { _, err := h.Admin.RemoveMessage(ctx, at); return err },
		"RetryMessage":       func() error { _, err := h.Admin.RetryMessage(ctx, at, noon); return err },
		"RetryMessages":      func() error { _, err := h.Admin.RetryMessages(ctx, []admin.Candidate{{ID: 1}}, noon); return err },
		"ReplayMessages":     func() error { _, err := h.Admin.ReplayMessages(ctx, []admin.Candidate{{ID: 1}}, noon); return err },
		"CountOrdered":       func() error { _, err := h.Admin.CountOrdered(ctx, []admin.Candidate{{ID: 1}}); return err },
		"RemoveMessages":     func() error { _, err := h.Admin.RemoveMessages(ctx, []admin.Candidate{{ID: 1}}, noon); return err },
		"LastMessage":        func() error { _, err := h.Admin.LastMessage(ctx); return err },
		"AddAuditEntry":      func() error { return h.Admin.AddAuditEntry(ctx, auditEntry()) },
		"Trace":              func() error { _, err := h.Admin.Trace(ctx, "a"); return err },
		"TraceMessage":       func() error { _, err := h.Admin.TraceMessage(ctx, guid(1)); return err },
		"Sweep":              func() error { _, err := h.Engine.Sweep(ctx, 1); return err },
		"Prune":              func() error { _, err := h.Engine.Prune(ctx, delivery.Prune{Limit: 1}); return err },
		"Backlog":            func() error { _, err := h.Engine.Backlog(ctx); return err },
		"SetDefaultRetries":  func() error { return h.Engine.SetDefaultRetries(ctx, 7) },
		"KeepEventRoles":     func() error { _, err := h.Engine.KeepEventRoles(ctx, nil); return err },
	} {
		expect(name, call())
	}
}

func (h hooks) expectUnavailable(ctx context.Context) {
	h.everyMethod(ctx, func(name string, err error) {
		if !fault.Is(err, fault.Unavailable) {
			h.t.Errorf("%s on a closed store: %v", name, err)
		}
	})
}

func cancelledCalls(h hooks) {
	ctx, cancel := context.WithCancel(h.t.Context())
	cancel()
	h.everyMethod(ctx, func(name string, err error) {
		if !errors.Is(err, context.Canceled) {
			h.t.Errorf("%s: %v", name, err)
		}
	})
	r, l := h.subscribe(), h.lease(time.Hour)
	h.expectIDs("after cancelled calls", h.open(l.Partition, r.ID), h.send(l, r.ID, 1)[:0]...)
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { work(i) })
	}
	all.Wait()
}

// noon is a time that every store stores exactly.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_000, time.UTC)
