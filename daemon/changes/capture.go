package changes

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/bizhook/whd/client/backoff"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Intervals of a capture.
const (
	pollInterval    = 5 * time.Second // by stamps of time
	versionInterval = time.Second     // by rowversions
	noteInterval    = 5 * time.Second // of notes of other daemons
	turnInterval    = time.Second     // of attempts to begin a sweep while another kind is swept
	minBackoff      = time.Second
	maxBackoff      = time.Minute
)

// capture captures one kind, in one goroutine. Everything that it knows is dropped after a
// failure of the store, and read again from there.
type capture struct {
	*Capturer
	kind     *record.Kind
	latest   *record.Kind // is equal to kind; guarded by mu of the Capturer
	compared []string     // the fields of which conditions compare the values before a change
	fence    int64
	cancel   context.CancelFunc
	ended    chan struct{}
	wake     chan struct{}   // buffered; there are notes
	resume   chan Resumption // buffered
	status   statusBox

	state      State
	next       int64 // the ID of the next change when the state was read; 0 until then
	rows       *rows // nil until the capture has begun
	writer     *writer
	sweep      *sweep // nil between sweeps
	poller     *poller
	resumption Resumption // that an administrator has ordered and that has not succeeded; empty if none
	holding    bool       // the turn to sweep
	due        dueTimes
	backoff    backoff.Backoff
	warned     string // the last warning
}

// dueTimes are the times of the next actions.
type dueTimes struct{ notes, poll, sweep time.Time }

// stopped is why a capture stops.
type stopped struct {
	reason string
	manual bool // until an administrator resumes it
}

// Error implements error.
func (s *stopped) Error() string { return s.reason }

// sourceError is a failure of the source: nothing is known about the rows, and earlier
// reads remain valid.
type sourceError struct{ error }

// Unwrap returns the failure.
func (e sourceError) Unwrap() error { return e.error }

// start starts the capture of a kind under a fence.
func start(ctx context.Context, c *Capturer, kind *record.Kind, compared []string, fence int64) *capture {
	ctx, cancel := context.WithCancel(ctx)
	k := &capture{
		Capturer: c, kind: kind, latest: kind, compared: compared, fence: fence, cancel: cancel, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		resume: make(chan Resumption, 1), backoff: backoff.Backoff{Min: minBackoff, Max: maxBackoff},
	}
	k.status.set(func(s *Status) { s.Kind, s.looked, s.Changes = kind.Name, time.Now(), make(map[Op]int64) })
	go k.run(ctx)
	return k
}

// isOf reports whether the capture is of a kind as it is declared now, and keeps the values
// that conditions compare. A reload of the kinds declares all of them again.
func (k *capture) isOf(now *record.Kind, compared []string) bool {
	if !slices.Equal(compared, k.compared) {
		return false
	}
	if now != k.latest && reflect.DeepEqual(now, k.kind) {
		k.latest = now
	}
	return now == k.latest
}

// stop ends the capture and waits for its end.
func (k *capture) stop() {
	k.cancel()
	<-k.ended
}

