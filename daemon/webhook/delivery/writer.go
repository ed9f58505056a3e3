package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// writeTimeout limits one write. A longer write is reported as failed; if the store
// completed it anyway, this is noticed when the queues read the store again.
const writeTimeout = 20 * time.Second

// batchWriter writes pending work in batches, each in one transaction.
type batchWriter struct {
	*core
	subs    *subscriptionCache
	leases  *leaseKeeper
	peers   *peers
	ids     idAllocator
	staleAt time.Time     // time of the last batch that failed with ErrStale
	flush   chan struct{} // closed when the remaining work is to be written and no more will follow
	ended   chan struct{} // closed when run has returned
}

// run writes batches until the engine stops and nothing is pending.
func (w *batchWriter) run(ctx context.Context) {
	defer close(w.ended)
	defer w.refuseAll()
	wait := newBackoff()
	for w.pending.await(w.flush) {
		work := w.pending.next()
		err := w.write(ctx, work)
		switch {
		case err == nil:
			w.committed(work)
			wait.Reset()
		case errors.Is(err, ErrFenced):
			refusal := errFencedOff
			if w.LeaseTerm > 0 {
				refusal = fault.Wrap(err, fault.Unavailable, "the service's lease has expired; try again")
			}
			w.refuse(work, refusal)
			w.recoverLeases(ctx, work)
		default:
			w.failed(work, err)
			if ctx.Err() != nil || !sleep(ctx, nil, wait.Next()) {
				return
			}
		}
	}
}

// staleWindow is how long after a stale batch subscriptions are refreshed before each
// batch is matched.
const staleWindow = 10 * time.Second

