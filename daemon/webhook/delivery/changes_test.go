package delivery_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestSubscriptionChangesAreReadIncrementally creates, changes and removes
// subscriptions. Each change applies to all events published after it, and the
// subscriptions are not read again as a whole.
func TestSubscriptionChangesAreReadIncrementally(t *testing.T) {
	x := newTestEnv(t)
	var counting *deliverytest.Store
	x.wrap = func(store delivery.Store) delivery.Store {
		counting = deliverytest.New(store)
		return counting
	}
	x.start()
	to := newEndpoint(t, always(200))
	for n := range 25 {
		sub := x.subscribe(to.URL, "debtor.created")
		expect := func(event string, want int) {
			t.Helper()
			if got := x.publish(event, "x"); got.Messages != want {
				t.Errorf("round %d: %s was sent to %d subscriptions, want %d", n, event, got.Messages, want)
			}
		}
		expect("debtor.created", 1)
		for _, pattern := range []string{"debtor.updated", "*"} {
			x.changeSubscription(sub, admin.SubscriptionChange{Pattern: &pattern})
			expect("debtor.updated", 1)
		}
		x.removeSubscription(sub)
		expect("debtor.updated", 0)
	}
	if n := counting.FullReads(); n != 1 {
		t.Errorf("all subscriptions were read %d times, want once, at the start", n)
	}
}

// TestEventIsRematchedOnce changes a subscription before each write. An event is
// matched again once, with subscriptions that are newer than the event.
func TestEventIsRematchedOnce(t *testing.T) {
	simulate(t, func(x *simulation) {
		sub := x.subscribe("http://127.0.0.1/0", "*")
		store := x.store.Webhooks.Admin
		const maxChanges = 50
		changes := 0
		changeAndWrite := func(ctx context.Context, write func(context.Context) error) error {
			changes++
			if changes < maxChanges {
				headers := []webhook.Header{{Name: "X-Change", Value: strconv.Itoa(changes)}}
				change := admin.SubscriptionChange{Headers: &headers}
				_, err := store.ChangeSubscription(ctx, x.subscriber, sub.GUID, change, time.Now())
				if err != nil {
					return err
				}
			}
			return write(ctx)
		}
		x.faultyStore.SetRule(changeAndWrite, deliverytest.Write)
		counted := make(chan struct{}) // the outcome of the attempt is written afterwards
		x.fakeSender.setStatus(func(int, *webhook.Message) int {
			<-counted
			return 200
		})

		before := x.faultyStore.Calls(deliverytest.Write)
		got := x.publish("debtor.updated", "x")
		if n := x.faultyStore.Calls(deliverytest.Write) - before; n != 2 || got.Messages != 1 {
			t.Errorf("publishing took %d writes and made %d messages, want 2 and 1", n, got.Messages)
		}
		x.faultyStore.SetRule(nil, deliverytest.Write)
		close(counted)
		x.advance(time.Minute)
	})
}

