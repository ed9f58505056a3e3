package webhooktest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// past is the duration of a lease that has already expired.
const past = -time.Hour

func leases(h hooks) {
	ctx, other := h.t.Context(), h.reopen().Webhooks
	a := h.lease(time.Hour)
	b, err := other.Engine.Lease(ctx, time.Hour)
	h.check(err)
	done, err := other.Engine.Lease(ctx, time.Hour)
	h.check(err)
	h.work(h.subscribe(), b)
	if a.Partition == b.Partition {
		h.t.Errorf("two daemons have partition %d", a.Partition)
	}
	now, err := h.Engine.Now(ctx)
	h.check(err)
	if d := a.Until.Sub(now); d < 59*time.Minute || d > 61*time.Minute {
		h.t.Errorf("the lease ends in %v, want an hour", d)
	}
	h.expectTakeOver()
	held, err := h.Engine.Renew(ctx, []delivery.Lease{a, {Partition: b.Partition, Fence: b.Fence - 1}}, past)
	h.check(err)
	if len(held) != 1 || held[0].Partition != a.Partition || held[0].Fence != a.Fence || !held[0].Until.Before(now) {
		h.t.Errorf("renewed %+v", held)
	}
	taken := h.expectTakeOver(a.Partition) // the lease has expired
	if taken[0].Fence <= a.Fence {
		h.t.Errorf("fence %d after %d", taken[0].Fence, a.Fence)
	}
	if held, err = h.Engine.Renew(ctx, []delivery.Lease{a}, time.Hour); err != nil || len(held) != 0 {
		h.t.Errorf("a lost lease was renewed: %+v (%v)", held, err)
	}
	h.check(other.Engine.Release(ctx, []delivery.Lease{b, a, done}))
	if !h.readPeerEvents(-1).Orphans {
		h.t.Error("Orphans is false although a partition can be taken over")
	}
	h.expectTakeOver(b.Partition) // neither a's partition, which was taken over, nor one without messages
	if h.readPeerEvents(-1).Orphans {
		h.t.Error("Orphans is true although all partitions are leased")
	}
	h.check(h.Engine.Release(ctx, taken))
	if l := h.lease(0); l.Partition != a.Partition || l.Fence <= taken[0].Fence {
		h.t.Errorf("leased %+v, want a new lease of the oldest free partition", l)
	}
	if l := h.lease(0); l.Partition != a.Partition {
		h.t.Errorf("leased %+v, want the same one again", l)
	}
}

// work adds an open message to a partition.
func (h hooks) work(r webhook.Subscription, l delivery.Lease) {
	h.t.Helper()
	b := h.batch(l)
	h.publish(&b, noon, "x", r.ID)
	h.check(h.Engine.Write(h.t.Context(), b))
}

func (h hooks) expectTakeOver(want ...int64) []delivery.Lease {
	h.t.Helper()
	taken, err := h.Engine.TakeOver(h.t.Context(), time.Hour)
	h.check(err)
	var got []int64
	for _, l := range taken {
		got = append(got, l.Partition)
	}
	if !slices.Equal(got, want) {
		h.t.Fatalf("took over %v, want %v", got, want)
	}
	return taken
}

