package account

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/singleflight"

	"github.com/bizhook/whd/daemon/fault"
)

// outcome is what came of work that several callers share.
type outcome[V any] struct {
	value     V
	err       error
	abandoned bool  // its caller went away, which says nothing about the others
	panicked  error // with the stack of the work
}

// share runs work, or waits for the work of the same name that is under way: a
// client that opens many connections at once with the same password neither pays
// for each nor runs into the throttle, and the requests of a busy client do not all
// go to the store whenever what is remembered of it has become old. Those who go
// away while they wait get a failure with the message gone.
func share[V any](ctx context.Context, flights *singleflight.Group, name, gone string, work func() (V, error)) (V, error) {
	for {
		mine := false
		done := flights.DoChan(name, func() (any, error) {
			mine = true
			o := outcome[V]{abandoned: true}
			func() {
				defer func() {
					if cause := recover(); cause != nil { // the program would end: this goroutine is no request's
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
			return none, fault.Wrap(ctx.Err(), fault.Unavailable, "%s", gone)
		}
	}
}
