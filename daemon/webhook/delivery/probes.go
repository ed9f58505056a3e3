package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// maxProbeRetries limits the failed messages of a queue of which the IDs are kept for probes.
const maxProbeRetries = 16

// probes makes messages that have failed and messages that were never sent take turns as the probes
// of an endpoint with an open circuit breaker. An endpoint that refuses the first attempt of each
// message would not recover if each probe was the first attempt of another message.
//
// The failed messages are not stored: after a restart, those of the first probes are added again.
// A queue with an order has none, since it always attempts its first message.
type probes struct {
	failed  []failedMessage
	retried bool // the failed messages had their turn at the last call of take
}

// failedMessage is a message that awaits a retry and is only in the store.
type failedMessage struct {
	id, partition int64
	next          time.Time // when the retry is due
}

// add adds a message that has failed.
func (p *probes) add(m *webhook.Message) {
	if len(p.failed) < maxProbeRetries && m.Status == webhook.RetryPending {
		p.failed = append(p.failed, failedMessage{id: m.ID, partition: m.Partition, next: m.Next})
	}
}

// remove removes a message that was attempted: its retry is due at another time, if there is one.
func (p *probes) remove(id int64) {
	p.failed = slices.DeleteFunc(p.failed, func(m failedMessage) bool { return m.id == id })
}

// take removes and returns the failed message for the next probe. It returns false if the next
// probe is a message that was never sent, or if no retry is due.
func (p *probes) take(now time.Time) (failedMessage, bool) {
	p.retried = !p.retried
	if !p.retried || len(p.failed) == 0 {
		return failedMessage{}, false
	}
	first := 0
	for i, m := range p.failed {
		if m.next.Before(p.failed[first].next) {
			first = i
		}
	}
	m := p.failed[first]
	if m.next.After(now) {
		return failedMessage{}, false
	}
	p.failed = slices.Delete(p.failed, first, first+1)
	return m, true
}

// page returns the page of the failed message of a subscription that is the next probe. It returns
// false if the next probe is read like all other messages.
func (p *probes) page(subscription int64, partitions cursors, now time.Time) (Page, bool) {
	m, ok := p.take(now)
	if !ok || partitions.of(m.partition) == nil {
		return Page{}, false
	}
	return Page{
		Partition:    m.partition,
		Subscription: subscription,
		After:        Position{ID: m.id - 1},
		Until:        now,
		InOrder:      true,
		Limit:        1,
		probe:        m.id,
	}, true
}

// addProbe adds the message of a probe. If it has gone or is due later, or if there is no memory for
// it, the next probe is read like all other messages.
func (q *queue) addProbe(p Page, messages []*webhook.Message) {
	if len(messages) == 0 || messages[0].ID != p.probe || !p.loaded(messages[0]) {
		return
	}
	m := messages[0]
	isDue := !m.Next.After(p.Until) // another daemon may have attempted it since
	if isDue && !q.has(m.ID) && !q.settledSinceRead[m.ID] {
		q.admit(m, true)
	}
}
