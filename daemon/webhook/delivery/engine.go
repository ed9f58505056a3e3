package delivery

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// Sender makes one attempt, which begins at a time of the store's clock. An
// outcome that ctx cut short is not counted.
type Sender interface {
	Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) webhook.Outcome
}

// Config is what an Engine works with.
type Config struct {
	Store        Store
	Sender       Sender
	Log          *slog.Logger
	Policy       func() webhook.Policy    // asked for each failure, so that it may change
	Retention    func() webhook.Retention // asked for each walk over the old messages; nil for ever
	Attempts     int                      // the most that are under way at once
	Memory       int                      // bytes that the messages of all queues may take; 0 for the default
	LeaseTerm    time.Duration            // of leases; 0 where no other daemon shares the store
	PeerInterval time.Duration            // how often other daemons are asked what they have done; 0 for never

	EventName      func(name string) (string, error) // gives the name of a published event in its own letter case
	OutboxInterval time.Duration                     // how often the outbox is looked into; 0 for never

	Show    func([]webhook.Change) // is told of all changes, in their order, and must not block; nil for nobody
	Watched func() bool            // reports whether somebody reads them; nil for nobody
	Joined  func()                 // is told when other daemons' changes have begun to be among them; nil for nobody
}

// Engine delivers messages. It is made by New, works between Start and Stop,
// and is then of no more use.
type Engine struct {
	Config
	store    Store
	log      *slog.Logger
	clock    clock
	recorder *stats.Recorder
	backlog  *backlogCounter
	subs     atomic.Pointer[webhook.Snapshot]
	pending  *pending

	mu          sync.Mutex // guards what follows, with everything in the lanes
	queues      map[int64]*queue
	budget      *budget
	turned      int // the tier that had the last turn to begin an attempt
	fed         int // the one that had the last turn to read a page
	inFlight    int
	stopped     bool // no attempt begins any more
	leases      []Lease
	home        Lease     // whose partition new messages belong to; the writer's to change
	renewed     time.Time // when the leases were last known to be ours, by this process's clock
	daemons     int       // that work on the store
	unavailable error     // why nothing is delivered, if so
	failure     error     // of the last write, nil if it succeeded
	failedAt    time.Time

	leasing    sync.Mutex    // held while the leases change
	refreshing chan struct{} // a semaphore of one, for reading changed subscriptions

	keyLocks         keyLocks
	lastEvent        int64 // the last that was read; the loop's that hears
	watchedElsewhere atomic.Bool

	stale time.Time // when a batch was, the last time; the writer's

	ids struct {
		next int64
		left int
	}

	changed        chan struct{}      // buffered; subscriptions have changed
	pruneRequested chan struct{}      // buffered; subscriptions were removed
	orphaned       chan struct{}      // buffered; messages are nobody's
	flush          chan struct{}      // closed when only what is left is to be written
	ended          chan struct{}      // closed when that was done
	cut            context.CancelFunc // of the attempts under way
	sending        context.Context
	end            context.CancelFunc // of everything
	tasks          sync.WaitGroup     // loops
	attempts       sync.WaitGroup     // attempts
}

// New makes an Engine.
func New(c Config) *Engine {
	e := &Engine{Config: c, store: c.Store, log: c.Log, pending: newPending(), backlog: newBacklogCounter(),
		daemons: 1, lastEvent: -1,
		queues: make(map[int64]*queue), budget: newBudget(cmp.Or(c.Memory, defaultMemory), c.Attempts),
		refreshing: make(chan struct{}, 1),
		changed:    make(chan struct{}, 1), pruneRequested: make(chan struct{}, 1), orphaned: make(chan struct{}, 1), flush: make(chan struct{}), ended: make(chan struct{})}
	e.subs.Store(webhook.NewSnapshot(0, nil))
	e.unavailable, e.recorder = errNotStarted, stats.NewRecorder(e.Now())
	return e
}

