package delivery_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// rightsEnv is a testEnv with the captured kind DB_Main, of the event debtor.updated. The
// user ann may read it, while allowed is set; others may not.
type rightsEnv struct {
	*testEnv
	allowed atomic.Bool
	changes int64 // published
}

func newRightsEnv(t *testing.T) *rightsEnv {
	t.Helper()
	x := &rightsEnv{testEnv: newTestEnv(t)}
	x.allowed.Store(true)
	kind := &record.Kind{Name: "DB_Main", Capture: record.CaptureOnDemand, Events: "debtor"}
	x.rules = func() webhook.Rules {
		rules := inHouse()
		rules.Captured = map[string]*record.Kind{"debtor.updated": kind}
		rules.MayRead = func(owner string, k *record.Kind) bool {
			return k == kind && owner == "user:ann" && x.allowed.Load()
		}
		return rules
	}
	x.start()
	_, err := x.store.AppDB.Exec(t.Context(), `INSERT INTO whd.WH_Capture
		(Kind, Fence, NextChangeID, FirstChangeID, Bytes, ShadowID, State) VALUES ('DB_Main', 1, 1, 1, 0, 1, '{}')`)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// publishChange publishes debtor.updated as a captured event.
func (x *rightsEnv) publishChange() {
	x.t.Helper()
	x.changes++
	change := delivery.CapturedChange{
		ID:    x.changes,
		Op:    "updated",
		Key:   "0001",
		Event: "debtor.updated",
		Body:  fmt.Appendf(nil, `{"ChangeID":%d}`, x.changes),
	}
	group := &delivery.Captured{Kind: "DB_Main", Fence: 1, Changes: []delivery.CapturedChange{change}}
	if err := x.engine.PublishCaptured(context.Background(), group); err != nil {
		x.t.Fatal(err)
	}
}

func ownedBy(owner string) func(*webhook.Subscription) {
	return func(s *webhook.Subscription) { s.Owner.Name = owner }
}

// unattempted returns the number of messages of a subscription that wait for their first
// attempt.
func (x *rightsEnv) unattempted(s webhook.Subscription) int64 {
	return x.count(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d AND Status = 0 AND Attempts = 0", s.ID))
}

// awaitHeld waits until the engine holds a subscription for a reason, or not.
func (x *rightsEnv) awaitHeld(s webhook.Subscription, reason string) {
	x.t.Helper()
	inactiveReason := func() string { return x.engine.Subscriptions().Subscription(s.ID).InactiveReason() }
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(testTimeout); inactiveReason() != reason; <-tick.C {
		if time.Now().After(end) {
			x.t.Fatalf("the subscription is inactive because %q, want %q", inactiveReason(), reason)
		}
	}
}

// TestCapturedEventsGoToOwners checks which subscriptions receive a captured event and a
// posted one.
func TestCapturedEventsGoToOwners(t *testing.T) {
	x := newRightsEnv(t)
	receivers := make(map[string]*endpoint)
	for _, row := range []struct {
		name, pattern, owner string
		captured             int // number of messages of one captured event
	}{
		{"exact", "debtor.updated", "user:ann", 1},
		{"family", "debtor.*", "user:ann", 1},
		{"all", "*", "user:ann", 1},
		{"family without the right", "debtor.*", "key:7", 0},
		{"all without the right", "*", "key:7", 0},
		{"family with a SubscriberID", "debtor.*", "", 0},
		{"all with a SubscriberID", "*", "", 0},
	} {
		receivers[row.name] = newEndpoint(t, always(200))
		sub := x.subscribe(receivers[row.name].URL, row.pattern, ownedBy(row.owner))
		x.publishChange()
		x.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", sub.ID), int64(row.captured))
	}
	if n := x.engine.Matching("debtor.updated"); n != 3 {
		t.Errorf("%d subscriptions match, want 3, those with the right", n)
	}
	if x.engine.Named("debtor.created") {
		t.Error("the capture of debtor.created is necessary, but no subscription names it")
	}
	if !x.engine.Named("debtor.updated") {
		t.Error("the capture of debtor.updated is not necessary, but a subscription names it")
	}
	if r := x.publish("debtor.created", "{}"); r.Messages != 6 {
		t.Errorf("a posted event has %d messages, want 6, one for each subscription that matches it", r.Messages)
	}
}

// TestSubscriptionsThatStartCapture checks which subscriptions make the capture of a kind
// necessary.
func TestSubscriptionsThatStartCapture(t *testing.T) {
	for _, row := range []struct {
		pattern, owner string
		want           bool
	}{
		{"debtor.updated", "user:ann", true},
		{"debtor.*", "user:ann", true},
		{"*", "user:ann", false},
		{"debtor.*", "key:7", false}, // without the right
		{"debtor.*", "", false},
		{"*", "", false},
	} {
		t.Run(row.pattern+" "+row.owner, func(t *testing.T) {
			x := newRightsEnv(t)
			x.subscribe("http://127.0.0.1:9/", row.pattern, ownedBy(row.owner))
			if got := x.engine.Named("debtor.updated"); got != row.want {
				t.Errorf("capture is necessary: got %t, want %t", got, row.want)
			}
		})
	}
}

// TestHeldSubscription takes the right of an owner and returns it: the messages that were
// made without it are kept without an attempt, and arrive in the end.
func TestHeldSubscription(t *testing.T) {
	x := newRightsEnv(t)
	e := newEndpoint(t, always(200))
	other := newEndpoint(t, always(200))
	exact := x.subscribe(e.URL, "debtor.updated", ownedBy("user:ann"))
	all := x.subscribe(other.URL, "*", ownedBy("user:ann"))
	x.publishChange()
	e.awaitDelivered(t, 1)
	other.awaitDelivered(t, 1)

	x.allowed.Store(false)
	x.awaitHeld(exact, "its owner may no longer read DB_Main")
	x.awaitHeld(all, "")
	for range 3 {
		x.publishChange()
	}
	if n := x.unattempted(exact); n != 3 {
		t.Errorf("%d messages wait without an attempt, want 3", n)
	}
	if n := x.engine.Matching("debtor.updated"); n != 1 {
		t.Errorf("%d subscriptions make the capture necessary, want 1, the held one", n)
	}
	x.publish("salesorder.created", "{}") // is not held up
	other.awaitDelivered(t, 2)
	x.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", all.ID), 2)
	x.restart()
	x.awaitHeld(exact, "its owner may no longer read DB_Main")
	if n := x.unattempted(exact); n != 3 {
		t.Errorf("after a restart, %d messages wait without an attempt, want 3", n)
	}

	x.allowed.Store(true)
	e.awaitDelivered(t, 4)
	e.checkDeliveredOnce(t, 4)
}

// restart stops the engine and starts another one.
func (x *rightsEnv) restart() {
	x.t.Helper()
	x.stop(testTimeout)
	x.start()
}

// TestChangesOfOwners checks which callers may change a subscription to a captured event,
// and its owner then.
func TestChangesOfOwners(t *testing.T) {
	x := newRightsEnv(t)
	e := newEndpoint(t, always(200))
	all := x.subscribe(e.URL, "*", ownedBy("user:ann"))
	posted := x.subscribe(e.URL, "debtor.created")
	toOther := admin.SubscriptionChange{URL: new(e.URL + "/other")}
	toCaptured := admin.SubscriptionChange{Pattern: new("debtor.updated")}
	const (
		login = "a subscription to debtor.updated requires a login"
		right = "a subscription to debtor.updated requires the right"
	)
	for _, row := range []struct {
		name   string
		sub    webhook.Subscription
		change admin.SubscriptionChange
		by     string
		want   string // the owner, or the start of an error
	}{
		{"nothing, by SubscriberID", all, admin.SubscriptionChange{Pattern: &all.Pattern}, "", "user:ann"},
		{"the URL, by SubscriberID", all, toOther, "", ""},
		{"nothing, by the owner again", all, admin.SubscriptionChange{Pattern: &all.Pattern}, "user:ann", "user:ann"},
		{"the URL, by a key without the right", all, admin.SubscriptionChange{URL: &e.URL}, "key:7", "key:7"},
		{"to a captured event, by SubscriberID", posted, toCaptured, "", login},
		{"to a captured event, by a key without the right", posted, toCaptured, "key:7", right},
		{"to a captured event", posted, toCaptured, "user:ann", "user:ann"},
		{"its URL, by SubscriberID", posted, toOther, "", login},
		{"its URL, by a key without the right", posted, toOther, "key:7", right},
		{"to a posted event, by SubscriberID", posted, admin.SubscriptionChange{Pattern: &posted.Pattern}, "", ""},
	} {
		caller := admin.Caller{Owner: row.by}
		got, err := x.service.ChangeSubscription(t.Context(), x.subscriber, row.sub.GUID, row.change, caller)
		result := got.Owner.Name
		if err != nil {
			result = err.Error()[:min(len(row.want), len(err.Error()))]
		}
		if result != row.want {
			t.Errorf("%s: %q (%v), want %q", row.name, result, err, row.want)
		}
	}
	_, err := x.service.RotateSecret(t.Context(), x.subscriber, all.GUID, admin.NewSecret{}, admin.Caller{Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.service.Subscription(t.Context(), x.subscriber, all.GUID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Owner.Name != "key:7" {
		t.Errorf("after the rotation of its secret, %q owns the subscription, want key:7", got.Owner.Name)
	}
}
