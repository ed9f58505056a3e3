package store

import (
	"context"
	"sync/atomic"
)

// turn is the right to write to a file, which one has at a time. SQLite would
// let writers try until one of them is lucky, and those whose next transaction
// follows at once would leave none to the others.
type turn struct {
	taken   chan struct{} // whoever has the turn has put something in
	waiting atomic.Int32
}

func newTurn() *turn { return &turn{taken: make(chan struct{}, 1)} }

// enter waits for the turn, which leave ends.
func (t *turn) enter(ctx context.Context) (leave func(), err error) {
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wanted reports whether somebody waits for the turn. Who has it and can stop
// anywhere does so then.
func (t *turn) wanted() bool { return t.waiting.Load() > 0 }
