package stats

import (
	"maps"
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
	attempts      [classCount]int64            // indexed by outcome class
	uncharged     map[webhook.OwnFailure]int64 // attempts that were not charged, by cause
	durations     totalHistogram               // durations of attempts
	delay         totalHistogram               // from publishing to delivery
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
	return &Recorder{
		since:         since,
		subscriptions: make(map[int64]*subscriptionSeries),
		uncharged:     make(map[webhook.OwnFailure]int64),
	}
}

// Record counts a batch that was written: the numbers of new events and messages, and
// the results of attempts.
func (rec *Recorder) Record(
	at time.Time, events, messages int, results []webhook.AttemptResult, subs *webhook.Snapshot,
) {
	now := cell{minute: minuteOf(at), Traffic: Traffic{Events: uint32(events), Messages: uint32(messages)}}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	delayed := rec.delivered.at(now.minute, daySpan)
	for i := range results {
		rec.addAttempt(&now, delayed, &results[i])
	}
	rec.counts.add(Counts{
		Events:    int64(now.Events),
		Messages:  int64(now.Messages),
		Delivered: int64(now.Delivered),
		Failed:    int64(now.Failed),
		GivenUp:   int64(now.GivenUp),
	})
	present := rec.all.at(now.minute, daySpan)
	present.add(now.Traffic)
	for i, n := range now.took {
		present.took[i] += n
	}
	if rec.prunedAt < now.minute {
		rec.prunedAt = now.minute
		rec.prune(subs)
	}
}

// Count adds to the totals counts that Record does not cover.
func (rec *Recorder) Count(c Counts) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.counts.add(c)
}

// CountUncharged adds an attempt that is not charged to its endpoint.
func (rec *Recorder) CountUncharged(f webhook.OwnFailure) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.uncharged[f]++
}

// Uncharged returns the numbers of uncharged attempts, by cause.
func (rec *Recorder) Uncharged() map[webhook.OwnFailure]int64 {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return maps.Clone(rec.uncharged)
}

// Counts returns the totals.
func (rec *Recorder) Counts() Counts {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.counts
}

func (rec *Recorder) addAttempt(now, delayed *cell, r *webhook.AttemptResult) {
	bucket := bucketOf(r.Took)
	rec.attempts[classOf(r.Outcome)]++
	rec.durations.observe(bucket, r.Took)
	status := countedStatus(r)
	now.addStatus(status)
	now.took[bucket]++
	to := rec.subscription(r.Message.Subscription)
	c := to.at(now.minute, queueSpan)
	c.addStatus(status)
	c.took[bucket]++
	if status != webhook.Successful {
		to.last = &wire.Failed{At: wire.Timestamp(r.Began.Add(r.Took)), HTTPCode: r.Code, Message: r.Reason()}
		return
	}
	if r.After.Attempts == 1 { // later attempts are delayed by the schedule
		delay := max(0, r.Began.Add(r.Took).Sub(r.Message.Event.AddedAt))
		bucket = bucketOf(delay)
		rec.delay.observe(bucket, delay)
		delayed.took[bucket]++
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

func (rec *Recorder) subscription(subscription int64) *subscriptionSeries {
	to := rec.subscriptions[subscription]
	if to == nil {
		if rec.subscriptions == nil {
			rec.subscriptions = make(map[int64]*subscriptionSeries)
		}
		to = new(subscriptionSeries)
		rec.subscriptions[subscription] = to
	}
	return to
}

// prune drops subscriptions that were deleted, and those without attempts in the
// retained time.
func (rec *Recorder) prune(subs *webhook.Snapshot) {
	for id, to := range rec.subscriptions {
		if subs.Subscription(id) == nil || to.end(0) <= rec.prunedAt-queueSpan {
			delete(rec.subscriptions, id)
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
func (rec *Recorder) Report(now time.Time, minutes, limit int, queues []Queue) Report {
	minute, span := minuteOf(now), int64(min(max(1, minutes), daySpan))
	report := Report{At: now, Since: rec.since}
	rec.sumAll(&report, minute, span)
	for some := range slices.Chunk(queues, queuesPerLock) {
		rec.forEach(some, func(q *Queue, series *subscriptionSeries) {
			q.Traffic = series.traffic(minute, min(span, queueSpan))
		})
	}
	report.Queues = slices.DeleteFunc(queues, func(l Queue) bool { return !l.notable() })
	slices.SortFunc(report.Queues, compareSeverity)
	report.Omitted = max(0, len(report.Queues)-limit)
	report.Queues = report.Queues[:len(report.Queues)-report.Omitted]
	rec.forEach(report.Queues, func(q *Queue, series *subscriptionSeries) { // expensive, so only for the returned queues
		_, took := series.total(minute, min(span, queueSpan))
		q.P99, q.Last = took.quantile(0.99), series.last
	})
	return report
}

// queuesPerLock is how many queues are processed while the lock, which the writer
// needs, is held.
const queuesPerLock = 256

// sumAll adds the statistics of all subscriptions.
func (rec *Recorder) sumAll(s *Report, minute, span int64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	total, took := rec.all.total(minute, span)
	_, delay := rec.delivered.total(minute, span)
	s.Total = total
	s.Attempts = took.latency()
	s.Delay = delay.latency()
	s.Minutes = rec.all.minutes(minute, span)
}

// forEach calls add for each queue that has recorded data, under the lock.
func (rec *Recorder) forEach(queues []Queue, add func(*Queue, *subscriptionSeries)) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i := range queues {
		if series := rec.subscriptions[queues[i].Subscription.ID]; series != nil {
			add(&queues[i], series)
		}
	}
}

// Performance holds distributions since the engine's start.
type Performance struct {
	Attempts  map[string]int64  // keyed by outcome class: ok, 3xx, 4xx, 5xx, timeout, network, forbidden
	Durations DurationHistogram // durations of attempts
	Delays    DurationHistogram // from publishing to delivery, of messages that were delivered by the first attempt
}

// Performance returns the distributions since the start.
func (rec *Recorder) Performance() Performance {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	p := Performance{
		Attempts:  make(map[string]int64, classCount),
		Durations: rec.durations.durations(),
		Delays:    rec.delay.durations(),
	}
	for i, name := range outcomeClasses {
		p.Attempts[name] = rec.attempts[i]
	}
	return p
}
