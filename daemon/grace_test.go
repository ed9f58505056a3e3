package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestAtLeast: what stops last has what is left of the grace period, and its own time
// where nothing is left.
func TestAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 3 * time.Second: 5 * time.Second, -time.Second: 5 * time.Second} {
			within, cancel := context.WithTimeout(t.Context(), grace)
			ctx, end := atLeast(within, 5*time.Second)
			if at, _ := ctx.Deadline(); time.Until(at) != want || ctx.Err() != nil {
				t.Errorf("with a grace period of %v it has %v (%v), want %v", grace, time.Until(at), ctx.Err(), want)
			}
			end()
			cancel()
		}
	})
}

// TestTraceLimit: the last spans leave half of the grace period to what ends after them.
func TestTraceLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, want := range map[time.Duration]time.Duration{0: traceGrace, time.Minute: traceGrace, 2 * time.Second: time.Second} {
			ctx, cancel := context.WithCancel(t.Context())
			if grace > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), grace)
			}
			if limit := traceLimit(ctx); limit != want {
				t.Errorf("with a grace period of %v spans have %v, want %v", grace, limit, want)
			}
			cancel()
		}
	})
}
