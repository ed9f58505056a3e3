package webhook

import (
	"context"
	"time"
)

// The pace of sweeping: so little at once that nobody waits for it.
const (
	sweepRows  = 1000
	sweepPause = 50 * time.Millisecond
	sweepEvery = time.Hour
)

// sweeping removes the messages of subscriptions that are gone: after a start,
// when one was removed, and now and then.
func (e *Engine) sweeping(ctx context.Context) {
	wait := newPatience()
	for {
		more, err := e.store.Sweep(ctx, sweepRows)
		pause := sweepEvery
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.log.Warn("removing messages of subscriptions that are gone failed", "error", err.Error())
			pause = wait.next()
		case more:
			pause = sweepPause
			wait.reset()
		}
		if !e.sleep(ctx, e.litter, pause) {
			return
		}
	}
}
