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

	// Once in a scan, old messages are searched behind many with later times, which were added while
	// the clock was ahead.
	beyond     int64 // ID at which this continues; 0 before its start
	isComplete bool  // there are no more
}

// removal removes a limited number of obsolete rows of one kind.
type removal func(context.Context) (Removed, error)

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
			j.Log.Warn("removing obsolete data failed", "error", err.Error())
			pause = wait.Next()
		} else {
			wait.Reset()
		}
		if !sleep(ctx, j.requested, pause) {
			return
		}
	}
}

// runOnce removes everything that is obsolete now. It ends early when a subscription is removed:
// the next round starts with its messages.
func (j *janitor) runOnce(ctx context.Context) error {
	j.continueScan()
	for _, remove := range []removal{j.sweep, j.removeMinutes, j.prune, j.pruneBeyond, j.reclaim} {
		err := j.repeat(ctx, remove)
		if err != nil || j.isRequested() {
			return err
		}
	}
	return nil
}

// repeat repeats a removal, with pauses, while there is more to remove and this daemon is the
// coordinator. The last step is followed by a pause as well: another removal may be next.
func (j *janitor) repeat(ctx context.Context, remove removal) error {
	for n := 0; j.queues.isCoordinator(); n++ {
		began := time.Now()
		r, err := remove(ctx)
		if err != nil {
			return err
		}
		j.adjust(r)
		isLast := !r.More || j.isRequested()
		if isLast && r.Took == 0 {
			return nil
		}
		if !sleep(ctx, nil, j.pause(n, r, time.Since(began))) {
			return ctx.Err()
		}
		if isLast {
			return nil
		}
	}
	return nil
}

// isRequested reports whether a subscription was removed since the round began.
func (j *janitor) isRequested() bool { return len(j.requested) > 0 }

// sweep removes messages of removed subscriptions, and other rows that have expired.
func (j *janitor) sweep(ctx context.Context) (Removed, error) {
	r, err := j.Store.Sweep(ctx, j.rows)
	j.count(r)
	return r, err
}

// removeMinutes removes old statistics.
func (j *janitor) removeMinutes(ctx context.Context) (Removed, error) {
	return j.Store.RemoveMinutes(ctx, stats.MinuteOf(j.storeTime().Add(-stats.Kept)), j.rows)
}

// continueScan starts another scan if a day has passed or the retention has changed.
func (j *janitor) continueScan() {
	now := j.Now()
	retention := j.Retention()
	if retention != j.scan.retention || now.Sub(j.scan.startedAt) >= scanInterval {
		j.scan = scan{startedAt: now, retention: retention}
	}
}

// prune removes messages after their retention.
func (j *janitor) prune(ctx context.Context) (Removed, error) {
	scan := &j.scan
	if scan.retention.Successful == 0 && scan.retention.Failed == 0 {
		return Removed{}, nil
	}
	r, err := j.pruneSome(ctx, Prune{After: scan.after})
	if err != nil {
		return r, err
	}
	scan.after = r.Last
	scan.beyond = max(scan.beyond, r.Beyond)
	return r, nil
}

// pruneBeyond removes messages that the scan does not reach, since those before them have later
// times. It reads only blocks that can have some: nearly always none.
func (j *janitor) pruneBeyond(ctx context.Context) (Removed, error) {
	scan := &j.scan
	if scan.beyond == 0 || scan.isComplete {
		return Removed{}, nil
	}
	r, err := j.pruneSome(ctx, Prune{After: scan.beyond, SkipBlocks: true})
	if err != nil {
		return r, err
	}
	scan.isComplete = !r.More && r.Beyond == 0
	scan.beyond = max(r.Last, r.Beyond)
	r.More = !scan.isComplete
	return r, nil
}

// pruneSome removes some of the selected messages after the retention of the scan.
func (j *janitor) pruneSome(ctx context.Context, p Prune) (Removed, error) {
	p.Now = j.storeTime()
	p.Limit = j.rows
	p.Successful = cutoff(j.scan.retention.Successful, p.Now)
	p.Failed = cutoff(j.scan.retention.Failed, p.Now)
	r, err := j.Store.Prune(ctx, p)
	if err != nil {
		return r, err
	}
	j.count(r)
	return r, nil
}

// cutoff returns the retention cutoff time, zero if everything is kept.
func cutoff(retention time.Duration, now time.Time) time.Time {
	if retention == 0 {
		return time.Time{}
	}
	return now.Add(-retention)
}

// reclaim removes response texts and returns free space to the file system.
func (j *janitor) reclaim(ctx context.Context) (Removed, error) {
	return j.Store.Reclaim(ctx, j.rows, j.Retention().TextSize)
}

// count adds removed messages and idempotency keys to the statistics.
func (j *janitor) count(r Removed) { j.recorder.Count(stats.Counts{Removed: int64(r.Rows)}) }
