package delivery_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/condition"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

func where(text string) func(*webhook.Subscription) {
	return func(s *webhook.Subscription) { s.Where.Text = text }
}

// kindOf returns the kind of debtor.updated with fields of whole numbers.
func kindOf(t *testing.T, names ...string) *record.Kind {
	t.Helper()
	var fields []record.Field
	for _, name := range names {
		fields = append(fields, record.Field{Name: name, Type: record.Int, Filter: record.OrderedFilter})
	}
	registry, err := record.NewRegistry(record.Kind{Name: "DB_Main", Fields: fields, Key: names[:1], Capture: record.CaptureOnDemand, Events: "debtor"})
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()[0]
}

// TestConditions matches events with conditions, which are parsed again after a change of the
// record kinds: one that is not valid any more holds its subscription and matches nothing.
func TestConditions(t *testing.T) {
	x := newRightsEnv(t)
	var kind atomic.Pointer[record.Kind]
	kind.Store(kindOf(t, "No", "Status"))
	rules := x.rules
	x.rules = func() webhook.Rules {
		r := rules()
		r.Captured = map[string]*record.Kind{"debtor.updated": kind.Load()}
		r.MayRead = func(owner string, _ *record.Kind) bool { return owner == "user:ann" }
		return r
	}
	x.restart()
	e := newEndpoint(t, always(200))
	both := func(text string) func(*webhook.Subscription) {
		return func(s *webhook.Subscription) { ownedBy("user:ann")(s); where(text)(s) }
	}
	matching := x.subscribe(e.URL, "debtor.updated", both(`{"Before.Status":1,"Status":2}`))
	other := x.subscribe(e.URL, "debtor.updated", both(`{"Status":3}`))
	posted := x.subscribe(e.URL, "debtor.created", where(`{"Total":1}`))
	publish := func(known ...string) {
		t.Helper()
		x.changes++
		body := fmt.Appendf(nil, `{"ChangeID":%d,"Op":"updated","KeyFields":{"No":1},"Record":{"No":1,"Status":2},"Changed":["Status"],"Before":{"Status":1}}`, x.changes)
		group := &delivery.Captured{Kind: "DB_Main", Fence: 1, Known: condition.Change{Fields: []string{"No", "Status"}, Kept: known}, Changes: []delivery.CapturedChange{{ID: x.changes, Op: "updated", Key: "1", Event: "debtor.updated", Body: body}}}
		if err := x.engine.PublishCaptured(context.Background(), group); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(sub webhook.Subscription, messages int64) {
		t.Helper()
		x.expect(fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", sub.ID), messages)
	}
	if names := x.engine.Compared(kind.Load()); fmt.Sprint(names) != "[Status]" {
		t.Errorf("capture keeps %v", names)
	}
	publish() // the value before is not known
	expect(matching, 0)
	publish("Status")
	expect(matching, 1)
	expect(other, 0)
	for body, want := range map[string]int{`{"Total":1}`: 1, `{"Total":2}`: 0, ``: 0, `{"Total":1`: 0} {
		if r := x.publish("debtor.created", body); r.Messages != want {
			t.Errorf("%s has %d messages, want %d", body, r.Messages, want)
		}
	}
	expect(posted, 1)
	if _, err := x.engine.SendTest(t.Context(), other.ID, "webhooks.test", []byte("{}")); err != nil {
		t.Error(err)
	}
	expect(other, 1)

	kind.Store(kindOf(t, "No"))
	x.awaitHeld(matching, "its condition is no longer valid: Where.Before.Status is unknown for DB_Main")
	publish("Status")
	expect(matching, 1)
	kind.Store(kindOf(t, "No", "Status"))
	x.awaitHeld(matching, "")
	publish("Status")
	expect(matching, 2)
}
