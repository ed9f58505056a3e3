package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/wake"
)

// leases are the partitions that this daemon holds.
type leases struct {
	held    []Lease
	home    Lease         // partition of new messages
	renewed time.Time     // when they were last known to be held, by the local clock
	term    time.Duration // 0 if no other daemon shares the store
}

// nearExpiry reports whether two thirds of the term have passed since the last renewal. An
// attempt that starts now could outlast the lease, and another daemon could repeat it.
func (l *leases) nearExpiry() bool { return l.term > 0 && elapsed(l.renewed) > l.term*2/3 }

// leaseKeeper renews the leases, and takes over those of dead daemons.
type leaseKeeper struct {
	*core
	mu       sync.Mutex      // held while the leases change
	orphaned chan struct{}   // buffered; there are partitions to take over
	taken    chan<- struct{} // buffered; partitions were taken over
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

// renew extends this daemon's leases, releases those of partitions without open messages,
// and takes over partitions with expired leases.
func (k *leaseKeeper) renew(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, k.LeaseTerm/3)
	defer cancel()
	current := k.queues.leased()
	current.renewed = time.Now()
	held, err := k.Store.Renew(ctx, current.held, current.term)
	if err != nil {
		return err
	}
	current.held = held
	k.queues.setLeases(current) // attempts may start even if one of the next steps fails
	if err := k.releaseIdle(ctx, &current); err != nil {
		return err
	}
	taken, err := k.Store.TakeOver(ctx, current.term)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		k.Log.Info("took over partitions with expired leases", "partitions", len(taken))
		current.held = append(current.held, taken...)
		k.queues.setLeases(current)
		wake.Signal(k.taken)
	}
	return k.clock.set(ctx, k.Store)
}

// releaseIdle releases partitions without open messages, so that the number of
// partitions does not grow with each restart.
func (k *leaseKeeper) releaseIdle(ctx context.Context, current *leases) error {
	var kept, idle []Lease
	for _, l := range current.held {
		if l.Partition == current.home.Partition || l.Partition == FirstPartition {
			kept = append(kept, l)
			continue
		}
		open, err := k.Store.OpenSubscriptions(ctx, l.Partition)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			kept = append(kept, l)
		} else {
			idle = append(idle, l)
		}
	}
	current.held = kept
	if len(idle) == 0 {
		return nil
	}
	k.queues.setLeases(*current) // before another daemon can acquire them
	return k.Store.Release(ctx, idle)
}

// reacquire renews the leases that are still held, and leases a new home partition if the
// old one was lost. The caller must hold k.mu.
func (k *leaseKeeper) reacquire(ctx context.Context) (leases, error) {
	current := k.queues.leased()
	current.renewed = time.Now()
	held, err := k.Store.Renew(ctx, current.held, current.term)
	if err != nil {
		return leases{}, err
	}
	current.held = held
	if holds(held, current.home.Partition) {
		return current, nil
	}
	current.home, err = k.Store.Lease(ctx, current.term)
	if err != nil {
		return leases{}, err
	}
	current.held = append(current.held, current.home)
	return current, nil
}
