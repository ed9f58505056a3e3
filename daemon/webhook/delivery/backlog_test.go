package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/delivery/deliverytest"
)

// TestOpenIsCountedOnce asks from many sides at once, and again and again.
func TestOpenIsCountedOnce(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.subscribe("https://a.example/in", "debtor.*")
		gate := deliverytest.NewGate()
		x.faulty.Set(gate.Hold, deliverytest.Backlog)
		var askers sync.WaitGroup
		for range 50 {
			askers.Go(func() {
				if o, err := x.engine.Backlog(context.Background(), 0); err != nil || o.At.IsZero() {
					t.Errorf("%+v (%v)", o, err)
				}
			})
		}
		gate.Await(1)
		gate.Open()
		askers.Wait()
		for range 9 {
			x.pass(time.Second)
			if _, err := x.engine.Backlog(context.Background(), 0); err != nil {
				t.Error(err)
			}
		}
		if n := x.faulty.Calls(deliverytest.Backlog); n != 1 {
			t.Errorf("counted %d times, want once", n)
		}
		x.pass(2 * time.Second)
		for _, age := range []time.Duration{15 * time.Second, 0, 0} {
			if _, err := x.engine.Backlog(context.Background(), age); err != nil {
				t.Error(err)
			}
			if n, want := x.faulty.Calls(deliverytest.Backlog), map[bool]int{true: 1, false: 2}[age > 0]; n != want {
				t.Errorf("counted %d times, want %d", n, want)
			}
		}
	})
}

// TestASlowCountStaysGoodForLonger keeps the store from doing nothing else.
func TestASlowCountStaysGoodForLonger(t *testing.T) {
	inBubble(t, func(x *trial) {
		x.faulty.Set(func(ctx context.Context, do func(context.Context) error) error {
			time.Sleep(3 * time.Second)
			return do(ctx)
		}, deliverytest.Backlog)
		for range 63 { // asked every second, for 3 seconds and 20 times as long
			_, err := x.engine.Backlog(context.Background(), 0)
			if x.pass(time.Second); err != nil {
				t.Error(err)
			}
		}
		if n := x.faulty.Calls(deliverytest.Backlog); n != 2 {
			t.Errorf("counted %d times, want 2", n)
		}
	})
}

// TestOpenWithoutTheStore gives what was counted last.
func TestOpenWithoutTheStore(t *testing.T) {
	inBubble(t, func(x *trial) {
		away := deliverytest.Away("it is being moved")
		x.faulty.Set(deliverytest.Refuse(away), deliverytest.Backlog)
		if o, err := x.engine.Backlog(context.Background(), 0); !errors.Is(err, away) || !o.At.IsZero() {
			t.Errorf("%+v (%v)", o, err)
		}
		x.pass(9 * time.Second)
		x.faulty.Set(nil, deliverytest.Backlog)
		if _, err := x.engine.Backlog(context.Background(), 0); !errors.Is(err, away) {
			t.Errorf("it was tried again at once: %v", err)
		}
		x.pass(time.Second)
		counted, err := x.engine.Backlog(context.Background(), 0)
		if err != nil || counted.At.IsZero() {
			t.Errorf("%+v (%v)", counted, err)
		}
		x.pass(10 * time.Second)
		hangs := deliverytest.NewGate()
		x.faulty.Set(hangs.Hold, deliverytest.Backlog)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if o, err := x.engine.Backlog(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || !o.At.Equal(counted.At) {
			t.Errorf("%+v (%v)", o, err)
		}
		hangs.Open()
	})
}

// TestOpenNeedsAnEngineAtWork asks one that was not started, and one that is
// stopped meanwhile.
func TestOpenNeedsAnEngineAtWork(t *testing.T) {
	if _, err := delivery.New(delivery.Config{}).Backlog(t.Context(), 0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("before the start: %v", err)
	}
	inBubble(t, func(x *trial) {
		engine, gate := x.engine, deliverytest.NewGate()
		x.faulty.Set(gate.Hold, deliverytest.Backlog)
		asked := make(chan error)
		go func() {
			_, err := engine.Backlog(context.Background(), 0)
			asked <- err
		}()
		gate.Await(1)
		stopped := make(chan struct{})
		go func() { defer close(stopped); x.stop(patience) }()
		if err := <-asked; err == nil {
			t.Error("the engine has ended, and counted all the same")
		}
		<-stopped
		gate.Open()
		x.pass(time.Minute)
		if _, err := engine.Backlog(context.Background(), 0); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after the end: %v", err)
		}
	})
}
