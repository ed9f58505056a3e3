package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// externalOutbox is an outbox in another database than the store, which fails on command.
type externalOutbox struct {
	mu      sync.Mutex
	rows    []delivery.OutboxEvent // the oldest first
	last    int64
	fail    func(call string) (before, after error) // nil for no failures
	onRead  func()                                  // called after each read that returns rows
	deletes int
}

var errAway = errors.New("the ERP's server is away")

// put adds events, as a transaction that is committed now.
func (o *externalOutbox) put(bodies ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, body := range bodies {
		o.last++
		o.rows = append(o.rows, delivery.OutboxEvent{
			ID:   o.last,
			GUID: fmt.Sprintf("00000000-0000-4000-8000-%012x", rand.Int64N(1<<48)),
			Name: "debtor.updated",
			Body: []byte(body),
		})
	}
}

// do runs the work of a call, unless the call fails before it.
func (o *externalOutbox) do(call string, work func()) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var before, after error
	if o.fail != nil {
		before, after = o.fail(call)
	}
	if before != nil {
		return before
	}
	work()
	return after
}

// ReadOutbox implements delivery.ExternalOutbox.
func (o *externalOutbox) ReadOutbox(_ context.Context, limit int, except []string) (all []delivery.OutboxEvent, err error) {
	err = o.do("read", func() {
		for _, r := range o.rows {
			if len(all) < limit && !slices.Contains(except, r.GUID) {
				all = append(all, r)
			}
		}
	})
	if o.onRead != nil && len(all) > 0 {
		o.onRead()
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// RefuseOutbox implements delivery.ExternalOutbox.
func (o *externalOutbox) RefuseOutbox(_ context.Context, e delivery.OutboxEvent, _ string) error {
	return o.do("refuse", func() {
		o.rows = slices.DeleteFunc(o.rows, func(r delivery.OutboxEvent) bool { return r.GUID == e.GUID })
	})
}

// Delete implements delivery.ExternalOutbox.
func (o *externalOutbox) Delete(_ context.Context, guids []string) error {
	return o.do("delete", func() {
		o.deletes++
		o.rows = slices.DeleteFunc(o.rows, func(r delivery.OutboxEvent) bool {
			return slices.Contains(guids, r.GUID)
		})
	})
}

// Source implements delivery.ExternalOutbox.
func (o *externalOutbox) Source() string { return "whd.wh_outbox" }

// setFailing makes calls fail, nil for none.
func (o *externalOutbox) setFailing(fail func(call string) (before, after error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail = fail
}

// setFailingCall makes one kind of call fail before its work.
func (o *externalOutbox) setFailingCall(failing string) {
	o.setFailing(func(call string) (before, after error) {
		if call == failing {
			before = errAway
		}
		return before, nil
	})
}

func (o *externalOutbox) remaining() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.rows)
}

// reads returns the configuration of an engine that reads the outbox.
func (o *externalOutbox) reads(c *delivery.Config) {
	c.Outbox = o
	c.OutboxInterval = time.Second
	c.EventName = inHouse().Event
}

// withExternalOutbox runs a test with a store in a file and an outbox elsewhere.
func withExternalOutbox(t *testing.T, test func(x *simulation, o *externalOutbox)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		o := &externalOutbox{}
		x.startEngine(o.reads)
		x.subscribe("http://127.0.0.1/hook", "debtor.*")
		test(x, o)
	})
}

// expectPublished checks that the outbox is empty, that the bodies were published in their
// order, and that no mark is left.
func (x *simulation) expectPublished(o *externalOutbox, want []string) {
	x.t.Helper()
	if got := x.publishedBodies(); !slices.Equal(got, want) || o.remaining() != 0 {
		x.t.Errorf("%d events of %d were published, or in another order: %.200q; %d rows are left, want 0",
			len(got), len(want), got, o.remaining())
	}
	x.expect("WH_OutboxTaken", 0)
}

// TestExternalOutboxInOrder checks that events leave an external outbox in order and once,
// regardless of failures of each step.
func TestExternalOutboxInOrder(t *testing.T) {
	withExternalOutbox(t, func(x *simulation, o *externalOutbox) {
		const all = 2000
		busy := deliverytest.Unavailable("busy")
		rules := []deliverytest.Rule{deliverytest.Refuse(busy), deliverytest.FailAfter(busy), nil, nil}
		x.faultyStore.SetRule(func(ctx context.Context, do func(context.Context) error) error {
			if rule := rules[rand.IntN(len(rules))]; rule != nil {
				return rule(ctx, do)
			}
			return do(ctx)
		}, deliverytest.Write, deliverytest.OutboxMarks, deliverytest.RemoveOutboxMarks)
		failures := []error{errAway, nil, nil}
		o.setFailing(func(string) (before, after error) {
			return failures[rand.IntN(3)], failures[rand.IntN(3)]
		})
		for _, body := range numbered(all) {
			o.put(body)
			if rand.IntN(20) == 0 {
				x.advance(300 * time.Millisecond)
			}
		}
		x.advance(10 * time.Minute)
		x.faultyStore.SetRule(nil, deliverytest.Write, deliverytest.OutboxMarks, deliverytest.RemoveOutboxMarks)
		o.setFailing(nil)
		x.advance(5 * time.Minute)
		x.expectPublished(o, numbered(all))
		x.expect("SY_WebhookMessage WHERE Status = 1", all)
	})
}

