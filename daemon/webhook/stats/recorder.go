package stats

import (
	"maps"
	"sync"

	"github.com/bizhook/whd/daemon/webhook"
)

// Recorder counts the work of this daemon since the engine's start, for metrics.
type Recorder struct {
	mu        sync.Mutex
	counts    Counts
	attempts  [classCount]int64            // indexed by outcome class
	uncharged map[webhook.OwnFailure]int64 // attempts that were not charged, by cause
	durations histogram                    // durations of attempts
	delays    histogram                    // from publishing to delivery
}

// NewRecorder returns a recorder.
func NewRecorder() *Recorder {
	return &Recorder{uncharged: make(map[webhook.OwnFailure]int64)}
}

// Record counts a batch that was written: the numbers of new events and messages, and
// the results of attempts.
func (rec *Recorder) Record(events, messages int, results []webhook.AttemptResult) {
	traffic := Traffic{Events: int64(events), Messages: int64(messages)}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for i := range results {
		r := &results[i]
		traffic.addStatus(countedStatus(r))
		rec.attempts[classOf(r.Outcome)]++
		rec.durations.observe(r.Took)
		if _, ok := OfDelay(r); ok {
			rec.delays.observe(delayOf(r))
		}
	}
	rec.counts.Traffic.Add(traffic)
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
		Delays:    rec.delays.durations(),
	}
	for i, name := range outcomeClasses {
		p.Attempts[name] = rec.attempts[i]
	}
	return p
}