// TestNoopChangesKeepVersion checks that changes without effect keep the version and
// the row hash.
func TestNoopChangesKeepVersion(t *testing.T) {
	x := newTestEnv(t)
	x.start()
	ctx := context.Background()
	on, off := true, false
	schedule := []time.Duration{time.Second}
	headers := []webhook.Header{{Name: "X-A", Value: "1"}}
	r := x.subscribe("http://127.0.0.1/0", "*", func(r *webhook.Subscription) {
		r.Schedule = schedule
		r.Headers = headers
	})
	version := func() int64 {
		t.Helper()
		v, err := x.store.Webhooks.Engine.Version(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := version()
	for _, c := range []admin.SubscriptionChange{
		{},
		{URL: &r.URL},
		{Pattern: &r.Pattern, Enabled: &on, Ordered: &off},
		{Schedule: &schedule, Headers: &headers, RowHash: r.RowHash},
	} {
		sub := x.changeSubscription(r, c)
		if !slices.Equal(sub.RowHash, r.RowHash) || version() != before {
			t.Errorf("%+v changed the subscription, want no change", c)
		}
	}
	for _, c := range []admin.SubscriptionChange{
		{Schedule: new([]time.Duration)},
		{Enabled: &off},
		{Headers: &[]webhook.Header{}},
	} {
		sub := x.changeSubscription(r, c)
		if slices.Equal(sub.RowHash, r.RowHash) || version() == before {
			t.Errorf("%+v changed nothing, want a new row hash and version", c)
		}
		before = version()
	}

	outdated := admin.SubscriptionChange{Enabled: &off, RowHash: r.RowHash}
	_, err := x.service.ChangeSubscription(ctx, x.subscriber, r.GUID, outdated, admin.Caller{})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a change with an old row hash: error %v, want Conflict", err)
	}
}

// conflictingStore is a store in which another change precedes a change.
type conflictingStore struct {
	admin.Store
	first func() // makes the other change, once; nil for none
}

// ChangeSubscription implements admin.Store.
func (r *conflictingStore) ChangeSubscription(
	ctx context.Context, subscriber, guid string, c admin.SubscriptionChange, at time.Time,
) (webhook.Subscription, error) {
	first := r.first
	if first != nil {
		r.first = nil
		first()
	}
	return r.Store.ChangeSubscription(ctx, subscriber, guid, c, at)
}

// TestChangeOfOriginRequiresHeaders changes URLs with only a SubscriberID. The headers of a
// subscription must not be sent to another origin, unless they are set with the URL.
func TestChangeOfOriginRequiresHeaders(t *testing.T) {
	x := newTestEnv(t)
	x.start()
	ctx := context.Background()
	store := &conflictingStore{Store: x.store.Webhooks.Admin}
	service := admin.New(store, x.engine, inHouse, slog.New(slog.DiscardHandler))
	const initial = "http://127.0.0.1:1/in"
	otherPath, otherOrigin := "http://127.0.0.1:1/other", "http://127.0.0.1:2/in"
	secret := []webhook.Header{{Name: "Authorization", Value: "secret"}}
	known := []webhook.Header{{Name: "Authorization", Value: "known"}}
	none := []webhook.Header{}
	for _, test := range []struct {
		name    string
		stored  []webhook.Header
		first   *admin.SubscriptionChange // an administrator's concurrent change
		change  admin.SubscriptionChange
		admin   bool
		refused bool
	}{
		{
			name:    "another origin",
			stored:  secret,
			change:  admin.SubscriptionChange{URL: &otherOrigin},
			refused: true,
		},
		{
			name:   "another path",
			stored: secret,
			change: admin.SubscriptionChange{URL: &otherPath},
		},
		{
			name:   "with headers",
			stored: secret,
			change: admin.SubscriptionChange{URL: &otherOrigin, Headers: &known},
		},
		{
			name:   "with empty headers",
			stored: secret,
			change: admin.SubscriptionChange{URL: &otherOrigin, Headers: &none},
		},
		{
			name:   "none stored",
			change: admin.SubscriptionChange{URL: &otherOrigin},
		},
		{
			name:   "an administrator",
			stored: secret,
			change: admin.SubscriptionChange{URL: &otherOrigin},
			admin:  true,
		},
		{
			name:    "stored concurrently",
			first:   &admin.SubscriptionChange{Headers: &secret},
			change:  admin.SubscriptionChange{URL: &otherOrigin},
			refused: true,
		},
		{
			name:    "moved concurrently",
			stored:  known,
			first:   &admin.SubscriptionChange{URL: &otherOrigin, Headers: &secret},
			change:  admin.SubscriptionChange{URL: &otherPath},
			refused: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			sub := x.subscribe(initial, "*", func(s *webhook.Subscription) { s.Headers = test.stored })
			if test.first != nil {
				store.first = func() { x.changeSubscription(sub, *test.first) }
			}
			caller := admin.Caller{Admin: test.admin}
			_, err := service.ChangeSubscription(ctx, x.subscriber, sub.GUID, test.change, caller)
			if !test.refused && err != nil {
				t.Fatalf("the change returned %v, want no error", err)
			}
			if test.refused {
				expectRefusedHeaders(t, err)
			}

			current, err := x.service.Subscription(ctx, x.subscriber, sub.GUID)
			if err != nil {
				t.Fatal(err)
			}
			if changed := current.URL == *test.change.URL; changed == test.refused {
				t.Errorf("the URL is %s with headers %v, want %s: %v",
					current.URL, current.Headers, *test.change.URL, !test.refused)
			}
		})
	}
}

// expectRefusedHeaders checks that a change is invalid because of its headers.
func expectRefusedHeaders(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("the change returned the error %v, want Invalid", err)
	}
	if field := fault.From(err).Fields[0].Name; field != webhook.MemberHeaders {
		t.Errorf("the change returned the error %v of %s, want %s", err, field, webhook.MemberHeaders)
	}
}

// TestSubscriptionChangesAtAnotherDaemon: changes are in effect at all daemons once
// they are acknowledged, and are read incrementally there, too.
func TestSubscriptionChangesAtAnotherDaemon(t *testing.T) {
	simulate(t, func(first *simulation) {
		second := first.startTwo()
		defer second.stop(testTimeout)
		sub := first.subscribe("http://127.0.0.1/0", "debtor.updated")
		for n, c := range []struct {
			pattern  string
			messages int // of debtor.updated
		}{
			{"debtor.deleted", 0},
			{"debtor.updated", 1},
			{"*", 1},
			{"debtor.deleted", 0},
			{"debtor.updated", 1},
		} {
			second.changeSubscription(sub, admin.SubscriptionChange{Pattern: &c.pattern})
			if got := first.publish("debtor.updated", "x"); got.Messages != c.messages {
				t.Errorf("change %d to %s: the event was sent to %d subscriptions, want %d",
					n, c.pattern, got.Messages, c.messages)
			}
			first.advance(3 * peerInterval)
		}
		for name, x := range map[string]*simulation{"first": first, "second": second} {
			if n := x.faultyStore.FullReads(); n != 1 {
				t.Errorf("the %s daemon read all subscriptions %d times, want once, at the start", name, n)
			}
		}
		first.advance(time.Minute)
	})
}
