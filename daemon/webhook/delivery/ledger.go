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
	outcomeDelay  = time.Millisecond // that outcomes wait for company
	outcomeRows   = 256              // that do not wait
	unsavedMost   = 4096             // outcomes above which no attempt begins
)

// MaxBatchEvents is the number of events that a batch may have: those that were
// published, and the notices of disabled subscriptions.
const MaxBatchEvents = 2 * batchRows

// ledger collects what is to be written. Whatever arrives while one batch is
// being written makes the next one; an event waits for nothing else.
type ledger struct {
	mu       sync.Mutex
	closed   bool
	waiting  []*publication
	bytes    int // of waiting
	outcomes []webhook.AttemptResult
	oldest   time.Time // when the first of outcomes came
	disabled []Disabled
	health   []Health         // each after the one before it
	told     []webhook.Change // made beside the ledger, for other daemons
	wake     chan struct{}    // buffered, one
}

func newLedger() *ledger { return &ledger{wake: make(chan struct{}, 1)} }

func (g *ledger) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// publish queues an event, unless too many wait already.
func (g *ledger) publish(p *publication) error {
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
		g.nudge()
	}
	return nil
}

// record queues an outcome.
func (g *ledger) record(r webhook.AttemptResult, reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason != "" {
		g.disabled = append(g.disabled, Disabled{r.Message.Subscription, reason, r.Began})
	}
	if g.outcomes = append(g.outcomes, r); len(g.outcomes) == 1 {
		g.oldest = time.Now()
		g.nudge()
	} else if len(g.outcomes) == outcomeRows {
		g.nudge()
	}
}

// disable queues the disabling of a subscription.
func (g *ledger) disable(d Disabled) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disabled = append(g.disabled, d)
	g.nudge()
}

// noteHealth queues since when a subscription fails.
func (g *ledger) noteHealth(h Health) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.health = addHealth(g.health, h)
	g.nudge()
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

// tell queues changes that were made beside the ledger, for other daemons.
func (g *ledger) tell(changes []webhook.Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told = append(g.told, changes...)
	g.nudge()
}

// unsaved is how many outcomes wait.
func (g *ledger) unsaved() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.outcomes)
}

// depth is how many events and outcomes wait.
func (g *ledger) depth() (events, outcomes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting), len(g.outcomes)
}

// close refuses events from now on.
func (g *ledger) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// await waits until there is a batch to write. It reports false once stop is
// closed and nothing is left.
func (g *ledger) await(stop <-chan struct{}) bool {
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
func (g *ledger) patience() (wait time.Duration, any bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.waiting) > 0 || len(g.outcomes) >= outcomeRows:
		return 0, true
	case len(g.outcomes) > 0:
		return outcomeDelay - time.Since(g.oldest), true
	case len(g.disabled)+len(g.health)+len(g.told) > 0:
		return 0, true
	}
	return 0, false
}

// load is what one write takes from the ledger.
type load struct {
	publications []*publication
	outcomes     []webhook.AttemptResult
	disabled     []Disabled
	notices      []*publication // that tell of disabled
	health       []Health
	told         []webhook.Change
	changes      []webhook.Change // that the load makes
}

// next takes a load, the oldest first.
func (g *ledger) next() load {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, size := 0, 0
	for n < len(g.waiting) && n < batchRows && (n == 0 || size+g.waiting[n].size() <= batchBytes) {
		size += g.waiting[n].size()
		n++
	}
	l := load{publications: g.waiting[:n:n], health: g.health, told: g.told}
	g.waiting, g.bytes, g.health, g.told = g.waiting[n:], g.bytes-size, nil, nil
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
func (g *ledger) giveBack(l load) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcomes = append(l.outcomes, g.outcomes...)
	g.disabled = append(l.disabled, g.disabled...)
	later := g.health
	g.health = l.health
	for _, h := range later {
		g.health = addHealth(g.health, h)
	}
	g.told = append(l.told, g.told...)
}

// putBack puts events back that a load had no room for, before those that came
// since.
func (g *ledger) putBack(all []*publication) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range all {
		p.messages = nil
		g.bytes += p.size()
	}
	g.waiting = slices.Concat(all, g.waiting)
}

// abandon takes the events out that were not written when the writer ended.
func (g *ledger) abandon() []*publication {
	g.mu.Lock()
	defer g.mu.Unlock()
	left := g.waiting
	g.waiting, g.bytes = nil, 0
	return left
}
