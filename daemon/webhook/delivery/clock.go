package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// clock is the store's clock, which all daemons share. It is derived from the process's
// monotonic clock by an offset.
type clock struct {
	read atomic.Pointer[reading]
}

// reading is a simultaneous reading of both clocks.
type reading struct {
	local   time.Time // with the monotonic reading
	store   time.Time
	setBack time.Duration // how far the store's clock is behind store, see follow
}

func (c *clock) set(ctx context.Context, s Store) error {
	before := time.Now()
	storeNow, err := s.Now(ctx)
	if err != nil {
		return err
	}
	c.read.Store(&reading{local: before.Add(time.Since(before) / 2), store: storeNow})
	return nil
}

// Now returns the current time of the store's clock, or a later one if that was set back.
func (c *clock) Now() time.Time {
	now, _ := c.times()
	return now
}

// storeTime returns the time of the store's clock, which can go back. Signatures use it, since
// receivers reject other times.
func (c *clock) storeTime() time.Time {
	now, setBack := c.times()
	return now.Add(-setBack)
}

func (c *clock) times() (now time.Time, setBack time.Duration) {
	now = time.Now()
	if r := c.read.Load(); r != nil { // nil before Start
		now = r.store.Add(now.Sub(r.local))
		setBack = r.setBack
	}
	return now.UTC().Truncate(100 * time.Nanosecond), setBack
}

// clockInterval is how often the clock of a store that only this daemon uses is read.
const clockInterval = 10 * time.Second

// clockTolerance is how far that clock may be ahead of Now. A reading that takes longer is
// ignored, since it may be off by as much.
const clockTolerance = time.Second

// follow reads the clock of a store that only this daemon uses: its host's clock, which can
// be set, and is ahead of the monotonic clock after the machine was suspended. It returns
// the reading to use from now on, and by how much the clock was set since the last one. Now
// only goes forward: if it went back, all that is due would wait again.
func (c *clock) follow(ctx context.Context, s Store) (*reading, time.Duration, error) {
	last := c.read.Load()
	before := time.Now()
	var present clock
	err := present.set(ctx, s)
	if err != nil || time.Since(before) > clockTolerance {
		return last, 0, err
	}

	ahead := present.Now().Sub(c.Now())
	shift := ahead + last.setBack
	if ahead > clockTolerance {
		return present.read.Load(), shift, nil
	}
	return &reading{local: last.local, store: last.store, setBack: max(0, -ahead)}, shift, nil
}

// elapsed returns the time since a local time, by the wall clock if that has advanced
// further: the monotonic clock may pause while the machine is suspended.
func elapsed(since time.Time) time.Duration {
	return max(time.Since(since), time.Now().Round(0).Sub(since))
}

// earliest returns the earlier of two times. A zero time counts as none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sleep waits for a signal, or for d unless it is 0. It returns false once ctx is done.
func sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-over:
	}
	return ctx.Err() == nil
}

// Bounds of the delay after consecutive failures.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

func newBackoff() *backoff.Backoff { return &backoff.Backoff{Min: minBackoff, Max: maxBackoff} }

// repeat calls work after each interval, or after each signal if the interval is 0,
// until ctx is done. It logs failures, and then waits longer and ignores signals.
func repeat(
	ctx context.Context,
	log *slog.Logger,
	failure string,
	wake <-chan struct{},
	interval time.Duration,
	work func(context.Context) error,
) {
	wait := newBackoff()
	for next := wake; sleep(ctx, next, interval+wait.Wait()); {
		err := work(ctx)
		switch {
		case err == nil:
			wait.Reset()
			next = wake
			continue
		case ctx.Err() != nil:
			return
		case !errors.Is(err, ErrOutboxTaken): // by another daemon, which was faster
			log.Warn(failure, "error", err.Error())
		}
		wait.Next()
		next = nil
	}
}
