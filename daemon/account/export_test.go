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
func AtOnce() int { return atOnce() }

// Write is what the goroutine of Start does each minute.
func (s *Service) Write(ctx context.Context) error { return s.write(ctx) }

// Waiting is the number of those who wait for their password to be computed.
func (s *Service) Waiting() int {
	g := s.hasher.running
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queues[0]) + len(g.queues[1])
}

// loadBy is load with another way of finding what is not remembered.
func (c *cache[V]) loadBy(ctx context.Context, name string, now time.Time, fetch func() (*V, error)) (*V, error) {
	value, ok, age := c.peek(name, now)
	if ok {
		return value, nil
	}
	return c.fetch(ctx, name, now, age, func(context.Context, string) (*V, error) { return fetch() })
}
