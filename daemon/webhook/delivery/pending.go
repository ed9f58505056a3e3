package delivery

import (
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/wake"
	"github.com/bizhook/whd/daemon/webhook"
)

// Limits of pending work and of a batch.
const (
	batchRows     = 512
	batchBytes    = 1 << 20
	batchMessages = 8192 // exceeded only by a single event
	queueRows     = 8192
	queueBytes    = 64 << 20
	resultRows    = 256 // results that are written without a delay

	// Maximum times that a result waits for more, or for an event to be written with. The
	// next message of an ordered queue, or of the key, waits for the result.
	resultDelay  = 5 * time.Millisecond
	orderedDelay = time.Millisecond

	// The results of replays are in no hurry. Fewer transactions delay fresh messages less.
	replayDelay = 50 * time.Millisecond
)

// MaxBatchEvents is the maximum number of events of a batch: published events and
// notices of disabled subscriptions.
const MaxBatchEvents = 2 * batchRows

// pending collects the work of the batchWriter. Work that arrives while a batch is written
// goes into the next ones. Otherwise events are written at once, and results wait a moment,
// so that at low rates they share the transaction of the next event.
type pending struct {
	mu        sync.Mutex
	closed    bool
	waiting   []*publication
	bytes     int       // size of waiting
	published time.Time // time of the last event
	groups    []*group
	overfull  bool // the last batch was: the next one has no group
	results   []webhook.AttemptResult
	due       time.Time   // when the results are to be written
	timer     *time.Timer // wakes the writer then
	disabled  []Disabled
	incidents []incident
	health    []Health         // one entry for each subscription
	announced []webhook.Change // made by admin.Service; to be written as peer events for other daemons
	wake      chan struct{}    // buffered, one
}

func newPending() *pending {
	p := &pending{wake: make(chan struct{}, 1)}
	p.timer = time.AfterFunc(time.Hour, func() { wake.Signal(p.wake) })
	p.timer.Stop()
	return p
}

// publish queues an event, unless too many are pending.
func (p *pending) publish(event *publication) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return stopping()
	}
	if len(p.waiting) >= queueRows || p.bytes+event.size() > queueBytes {
		return overloaded()
	}
	p.waiting = append(p.waiting, event)
	p.bytes += event.size()
	p.published = time.Now()
	if len(p.waiting) == 1 {
		wake.Signal(p.wake)
	}
	return nil
}

// lastPublished returns the time of the last event, without those of changes.
func (p *pending) lastPublished() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published
}

// publishGroup queues a group of changes. Their number is bounded by the callers, each of
// which waits for the result.
func (p *pending) publishGroup(g *group) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return stopping()
	}
	p.groups = append(p.groups, g)
	wake.Signal(p.wake)
	return nil
}

// record queues the result of an attempt, to be written after delay at the latest. A
// disableReason also queues the disabling of the subscription.
func (p *pending) record(r webhook.AttemptResult, disableReason string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if disableReason != "" {
		d := Disabled{Subscription: r.Message.Subscription, Reason: disableReason, At: r.Began}
		p.disabled = append(p.disabled, d)
	}
	p.results = append(p.results, r)
	due := time.Now().Add(delay)
	if len(p.results) == 1 || due.Before(p.due) {
		p.due = due
		p.timer.Reset(delay)
	}
	if len(p.results) == resultRows {
		wake.Signal(p.wake)
	}
}

// disable queues the disabling of a subscription.
func (p *pending) disable(d Disabled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disabled = append(p.disabled, d)
	wake.Signal(p.wake)
}

// report queues the event of an incident.
func (p *pending) report(i incident) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.incidents = append(p.incidents, i)
	wake.Signal(p.wake)
}

// setHealth queues a subscription's health.
func (p *pending) setHealth(h Health) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.health = mergeHealth(p.health, h)
	wake.Signal(p.wake)
}

