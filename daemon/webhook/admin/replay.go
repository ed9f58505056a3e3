package admin

import (
	"context"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// replay is a bulk operation that makes failed messages due and sends delivered ones again. While
// it runs, subscriptions with an order wait: the delivered messages precede those that they have
// not received yet.
type replay struct {
	bulk     *bulk
	retry    func(context.Context, []Candidate, time.Time) ([]Changed, error)
	retried  map[int64]bool // subscriptions with failed messages
	releases map[int64]func()
}

// newReplay makes an operation that retries messages also send delivered ones again.
func newReplay(b *bulk) *replay {
	r := &replay{bulk: b, retry: b.apply, retried: make(map[int64]bool), releases: make(map[int64]func())}
	isFailed := b.eligible
	b.eligible = func(status webhook.Status) bool { return isFailed(status) || status == webhook.Successful }
	b.apply = r.apply
	b.count = r.count
	b.pageSize = replayPage
	b.notifyQueue = r.notify
	return r
}

// release lets all subscriptions continue.
func (r *replay) release() {
	for _, release := range r.releases {
		release()
	}
}

// delivered returns those of the candidates that were delivered, and the others.
func delivered(all []Candidate) (replays, retries []Candidate) {
	for _, c := range all {
		if c.Status == webhook.Successful {
			replays = append(replays, c)
		} else {
			retries = append(retries, c)
		}
	}
	return replays, retries
}

// count counts the delivered messages, and those of them with an order.
func (r *replay) count(ctx context.Context, todo []Candidate) error {
	replays, _ := delivered(todo)
	if len(replays) == 0 {
		return nil
	}
	r.bulk.result.Replayed += int64(len(replays))
	n, err := r.bulk.store.CountOrdered(ctx, replays)
	r.bulk.result.Ordered += n
	return err
}

// apply makes a page of messages due.
func (r *replay) apply(ctx context.Context, todo []Candidate, at time.Time) ([]Changed, error) {
	replays, retries := delivered(todo)
	done, err := r.bulk.store.ReplayMessages(ctx, replays, at)
	if err != nil {
		return nil, err
	}
	changed := make([]Candidate, len(done))
	for i, c := range done {
		changed[i] = Candidate{ID: c.ID, Status: webhook.Successful}
		if r.releases[c.Subscription] == nil {
			r.releases[c.Subscription] = r.bulk.notifier.Hold(c.Subscription)
		}
	}
	if err := r.count(ctx, changed); err != nil {
		return done, err
	}
	failed, err := r.retry(ctx, retries, at)
	for _, c := range failed {
		r.retried[c.Subscription] = true
	}
	return slices.Concat(done, failed), err
}

// notify makes the queue of a subscription read its messages.
func (r *replay) notify(subscription int64, messages []int64) {
	if r.retried[subscription] {
		r.bulk.notifier.MarkDue(subscription, messages)
		return
	}
	r.bulk.notifier.MarkReplays(subscription)
}
