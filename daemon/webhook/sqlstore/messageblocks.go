package sqlstore

import (
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
)

// Messages that were added in a long period are found through blocks of IDs, see WH_MessageBlock. The
// time of each message of a block is between the two of the block. The engine stores a block with its
// first message, with a margin, so that few of the next messages change it.

// messageBlock are consecutive IDs of one allocation, and a period in which their messages are added.
type messageBlock struct {
	idSpan
	since, until time.Time
}

// idSpan are the IDs from first to last.
type idSpan struct{ first, last int64 }

func (s idSpan) has(id int64) bool { return s.first <= id && id <= s.last }

// maxSpan is the number of IDs of a block.
const maxSpan = 4096

// Margins of the period of a new block: events that are published concurrently are written in another
// order than that of their times, and more messages follow.
const (
	marginBefore = time.Second
	marginAfter  = time.Minute
)

var blockColumns = columns[messageBlock]{
	{"FirstID", number, func(b messageBlock) any { return b.first }},
	{"LastID", number, func(b messageBlock) any { return b.last }},
	{"AddedSince", dateTime, func(b messageBlock) any { return appdb.Timestamp(b.since) }},
	{"AddedUntil", dateTime, func(b messageBlock) any { return appdb.Timestamp(b.until) }},
}

// add extends the period to a time. The block of a daemon that adds few messages lasts long: each
// extension is as long as the period before.
func (b *messageBlock) add(at time.Time) {
	at = at.Round(0) // the clock may be set back
	if b.since.IsZero() {
		b.since = at.Add(-marginBefore)
		b.until = at.Add(marginAfter)
	}
	length := b.until.Sub(b.since)
	if at.Before(b.since) {
		b.since = at.Add(-length)
	}
	if at.After(b.until) {
		b.until = at.Add(length)
	}
}

// messageBlocks are the last IDs that an engine has allocated, and the last blocks that it has stored.
type messageBlocks struct {
	mu        sync.Mutex
	allocated []idSpan
	stored    []messageBlock
}

// maxKnown is the number of allocations and blocks that are remembered. New messages have the IDs of
// the last ones.
const maxKnown = 64

// allocate adds the IDs of an allocation.
func (k *messageBlocks) allocate(first, n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.allocated) == maxKnown {
		k.allocated = slices.Delete(k.allocated, 0, 1)
	}
	k.allocated = append(k.allocated, idSpan{first, first + n - 1})
}

// changed returns the blocks of new messages that have to be stored with them.
func (k *messageBlocks) changed(messages []*webhook.Message) []messageBlock {
	k.mu.Lock()
	defer k.mu.Unlock()
	var changed []messageBlock
	for _, m := range messages {
		at := m.Event.AddedAt
		i := slices.IndexFunc(changed, func(b messageBlock) bool { return b.has(m.ID) })
		if i >= 0 {
			changed[i].add(at)
			continue
		}
		before := k.block(m.ID)
		block := before
		block.add(at)
		if block != before {
			changed = append(changed, block)
		}
	}
	return changed
}

// block returns the block of an ID as it is stored, or a new one.
func (k *messageBlocks) block(id int64) messageBlock {
	for _, b := range slices.Backward(k.stored) {
		if b.has(id) {
			return b
		}
	}
	for _, a := range slices.Backward(k.allocated) {
		if a.has(id) {
			first := id - (id-a.first)%maxSpan
			return messageBlock{idSpan: idSpan{first, min(first+maxSpan-1, a.last)}}
		}
	}
	return messageBlock{idSpan: idSpan{id, id}}
}

// store remembers blocks that are stored.
func (k *messageBlocks) store(blocks []messageBlock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range blocks {
		k.stored = slices.DeleteFunc(k.stored, func(s messageBlock) bool { return s.first == b.first })
		k.stored = append(k.stored, b)
	}
	if excess := len(k.stored) - maxKnown; excess > 0 {
		k.stored = slices.Delete(k.stored, 0, excess)
	}
}