func (k *capture) run(ctx context.Context) {
	defer close(k.ended)
	defer k.leaveTurn()
	for {
		wait, err := k.step(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = k.failed(ctx, err)
		}
		if wait <= 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case k.resumption = <-k.resume:
		case <-k.wake:
			k.due.notes = time.Time{}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// failed handles a failure of a step and returns the time until the next one.
func (k *capture) failed(ctx context.Context, err error) time.Duration {
	k.leaveTurn()
	var stop *stopped
	if errors.As(err, &stop) {
		err = k.stopFor(ctx, stop)
		if err == nil {
			return k.Settings().Sweep
		}
	}
	var source sourceError
	if errors.As(err, &source) {
		k.sourceFailed(err)
	} else {
		k.storeFailed(err)
	}
	return k.backoff.Next()
}

// stopFor stops the capture. The stop counts once it is stored: if that fails, the capture goes on
// from the stored state and finds the cause again.
func (k *capture) stopFor(ctx context.Context, stop *stopped) error {
	k.retreat()
	k.sweep, k.due.sweep = nil, time.Time{}
	if !k.state.awaitsResumption() { // it keeps the reason that the administrator decides about
		k.state.Phase, k.state.Reason, k.state.Manual = Stopped, stop.reason, stop.manual
	}
	if err := k.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}
	k.warn("the capture of a kind has stopped", "reason", stop.reason)
	k.status.set(func(s *Status) { s.Phase, s.Reason = Stopped, stop.reason })
	return nil
}

// sourceFailed drops the rows that were read. What was written remains valid.
func (k *capture) sourceFailed(err error) {
	k.retreat()
	k.status.set(func(s *Status) { s.Reason = fault.From(err).Message })
	k.warn("records cannot be read for capture", "error", err.Error())
}

// storeFailed drops everything. A lost lease is no failure: another daemon captures the kind.
func (k *capture) storeFailed(err error) {
	k.drop()
	if errors.Is(err, delivery.ErrCaptureLost) {
		return
	}
	k.status.set(func(s *Status) { s.Reason = "changes cannot be stored: " + fault.From(err).Message })
	k.warn("changes cannot be stored", "error", err.Error())
}

// warn logs a failure with its cause. A failure is repeated by each sweep or attempt until its
// cause is gone: it is a warning once, until another one follows or a sweep has succeeded.
func (k *capture) warn(message, name, cause string) {
	level := slog.LevelDebug
	if text := message + ": " + cause; text != k.warned {
		k.warned = text
		level = slog.LevelWarn
	}
	k.Log.Log(context.Background(), level, message, "kind", k.kind.Name, name, cause)
}

// drop forgets everything that was read; the next step reads the state again.
func (k *capture) drop() {
	k.rows, k.writer, k.sweep, k.poller = nil, nil, nil, nil
	k.next = 0
}

// retreat drops the rows that were read and not yet written. Their sweep is
// repeated.
func (k *capture) retreat() {
	if k.writer != nil && k.writer.reset() {
		k.poller.since = nil
		if k.sweep != nil {
			k.sweep = &sweep{capture: k, confirm: k.sweep.confirm, all: k.sweep.all}
		}
	}
}

// step does the work that is due, one read at most of each sort, and returns the time until the
// next step.
func (k *capture) step(ctx context.Context) (time.Duration, error) {
	if k.resumption != "" {
		if err := k.resumed(ctx, k.resumption); err != nil {
			return 0, err // it is tried again: the administrator has been told that the capture is resumed
		}
		k.resumption = ""
	}
	if k.rows == nil {
		if err := k.begin(ctx); err != nil {
			return 0, err
		}
	}
	if k.state.awaitsResumption() {
		return time.Hour, nil // resume wakes it
	}
	if k.state.Phase == Capturing {
		now := time.Now()
		if !now.Before(k.due.notes) {
			k.due.notes = now.Add(noteInterval)
			if err := k.recheck(ctx); err != nil {
				return 0, err
			}
		}
		if k.pollable() && !now.Before(k.due.poll) && k.share.wait(true) == 0 {
			if err := k.poller.page(ctx); err != nil {
				return 0, err
			}
		}
	}
	wait, err := k.sweepStep(ctx)
	if err != nil {
		return 0, err
	}
	if k.backoff.Reset(); wait == 0 {
		return 0, nil
	}
	if k.state.Phase == Capturing {
		wait = min(wait, time.Until(k.due.notes))
		if k.pollable() {
			wait = min(wait, max(time.Until(k.due.poll), k.share.wait(true)))
		}
	}
	return max(wait, time.Millisecond), nil
}

// pollable reports whether rows are found by their stamp.
func (k *capture) pollable() bool {
	return k.rows.stamp != nil && k.rows.table.Pollable && (k.rows.table.Version || k.rows.stamp.Type == record.DateTime)
}

// load takes the capture over from the fence before it, and reads its stored state. It is not
// repeated before that is dropped, since each time appends an epoch.
func (k *capture) load(ctx context.Context) error {
	stored, err := k.Store.Begin(ctx, k.kind.Name, k.fence)
	if err != nil {
		return err
	}
	k.state = stored.State
	k.next = stored.Next
	return nil
}

// begin reads the stored state and prepares the capture.
func (k *capture) begin(ctx context.Context) error {
	table, err := k.Source.Table(ctx, k.kind)
	if err != nil {
		return sourceError{err}
	}
	if k.next == 0 {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	if len(table.Key) == 0 {
		return &stopped{reason: "no key of " + k.kind.Name + " is proven"}
	}
	count, highest, err := k.Store.Size(ctx, k.kind.Name)
	if err != nil {
		return err
	}
	if count == 0 && k.state.Rows > 0 {
		k.state.forget() // the shadow was lost
	}
	if k.state.Swept.IsZero() { // no token was given out since this epoch
		epochs, err := k.Store.Epochs(ctx, k.kind.Name)
		if err != nil {
			return err
		}
		k.state.Epoch = epochs[len(epochs)-1].ID
	}
	k.state.Compared = k.compared
	if err := k.state.checkSchemes(k.kind.Name); err != nil {
		return &stopped{reason: err.Error() + "; resume it with --silent to fill its shadow again", manual: true}
	}
	r := newRows(k.kind, table, nil, k.Secret, &k.state)
	if k.state.Schemes == nil {
		k.state.Schemes = make(map[int64]Scheme)
	}
	if k.state.Schemes[k.state.Scheme].Stamp != r.scheme.Stamp {
		k.state.Stamp = nil
	}
	if r.current.number != k.state.Scheme {
		k.state.Content = "" // the next sweep converts all entries
	}
	maps.DeleteFunc(k.state.KeptFrom, func(name string, _ time.Time) bool { return !slices.Contains(r.scheme.Kept, name) })
	k.state.Scheme, k.state.Schemes[r.current.number] = r.current.number, r.scheme
	switch {
	case k.state.Phase == Stopped:
	case k.state.Swept.IsZero():
		k.state.Phase = FirstLook
	default:
		k.state.Phase = Capturing
	}
	if needed := k.lastNeed(); needed.After(k.state.Needed) {
		k.state.Needed = needed
	}
	k.state.Ended = time.Time{}
	if err := k.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}
	k.writer = &writer{capture: k, next: k.next, highest: highest, newest: highest, count: count, limit: maxGroup}
	k.poller, k.due, k.rows = &poller{capture: k}, dueTimes{}, r
	k.status.set(func(s *Status) {
		s.Phase, s.Rows, s.Omitted, s.Reason = k.state.Phase, count, table.Omitted, ""
		if k.state.Phase == Stopped {
			s.Reason = k.state.Reason
		}
	})
	return nil
}

func (k *capture) lastNeed() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.needs[k.kind.Name].UTC()
}

