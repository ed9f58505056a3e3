package changes

import (
	"context"
	"errors"
	"log/slog"
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
	config   Config
	kind     *record.Kind
	declared declaration
	fence    int64
	cancel   context.CancelFunc
	ended    chan struct{}
	wake     chan struct{}   // buffered; there are notes
	ordered  chan Resumption // buffered; by an administrator
	status   statusBox

	// Of the Capturer.
	common *common

	state      State
	next       int64 // the ID of the next change when the state was read; 0 until then
	rows       *rows // nil until the capture has begun
	writer     *writer
	sweep      *sweep // nil between sweeps
	poller     *poller
	resumption Resumption // ordered by an administrator, and not carried out yet; empty if none
	holdsTurn  bool       // whether no other kind may be swept now
	due        dueTimes
	failures   failures
}

// declaration is how a kind is declared now.
type declaration struct {
	latest   *record.Kind // is equal to the captured one; guarded by mu of the Capturer
	compared []string     // the fields of which conditions compare the values before a change
}

// failures is the handling of repeated failures.
type failures struct {
	backoff backoff.Backoff
	warned  string // the last warning
}

// dueTimes are the times of the next actions.
type dueTimes struct {
	notes time.Time
	poll  time.Time
	sweep time.Time
}

// start starts the capture of a kind under the fence of the Capturer. The caller holds its mu.
func start(ctx context.Context, c *Capturer, kind *record.Kind, compared []string) *capture {
	ctx, cancel := context.WithCancel(ctx)
	k := &capture{
		config:   c.config,
		kind:     kind,
		declared: declaration{latest: kind, compared: compared},
		fence:    c.fence,
		cancel:   cancel,
		ended:    make(chan struct{}),
		wake:     make(chan struct{}, 1),
		ordered:  make(chan Resumption, 1),

		common: c.common,

		failures: failures{backoff: backoff.Backoff{Min: minBackoff, Max: maxBackoff}},
	}
	k.status.set(func(s *Status) {
		s.Kind = kind.Name
		s.looked = time.Now()
		s.Changes = make(map[Op]int64)
	})
	go k.run(ctx)
	return k
}

// adoptIfEqual replaces the declaration of the kind by an equal one: a reload of the kinds declares
// all of them again.
func (k *capture) adoptIfEqual(kind *record.Kind) {
	if kind != k.declared.latest && reflect.DeepEqual(kind, k.kind) {
		k.declared.latest = kind
	}
}

// isOf reports whether the capture is of this declaration of the kind, and keeps the values that
// conditions compare.
func (k *capture) isOf(kind *record.Kind, compared []string) bool {
	return kind == k.declared.latest && slices.Equal(compared, k.declared.compared)
}

// stop ends the capture and waits for its end.
func (k *capture) stop() {
	k.cancel()
	<-k.ended
}

func (k *capture) run(ctx context.Context) {
	defer close(k.ended)
	defer k.leaveTurn()
	for ctx.Err() == nil {
		wait, err := k.step(ctx)
		if err != nil && ctx.Err() == nil {
			wait = k.failed(ctx, err)
		}
		if wait > 0 {
			k.idle(ctx, wait)
		}
	}
}

// idle waits for the time of the next step, or for a reason to make it sooner.
func (k *capture) idle(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case k.resumption = <-k.ordered:
	case <-k.wake:
		k.due.notes = time.Time{}
	case <-timer.C:
	}
}

// failed handles a failure of a step and returns the time until the next one.
func (k *capture) failed(ctx context.Context, err error) time.Duration {
	k.leaveTurn()
	var stop *stopped
	if errors.As(err, &stop) {
		err = k.stopFor(ctx, stop)
		if err == nil {
			return k.config.Settings().Sweep
		}
	}
	var source sourceError
	if errors.As(err, &source) {
		k.sourceFailed(err)
	} else {
		k.storeFailed(err)
	}
	return k.failures.backoff.Next()
}

