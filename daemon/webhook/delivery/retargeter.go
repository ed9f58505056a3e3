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
// not wait out the schedule of the old one. Each daemon does so in its own partitions.
type retargeter struct {
	*core
	wake chan struct{} // buffered

	mu      sync.Mutex
	waiting []*move             // at most one for each subscription
	limited map[int64]time.Time // last start of a move that is limited, by subscription
}

// move is a change of the URL of a subscription.
type move struct {
	subscription int64
	at           time.Time // messages that were saved later were attempted at the new URL
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
	return &retargeter{core: c, wake: make(chan struct{}, 1), limited: make(map[int64]time.Time)}
}

// add queues a subscription with a new URL, which has not failed yet. With only a SubscriberID, it
// waits for the end of the interval: a second URL may be the one that is right.
func (r *retargeter) add(sub *webhook.Subscription) {
	r.pending.setHealth(Health{Subscription: sub.ID})
	m := &move{subscription: sub.ID, at: r.Now(), start: time.Now(), isLimited: sub.Owner.Name == ""}
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.limited[sub.ID]; ok && m.isLimited {
		m.start = last.Add(retargetInterval)
	}
	r.replace(m)
}

// queueUp queues a subscription with a message that has failed at an old URL.
func (r *retargeter) queueUp(subscription int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &move{subscription: subscription, at: r.Now(), start: time.Now()}
	i := r.indexOf(subscription)
	if i >= 0 {
		m.start = r.waiting[i].start
		m.isLimited = r.waiting[i].isLimited
	}
	r.replace(m)
}

// replace queues a move in place of an earlier one of the same subscription. The caller must hold
// r.mu.
func (r *retargeter) replace(m *move) {
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

// indexOf returns the index of the move of a subscription, -1 if there is none. The caller must hold
// r.mu.
func (r *retargeter) indexOf(subscription int64) int {
	return slices.IndexFunc(r.waiting, func(m *move) bool { return m.subscription == subscription })
}

// run processes subscriptions until ctx is done.
func (r *retargeter) run(ctx context.Context) {
	repeat(ctx, r.Log, "making the messages of a changed subscription due failed", r.wake, 0, func(ctx context.Context) error {
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
	})
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

// makeDue makes the open messages of a subscription due that have not been attempted since.
func (r *retargeter) makeDue(ctx context.Context, m *move) error {
	for _, lease := range r.queues.leased().held {
		for {
			n, err := r.Store.MakeDue(ctx, m.subscription, lease.Partition, m.at, retargetBatch)
			if err != nil {
				return err
			}
			if n > 0 {
				r.queues.changeQueue(m.subscription, (*queue).drop)
			}
			if n < retargetBatch {
				break
			}
			if !sleep(ctx, nil, retargetPause) {
				return ctx.Err()
			}
		}
	}
	return nil
}
