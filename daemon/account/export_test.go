package account

import (
	"context"
	"crypto/sha256"
	"time"
)

// CheapHashes replaces argon2 by SHA-256, which makes tests fast. It calls before each
// computation.
func (s *Service) CheapHashes(before func()) {
	s.hasher.derive = func(password, salt []byte, _, _ uint32, _ uint8, length uint32) []byte {
		before()
		sum := sha256.Sum256(append(salt[:len(salt):len(salt)], password...))
		return sum[:length]
	}
}

// Concurrency returns the number of concurrent hashes on this machine.
func Concurrency() int { return concurrency() }

// Write stores the recorded times, as the goroutine of Start does each minute.
func (s *Service) Write(ctx context.Context) error { return s.write(ctx) }

// Waiting returns the number of attempts that wait for the semaphore.
func (s *Service) Waiting() int {
	sem := s.hasher.running
	sem.mu.Lock()
	defer sem.mu.Unlock()
	return len(sem.queues[0]) + len(sem.queues[1])
}

type fetchKey struct{}

// newTestCache returns a cache for loadBy.
func newTestCache(ttl time.Duration) *cache[int] {
	return newCache(ttl, func(ctx context.Context, _ string) (*int, error) {
		return ctx.Value(fetchKey{}).(func() (*int, error))()
	})
}

// loadBy calls load with fetch as the look-up of values that are not cached.
func loadBy(
	ctx context.Context, c *cache[int], name string, now time.Time, fetch func() (*int, error),
) (*int, error) {
	return c.load(context.WithValue(ctx, fetchKey{}, fetch), name, now)
}
