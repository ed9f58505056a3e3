package stats

import (
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Recorder counts the results of deliveries: since the engine's start, and per minute
// for all and for each subscription.
type Recorder struct {
	since         time.Time // start of the counts
	mu            sync.Mutex
	counts        Counts
	attempts      [classCount]int64 // by outcome class
	durations     totalHistogram    // of attempts
	delay         totalHistogram    // from publishing to delivery
	all           series
	delivered     series // delays by minute
	subscriptions map[int64]*subscriptionSeries
	prunedAt      int64 // minute when subscriptions were last pruned
}

// subscriptionSeries holds the counts of one subscription.
type subscriptionSeries struct {
	series
	last *wire.Failed
}

// NewRecorder returns a recorder that counts from a given time.
func NewRecorder(since time.Time) *Recorder {
	return &Recorder{since: since, subscriptions: make(map[int64]*subscriptionSeries)}
}

// Record counts a batch that was written: the numbers of new events and messages, and
// the results of attempts.
func (f *Recorder) Record(at time.Time, events, messages int, results []webhook.AttemptResult, subs *webhook.Snapshot) {
	now := cell{minute: minuteOf(at), Traffic: Traffic{Events: uint32(events), Messages: uint32(messages)}}
	f.mu.Lock()
	defer f.mu.Unlock()
	delayed := f.delivered.at(now.minute, daySpan)
	for i := range results {
		f.addAttempt(&now, delayed, &results[i])
	}
	f.counts.add(Counts{Events: int64(now.Events), Messages: int64(now.Messages), Delivered: int64(now.Delivered), Failed: int64(now.Failed), GivenUp: int64(now.GivenUp)})
	present := f.all.at(now.minute, daySpan)
	present.add(now.Traffic)
	for i, n := range now.took {
		present.took[i] += n
	}
	if f.prunedAt < now.minute {
		f.prunedAt = now.minute
		f.prune(subs)
	}
}

// Count adds to the totals counts that Record does not cover.
func (f *Recorder) Count(c Counts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.add(c)
}

// Counts returns the totals.
func (f *Recorder) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *Recorder) addAttempt(now, delayed *cell, r *webhook.AttemptResult) {
	bucket := bucketOf(r.Took)
	f.attempts[classOf(r.Outcome)]++
	f.durations.observe(bucket, r.Took)
	now.addStatus(r.After.Status)
	now.took[bucket]++
	to := f.subscription(r.Message.Subscription)
	c := to.at(now.minute, queueSpan)
	c.addStatus(r.After.Status)
	c.took[bucket]++
	switch {
	case r.After.Status != webhook.Successful:
		to.last = &wire.Failed{At: wire.Timestamp(r.Began.Add(r.Took)), HTTPCode: r.Code, Message: r.Reason()}
	case r.After.Attempts == 1: // later attempts are delayed by the schedule
		delay := max(0, r.Began.Add(r.Took).Sub(r.Message.Event.AddedAt))
		bucket = bucketOf(delay)
		f.delay.observe(bucket, delay)
		delayed.took[bucket]++
	}
}

func (f *Recorder) subscription(subscription int64) *subscriptionSeries {
	to := f.subscriptions[subscription]
	if to == nil {
		if f.subscriptions == nil {
			f.subscriptions = make(map[int64]*subscriptionSeries)
		}
		to = new(subscriptionSeries)
		f.subscriptions[subscription] = to
	}
	return to
}

// prune drops subscriptions that were deleted, and those without attempts in the
// retained time.
func (f *Recorder) prune(subs *webhook.Snapshot) {
	for id, to := range f.subscriptions {
		if subs.Subscription(id) == nil || to.end(0) <= f.prunedAt-queueSpan {
			delete(f.subscriptions, id)
		}
	}
}

// Report holds statistics of the last minutes.
type Report struct {
	At       time.Time // end of the period
	Since    time.Time // when the daemon started to count
	Total    Traffic
	Attempts wire.Latency // durations of attempts
	Delay    wire.Latency // from publishing to delivery, of messages that were delivered by the first attempt
	Minutes  []Traffic    // by minute, the oldest first; the last one is incomplete
	Queues   []Queue      // with traffic, open messages or problems, the most severe first
	Omitted  int          // number of queues beyond the limit
}

// QueueMinutes is the number of minutes retained for each queue.
const QueueMinutes = queueSpan

// Report summarizes the last minutes, from one minute to 24 hours, with at most limit
// queues. It fills in the traffic of the given queues.
func (f *Recorder) Report(now time.Time, minutes, limit int, queues []Queue) Report {
	minute, span := minuteOf(now), int64(min(max(1, minutes), daySpan))
	s := Report{At: now, Since: f.since}
	f.sumAll(&s, minute, span)
	for some := range slices.Chunk(queues, queuesPerLock) {
		f.forEach(some, func(q *Queue, of *subscriptionSeries) { q.Traffic = of.traffic(minute, min(span, queueSpan)) })
	}
	s.Queues = slices.DeleteFunc(queues, func(l Queue) bool { return !l.notable() })
	slices.SortFunc(s.Queues, compareSeverity)
	s.Omitted = max(0, len(s.Queues)-limit)
	s.Queues = s.Queues[:len(s.Queues)-s.Omitted]
	f.forEach(s.Queues, func(q *Queue, of *subscriptionSeries) { // expensive, so only for the returned queues
		_, took := of.total(minute, min(span, queueSpan))
		q.P99, q.Last = took.quantile(0.99), of.last
	})
	return s
}

// queuesPerLock is how many queues are processed while the lock, which the writer
// needs, is held.
const queuesPerLock = 256

// sumAll adds the statistics of all subscriptions.
func (f *Recorder) sumAll(s *Report, minute, span int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total, took := f.all.total(minute, span)
	_, delay := f.delivered.total(minute, span)
	s.Total, s.Attempts, s.Delay, s.Minutes = total, took.latency(), delay.latency(), f.all.minutes(minute, span)
}

// forEach calls add for each queue that has recorded data, under the lock.
func (f *Recorder) forEach(queues []Queue, add func(*Queue, *subscriptionSeries)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range queues {
		if of := f.subscriptions[queues[i].Subscription.ID]; of != nil {
			add(&queues[i], of)
		}
	}
}

// Performance holds distributions since the engine's start.
type Performance struct {
	Attempts  map[string]int64  // by outcome class: ok, 3xx, 4xx, 5xx, timeout, network, forbidden
	Durations DurationHistogram // of attempts
	Delays    DurationHistogram // from publishing to delivery, of messages that were delivered by the first attempt
}

// Performance returns the distributions since the start.
func (f *Recorder) Performance() Performance {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := Performance{Attempts: make(map[string]int64, classCount), Durations: f.durations.durations(), Delays: f.delay.durations()}
	for i, name := range outcomeClasses {
		p.Attempts[name] = f.attempts[i]
	}
	return p
}
