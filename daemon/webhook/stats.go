package webhook

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// figures are what came of deliveries: since the engine's start, and by minutes,
// for all and for each subscription.
type figures struct {
	since     time.Time // when it began to count
	mu        sync.Mutex
	counts    Counts
	attempts  [classes]int64 // by what came of them
	took      longRun        // of attempts
	delay     longRun        // from publishing to delivery
	all       series
	delivered series // what took the delay
	lines     map[int64]*line
	minute    int64 // when lines were last looked through
}

// line is what came of deliveries to one subscription.
type line struct {
	series
	last Failure
}

// Failure is the last attempt that failed.
type Failure struct {
	Code   int    // 0 where no answer came
	Reason string // in words that a SubscriberID alone may see
	At     time.Time
}

// NewRecorder makes a recorder that counts from a time.
func NewRecorder(since time.Time) *figures { return &figures{since: since} }

// Record counts a batch that was written: how many events and messages it made,
// and the results of attempts.
func (f *figures) Record(at time.Time, events, messages int, results []Recorded, subs *Snapshot) {
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
func (f *figures) Count(c Counts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.add(c)
}

// Counts are the totals.
func (f *figures) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *figures) attempt(now, delayed *cell, r *Recorded) {
	bucket := bucketOf(r.Took)
	f.attempts[classOf(r.Outcome)]++
	f.took.note(bucket, r.Took)
	now.became(r.After.Status)
	now.took[bucket]++
	to := f.line(r.Message.Subscription)
	c := to.at(now.minute, lineSpan)
	c.became(r.After.Status)
	c.took[bucket]++
	switch {
	case r.After.Status != Successful:
		to.last = Failure{r.Code, r.Reason(), r.Began.Add(r.Took)}
	case r.After.Attempts == 1: // other delays are those of the schedule
		delay := max(0, r.Began.Add(r.Took).Sub(r.Message.Event.AddedAt))
		bucket = bucketOf(delay)
		f.delay.note(bucket, delay)
		delayed.took[bucket]++
	}
}

func (f *figures) line(subscription int64) *line {
	to := f.lines[subscription]
	if to == nil {
		if f.lines == nil {
			f.lines = make(map[int64]*line)
		}
		to = new(line)
		f.lines[subscription] = to
	}
	return to
}

// forget drops subscriptions that are gone, and those to which nothing was sent
// for as long as is remembered.
func (f *figures) forget(subs *Snapshot) {
	for id, to := range f.lines {
		if subs.Subscription(id) == nil || to.end(0) <= f.minute-lineSpan {
			delete(f.lines, id)
		}
	}
}

// Stats are figures of the last minutes.
type Stats struct {
	At       time.Time // when they were taken
	Since    time.Time // when the daemon began to count
	Total    Traffic
	Attempts Quantiles // of how long attempts took
	Delay    Quantiles // from publishing to delivery, of messages that the first attempt delivered
	Minutes  []Traffic // one by one, the oldest first; the last is not over
	Lanes    []Lane    // with traffic, open messages or trouble, the worst first
	Others   int       // lanes that are left out, being too many
}

// LaneMinutes is how many of the last minutes are remembered of each lane.
const LaneMinutes = lineSpan

// Report sums up the last minutes, from one to 24 hours of them, with so many
// queues at most. It fills in the traffic of the queues that it is given.
func (f *figures) Report(now time.Time, minutes, most int, queues []Lane) Stats {
	minute, span := minuteOf(now), int64(min(max(1, minutes), daySpan))
	s := Stats{At: now, Since: f.since}
	f.sum(&s, minute, span)
	for some := range slices.Chunk(queues, lanesAtOnce) {
		f.traffic(some, minute, min(span, lineSpan))
	}
	s.Lanes = slices.DeleteFunc(queues, func(l Lane) bool { return !l.tells() })
	slices.SortFunc(s.Lanes, worse)
	s.Others = max(0, len(s.Lanes)-most)
	s.Lanes = s.Lanes[:len(s.Lanes)-s.Others]
	f.detail(s.Lanes, minute, min(span, lineSpan))
	return s
}

// lanesAtOnce is how many lanes are looked at while the writer waits.
const lanesAtOnce = 256

// sum adds the figures of all.
func (f *figures) sum(s *Stats, minute, span int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	total, took := f.all.total(minute, span)
	_, delay := f.delivered.total(minute, span)
	s.Total, s.Attempts, s.Delay, s.Minutes = total, took.quantiles(), delay.quantiles(), f.all.minutes(minute, span)
}

// traffic adds the figures of lanes.
func (f *figures) traffic(lanes []Lane, minute, span int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range lanes {
		if to := f.lines[lanes[i].Subscription.ID]; to != nil {
			lanes[i].Traffic = to.traffic(minute, span)
		}
	}
}

// detail adds what takes longer, to the few lanes that are told of.
func (f *figures) detail(lanes []Lane, minute, span int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range lanes {
		if to := f.lines[lanes[i].Subscription.ID]; to != nil {
			_, took := to.total(minute, span)
			lanes[i].P99, lanes[i].Last = took.quantile(0.99), to.last
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
func (f *figures) Performance() Performance {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := Performance{Attempts: make(map[string]int64, classes), Took: f.took.durations(), Delay: f.delay.durations()}
	for i, name := range classNames {
		p.Attempts[name] = f.attempts[i]
	}
	return p
}

// worse puts those first that need somebody most: whose endpoint is in trouble,
// then by messages lost, failures, open messages.
func worse(a, b Lane) int {
	return cmp.Or(
		-cmp.Compare(a.severity(), b.severity()),
		-cmp.Compare(a.Traffic.GivenUp+a.Traffic.Failed, b.Traffic.GivenUp+b.Traffic.Failed),
		-cmp.Compare(a.NotSent+a.RetryPending, b.NotSent+b.RetryPending),
		-cmp.Compare(a.Traffic.Delivered, b.Traffic.Delivered),
		cmp.Compare(a.Subscription.ID, b.Subscription.ID))
}
