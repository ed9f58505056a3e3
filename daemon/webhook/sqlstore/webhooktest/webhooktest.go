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
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// suite contains the tests by name. Each gets an empty store.
var suite = map[string]func(hooks){
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
	"MovedURL":             movedURL,
	"AttemptedURL":         attemptedURL,
	"PagesOfKey":           pagesOfKey,
	"Traces":               traces,
	"TraceOfRemoved":       traceOfRemoved,
	"TraceOfMany":          traceOfMany,
	"TraceOfOldMessage":    traceOfOldMessage,
	"TraceOfManyChanges":   traceOfManyChanges,
	"FencedWrites":         fencedWrites,
	"Stale":                staleVersion,
	"ChangedSubscriptions": changedSubscriptions,
	"Bounds":               boundedHeaders,
	"BoundsOfNumber":       boundedSubscriptions,
	"ConcurrentBounds":     concurrentBounds,
	"Outcomes":             outcomesOnce,
	"Disabled":             disabledByEngine,
	"Keys":                 idempotencyKeys,
	"OutboxMarks":          outboxMarks,
	"RepeatedWrite":        repeatedWrite,
	"RemoveMessage":        removeMessage,
	"RetryMessage":         retryMessage,
	"RetryBulk":            retryBulk,
	"RetryOfReplay":        retryOfReplay,
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
	"CapturedRefused":      capturedRefused,
	"Backlog":              backlogs,
	"TenThousand":          tenThousand,
	"ConcurrentWriters":    concurrentWriters,
	"LongPeriods":          longPeriods,
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
	"Minutes":              minutes,
	"MinutesOfPeriods":     minutesOfPeriods,
	"MinutesOnce":          minutesOnce,
	"RemoveMinutes":        removeMinutes,
	"PortalSessions":       portalSessions,
}

