package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The pace of the janitor.
const (
	walkInterval = 24 * time.Hour // that the walk over old messages starts again
	minRest      = time.Millisecond
)

// batchSize is how much a step removes. It follows from how long steps take.
type batchSize struct {
	rows, min, max int
	aim            time.Duration // of a step
	interval       time.Duration // between two rounds
	rests          int           // times as long as a step took it rests after it, at first
}

// hastens is the number of steps, of those that come one after another because
// there is more to remove, after which the rests are halved, down to minRests: what
// can wait delays nothing.
const hastens = 32

// minRests is how many times as long as a step the rest after it is at least. A
// removal that goes on for long takes a quarter of the writer's time, which removes
// several times what the quickest deliveries add, and leaves the rest to publishers.
const minRests = 3

// rest is how long a step is followed by nothing, by the number of the step.
func (s *batchSize) rest(n int, r Removed, lasted time.Duration) time.Duration {
	if r.Rows == 0 {
		return max(lasted, minRest) // it has only read
	}
	return max(r.Took*time.Duration(max(minRests, s.rests>>min(n/hastens, 8))), minRest)
}

// A file is written to by one at a time, and publishers wait for a step:
// these take a twenty-fifth of the time at first. On a server the rows of others stay
// free, and a step is a few round trips; but nothing else bounds the answers.
var (
	fileBatch   = batchSize{rows: 100, min: 50, max: 2000, aim: 2 * time.Millisecond, interval: time.Hour, rests: 24}
	serverBatch = batchSize{rows: 1000, min: 100, max: 2000, aim: 200 * time.Millisecond, interval: time.Minute, rests: 4}
)

// learn draws a conclusion from a step. One that had less to do, and took no
// longer than it may, says nothing.
func (s *batchSize) learn(r Removed) {
	if r.Rows < s.rows && r.Took <= s.aim {
		return
	}
	fits := float64(s.aim) / float64(max(r.Took, time.Microsecond))
	s.rows = int(float64(s.rows) * min(max(fits, 0.5), 1.25))
	s.rows = min(max(s.rows, s.min), s.max)
}

// janitor removes what is not needed any more. One daemon does it for all.
type janitor struct {
	*core
	requested <-chan struct{} // buffered; subscriptions were removed
	walk      walk
	batchSize
}

// walk is how far the walk over the messages has come by which old ones are
// found. Behind it are those that were to stay: it passes them once a day.
type walk struct {
	after int64
	began time.Time
	keep  webhook.Retention // that it goes by
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
		switch err := j.all(ctx); {
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

// all removes everything that is to go now.
func (j *janitor) all(ctx context.Context) error {
	err := j.steps(ctx, func(ctx context.Context) (Removed, error) { return j.Store.Sweep(ctx, j.rows) })
	if err != nil {
		return err
	}
	if now, keep := j.Now(), j.Retention(); keep != j.walk.keep || now.Sub(j.walk.began) >= walkInterval {
		j.walk = walk{began: now, keep: keep} // else it goes on where it was
	}
	if err := j.steps(ctx, j.prune); err != nil {
		return err
	}
	return j.steps(ctx, func(ctx context.Context) (Removed, error) {
		return j.Store.Reclaim(ctx, j.rows, j.Retention().TextSize)
	})
}

// steps goes step by step, with rests between them, for as long as there is more
// to do and it is this daemon's duty.
func (j *janitor) steps(ctx context.Context, step func(context.Context) (Removed, error)) error {
	for n := 0; j.queues.hasDuties(); n++ {
		began := time.Now()
		r, err := step(ctx)
		j.recorder.Count(stats.Counts{Removed: int64(r.Rows)})
		if err != nil || !r.More {
			return err
		}
		j.learn(r)
		if !sleep(ctx, nil, j.rest(n, r, time.Since(began))) {
			return ctx.Err()
		}
	}
	return nil
}

// prune gives way to messages of a subscription that was removed this moment.
func (j *janitor) prune(ctx context.Context) (Removed, error) {
	w, now := &j.walk, j.Now()
	if w.keep.Successful+w.keep.Failed == 0 || len(j.requested) > 0 {
		return Removed{}, nil
	}
	r, err := j.Store.Prune(ctx, Prune{After: w.after, Limit: j.rows, Successful: cutoff(w.keep.Successful, now), Failed: cutoff(w.keep.Failed, now)})
	if err == nil {
		w.after = r.Last
	}
	return r, err
}

// cutoff returns the retention cutoff time, the zero time where all is kept.
func cutoff(keep time.Duration, now time.Time) time.Time {
	if keep == 0 {
		return time.Time{}
	}
	return now.Add(-keep)
}
