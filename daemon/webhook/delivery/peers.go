package delivery

import (
	"context"
	"sync/atomic"
	"time"
)

// peers reads what other daemons have done.
type peers struct {
	*core
	subs      *subscriptionCache
	orphaned  chan<- struct{} // buffered; there is something to take over
	lastEvent int64           // the last that was read
	watched   atomic.Bool     // a stream of another daemon is read
}

// prunePeersEvery is how many rounds go by between two removals of events that all
// daemons have read.
const prunePeersEvery = 10

// run asks now and then, until ctx is done.
func (p *peers) run(ctx context.Context) {
	round := 0
	repeat(ctx, p.Log, "asking for news of other daemons failed", nil, p.PeerInterval, func(ctx context.Context) error {
		round++
		err := p.poll(ctx)
		if err == nil && round%prunePeersEvery == 0 && p.queues.hasDuties() {
			err = p.Store.PrunePeerEvents(ctx)
		}
		return err
	})
}

// poll takes in what other daemons have done since the last time.
func (p *peers) poll(ctx context.Context) error {
	news, err := p.Store.PeerEvents(ctx, p.lastEvent)
	if err != nil {
		return err
	}
	p.lastEvent = news.Last
	p.watched.Store(news.Watched)
	if news.Version != p.queues.Subscriptions().Version {
		p.subs.Changed()
	}
	if news.Orphans {
		signal(p.orphaned)
	}
	p.queues.applyPeerEvents(news.Daemons, news.Events)
	return nil
}

// How often changes of other daemons are read, and for how long they are asked
// to write them.
const (
	changesInterval = 200 * time.Millisecond
	watchTerm       = 15 * time.Second
)

// followChanges reads what becomes of messages at other daemons, while a stream of
// this one is read.
func (p *peers) followChanges(ctx context.Context) {
	var marks map[int64]int64 // by partition; nil while no stream is read
	var asked, joins time.Time
	repeat(ctx, p.Log, "reading the changes of other daemons failed", nil, changesInterval, func(ctx context.Context) error {
		if p.Watched == nil || !p.Watched() {
			marks = nil
			return nil
		}
		if marks == nil {
			marks, asked = make(map[int64]int64), time.Time{}
			joins = time.Now().Add(2 * p.PeerInterval)
		}
		err := p.pollChanges(ctx, marks, &asked)
		if err == nil && !joins.IsZero() && time.Now().After(joins) {
			// The other daemons know by now that their changes are read. What they
			// changed before was not shown.
			if joins = (time.Time{}); p.queues.Daemons() > 1 && p.Joined != nil {
				p.Joined()
			}
		}
		return err
	})
}

func (p *peers) pollChanges(ctx context.Context, marks map[int64]int64, asked *time.Time) error {
	home := p.queues.leased().home
	if time.Since(*asked) > watchTerm/3 {
		if err := p.Store.Watch(ctx, home, watchTerm); err != nil {
			return err
		}
		*asked = time.Now()
	}
	changes, err := p.Store.Changes(ctx, home.Partition, marks)
	if err == nil && len(changes) > 0 && p.Show != nil {
		p.Show(changes)
	}
	return err
}
