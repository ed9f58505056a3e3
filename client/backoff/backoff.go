// Package backoff spaces out attempts that follow failures.
package backoff

import "time"

// Backoff is the wait before the next attempt: Min after the first failure in a row,
// twice as long after each further one, and never longer than Max. Its user adds the
// jitter, where there may be many at once.
type Backoff struct {
	Min, Max time.Duration

	failures int // in a row
}

// maxDoublings keeps waits within time.Duration for all sensible Min.
const maxDoublings = 20

// Wait is how long to wait now, 0 where nothing has failed.
func (b *Backoff) Wait() time.Duration {
	if b.failures == 0 {
		return 0
	}
	return min(b.Min<<min(b.failures-1, maxDoublings), b.Max)
}

// Next counts a failure and gives the wait after it.
func (b *Backoff) Next() time.Duration {
	b.failures++
	return b.Wait()
}

// Reset follows a success.
func (b *Backoff) Reset() { b.failures = 0 }
