package delivery

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Engine delivers messages. It is made by New, works between Start and Stop,
// and is then of no more use. It wires its parts; the exported methods of those that
// are embedded are its own.
type Engine struct {
	*Config
	*clock
	*readiness
	*publisher
	*subscriptionCache
	*queueSet
	*backlogCounter

	pending    *pending
	dispatcher *dispatcher
	refiller   *refiller
	leases     *leaseKeeper
	peers      *peers
	writer     *batchWriter
	outbox     *outboxReader
	janitor    *janitor
	recorder   *stats.Recorder

	end   context.CancelFunc // of all loops; nil before Start
	tasks sync.WaitGroup     // loops
}

// New makes an Engine.
func New(c Config) *Engine {
	config, at, ready, pending := &c, new(clock), &readiness{unavailable: errNotStarted}, newPending()
	recorder, queues := stats.NewRecorder(at.Now()), newQueueSet(config, at)
	removed, ended := make(chan struct{}, 1), make(chan struct{})
	subs := &subscriptionCache{config: config, queues: queues, refreshing: make(chan struct{}, 1), changed: make(chan struct{}, 1), removed: removed}
	leases := &leaseKeeper{config: config, clock: at, queues: queues, orphaned: make(chan struct{}, 1)}
	peers := &peers{config: config, queues: queues, subs: subs, orphaned: leases.orphaned, lastEvent: -1}
	e := &Engine{
		Config: config, clock: at, readiness: ready, queueSet: queues, subscriptionCache: subs,
		publisher:      &publisher{store: c.Store, clock: at, pending: pending, ready: ready},
		backlogCounter: &backlogCounter{store: c.Store, clock: at, ready: ready, asked: make(chan struct{}, 1), ended: ended, done: make(chan struct{})},
		pending:        pending, leases: leases, peers: peers, recorder: recorder,
		dispatcher: &dispatcher{config: config, clock: at, queues: queues, pending: pending},
		refiller:   &refiller{config: config, queues: queues},
		writer: &batchWriter{config: config, clock: at, pending: pending, queues: queues, subs: subs, leases: leases, peers: peers, ready: ready,
			recorder: recorder, ids: idAllocator{store: c.Store}, flush: make(chan struct{}), ended: ended},
		outbox:  &outboxReader{config: config, clock: at, pending: pending, queues: queues},
		janitor: &janitor{config: config, clock: at, queues: queues, recorder: recorder, requested: removed},
	}
	queues.dispatch = e.dispatcher.dispatch
	return e
}

// Start leases a partition, reads the subscriptions and begins to deliver what
// is open.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.clock.set(ctx, e.Store); err != nil {
		return err
	}
	began := time.Now()
	home, err := e.Store.Lease(ctx, e.LeaseTerm)
	if err != nil {
		return err
	}
	e.hold(leases{held: []Lease{home}, home: home, renewed: began, term: e.LeaseTerm})
	if e.LeaseTerm > 0 {
		err = e.peers.poll(ctx) // from here on
	}
	if err == nil {
		err = e.refresh(ctx)
	}
	if err != nil {
		return errors.Join(err, e.Store.Release(ctx, e.leased().held))
	}
	e.dispatcher.sending, e.dispatcher.cut = context.WithCancel(context.Background())
	var running context.Context
	running, e.end = context.WithCancel(context.Background())
	loops := []func(context.Context){e.writer.run, e.refiller.run, e.subscriptionCache.run, e.janitor.run, e.backlogCounter.run}
	if e.LeaseTerm > 0 {
		loops = append(loops, e.leases.run, e.peers.run, e.peers.followChanges)
	}
	if e.OutboxInterval > 0 {
		loops = append(loops, e.outbox.run)
	}
	for _, loop := range loops {
		e.tasks.Go(func() { loop(running) })
	}
	e.readiness.set(nil)
	return nil
}

// leaveLimit is how long it may take to release the leases where nothing is left of
// the grace period.
const leaveLimit = 2 * time.Second

// Stop refuses events, lets attempts under way finish until ctx is done, writes
// down what came of them and gives the leases back, within what is left of the grace
// period. Attempts that it cuts do not count.
func (e *Engine) Stop(ctx context.Context) error {
	if e.end == nil {
		return nil // never started
	}
	e.pending.close()
	e.queueSet.stop()
	e.dispatcher.stop(ctx)
	close(e.writer.flush)
	late := context.AfterFunc(ctx, e.end)
	defer late()
	<-e.writer.ended
	e.end()
	e.tasks.Wait()
	e.dispatcher.judges.Wait()
	end := time.Now().Add(leaveLimit)
	if graceEnd, limited := ctx.Deadline(); limited && graceEnd.After(end) {
		end = graceEnd
	}
	release, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	return e.Store.Release(release, e.leased().held)
}

// Announce shows changes that were made in the store without the engine.
func (e *Engine) Announce(changes []webhook.Change) {
	if e.Show != nil && len(changes) > 0 {
		e.Show(changes)
	}
	if e.peers.watched.Load() && len(changes) > 0 {
		e.pending.announce(changes)
	}
}

// Counts are the totals since the start.
func (e *Engine) Counts() stats.Counts { return e.recorder.Counts() }

// Performance is how attempts went since the start.
func (e *Engine) Performance() stats.Performance { return e.recorder.Performance() }

// Throughput gives a function that measures the throughput between its calls.
func (e *Engine) Throughput() func() (stats.Throughput, bool) {
	return stats.NewThroughput(e.Now, e.Counts, e.Depth)
}

// Stats sums up the last minutes, from one to 24 hours of them, with so many
// queues at most. What is open comes from Backlog.
func (e *Engine) Stats(minutes, limit int, open []stats.Backlog) stats.Report {
	return e.recorder.Report(e.Now(), minutes, limit, e.queueSet.stats(open))
}

// Depth is what is in hand now.
func (e *Engine) Depth() stats.Depth {
	d := e.queueSet.depth()
	d.Waiting, d.Unsaved = e.pending.depth()
	return d
}