// stopFor stops the capture. The stop counts once it is stored: if that fails, the capture goes on
// from the stored state and finds the cause again.
func (k *capture) stopFor(ctx context.Context, stop *stopped) error {
	k.retreat()
	k.sweep = nil
	k.due.sweep = time.Time{}
	k.state.stop(stop.reason, stop.manual)
	if err := k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}
	k.warn("the capture of a kind has stopped", "reason", stop.reason)
	k.status.set(func(s *Status) {
		s.Phase = Stopped
		s.Reason = stop.reason
	})
	return nil
}

// sourceFailed drops the rows that were read. Written ones remain valid.
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
	if text := message + ": " + cause; text != k.failures.warned {
		k.failures.warned = text
		level = slog.LevelWarn
	}
	k.config.Log.Log(context.Background(), level, message, "kind", k.kind.Name, name, cause)
}

// drop forgets everything that was read; the next step reads the state again.
func (k *capture) drop() {
	k.next = 0
	k.rows = nil
	k.writer = nil
	k.sweep = nil
	k.poller = nil
}

// retreat drops the rows that were read and not yet written. Their sweep is
// repeated.
func (k *capture) retreat() {
	if k.writer == nil {
		return
	}
	dropped := k.writer.reset()
	if !dropped {
		return
	}
	k.poller.round = nil
	if k.sweep != nil {
		k.sweep = k.newSweep(gate{confirm: k.sweep.gate.confirm, all: k.sweep.gate.all})
	}
}

// step does the work that is due, one read at most of each sort, and returns the time until the
// next step.
func (k *capture) step(ctx context.Context) (time.Duration, error) {
	if k.resumption != "" {
		if err := k.resumeStopped(ctx); err != nil {
			return 0, err // it is tried again: the administrator has status 204 for it
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
		if err := k.readUrgent(ctx); err != nil {
			return 0, err
		}
	}
	wait, err := k.sweepStep(ctx)
	if err != nil {
		return 0, err
	}
	k.failures.backoff.Reset()
	if wait == 0 {
		return 0, nil
	}
	return k.untilNext(wait), nil
}

// readUrgent makes the reads that do not wait for a sweep: rows that copies have noted, and a page
// of a poll.
func (k *capture) readUrgent(ctx context.Context) error {
	now := time.Now()
	if !now.Before(k.due.notes) {
		k.due.notes = now.Add(noteInterval)
		if err := k.recheck(ctx); err != nil {
			return err
		}
	}
	mayPoll := k.pollable() && !now.Before(k.due.poll) && k.common.share.wait(pollDebt) == 0
	if !mayPoll {
		return nil
	}
	return k.poller.page(ctx)
}

// untilNext returns the time until the next step if the sweep waits for a time.
func (k *capture) untilNext(sweep time.Duration) time.Duration {
	wait := sweep
	if k.state.Phase == Capturing {
		wait = min(wait, time.Until(k.due.notes))
		if k.pollable() {
			poll := max(time.Until(k.due.poll), k.common.share.wait(pollDebt))
			wait = min(wait, poll)
		}
	}
	return max(wait, time.Millisecond)
}

// begin reads the stored state and prepares the capture.
func (k *capture) begin(ctx context.Context) error {
	table, err := k.config.Source.Table(ctx, k.kind)
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
	count, highest, err := k.config.Store.Size(ctx, k.kind.Name)
	if err != nil {
		return err
	}
	if count == 0 && k.state.Rows > 0 {
		k.state.forget() // the shadow was lost
	}
	if err := k.invalidateTokens(ctx); err != nil {
		return err
	}

	k.state.Compared = k.declared.compared
	if err := k.state.checkSchemes(k.kind.Name); err != nil {
		return &stopped{
			reason: err.Error() + "; resume it with --silent to fill its shadow again",
			manual: true,
		}
	}
	rows := newRows(k.kind, table, nil, k.config.Secret, &k.state)
	k.state.adopt(rows.current.number, rows.scheme)
	k.state.begin()
	if needed := k.lastNeed(); needed.After(k.state.Needed) {
		k.state.Needed = needed
	}
	if err := k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state); err != nil {
		return err
	}

	k.rows = rows
	k.writer = &writer{
		capture: k,
		next:    k.next,
		highest: highest,
		newest:  highest,
		count:   count,
		limit:   maxGroup,
	}
	k.poller = &poller{capture: k}
	k.due = dueTimes{}
	k.status.set(func(s *Status) {
		s.Phase = k.state.Phase
		s.Rows = count
		s.Omitted = table.Omitted
		s.Reason = ""
		if k.state.Phase == Stopped {
			s.Reason = k.state.Reason
		}
	})
	return nil
}