// write matches the batch's events and writes it in one transaction. If the
// subscriptions have changed since they were read, it refreshes them and matches once
// more; later changes are newer than the events.
func (w *batchWriter) write(ctx context.Context, work *batch) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	for {
		fresh := time.Since(w.staleAt) < staleWindow
		if fresh {
			if err := w.subs.refresh(ctx); err != nil {
				return err
			}
		}
		b, err := w.prepare(ctx, work)
		if fresh {
			b.Version = AnyVersion
		}
		if err == nil {
			err = w.Store.Write(ctx, b)
		}
		switch {
		case errors.Is(err, ErrStale):
			w.staleAt = time.Now()
		case errors.Is(err, ErrCaptureLost):
			work.completeGroup(ErrCaptureLost)
		case errors.Is(err, ErrOutboxTaken):
			work.reject(ErrOutboxTaken, func(p *publication) bool { return p.outbox != nil })
		case errors.Is(err, ErrKeyTaken):
			if err := w.rejectTakenKeys(ctx, work); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// prepare builds the batch for the store.
func (w *batchWriter) prepare(ctx context.Context, work *batch) (Batch, error) {
	current := w.queues.leased()
	work.home = current.home.Partition
	work.subs = w.queues.Subscriptions()
	work.addNotices(w.Now())
	b := Batch{
		Version:     work.subs.Version,
		Leases:      current.held,
		Home:        work.home,
		Outcomes:    work.results,
		Disabled:    work.disabled,
		Health:      work.health,
		MaxTextSize: w.Retention().TextSize,
	}
	err := w.fill(ctx, &b, work)
	if err == nil {
		err = w.addChanges(ctx, &b, work)
	}
	return b, err
}

// fill adds the events that match subscriptions, with their messages.
func (w *batchWriter) fill(ctx context.Context, b *Batch, work *batch) error {
	for subscription := range w.match(work) {
		w.ids.left = 0 // other daemons allocate from their own blocks: new IDs define the order
		if !holds(b.Leases, FirstPartition) {
			b.PeerEvents = append(b.PeerEvents, PeerEvent{Subscription: subscription, Kind: PeerAdded})
		}
	}
	for _, p := range work.events() {
		if err := w.addEvent(ctx, b, p); err != nil {
			return err
		}
	}
	if work.group != nil {
		work.group.refer()
		b.Captured = work.group.Captured
	}
	return nil
}

// match matches the events of a batch with the subscriptions, and requeues publications beyond the
// message limit of a transaction. It returns the IDs of subscriptions with an order that receive
// messages in the first partition.
func (w *batchWriter) match(work *batch) map[int64]bool {
	required := work.notices // and the group: a batch writes them whole
	if work.group != nil {
		required = slices.Concat(required, work.group.events)
	}
	ordered := make(map[int64]bool)
	messages := 0
	for i, p := range slices.Concat(required, work.publications) {
		isOfService := record.IsServiceEvent(p.event.Name)
		if isOfService && p.target == 0 {
			p.receives = w.recipients(p.event.Name)
		}
		p.match(work.subs, work.home, w.LeaseTerm > 0, ordered)
		messages += len(p.messages)
		if messages > batchMessages && i > len(required) {
			first := i - len(required)
			w.pending.requeue(work.publications[first:])
			work.publications = work.publications[:first]
			break
		}
	}
	return ordered
}

// addEvent adds an event with its messages, and the idempotency key or the row of the outbox that
// it was published under. IDs are allocated for each try, so that a write with an unknown result
// cannot collide with the next one.
func (w *batchWriter) addEvent(ctx context.Context, b *Batch, p *publication) error {
	if p.key != nil {
		p.key.Event = p.event.GUID
		p.key.Count = len(p.messages)
		b.Keys = append(b.Keys, *p.key)
	}
	if p.outbox != nil {
		if err := w.addOutbox(b, p); err != nil {
			return err
		}
	}
	if len(p.messages) == 0 {
		return nil
	}

	first, err := w.ids.allocate(ctx, 1+len(p.messages))
	if err != nil {
		return err
	}
	p.event.ID = first
	for i, m := range p.messages {
		m.ID = first + 1 + int64(i)
	}
	b.Events = append(b.Events, p.event)
	b.Messages = append(b.Messages, p.messages...)
	return nil
}

// addOutbox adds the publication's row of the outbox to the batch. The lease under which
// it was read must still be held, since a daemon that has held it in between may have
// published the row, deleted it and removed its mark. If an earlier row of the same read
// has failed, in another batch, the later ones must wait for it to keep their order.
func (w *batchWriter) addOutbox(b *Batch, p *publication) error {
	holdsLease := slices.ContainsFunc(b.Leases, func(l Lease) bool {
		return l.Partition == p.lease.Partition && l.Fence == p.lease.Fence
	})
	if *p.broken || !holdsLease {
		return ErrOutboxTaken
	}
	if w.Outbox == nil {
		b.Outbox = append(b.Outbox, p.outbox.ID)
		return nil
	}
	b.Source = w.Outbox.Source()
	b.Taken = append(b.Taken, p.outbox.GUID)
	return nil
}

// addChanges computes the batch's changes for local streams, and adds them to the batch
// if a stream of another daemon is open.
func (w *batchWriter) addChanges(ctx context.Context, b *Batch, work *batch) error {
	elsewhere := w.peers.watched.Load()
	if w.OnChanges != nil || elsewhere {
		work.changes = work.changesOf()
	}
	if !elsewhere || len(work.announced)+len(work.changes) == 0 {
		return nil
	}
	b.Changes = slices.Concat(work.announced, work.changes)
	var err error
	b.Number, err = w.ids.allocate(ctx, 1)
	return err
}

// rejectTakenKeys rejects the publications of a batch with keys that other daemons have
// used.
func (w *batchWriter) rejectTakenKeys(ctx context.Context, work *batch) error {
	taken := make(map[*publication]bool)
	for _, p := range work.publications {
		if p.key == nil {
			continue
		}
		known, err := w.Store.IdempotencyKey(ctx, p.key.Hash)
		if err != nil {
			return err
		}
		taken[p] = known != nil && known.Event != p.event.GUID
	}
	before := len(work.publications)
	work.reject(ErrKeyTaken, func(p *publication) bool { return taken[p] })
	if len(work.publications) == before { // the key has just expired
		return fault.Wrap(ErrKeyTaken, fault.Unavailable, "an idempotency key has just expired; try again")
	}
	return nil
}

// committed counts a written batch, completes its publications, and passes its messages to the
// queues.
func (w *batchWriter) committed(work *batch) {
	events := work.events()
	messages := 0
	for _, p := range events {
		messages += len(p.messages)
	}
	w.recorder.Record(len(events), messages, work.results)
	w.recorder.Count(stats.Counts{Disabled: int64(len(work.disabled))})
	w.recordWrite(nil)

	// Publishers are answered before the attempts start: otherwise the answer to an event with
	// many messages would compete with their deliveries for the processors (BenchmarkDeliver/crowd).
	for _, p := range work.publications {
		p.done <- nil
	}
	w.queues.committed(events, work.results)
	if w.OnChanges != nil {
		w.OnChanges(work.changes)
	}
	work.completeGroup(nil)

	if len(work.disabled) == 0 {
		return
	}
	subs := w.queues.Subscriptions()
	w.subs.Reload(context.Background()) // so that later attempts do not disable it again
	for _, d := range work.disabled {
		sub := subs.Subscription(d.Subscription)
		if sub != nil {
			w.Log.Warn("a subscription was disabled",
				"subscription", sub.GUID, "event", sub.Pattern, "reason", d.Reason)
		}
	}
}

// failed rejects the publications of a batch that could not be written, and restores
// its results. Since the store may have committed it, the queues read the store again
// later.
func (w *batchWriter) failed(work *batch, err error) {
	w.Log.Warn("writing events and outcomes failed",
		"events", len(work.publications), "outcomes", len(work.results), "error", err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		err = fault.Wrap(err, fault.Unavailable, "the store did not respond in time; try again")
	}
	w.recordWrite(err)
	rewind := len(work.publications) > 0 || work.group != nil
	w.refuse(work, err)
	w.pending.restore(work)
	if rewind {
		w.queues.rewindLater()
	}
}

// refuse completes the events and the group of a batch with an error.
func (w *batchWriter) refuse(work *batch, err error) {
	w.recorder.Count(stats.Counts{Refused: int64(len(work.publications))})
	for _, p := range work.publications {
		p.fail(err)
	}
	work.completeGroup(err)
}

// refuseAll refuses the work that was not written when the writer stopped.
func (w *batchWriter) refuseAll() {
	if _, results := w.pending.depth(); results > 0 {
		w.Log.Warn("the results of attempts could not be stored; their messages will be sent again", "results", results)
	}
	publications, groups := w.pending.takeAll()
	w.refuse(&batch{publications: publications}, stopping())
	for _, g := range groups {
		g.done <- stopping()
	}
}

// recoverLeases finds out which lease was lost after a fenced write, and leases a new
// partition if it was that of new messages. Results of messages that now belong to
// another daemon are dropped: that daemon repeats the attempts.
func (w *batchWriter) recoverLeases(ctx context.Context, work *batch) {
	if w.LeaseTerm == 0 {
		w.stopFenced()
		return
	}
	w.leases.mu.Lock()
	defer w.leases.mu.Unlock()
	home := w.queues.leased().home
	current, err := w.leases.reacquire(ctx)
	if err != nil {
		w.Log.Warn("leasing a partition failed", "error", err.Error())
		w.pending.restore(work)
		sleep(ctx, nil, maxBackoff)
		return
	}
	w.Log.Warn("a lease was lost to another daemon", "held", len(current.held))
	if current.home != home {
		w.ids.left = 0 // IDs within a partition ascend
	}
	work.results = w.queues.dropLost(work.results, current.held)
	w.queues.setLeases(current)
	w.pending.restore(work)
}

// stopFenced stops the engine after another daemon has taken over the store. Leasing
// the partitions again would only make the daemons alternate.
func (w *batchWriter) stopFenced() {
	w.Log.Error(errFencedOff.Error())
	w.pending.close()
	w.queues.stop()
	w.readiness.set(errFencedOff)
	w.queues.mu.Lock()
	defer w.queues.mu.Unlock()
	w.queues.leases.held = nil
}

// Numbers of IDs to allocate at a time. Events wait for the transaction. Messages are listed
// by their IDs: the larger the blocks of daemons that share a store, the less this is the
// order of time.
const (
	idBlock       = 1 << 14
	sharedIDBlock = 1 << 12
)

// idAllocator allocates the IDs of events, messages and changes.
type idAllocator struct {
	store Store
	block int // number of IDs to allocate at a time
	next  int64
	left  int // number of IDs of the block from next on
}

// allocate returns the first of n consecutive IDs.
func (a *idAllocator) allocate(ctx context.Context, n int) (int64, error) {
	if a.left < n {
		size := max(n, a.block)
		first, err := a.store.AllocateIDs(ctx, size)
		if err != nil {
			return 0, err
		}
		a.next = first
		a.left = size
	}
	first := a.next
	a.next += int64(n)
	a.left -= n
	return first, nil
}
