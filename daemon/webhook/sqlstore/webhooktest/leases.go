package webhooktest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// past is the duration of a lease that has already expired.
const past = -time.Hour

// partitions are the partitions of a store, which daemons take over from others.
type partitions struct{ h hooks }

// leases checks which leases are granted, renewed, taken over and released.
func leases(h hooks) {
	p := partitions{h}
	ctx := h.t.Context()
	other := h.reopen().Webhooks
	lease := h.lease(time.Hour)
	otherLease, err := other.Engine.Lease(ctx, time.Hour)
	h.check(err)
	unused, err := other.Engine.Lease(ctx, time.Hour) // of a partition without messages
	h.check(err)
	p.work(h.subscribe(), otherLease)

	if lease.Partition == otherLease.Partition {
		h.t.Errorf("two daemons lease partition %d, want different partitions", lease.Partition)
	}
	now, err := h.Engine.Now(ctx)
	h.check(err)
	if term := lease.Until.Sub(now); (term - time.Hour).Abs() > time.Minute {
		h.t.Errorf("the lease ends in %v, want an hour", term)
	}
	p.expectTakeOver()

	// A lease can be renewed, not an older one of the same partition.
	older := delivery.Lease{Partition: otherLease.Partition, Fence: otherLease.Fence - 1}
	held, err := h.Engine.Renew(ctx, []delivery.Lease{lease, older}, past)
	h.check(err)
	if len(held) != 1 {
		h.t.Fatalf("renewed %+v, want only %+v", held, lease)
	}
	if held[0].Partition != lease.Partition || held[0].Fence != lease.Fence || !held[0].Until.Before(now) {
		h.t.Errorf("renewed %+v, want %+v until an hour ago", held[0], lease)
	}

	// It has expired, and its partition is leased by others.
	taken := p.expectTakeOver(lease.Partition)
	if taken[0].Fence <= lease.Fence {
		h.t.Errorf("taken over with fence %d, want more than %d", taken[0].Fence, lease.Fence)
	}
	held, err = h.Engine.Renew(ctx, []delivery.Lease{lease}, time.Hour)
	h.check(err)
	if len(held) != 0 {
		h.t.Errorf("renewed the lost lease %+v, want none", held)
	}

	// To release a lost lease has no effect, and a partition without messages needs no holder.
	h.check(other.Engine.Release(ctx, []delivery.Lease{otherLease, lease, unused}))
	p.expectOrphans(true)
	p.expectTakeOver(otherLease.Partition)
	p.expectOrphans(false)

	// The oldest free partition is leased before new ones.
	h.check(h.Engine.Release(ctx, taken))
	next := h.lease(0)
	if next.Partition != lease.Partition || next.Fence <= taken[0].Fence {
		h.t.Errorf("leased %+v, want a new lease of partition %d", next, lease.Partition)
	}
	repeated := h.lease(0)
	if repeated.Partition != lease.Partition {
		h.t.Errorf("leased partition %d after a lease without a term, want %d again", repeated.Partition, lease.Partition)
	}
}

// expectOrphans checks whether there are partitions to take over.
func (p partitions) expectOrphans(want bool) {
	p.h.t.Helper()
	if got := p.h.readPeerEvents(-1).Orphans; got != want {
		p.h.t.Errorf("there are partitions to take over: %v, want %v", got, want)
	}
}

// work adds an open message to a partition.
func (p partitions) work(r webhook.Subscription, l delivery.Lease) {
	p.h.t.Helper()
	b := p.h.batch(l)
	p.h.publish(&b, noon, "x", r.ID)
	p.h.check(p.h.Engine.Write(p.h.t.Context(), b))
}

// expectTakeOver takes over partitions, and checks which.
func (p partitions) expectTakeOver(want ...int64) []delivery.Lease {
	p.h.t.Helper()
	taken, err := p.h.Engine.TakeOver(p.h.t.Context(), time.Hour)
	p.h.check(err)
	var got []int64
	for _, l := range taken {
		got = append(got, l.Partition)
	}
	if !slices.Equal(got, want) {
		p.h.t.Fatalf("took over %v, want %v", got, want)
	}
	return taken
}

