package backoff_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

func TestWaitsDoubleUpToMax(t *testing.T) {
	b := backoff.Backoff{Min: 100 * time.Millisecond, Max: time.Second}
	if b.Wait() != 0 {
		t.Errorf("wait is %v before the first failure, want 0", b.Wait())
	}
	for range 2 { // also after Reset
		for i, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
			want *= time.Millisecond
			if got := b.Next(); got != want || b.Wait() != want {
				t.Errorf("after failure %d: Next is %v and Wait is %v, want %v", i+1, got, b.Wait(), want)
			}
		}
		b.Reset()
	}
}

func TestWaitsDoNotOverflow(t *testing.T) {
	b := backoff.Backoff{Min: 30 * time.Second, Max: time.Hour}
	for range 1000 {
		b.Next()
	}
	if b.Wait() != time.Hour {
		t.Errorf("wait is %v after 1000 failures, want 1h", b.Wait())
	}
}

// TestMinCanChange: a new Min applies from the next wait on.
func TestMinCanChange(t *testing.T) {
	b := backoff.Backoff{Min: time.Second, Max: time.Minute}
	b.Next()
	b.Min = 3 * time.Second
	if got := b.Next(); got != 6*time.Second {
		t.Errorf("wait is %v, want 6s", got)
	}
}

func TestSleep(t *testing.T) {
	if err := backoff.Sleep(t.Context(), time.Millisecond); err != nil {
		t.Errorf("got %v after the time, want no error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v with a cancelled context, want its error", err)
	}
}
