package delivery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Engine delivers messages between Start and Stop. It cannot be restarted. The methods of the
// publisher belong to its API.
type Engine struct {
	*Config
	*publisher

	core       *core
	queues     *queueSet
	subs       *subscriptionCache
	backlog    *backlogCounter
	activity   *activityReader
	dispatcher *dispatcher
	refiller   *refiller
	leases     *leaseKeeper
	peers      *peers
	writer     *batchWriter
	outbox     *outboxReader
	retargeter *retargeter
	janitor    *janitor

	cancel context.CancelFunc // ends the contexts of all loops; nil before Start
	tasks  sync.WaitGroup     // loops
}

// New returns an Engine.
func New(c Config) *Engine {
	if c.Retention == nil {
		c.Retention = func() webhook.Retention { return webhook.Retention{} }
	}
	clock := new(clock)
	core := &core{
		Config:    &c,
		clock:     clock,
		readiness: &readiness{unavailable: errNotStarted},
		pending:   newPending(),
		queues:    newQueueSet(&c, clock),
		recorder:  stats.NewRecorder(),
	}

	removed := make(chan struct{}, 1)
	subs := &subscriptionCache{
		core:       core,
		refreshing: make(chan struct{}, 1),
		changed:    make(chan struct{}, 1),
		removed:    removed,
		withheld:   make(map[string]map[string]bool),
	}
	retargeter := newRetargeter(core)
	leases := &leaseKeeper{core: core, orphaned: make(chan struct{}, 1), taken: retargeter.wake}
	peers := &peers{core: core, subs: subs, orphaned: leases.orphaned, lastEvent: -1}

	ids := idAllocator{store: c.Store, block: idBlock}
	if c.LeaseTerm > 0 {
		ids.block = sharedIDBlock
	}
	writer := &batchWriter{
		core:   core,
		subs:   subs,
		leases: leases,
		peers:  peers,
		ids:    ids,
		flush:  make(chan struct{}),
		ended:  make(chan struct{}),
	}
	backlog := &backlogCounter{
		core:     core,
		requests: make(chan struct{}, 1),
		ended:    writer.ended,
		done:     make(chan struct{}),
	}

	e := &Engine{
		Config:     &c,
		publisher:  &publisher{core: core},
		core:       core,
		queues:     core.queues,
		subs:       subs,
		backlog:    backlog,
		activity:   &activityReader{core: core},
		dispatcher: &dispatcher{core: core, sending: context.Background()},
		refiller:   &refiller{core: core},
		leases:     leases,
		peers:      peers,
		writer:     writer,
		outbox:     &outboxReader{core: core},
		retargeter: retargeter,
		janitor:    &janitor{core: core, requested: removed},
	}
	e.dispatcher.pause = newPause(core.Log, e.dispatcher.resume)
	core.queues.dispatch = e.dispatcher.dispatch
	core.queues.cancel = e.dispatcher.cancel
	core.queues.urlChanged = retargeter.urlChanged
	core.queues.oldURLFailed = retargeter.oldURLFailed
	return e
}

// Start leases a partition, reads the subscriptions and starts delivering open
// messages.
func (e *Engine) Start(ctx context.Context) error {
	err := e.core.clock.set(ctx, e.Store)
	if err != nil {
		return err
	}
	began := time.Now()
	home, err := e.Store.Lease(ctx, e.LeaseTerm)
	if err != nil {
		return err
	}
	e.queues.setLeases(leases{held: []Lease{home}, home: home, renewed: began, term: e.LeaseTerm})
	if e.MaxPerMinute != nil {
		e.queues.setDefaultRate(e.MaxPerMinute())
	}
	err = e.readState(ctx)
	if err != nil {
		return errors.Join(err, e.Store.Release(ctx, e.queues.leased().held))
	}

	e.dispatcher.sending, e.dispatcher.cancelSending = context.WithCancel(context.Background())
	var running context.Context
	running, e.cancel = context.WithCancel(context.Background())
	for _, loop := range e.loops() {
		e.tasks.Go(func() { loop(running) })
	}
	e.core.readiness.set(nil)
	return nil
}

