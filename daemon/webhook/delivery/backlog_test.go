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

// TestBacklogIsCountedOnce makes concurrent and repeated requests.
func TestBacklogIsCountedOnce(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.subscribe("https://a.example/in", "debtor.*")
		gate := deliverytest.NewGate()
		x.faultyStore.SetRule(gate.Hold, deliverytest.Backlog)
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				if o, err := x.engine.Backlog(context.Background(), 0); err != nil || o.At.IsZero() {
					t.Errorf("%+v (%v)", o, err)
				}
			})
		}
		gate.Await(1)
		gate.Open()
		callers.Wait()
		for range 9 {
			x.advance(time.Second)
			if _, err := x.engine.Backlog(context.Background(), 0); err != nil {
				t.Error(err)
			}
		}
		if n := x.faultyStore.Calls(deliverytest.Backlog); n != 1 {
			t.Errorf("counted %d times, want once", n)
		}
		x.advance(2 * time.Second)
		for _, request := range []struct {
			age  time.Duration
			want int // counts since the start
		}{{15 * time.Second, 1}, {0, 2}, {0, 2}} {
			if _, err := x.engine.Backlog(context.Background(), request.age); err != nil {
				t.Error(err)
			}
			if n := x.faultyStore.Calls(deliverytest.Backlog); n != request.want {
				t.Errorf("counted %d times, want %d", n, request.want)
			}
		}
	})
}

// TestSlowBacklogCountIsCachedLonger: counting must use only a small share of the
// store's time.
func TestSlowBacklogCountIsCachedLonger(t *testing.T) {
	simulate(t, func(x *simulation) {
		x.faultyStore.SetRule(func(ctx context.Context, do func(context.Context) error) error {
			time.Sleep(3 * time.Second)
			return do(ctx)
		}, deliverytest.Backlog)
		for range 63 { // one request per second, for 3 seconds and 20 times as long
			_, err := x.engine.Backlog(context.Background(), 0)
			x.advance(time.Second)
			if err != nil {
				t.Error(err)
			}
		}
		if n := x.faultyStore.Calls(deliverytest.Backlog); n != 2 {
			t.Errorf("counted %d times, want 2", n)
		}
	})
}

// TestBacklogWhenStoreFails expects the last count.
func TestBacklogWhenStoreFails(t *testing.T) {
	simulate(t, func(x *simulation) {
		away := deliverytest.Unavailable("it is being moved")
		x.faultyStore.SetRule(deliverytest.Refuse(away), deliverytest.Backlog)
		if o, err := x.engine.Backlog(context.Background(), 0); !errors.Is(err, away) || !o.At.IsZero() {
			t.Errorf("%+v (%v)", o, err)
		}
		x.advance(9 * time.Second)
		x.faultyStore.SetRule(nil, deliverytest.Backlog)
		if _, err := x.engine.Backlog(context.Background(), 0); !errors.Is(err, away) {
			t.Errorf("the failure was not cached: %v", err)
		}
		x.advance(time.Second)
		counted, err := x.engine.Backlog(context.Background(), 0)
		if err != nil || counted.At.IsZero() {
			t.Errorf("%+v (%v)", counted, err)
		}
		x.advance(10 * time.Second)
		hangs := deliverytest.NewGate()
		x.faultyStore.SetRule(hangs.Hold, deliverytest.Backlog)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if o, err := x.engine.Backlog(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || !o.At.Equal(counted.At) {
			t.Errorf("%+v (%v)", o, err)
		}
		hangs.Open()
	})
}

// TestBacklogRequiresRunningEngine requests the backlog before the start and while the
// engine stops.
func TestBacklogRequiresRunningEngine(t *testing.T) {
	if _, err := delivery.New(delivery.Config{}).Backlog(t.Context(), 0); !fault.Is(err, fault.Unavailable) {
		t.Errorf("before the start: %v", err)
	}
	simulate(t, func(x *simulation) {
		engine, gate := x.engine, deliverytest.NewGate()
		x.faultyStore.SetRule(gate.Hold, deliverytest.Backlog)
		result := make(chan error)
		go func() {
			_, err := engine.Backlog(context.Background(), 0)
			result <- err
		}()
		gate.Await(1)
		stopped := make(chan struct{})
		go func() { defer close(stopped); x.stop(testTimeout) }()
		if err := <-result; err == nil {
			t.Error("the backlog of a stopping engine was counted")
		}
		<-stopped
		gate.Open()
		x.advance(time.Minute)
		if _, err := engine.Backlog(context.Background(), 0); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after the end: %v", err)
		}
	})
}
