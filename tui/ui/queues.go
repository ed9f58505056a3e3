package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// Queues is how deliveries to subscriptions stand. It is asked for where that is
// shown, and where a message does not go out at its time, since it explains why.
type Queues struct {
	Known     map[string]wire.Queue // by the id of the subscription
	complete  bool                  // those that are not among them have nothing to tell
	Changed   bool                  // something has become of messages since
	fetchedAt time.Time
	since     time.Time       // from when on the figures are, where that is less than an hour ago
	differing map[string]bool // those that were enabled or disabled otherwise than what was fetched, by id
}

const (
	QueuesInterval    = 10 * time.Second // that what is known of queues holds
	QueuesMinInterval = 3 * time.Second  // that it holds where something becomes of messages
)

// Update keeps what the service told.
func (q *Queues) Update(s *wire.Stats, now time.Time) {
	q.fetchedAt, q.Known, q.complete = now, make(map[string]wire.Queue, len(s.Lanes)), s.OtherLanes == 0
	for _, one := range s.Lanes {
		q.Known[one.SubscriptionID] = one
	}
	q.since = time.Time{}
	if since := time.Time(s.SinceDateTime); time.Time(s.ServerDateTime).Sub(since) < time.Hour {
		q.since = since
	}
}

// MarkChanged says that something has become of messages.
func (q *Queues) MarkChanged() { q.Changed = true }

// PeriodLabel says of which time the figures are: a daemon counts nothing of before
// its start.
func (q *Queues) PeriodLabel(c *Clock) string {
	if q.since.IsZero() {
		return "Last hour"
	}
	return "Since " + c.TimeOfDay(q.since)[:len("15:04")]
}

// Get is how deliveries to a subscription stand, false where that is not known.
// Of one without traffic it is nothing but noughts.
func (q *Queues) Get(subscription string) (wire.Queue, bool) {
	one, known := q.Known[subscription]
	return one, known || q.complete
}

// BreakerOpen reports whether a subscription's endpoint is known to fail so often that
// one message at a time is tried.
func (q *Queues) BreakerOpen(subscription string) bool {
	return q.Known[subscription].Breaker == wire.BreakerOpen
}

// PendingOf is how many messages of a subscriber wait, false where that is not
// known.
func (q *Queues) PendingOf(subscriber string) (n int64, known bool) {
	for _, one := range q.Known {
		if one.SubscriberID == subscriber {
			n += one.Pending
		}
	}
	return n, q.complete
}

// EnabledChanged reports whether subscriptions of a subscriber were enabled or disabled
// since they were fetched: the service itself disables some. The queues of a
// subscriber that is disabled are, too. It is told once, since a daemon may be
// behind what is stored.
func (q *Queues) EnabledChanged(of wire.Subscriber, list ...wire.Subscription) bool {
	changed := false
	for _, one := range list {
		queue, known := q.Known[one.RecID]
		if !known || queue.IsEnabled == (one.IsEnabled && of.IsEnabled) {
			delete(q.differing, one.RecID)
			continue
		}
		changed = changed || !q.differing[one.RecID]
		if q.differing == nil {
			q.differing = make(map[string]bool)
		}
		q.differing[one.RecID] = true
	}
	return changed
}

// Refresh asks how deliveries stand for a screen that shows it: soon after
// something became of messages, else now and then.
func (q *Queues) Refresh(s Screen, then func() tea.Cmd) tea.Cmd {
	b := s.Common()
	old := b.Now.Sub(q.fetchedAt)
	if b.Paused || old < QueuesMinInterval || !q.Changed && old < QueuesInterval {
		return nil
	}
	return q.RefreshNow(s, then)
}

// RefreshNow asks whenever it was asked last.
func (q *Queues) RefreshNow(s Screen, then func() tea.Cmd) tea.Cmd {
	q.Changed = false
	return q.fetch(s, then)
}

// RefreshIfOld asks how deliveries stand, where that was not asked for just now.
func (q *Queues) RefreshIfOld(s Screen, then func() tea.Cmd) tea.Cmd {
	if b := s.Common(); b.Paused || b.Now.Sub(q.fetchedAt) < QueuesInterval {
		return nil
	}
	return q.fetch(s, then)
}

// fetch asks for them. Without an answer, words stay as they are: what is late is
// seen anyway.
func (q *Queues) fetch(s Screen, then func() tea.Cmd) tea.Cmd {
	b := s.Common()
	q.fetchedAt = b.Now
	return Fetch(b.Context, s, func(ctx context.Context, c *client.Client) (*wire.Stats, error) { return c.Stats(ctx, time.Hour) }, func(stats *wire.Stats, err error) tea.Cmd {
		if err == nil {
			q.Update(stats, b.Now)
		}
		return then()
	})
}

// Soon is how long it takes until something happens.
func Soon(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	return "in " + Age(d)
}