// readState reads the position in the events of other daemons, and the subscriptions.
func (e *Engine) readState(ctx context.Context) error {
	if e.LeaseTerm > 0 {
		if err := e.peers.poll(ctx); err != nil { // starting at the current event
			return err
		}
	}
	return e.subs.refresh(ctx)
}

// loops returns the functions that run until the engine stops.
func (e *Engine) loops() []func(context.Context) {
	loops := []func(context.Context){
		e.writer.run,
		e.refiller.run,
		e.subs.run,
		e.janitor.run,
		e.backlog.run,
		e.retargeter.run,
	}
	if e.LeaseTerm > 0 {
		loops = append(loops, e.leases.run, e.peers.run, e.peers.followChanges)
	} else {
		loops = append(loops, e.followClock)
	}
	if e.OutboxInterval > 0 {
		loops = append(loops, e.outbox.run)
	}
	if e.MaxPerMinute != nil {
		loops = append(loops, e.followRate)
	}
	if e.Rules != nil {
		loops = append(loops, e.subs.watchRights)
	}
	return loops
}

// followRate follows the default of the rate limits, until ctx is done.
func (e *Engine) followRate(ctx context.Context) {
	repeat(ctx, e.Log, "reading the rate limit failed", nil, rateInterval, func(context.Context) error {
		e.queues.setDefaultRate(e.MaxPerMinute())
		return nil
	})
}

// followClock follows the clock of a store without leases, until ctx is done.
func (e *Engine) followClock(ctx context.Context) {
	repeat(ctx, e.Log, "reading the clock failed", nil, clockInterval, func(ctx context.Context) error {
		current, shift, err := e.core.clock.follow(ctx, e.Store)
		e.queues.setClock(current)
		if shift >= clockInterval {
			e.Log.Warn("the clock was set forward, or the machine was suspended",
				"by", shift.Round(time.Second).String())
		}
		if shift <= -clockInterval {
			e.Log.Warn("the clock was set back; until a restart, events and attempts are stored with times ahead of the clock",
				"by", (-shift).Round(time.Second).String())
		}
		return err
	})
}

// releaseTimeout limits the release of the leases if the grace period has already
// ended.
const releaseTimeout = 2 * time.Second

// Stop rejects new events, lets running attempts finish until ctx is done, writes their
// results and releases the leases within the rest of the grace period. Attempts that it
// interrupts are not counted.
func (e *Engine) Stop(ctx context.Context) error {
	if e.cancel == nil {
		return nil // never started
	}
	e.core.pending.close()
	e.queues.stop()
	e.dispatcher.stop(ctx)
	e.dispatcher.reportAll()

	close(e.writer.flush)
	keepWriting := context.AfterFunc(ctx, e.cancel)
	defer keepWriting()
	<-e.writer.ended

	e.cancel()
	e.tasks.Wait()
	e.dispatcher.disableChecks.Wait()

	end := time.Now().Add(releaseTimeout)
	graceEnd, ok := ctx.Deadline()
	if ok && graceEnd.After(end) {
		end = graceEnd
	}
	release, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	return e.Store.Release(release, e.queues.leased().held)
}

// Announce sends changes that were made in the store without the engine to the streams
// of all daemons.
func (e *Engine) Announce(changes []webhook.Change) {
	if len(changes) == 0 {
		return
	}
	if e.OnChanges != nil {
		e.OnChanges(changes)
	}
	if e.peers.watched.Load() {
		e.core.pending.announce(changes)
	}
}

// Coordinator returns the lease under which this daemon captures changes; ok is false if
// another daemon does.
func (e *Engine) Coordinator() (lease Lease, ok bool) { return e.queues.coordinatorLease() }

// Matching returns the number of subscriptions that a captured event would be sent to.
func (e *Engine) Matching(event string) int {
	n := 0
	for range e.receivers(event) {
		n++
	}
	return n
}

