package account

import (
	"context"
	"crypto/sha256"
	"time"
)

// CheapHashes replaces argon2 by SHA-256 and calls before each computation.
// Cost is what the real thing has of its own; the rules are the same.
func (s *Service) CheapHashes(before func()) {
	s.hasher.derive = func(password, salt []byte, _, _ uint32, _ uint8, length uint32) []byte {
		before()
		sum := sha256.Sum256(append(salt[:len(salt):len(salt)], password...))
		return sum[:length]
	}
}

// AtOnce is how many passwords are computed at a time on this machine.
func AtOnce() int { return concurrency() }

// Write is what the goroutine of Start does each minute.
func (s *Service) Write(ctx context.Context) error { return s.write(ctx) }

// Waiting is the number of those who wait for their password to be computed.
func (s *Service) Waiting() int {
	g := s.hasher.running
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queues[0]) + len(g.queues[1])
}

type fetchKey struct{}

// newTestCache makes a cache for loadBy.
func newTestCache(ttl time.Duration) *cache[int] {
	return newCache(ttl, func(ctx context.Context, _ string) (*int, error) {
		return ctx.Value(fetchKey{}).(func() (*int, error))()
	})
}

// loadBy is load with a way of its own to find what is not remembered.
func loadBy(ctx context.Context, c *cache[int], name string, now time.Time, fetch func() (*int, error)) (*int, error) {
	return c.load(context.WithValue(ctx, fetchKey{}, fetch), name, now)
}
