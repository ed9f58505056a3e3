package delivery

import "github.com/bizhook/whd/daemon/webhook/stats"

// Counts are the totals since the start.
func (e *Engine) Counts() stats.Counts { return e.recorder.Counts() }

// Performance is how attempts went since the start.
func (e *Engine) Performance() stats.Performance { return e.recorder.Performance() }

// Throughput gives a function that measures the throughput between its calls.
func (e *Engine) Throughput() func() (stats.Throughput, bool) {
	return stats.NewThroughput(e.Now, e.Counts, e.Depth)
}

// Stats sums up the last minutes, from one to 24 hours of them, with so many
// queues at most. What is open comes from Open.
func (e *Engine) Stats(minutes, most int, open []stats.Backlog) stats.Report {
	return e.recorder.Report(e.Now(), minutes, most, e.queuesWith(open))
}

// queuesWith are the lanes of all subscriptions, with what is open of them.
func (e *Engine) queuesWith(open []stats.Backlog) []stats.Queue {
	of := make(map[int64]stats.Backlog, len(open))
	for _, b := range open {
		of[b.Subscription] = b
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Now()
	lanes := make([]stats.Queue, 0, len(e.queues))
	for id, l := range e.queues {
		if l.sub == nil {
			continue
		}
		b, next := of[id], l.alarm(now)
		if l.open() {
			next = l.probe // whatever else is due
		}
		lanes = append(lanes, stats.Queue{Subscription: l.sub, FailingSince: l.health.since, Underway: l.inFlight, Limit: l.share(), InMemory: len(l.known),
			Failures: l.breaker.failures, Open: l.open(), Probe: l.probe, Next: next,
			NotSent: b.NotSent, RetryPending: b.RetryPending, Oldest: b.Oldest})
	}
	return lanes
}

// tally counts what was written down.
func (e *Engine) tally(l batch) {
	events, messages := 0, 0
	for _, all := range [...][]*publication{l.publications, l.notices} {
		for _, p := range all {
			events++
			messages += len(p.messages)
		}
	}
	e.recorder.Record(e.Now(), events, messages, l.outcomes, e.snapshot())
	e.recorder.Count(stats.Counts{Disabled: int64(len(l.disabled))})
}

// Depth looks at what is in hand.
func (e *Engine) Depth() stats.Depth {
	waiting, unsaved := e.pending.depth()
	e.mu.Lock()
	defer e.mu.Unlock()
	d := stats.Depth{Waiting: waiting, Unsaved: unsaved, Underway: e.inFlight, Lanes: len(e.queues), Partition: len(e.leases)}
	for _, l := range e.queues {
		d.InMemory += len(l.known)
		if l.open() {
			d.Troubled++
		}
	}
	return d
}

// Daemons is how many daemons work on the store, as far as is known.
func (e *Engine) Daemons() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.daemons
}
