package delivery

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/condition"
)

// publication is an event that is waiting to be written.
type publication struct {
	event    *webhook.Event
	key      *Key                             // idempotency key, nil for none
	target   int64                            // the only subscription to send to, 0 for all that match
	exclude  int64                            // a subscription not to send to, 0 for none
	receives func(*webhook.Subscription) bool // whether a subscription is sent a captured event; nil for a posted one
	outbox   *OutboxEvent                     // its row in the outbox, nil for none
	lease    Lease                            // under which the row was read
	broken   *bool                            // one row of the same read has failed; of the batchWriter
	body     condition.Body
	messages []*webhook.Message
	done     chan error // buffered
}

func newPublication(e Post, now time.Time) *publication {
	event := &webhook.Event{GUID: newGUID(now), Name: e.Name, Key: e.Key, Body: e.Body, AddedAt: now}
	return &publication{event: event, body: condition.Body{Data: e.Body}, done: make(chan error, 1)}
}

// fail completes a publication with an error.
func (p *publication) fail(err error) {
	if p.broken != nil {
		*p.broken = true
	}
	p.done <- err
}

// size returns the memory that a pending publication uses, in bytes.
func (p *publication) size() int { return len(p.event.Body) + 512 }

// match creates the messages of a publication in the partition home. With several
// daemons, messages of subscriptions with an order belong to the first partition instead, and
// the IDs of these subscriptions are added to ordered.
func (p *publication) match(s *webhook.Snapshot, home int64, shared bool, ordered map[int64]bool) {
	p.messages = p.messages[:0]
	for _, sub := range p.targets(s) {
		if !p.isFor(sub) {
			continue
		}
		partition := home
		if sub.Order != (webhook.Order{}) && shared {
			partition = FirstPartition
			ordered[sub.ID] = true
		}
		p.messages = append(p.messages, webhook.NewMessage(newGUID(p.event.AddedAt), p.event, sub, partition))
	}
}

// isFor reports whether a subscription that may receive the event does. A test is sent to its
// target regardless of its condition.
func (p *publication) isFor(sub *webhook.Subscription) bool {
	if sub.ID == p.exclude {
		return false
	}
	if p.receives != nil && !p.receives(sub) {
		return false
	}
	return p.target != 0 || p.meets(&sub.Where)
}

// meets reports whether the event meets a condition. None meets an invalid one.
func (p *publication) meets(w *webhook.Where) bool {
	return w.Text == "" || w.Condition != nil && w.Condition.Unmet(&p.body) == ""
}

// targets returns the subscriptions that the event may be sent to.
func (p *publication) targets(s *webhook.Snapshot) []*webhook.Subscription {
	if p.target == 0 {
		return s.Match(p.event.Name)
	}
	if sub := s.Subscription(p.target); sub != nil {
		return []*webhook.Subscription{sub}
	}
	return nil
}

// newGUID returns a UUID of version 7 (RFC 9562): it starts with the time, so that
// indexes grow at their end, followed by 74 random bits.
func newGUID(at time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(at.UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // never fails
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	text := hex.AppendEncode(make([]byte, 0, 36), b[:4])
	for _, part := range [...][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		text = hex.AppendEncode(append(text, '-'), part)
	}
	return string(text)
}
