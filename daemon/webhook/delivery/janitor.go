package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The pace of the janitor.
const (
	scanInterval = 24 * time.Hour // that the walk over old messages starts again
	minPause     = time.Millisecond
)

// batchSize is how much a step removes. It follows from how long steps take.
type batchSize struct {
	rows, min, max int
	target         time.Duration // of a step
	interval       time.Duration // between two rounds
	pauseFactor    int           // times as long as a step took it rests after it, at first
}

// speedUpSteps is the number of steps, of those that come one after another because
// there is more to remove, after which the rests are halved, down to minRests: what
// can wait delays nothing.
const speedUpSteps = 32

// minPauseFactor is how many times as long as a step the rest after it is at least. A
// removal that goes on for long takes a quarter of the writer's time, which removes
// several times what the quickest deliveries add, and leaves the rest to publishers.
const minPauseFactor = 3

// pause is how long a step is followed by nothing, by the number of the step.
func (s *batchSize) pause(n int, r Removed, lasted time.Duration) time.Duration {
	if r.Rows == 0 {
		return max(lasted, minPause) // it has only read
	}
	return max(r.Took*time.Duration(max(minPauseFactor, s.pauseFactor>>min(n/speedUpSteps, 8))), minPause)
}

// A file is written to by one at a time, and publishers wait for a step:
// these take a twenty-fifth of the time at first. On a server the rows of others stay
// free, and a step is a few round trips; but nothing else bounds the answers.
var (
	fileBatch   = batchSize{rows: 100, min: 50, max: 2000, target: 2 * time.Millisecond, interval: time.Hour, pauseFactor: 24}
	serverBatch = batchSize{rows: 1000, min: 100, max: 2000, target: 200 * time.Millisecond, interval: time.Minute, pauseFactor: 4}
)

// adjust draws a conclusion from a step. One that had less to do, and took no
// longer than it may, says nothing.
func (s *batchSize) adjust(r Removed) {
	if r.Rows < s.rows && r.Took <= s.target {
		return
	}
	fits := float64(s.target) / float64(max(r.Took, time.Microsecond))
	s.rows = int(float64(s.rows) * min(max(fits, 0.5), 1.25))
	s.rows = min(max(s.rows, s.min), s.max)
}

// janitor removes what is not needed any more. One daemon does it for all.
type janitor struct {
	*core
	requested <-chan struct{} // buffered; subscriptions were removed
	scan      scan
	batchSize
}

// scan is how far the walk over the messages has come by which old ones are
// found. Behind it are those that were to stay: it passes them once a day.
type scan struct {
	after     int64
	startedAt time.Time
	retention webhook.Retention // that it goes by
}

// run removes what may go after a start, when a subscription was removed, and
// now and then, until ctx is done.
func (j *janitor) run(ctx context.Context) {
	j.batchSize = fileBatch
	if j.LeaseTerm > 0 {
		j.batchSize = serverBatch
	}
	wait := newBackoff()
	for pause := time.Duration(0); ; {
		switch err := j.runOnce(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			j.Log.Warn("removing old messages failed", "error", err.Error())
			pause = wait.Next()
		default:
			pause = j.interval
			wait.Reset()
		}
		if !sleep(ctx, j.requested, pause) {
			return
		}
	}
}

// runOnce removes everything that is to go now.
func (j *janitor) runOnce(ctx context.Context) error {
	err := j.runSteps(ctx, func(ctx context.Context) (Removed, error) { return j.Store.Sweep(ctx, j.rows) })
	if err != nil {
		return err
	}
	if now, retention := j.Now(), j.Retention(); retention != j.scan.retention || now.Sub(j.scan.startedAt) >= scanInterval {
		j.scan = scan{startedAt: now, retention: retention} // else it goes on where it was
	}
	if err := j.runSteps(ctx, j.prune); err != nil {
		return err
	}
	return j.runSteps(ctx, func(ctx context.Context) (Removed, error) {
		return j.Store.Reclaim(ctx, j.rows, j.Retention().TextSize)
	})
}

// runSteps goes step by step, with rests between them, for as long as there is more
// to do and it is this daemon's duty.
func (j *janitor) runSteps(ctx context.Context, step func(context.Context) (Removed, error)) error {
	for n := 0; j.queues.hasDuties(); n++ {
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

// prune gives way to messages of a subscription that was removed this moment.
func (j *janitor) prune(ctx context.Context) (Removed, error) {
	w, now := &j.scan, j.Now()
	if w.retention.Successful+w.retention.Failed == 0 || len(j.requested) > 0 {
		return Removed{}, nil
	}
	r, err := j.Store.Prune(ctx, Prune{After: w.after, Limit: j.rows, Successful: cutoff(w.retention.Successful, now), Failed: cutoff(w.retention.Failed, now)})
	if err == nil {
		w.after = r.Last
	}
	return r, err
}

// cutoff returns the retention cutoff time, the zero time where all is kept.
func cutoff(retention time.Duration, now time.Time) time.Time {
	if retention == 0 {
		return time.Time{}
	}
	return now.Add(-retention)
}
