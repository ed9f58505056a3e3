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
func publishConcurrently(t *testing.T, n int, key, body string, daemons ...*simulation) (receipts map[wire.EventReceipt]int, first int) {
	t.Helper()
	receipts = make(map[wire.EventReceipt]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r, replayed, err := daemons[i%len(daemons)].engine.PublishOnce(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte(body)}, key, key)
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

func TestIdempotencyKey(t *testing.T) {
	simulateRealClock(t, func(first *simulation) {
		second := first.startPeer()
		defer second.stop(testTimeout)
		first.subscribe("https://shop.example/", "debtor.*")
		first.subscribe("https://shop.example/", "*")
		first.advance(5 * time.Second)
		receipts, made := publishConcurrently(t, 32, "order-1", "x", first, second)
		if len(receipts) != 1 || made != 1 {
			t.Errorf("receipts are %v, %d of them of a new event", receipts, made)
		}
		first.expect("WH_Event", 1)
		first.expect("SY_WebhookMessage", 2)
		for _, x := range []*simulation{first, second} {
			if _, _, err := x.engine.PublishOnce(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("y")}, "order-1", "order-1"); !fault.Is(err, fault.Conflict) {
				t.Errorf("another body returned %v", err)
			}
			if _, _, err := x.engine.PublishOnce(context.Background(), delivery.Post{Name: "debtor.created", Body: []byte("x")}, "order-1", "order-1"); !fault.Is(err, fault.Conflict) {
				t.Errorf("another event returned %v", err)
			}
		}
		first.advance(time.Minute)
	})
}

// An event without subscribers is bound to its key, too.
func TestIdempotencyKeyWithoutSubscribers(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		receipts, made := publishConcurrently(t, 4, "k", "x", x)
		if len(receipts) != 1 || made != 1 {
			t.Errorf("receipts are %v, %d new", receipts, made)
		}
		for r := range receipts {
			if r.Messages != 0 || r.EventID == "" {
				t.Errorf("receipt %+v", r)
			}
		}
	})
}

// If a write succeeds but is reported as failed, a publisher that tries again gets the
// receipt of the stored event.
func TestIdempotencyKeyAfterLostResponse(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		x.subscribe("https://shop.example/", "debtor.*")
		x.faultyStore.SetRuleOnce(deliverytest.FailAfter(deliverytest.Unavailable("the line was cut")), deliverytest.Write)
		_, _, err := x.engine.PublishOnce(context.Background(), delivery.Post{Name: "debtor.updated", Body: []byte("x")}, "k", "k")
		if !fault.Is(err, fault.Unavailable) || errors.Is(err, delivery.ErrKeyTaken) {
			t.Fatalf("a lost response returned %v", err)
		}
		x.advance(time.Second)
		receipts, made := publishConcurrently(t, 3, "k", "x", x)
		if len(receipts) != 1 || made != 0 {
			t.Errorf("receipts are %v, %d new", receipts, made)
		}
		x.expect("SY_WebhookMessage", 1)
		x.advance(5 * time.Minute)
	})
}

// A key that an earlier version stored in another form is valid until it expires.
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
			t.Errorf("the event of the earlier version returned %+v, replayed %t (error %v), want %+v replayed", r, replayed, err, earlier)
		}
		post.Body = []byte("y")
		_, _, err = x.engine.PublishOnce(ctx, post, "user:shop k", "shop k")
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("another event returned the error %v, want a conflict", err)
		}
	})
}

// A key is free again after a day.
func TestIdempotencyKeyExpires(t *testing.T) {
	simulateRealClock(t, func(x *simulation) {
		if _, made := publishConcurrently(t, 1, "k", "x", x); made != 1 {
			t.Error("the first is not new")
		}
		x.exec("UPDATE WH_IdempotencyKey SET ExpiryDateTime = '2000-01-01T00:00:00.0000000'")
		if _, made := publishConcurrently(t, 1, "k", "y", x); made != 1 {
			t.Error("the key has not expired")
		}
	})
}
