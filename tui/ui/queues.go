package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
)

// Queues caches the delivery statistics by subscription. They are fetched for screens
// that show them, and to explain why a message is overdue.
type Queues struct {
	Known     map[string]wire.Queue // keyed by SubscriptionID
	complete  bool                  // the other subscriptions have no traffic
	Troubles  wire.Troubles         // the last ones, of statistics or of the live stream
	Changed   bool                  // messages changed since the last fetch
	fetchedAt time.Time
	fetches   int             // number of requests; only the response to the last one is shown
	since     time.Time       // start of the statistics if less than an hour ago
	differing map[string]bool // SubscriptionIDs with an enabled state that differs from the fetched one
}

const (
	QueuesInterval    = 10 * time.Second // maximum age of statistics
	QueuesMinInterval = 3 * time.Second  // maximum age if messages have changed
)

// Update stores fetched statistics.
func (q *Queues) Update(s *wire.Stats, now time.Time) {
	q.fetchedAt = now
	q.Known = make(map[string]wire.Queue, len(s.Queues))
	q.complete = s.OtherQueues == 0
	q.Troubles = troublesOf(s)
	for _, queue := range s.Queues {
		q.Known[queue.SubscriptionID] = queue
	}
	q.since = shortPeriod(s)
}

// shortPeriod returns the start of statistics of less than an hour, which are those in the first hour
// of a store; else zero.
func shortPeriod(s *wire.Stats) time.Time {
	since := time.Time(s.SinceDateTime)
	if time.Time(s.ServerDateTime).Sub(since) < time.Hour {
		return since
	}
	return time.Time{}
}

// Announce stores the numbers of the live stream, which can be some seconds old. Those of statistics
// that a screen shows are kept, so that the tabs and the screen have the same.
func (q *Queues) Announce(t wire.Troubles, now time.Time) {
	if q.fetchedAt.IsZero() || now.Sub(q.fetchedAt) >= QueuesInterval {
		q.Troubles = t
	}
}

// PeriodLabel returns the period of the statistics.
func (q *Queues) PeriodLabel(c *Clock) string { return periodLabel(c, q.since) }

// PeriodLabel returns the period of statistics.
func PeriodLabel(c *Clock, s *wire.Stats) string { return periodLabel(c, shortPeriod(s)) }

// periodLabel names a period of an hour, or one that started less than an hour ago.
func periodLabel(c *Clock, since time.Time) string {
	if since.IsZero() {
		return "Last hour"
	}
	return "Since " + c.TimeOfDay(since)[:len("15:04")]
}

// Get returns the statistics of a subscription, false if unknown. They are zero for a
// subscription without traffic.
func (q *Queues) Get(subscription string) (wire.Queue, bool) {
	queue, ok := q.Known[subscription]
	return queue, ok || q.complete
}

// BreakerOpen reports whether the circuit breaker of a subscription is known to be
// open.
func (q *Queues) BreakerOpen(subscription string) bool {
	return q.Known[subscription].Breaker == wire.BreakerOpen
}

// PendingOf returns the number of pending messages of a subscriber; known is false if
// it may be incomplete.
func (q *Queues) PendingOf(subscriber string) (n int64, known bool) {
	for _, queue := range q.Known {
		if queue.SubscriberID == subscriber {
			n += queue.Pending
		}
	}
	return n, q.complete
}

// InTrouble reports whether an endpoint fails, or receives nothing although messages wait.
func InTrouble(q wire.Queue) bool {
	if !q.IsEnabled {
		return q.Pending > 0
	}
	return q.Breaker == wire.BreakerOpen || !time.Time(q.FailingSince).IsZero()
}

// troublesOf returns the numbers of statistics that need attention.
func troublesOf(s *wire.Stats) wire.Troubles {
	t := wire.Troubles{GivenUp: s.Totals.GivenUp}
	retryPending := int64(0)
	for _, queue := range s.Queues {
		if InTrouble(queue) {
			t.Endpoints++
		}
		retryPending += queue.RetryPending
	}
	if s.Depth != nil {
		retryPending = s.Depth.RetryPending
	}
	t.RetryPending = retryPending
	return t
}

// EnabledChanged reports whether subscriptions were enabled or disabled since they were
// fetched, for example by the service. A queue is disabled if its subscription or its
// subscriber is. Each difference is reported once, since the statistics can be older
// than the stored state.
func (q *Queues) EnabledChanged(subscriber wire.Subscriber, list ...wire.Subscription) bool {
	changed := false
	for _, subscription := range list {
		queue, ok := q.Known[subscription.RecID]
		if !ok || queue.IsEnabled == (subscription.IsEnabled && subscriber.IsEnabled) {
			delete(q.differing, subscription.RecID)
			continue
		}
		changed = changed || !q.differing[subscription.RecID]
		if q.differing == nil {
			q.differing = make(map[string]bool)
		}
		q.differing[subscription.RecID] = true
	}
	return changed
}

// Refresh fetches the statistics if they are outdated.
func (q *Queues) Refresh(s Screen, then func() tea.Cmd) tea.Cmd {
	b := s.Common()
	maxAge := QueuesInterval
	if q.Changed {
		maxAge = QueuesMinInterval
	}
	if !b.Session.MayPoll() || b.Session.Now.Sub(q.fetchedAt) < maxAge {
		return nil
	}
	return q.RefreshNow(s, then)
}

// RefreshIfOld fetches the statistics if they are older than QueuesInterval.
func (q *Queues) RefreshIfOld(s Screen, then func() tea.Cmd) tea.Cmd {
	b := s.Common()
	if !b.Session.MayPoll() || b.Session.Now.Sub(q.fetchedAt) < QueuesInterval {
		return nil
	}
	return q.RefreshNow(s, then)
}

// RefreshNow fetches the statistics. Errors are ignored; the old statistics remain.
func (q *Queues) RefreshNow(s Screen, then func() tea.Cmd) tea.Cmd {
	b := s.Common()
	q.Changed = false
	q.fetchedAt = b.Session.Now
	q.fetches++
	number := q.fetches
	fetchStats := func(ctx context.Context, c *client.Client) (*wire.Stats, error) { return c.Stats(ctx, time.Hour) }
	return Fetch(b.Session.Context, s, fetchStats, func(stats *wire.Stats, err error) tea.Cmd {
		if err == nil && number == q.fetches {
			q.Update(stats, b.Session.Now)
		}
		return then()
	})
}
