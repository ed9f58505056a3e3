// Package backoff computes the waits between retries, and waits.
package backoff

import (
	"context"
	"time"
)

// Backoff is an exponential backoff: Min after the first failure, doubled after each
// further one, limited to Max. The caller adds jitter if needed.
type Backoff struct {
	Min, Max time.Duration

	failures int // consecutive
}

// maxDoublings prevents an overflow of time.Duration.
const maxDoublings = 20

// Wait returns the current wait; 0 without failures.
func (b *Backoff) Wait() time.Duration {
	if b.failures == 0 {
		return 0
	}
	return min(b.Min<<min(b.failures-1, maxDoublings), b.Max)
}

// Next counts a failure and returns the wait after it.
func (b *Backoff) Next() time.Duration {
	b.failures++
	return b.Wait()
}

// Reset resets the failures after a success.
func (b *Backoff) Reset() { b.failures = 0 }

// Sleep waits for d or until ctx is done; then it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
