package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// The pace of the upkeep.
const (
	walkInterval = 24 * time.Hour // that the walk over old messages starts again
	minRest      = time.Millisecond
)

// batchSize is how much a step removes. It follows from how long steps take.
type batchSize struct {
	rows, min, max int
	aim            time.Duration // of a step
	interval       time.Duration // that the upkeep is done
	rests          int           // times as long as a step took it rests after it, at first
}

// hastens is the number of steps, of those that come one after another because
// there is more to remove, after which the rests are halved. It takes seconds
// until half of the time is used: what can wait delays nothing, and no rate of
// deliveries makes more to remove than is removed.
const hastens = 32

// rest is how long a step is followed by nothing, by the number of the step.
func (s *batchSize) rest(n int, r Removed, lasted time.Duration) time.Duration {
	if r.Rows == 0 {
		return max(lasted, minRest) // it has only read
	}
	return max(r.Took*time.Duration(max(1, s.rests>>min(n/hastens, 8))), minRest)
}

// A file is written to by one at a time, and whoever publishes waits for a step:
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

// janitor removes what nobody needs any more. One daemon does it for all.
type janitor struct {
	*Engine
	batchSize
	walk walk
}

// walk is how far the walk over the messages has come by which old ones are
// found. Behind it are those that were to stay: it passes them once a day.
type walk struct {
	after int64
	began time.Time
	keep  webhook.Retention // that it goes by
}

// pruning does the upkeep after a start, when a subscription was removed, and
// now and then.
func (e *Engine) pruning(ctx context.Context) {
	u := &janitor{Engine: e, batchSize: fileBatch}
	if e.LeaseTerm > 0 {
		u.batchSize = serverBatch
	}
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for pause := time.Duration(0); ; {
		switch err := u.all(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.log.Warn("removing old messages failed", "error", err.Error())
			pause = wait.Next()
		default:
			pause = u.interval
			wait.Reset()
		}
		if !e.sleep(ctx, e.pruneRequested, pause) {
			return
		}
	}
}

// all removes everything that is to go now.
func (u *janitor) all(ctx context.Context) error {
	if err := u.steps(ctx, u.sweep); err != nil {
		return err
	}
	u.walk.begin(u.Now(), u.retention())
	if err := u.steps(ctx, u.prune); err != nil {
		return err
	}
	return u.steps(ctx, func(ctx context.Context) (Removed, error) {
		return u.store.Reclaim(ctx, u.rows, u.retention().TextSize)
	})
}

// steps goes step by step, with rests between them, for as long as there is more
// to do and it is this daemon's duty.
func (u *janitor) steps(ctx context.Context, step func(context.Context) (Removed, error)) error {
	for n := 0; u.hasDuties(); n++ {
		began := time.Now()
		r, err := step(ctx)
		u.recorder.Count(stats.Counts{Removed: int64(r.Rows)})
		if err != nil || !r.More {
			return err
		}
		u.learn(r)
		if !u.sleep(ctx, nil, u.rest(n, r, time.Since(began))) {
			return ctx.Err()
		}
	}
	return nil
}

func (u *janitor) sweep(ctx context.Context) (Removed, error) { return u.store.Sweep(ctx, u.rows) }

// prune gives way to messages of a subscription that was removed this moment.
func (u *janitor) prune(ctx context.Context) (Removed, error) {
	if w := &u.walk; w.keep.Successful+w.keep.Failed > 0 && len(u.pruneRequested) == 0 {
		r, err := u.store.Prune(ctx, Prune{After: w.after, Limit: u.rows,
			Successful: ago(w.keep.Successful, u.Now()), Failed: ago(w.keep.Failed, u.Now())})
		if err == nil {
			w.after = r.Last
		}
		return r, err
	}
	return Removed{}, nil
}

// ago is the time before which that ended which is kept for so long.
func ago(keep time.Duration, now time.Time) time.Time {
	if keep == 0 {
		return time.Time{}
	}
	return now.Add(-keep)
}

// begin goes on where the walk has come to, or at the first message.
func (w *walk) begin(now time.Time, keep webhook.Retention) {
	if keep != w.keep || now.Sub(w.began) >= walkInterval {
		*w = walk{began: now, keep: keep}
	}
}

// retention is what the settings want now.
func (e *Engine) retention() webhook.Retention {
	if e.Retention == nil {
		return webhook.Retention{}
	}
	return e.Retention()
}
