package delivery

import (
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// The bounds of what the ledger collects.
const (
	batchRows     = 512
	batchBytes    = 1 << 20
	batchMessages = 8192 // more only of a single event
	queueRows     = 8192
	queueBytes    = 64 << 20
	resultDelay   = time.Millisecond // that outcomes wait for company
	resultRows    = 256              // that do not wait
	maxUnsaved    = 4096             // outcomes above which no attempt begins
)

// MaxBatchEvents is the number of events that a batch may have: those that were
// published, and the notices of disabled subscriptions.
const MaxBatchEvents = 2 * batchRows

// pending collects what is to be written. Whatever arrives while one batch is
// being written makes the next one; an event waits for nothing else.
type pending struct {
	mu        sync.Mutex
	closed    bool
	waiting   []*publication
	bytes     int // of waiting
	outcomes  []webhook.AttemptResult
	oldest    time.Time // when the first of outcomes came
	disabled  []Disabled
	health    []Health         // each after the one before it
	announced []webhook.Change // made beside the ledger, for other daemons
	wake      chan struct{}    // buffered, one
}

func newPending() *pending { return &pending{wake: make(chan struct{}, 1)} }

func (g *pending) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// publish queues an event, unless too many wait already.
func (g *pending) publish(p *publication) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return stopping()
	case len(g.waiting) >= queueRows || g.bytes+p.size() > queueBytes:
		return overloaded()
	}
	g.waiting = append(g.waiting, p)
	g.bytes += p.size()
	if len(g.waiting) == 1 {
		g.signal()
	}
	return nil
}

// record queues an outcome.
func (g *pending) record(r webhook.AttemptResult, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason != "" {
		g.disabled = append(g.disabled, Disabled{r.Message.Subscription, reason, r.Began})
	}
	if g.outcomes = append(g.outcomes, r); len(g.outcomes) == 1 {
		g.oldest = time.Now()
		g.signal()
	} else if len(g.outcomes) == resultRows {
		g.signal()
	}
}

// disable queues the disabling of a subscription.
func (g *pending) disable(d Disabled) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disabled = append(g.disabled, d)
	g.signal()
}

// noteHealth queues since when a subscription fails.
func (g *pending) noteHealth(h Health) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.health = addHealth(g.health, h)
	g.signal()
}

// addHealth adds what was noted last of a subscription to what was noted before,
// so that each is there once.
func addHealth(all []Health, h Health) []Health {
	i := slices.IndexFunc(all, func(was Health) bool { return was.Subscription == h.Subscription })
	switch {
	case i < 0:
		return append(all, h)
	case h.Since.IsZero() || h.Anew:
		all[i] = h
	case all[i].Since.IsZero():
		all[i] = Health{h.Subscription, h.Since, true}
	}
	return all
}

// announce queues changes that were made beside the ledger, for other daemons.
func (g *pending) announce(changes []webhook.Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.announced = append(g.announced, changes...)
	g.signal()
}

// unsaved is how many outcomes wait.
func (g *pending) unsaved() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.outcomes)
}

// depth is how many events and outcomes wait.
func (g *pending) depth() (events, outcomes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting), len(g.outcomes)
}

// close refuses events from now on.
func (g *pending) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// await waits until there is a batch to write. It reports false once stop is
// closed and nothing is left.
func (g *pending) await(stop <-chan struct{}) bool {
	for {
		wait, any := g.patience()
		if any && wait <= 0 {
			return true
		}
		if !any {
			wait = time.Hour // until nudged
		}
		timer := time.NewTimer(wait)
		select {
		case <-g.wake:
			timer.Stop()
		case <-timer.C:
		case <-stop:
			timer.Stop()
			_, any = g.patience()
			return any
		}
	}
}

// patience is how long what is there may still wait for company.
func (g *pending) patience() (wait time.Duration, any bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.waiting) > 0 || len(g.outcomes) >= resultRows:
		return 0, true
	case len(g.outcomes) > 0:
		return resultDelay - time.Since(g.oldest), true
	case len(g.disabled)+len(g.health)+len(g.announced) > 0:
		return 0, true
	}
	return 0, false
}

// batch is what one write takes from the ledger.
type batch struct {
	publications []*publication
	outcomes     []webhook.AttemptResult
	disabled     []Disabled
	notices      []*publication // that tell of disabled
	health       []Health
	announced    []webhook.Change
	changes      []webhook.Change // that the load makes
}

// next takes a load, the oldest first.
func (g *pending) next() batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(g.waiting) && n < batchRows && (n == 0 || size+g.waiting[n].size() <= batchBytes) {
		size += g.waiting[n].size()
		n++
	}
	l := batch{publications: g.waiting[:n:n], health: g.health, announced: g.announced}
	g.waiting, g.bytes, g.health, g.announced = g.waiting[n:], g.bytes-size, nil, nil
	if len(g.waiting) == 0 {
		g.waiting = nil
	}
	n = min(len(g.disabled), batchRows) // each makes an event
	l.disabled, g.disabled = g.disabled[:n:n], g.disabled[n:]
	n = min(len(g.outcomes), batchRows)
	l.outcomes, g.outcomes = g.outcomes[:n:n], g.outcomes[n:]
	return l
}

// giveBack puts outcomes back that could not be written, before those that
// came since.
func (g *pending) giveBack(l batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcomes = append(l.outcomes, g.outcomes...)
	g.disabled = append(l.disabled, g.disabled...)
	later := g.health
	g.health = l.health
	for _, h := range later {
		g.health = addHealth(g.health, h)
	}
	g.announced = append(l.announced, g.announced...)
}

// putBack puts events back that a load had no room for, before those that came
// since.
func (g *pending) putBack(all []*publication) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range all {
		p.messages = nil
		g.bytes += p.size()
	}
	g.waiting = slices.Concat(all, g.waiting)
}

// abandon takes the events out that were not written when the writer ended.
func (g *pending) abandon() []*publication {
	g.mu.Lock()
	defer g.mu.Unlock()
	left := g.waiting
	g.waiting, g.bytes = nil, 0
	return left
}
