package sqlstore

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// TestMessageBlocks checks that each message of two engines is in exactly one stored block, between
// its times, while their allocations alternate, events are written late, and the clock is set back.
func TestMessageBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	engines := []*messageBlocks{{}, {}}
	ids := make([]idSpan, len(engines)) // left of the last allocation
	next := int64(1)
	now := hookNoon
	stored := make(map[int64]messageBlock)
	changes := 0
	var messages []*webhook.Message
	for range 5000 {
		e := random.IntN(len(engines))
		blocks := engines[e]
		var batch []*webhook.Message
		for range 1 + random.IntN(20) {
			if ids[e].first >= ids[e].last {
				n := int64(4096 * (1 + 3*e))
				ids[e] = idSpan{next, next + n}
				blocks.allocate(next, n)
				next += n + int64(random.IntN(3))
			}
			late := time.Duration(random.IntN(2000)) * time.Millisecond
			event := &webhook.Event{AddedAt: now.Add(-late)}
			batch = append(batch, &webhook.Message{ID: ids[e].first, Event: event})
			ids[e].first++
			now = now.Add(time.Duration(random.IntN(40)) * time.Millisecond)
			if random.IntN(20_000) == 0 {
				now = now.Add(-time.Hour)
			}
		}
		changed := blocks.changed(batch)
		if random.IntN(10) == 0 { // the batch is not stored
			continue
		}
		blocks.store(changed)
		changes += len(changed)
		for _, b := range changed {
			stored[b.first] = b
		}
		messages = append(messages, batch...)
	}

	for _, m := range messages {
		var blocks []messageBlock
		for _, b := range stored {
			if b.has(m.ID) {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) != 1 {
			t.Fatalf("message %d is in the blocks %v, want one", m.ID, blocks)
		}
		at := m.Event.AddedAt
		if at.Before(blocks[0].since) || at.After(blocks[0].until) {
			t.Fatalf("message %d of %v is not in the period of the block %v", m.ID, at, blocks[0])
		}
	}
	if most := len(messages) / 500; changes > most {
		t.Errorf("%d messages changed blocks %d times, want at most %d", len(messages), changes, most)
	}
	if slices.ContainsFunc(engines, func(k *messageBlocks) bool { return len(k.allocated) > maxKnown || len(k.stored) > maxKnown }) {
		t.Errorf("more than %d allocations or blocks are remembered", maxKnown)
	}
}
