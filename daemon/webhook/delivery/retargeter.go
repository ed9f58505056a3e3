package delivery

import (
	"context"
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
	waiting []int64             // subscriptions
	done    map[int64]time.Time // when that was last done for a subscription without an owner
}

// retargetInterval is the minimum time between two changes of the URL of a subscription that make
// its messages due, if callers with only a SubscriberID have made them.
const retargetInterval = time.Minute

// Pacing, so that other writers need not wait long.
const (
	retargetBatch = 1000
	retargetPause = 10 * time.Millisecond
)

func newRetargeter(c *core) *retargeter {
	return &retargeter{core: c, wake: make(chan struct{}, 1), done: make(map[int64]time.Time)}
}

// add queues a subscription with a new URL, which has not failed yet.
func (r *retargeter) add(sub *webhook.Subscription) {
	r.pending.setHealth(Health{Subscription: sub.ID})
	if sub.Owner.Name != "" || r.mayRepeat(sub.ID) {
		r.queueUp(sub.ID)
	}
}

// queueUp queues a subscription with messages that have failed at an old URL.
func (r *retargeter) queueUp(subscription int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, subscription)
	wake.Signal(r.wake)
}

// run processes subscriptions until ctx is done.
func (r *retargeter) run(ctx context.Context) {
	repeat(ctx, r.Log, "making the messages of a changed subscription due failed", r.wake, 0, func(ctx context.Context) error {
		for {
			subscription, ok := r.first()
			if !ok {
				return nil
			}
			if err := r.makeDue(ctx, subscription); err != nil {
				return err
			}
			r.removeFirst()
		}
	})
}

func (r *retargeter) first() (subscription int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return 0, false
	}
	return r.waiting[0], true
}

func (r *retargeter) removeFirst() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = r.waiting[1:]
}

// makeDue makes the open messages of a subscription due that have not been attempted since.
func (r *retargeter) makeDue(ctx context.Context, subscription int64) error {
	now := r.Now() // not the time of the store: attempts are recorded by this one
	for _, lease := range r.queues.leased().held {
		for {
			n, err := r.Store.MakeDue(ctx, subscription, lease.Partition, now, retargetBatch)
			if err != nil {
				return err
			}
			if n > 0 {
				r.queues.changeQueue(subscription, (*queue).drop)
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

// mayRepeat reports whether the last change of a subscription without an owner is long enough ago.
func (r *retargeter) mayRepeat(subscription int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for id, doneAt := range r.done {
		if now.Sub(doneAt) >= retargetInterval {
			delete(r.done, id)
		}
	}
	if _, recent := r.done[subscription]; recent {
		return false
	}
	r.done[subscription] = now
	return true
}
