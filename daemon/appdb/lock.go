package appdb

import (
	"context"
	"hash/fnv"
	"sync/atomic"
)

// lockRows is the number of rows of WH_Lock, of which each locks some keys.
const lockRows = 64

// lockRow is the row of WH_Lock that locks a key.
func lockRow(key string) int64 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int64(h.Sum32() % lockRows)
}

// writeLock is the right to write to a file, which one has at a time. SQLite would
// let writers try until one of them is lucky, and those whose next transaction
// follows at once would leave none to the others.
type writeLock struct {
	taken   chan struct{} // holds one element while the lock is taken
	Waiting atomic.Int32
}

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// lock waits for the turn, which leave ends.
func (t *writeLock) lock(ctx context.Context) (leave func(), err error) {
	t.Waiting.Add(1)
	defer t.Waiting.Add(-1)
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wanted reports whether other writers wait for the lock. A holder that can stop
// anywhere does so then.
func (t *writeLock) Wanted() bool { return t.Waiting.Load() > 0 }
