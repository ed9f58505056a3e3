package delivery

import (
	"fmt"
	"testing"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestFirstPageLeavesShares reads the first page while several queues wait for one: it takes the
// share of one queue, and leaves those of the others.
func TestFirstPageLeavesShares(t *testing.T) {
	const (
		memory   = 64 << 10
		messages = 60
		size     = 1000
	)
	for _, queues := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(queues), func(t *testing.T) {
			e := newStepEngine(t, memory, queues)
			for n := range int64(messages) {
				for id := range e.subs {
					event := &webhook.Event{ID: 1000*(n+1) + id, Body: make([]byte, size)}
					e.store.add(dueMessage(event.ID, event, id))
				}
			}
			e.queues.rewind()
			tier := &e.queues.budget.tiers[healthy]
			share := tier.limit / queues

			if !e.refillOnce() {
				t.Fatal("no page was read")
			}

			const cost = messageCost + size
			want := share / cost * cost
			if tier.used != want {
				t.Errorf("the first page uses %d bytes, want %d of the share of %d", tier.used, want, share)
			}
		})
	}
}
