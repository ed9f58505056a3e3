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

// once publishes under a key at several daemons at the same time.
func once(t *testing.T, n int, key, body string, daemons ...*trial) (receipts map[wire.EventReceipt]int, first int) {
	t.Helper()
	receipts = make(map[wire.EventReceipt]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r, replayed, err := daemons[i%len(daemons)].engine.PublishOnce(context.Background(), "debtor.updated", []byte(body), key)
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

// keyTrial is a trial by the store's own clock, which ends the keys.
func keyTrial(t *testing.T, test func(x *trial)) {
	t.Helper()
	inBubble(t, func(x *trial) {
		x.stop(patience)
		x.term, x.trueTime = time.Minute, true
		x.begin()
		test(x)
	})
}

func TestAKeyStandsForOneEvent(t *testing.T) {
	keyTrial(t, func(first *trial) {
		second := first.neighbour()
		defer second.stop(patience)
		first.subscribe("https://shop.example/", "debtor.*")
		first.subscribe("https://shop.example/", "*")
		first.pass(5 * time.Second)
		receipts, made := once(t, 32, "order-1", "x", first, second)
		if len(receipts) != 1 || made != 1 {
			t.Errorf("receipts are %v, %d of them of a new event", receipts, made)
		}
		first.expect("WH_Event", 1)
		first.expect("SY_WebhookMessage", 2)
		for _, x := range []*trial{first, second} {
			if _, _, err := x.engine.PublishOnce(context.Background(), "debtor.updated", []byte("y"), "order-1"); !fault.Is(err, fault.Conflict) {
				t.Errorf("another body gives %v", err)
			}
			if _, _, err := x.engine.PublishOnce(context.Background(), "debtor.created", []byte("x"), "order-1"); !fault.Is(err, fault.Conflict) {
				t.Errorf("another event gives %v", err)
			}
		}
		first.pass(time.Minute)
	})
}

// An event that nobody subscribes to has its key all the same.
func TestAKeyOfAnEventThatGoesNowhere(t *testing.T) {
	keyTrial(t, func(x *trial) {
		receipts, made := once(t, 4, "k", "x", x)
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

// Where a write is done but reported failed, the publisher who tries again gets
// the event that is there.
func TestAKeyAfterALostAnswer(t *testing.T) {
	keyTrial(t, func(x *trial) {
		x.subscribe("https://shop.example/", "debtor.*")
		x.faulty.Once(deliverytest.Deny(deliverytest.Away("the line was cut")), deliverytest.Write)
		_, _, err := x.engine.PublishOnce(context.Background(), "debtor.updated", []byte("x"), "k")
		if !fault.Is(err, fault.Unavailable) || errors.Is(err, delivery.ErrKeyTaken) {
			t.Fatalf("a lost answer gives %v", err)
		}
		x.pass(time.Second)
		receipts, made := once(t, 3, "k", "x", x)
		if len(receipts) != 1 || made != 0 {
			t.Errorf("receipts are %v, %d new", receipts, made)
		}
		x.expect("SY_WebhookMessage", 1)
		x.pass(5 * time.Minute)
	})
}

// A day later the key is free.
func TestAKeyEnds(t *testing.T) {
	keyTrial(t, func(x *trial) {
		if _, made := once(t, 1, "k", "x", x); made != 1 {
			t.Error("the first is not new")
		}
		x.exec("UPDATE WH_IdempotencyKey SET ExpiryDateTime = '2000-01-01T00:00:00.0000000'")
		if _, made := once(t, 1, "k", "y", x); made != 1 {
			t.Error("the key has not ended")
		}
	})
}