// load takes the capture over from the fence before it, and reads its stored state. It is not
// repeated before that is dropped, since each time appends an epoch.
func (k *capture) load(ctx context.Context) error {
	stored, err := k.config.Store.Begin(ctx, k.kind.Name, k.fence)
	if err != nil {
		return err
	}
	k.state = stored.State
	k.next = stored.Next
	return nil
}

// invalidateTokens refuses the tokens of earlier epochs unless a look has ended: none was given out
// since, and the shadow of those before is gone.
func (k *capture) invalidateTokens(ctx context.Context) error {
	if !k.state.Swept.IsZero() {
		return nil
	}
	epochs, err := k.config.Store.Epochs(ctx, k.kind.Name)
	if err != nil {
		return err
	}
	k.state.Epoch = epochs[len(epochs)-1].ID
	return nil
}

// lastNeed returns the last time that a follower needed the changes.
func (k *capture) lastNeed() time.Time {
	return k.common.needs.last(k.kind.Name).UTC()
}

// resumeStopped carries out the resumption that an administrator has ordered.
func (k *capture) resumeStopped(ctx context.Context) error {
	if k.resumption == Silent {
		return k.startOver(ctx)
	}
	return k.publishDifferences(ctx)
}

// publishDifferences continues the capture with a sweep that publishes all differences.
func (k *capture) publishDifferences(ctx context.Context) error {
	if k.rows == nil {
		if err := k.begin(ctx); err != nil {
			return err
		}
	}
	k.common.database.accept()
	k.failures.warned = ""

	k.state.resume()
	k.sweep = k.newSweep(gate{all: true})
	k.due = dueTimes{}
	k.status.set(func(s *Status) {
		s.Phase = k.state.Phase
		s.Reason = ""
	})
	return k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}

// startOver removes the entries of the shadow, and has the next step begin with a first look. It
// needs no table and no valid state.
func (k *capture) startOver(ctx context.Context) error {
	if k.next == 0 {
		if err := k.load(ctx); err != nil {
			return err
		}
	}
	k.common.database.accept()
	k.failures.warned = ""

	if err := k.config.Store.Reset(ctx, k.kind.Name, k.fence); err != nil {
		return err
	}
	k.state = State{Needed: k.state.Needed}
	k.drop()
	return k.config.Store.Save(ctx, k.kind.Name, k.fence, k.state)
}

// sweepStep reads one page of the sweep, if it may, and returns the time until the next.
func (k *capture) sweepStep(ctx context.Context) (time.Duration, error) {
	if k.sweep == nil {
		if wait := time.Until(k.due.sweep); wait > 0 {
			return wait, nil
		}
	}
	if !k.takeTurn() {
		return turnInterval, nil
	}
	if wait := k.common.share.wait(sweepDebt); wait > 0 {
		return wait, nil
	}
	if k.sweep == nil {
		k.sweep = k.newSweep(gate{})
	}
	return 0, k.sweep.readNext(ctx)
}

// takeTurn reports whether the kind may be swept now: no other one is.
func (k *capture) takeTurn() bool {
	if k.holdsTurn {
		return true
	}
	select {
	case k.common.turn <- struct{}{}:
		k.holdsTurn = true
	default:
	}
	return k.holdsTurn
}

// leaveTurn lets another kind be swept.
func (k *capture) leaveTurn() {
	if k.holdsTurn {
		<-k.common.turn
		k.holdsTurn = false
	}
}

// endSweep waits for the next sweep. All rows are known as they were at a time.
func (k *capture) endSweep(at time.Time) {
	k.sweep = nil
	k.due.sweep = time.Now().Add(k.config.Settings().Sweep)
	k.leaveTurn()
	k.looked(at)
}

// looked notes that all changes until a time are known.
func (k *capture) looked(at time.Time) {
	k.status.set(func(s *Status) {
		s.Reason = ""
		if at.After(s.looked) {
			s.looked = at
		}
	})
}
