package stats

import (
	"cmp"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Queue is the state of deliveries to one subscription.
type Queue struct {
	Subscription *webhook.Subscription
	FailingSince time.Time // since when every attempt has failed, the zero time for one that succeeds
	InFlight     int       // attempts
	Limit        int       // of these, at present
	InMemory     int       // messages
	Failures     int       // in a row that speak of the endpoint
	Open         bool      // the breaker: only probes are sent
	Probe        time.Time // when the next one may go out
	Next         time.Time // when something is to be done for the queue, the zero time for nothing or at once
	NotSent      int64
	RetryPending int64
	Oldest       time.Time // of the open messages
	Traffic      Traffic   // within the last minutes
	P99          time.Duration
	Last         *wire.Failed // the last attempt that failed; nil for none
}

// worthShowing reports whether there is anything to report of the queue.
func (q *Queue) worthShowing() bool {
	return q.Traffic != Traffic{} || q.NotSent+q.RetryPending > 0 || q.InFlight > 0 || q.severity() > 0
}

// severity says how badly a queue is doing: 3 where its endpoint is only probed, 2
// where it was disabled by the service or something waits in vain, 1 where it
// has failed since the last success.
func (q *Queue) severity() int {
	switch sub := q.Subscription; {
	case q.Open && sub.Active():
		return 3
	case !sub.Active() && q.NotSent+q.RetryPending > 0:
		return 2
	case !q.FailingSince.IsZero() && sub.Active():
		return 1
	}
	return 0
}

// Backlog is what is open of one subscription.
type Backlog struct {
	Subscription int64
	NotSent      int64
	RetryPending int64
	Oldest       time.Time // when the oldest of it was published, the zero time where there is none
}

// Add adds what is open elsewhere.
func (b *Backlog) Add(other Backlog) {
	b.NotSent += other.NotSent
	b.RetryPending += other.RetryPending
	if b.Oldest.IsZero() || !other.Oldest.IsZero() && other.Oldest.Before(b.Oldest) {
		b.Oldest = other.Oldest
	}
}

// BacklogCount is what is open of all subscriptions, in the whole store.
type BacklogCount struct {
	At   time.Time // when it was counted, the zero time where it never was
	Each []Backlog
}

// Total adds it up.
func (o BacklogCount) Total() (total Backlog) {
	for _, b := range o.Each {
		total.Add(b)
	}
	return total
}

// worse orders queues by how much they need attention: whose endpoint is in trouble,
// then by messages lost, failures, open messages.
func worse(a, b Queue) int {
	return cmp.Or(
		-cmp.Compare(a.severity(), b.severity()),
		-cmp.Compare(a.Traffic.GivenUp+a.Traffic.Failed, b.Traffic.GivenUp+b.Traffic.Failed),
		-cmp.Compare(a.NotSent+a.RetryPending, b.NotSent+b.RetryPending),
		-cmp.Compare(a.Traffic.Delivered, b.Traffic.Delivered),
		cmp.Compare(a.Subscription.ID, b.Subscription.ID))
}
