package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// capturing is the engine of a daemon that captures the kind K.
type capturing struct {
	*testEnv
	faulty *deliverytest.Store
	fence  int64
	next   int64
}

func newCapturing(t *testing.T) *capturing {
	t.Helper()
	c := &capturing{testEnv: newTestEnv(t)}
	c.rules = func() webhook.Rules {
		r := inHouse()
		kind := &record.Kind{Name: "K"}
		r.Captured = map[string]*record.Kind{"debtor.updated": kind, "article.updated": kind}
		r.MayRead = func(owner string, _ *record.Kind) bool { return owner == "user:ann" }
		return r
	}
	c.wrap = func(s delivery.Store) delivery.Store {
		c.faulty = deliverytest.New(s)
		return c.faulty
	}
	c.start()
	lease, ok := c.engine.Coordinator()
	if !ok || lease.Fence == 0 {
		t.Fatalf("the only daemon is not the coordinator: %+v", lease)
	}
	c.fence = lease.Fence
	if _, err := c.store.Changes.Begin(t.Context(), "K", c.fence); err != nil {
		t.Fatal(err)
	}
	c.next = 1
	return c
}

// group returns the next group, of n changes: the first ones of each pair publish an event.
func (c *capturing) group(n int) *delivery.Captured {
	g := &delivery.Captured{Kind: "K", Fence: c.fence}
	for i := range n {
		id := c.next + int64(i)
		e := changes.Entry{Number: id, Key: fmt.Append(nil, id)}
		change := delivery.CapturedChange{
			ID:        id,
			Op:        "updated",
			Key:       fmt.Sprint(id),
			Body:      fmt.Appendf(nil, `{"ChangeID":%d}`, id),
			Number:    id,
			ShadowKey: e.Key,
			Entry:     e.Encode(),
		}
		if i%2 == 0 {
			change.Event = "debtor.updated"
		}
		g.Changes = append(g.Changes, change)
	}
	return g
}

// publish publishes a group and expects an error, nil for none.
func (c *capturing) publish(g *delivery.Captured, want error) {
	c.t.Helper()
	err := c.engine.PublishCaptured(context.Background(), g)
	if !errors.Is(err, want) {
		c.t.Errorf("publishing changes from %d on: %v, want %v", g.Changes[0].ID, err, want)
	}
	if err == nil {
		c.next += int64(len(g.Changes))
	}
}

// expectChanges checks that followers read the changes up to the next one, with their bodies.
func (c *capturing) expectChanges() {
	c.t.Helper()
	stored, err := c.store.Changes.Changes(c.t.Context(), "K", 0, 10_000)
	if err != nil {
		c.t.Fatal(err)
	}
	if int64(len(stored)) != c.next-1 {
		c.t.Fatalf("%d changes are stored, want %d", len(stored), c.next-1)
	}
	for i, change := range stored {
		id := int64(i + 1)
		body := fmt.Sprintf(`{"ChangeID":%d}`, id)
		if change.ID != id || string(change.Body) != body {
			c.t.Errorf("a change is %d with the body %s, want %d with %s", change.ID, change.Body, id, body)
		}
	}
}

// TestPublishCaptured delivers the events of changes. Their bodies are stored once.
func TestPublishCaptured(t *testing.T) {
	c := newCapturing(t)
	c.publish(c.group(4), nil) // matches nothing
	c.expect("WH_Event", 0)
	to := newEndpoint(t, always(200))
	c.subscribe(to.URL, "debtor.*", ownedBy("user:ann"))
	c.subscribe(to.URL, "*", ownedBy("user:ann"))
	c.subscribe(to.URL, "creditor.*", ownedBy("user:ann"))
	if n := c.engine.Matching("debtor.updated"); n != 2 {
		t.Errorf("%d subscriptions match debtor.updated, want 2", n)
	}
	if n := c.engine.Matching("article.updated"); n != 1 {
		t.Errorf("%d subscriptions match article.updated, want 1", n)
	}
	c.publish(c.group(5), nil)
	to.awaitDelivered(t, 6)
	c.expect("WH_Event", 3)
	c.expect("WH_RecordChange WHERE Body IS NULL", 3)
	c.expect("WH_RecordChange WHERE (Body IS NULL) = (EventID IS NOT NULL)", 9)
	c.expectChanges()
	for _, n := range []int{0, delivery.MaxCaptured + 1} {
		if err := c.engine.PublishCaptured(t.Context(), c.group(n)); err == nil {
			t.Errorf("a group of %d changes was published, want an error", n)
		}
	}
	c.publish(c.group(delivery.MaxCaptured), nil)
	c.expectChanges()
	c.stop(testTimeout)
}

