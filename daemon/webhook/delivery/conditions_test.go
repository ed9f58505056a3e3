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
	registry, err := record.NewRegistry(record.Kind{
		Name:    "DB_Main",
		Fields:  fields,
		Key:     names[:1],
		Capture: record.CaptureOnDemand,
		Events:  "debtor",
	})
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()[0]
}

// conditionsEnv is an engine with subscriptions of the user ann to debtor.updated.
type conditionsEnv struct {
	*rightsEnv
	kind     atomic.Pointer[record.Kind] // of debtor.updated
	endpoint *endpoint
}

func newConditionsEnv(t *testing.T) *conditionsEnv {
	t.Helper()
	x := &conditionsEnv{rightsEnv: newRightsEnv(t), endpoint: newEndpoint(t, always(200))}
	x.kind.Store(kindOf(t, "No", "Status"))
	rules := x.rules
	x.rules = func() webhook.Rules {
		r := rules()
		r.Captured = map[string]*record.Kind{"debtor.updated": x.kind.Load()}
		r.MayRead = func(owner string, _ *record.Kind) bool { return owner == "user:ann" }
		return r
	}
	x.restart()
	return x
}

// subscribeWhere adds a subscription to debtor.updated with a condition.
func (x *conditionsEnv) subscribeWhere(text string) webhook.Subscription {
	x.t.Helper()
	return x.subscribe(x.endpoint.URL, "debtor.updated", ownedBy("user:ann"), where(text))
}

// publishStatus publishes a change of Status from 1 to 2. The values before the change are known
// for the fields in kept only.
func (x *conditionsEnv) publishStatus(kept ...string) {
	x.t.Helper()
	x.changes++
	body := fmt.Appendf(nil, `{
		"ChangeID": %d,
		"Op": "updated",
		"KeyFields": {"No":1},
		"Record": {"No":1,"Status":2},
		"Changed": ["Status"],
		"Before": {"Status":1}
	}`, x.changes)
	change := delivery.CapturedChange{
		ID:    x.changes,
		Op:    "updated",
		Key:   "1",
		Event: "debtor.updated",
		Body:  body,
	}
	group := &delivery.Captured{
		Kind:    "DB_Main",
		Fence:   1,
		Known:   condition.Change{Fields: []string{"No", "Status"}, Kept: kept},
		Changes: []delivery.CapturedChange{change},
	}
	if err := x.engine.PublishCaptured(context.Background(), group); err != nil {
		x.t.Fatal(err)
	}
}

// expectMessages checks how many messages of a subscription an action adds.
func (x *conditionsEnv) expectMessages(s webhook.Subscription, action string, want int64, run func()) {
	x.t.Helper()
	table := fmt.Sprintf("SY_WebhookMessage WHERE SubscriptionID = %d", s.ID)
	before := x.count(table)
	run()
	if added := x.count(table) - before; added != want {
		x.t.Errorf("%s: got %d messages of a subscription with the condition %s, want %d",
			action, added, s.Where.Text, want)
	}
}

// TestConditions publishes a captured event for subscriptions with conditions of the values
// after a change.
func TestConditions(t *testing.T) {
	x := newConditionsEnv(t)
	matching := x.subscribeWhere(`{"Status":2}`)
	unmatched := x.subscribeWhere(`{"Status":3}`)
	publish := func() { x.publishStatus("Status") }
	x.expectMessages(matching, "status 2", 1, publish)
	x.expectMessages(unmatched, "status 2", 0, publish)
}

// TestConditionsOfValuesBefore checks that capture keeps the values that a condition compares,
// and that a condition of an unknown value does not match.
func TestConditionsOfValuesBefore(t *testing.T) {
	x := newConditionsEnv(t)
	s := x.subscribeWhere(`{"Before.Status":1,"Status":2}`)
	if names := x.engine.Compared(x.kind.Load()); fmt.Sprint(names) != "[Status]" {
		t.Errorf("capture keeps the values of %v before a change, want [Status]", names)
	}
	x.expectMessages(s, "status before unknown", 0, func() { x.publishStatus() })
	x.expectMessages(s, "status 1 before", 1, func() { x.publishStatus("Status") })
}

// TestConditionsOfPostedEvents publishes posted events, with bodies that need not be JSON.
func TestConditionsOfPostedEvents(t *testing.T) {
	x := newConditionsEnv(t)
	x.subscribe(x.endpoint.URL, "debtor.created", where(`{"Total":1}`))
	for _, tt := range []struct {
		body string
		want int
	}{
		{`{"Total":1}`, 1},
		{`{"Total":2}`, 0},
		{``, 0},
		{`{"Total":1`, 0},
	} {
		if got := x.publish("debtor.created", tt.body).Messages; got != tt.want {
			t.Errorf("publishing %q: got %d messages, want %d", tt.body, got, tt.want)
		}
	}
}

// TestConditionsDoNotApplyToTests checks that a test event is sent without regard to the condition.
func TestConditionsDoNotApplyToTests(t *testing.T) {
	x := newConditionsEnv(t)
	s := x.subscribeWhere(`{"Status":3}`)
	x.expectMessages(s, "test event", 1, func() {
		if _, err := x.engine.SendTest(t.Context(), s.ID, "webhooks.test", []byte("{}")); err != nil {
			t.Error(err)
		}
	})
}

// TestConditionsOfChangedKind changes the record kind of a condition: while the condition is
// not valid, its subscription is held and matches nothing.
func TestConditionsOfChangedKind(t *testing.T) {
	x := newConditionsEnv(t)
	s := x.subscribeWhere(`{"Before.Status":1,"Status":2}`)
	publish := func() { x.publishStatus("Status") }

	x.kind.Store(kindOf(t, "No"))
	x.awaitHeld(s, "its condition is no longer valid: Where.Before.Status is unknown for DB_Main")
	x.expectMessages(s, "without the field", 0, publish)

	x.kind.Store(kindOf(t, "No", "Status"))
	x.awaitHeld(s, "")
	x.expectMessages(s, "with the field again", 1, publish)
}
