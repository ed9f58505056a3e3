package account

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/singleflight"

	"github.com/bizhook/whd/daemon/fault"
)

// outcome is the result of work that several callers share.
type outcome[V any] struct {
	value     V
	err       error
	abandoned bool  // failed because the context of the caller that ran it was done
	panicked  error // a panic of the work, with its stack
}

// share runs work, or waits for running work with the same name and returns its result.
// Thus concurrent requests with the same password cost one hash and one failure, and
// an expired cache entry causes one look-up. If ctx is done while waiting, it fails
// with the message cancelled. Work that failed because its own caller was cancelled is
// run again by another caller.
func share[V any](
	ctx context.Context, flights *singleflight.Group, name, cancelled string, work func() (V, error),
) (V, error) {
	for {
		mine := false
		done := flights.DoChan(name, func() (any, error) {
			mine = true
			o := outcome[V]{abandoned: true}
			func() {
				defer func() {
					if cause := recover(); cause != nil { // in this goroutine a panic would end the process
						o.panicked = fmt.Errorf("%v\n\n%s", cause, debug.Stack())
					}
				}()
				o.value, o.err = work()
				o.abandoned = o.err != nil && ctx.Err() != nil
			}()
			return o, nil
		})
		select {
		case r := <-done:
			o := r.Val.(outcome[V])
			if mine && o.panicked != nil {
				panic(o.panicked)
			}
			if mine || !o.abandoned {
				return o.value, o.err
			}
		case <-ctx.Done():
			var none V
			return none, fault.Wrap(ctx.Err(), fault.Unavailable, "%s", cancelled)
		}
	}
}
