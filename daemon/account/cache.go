package account

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/bizhook/whd/daemon/bounded"
)

const (
	lookupTTL = 5 * time.Second
	maxCached = 8192 // entries of each cache
)

// cache caches look-ups for ttl, including those without a result (nil).
type cache[V any] struct {
	ttl     time.Duration
	find    func(ctx context.Context, name string) (*V, error) // reads the store
	flights singleflight.Group

	mu         sync.Mutex
	entries    *bounded.Map[string, cached[V]]
	generation uint64 // number of calls of forget
}

type cached[V any] struct {
	value *V
	until time.Time
}

func newCache[V any](
	ttl time.Duration, find func(ctx context.Context, name string) (*V, error),
) *cache[V] {
	expired := func(e cached[V], now time.Time) bool { return !e.until.After(now) }
	return &cache[V]{ttl: ttl, find: find, entries: bounded.New[string](maxCached, ttl, expired)}
}

// load returns the cached value, else the result of find, which it caches. Concurrent
// callers with the same name share one call of find, unless forget was called after it
// started: its result may be outdated.
func (c *cache[V]) load(ctx context.Context, name string, now time.Time) (*V, error) {
	value, ok, generation := c.peek(name, now)
	if ok {
		return value, nil
	}
	const cancelled = "the request was cancelled before it was authenticated"
	flight := strconv.FormatUint(generation, 10) + " " + name
	return share(ctx, &c.flights, flight, cancelled, func() (*V, error) {
		value, err := c.find(ctx, name)
		if err != nil {
			return nil, err
		}
		c.put(name, value, now, generation)
		return value, nil
	})
}

// peek returns a cached value and the current generation, without a look-up.
func (c *cache[V]) peek(name string, now time.Time) (value *V, ok bool, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(name)
	if !ok || !e.until.After(now) {
		return nil, false, c.generation
	}
	return e.value, true, c.generation
}

// put caches a value that was looked up from generation on. If forget was called since,
// the value may be outdated and is not cached.
func (c *cache[V]) put(name string, value *V, now time.Time, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation == c.generation {
		c.entries.Set(name, cached[V]{value, now.Add(c.ttl)}, now)
	}
}

// forget removes the entries that match. value is nil for look-ups without a result.
func (c *cache[V]) forget(match func(name string, value *V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.entries.DeleteFunc(func(name string, e cached[V]) bool { return match(name, e.value) })
}

// currentGeneration returns a number that changes with every forget.
func (c *cache[V]) currentGeneration() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}
