package appdb

import (
	"context"
	"hash/fnv"
	"sync/atomic"

	"github.com/bizhook/whd/daemon/fault"
)

// lockRows is the number of rows of WH_Lock; each locks the keys that hash to it.
const lockRows = 64

// lockRow returns the ID of the row of WH_Lock that locks a key.
func lockRow(key string) int64 {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int64(h.Sum32() % lockRows)
}

// writeLock serializes writers to a file in first-come order. SQLite itself lets
// writers poll, so a writer with consecutive transactions would starve the others.
type writeLock struct {
	taken   chan struct{} // holds one element while the lock is taken
	Waiting atomic.Int32
	failed  atomic.Pointer[fault.Error] // see DB.Fail
}

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// lock waits for the lock and returns a function that releases it.
func (l *writeLock) lock(ctx context.Context) (unlock func(), err error) {
	l.Waiting.Add(1)
	defer l.Waiting.Add(-1)
	select {
	case l.taken <- struct{}{}:
		if err := l.failed.Load(); err != nil {
			<-l.taken
			return nil, err
		}
		return func() { <-l.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wanted reports whether other writers wait for the lock. A holder that can stop
// early should release it then.
func (l *writeLock) Wanted() bool { return l.Waiting.Load() > 0 }