// Named reports whether a subscription, enabled or not, is to a captured event by its name, or to
// its family, and receives it. One to all events does not make capture necessary, nor does one to a
// family if its owner may not read the kind.
func (e *Engine) Named(event string) bool {
	for sub := range e.receivers(event) {
		if sub.Pattern != "*" {
			return true
		}
	}
	return false
}

// Compared returns the fields of a kind that conditions of subscriptions compare with their values
// before a change, or in a deleted record.
func (e *Engine) Compared(kind *record.Kind) []string {
	if kind.Events == "" {
		return nil
	}
	var fields []string
	for _, event := range record.CapturedEvents(kind) {
		for _, sub := range e.Subscriptions().Match(event.Name) {
			c := sub.Where.Condition
			if c == nil || c.Kind() == nil {
				continue
			}
			if c.Kind().Name == kind.Name {
				fields = append(fields, sub.Needs()...)
			}
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// receivers returns the subscriptions that a captured event would be sent to.
func (e *Engine) receivers(event string) iter.Seq[*webhook.Subscription] {
	receives := e.recipients(event)
	return func(yield func(*webhook.Subscription) bool) {
		for _, sub := range e.Subscriptions().Match(event) {
			if receives(sub) && !yield(sub) {
				return
			}
		}
	}
}

// Now returns the current time of the store's clock, or a later one if that was set back.
func (e *Engine) Now() time.Time { return e.core.Now() }

// Ready returns why messages are not delivered or events rejected, nil if all is well.
func (e *Engine) Ready() error { return e.core.Ready() }

// Daemons returns the number of daemons that share the store, as far as known.
func (e *Engine) Daemons() int { return e.queues.Daemons() }

// Subscriptions returns the subscriptions that events are matched with.
func (e *Engine) Subscriptions() *webhook.Snapshot { return e.queues.Subscriptions() }

// NotifyChanged schedules a refresh after subscriptions were changed in the store.
func (e *Engine) NotifyChanged() { e.subs.NotifyChanged() }

// Reload reads the changed subscriptions. If that fails, it is repeated in the background
// and Reload returns anyway. The cancellation of ctx is ignored.
func (e *Engine) Reload(ctx context.Context) { e.subs.Reload(ctx) }

// Invalidate reports that messages of a subscription were deleted.
func (e *Engine) Invalidate(subscription int64) {
	e.queues.changeQueue(subscription, (*queue).invalidate)
}

// MarkDue reports that messages of a subscription were made due now, or were due and are to be
// sent now. They are attempted even if the circuit breaker of the endpoint is open. A wait that it
// has requested by Retry-After ends.
func (e *Engine) MarkDue(subscription int64, messages []int64) {
	e.queues.changeQueue(subscription, func(q *queue) { q.request(messages) })
}

// MarkReplays reports that delivered messages of a subscription are to be sent again.
func (e *Engine) MarkReplays(subscription int64) {
	e.queues.changeQueue(subscription, (*queue).expediteReplays)
}

// Hold makes the queue of a subscription with an order wait until release is called, so that no
// newer message precedes those that are being made due.
func (e *Engine) Hold(subscription int64) (release func()) {
	e.queues.changeQueue(subscription, func(q *queue) { q.holds++ })
	return func() { e.queues.changeQueue(subscription, func(q *queue) { q.holds-- }) }
}

// Breaker returns when the endpoint of a subscription is probed next if its circuit breaker is
// open.
func (e *Engine) Breaker(subscription int64) (probe time.Time, open bool) {
	return e.queues.breaker(subscription)
}

// RequestedWait returns until when the endpoint of a subscription requested a wait by
// Retry-After, zero if it has not.
func (e *Engine) RequestedWait(subscription int64) time.Time {
	return e.queues.requestedWait(subscription)
}

// RateWait returns how long the rate limit of a subscription delays its next attempt, 0 if it does
// not.
func (e *Engine) RateWait(subscription int64) time.Duration { return e.queues.rateWait(subscription) }

// PostponedRetries returns the numbers of retries of the messages of a subscription with a next
// attempt that Retry-After has moved, by ID. Those that another daemon has sent, or this one before
// its start, are recognized by a next attempt that is later than by the schedule.
func (e *Engine) PostponedRetries(ctx context.Context, subscription int64) (map[int64]int, error) {
	retries := e.queues.postponedRetries(subscription)
	sub := e.queues.Subscriptions().Subscription(subscription)
	if sub == nil {
		return retries, nil
	}
	policy := e.core.policyFor(sub)
	now := e.Now()
	late, err := e.core.Store.LateRetries(ctx, subscription, now.Add(slices.Min(policy.Schedule)), maxPostponed)
	if err != nil {
		return nil, err
	}
	for _, m := range late {
		if isLate(m, policy, now) {
			retries[m.ID] = m.Retries()
		}
	}
	return retries, nil
}

// Backlog returns the backlog as counted at most age ago, or a little longer ago if
// counting is slow. If counting fails it returns the last count with the error.
func (e *Engine) Backlog(ctx context.Context, age time.Duration) (stats.BacklogCount, error) {
	return e.backlog.Backlog(ctx, age)
}

// Counts returns the totals since the start.
func (e *Engine) Counts() stats.Counts { return e.core.recorder.Counts() }

// Performance returns distributions of results and durations since the start.
func (e *Engine) Performance() stats.Performance { return e.core.recorder.Performance() }

// Throughput returns a function that measures the throughput of all daemons between its calls.
func (e *Engine) Throughput() func() (wire.Throughput, bool) {
	recent := &recentMinutes{core: e.core}
	troubles := &troublesReader{engine: e}
	return stats.NewThroughput(e.Now, recent.read, e.InHand, troubles.read)
}

// Stats summarizes the work of all daemons in the last minutes, from one minute to 24 hours, with
// at most limit queues of this one. open is the result of Backlog.
func (e *Engine) Stats(ctx context.Context, minutes, limit int, open []stats.Backlog) (stats.Report, error) {
	if err := e.core.unavailableErr(); err != nil {
		return stats.Report{}, err
	}
	now := e.Now()
	period := stats.LastMinutes(now, minutes)
	activity, err := e.activity.read(ctx, period)
	if err != nil {
		return stats.Report{}, err
	}
	return stats.NewReport(now, period, activity, limit, e.queues.stats(open)), nil
}

// Problems describes the problems that prevent or delay deliveries although the engine is running.
func (e *Engine) Problems() []string {
	var problems []string
	if problem, _ := e.dispatcher.paused(); problem != "" {
		problems = append(problems, problem)
	}
	if e.AttemptTimeout != nil {
		limit := e.AttemptTimeout() + overdueTolerance
		if oldest := e.dispatcher.oldestAttempt(); oldest > limit {
			problems = append(problems, fmt.Sprintf(
				"a delivery attempt has been running for %s, longer than webhooks.attempt_timeout",
				oldest.Round(time.Second)))
		}
	}
	if e.Overdue == nil {
		return problems
	}
	if n := e.Overdue(); n > 0 {
		problems = append(problems, fmt.Sprintf(
			"%d requests of delivery attempts did not end at webhooks.attempt_timeout; their connections stay open", n))
	}
	return problems
}

// overdueTolerance is how long after its limit an attempt may end.
const overdueTolerance = 2 * time.Second

// InHand returns the engine's current load.
func (e *Engine) InHand() wire.InHand {
	d := e.queues.inHand()
	d.OldestAttempt = wire.TimeSpan(e.dispatcher.oldestAttempt())
	d.EventsWaiting, d.OutcomesWaiting = e.core.pending.depth()
	if problem, detail := e.dispatcher.paused(); problem != "" {
		d.Paused = problem + " (" + detail + ")"
	}
	if e.Overdue != nil {
		d.Overdue = e.Overdue()
	}
	for failure, n := range e.core.recorder.Uncharged() {
		if d.Uncharged == nil {
			d.Uncharged = make(map[string]int64)
		}
		d.Uncharged[string(failure)] = n
	}
	return d
}
