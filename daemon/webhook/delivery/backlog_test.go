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
				o, err := x.engine.Backlog(context.Background(), 0)
				if err != nil || o.At.IsZero() {
					t.Errorf("a concurrent request returned %+v (%v), want a count", o, err)
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
		}{
			{15 * time.Second, 1},
			{0, 2},
			{0, 2},
		} {
			if _, err := x.engine.Backlog(context.Background(), request.age); err != nil {
				t.Error(err)
			}
			if n := x.faultyStore.Calls(deliverytest.Backlog); n != request.want {
				t.Errorf("after a request of a count of at most %v, counted %d times, want %d", request.age, n, request.want)
			}
		}
	})
}

// TestSlowBacklogCountIsCachedLonger checks that counting uses only a small share of the
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

// TestBacklogWhenStoreFails checks that a failure is cached like a count, and that the last
// count is returned while the store hangs.
func TestBacklogWhenStoreFails(t *testing.T) {
	simulate(t, func(x *simulation) {
		away := deliverytest.Unavailable("it is being moved")
		x.faultyStore.SetRule(deliverytest.Refuse(away), deliverytest.Backlog)
		o, err := x.engine.Backlog(context.Background(), 0)
		if !errors.Is(err, away) || !o.At.IsZero() {
			t.Errorf("a failing store returned %+v (%v), want no count and %v", o, err, away)
		}
		x.advance(9 * time.Second)
		x.faultyStore.SetRule(nil, deliverytest.Backlog)
		_, err = x.engine.Backlog(context.Background(), 0)
		if !errors.Is(err, away) {
			t.Errorf("9 s after the failure, got the error %v, want %v", err, away)
		}
		x.advance(time.Second)
		counted, err := x.engine.Backlog(context.Background(), 0)
		if err != nil || counted.At.IsZero() {
			t.Errorf("10 s after the failure, got %+v (%v), want a count", counted, err)
		}
		x.advance(10 * time.Second)
		hangs := deliverytest.NewGate()
		x.faultyStore.SetRule(hangs.Hold, deliverytest.Backlog)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		o, err = x.engine.Backlog(ctx, 0)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a store that hangs returned the error %v, want %v", err, context.DeadlineExceeded)
		}
		if !o.At.Equal(counted.At) {
			t.Errorf("a store that hangs returned a count of %v, want that of %v", o.At, counted.At)
		}
		hangs.Open()
	})
}

// TestBacklogRequiresRunningEngine requests the backlog before the start and while the
// engine stops.
func TestBacklogRequiresRunningEngine(t *testing.T) {
	_, err := delivery.New(delivery.Config{}).Backlog(t.Context(), 0)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("before the start: got the error %v, want that the engine is unavailable", err)
	}
	simulate(t, func(x *simulation) {
		engine := x.engine
		gate := deliverytest.NewGate()
		x.faultyStore.SetRule(gate.Hold, deliverytest.Backlog)
		result := make(chan error)
		go func() {
			_, err := engine.Backlog(context.Background(), 0)
			result <- err
		}()
		gate.Await(1)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			x.stop(testTimeout)
		}()
		if err := <-result; err == nil {
			t.Error("the backlog of a stopping engine was counted, want an error")
		}
		<-stopped
		gate.Open()
		x.advance(time.Minute)
		_, err := engine.Backlog(context.Background(), 0)
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("after the end: got the error %v, want that the engine is unavailable", err)
		}
	})
}
