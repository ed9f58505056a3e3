package delivery

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// batch is what one write takes from pending.
type batch struct {
	publications []*publication
	outcomes     []webhook.AttemptResult
	disabled     []Disabled
	notices      []*publication // of disabled
	health       []Health
	announced    []webhook.Change
	changes      []webhook.Change // that the batch makes

	subs *webhook.Snapshot // that it is matched with
	home int64             // the partition of its messages
}

// events are all that the batch writes.
func (b *batch) events() []*publication { return slices.Concat(b.publications, b.notices) }

// disabledBody is the event that a subscription was disabled. It holds
// nothing that opens anything: neither the SubscriberID nor the URL, since all
// who subscribe to the event get it.
type disabledBody struct {
	SubscriptionID   string
	EventName        string // that it is for
	Reason           string
	DisabledDateTime time.Time
}

// addNotices makes the events of the subscriptions that the batch disables. They are
// written with it, or not at all. One that is disabled already, by another
// attempt, another daemon or a person, is not disabled again.
func (b *batch) addNotices(now time.Time) {
	known := make(map[int64]bool)
	b.notices = nil
	b.disabled = slices.DeleteFunc(b.disabled, func(d Disabled) bool {
		sub := b.subs.Subscription(d.Subscription)
		again := sub == nil || !sub.Active() || known[d.Subscription]
		known[d.Subscription] = true
		return again
	})
	for _, d := range b.disabled {
		sub := b.subs.Subscription(d.Subscription)
		body, err := json.Marshal(disabledBody{sub.GUID, sub.Pattern, d.Reason, d.At.UTC()})
		if err != nil {
			panic("webhook: " + err.Error()) // texts and times can always be written
		}
		p := newPublication(record.SubscriptionDisabled, body, now)
		p.exclude = sub.ID
		b.notices = append(b.notices, p)
	}
}

// changesOf is what becomes of messages by the batch, in the order in which it
// happened.
func (b *batch) changesOf() []webhook.Change {
	all := make([]webhook.Change, 0, len(b.outcomes)+len(b.publications))
	for _, p := range b.events() {
		for _, m := range p.messages {
			all = append(all, b.subs.ChangeOf(m, m.State, p.event.AddedAt))
		}
	}
	for i := range b.outcomes {
		r := &b.outcomes[i]
		c := b.subs.ChangeOf(r.Message, r.After, r.Began.Add(r.Took))
		c.Code, c.Took = r.Code, r.Took
		all = append(all, c)
	}
	return all
}

// reject answers publications with an error and takes them out of the batch.
func (b *batch) reject(err error, which func(*publication) bool) {
	b.publications = slices.DeleteFunc(b.publications, func(p *publication) bool {
		rejected := which(p)
		if rejected {
			p.done <- err
		}
		return rejected
	})
}
