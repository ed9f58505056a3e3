package account

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

const (
	lookupTTL  = 5 * time.Second
	mostCached = 8192 // entries of each cache
)

// cache remembers look-ups for a few seconds, those that found nothing (nil)
// too.
type cache[V any] struct {
	ttl time.Duration

	mu      sync.Mutex
	entries map[string]cached[V]
	age     uint64 // counts forget
	swept   time.Time
	pending map[string]*fetching[V] // under way
}

type cached[V any] struct {
	value *V
	until time.Time
}

func newCache[V any](ttl time.Duration) *cache[V] {
	return &cache[V]{ttl: ttl, entries: make(map[string]cached[V]), pending: make(map[string]*fetching[V])}
}

// load gives what is remembered, else what fetch finds. Those who want the same
// at the same moment share one fetch: else all the requests of a busy client would
// go to the store whenever what is remembered has become old.
func (c *cache[V]) load(ctx context.Context, name string, now time.Time, fetch func() (*V, error)) (*V, error) {
	for {
		value, ok, age := c.peek(name, now)
		if ok {
			return value, nil
		}
		f, mine := c.join(name, age)
		if mine {
			return c.fetch(ctx, name, now, f, fetch)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, fault.Because(ctx.Err(), fault.Unavailable, "the request ended before it was known who sent it")
		}
		if !f.abandoned {
			return f.value, f.err
		}
	}
}

func (c *cache[V]) peek(name string, now time.Time) (value *V, ok bool, age uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[name]
	if !ok || !e.until.After(now) {
		return nil, false, c.age
	}
	return e.value, true, c.age
}

// put remembers what was fetched at age. What was fetched before a forget may
// be what had to be forgotten, so it is not kept.
func (c *cache[V]) put(name string, value *V, now time.Time, age uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age != c.age {
		return
	}
	if _, there := c.entries[name]; !there {
		c.makeRoom(now)
	}
	c.entries[name] = cached[V]{value, now.Add(c.ttl)}
}

// forget drops the entries that match; value is nil for those that found
// nothing.
func (c *cache[V]) forget(match func(name string, value *V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age++
	for name, e := range c.entries {
		if match(name, e.value) {
			delete(c.entries, name)
		}
	}
}

// generation changes with every forget.
func (c *cache[V]) generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.age
}

// makeRoom drops what is old, and if that is not enough, anything. It looks
// for what is old once in a while: else a flood of made-up names would have it
// walk the whole map for each.
func (c *cache[V]) makeRoom(now time.Time) {
	if len(c.entries) < mostCached {
		return
	}
	if now.Sub(c.swept).Abs() >= c.ttl {
		c.swept = now
		maps.DeleteFunc(c.entries, func(_ string, e cached[V]) bool { return !e.until.After(now) })
	}
	for name := range c.entries {
		if len(c.entries) < mostCached {
			return
		}
		delete(c.entries, name)
	}
}
