package delivery

import (
	"context"
	"sync"
	"time"
)

// leases are the partitions that this daemon holds.
type leases struct {
	held    []Lease
	home    Lease         // partition of new messages
	renewed time.Time     // when they were last known to be held, by the local clock
	term    time.Duration // 0 if no other daemon shares the store
}

// nearExpiry reports whether a lease may expire before an attempt that starts now ends:
// another daemon could then make the same attempt.
func (l *leases) nearExpiry() bool { return l.term > 0 && elapsed(l.renewed) > l.term*2/3 }

// leaseKeeper renews the leases, and takes over those of dead daemons.
type leaseKeeper struct {
	*core
	mu       sync.Mutex    // held while the leases change
	orphaned chan struct{} // buffered; there are partitions to take over
}

// run renews the leases well before they expire, until ctx is done.
func (k *leaseKeeper) run(ctx context.Context) {
	pause := k.LeaseTerm / 3
	for sleep(ctx, k.orphaned, pause) {
		pause = k.LeaseTerm / 3
		if err := k.renew(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("renewing the leases failed", "error", err.Error())
			pause = k.LeaseTerm / 12
		}
	}
}

// renew renews the leases, releases unneeded ones and takes over those that other
// daemons have left.
func (k *leaseKeeper) renew(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, k.LeaseTerm/3)
	defer cancel()
	now := k.queues.leased()
	now.renewed = time.Now()
	held, err := k.Store.Renew(ctx, now.held, now.term)
	if err != nil {
		return err
	}
	now.held = held
	if err := k.releaseIdle(ctx, &now); err != nil {
		return err
	}
	found, err := k.Store.TakeOver(ctx, now.term)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		k.Log.Info("took over messages of a stopped daemon", "partitions", len(found))
	}
	now.held = append(now.held, found...)
	k.queues.setLeases(now)
	return k.clock.set(ctx, k.Store)
}

// releaseIdle releases partitions without open messages, so that the number of
// partitions does not grow with each restart.
func (k *leaseKeeper) releaseIdle(ctx context.Context, now *leases) error {
	var kept, done []Lease
	for _, l := range now.held {
		if l.Partition == now.home.Partition || l.Partition == firstPartition {
			kept = append(kept, l)
			continue
		}
		open, err := k.Store.OpenSubscriptions(ctx, l.Partition)
		switch {
		case err != nil:
			return err
		case len(open) > 0:
			kept = append(kept, l)
		default:
			done = append(done, l)
		}
	}
	now.held = kept
	if len(done) == 0 {
		return nil
	}
	k.queues.setLeases(*now) // before another daemon can acquire them
	return k.Store.Release(ctx, done)
}

// reacquire finds out which leases are still held, and leases a new partition if that of
// new messages was lost. The keeper's lock is held.
func (k *leaseKeeper) reacquire(ctx context.Context) (leases, error) {
	now := k.queues.leased()
	now.renewed = time.Now()
	held, err := k.Store.Renew(ctx, now.held, now.term)
	if now.held = held; err != nil || holds(held, now.home.Partition) {
		return now, err
	}
	if now.home, err = k.Store.Lease(ctx, now.term); err == nil {
		now.held = append(now.held, now.home)
	}
	return now, err
}