// resumed continues a stopped capture.
func (k *capture) resumed(ctx context.Context, how Resumption) error {
	if how == Silent {
		return k.startOver(ctx)
	}
	if k.rows == nil {
		if err := k.begin(ctx); err != nil {
			return err
		}
	}
	k.database.accept()
	k.warned = ""
	k.state.Phase, k.state.Reason, k.state.Manual, k.state.Database, k.state.Content = Capturing, "", false, Database{}, ""
	if k.state.Swept.IsZero() {
		k.state.Phase = FirstLook
	}
	k.sweep, k.due = &sweep{capture: k, all: true}, dueTimes{}
	k.status.set(func(s *Status) { s.Phase, s.Reason = k.state.Phase, "" })
	return k.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}

// startOver removes the entries of the shadow, and has the next step begin with a first look. It
// needs no table and no valid state.
func (k *capture) startOver(ctx context.Context) error {
	if k.next == 0 {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	k.database.accept()
	k.warned = ""
	if err := k.Store.Reset(ctx, k.kind.Name, k.fence); err != nil {
		return err
	}
	k.state = State{Needed: k.state.Needed}
	k.drop()
	return k.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}

// leaveTurn lets another kind be swept.
func (k *capture) leaveTurn() {
	if k.holding {
		<-k.turn
		k.holding = false
	}
}

// sweepStep reads one page of the sweep, if it may, and returns the time until the next.
func (k *capture) sweepStep(ctx context.Context) (time.Duration, error) {
	if k.sweep == nil {
		if wait := time.Until(k.due.sweep); wait > 0 {
			return wait, nil
		}
	}
	if !k.holding {
		select {
		case k.turn <- struct{}{}:
			k.holding = true
		default:
			return turnInterval, nil
		}
	}
	if wait := k.share.wait(false); wait > 0 {
		return wait, nil
	}
	if k.sweep == nil {
		k.sweep = &sweep{capture: k}
	}
	switch {
	case !k.sweep.started:
		return 0, k.sweep.start(ctx)
	case len(k.sweep.differing) > 0:
		return 0, k.sweep.fetch(ctx)
	case !k.sweep.paged:
		return 0, k.sweep.page(ctx)
	}
	return 0, k.sweep.lookUpMissing(ctx)
}

// endSweep waits for the next sweep. All rows are known as they were at a time.
func (k *capture) endSweep(at time.Time) {
	k.sweep = nil
	k.due.sweep = time.Now().Add(k.Settings().Sweep)
	k.leaveTurn()
	k.looked(at)
}

func (k *capture) looked(at time.Time) {
	k.status.set(func(s *Status) {
		if s.Reason = ""; at.After(s.looked) {
			s.looked = at
		}
	})
}
