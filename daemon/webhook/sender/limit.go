package sender

import (
	"context"
	"time"
)

// runWithin calls do and returns true when it has returned. Once ctx is done, it calls
// interrupt, which makes do return soon, and waits for at most grace. If do is still running
// then, it returns false and leaves do behind.
//
// It exists because cancelling the context of a request does not interrupt all reads of a
// response, and because closing the response may block as well.
func runWithin(ctx context.Context, grace time.Duration, do, interrupt func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()

	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	go interrupt()

	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
