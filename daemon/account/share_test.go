package account

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// loadConcurrently starts ten loads of one name. got waits for them and counts the values
// returned; -1 counts errors.
func loadConcurrently(ctx context.Context, c *cache[int], fetch func() (*int, error)) (got func() map[int]int) {
	var group sync.WaitGroup
	var mu sync.Mutex
	values := make(map[int]int)
	for range 10 {
		group.Go(func() {
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
	return func() map[int]int {
		group.Wait()
		return values
	}
}

func TestConcurrentLoadsShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCache(time.Minute)
		release := make(chan struct{})
		fetched := 0
		got := loadConcurrently(t.Context(), c, func() (*int, error) {
			fetched++
			<-release
			return new(7), nil
		})
		synctest.Wait()
		close(release)
		if values := got(); values[7] != 10 || fetched != 1 {
			t.Errorf("values are %v after %d look-ups, want 10 times 7 after 1", values, fetched)
		}
	})
}

// TestCancelledLookupIsRetried checks that the other callers retry a look-up if the caller that
// runs it is cancelled.
func TestCancelledLookupIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCache(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := loadBy(ctx, c, "a", day, func() (*int, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			first <- err
		}()
		synctest.Wait()
		got := loadConcurrently(t.Context(), c, func() (*int, error) { return new(7), nil })
		synctest.Wait()
		cancel()
		if values := got(); values[7] != 10 || <-first == nil {
			t.Errorf("the other callers got %v, want 10 times 7", values)
		}
	})
}

func TestWaitingForALookupCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCache(time.Minute)
		release := make(chan struct{})
		first := make(chan error, 1)
		go func() {
			_, err := loadBy(t.Context(), c, "a", day, func() (*int, error) {
				<-release
				return new(7), nil
			})
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		got := loadConcurrently(ctx, c, nil)
		synctest.Wait()
		cancel()
		if values := got(); values[-1] != 10 {
			t.Errorf("the cancelled callers got %v, want 10 errors", values)
		}
		close(release)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// TestLoadAfterAChangeDoesNotShareAnEarlierLookup checks that a load after a change does not
// share a look-up that started before the change.
func TestLoadAfterAChangeDoesNotShareAnEarlierLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestCache(time.Minute)
		release := make(chan struct{})
		before := loadConcurrently(t.Context(), c, func() (*int, error) {
			<-release
			return new(1), nil
		})
		synctest.Wait()
		c.forget(func(string, *int) bool { return true })
		value, err := loadBy(t.Context(), c, "a", day, func() (*int, error) { return new(2), nil })
		if err != nil || *value != 2 {
			t.Errorf("a load after the change: got %v (%v), want 2", value, err)
		}

		close(release)
		if values := before(); values[1] != 10 {
			t.Errorf("the loads before the change: got %v, want 10 times 1", values)
		}
		value, err = loadBy(t.Context(), c, "a", day, nil)
		if err != nil || *value != 2 {
			t.Errorf("the cached value: got %v (%v), want 2", value, err)
		}
	})
}
