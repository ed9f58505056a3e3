package stats

import (
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// MinuteOf returns the minute of a time, counted from 1970.
func MinuteOf(t time.Time) int64 { return t.Unix() / 60 }

// StartOf returns the start of a minute.
func StartOf(minute int64) time.Time { return time.Unix(60*minute, 0).UTC() }

// Traffic holds the counts of a period.
type Traffic struct {
	Events    int64 // stored
	Messages  int64 // created for these events
	Delivered int64 // attempts that the receiver accepted
	Failed    int64 // failed attempts that are retried
	GivenUp   int64 // messages that finally failed
}

// Add adds the counts of another period.
func (t *Traffic) Add(other Traffic) {
	t.Events += other.Events
	t.Messages += other.Messages
	t.Delivered += other.Delivered
	t.Failed += other.Failed
	t.GivenUp += other.GivenUp
}

// since returns the growth since an earlier reading of the same counts.
func (t Traffic) since(earlier Traffic) Traffic {
	return Traffic{
		Events:    t.Events - earlier.Events,
		Messages:  t.Messages - earlier.Messages,
		Delivered: t.Delivered - earlier.Delivered,
		Failed:    t.Failed - earlier.Failed,
		GivenUp:   t.GivenUp - earlier.GivenUp,
	}
}

// addStatus counts an attempt by the message's new status.
func (t *Traffic) addStatus(s webhook.Status) {
	switch s {
	case webhook.Successful:
		t.Delivered++
	case webhook.Failed:
		t.GivenUp++
	default:
		t.Failed++
	}
}

// countedStatus returns the status that an attempt counts as. After a replay the message is
// delivered even if the attempt has failed, and never given up.
func countedStatus(r *webhook.AttemptResult) webhook.Status {
	if r.After.Status == webhook.Successful && !r.Success() {
		return webhook.RetryPending
	}
	return r.After.Status
}

// Key identifies a stored count: a minute of a subscription, or of all that was published.
type Key struct {
	Minute       int64
	Subscription int64 // or Published
}

// Published takes the place of a subscription for the counts of all together: events, messages,
// and the times from publishing to delivery.
const Published = 0

// Increment is the addition of an attempt to a stored count.
type Increment struct {
	Key
	Traffic
	Bucket   int // of Took
	IsFailed bool
}

// OfAttempt returns the increment of the count of a subscription by a result. The minute is when
// the attempt ended, so that a result that is written later, or again, counts in the same minute.
func OfAttempt(r *webhook.AttemptResult) Increment {
	i := Increment{
		Key:      Key{Minute: MinuteOf(r.Began.Add(r.Took)), Subscription: r.Message.Subscription},
		Bucket:   TookBucket(r.Took),
		IsFailed: !r.Success(),
	}
	i.addStatus(countedStatus(r))
	return i
}

// OfDelay returns the increment of the times from publishing to delivery by a result. ok is false if
// it is not a delivery by the first attempt: later ones are delayed by the schedule.
func OfDelay(r *webhook.AttemptResult) (i Increment, ok bool) {
	if r.After.Attempts != 1 || countedStatus(r) != webhook.Successful {
		return Increment{}, false
	}
	ended := r.Began.Add(r.Took)
	return Increment{
		Key:    Key{Minute: MinuteOf(ended), Subscription: Published},
		Bucket: TookBucket(delayOf(r)),
	}, true
}

// delayOf returns the time from publishing to the end of an attempt.
func delayOf(r *webhook.AttemptResult) time.Duration {
	return max(0, r.Began.Add(r.Took).Sub(r.Message.Event.AddedAt))
}

// Minute is the traffic of a minute, of all daemons.
type Minute struct {
	Minute int64
	Traffic
}

// Count is the traffic of a subscription in a period, of all daemons.
type Count struct {
	Traffic
	Took Took         // durations of attempts; delays for Published
	Last *wire.Failed // the last failed attempt; nil for none
}

// add adds the counts of a later period.
func (c *Count) add(later *Count) {
	c.Traffic.Add(later.Traffic)
	c.Took.Add(&later.Took)
	if later.Last != nil {
		c.Last = later.Last
	}
}
