package changes

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// countingReads returns a function that reads a batch of n changes after a second, and the number
// of its calls.
func countingReads(n int) (read func(context.Context) (*Batch, error), calls *atomic.Int64) {
	calls = new(atomic.Int64)
	return func(ctx context.Context) (*Batch, error) {
		calls.Add(1)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
		return &Batch{Changes: make([]Change, n), Next: "next"}, nil
	}, calls
}

// TestRequestsShareABatch checks that requests for the same changes read them once, also those
// that arrive shortly after the read.
func TestRequestsShareABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		read, calls := countingReads(2)
		key := batchKey{kind: "Item", take: 10}
		get := func() *Batch {
			batch, err := b.get(t.Context(), key, read)
			if err != nil || len(batch.Changes) != 2 {
				t.Errorf("a batch: %+v (%v), want two changes", batch, err)
			}
			return batch
		}
		first := get()
		if later := get(); later != first || calls.Load() != 1 {
			t.Errorf("%d reads for two requests within %v, want one", calls.Load(), batchLifetime)
		}
		time.Sleep(2 * batchLifetime)
		synctest.Wait()
		get()
		if calls.Load() != 2 {
			t.Errorf("%d reads after %v, want another", calls.Load(), 2*batchLifetime)
		}
		time.Sleep(2 * batchLifetime)
		synctest.Wait()
		if len(b.shared) > 0 || b.kept != 0 {
			t.Errorf("%d batches are kept, counted as %d, want none", len(b.shared), b.kept)
		}
	})
}

// TestEmptyBatchIsNotShared checks that a request does not learn that there are no changes from a
// read that began before it: a change may have been published since.
func TestEmptyBatchIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		read, calls := countingReads(0)
		key := batchKey{kind: "Item", take: 10}
		for range 3 {
			go func() { _, _ = b.get(t.Context(), key, read) }()
			time.Sleep(100 * time.Millisecond)
		}
		_, err := b.get(t.Context(), key, read)
		synctest.Wait()
		if err != nil || calls.Load() < 2 {
			t.Errorf("%d reads (%v) for requests that began during the first one, want at least two", calls.Load(), err)
		}
	})
}

// TestReadOfAClientThatLeft checks that requests that waited for the read of another one are not
// cancelled with it.
func TestReadOfAClientThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		read, calls := countingReads(1)
		key := batchKey{kind: "Item", take: 10}
		for range cap(b.reading) { // no read can start
			b.reading <- struct{}{}
		}
		leaving, leave := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() {
			_, err := b.get(leaving, key, read)
			ended <- err
		}()
		synctest.Wait()
		go func() {
			_, err := b.get(t.Context(), key, read)
			ended <- err
		}()
		synctest.Wait()
		leave()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the request of the client that left: %v, want %v", err, context.Canceled)
		}
		<-b.reading
		if err := <-ended; err != nil || calls.Load() != 1 {
			t.Errorf("the request that waited for it: %v after %d reads, want its own read", err, calls.Load())
		}
	})
}

// TestReadThatPanics checks that requests that waited for a read get an error if it panics.
func TestReadThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		key := batchKey{kind: "Item", take: 10}
		for range cap(b.reading) { // no read can start
			b.reading <- struct{}{}
		}
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_, _ = b.get(t.Context(), key, func(context.Context) (*Batch, error) { panic("a damaged change") })
		}()
		synctest.Wait()
		joined := make(chan error, 1)
		go func() {
			batch, err := b.get(t.Context(), key, func(context.Context) (*Batch, error) {
				return nil, errors.New("a read of its own")
			})
			if batch != nil {
				t.Errorf("the joined request got the batch %+v, want none", batch)
			}
			joined <- err
		}()
		synctest.Wait()
		<-b.reading
		if value := <-panicked; value != "a damaged change" {
			t.Errorf("the first request recovered %v, want the panic of its read", value)
		}
		if err := <-joined; !errors.Is(err, errUnread) {
			t.Errorf("the joined request got the error %v, want %v", err, errUnread)
		}
	})
}

// TestSlowStoreFailsForAllTogether checks that requests share the error of a read that took longer
// than the store's own limit, and do not wait for one read after the other.
func TestSlowStoreFailsForAllTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 15 * time.Second
		b := newBatches()
		slow := func(ctx context.Context) (*Batch, error) {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			<-ctx.Done()
			return nil, fmt.Errorf("reading changes: %w", ctx.Err())
		}
		ended := make(chan error, 100)
		start := time.Now()
		for range cap(ended) {
			go func() {
				_, err := b.get(t.Context(), batchKey{kind: "Item"}, slow)
				ended <- err
			}()
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a request to a slow store: %v, want %v", err, context.DeadlineExceeded)
			}
		}
		if took := time.Since(start); took > 2*limit {
			t.Errorf("the last of %d requests failed after %v, want at most %v", cap(ended), took, 2*limit)
		}
	})
}

// TestLargeBatchesAreNotKept checks that batches are kept only while they are small and few.
func TestLargeBatchesAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches()
		large := func(context.Context) (*Batch, error) {
			return &Batch{Changes: []Change{{Body: make([]byte, maxKeptBatch+1)}}}, nil
		}
		if _, err := b.get(t.Context(), batchKey{kind: "Large"}, large); err != nil || numKept(b) != 0 {
			t.Errorf("%d large batches are kept (%v), want none", numKept(b), err)
		}
		small, _ := countingReads(1)
		for take := range 2 * maxKept {
			if _, err := b.get(t.Context(), batchKey{kind: "Small", take: take}, small); err != nil || numKept(b) > maxKept {
				t.Errorf("%d batches are kept (%v), want at most %d", numKept(b), err, maxKept)
			}
		}
		time.Sleep(2 * batchLifetime)
	})
}

func numKept(b *batches) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept
}

func TestBodiesOfABatch(t *testing.T) {
	b := &Batch{Changes: []Change{{Body: []byte("{1}")}, {Body: []byte("{2}")}}}
	for separator, want := range map[string]string{",": "{1},{2}", "\n": "{1}\n{2}"} {
		for range 2 {
			if joined := string(b.Bodies(separator)); joined != want {
				t.Errorf("bodies with %q between them: %q, want %q", separator, joined, want)
			}
		}
	}
	if joined := (&Batch{}).Bodies(","); len(joined) > 0 {
		t.Errorf("bodies of no changes: %q, want none", joined)
	}
}

// TestFollowersAreWokenInGroups checks that each follower is woken once, the first at once, and
// that few of them are at the same time.
func TestFollowersAreWokenInGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const followers = 10 * wakeGroups
		w := &waiting{}
		woken := make(chan time.Time, followers)
		for range followers {
			channel := w.join()
			go func() {
				<-channel
				woken <- time.Now()
			}()
		}
		synctest.Wait()
		start := time.Now()
		w.wake()
		counts := make(map[time.Duration]int)
		for range followers {
			counts[(<-woken).Sub(start)]++
		}
		for i := range wakeGroups {
			if n := counts[time.Duration(i)*wakeInterval]; n != followers/wakeGroups {
				t.Errorf("%d followers were woken after %v, want %d", n, time.Duration(i)*wakeInterval, followers/wakeGroups)
			}
		}
	})
}
