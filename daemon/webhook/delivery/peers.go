package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/daemon/wake"
)

// peers reads changes of other daemons.
type peers struct {
	*core
	subs      *subscriptionCache
	orphaned  chan<- struct{} // buffered; there are partitions to take over
	lastEvent int64           // ID of the last event read
	watched   atomic.Bool     // a stream of another daemon is open
}

// pruneRounds is the number of polls between two removals of events that all daemons
// have read.
const pruneRounds = 10

// run polls at intervals, until ctx is done.
func (p *peers) run(ctx context.Context) {
	round := 0
	repeat(ctx, p.Log, "reading events of other daemons failed", nil, p.PeerInterval, func(ctx context.Context) error {
		round++
		err := p.poll(ctx)
		if err == nil && round%pruneRounds == 0 && p.queues.isCoordinator() {
			err = p.Store.PrunePeerEvents(ctx)
		}
		return err
	})
}

// poll applies the events of other daemons since the last poll.
func (p *peers) poll(ctx context.Context) error {
	state, err := p.Store.PeerEvents(ctx, p.lastEvent)
	if err != nil {
		return err
	}
	p.lastEvent = state.Last
	p.watched.Store(state.Watched)
	if state.Version != p.queues.Subscriptions().Version {
		p.subs.NotifyChanged()
	}
	if state.Orphans {
		wake.Signal(p.orphaned)
	}
	p.queues.applyPeerEvents(state.Daemons, state.Events)
	return nil
}

// Intervals of reading other daemons' changes, and how long a request for them is
// valid.
const (
	changesInterval = 200 * time.Millisecond
	watchTerm       = 15 * time.Second
)

// followChanges reads changes of messages from other daemons while a stream of this
// daemon is open.
func (p *peers) followChanges(ctx context.Context) {
	var positions map[int64]int64 // by partition; nil while no stream is open
	var watchedAt, joinAt time.Time
	repeat(ctx, p.Log, "reading the changes of other daemons failed", nil, changesInterval, func(ctx context.Context) error {
		if p.Watched == nil || !p.Watched() {
			positions = nil
			return nil
		}
		if positions == nil {
			positions = make(map[int64]int64)
			watchedAt = time.Time{}
			joinAt = time.Now().Add(2 * p.PeerInterval)
		}
		err := p.pollChanges(ctx, positions, &watchedAt)
		if err == nil && !joinAt.IsZero() && time.Now().After(joinAt) {
			// The other daemons know by now that their changes are read. Earlier changes
			// were not shown.
			joinAt = time.Time{}
			if p.queues.Daemons() > 1 && p.PeersJoined != nil {
				p.PeersJoined()
			}
		}
		return err
	})
}

func (p *peers) pollChanges(ctx context.Context, positions map[int64]int64, watchedAt *time.Time) error {
	home := p.queues.leased().home
	if time.Since(*watchedAt) > watchTerm/3 {
		if err := p.Store.Watch(ctx, home, watchTerm); err != nil {
			return err
		}
		*watchedAt = time.Now()
	}
	changes, err := p.Store.PeerChanges(ctx, home.Partition, positions)
	if err == nil && len(changes) > 0 && p.OnChanges != nil {
		p.OnChanges(changes)
	}
	return err
}
