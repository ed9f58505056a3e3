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

// cache remembers look-ups for a few seconds, those that found nothing (nil)
// too.
type cache[V any] struct {
	ttl     time.Duration
	find    func(ctx context.Context, name string) (*V, error) // in the store
	flights singleflight.Group

	mu      sync.Mutex
	entries *bounded.Map[string, cached[V]]
	age     uint64 // counts forget
}

type cached[V any] struct {
	value *V
	until time.Time
}

func newCache[V any](ttl time.Duration, find func(ctx context.Context, name string) (*V, error)) *cache[V] {
	expired := func(e cached[V], now time.Time) bool { return !e.until.After(now) }
	return &cache[V]{ttl: ttl, find: find, entries: bounded.New[string](maxCached, ttl, expired)}
}

// load gives what is remembered, else what find finds, and remembers that. Those
// who want the same at the same moment share one look-up, but for one that began
// before a forget: it may find what had to be forgotten.
func (c *cache[V]) load(ctx context.Context, name string, now time.Time) (*V, error) {
	value, ok, age := c.peek(name, now)
	if ok {
		return value, nil
	}
	return share(ctx, &c.flights, strconv.FormatUint(age, 10)+" "+name, "the request ended before it was known who sent it", func() (*V, error) {
		value, err := c.find(ctx, name)
		if err != nil {
			return nil, err
		}
		c.put(name, value, now, age)
		return value, nil
	})
}

func (c *cache[V]) peek(name string, now time.Time) (value *V, ok bool, age uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(name)
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
	if age == c.age {
		c.entries.Set(name, cached[V]{value, now.Add(c.ttl)}, now)
	}
}

// forget drops the entries that match; value is nil for those that found
// nothing.
func (c *cache[V]) forget(match func(name string, value *V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.age++
	c.entries.DeleteFunc(func(name string, e cached[V]) bool { return match(name, e.value) })
}

// generation changes with every forget.
func (c *cache[V]) generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.age
}
