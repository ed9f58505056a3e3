package delivery

import (
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// batch is the work of one write.
type batch struct {
	publications []*publication
	group        *group // group of changes, nil for none
	results      []webhook.AttemptResult
	disabled     []Disabled
	incidents    []incident
	notices      []*publication // events for disabled and incidents
	health       []Health
	announced    []webhook.Change
	changes      []webhook.Change // made by the batch

	subs *webhook.Snapshot // the version that events are matched with
	home int64             // the partition of new messages
}

// events returns all events that the batch writes.
func (b *batch) events() []*publication {
	if b.group == nil {
		return slices.Concat(b.publications, b.notices)
	}
	return slices.Concat(b.group.events, b.publications, b.notices)
}

// addNotices creates an event for each subscription that the batch disables, and for each incident,
// written in the same transaction.
func (b *batch) addNotices(now time.Time) {
	b.dropObsolete()
	b.notices = nil // those of an attempt to write the batch that has failed
	for _, d := range b.disabled {
		b.notices = append(b.notices, b.disabledNotice(d, now))
	}
	for _, i := range b.incidents {
		b.notices = append(b.notices, i.publication(now))
	}
}

// dropObsolete drops the disabling of subscriptions that were removed or are disabled, and all but the
// first of the same one.
func (b *batch) dropObsolete() {
	var disabled []Disabled
	seen := make(map[int64]bool)
	for _, d := range b.disabled {
		sub := b.subs.Subscription(d.Subscription)
		if sub == nil || !sub.Active() || seen[d.Subscription] {
			continue
		}
		seen[d.Subscription] = true
		disabled = append(disabled, d)
	}
	b.disabled = disabled
}

// disabledNotice returns the event that a subscription is disabled, which it does not receive itself.
func (b *batch) disabledNotice(d Disabled, now time.Time) *publication {
	sub := b.subs.Subscription(d.Subscription)
	notice := incident{
		name: record.SubscriptionDisabled,
		body: webhook.SubscriptionDisabledBody{
			SubscriptionID:   sub.GUID,
			EventName:        sub.Pattern,
			Reason:           d.Reason,
			DisabledDateTime: d.At.UTC(),
		},
	}
	p := notice.publication(now)
	p.exclude = sub.ID
	return p
}

// changesOf returns the batch's changes of messages, in order.
func (b *batch) changesOf() []webhook.Change {
	events := b.events()
	messages := 0
	for _, p := range events {
		messages += len(p.messages)
	}
	changes := make([]webhook.Change, 0, messages+len(b.results))
	for _, p := range events {
		for _, m := range p.messages {
			changes = append(changes, b.subs.ChangeOf(m, m.State, p.event.AddedAt))
		}
	}
	for i := range b.results {
		result := &b.results[i]
		change := b.subs.ChangeOf(result.Message, result.After, result.Began.Add(result.Took))
		change.Code = result.Code
		change.Took = result.Took
		changes = append(changes, change)
	}
	return changes
}

// completeGroup completes the group, if there is one, with an error, or nil.
func (b *batch) completeGroup(err error) {
	if b.group != nil {
		b.group.done <- err
		b.group = nil
	}
}

// reject completes the selected publications with an error and removes them from the
// batch.
func (b *batch) reject(err error, which func(*publication) bool) {
	b.publications = slices.DeleteFunc(b.publications, func(p *publication) bool {
		rejected := which(p)
		if rejected {
			p.fail(err)
		}
		return rejected
	})
}
