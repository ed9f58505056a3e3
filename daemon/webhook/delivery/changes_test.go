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
	x.wrap = func(kept delivery.Store) delivery.Store {
		counting = deliverytest.New(kept)
		return counting
	}
	x.start()
	to, ctx := newEndpoint(t, always(200)), context.Background()
	for n := range 25 {
		r := x.subscribe(to.URL, "debtor.created")
		expect := func(event string, want int) {
			t.Helper()
			if got := x.publish(event, "x"); got.Messages != want {
				t.Errorf("round %d: %s was sent to %d subscriptions, want %d", n, event, got.Messages, want)
			}
		}
		expect("debtor.created", 1)
		for _, pattern := range []string{"debtor.updated", "*"} {
			change := admin.SubscriptionChange{Pattern: &pattern}
			if _, err := x.service.ChangeSubscription(ctx, x.subscriber, r.GUID, change, admin.Caller{}); err != nil {
				t.Fatal(err)
			}
			expect("debtor.updated", 1)
		}
		if err := x.service.RemoveSubscription(ctx, x.subscriber, r.GUID); err != nil {
			t.Fatal(err)
		}
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
		r := x.subscribe("http://127.0.0.1/0", "*")
		kept, changes := x.store.Webhooks, 0
		x.faultyStore.SetRule(func(ctx context.Context, do func(context.Context) error) error {
			changes++
			if changes < 50 {
				headers := []webhook.Header{{Name: "X-Change", Value: strconv.Itoa(changes)}}
				change := admin.SubscriptionChange{Headers: &headers}
				if _, err := kept.Admin.ChangeSubscription(ctx, x.subscriber, r.GUID, change, time.Now()); err != nil {
					return err
				}
			}
			return do(ctx)
		}, deliverytest.Write)
		counted := make(chan struct{}) // the outcome of the attempt is written afterwards
		x.fakeSender.status = func(int, *webhook.Message) int {
			<-counted
			return 200
		}
		before := x.faultyStore.Calls(deliverytest.Write)
		got := x.publish("debtor.updated", "x")
		if n := x.faultyStore.Calls(deliverytest.Write) - before; n != 2 || got.Messages != 1 {
			t.Errorf("%d writes, %d messages, want 2 and 1", n, got.Messages)
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
	schedule, headers := []time.Duration{time.Second}, []webhook.Header{{Name: "X-A", Value: "1"}}
	r := x.subscribe("http://127.0.0.1/0", "*", func(r *webhook.Subscription) {
		r.Schedule = schedule
		r.Headers = headers
	})
	version := func() int64 {
		v, err := x.store.Webhooks.Engine.Version(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	change := func(c admin.SubscriptionChange) webhook.Subscription {
		t.Helper()
		sub, err := x.service.ChangeSubscription(ctx, x.subscriber, r.GUID, c, admin.Caller{Admin: true})
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	before := version()
	for _, c := range []admin.SubscriptionChange{
		{},
		{URL: &r.URL},
		{Pattern: &r.Pattern, Enabled: &on, Ordered: &off},
		{Schedule: &schedule, Headers: &headers, RowHash: r.RowHash},
	} {
		if sub := change(c); !slices.Equal(sub.RowHash, r.RowHash) || version() != before {
			t.Errorf("%+v changed the subscription", c)
		}
	}
	none := []time.Duration(nil)
	for _, c := range []admin.SubscriptionChange{{Schedule: &none}, {Enabled: &off}, {Headers: &[]webhook.Header{}}} {
		if sub := change(c); slices.Equal(sub.RowHash, r.RowHash) || version() == before {
			t.Errorf("%+v changed nothing", c)
		}
		before = version()
	}
	outdated := admin.SubscriptionChange{Enabled: &off, RowHash: r.RowHash}
	_, err := x.service.ChangeSubscription(ctx, x.subscriber, r.GUID, outdated, admin.Caller{})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("with an old row hash: %v", err)
	}
}

// conflictingStore is a store in which another change precedes a change.
type conflictingStore struct {
	admin.Store
	first func()
}

func (r *conflictingStore) ChangeSubscription(ctx context.Context, subscriber, guid string, c admin.SubscriptionChange, at time.Time) (webhook.Subscription, error) {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	return r.Store.ChangeSubscription(ctx, subscriber, guid, c, at)
}

// TestChangeOfOriginRequiresHeaders changes URLs with only a SubscriberID.
func TestChangeOfOriginRequiresHeaders(t *testing.T) {
	x := newTestEnv(t)
	x.start()
	ctx, store := context.Background(), &conflictingStore{Store: x.store.Webhooks.Admin}
	service := admin.New(store, x.engine, inHouse, slog.New(slog.DiscardHandler))
	const (
		here = "http://127.0.0.1:1/in"
		path = "http://127.0.0.1:1/other"
		evil = "http://127.0.0.1:2/in"
	)
	secret, mine := []webhook.Header{{Name: "Authorization", Value: "s"}}, []webhook.Header{{Name: "Authorization", Value: "m"}}
	link := func(url string) *string { return &url }
	for _, tt := range []struct {
		name    string
		stored  []webhook.Header
		change  admin.SubscriptionChange
		admin   bool
		refused bool
		first   *admin.SubscriptionChange // an administrator's concurrent change
	}{
		{name: "another origin", stored: secret, change: admin.SubscriptionChange{URL: link(evil)}, refused: true},
		{name: "another path", stored: secret, change: admin.SubscriptionChange{URL: link(path)}},
		{name: "with headers", stored: secret, change: admin.SubscriptionChange{URL: link(evil), Headers: &mine}},
		{name: "with empty headers", stored: secret, change: admin.SubscriptionChange{URL: link(evil), Headers: &[]webhook.Header{}}},
		{name: "none stored", change: admin.SubscriptionChange{URL: link(evil)}},
		{name: "an administrator", stored: secret, change: admin.SubscriptionChange{URL: link(evil)}, admin: true},
		{
			name:    "stored concurrently",
			change:  admin.SubscriptionChange{URL: link(evil)},
			refused: true,
			first:   &admin.SubscriptionChange{Headers: &secret},
		},
		{
			name:    "moved concurrently",
			stored:  mine,
			change:  admin.SubscriptionChange{URL: link(path)},
			refused: true,
			first:   &admin.SubscriptionChange{URL: link(evil), Headers: &secret},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := x.subscribe(here, "*", func(r *webhook.Subscription) { r.Headers = tt.stored })
			if tt.first != nil {
				store.first = func() {
					if _, err := x.service.ChangeSubscription(ctx, x.subscriber, r.GUID, *tt.first, admin.Caller{Admin: true}); err != nil {
						t.Error(err)
					}
				}
			}
			_, err := service.ChangeSubscription(ctx, x.subscriber, r.GUID, tt.change, admin.Caller{Admin: tt.admin})
			refused := fault.Is(err, fault.Invalid) && fault.From(err).Fields[0].Name == webhook.MemberHeaders
			if refused != tt.refused || err != nil && !refused {
				t.Fatalf("returned %v", err)
			}
			sub, err := x.service.Subscription(ctx, x.subscriber, r.GUID)
			if err != nil {
				t.Fatal(err)
			}
			if sub.URL == *tt.change.URL == tt.refused {
				t.Errorf("now %s with %v", sub.URL, sub.Headers)
			}
		})
	}
}

// TestSubscriptionChangesAtAnotherDaemon: changes are in effect at all daemons once
// they are acknowledged, and are read incrementally there, too.
func TestSubscriptionChangesAtAnotherDaemon(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term = time.Minute
		x.startEngine()
		first, second := x, x.startPeer()
		defer second.stop(testTimeout)
		r := first.subscribe("http://127.0.0.1/0", "debtor.updated")
		second.subscriber = first.subscriber
		for n, pattern := range []string{"debtor.deleted", "debtor.updated", "*", "debtor.deleted", "debtor.updated"} {
			change := admin.SubscriptionChange{Pattern: &pattern}
			if _, err := second.service.ChangeSubscription(context.Background(), x.subscriber, r.GUID, change, admin.Caller{Admin: true}); err != nil {
				t.Fatal(err)
			}
			want := 1
			if pattern == "debtor.deleted" {
				want = 0
			}
			if got := first.publish("debtor.updated", "x"); got.Messages != want {
				t.Errorf("%d, %s: the event was sent to %d subscriptions, want %d", n, pattern, got.Messages, want)
			}
			x.advance(3 * peerInterval)
		}
		if n, m := first.faultyStore.FullReads(), second.faultyStore.FullReads(); n != 1 || m != 1 {
			t.Errorf("all subscriptions were read %d and %d times, want once at each daemon", n, m)
		}
		x.advance(time.Minute)
	})
}
