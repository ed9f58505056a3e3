package stats

import (
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// Recorder counts what came of deliveries: since the engine's start, and by minutes,
// for all and for each subscription.
type Recorder struct {
	since         time.Time // when it began to count
	mu            sync.Mutex
	counts        Counts
	attempts      [classes]int64 // by what came of them
	took          totalHistogram // of attempts
	delay         totalHistogram // from publishing to delivery
	all           series
	delivered     series // what took the delay
	subscriptions map[int64]*subscriptionSeries
	minute        int64 // when subscriptions were last looked through
}

// subscriptionSeries is what came of deliveries to one subscription.
type subscriptionSeries struct {
	series
	last *wire.Failed
}

// NewRecorder makes a recorder that counts from a time.
func NewRecorder(since time.Time) *Recorder {
	return &Recorder{since: since, subscriptions: make(map[int64]*subscriptionSeries)}
}

// Record counts a batch that was written: how many events and messages it made,
// and the results of attempts.
func (f *Recorder) Record(at time.Time, events, messages int, results []webhook.AttemptResult, subs *webhook.Snapshot) {
	now := cell{minute: minuteOf(at), Traffic: Traffic{Events: uint32(events), Messages: uint32(messages)}}
	f.mu.Lock()
	defer f.mu.Unlock()
	delayed := f.delivered.at(now.minute, daySpan)
	for i := range results {
		f.attempt(&now, delayed, &results[i])
	}
	f.counts.add(Counts{Events: int64(now.Events), Messages: int64(now.Messages), Delivered: int64(now.Delivered), Failed: int64(now.Failed), GivenUp: int64(now.GivenUp)})
	present := f.all.at(now.minute, daySpan)
	present.add(now.Traffic)
	for i, n := range now.took {
		present.took[i] += n
	}
	if f.minute < now.minute {
		f.minute = now.minute
		f.forget(subs)
	}
}

// Count adds to the totals what Record does not know of.
func (f *Recorder) Count(c Counts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.add(c)
}

// Counts are the totals.
func (f *Recorder) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *Recorder) attempt(now, delayed *cell, r *webhook.AttemptResult) {
	bucket := bucketOf(r.Took)
	f.attempts[classOf(r.Outcome)]++
	f.took.note(bucket, r.Took)
	now.became(r.After.Status)
	now.took[bucket]++
	to := f.subscription(r.Message.Subscription)
	c := to.at(now.minute, queueSpan)
	c.became(r.After.Status)
	c.took[bucket]++
	switch {
	case r.After.Status != webhook.Successful:
		to.last = &wire.Failed{At: wire.Moment(r.Began.Add(r.Took)), HTTPCode: r.Code, Message: r.Reason()}
	case r.After.Attempts == 1: // other delays are those of the schedule
		delay := max(0, r.Began.Add(r.Took).Sub(r.Message.Event.AddedAt))
		bucket = bucketOf(delay)
		f.delay.note(bucket, delay)
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

// forget drops subscriptions that are gone, and those to which nothing was sent
// for as long as is remembered.
func (f *Recorder) forget(subs *webhook.Snapshot) {
	for id, to := range f.subscriptions {
		if subs.Subscription(id) == nil || to.end(0) <= f.minute-queueSpan {
			delete(f.subscriptions, id)
		}
	}
}

// Report are figures of the last minutes.
type Report struct {
	At       time.Time // when they were taken
	Since    time.Time // when the daemon began to count
	Total    Traffic
	Attempts wire.Latency // of how long attempts took
	Delay    wire.Latency // from publishing to delivery, of messages that the first attempt delivered
	Minutes  []Traffic    // one by one, the oldest first; the last is not over
	Queues   []Queue      // with traffic, open messages or trouble, the worst first
	Others   int          // queues that are left out, being too many
}

// QueueMinutes is how many of the last minutes are remembered of each queue.
const QueueMinutes = queueSpan

// Report sums up the last minutes, from one to 24 hours of them, with so many
// queues at most. It fills in the traffic of the queues that it is given.
func (f *Recorder) Report(now time.Time, minutes, limit int, queues []Queue) Report {
	minute, span := minuteOf(now), int64(min(max(1, minutes), daySpan))
	s := Report{At: now, Since: f.since}
	f.sum(&s, minute, span)
	for some := range slices.Chunk(queues, queuesAtOnce) {
		f.addTo(some, func(q *Queue, of *subscriptionSeries) { q.Traffic = of.traffic(minute, min(span, queueSpan)) })
	}
	s.Queues = slices.DeleteFunc(queues, func(l Queue) bool { return !l.worthShowing() })
	slices.SortFunc(s.Queues, worse)
	s.Others = max(0, len(s.Queues)-limit)
	s.Queues = s.Queues[:len(s.Queues)-s.Others]
	f.addTo(s.Queues, func(q *Queue, of *subscriptionSeries) { // what takes longer, for few
		_, took := of.total(minute, min(span, queueSpan))
		q.P99, q.Last = took.quantile(0.99), of.last
	})
	return s
}

// queuesAtOnce is how many queues are looked at while the writer waits.
const queuesAtOnce = 256

// sum adds the figures of all.
func (f *Recorder) sum(s *Report, minute, span int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total, took := f.all.total(minute, span)
	_, delay := f.delivered.total(minute, span)
	s.Total, s.Attempts, s.Delay, s.Minutes = total, took.latency(), delay.latency(), f.all.minutes(minute, span)
}

// addTo adds what is recorded of queues.
func (f *Recorder) addTo(queues []Queue, add func(*Queue, *subscriptionSeries)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range queues {
		if of := f.subscriptions[queues[i].Subscription.ID]; of != nil {
			add(&queues[i], of)
		}
	}
}

// Performance is how attempts went since the engine's start.
type Performance struct {
	Attempts map[string]int64 // by what came of them: ok, 3xx, 4xx, 5xx, timeout, network, forbidden
	Took     Durations        // attempts
	Delay    Durations        // from publishing to delivery, of messages that the first attempt delivered
}

// Performance reads the figures since the start.
func (f *Recorder) Performance() Performance {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := Performance{Attempts: make(map[string]int64, classes), Took: f.took.durations(), Delay: f.delay.durations()}
	for i, name := range classNames {
		p.Attempts[name] = f.attempts[i]
	}
	return p
}