// Run runs the suite. Each call of place returns a function that opens an empty
// store; further calls of that function open the same store for other daemons.
// Stores are closed when the test ends.
func Run(t *testing.T, place func(t *testing.T) (open func() *storage.Store)) {
	for name, test := range suite {
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

// check ends the test on an error.
func (h hooks) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// auditEntry returns the entry of a change of a subscriber.
func auditEntry() audit.Entry {
	return audit.Entry{
		Actor:   audit.Actor{Name: "ann", Via: "cookie"},
		At:      noon,
		Action:  "subscriber change",
		Subject: "Shop",
	}
}

// subscribe adds a subscriber with one subscription.
func (h hooks) subscribe() webhook.Subscription {
	h.t.Helper()
	s, err := h.Admin.AddSubscriber(h.t.Context(), admin.Subscriber{Name: "Shop", Enabled: true}, auditEntry())
	h.check(err)
	r, err := h.Admin.AddSubscription(h.t.Context(), webhook.Subscription{
		Subscriber: s.GUID,
		Pattern:    "debtor.*",
		URL:        "https://shop.example/in",
		Enabled:    true,
		Secret:     "whsec_x",
		SavedAt:    noon,
	}, nil)
	h.check(err)
	return r
}

// lease leases a partition.
func (h hooks) lease(term time.Duration) delivery.Lease {
	h.t.Helper()
	l, err := h.Engine.Lease(h.t.Context(), term)
	h.check(err)
	return l
}

// version returns the current version of the subscriptions.
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

// add adds an event with the ID first to a batch, with a message for each subscription. The
// messages get the IDs that follow.
func add(b *delivery.Batch, first int64, due time.Time, body string, subs ...int64) []*webhook.Message {
	e := &webhook.Event{
		ID:      first,
		GUID:    guid(first),
		Name:    "debtor.created",
		Body:    []byte(body),
		AddedAt: noon,
	}
	b.Events = append(b.Events, e)
	var messages []*webhook.Message
	for i, sub := range subs {
		id := first + 1 + int64(i)
		messages = append(messages, &webhook.Message{
			ID:           id,
			GUID:         guid(id),
			Event:        e,
			Partition:    b.Leases[0].Partition,
			Subscription: sub,
			URL:          "https://shop.example/in",
			State:        webhook.State{Next: due},
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
		Message: m,
		After:   webhook.State{Status: after, Attempts: m.Attempts + 1, Next: next},
		Outcome: webhook.Outcome{Code: code, Began: noon, Took: 20 * time.Millisecond},
	}
}

// record writes results of attempts.
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

// expectIDs compares lists of messages by their IDs.
func (h hooks) expectIDs(name string, got []*webhook.Message, want ...*webhook.Message) {
	h.t.Helper()
	gotIDs := idsOf(got)
	wantIDs := idsOf(want)
	if !slices.Equal(gotIDs, wantIDs) {
		h.t.Errorf("%s: messages %v, want %v", name, gotIDs, wantIDs)
	}
}

// expectState checks the status, attempts and due time of a stored message.
func (h hooks) expectState(address admin.Address, want webhook.State) {
	h.t.Helper()
	m, err := h.Admin.Message(h.t.Context(), address)
	h.check(err)
	if m.Status != want.Status || m.Attempts != want.Attempts || !m.Next.Equal(want.Next) {
		h.t.Errorf("message %d is %+v, want %+v", m.ID, m.State, want)
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
	message := admin.Address{Subscriber: guid(1), Subscription: guid(2), Message: guid(3)}
	candidates := []admin.Candidate{{ID: 1}}
	page := delivery.Page{Partition: 1, Subscription: 1, Limit: 1}
	for name, call := range map[string]func() error{
		"Lease":       func() error { return errorOf(h.Engine.Lease(ctx, time.Hour)) },
		"TakeOver":    func() error { return errorOf(h.Engine.TakeOver(ctx, time.Hour)) },
		"Renew":       func() error { return errorOf(h.Engine.Renew(ctx, b.Leases, time.Hour)) },
		"Release":     func() error { return h.Engine.Release(ctx, b.Leases) },
		"Now":         func() error { return errorOf(h.Engine.Now(ctx)) },
		"AllocateIDs": func() error { return errorOf(h.Engine.AllocateIDs(ctx, 1)) },
		"Snapshot":    func() error { return errorOf(h.Engine.Snapshot(ctx)) },
		"Version":     func() error { return errorOf(h.Engine.Version(ctx)) },
		"ChangedSubscriptions": func() error {
			_, _, err := h.Engine.ChangedSubscriptions(ctx, 1, 2)
			return err
		},
		"Write":             func() error { return h.Engine.Write(ctx, b) },
		"OpenMessages":      func() error { return errorOf(h.Engine.OpenMessages(ctx, page)) },
		"Bodies":            func() error { return errorOf(h.Engine.Bodies(ctx, []int64{1})) },
		"NextDue":           func() error { return errorOf(h.Engine.NextDue(ctx, page)) },
		"OpenSubscriptions": func() error { return errorOf(h.Engine.OpenSubscriptions(ctx, 1)) },
		"IdempotencyKey":    func() error { return errorOf(h.Engine.IdempotencyKey(ctx, [32]byte{})) },
		"CountSubscribers":  func() error { return errorOf(h.Admin.CountSubscribers(ctx)) },
		"AddSubscriber":     func() error { return errorOf(h.Admin.AddSubscriber(ctx, admin.Subscriber{}, auditEntry())) },
		"ChangeSubscriber": func() error {
			return errorOf(h.Admin.ChangeSubscriber(ctx, guid(1), admin.SubscriberChange{}, auditEntry()))
		},
		"RemoveSubscriber": func() error { return errorOf(h.Admin.RemoveSubscriber(ctx, guid(1), auditEntry())) },
		"Subscriber":       func() error { return errorOf(h.Admin.Subscriber(ctx, guid(1))) },
		"Subscriptions": func() error {
			_, _, err := h.Admin.Subscriptions(ctx, guid(1), 1, 1)
			return err
		},
		"AddSubscription": func() error {
			return errorOf(h.Admin.AddSubscription(ctx, webhook.Subscription{SavedAt: noon}, nil))
		},
		"RemoveSubscription": func() error { return errorOf(h.Admin.RemoveSubscription(ctx, guid(1), guid(2), noon)) },
		"Message":            func() error { return errorOf(h.Admin.Message(ctx, message)) },
		"RemoveMessage":      func() error { return errorOf(h.Admin.RemoveMessage(ctx, message)) },
		"RetryMessage":       func() error { return errorOf(h.Admin.RetryMessage(ctx, message, noon)) },
		"RetryMessages":      func() error { return errorOf(h.Admin.RetryMessages(ctx, candidates, noon)) },
		"ReplayMessages":     func() error { return errorOf(h.Admin.ReplayMessages(ctx, candidates, noon)) },
		"CountOrdered":       func() error { return errorOf(h.Admin.CountOrdered(ctx, candidates)) },
		"RemoveMessages":     func() error { return errorOf(h.Admin.RemoveMessages(ctx, candidates, noon)) },
		"LastMessage":        func() error { return errorOf(h.Admin.LastMessage(ctx)) },
		"AddAuditEntry":      func() error { return h.Admin.AddAuditEntry(ctx, auditEntry()) },
		"Trace":              func() error { return errorOf(h.Admin.Trace(ctx, "a")) },
		"TraceMessage":       func() error { return errorOf(h.Admin.TraceMessage(ctx, guid(1))) },
		"Sweep":              func() error { return errorOf(h.Engine.Sweep(ctx, 1)) },
		"Prune":              func() error { return errorOf(h.Engine.Prune(ctx, delivery.Prune{Limit: 1})) },
		"Backlog":            func() error { return errorOf(h.Engine.Backlog(ctx)) },
		"Minutes":            func() error { return errorOf(h.Engine.Minutes(ctx, 1, 2)) },
		"Activity":           func() error { return errorOf(h.Engine.Activity(ctx, stats.Period{})) },
		"RemoveMinutes":      func() error { return errorOf(h.Engine.RemoveMinutes(ctx, 1, 1)) },
		"SetDefaultRetries":  func() error { return h.Engine.SetDefaultRetries(ctx, 7) },
		"EnabledSubscriber":  func() error { return errorOf(h.Portal.EnabledSubscriber(ctx, guid(1))) },
		"AddPortalSession": func() error {
			return h.Portal.AddPortalSession(ctx, portalSession("x", guid(1), noon), 1)
		},
		"Visitor":             func() error { return errorOf(h.Portal.Visitor(ctx, "x", noon)) },
		"RemovePortalSession": func() error { return h.Portal.RemovePortalSession(ctx, "x") },
		"KeepEventRoles":      func() error { return errorOf(h.Engine.KeepEventRoles(ctx, nil)) },
	} {
		expect(name, call())
	}
}

// errorOf returns the error of a call with another result.
func errorOf[T any](_ T, err error) error { return err }

// expectUnavailable checks that no method works on a closed store.
func (h hooks) expectUnavailable(ctx context.Context) {
	h.everyMethod(ctx, func(name string, err error) {
		if !fault.Is(err, fault.Unavailable) {
			h.t.Errorf("%s on a closed store: error %v, want Unavailable", name, err)
		}
	})
}

// cancelledCalls checks that calls with a cancelled context change nothing.
func cancelledCalls(h hooks) {
	ctx, cancel := context.WithCancel(h.t.Context())
	cancel()
	h.everyMethod(ctx, func(name string, err error) {
		if !errors.Is(err, context.Canceled) {
			h.t.Errorf("%s with a cancelled context: error %v, want %v", name, err, context.Canceled)
		}
	})
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 1)
	h.expectIDs("open messages after cancelled calls", h.open(lease.Partition, sub.ID), sent...)
}

// concurrently calls work n times concurrently.
func concurrently(n int, work func(int)) {
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { work(i) })
	}
	calls.Wait()
}

// noon is a time that every store stores exactly.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_000, time.UTC)
