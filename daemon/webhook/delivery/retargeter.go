package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook"
)

// retargeter makes the open messages of subscriptions due after a change of the URL: they need
// not wait out the schedule of the old one. Each daemon makes those in its own partitions due. The
// time of the change is stored with the URL: a daemon that starts, or takes partitions over,
// completes the moves of one that ended before it had made all messages due.
type retargeter struct {
	*core
	wake chan struct{} // buffered; also signalled when partitions were taken over

	// resumed has the partitions for which resume is done, with the fences of their leases: a
	// partition that is leased again may have new moves to complete. Only run uses it.
	resumed map[int64]int64

	mu      sync.Mutex
	waiting []*move             // at most one for each subscription
	limited map[int64]time.Time // last start of a move that is limited, by subscription
}

// move is a change of the URL of a subscription.
type move struct {
	subscription int64
	at           time.Time // messages that were saved later were attempted at the new URL; zero if unknown
	start        time.Time // when their due times are changed, by the local clock
	isLimited    bool      // by retargetInterval
}

// retargetInterval is the minimum time between two changes of the due times of a subscription's
// messages, if callers with only a SubscriberID have changed the URL.
const retargetInterval = time.Minute

// Pacing, so that other writers need not wait long.
const (
	retargetBatch = 1000
	retargetPause = 10 * time.Millisecond
)

func newRetargeter(c *core) *retargeter {
	r := &retargeter{
		core:    c,
		wake:    make(chan struct{}, 1),
		resumed: make(map[int64]int64),
		limited: make(map[int64]time.Time),
	}
	wake.Signal(r.wake) // for the moves before the start
	return r
}

// urlChanged makes the messages of a subscription with a new URL due, and resets its health: the new
// URL has not failed yet. After a change with only a SubscriberID, the next such change waits for
// the end of the interval: a second URL may be the one that is right.
func (r *retargeter) urlChanged(sub *webhook.Subscription) {
	r.pending.setHealth(Health{Subscription: sub.ID})
	m := &move{subscription: sub.ID, at: r.Now(), start: time.Now(), isLimited: sub.Owner.Name == ""}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.limited[sub.ID]; ok && m.isLimited {
		m.start = last.Add(retargetInterval)
	}
	r.queue(m)
}

// oldURLFailed makes a message due that has failed at an old URL, by which it is found in the store.
// If that is the present URL again, it is found by its time: messages that were saved until now are
// due, even if they have failed since the move.
func (r *retargeter) oldURLFailed(subscription int64, isPresentURL bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &move{subscription: subscription, start: time.Now()}
	i := r.indexOf(subscription)
	if i >= 0 {
		m.at = r.waiting[i].at
		m.start = r.waiting[i].start
		m.isLimited = r.waiting[i].isLimited
	}
	if isPresentURL {
		m.at = r.Now()
	}
	r.queue(m)
}

// queue queues a move. It replaces an earlier one of the same subscription. The caller must hold
// r.mu.
func (r *retargeter) queue(m *move) {
	i := r.indexOf(m.subscription)
	if i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.waiting = append(r.waiting, m)
	wait := time.Until(m.start)
	if wait > 0 {
		time.AfterFunc(wait, func() { wake.Signal(r.wake) })
		return
	}
	wake.Signal(r.wake)
}

// indexOf returns the index of the move of a subscription, -1 if there is none. The caller must
// hold r.mu.
func (r *retargeter) indexOf(subscription int64) int {
	return slices.IndexFunc(r.waiting, func(m *move) bool { return m.subscription == subscription })
}

// run makes messages due until ctx is done.
func (r *retargeter) run(ctx context.Context) {
	const failure = "making the messages of a changed subscription due failed"
	repeat(ctx, r.Log, failure, r.wake, 0, r.makeAllDue)
}

// makeAllDue completes earlier moves, and then those that may start.
func (r *retargeter) makeAllDue(ctx context.Context) error {
	if err := r.resume(ctx); err != nil {
		return err
	}
	for {
		m := r.next(time.Now())
		if m == nil {
			return nil
		}
		if err := r.makeDue(ctx, m); err != nil {
			return err
		}
		r.remove(m)
	}
}

// next starts and returns a move that may start, nil if there is none.
func (r *retargeter) next(now time.Time) *move {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, startedAt := range r.limited {
		if now.Sub(startedAt) >= retargetInterval {
			delete(r.limited, id)
		}
	}
	i := slices.IndexFunc(r.waiting, func(m *move) bool { return !m.start.After(now) })
	if i < 0 {
		return nil
	}
	m := r.waiting[i]
	if m.isLimited {
		r.limited[m.subscription] = now
	}
	return m
}

// remove removes a move unless another one has replaced it.
func (r *retargeter) remove(m *move) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(waiting *move) bool { return waiting == m })
}

// makeDue makes the open messages of a subscription due that have not been attempted at its new URL.
func (r *retargeter) makeDue(ctx context.Context, m *move) error {
	for _, lease := range r.queues.leased().held {
		if err := r.makeDueIn(ctx, lease.Partition, m.subscription, m.at); err != nil {
			return err
		}
	}
	return nil
}

// makeDueIn is makeDue for the messages in one partition. moved is the time of the move.
func (r *retargeter) makeDueIn(ctx context.Context, partition, subscription int64, moved time.Time) error {
	for {
		// by the engine's clock, like the due times after attempts
		n, err := r.Store.MakeDue(ctx, subscription, partition, moved, r.Now(), retargetBatch)
		if err != nil {
			return err
		}
		if n > 0 {
			r.queues.changeQueue(subscription, (*queue).drop)
		}
		if n < retargetBatch {
			return nil
		}
		if !sleep(ctx, nil, retargetPause) {
			return ctx.Err()
		}
	}
}

// maxMoveAge is the time after which no message waits any more that was scheduled before a move:
// the delays of schedules are at most 30 days, with a jitter.
const maxMoveAge = 40 * 24 * time.Hour

// resume completes the moves that the last holders of newly leased partitions may have left undone.
func (r *retargeter) resume(ctx context.Context) error {
	for _, lease := range r.queues.leased().held {
		fence, ok := r.resumed[lease.Partition]
		if ok && fence == lease.Fence {
			continue
		}
		for sub := range r.queues.Subscriptions().Subscriptions {
			if sub.MovedAt.IsZero() || r.Now().Sub(sub.MovedAt) > maxMoveAge {
				continue
			}
			if !sub.FailingSince.IsZero() && sub.FailingSince.Before(sub.MovedAt) {
				r.pending.setHealth(Health{Subscription: sub.ID})
			}
			if err := r.makeDueIn(ctx, lease.Partition, sub.ID, sub.MovedAt); err != nil {
				return err
			}
		}
		r.resumed[lease.Partition] = lease.Fence
	}
	return nil
}