// TestExternalOutboxAfterRestart checks that rows that were published but not deleted are
// deleted after the next start, before others are read.
func TestExternalOutboxAfterRestart(t *testing.T) {
	withExternalOutbox(t, func(x *simulation, o *externalOutbox) {
		o.setFailingCall("delete")
		o.put("a", "b")
		x.advance(5 * time.Second)
		x.stop(testTimeout)
		x.expect("WH_OutboxTaken", 2)
		if left := o.remaining(); left != 2 {
			t.Errorf("%d rows are left in the outbox, want 2", left)
		}
		o.setFailing(nil)
		o.put("c")
		o.onRead = func() {
			if n := o.remaining(); n != 1 {
				t.Errorf("%d rows were in the outbox when it was read, want 1", n)
			}
			o.onRead = nil
		}
		x.startEngine(o.reads)
		x.advance(5 * time.Second)
		x.expectPublished(o, []string{"a", "b", "c"})
	})
}

// TestExternalOutboxWithoutDeletion checks that while published rows cannot be deleted, later
// ones are published up to a limit, and deleted when that is possible again. The store and the
// ERP are not written to if there are no rows.
func TestExternalOutboxWithoutDeletion(t *testing.T) {
	withExternalOutbox(t, func(x *simulation, o *externalOutbox) {
		o.setFailingCall("delete")
		const all, limit = 3000, 1000
		o.put(numbered(all)[:10]...)
		x.advance(10 * time.Second)
		o.put(numbered(all)[10:20]...)
		x.advance(20 * time.Second)
		x.expect("WH_Event", 20)
		o.put(numbered(all)[20:]...)
		x.advance(5 * time.Minute)
		if n := x.count("WH_Event"); n < limit || n > limit+256 {
			t.Errorf("%d events were published, want %d to %d", n, limit, limit+256)
		}
		o.setFailing(nil)
		x.advance(time.Minute)
		x.expectPublished(o, numbered(all))
		deletes := o.deletes
		removals := x.faultyStore.Calls(deliverytest.RemoveOutboxMarks)
		x.advance(time.Minute)
		if n := o.deletes - deletes; n != 0 {
			t.Errorf("rows were deleted %d times although there are none", n)
		}
		if n := x.faultyStore.Calls(deliverytest.RemoveOutboxMarks) - removals; n != 0 {
			t.Errorf("marks were deleted %d times although there are none", n)
		}
	})
}

// TestExternalOutboxWithoutRefusal checks that while an invalid row cannot be refused, those
// before and after it are published, more of them than may have marks.
func TestExternalOutboxWithoutRefusal(t *testing.T) {
	withExternalOutbox(t, func(x *simulation, o *externalOutbox) {
		o.setFailingCall("refuse")
		const all = 3000
		o.put(numbered(all)[:10]...)
		o.put("", "")
		o.put(numbered(all)[10:]...)
		x.advance(time.Minute)
		if got := x.publishedBodies(); !slices.Equal(got, numbered(all)) || o.remaining() != 2 {
			t.Errorf("%d events of %d were published, or in another order: %.200q; %d rows are left, want 2",
				len(got), all, got, o.remaining())
		}
		o.setFailing(nil)
		x.advance(time.Minute)
		x.expectPublished(o, numbered(all))
	})
}

// TestExternalOutboxOfALateWrite checks that a write that seems to have failed and is completed
// later does not publish a row twice.
func TestExternalOutboxOfALateWrite(t *testing.T) {
	withExternalOutbox(t, func(x *simulation, o *externalOutbox) {
		gate := deliverytest.NewGate()
		x.faultyStore.SetRuleOnce(gate.HoldDetached, deliverytest.Write)
		o.put("a", "b")
		gate.Await(1)
		x.advance(delivery.WriteTimeout + time.Second) // the write has timed out
		x.advance(10 * time.Second)                    // the rows are published by another write
		x.expect("WH_Event", 2)
		gate.Open()
		x.advance(time.Minute)
		x.expectPublished(o, []string{"a", "b"})
	})
}

// TestExternalOutboxOfALateDaemon checks that a daemon that is suspended between reading rows
// and publishing them does not publish them again after another daemon has published and
// deleted them.
func TestExternalOutboxOfALateDaemon(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term = time.Minute
		x.subscribe("http://127.0.0.1/hook", "debtor.*")
		o := &externalOutbox{}
		gate := deliverytest.NewGate()
		o.onRead = func() {
			o.onRead = nil
			_ = gate.Hold(context.Background(), func(context.Context) error { return nil })
		}
		x.startEngine(o.reads)
		o.put("a", "b")
		gate.Await(1)
		x.faultyStore.SetRule(deliverytest.Refuse(errAway), deliverytest.Renew)
		second := x.startPeerWith(o.reads)
		x.expireLease()
		x.advance(5 * time.Minute)
		x.expectPublished(o, []string{"a", "b"})
		x.faultyStore.SetRule(nil, deliverytest.Renew)
		_, err := x.engine.Publish(t.Context(), delivery.Post{Name: "debtor.updated", Body: []byte("x")})
		if err == nil {
			t.Error("the first daemon still has its lease, want that another one has taken it")
		}
		x.publish("debtor.updated", "d") // under another lease
		gate.Open()
		x.advance(time.Minute)
		o.put("c")
		x.advance(time.Minute)
		x.expectPublished(o, []string{"a", "b", "c", "d"})
		second.stop(testTimeout)
	})
}