// mergeHealth adds h to entries, which has one for each subscription. A success, which has
// no time, and an entry with Replace overwrite the earlier entry. A failure after a success
// replaces the stored time. Of two failures the earlier one stays.
func mergeHealth(entries []Health, h Health) []Health {
	i := slices.IndexFunc(entries, func(earlier Health) bool { return earlier.Subscription == h.Subscription })
	switch {
	case i < 0:
		return append(entries, h)
	case h.Since.IsZero() || h.Replace:
		entries[i] = h
	case entries[i].Since.IsZero():
		h.Replace = true
		entries[i] = h
	}
	return entries
}

// announce queues changes that admin.Service made in the store, as peer events for other
// daemons.
func (p *pending) announce(changes []webhook.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announced = append(p.announced, changes...)
	wake.Signal(p.wake)
}

// depth returns the numbers of pending events and results.
func (p *pending) depth() (events, results int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting), len(p.results)
}

// close rejects all further events.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// await waits until there is a batch to write. It returns false once stop is closed and
// nothing is pending.
func (p *pending) await(stop <-chan struct{}) bool {
	for {
		_, due := p.hasWork()
		if due {
			return true
		}
		select {
		case <-p.wake:
		case <-stop:
			exists, _ := p.hasWork()
			return exists
		}
	}
}

// hasWork reports whether there is pending work, and whether it is to be written now. Only
// results wait: while there are any, work other than events waits with them.
func (p *pending) hasWork() (exists, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting)+len(p.groups) > 0 || len(p.results) >= resultRows {
		return true, true
	}
	if len(p.results) > 0 {
		return true, !time.Now().Before(p.due)
	}
	exists = len(p.disabled)+len(p.incidents)+len(p.health)+len(p.announced) > 0
	return exists, exists
}

// next removes and returns the next batch, the oldest work first. A batch has at most one
// group of changes, whole, and always room for other events too.
func (p *pending) next() *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &batch{health: p.health, announced: p.announced}
	p.health = nil
	p.announced = nil

	rows := batchRows
	if len(p.groups) > 0 && !p.overfull {
		b.group = p.groups[0]
		p.groups = p.groups[1:]
		rows -= len(b.group.events)
	}
	p.overfull = false

	b.publications = p.nextEvents(rows)
	b.disabled = takeFirst(&p.disabled, batchRows)
	b.incidents = takeFirst(&p.incidents, batchRows-len(b.disabled)) // both create events
	b.results = takeFirst(&p.results, batchRows)
	if len(p.results) == 0 {
		p.timer.Stop()
	}
	return b
}

// nextEvents removes and returns the events of the next batch: at most rows of them, and of batchBytes
// unless the first one alone is larger. The lock is held.
func (p *pending) nextEvents(rows int) []*publication {
	n, size := 0, 0
	for n < len(p.waiting) && n < rows {
		event := p.waiting[n].size()
		if n > 0 && size+event > batchBytes {
			break
		}
		size += event
		n++
	}
	p.bytes -= size
	events := takeFirst(&p.waiting, n)
	if len(p.waiting) == 0 {
		p.waiting = nil // frees the array
	}
	return events
}

// takeFirst removes and returns the first n elements of a list, or all if there are fewer.
func takeFirst[T any](list *[]T, n int) []T {
	n = min(n, len(*list))
	first := (*list)[:n:n]
	*list = (*list)[n:]
	return first
}

// restore puts everything but the events of a batch that could not be written back in
// front of later work.
func (p *pending) restore(b *batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(b.results) > 0 {
		p.due = time.Now()
	}
	p.results = append(b.results, p.results...)
	p.disabled = append(b.disabled, p.disabled...)
	p.incidents = append(b.incidents, p.incidents...)
	later := p.health
	p.health = b.health
	for _, h := range later {
		p.health = mergeHealth(p.health, h)
	}
	p.announced = append(b.announced, p.announced...)
}

// requeue puts events that did not fit into a batch back in front of later ones.
func (p *pending) requeue(events []*publication) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, event := range events {
		event.messages = nil
		p.bytes += event.size()
	}
	p.waiting = slices.Concat(events, p.waiting)
	p.overfull = true
}

// takeAll removes and returns the events and groups that were not written when the writer
// stopped.
func (p *pending) takeAll() ([]*publication, []*group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, groups := p.waiting, p.groups
	p.waiting = nil
	p.bytes = 0
	p.groups = nil
	return waiting, groups
}