// TestCaptureLost checks that a group of another fence or position leaves nothing, and that
// events in the same batch are written nevertheless.
func TestCaptureLost(t *testing.T) {
	c := newCapturing(t)
	to := newEndpoint(t, always(200))
	c.subscribe(to.URL, "debtor.*", ownedBy("user:ann"))
	c.publish(c.group(2), nil)
	outdated := c.group(2)
	outdated.Fence--
	repeated, gap := c.group(2), c.group(2)
	for i := range repeated.Changes {
		repeated.Changes[i].ID--
		gap.Changes[i].ID++
	}
	for _, g := range []*delivery.Captured{outdated, repeated, gap} {
		gate := deliverytest.NewGate()
		c.faulty.SetRule(gate.Hold, deliverytest.Write)
		var callers sync.WaitGroup
		callers.Go(func() {
			post := delivery.Post{Name: "debtor.created", Body: []byte("first")}
			_, _ = c.engine.Publish(context.Background(), post)
		})
		gate.Await(1) // the others wait for the next batch
		callers.Go(func() { c.publish(g, delivery.ErrCaptureLost) })
		callers.Go(func() { c.testEnv.publish("debtor.created", "other") })
		c.faulty.SetRule(nil, deliverytest.Write)
		gate.Open()
		callers.Wait()
	}
	c.expect("WH_Event WHERE Body = 'other'", 3)
	c.expect("WH_Event", 7)
	c.expectChanges()
	c.publish(c.group(1), nil)
	c.stop(testTimeout)
}

// TestCapturedFailures checks that a group that was not written leaves nothing, and that a
// write with an unknown result is recognized when it is repeated.
func TestCapturedFailures(t *testing.T) {
	c := newCapturing(t)
	to := newEndpoint(t, always(200))
	c.subscribe(to.URL, "debtor.*", ownedBy("user:ann"))
	unavailable := deliverytest.Unavailable("busy")
	c.faulty.SetRuleOnce(deliverytest.Refuse(unavailable), deliverytest.Write)
	if err := c.engine.PublishCaptured(t.Context(), c.group(3)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write that fails returned %v, want that the store is unavailable", err)
	}
	c.expectChanges()
	c.faulty.SetRuleOnce(deliverytest.FailAfter(unavailable), deliverytest.Write)
	g := c.group(3)
	if err := c.engine.PublishCaptured(t.Context(), g); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a write with an unknown result returned %v, want that the store is unavailable", err)
	}
	c.publish(g, delivery.ErrCaptureLost)
	c.next += 3
	c.expectChanges()
	c.publish(c.group(3), nil)
	c.expectChanges()
	engine := c.engine
	c.stop(testTimeout)
	if err := engine.PublishCaptured(t.Context(), c.group(1)); err == nil {
		t.Error("a stopped engine published changes, want an error")
	}
}

// TestCapturedTakesTurns publishes large groups of changes and events at the same time.
func TestCapturedTakesTurns(t *testing.T) {
	c := newCapturing(t)
	to := newEndpoint(t, always(200))
	for range 40 { // 128 events of a group exceed the messages of a batch with others
		c.subscribe(to.URL, "debtor.*", ownedBy("user:ann"))
	}
	const groups, events = 2, 40 + 2*delivery.MaxCaptured/2
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 5 {
				c.testEnv.publish("debtor.created", "other")
			}
		})
	}
	callers.Go(func() {
		for range groups {
			c.publish(c.group(delivery.MaxCaptured), nil)
		}
	})
	callers.Wait()
	c.expectChanges()
	c.expect("WH_Event", events)
	c.expect("SY_WebhookMessage", 40*events)
	c.stop(0)
}
