package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// scanInterval is the time between the starts of two scans of old messages.
const scanInterval = 24 * time.Hour

// janitor removes obsolete data. Of the daemons on a store, only the coordinator does so.
type janitor struct {
	*core
	requested <-chan struct{} // buffered; subscriptions were removed
	scan      scan
	pace
}

// scan is the progress of the daily scan for old messages. Messages that it has passed
// are kept until the next scan.
type scan struct {
	after     int64 // ID of the last scanned message
	startedAt time.Time
	retention webhook.Retention // in effect for this scan
}

// run removes obsolete data after the start, when a subscription was removed, and at
// intervals, until ctx is done.
func (j *janitor) run(ctx context.Context) {
	j.pace = filePace
	if j.LeaseTerm > 0 {
		j.pace = serverPace
	}
	wait := newBackoff()
	for {
		err := j.runOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		pause := j.interval
		if err != nil {
			j.Log.Warn("removing old messages failed", "error", err.Error())
			pause = wait.Next()
		} else {
			wait.Reset()
		}
		if !sleep(ctx, j.requested, pause) {
			return
		}
	}
}

// runOnce removes everything that is obsolete now.
func (j *janitor) runOnce(ctx context.Context) error {
	err := j.runSteps(ctx, func(ctx context.Context) (Removed, error) { return j.Store.Sweep(ctx, j.rows) })
	if err != nil {
		return err
	}

	err = j.runSteps(ctx, func(ctx context.Context) (Removed, error) {
		return j.Store.RemoveMinutes(ctx, stats.MinuteOf(j.storeTime().Add(-stats.Kept)), j.rows)
	})
	if err != nil {
		return err
	}

	// A scan continues unless a day has passed or the retention has changed.
	now := j.Now()
	retention := j.Retention()
	if retention != j.scan.retention || now.Sub(j.scan.startedAt) >= scanInterval {
		j.scan = scan{startedAt: now, retention: retention}
	}
	err = j.runSteps(ctx, j.prune)
	if err != nil {
		return err
	}

	return j.runSteps(ctx, func(ctx context.Context) (Removed, error) {
		return j.Store.Reclaim(ctx, j.rows, j.Retention().TextSize)
	})
}

// runSteps repeats a step, with pauses, while there is more to do and this daemon is
// the coordinator.
func (j *janitor) runSteps(ctx context.Context, step func(context.Context) (Removed, error)) error {
	for n := 0; j.queues.isCoordinator(); n++ {
		began := time.Now()
		r, err := step(ctx)
		j.recorder.Count(stats.Counts{Removed: int64(r.Rows)})
		if err != nil || !r.More {
			return err
		}
		j.adjust(r)
		if !sleep(ctx, nil, j.pause(n, r, time.Since(began))) {
			return ctx.Err()
		}
	}
	return nil
}

// prune removes a batch of old messages, unless a subscription was removed: its
// messages are removed first.
func (j *janitor) prune(ctx context.Context) (Removed, error) {
	scan := &j.scan
	now := j.storeTime()
	if scan.retention.Successful+scan.retention.Failed == 0 || len(j.requested) > 0 {
		return Removed{}, nil
	}
	r, err := j.Store.Prune(ctx, Prune{
		After:      scan.after,
		Limit:      j.rows,
		Successful: cutoff(scan.retention.Successful, now),
		Failed:     cutoff(scan.retention.Failed, now),
	})
	if err == nil {
		scan.after = r.Last
	}
	return r, err
}

// cutoff returns the retention cutoff time, zero if everything is kept.
func cutoff(retention time.Duration, now time.Time) time.Time {
	if retention == 0 {
		return time.Time{}
	}
	return now.Add(-retention)
}