// concurrentLeases checks that each partition is leased by only one of several
// daemons.
func concurrentLeases(h hooks) {
	p := partitions{h}
	daemons := contenders{t: h.t, stores: []delivery.Store{h.Engine, h.reopen().Webhooks.Engine}}
	sub := h.subscribe()
	for range 3 {
		expired := h.lease(past)
		p.work(sub, expired)
		holders := daemons.takeOver()
		if holders[expired.Partition] == 0 {
			h.t.Errorf("partition %d has no holder, want one", expired.Partition)
		}
		daemons.lease()
	}
}

// contenders are two daemons with the same store, which compete for its partitions.
type contenders struct {
	t      *testing.T
	stores []delivery.Store // one of each daemon
}

// takeOver lets the daemons take over partitions at the same time, and checks that each partition
// has one holder at most. It returns the number of holders by partition.
func (c contenders) takeOver() map[int64]int {
	var mu sync.Mutex
	holders := make(map[int64]int)
	concurrently(8, func(i int) {
		taken, err := c.stores[i%2].TakeOver(c.t.Context(), time.Hour)
		if err != nil {
			c.t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, lease := range taken {
			holders[lease.Partition]++
		}
	})
	for partition, n := range holders {
		if n > 1 {
			c.t.Errorf("partition %d was taken over %d times, want at most once", partition, n)
		}
	}
	return holders
}

// lease lets the daemons lease partitions at the same time, and checks that they are different
// ones.
func (c contenders) lease() {
	var mu sync.Mutex
	isLeased := make(map[int64]bool)
	concurrently(4, func(i int) {
		lease, err := c.stores[i%2].Lease(c.t.Context(), time.Hour)
		if err != nil {
			c.t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if isLeased[lease.Partition] {
			c.t.Errorf("partition %d was leased twice", lease.Partition)
		}
		isLeased[lease.Partition] = true
	})
}

// storeClock checks that the clock of the store does not go back, and is in UTC.
func storeClock(h hooks) {
	first, err := h.Engine.Now(h.t.Context())
	h.check(err)
	second, err := h.Engine.Now(h.t.Context())
	h.check(err)
	if second.Before(first) {
		h.t.Errorf("the clock returned %v after %v", second, first)
	}
	if first.Location() != time.UTC {
		h.t.Errorf("the clock returned a time in %v, want UTC", first.Location())
	}
	if offset := time.Since(first).Abs(); offset > time.Hour {
		h.t.Errorf("the clock differs by %v from the local one, want less than an hour", offset)
	}
}

// concurrentIDs checks that no ID is allocated twice.
func concurrentIDs(h hooks) {
	daemons := []delivery.Store{h.Engine, h.reopen().Webhooks.Engine}
	var mu sync.Mutex
	isTaken := make(map[int64]bool)
	take := func(id int64) {
		mu.Lock()
		defer mu.Unlock()
		if isTaken[id] {
			h.t.Errorf("ID %d was allocated twice", id)
		}
		if id < 1 {
			h.t.Errorf("ID %d was allocated, want at least 1", id)
		}
		isTaken[id] = true
	}
	concurrently(8, func(i int) {
		for n := 1; n <= 4; n++ {
			first, err := daemons[i%2].AllocateIDs(h.t.Context(), n)
			if err != nil {
				h.t.Error(err)
			}
			for id := first; id < first+int64(n); id++ {
				take(id)
			}
		}
	})
}

// fencedWrites checks that a batch changes nothing if another daemon has taken over
// the partition.
func fencedWrites(h hooks) {
	p := partitions{h}
	sub := h.subscribe()
	old := h.lease(past)
	message := h.send(old, sub.ID, 1)[0] // the lease has expired, but was not taken over yet
	current := p.expectTakeOver(old.Partition)[0]
	b := h.batch(old)
	b.Outcomes = []webhook.AttemptResult{attempt(message, 200, webhook.Successful, time.Time{})}
	h.publish(&b, noon, "{}", sub.ID)
	expectFenced := func(when string) {
		h.t.Helper()
		err := h.Engine.Write(h.t.Context(), b)
		if !errors.Is(err, delivery.ErrFenced) {
			h.t.Errorf("writing %s: error %v, want %v", when, err, delivery.ErrFenced)
		}
	}

	expectFenced("under an old lease")
	b.Leases = nil
	expectFenced("without a lease")
	b.Leases = []delivery.Lease{old}
	b.Version--
	expectFenced("under an old lease and with an old version")
	h.expectIDs("open messages of the new holder", h.open(current.Partition, sub.ID), message)
	h.expectState(addressOf(sub, message), webhook.State{Next: noon})

	h.record(current, attempt(message, 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(sub, message), webhook.State{Status: webhook.Successful, Attempts: 1})
}

// concurrentWriters has two daemons write concurrently, each to its own partition. Half of the
// messages of each batch are delivered.
func concurrentWriters(h hooks) {
	const (
		writers = 8 // of each daemon
		batches = 4 // of each writer
		size    = 4 // messages of each batch
	)
	sub := h.subscribe()
	daemons := []hooks{h, {Store: h.reopen().Webhooks, t: h.t}}
	held := []delivery.Lease{daemons[0].lease(time.Hour), daemons[1].lease(time.Hour)}
	version := h.version()
	concurrently(2*writers, func(i int) {
		for range batches {
			err := daemons[i%2].deliverHalf(held[i%2], version, sub.ID, size)
			if err != nil {
				h.t.Error(err)
			}
		}
	})

	const want = writers * batches * size / 2
	for i, lease := range held {
		if got := len(h.open(lease.Partition, sub.ID)); got != want {
			h.t.Errorf("daemon %d has %d open messages, want %d", i, got, want)
		}
	}
}

// deliverHalf writes a batch of messages, and one with the results of the first half of them.
func (h hooks) deliverHalf(lease delivery.Lease, version, sub int64, size int) error {
	ctx := h.t.Context()
	first, err := h.Engine.AllocateIDs(ctx, 2*size)
	if err != nil {
		return err
	}
	published := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
	for n := range int64(size) {
		add(&published, first+2*n, noon, "{}", sub)
	}
	err = h.Engine.Write(ctx, published)
	if err != nil {
		return err
	}

	delivered := delivery.Batch{Version: version, Leases: []delivery.Lease{lease}}
	for _, m := range published.Messages[:size/2] {
		delivered.Outcomes = append(delivered.Outcomes, attempt(m, 200, webhook.Successful, time.Time{}))
	}
	return h.Engine.Write(ctx, delivered)
}

// deleteAndOutcome removes messages while results of their attempts are written.
func deleteAndOutcome(h hooks) {
	sub := h.subscribe()
	lease := h.lease(time.Hour)
	sent := h.send(lease, sub.ID, 16)
	version := h.version()
	writeOutcome := func(m *webhook.Message) {
		err := h.Engine.Write(h.t.Context(), delivery.Batch{
			Version:  version,
			Leases:   []delivery.Lease{lease},
			Outcomes: []webhook.AttemptResult{attempt(m, 500, webhook.RetryPending, noon)},
		})
		if err != nil {
			h.t.Error(err)
		}
	}
	remove := func(m *webhook.Message) {
		removed, err := h.Admin.RemoveMessage(h.t.Context(), addressOf(sub, m))
		if err != nil || removed == nil {
			h.t.Errorf("removing message %d: %v (%v), want the message", m.ID, removed, err)
		}
	}

	concurrently(2*len(sent), func(i int) {
		m := sent[i/2]
		if i%2 == 0 {
			writeOutcome(m)
		} else {
			remove(m)
		}
	})
	h.expectIDs("open messages after all were removed", h.open(lease.Partition, sub.ID))
}
