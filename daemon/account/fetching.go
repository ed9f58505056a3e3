package account

import (
	"context"
	"time"
)

// fetching is a look-up that is under way. What it found may be read once done is
// closed.
type fetching[V any] struct {
	age       uint64 // of the cache when it began
	done      chan struct{}
	value     *V
	err       error
	abandoned bool // the one who looked went away, which says nothing to the others
}

// join gives the look-up of a name that is under way, or a new one, which is then
// the caller's to carry out. One that began before a forget may find what had to
// be forgotten, so nobody joins it.
func (c *cache[V]) join(name string, age uint64) (f *fetching[V], mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f = c.pending[name]; f != nil && f.age == c.age {
		return f, false
	}
	f = &fetching[V]{age: age, done: make(chan struct{}), abandoned: true} // should it panic
	c.pending[name] = f
	return f, true
}

// fetch carries a look-up out and remembers what it finds.
func (c *cache[V]) fetch(ctx context.Context, name string, now time.Time, f *fetching[V], find func() (*V, error)) (*V, error) {
	defer c.leave(name, f)
	f.value, f.err = find()
	f.abandoned = f.err != nil && ctx.Err() != nil
	if f.err != nil {
		return nil, f.err
	}
	c.put(name, f.value, now, f.age)
	return f.value, nil
}

func (c *cache[V]) leave(name string, f *fetching[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[name] == f {
		delete(c.pending, name)
	}
	close(f.done)
}
