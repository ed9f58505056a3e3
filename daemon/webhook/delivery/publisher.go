package delivery

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook"
)

// publisher accepts events and waits until they are durable.
type publisher struct {
	core *core
	keys keyLocks
}

// Post is an event to publish.
type Post struct {
	Name string
	Key  string // its subject; empty for none
	Body []byte
}

// Publish publishes an event. When it returns without an error, the event's messages
// are durable. It waits for the store even if ctx is done: an event that may have been
// stored must not be reported as failed.
func (p *publisher) Publish(ctx context.Context, e Post) (wire.EventReceipt, error) {
	return p.publish(ctx, newPublication(e, p.core.Now()))
}

func (p *publisher) publish(ctx context.Context, event *publication) (wire.EventReceipt, error) {
	if err := cmp.Or(ctx.Err(), p.core.unavailableErr()); err != nil {
		return wire.EventReceipt{}, err
	}
	if err := p.core.pending.publish(event); err != nil {
		return wire.EventReceipt{}, err
	}
	if err := <-event.done; err != nil {
		return wire.EventReceipt{}, err
	}
	return wire.EventReceipt{EventID: event.event.GUID, Messages: len(event.messages)}, nil
}

// PublishCaptured writes a group of changes in one transaction, with the messages of their
// events, and returns when they are durable. It fails with ErrCaptureLost, and writes
// nothing, unless the kind's capture has the fence and the position of the group: so a
// group is not written twice after a write with an unknown result. It waits for the store even
// if ctx is done.
func (p *publisher) PublishCaptured(ctx context.Context, c *Captured) error {
	if err := cmp.Or(ctx.Err(), p.core.unavailableErr()); err != nil {
		return err
	}
	if n := len(c.Changes); n == 0 || n > MaxCaptured {
		return fmt.Errorf("a group of %d changes; it must have 1 to %d", n, MaxCaptured)
	}
	c.AddedAt = p.core.Now()
	g := newGroup(c, p.core.recipients)
	if err := p.core.pending.publishGroup(g); err != nil {
		return err
	}
	return <-g.done
}

// postingWindow is how long after an event others are expected.
const postingWindow = 250 * time.Millisecond

// Posting reports whether events are published now, other than events of changes. They would wait
// for large groups of changes.
func (p *publisher) Posting() bool { return time.Since(p.core.pending.lastPublished()) < postingWindow }

// SendTest sends a message to one subscription regardless of its pattern. It returns
// the message, as stored, once it is durable; attempts run in the background.
func (p *publisher) SendTest(
	ctx context.Context, subscription int64, name string, body []byte,
) (*webhook.Message, error) {
	event := newPublication(Post{Name: name, Body: body}, p.core.Now())
	event.target = subscription
	r, err := p.publish(ctx, event)
	if err != nil {
		return nil, err
	}
	if r.Messages == 0 {
		return nil, fault.NoSuch("subscription")
	}

	p.core.queues.changeQueue(subscription, func(q *queue) { q.endpoint.endRequestedWait() })
	m := event.messages[0]
	return &webhook.Message{
		ID:           m.ID,
		GUID:         m.GUID,
		Event:        event.event,
		Partition:    m.Partition,
		Subscription: m.Subscription,
		URL:          p.core.queues.urlOf(m),
		MadeByAdmin:  m.MadeByAdmin,
		State:        webhook.State{Next: event.event.AddedAt},
	}, nil
}

// keyTTL is how long an idempotency key is bound to the event that was published under
// it.
const keyTTL = 24 * time.Hour

// keyOf returns the record of an event that is published under a key.
func keyOf(e Post, key string, now time.Time) *Key {
	event := append([]byte(e.Name), 0)
	event = append(event, e.Body...)
	if e.Key != "" {
		event = append(event, 0)
		event = append(event, e.Key...)
	}
	return &Key{Hash: sha256.Sum256([]byte(key)), Digest: sha256.Sum256(event), Until: now.Add(keyTTL)}
}

// errKeyReused is the error for an event under a key that is bound to another event.
var errKeyReused = fault.New(fault.Conflict, "The Idempotency-Key was used for another event within the last 24 hours")

// PublishOnce publishes an event under an idempotency key. For a day, the same event
// under the same key returns the receipt of the first call with replayed true, and
// another event returns a Conflict fault. former is the form of the key in earlier versions: an
// event that one of them has published is not published a second time after an upgrade.
func (p *publisher) PublishOnce(
	ctx context.Context, e Post, key, former string,
) (r wire.EventReceipt, replayed bool, err error) {
	k := keyOf(e, key, p.core.Now())
	unlock, err := p.keys.lock(ctx, k.Hash)
	if err != nil {
		return wire.EventReceipt{}, false, err
	}
	defer unlock()

	known, err := p.core.Store.IdempotencyKey(ctx, k.Hash)
	if err == nil && known == nil && former != key {
		known, err = p.core.Store.IdempotencyKey(ctx, keyOf(e, former, p.core.Now()).Hash)
	}
	if err != nil {
		return wire.EventReceipt{}, false, err
	}

	if known == nil {
		event := newPublication(e, p.core.Now())
		event.key = k
		r, err = p.publish(ctx, event)
		if !errors.Is(err, ErrKeyTaken) {
			return r, false, err
		}
		known, err = p.core.Store.IdempotencyKey(ctx, k.Hash) // used by another daemon concurrently
	}
	switch {
	case err != nil:
		return wire.EventReceipt{}, false, err
	case known == nil: // it has expired in this moment
		return wire.EventReceipt{}, false, overloaded()
	case known.Digest != k.Digest:
		return wire.EventReceipt{}, false, errKeyReused
	}
	return wire.EventReceipt{EventID: known.Event, Messages: known.Count}, true, nil
}

// keyLocks serializes publishers that use the same key.
type keyLocks struct {
	held sync.Map // from a key's hash to a channel that is closed on unlock
}

// lock waits until no other caller publishes under the key.
func (l *keyLocks) lock(ctx context.Context, hash [32]byte) (unlock func(), err error) {
	mine := make(chan struct{})
	for {
		before, taken := l.held.LoadOrStore(hash, mine)
		if !taken {
			return func() {
				l.held.Delete(hash)
				close(mine)
			}, nil
		}
		select {
		case <-before.(chan struct{}):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
