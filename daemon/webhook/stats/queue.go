package stats

import (
	"cmp"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Queue is the delivery state of one subscription.
type Queue struct {
	Subscription *webhook.Subscription
	FailingSince time.Time // start of an uninterrupted series of failures, zero after a success
	InFlight     int       // attempts
	Limit        int       // current maximum of InFlight
	InMemory     int       // messages
	Failures     int       // consecutive failures of the endpoint
	BreakerOpen  bool      // circuit breaker open: only probes are sent
	NextProbe    time.Time // when the next probe may be sent
	WaitUntil    time.Time // end of a wait requested by Retry-After, zero for never
	RateUntil    time.Time // when the rate limit allows the next attempt, zero if no message waits for it
	MaxPerMinute int       // the rate limit of all daemons, 0 for none
	Next         time.Time // when the queue has to act again, zero for never or immediately
	NotSent      int64
	RetryPending int64
	Oldest       time.Time // publication of the oldest open message
	HeldEvents   []string  // events of messages that are withheld, as the owner may not read them
	Traffic      Traffic   // within the reported minutes
	Attempts     []int64   // by step, the oldest first; nil for none
	P99          time.Duration
	Last         *wire.Failed // the last failed attempt; nil for none
}

// notable reports whether the queue is included in reports.
func (q *Queue) notable() bool {
	return q.Traffic != Traffic{} || q.NotSent+q.RetryPending > 0 || q.InFlight > 0 || q.severity() > 0
}

// severity ranks a queue's problems: 3 if the circuit breaker is open, 2 if messages
// wait for a disabled subscription, 1 if every attempt has failed since the last
// success.
func (q *Queue) severity() int {
	switch sub := q.Subscription; {
	case q.BreakerOpen && sub.Active():
		return 3
	case !sub.Active() && q.NotSent+q.RetryPending > 0:
		return 2
	case !q.FailingSince.IsZero() && sub.Active():
		return 1
	}
	return 0
}

// Backlog counts the open messages of one subscription.
type Backlog struct {
	Subscription int64
	NotSent      int64
	RetryPending int64
	Oldest       time.Time // publication of the oldest one, zero if there is none
}

// Add adds the counts of another backlog.
func (b *Backlog) Add(other Backlog) {
	b.NotSent += other.NotSent
	b.RetryPending += other.RetryPending
	if b.Oldest.IsZero() || !other.Oldest.IsZero() && other.Oldest.Before(b.Oldest) {
		b.Oldest = other.Oldest
	}
}

// BacklogCount holds the backlogs of all subscriptions in the store.
type BacklogCount struct {
	At            time.Time // time of the count, zero if there was none
	Subscriptions []Backlog
}

// Total returns the sum of all backlogs.
func (o BacklogCount) Total() (total Backlog) {
	for _, b := range o.Subscriptions {
		total.Add(b)
	}
	return total
}

// compareSeverity orders queues by how much they need attention: by severity, then by
// failures, open messages and deliveries.
func compareSeverity(a, b Queue) int {
	return cmp.Or(
		-cmp.Compare(a.severity(), b.severity()),
		-cmp.Compare(a.Traffic.GivenUp+a.Traffic.Failed, b.Traffic.GivenUp+b.Traffic.Failed),
		-cmp.Compare(a.NotSent+a.RetryPending, b.NotSent+b.RetryPending),
		-cmp.Compare(a.Traffic.Delivered, b.Traffic.Delivered),
		cmp.Compare(a.Subscription.ID, b.Subscription.ID))
}