// concurrentLeases checks that each partition is leased by only one of several
// daemons.
func concurrentLeases(h hooks) {
	daemons := []delivery.Store{h.Engine, h.reopen().Webhooks.Engine}
	r := h.subscribe()
	for range 3 {
		l := h.lease(past)
		h.work(r, l)
		var mu sync.Mutex
		holders := make(map[int64]int)
		concurrently(8, func(i int) {
			taken, err := daemons[i%2].TakeOver(h.t.Context(), time.Hour)
			if err != nil {
				h.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, lease := range taken {
				holders[lease.Partition]++
			}
		})
		for partition, n := range holders { // a partition may be unused
			if n > 1 {
				h.t.Errorf("partition %d is leased %d times", partition, n)
			}
		}
		if holders[l.Partition] == 0 {
			h.t.Errorf("partition %d has no holder", l.Partition)
		}
		partitions := make(map[int64]bool)
		concurrently(4, func(i int) {
			l, err := daemons[i%2].Lease(h.t.Context(), time.Hour)
			if err != nil {
				h.t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if partitions[l.Partition] {
				h.t.Errorf("partition %d is leased twice", l.Partition)
			}
			partitions[l.Partition] = true
		})
	}
}

func storeClock(h hooks) {
	a, err := h.Engine.Now(h.t.Context())
	h.check(err)
	b, err := h.Engine.Now(h.t.Context())
	h.check(err)
	if b.Before(a) || a.Location() != time.UTC || time.Since(a).Abs() > time.Hour {
		h.t.Errorf("the clock returned %v, then %v", a, b)
	}
}

func concurrentIDs(h hooks) {
	daemons := []delivery.Store{h.Engine, h.reopen().Webhooks.Engine}
	var mu sync.Mutex
	taken := make(map[int64]bool)
	concurrently(8, func(i int) {
		for n := 1; n <= 4; n++ {
			first, err := daemons[i%2].AllocateIDs(h.t.Context(), n)
			if err != nil {
				h.t.Error(err)
			}
			mu.Lock()
			for id := first; id < first+int64(n); id++ {
				if taken[id] || id < 1 {
					h.t.Errorf("number %d is given twice, or is none", id)
				}
				taken[id] = true
			}
			mu.Unlock()
		}
	})
}

// fencedWrites checks that a batch changes nothing if another daemon has taken over
// the partition.
func fencedWrites(h hooks) {
	ctx, r := h.t.Context(), h.subscribe()
	old := h.lease(past)
	m := h.send(old, r.ID, 1)[0] // not taken over yet
	now := h.expectTakeOver(old.Partition)[0]
	b := h.batch(old)
	b.Outcomes = []webhook.AttemptResult{attempt(m, 200, webhook.Successful, time.Time{})}
	h.publish(&b, noon, "{}", r.ID)
	if err := h.Engine.Write(ctx, b); !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("under an old lease: %v", err)
	}
	b.Leases = nil
	if err := h.Engine.Write(ctx, b); !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("without a lease: %v", err)
	}
	b.Leases = []delivery.Lease{old}
	b.Version--
	if err := h.Engine.Write(ctx, b); !errors.Is(err, delivery.ErrFenced) {
		h.t.Errorf("under an old lease and version: %v", err)
	}
	h.expectIDs("for the new holder", h.open(now.Partition, r.ID), m)
	h.expectState(addressOf(r, m), webhook.State{Next: noon})
	h.record(now, attempt(m, 200, webhook.Successful, time.Time{}))
	h.expectState(addressOf(r, m), webhook.State{Status: webhook.Successful, Attempts: 1})
}

// concurrentWriters has two daemons write concurrently, each to its own partition.
func concurrentWriters(h hooks) {
	const (
		each   = 8
		rounds = 4
		size   = 4
	)
	r := h.subscribe()
	daemons := []hooks{h, {Store: h.reopen().Webhooks, t: h.t}}
	held := []delivery.Lease{h.lease(time.Hour), daemons[1].lease(time.Hour)}
	version := h.version()
	concurrently(2*each, func(i int) {
		d, l := daemons[i%2], held[i%2]
		for range rounds {
			first, err := d.Engine.AllocateIDs(h.t.Context(), 2*size)
			if err != nil {
				h.t.Error(err)
				return
			}
			b := delivery.Batch{Version: version, Leases: []delivery.Lease{l}}
			for n := range int64(size) {
				add(&b, first+2*n, noon, "{}", r.ID)
			}
			sent := b.Messages
			err = d.Engine.Write(h.t.Context(), b)
			done := delivery.Batch{Version: version, Leases: b.Leases}
			for _, m := range sent[:size/2] {
				done.Outcomes = append(done.Outcomes, attempt(m, 200, webhook.Successful, time.Time{}))
			}
			if err = errors.Join(err, d.Engine.Write(h.t.Context(), done)); err != nil {
				h.t.Error(err)
			}
		}
	})
	for i, l := range held {
		if n := len(h.open(l.Partition, r.ID)); n != each*rounds*size/2 {
			h.t.Errorf("daemon %d has %d open messages, want %d", i, n, each*rounds*size/2)
		}
	}
}

// deleteAndOutcome removes messages while results of their attempts are written.
func deleteAndOutcome(h hooks) {
	r, l := h.subscribe(), h.lease(time.Hour)
	sent := h.send(l, r.ID, 16)
	version := h.version()
	concurrently(2*len(sent), func(i int) {
		m := sent[i/2]
		if i%2 == 0 {
			b := delivery.Batch{Version: version, Leases: []delivery.Lease{l}, Outcomes: []webhook.AttemptResult{attempt(m, 500, webhook.RetryPending, noon)}}
			if err := h.Engine.Write(h.t.Context(), b); err != nil {
				h.t.Error(err)
			}
		} else if gone, err := h.Admin.RemoveMessage(h.t.Context(), addressOf(r, m)); err != nil || gone == nil {
			h.t.Errorf("removing a message: %v (%v)", gone, err)
		}
	})
	h.expectIDs("after all were removed", h.open(l.Partition, r.ID))
}
