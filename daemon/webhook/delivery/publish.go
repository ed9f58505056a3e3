package delivery

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// Receipt tells what became of an event.
type Receipt struct {
	EventID  string
	Messages int // one for each subscription that it goes to
}

// publication is an event that waits to be written.
type publication struct {
	event    *webhook.Event
	key      *Key  // that it is published under, nil for none
	only     int64 // the one subscription that it goes to, 0 for all that match
	except   int64 // one that it does not go to, 0 for none
	outbox   int64 // the row of the outbox that it is, 0 for none
	messages []*webhook.Message
	done     chan error // buffered
}

// size is what the publication takes in memory while it waits.
func (p *publication) size() int { return len(p.event.Body) + 512 }

// Publish raises an event. When it returns without an error, the event's
// messages are durable. It waits for the store even when ctx is done, since an
// event that may be stored must not look refused.
func (e *Engine) Publish(ctx context.Context, name string, body []byte) (Receipt, error) {
	return e.publish(ctx, name, body, nil)
}

func (e *Engine) publish(ctx context.Context, name string, body []byte, key *Key) (Receipt, error) {
	if err := cmp.Or(ctx.Err(), e.unavailableErr()); err != nil {
		return Receipt{}, err
	}
	now := e.Now()
	p := &publication{event: &webhook.Event{GUID: newGUID(now), Name: name, Body: body, AddedAt: now}, key: key, done: make(chan error, 1)}
	if err := e.await(p); err != nil {
		return Receipt{}, err
	}
	return Receipt{p.event.GUID, len(p.messages)}, nil
}

// SendTest sends a message to one subscription, whatever events it is for, and gives
// the message once it is durable, as it was stored: its attempts begin meanwhile.
func (e *Engine) SendTest(ctx context.Context, subscription int64, name string, body []byte) (*webhook.Message, error) {
	if err := cmp.Or(ctx.Err(), e.unavailableErr()); err != nil {
		return nil, err
	}
	now := e.Now()
	p := &publication{event: &webhook.Event{GUID: newGUID(now), Name: name, Body: body, AddedAt: now}, only: subscription, done: make(chan error, 1)}
	if err := e.await(p); err != nil {
		return nil, err
	}
	if len(p.messages) == 0 {
		return nil, fault.New(fault.NotFound, "There is no such subscription")
	}
	m := p.messages[0]
	return &webhook.Message{
		ID: m.ID, GUID: m.GUID, Event: p.event, Partition: m.Partition, Subscription: m.Subscription, URL: m.URL, Private: m.Private,
		State: webhook.State{Next: p.event.AddedAt},
	}, nil
}

// await has a publication written.
func (e *Engine) await(p *publication) error {
	if err := e.pending.publish(p); err != nil {
		return err
	}
	return <-p.done
}

// targets are the subscriptions that a publication goes to.
func (p *publication) targets(s *webhook.Snapshot) []*webhook.Subscription {
	if p.only == 0 {
		return s.Match(p.event.Name)
	}
	if sub := s.Subscription(p.only); sub != nil {
		return []*webhook.Subscription{sub}
	}
	return nil
}

// match makes the messages of a publication. Those of ordered subscriptions go
// through one partition, however many daemons there are; where another daemon
// holds it, they are added to lines.
func (e *Engine) match(p *publication, s *webhook.Snapshot, lines map[int64]bool) {
	p.messages = p.messages[:0]
	for _, sub := range p.targets(s) {
		if sub.ID == p.except {
			continue
		}
		partition := e.home.Partition
		if sub.Ordered && e.LeaseTerm > 0 {
			partition = firstPartition
			lines[sub.ID] = true
		}
		p.messages = append(p.messages, webhook.NewMessage(newGUID(p.event.AddedAt), p.event, sub, partition))
	}
}

func overloaded() error {
	return &fault.Error{Kind: fault.Unavailable, Message: "more events wait to be stored than the service can hold; try again", RetryAfter: time.Second}
}

func stopping() error {
	return &fault.Error{Kind: fault.Unavailable, Message: "the service is stopping", RetryAfter: 5 * time.Second}
}

// newGUID makes a guid of RFC 9562's version 7: it begins with the time, so
// that an index of them grows at its end, and goes on with 74 random bits.
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