// Start leases a partition, reads the subscriptions and begins to deliver what
// is open.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.clock.set(ctx, e.store); err != nil {
		return err
	}
	began := time.Now()
	home, err := e.store.Lease(ctx, e.LeaseTerm)
	if err != nil {
		return err
	}
	e.home = home
	e.hold([]Lease{home}, began)
	if e.LeaseTerm > 0 {
		if err := e.pollPeers(ctx); err != nil { // from here on
			return errors.Join(err, e.store.Release(ctx, e.leases))
		}
	}
	if err := e.refresh(ctx); err != nil {
		return errors.Join(err, e.store.Release(ctx, e.leases))
	}
	e.sending, e.cut = context.WithCancel(context.Background())
	var life context.Context
	life, e.end = context.WithCancel(context.Background())
	e.tasks.Go(func() { defer close(e.ended); e.writing(life) })
	loops := []func(context.Context){e.refilling, e.watching, e.pruning, e.counting}
	if e.LeaseTerm > 0 {
		loops = append(loops, e.keeping, e.pollingPeers, e.followingChanges)
	}
	if e.OutboxInterval > 0 {
		loops = append(loops, e.readingOutbox)
	}
	for _, loop := range loops {
		e.tasks.Go(func() { loop(life) })
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unavailable = nil
	return nil
}

// Stop refuses events, lets attempts under way finish until ctx is done, writes
// down what came of them and gives the leases back. Attempts that it cuts do
// not count.
func (e *Engine) Stop(ctx context.Context) error {
	if e.end == nil {
		return nil // never started
	}
	e.pending.close()
	e.stopDispatch()
	landed := make(chan struct{})
	go func() { e.attempts.Wait(); close(landed) }()
	select {
	case <-landed:
	case <-ctx.Done():
		e.cut()
		<-landed
	}
	e.cut()
	close(e.flush)
	late := context.AfterFunc(ctx, e.end)
	defer late()
	<-e.ended
	e.end()
	e.tasks.Wait()
	return e.leave(ctx)
}

// leaveLimit is how long it may take to release the leases where nothing is left of
// the grace period.
const leaveLimit = 2 * time.Second

// leave gives the leases back, within what is left of the grace period.
func (e *Engine) leave(ctx context.Context) error {
	end := time.Now().Add(leaveLimit)
	if graceEnd, limited := ctx.Deadline(); limited && graceEnd.After(end) {
		end = graceEnd
	}
	release, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	return e.store.Release(release, e.leased())
}

// stopDispatch begins no attempt any more.
func (e *Engine) stopDispatch() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	for _, l := range e.queues {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
}

// Now is the time by the store's clock.
func (e *Engine) Now() time.Time { return e.clock.now() }

func (e *Engine) snapshot() *webhook.Snapshot { return e.subs.Load() }

// errNotStarted is the trouble of an engine whose tables are not there yet.
var errNotStarted = &fault.Error{Kind: fault.Unavailable, Message: "the delivery of webhooks has not begun", RetryAfter: 2 * time.Second}

// unavailableErr reports why nothing is delivered, if so.
func (e *Engine) unavailableErr() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unavailable
}

// failedFor is how long a write that failed is taken for what the next one will
// do, where the store can be written otherwise. A store that is damaged stays so
// until a write succeeds.
const failedFor = 3 * time.Second

// Ready reports why nothing is delivered or events are refused, if so.
func (e *Engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unavailable != nil || e.failure == nil || time.Since(e.failedAt) > failedFor && !errors.Is(e.failure, ErrDamaged) {
		return e.unavailable
	}
	return fault.Because(e.failure, fault.Unavailable, "the last events could not be stored: %s", fault.Of(e.failure).Message)
}

// Subscriptions is the set that events are matched with.
func (e *Engine) Subscriptions() *webhook.Snapshot { return e.snapshot() }

// spread picks the jitter of one wait.
func spread() float64 { return rand.Float64() }
