package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestExtendGrace checks that a context ends with the grace period, but not before its
// minimum.
func TestExtendGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, want := range map[time.Duration]time.Duration{
			time.Minute:     time.Minute,
			3 * time.Second: 5 * time.Second,
			-time.Second:    5 * time.Second,
		} {
			within, cancel := context.WithTimeout(t.Context(), grace)
			ctx, end := extendGrace(within, 5*time.Second)
			if at, _ := ctx.Deadline(); time.Until(at) != want || ctx.Err() != nil {
				t.Errorf("grace period %v: the context ends in %v (%v), want %v",
					grace, time.Until(at), ctx.Err(), want)
			}
			end()
			cancel()
		}
	})
}

// TestTraceLimit checks that sending spans takes at most half of the remaining grace
// period.
func TestTraceLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, want := range map[time.Duration]time.Duration{
			0:               traceGrace,
			time.Minute:     traceGrace,
			2 * time.Second: time.Second,
		} {
			ctx, cancel := context.WithCancel(t.Context())
			if grace > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), grace)
			}
			if limit := traceLimit(ctx); limit != want {
				t.Errorf("grace period %v: spans have %v, want %v", grace, limit, want)
			}
			cancel()
		}
	})
}
