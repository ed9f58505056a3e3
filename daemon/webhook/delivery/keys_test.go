package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// publishConcurrently publishes under a key at several daemons concurrently. It returns
// the receipts, and how many of the calls were not replayed.
func publishConcurrently(
	t *testing.T, n int, key, body string, daemons ...*simulation,
) (receipts map[wire.EventReceipt]int, first int) {
	t.Helper()
	post := delivery.Post{Name: "debtor.updated", Body: []byte(body)}
	receipts = make(map[wire.EventReceipt]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			engine := daemons[i%len(daemons)].engine
			r, replayed, err := engine.PublishOnce(context.Background(), post, key, key)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			receipts[r]++
			if !replayed {
				first++
			}
		})
	}
	all.Wait()
	return receipts, first
}

// simulateRealClock runs a simulation with the store's own clock, which keys expire by.
func simulateRealClock(t *testing.T, test func(x *simulation)) {
	t.Helper()
	simulate(t, func(x *simulation) {
		x.stop(testTimeout)
		x.term, x.realClock = time.Minute, true
		x.startEngine()
		test(x)
	})
}

// expectReceipt checks that calls returned one receipt, and how many of them were not replayed.
func expectReceipt(t *testing.T, receipts map[wire.EventReceipt]int, first, want int) {
	t.Helper()
	if len(receipts) != 1 {
		t.Errorf("calls returned the receipts %v, want the same one", receipts)
	}
	if first != want {
		t.Errorf("%d calls made a new event, want %d", first, want)
	}
}

// expectConflict checks that an event cannot be published under a key.
func (x *simulation) expectConflict(post delivery.Post, key string) {
	x.t.Helper()
	_, _, err := x.engine.PublishOnce(context.Background(), post, key, key)
	if !fault.Is(err, fault.Conflict) {
		x.t.Errorf("%s with the body %s: got the error %v, want a conflict", post.Name, post.Body, err)
	}
}

// TestIdempotencyKey checks that calls at two daemons under the same key make one event, and
// that the key refuses others.
func TestIdempotencyKey(t *testing.T) {
	simulateRealClock(t, func(first *simulation) {
		second := first.startPeer()
		defer second.stop(testTimeout)
		first.subscribe("https://shop.example/", "debtor.*")
		first.subscribe("https://shop.example/", "*")
		first.advance(5 * time.Second)
		receipts, made := publishConcurrently(t, 32, "order-1", "x", first, second)
		expectReceipt(t, receipts, made, 1)
		first.expect("WH_Event", 1)
		first.expect("SY_WebhookMessage", 2)
		for _, x := range []*simulation{first, second} {
			x.expectConflict(delivery.Post{Name: "debtor.updated", Body: []byte("y")}, "order-1")
			x.expectConflict(delivery.Post{Name: "debtor.created", Body: []byte("x")}, "order-1")
		}
		first.advance(time.Minute)
	})
}

// TestIdempotencyKeyWithoutSubscribers checks that an event without subscribers is bound to
// its key, too.
func TestIdempotencyKeyWithoutSubscribers(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		receipts, made := publishConcurrently(t, 4, "k", "x", x)
		expectReceipt(t, receipts, made, 1)
		for r := range receipts {
			if r.Messages != 0 || r.EventID == "" {
				t.Errorf("the receipt is %+v, want an EventID and no messages", r)
			}
		}
	})
}

// TestIdempotencyKeyAfterLostResponse checks that if a write succeeds but is reported as
// failed, a publisher that tries again gets the receipt of the stored event.
func TestIdempotencyKeyAfterLostResponse(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		x.subscribe("https://shop.example/", "debtor.*")
		cut := deliverytest.Unavailable("the line was cut")
		x.faultyStore.SetRuleOnce(deliverytest.FailAfter(cut), deliverytest.Write)
		post := delivery.Post{Name: "debtor.updated", Body: []byte("x")}
		_, _, err := x.engine.PublishOnce(context.Background(), post, "k", "k")
		if !fault.Is(err, fault.Unavailable) || errors.Is(err, delivery.ErrKeyTaken) {
			t.Fatalf("a lost response returned %v, want that the store is unavailable", err)
		}
		x.advance(time.Second)
		receipts, made := publishConcurrently(t, 3, "k", "x", x)
		expectReceipt(t, receipts, made, 0)
		x.expect("SY_WebhookMessage", 1)
		x.advance(5 * time.Minute)
	})
}

// TestIdempotencyKeyOfAnEarlierVersion checks that a key that an earlier version stored in
// another form is valid until it expires.
func TestIdempotencyKeyOfAnEarlierVersion(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		ctx := context.Background()
		post := delivery.Post{Name: "debtor.updated", Body: []byte("x")}
		earlier, _, err := x.engine.PublishOnce(ctx, post, "shop k", "shop k")
		if err != nil {
			t.Fatal(err)
		}
		r, replayed, err := x.engine.PublishOnce(ctx, post, "user:shop k", "shop k")
		if err != nil || !replayed || r != earlier {
			t.Errorf("the event of the earlier version returned %+v, replayed %t (error %v), want %+v replayed",
				r, replayed, err, earlier)
		}
		post.Body = []byte("y")
		_, _, err = x.engine.PublishOnce(ctx, post, "user:shop k", "shop k")
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("another event returned the error %v, want a conflict", err)
		}
	})
}

// TestIdempotencyKeyExpires checks that a key is free again after its time.
func TestIdempotencyKeyExpires(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		if _, made := publishConcurrently(t, 1, "k", "x", x); made != 1 {
			t.Errorf("%d calls made a new event under an unused key, want 1", made)
		}
		x.exec("UPDATE WH_IdempotencyKey SET ExpiryDateTime = '2000-01-01T00:00:00.0000000'")
		if _, made := publishConcurrently(t, 1, "k", "y", x); made != 1 {
			t.Errorf("%d calls made a new event under an expired key, want 1", made)
		}
	})
}
