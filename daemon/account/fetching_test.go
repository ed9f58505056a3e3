package account

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// many load one name at once. What they get is counted.
func many(ctx context.Context, c *cache[int], fetch func() (*int, error)) (got func() map[int]int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	values := make(map[int]int)
	for range 10 {
		all.Go(func() {
			value, err := loadBy(ctx, c, "a", day, fetch)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				values[-1]++
			} else {
				values[*value]++
			}
		})
	}
	return func() map[int]int { all.Wait(); return values }
}

func TestThoseWhoComeAtOnceShareAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, gate, fetched := newTestCache(time.Minute), make(chan struct{}), 0
		got := many(t.Context(), c, func() (*int, error) { fetched++; <-gate; return new(7), nil })
		synctest.Wait()
		close(gate)
		if values := got(); values[7] != 10 || fetched != 1 {
			t.Errorf("%v after %d fetches", values, fetched)
		}
	})
}

// A cancelled caller does not cancel the others.
func TestAFetchThatWasAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCache(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := loadBy(ctx, c, "a", day, func() (*int, error) { <-ctx.Done(); return nil, ctx.Err() })
			first <- err
		}()
		synctest.Wait()
		got := many(t.Context(), c, func() (*int, error) { return new(7), nil })
		synctest.Wait()
		cancel()
		if values := got(); values[7] != 10 || <-first == nil {
			t.Errorf("those who stayed got %v", values)
		}
	})
}

// A caller that waits for a shared look-up can be cancelled.
func TestLeavingAFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, gate := newTestCache(time.Minute), make(chan struct{})
		first := make(chan error, 1)
		go func() {
			_, err := loadBy(t.Context(), c, "a", day, func() (*int, error) { <-gate; return new(7), nil })
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		got := many(ctx, c, nil)
		synctest.Wait()
		cancel()
		if values := got(); values[-1] != 10 {
			t.Errorf("those who left got %v", values)
		}
		close(gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// A change shows at once to those who come after it, although a look-up of before
// is under way.
func TestNobodyJoinsAFetchOfBeforeAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, gate := newTestCache(time.Minute), make(chan struct{})
		before := many(t.Context(), c, func() (*int, error) { <-gate; return new(1), nil })
		synctest.Wait()
		c.forget(func(string, *int) bool { return true })
		if value, err := loadBy(t.Context(), c, "a", day, func() (*int, error) { return new(2), nil }); err != nil || *value != 2 {
			t.Errorf("after a change: %v, %v", *value, err)
		}
		close(gate)
		if values := before(); values[1] != 10 {
			t.Errorf("before the change: %v", values)
		}
		if value, err := loadBy(t.Context(), c, "a", day, nil); err != nil || *value != 2 {
			t.Errorf("remembered: %v, %v", *value, err)
		}
	})
}
