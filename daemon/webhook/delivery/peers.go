package delivery

import (
	"context"
	"time"

	"github.com/bizhook/whd/client/backoff"
)

// firstPartition is the one that there is from the first daemon on. Whoever
// holds it has the duties that one daemon must do for all, and sends the
// messages of ordered subscriptions.
const firstPartition = 1

// hasDuties reports whether this daemon does what one must do for all.
func (e *Engine) hasDuties() bool { return e.LeaseTerm == 0 || e.holdsFirst() }

func (e *Engine) holdsFirst() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return holds(e.leases, firstPartition)
}

// prunePeersEvery is how many rounds of news go by between two removals of what
// everybody has read.
const prunePeersEvery = 10

// pollingPeers asks now and then what other daemons have done.
func (e *Engine) pollingPeers(ctx context.Context) {
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	for round := 1; e.sleep(ctx, nil, e.PeerInterval+wait.Wait()); round++ {
		err := e.pollPeers(ctx)
		if err == nil && round%prunePeersEvery == 0 && e.hasDuties() {
			err = e.store.PrunePeerEvents(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Warn("asking for news of other daemons failed", "error", err.Error())
			wait.Next()
			continue
		}
		wait.Reset()
	}
}

// pollPeers takes in what other daemons have done since it was asked last.
func (e *Engine) pollPeers(ctx context.Context) error {
	news, err := e.store.PeerEvents(ctx, e.lastEvent)
	if err != nil {
		return err
	}
	e.lastEvent = news.Last
	e.watchedElsewhere.Store(news.Watched)
	if news.Version != e.snapshot().Version {
		e.Changed()
	}
	if news.Orphans {
		signal(e.orphaned)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.divide(news.Daemons)
	for _, n := range news.Events {
		e.applyEvent(n)
	}
	e.dispatch()
	return nil
}

// divide shares the limits of the lanes out among so many daemons, since an
// endpoint does not care whose attempts they are.
func (e *Engine) divide(daemons int) {
	e.daemons = max(1, daemons)
	for _, l := range e.queues {
		l.daemons = e.daemons
		e.schedule(l)
	}
}

// applyEvent does what a nudge says. The engine's lock is held.
func (e *Engine) applyEvent(n PeerEvent) {
	l := e.queues[n.Subscription]
	if l == nil {
		return
	}
	switch n.Kind {
	case PeerDue:
		l.expedite()
	case PeerDeleted:
		l.invalidate()
	case PeerAdded:
		l.drop()
	}
	e.schedule(l)
}

// How often changes of other daemons are read, and for how long they are asked
// to write them.
const (
	changesEvery = 200 * time.Millisecond
	watchTerm    = 15 * time.Second
)

// followingChanges reads what becomes of messages at other daemons, while somebody
// looks at this one's stream.
func (e *Engine) followingChanges(ctx context.Context) {
	wait := backoff.Backoff{Min: minBackoff, Max: maxBackoff}
	var marks map[int64]int64
	var asked, joins time.Time
	for e.sleep(ctx, nil, changesEvery+wait.Wait()) {
		if e.Watched == nil || !e.Watched() {
			marks = nil
			continue
		}
		if marks == nil {
			marks, asked = make(map[int64]int64), time.Time{}
			joins = time.Now().Add(2 * e.PeerInterval)
		}
		err := e.pollChanges(ctx, marks, &asked)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Warn("reading the changes of other daemons failed", "error", err.Error())
			wait.Next()
			continue
		}
		wait.Reset()
		if !joins.IsZero() && time.Now().After(joins) {
			joins = time.Time{}
			e.joined()
		}
	}
}

// joined says that the other daemons have heard by now that their changes are
// read. What they changed before was not shown.
func (e *Engine) joined() {
	e.mu.Lock()
	alone := e.daemons == 1
	e.mu.Unlock()
	if !alone && e.Joined != nil {
		e.Joined()
	}
}

func (e *Engine) pollChanges(ctx context.Context, marks map[int64]int64, asked *time.Time) error {
	home := e.homeLease()
	if time.Since(*asked) > watchTerm/3 {
		if err := e.store.Watch(ctx, home, watchTerm); err != nil {
			return err
		}
		*asked = time.Now()
	}
	changes, err := e.store.Changes(ctx, home.Partition, marks)
	if err == nil && len(changes) > 0 && e.Show != nil {
		e.Show(changes)
	}
	return err
}

// homeLease is the lease of the partition that new messages belong to.
func (e *Engine) homeLease() Lease {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.home
}
