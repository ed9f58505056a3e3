package webhook

// Counts are the totals since the start.
func (e *Engine) Counts() Counts { return e.figures.Counts() }

// Performance is how attempts went since the start.
func (e *Engine) Performance() Performance { return e.figures.Performance() }

// Throughput gives a function that measures the throughput between its calls.
func (e *Engine) Throughput() func() (Pulse, bool) { return NewThroughput(e.Now, e.Counts, e.Depth) }

// Stats sums up the last minutes, from one to 24 hours of them, with so many
// queues at most. What is open comes from Open.
func (e *Engine) Stats(minutes, most int, open []Backlog) Stats {
	return e.figures.Report(e.Now(), minutes, most, e.lanesWith(open))
}

// lanesWith are the lanes of all subscriptions, with what is open of them.
func (e *Engine) lanesWith(open []Backlog) []Lane {
	of := make(map[int64]Backlog, len(open))
	for _, b := range open {
		of[b.Subscription] = b
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.Now()
	lanes := make([]Lane, 0, len(e.lanes))
	for id, l := range e.lanes {
		if l.sub == nil {
			continue
		}
		b, next := of[id], l.alarm(now)
		if l.open() {
			next = l.probe // whatever else is due
		}
		lanes = append(lanes, Lane{Subscription: l.sub, FailingSince: l.health.since, Underway: l.flying, Limit: l.share(), InMemory: len(l.known),
			Failures: l.breaker.failures, Open: l.open(), Probe: l.probe, Next: next,
			NotSent: b.NotSent, RetryPending: b.RetryPending, Oldest: b.Oldest})
	}
	return lanes
}

// tally counts what was written down.
func (e *Engine) tally(l load) {
	events, messages := 0, 0
	for _, all := range [...][]*publication{l.publications, l.notices} {
		for _, p := range all {
			events++
			messages += len(p.messages)
		}
	}
	e.figures.Record(e.Now(), events, messages, l.outcomes, e.snapshot())
	e.figures.Count(Counts{Disabled: int64(len(l.disabled))})
}

// Depth looks at what is in hand.
func (e *Engine) Depth() Depth {
	waiting, unsaved := e.ledger.depth()
	e.mu.Lock()
	defer e.mu.Unlock()
	d := Depth{Waiting: waiting, Unsaved: unsaved, Underway: e.flying, Lanes: len(e.lanes), Partition: len(e.leases)}
	for _, l := range e.lanes {
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
