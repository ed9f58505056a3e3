package changes

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Config configures a Capturer.
type Config struct {
	Source    Source
	Store     Store
	Publisher Publisher
	Log       *slog.Logger
	Secret    []byte                  // of the store; keys the hashes of rows
	Kinds     func() []*record.Kind   // all kinds of the ERP
	Named     func(event string) bool // reports whether a subscription, enabled or not, names an event
	Settings  func() Settings         // called often, since settings can be reloaded

	// Compared returns the fields of which conditions of subscriptions compare the values
	// before a change, sorted; nil for none.
	Compared func(kind *record.Kind) []string
}

// Settings are the settings of capture.
type Settings struct {
	Share   float64       // of the time that reads for all kinds may take
	Sweep   time.Duration // minimum time between two sweeps of a kind
	Overlap time.Duration // that polls by time read again
	Keep    time.Duration // of changes, and of shadows that are not needed
	MaxSize int64         // of the bodies of all changes, in bytes
}

// Intervals of the Capturer.
const (
	checkInterval = time.Second     // of the lease and the kinds
	needInterval  = 5 * time.Second // of needs that other daemons have noted
	pruneInterval = time.Minute
	pruneLimit    = 1000 // changes of one transaction
	maxPrunes     = 100  // transactions in a row
)

// Capturer captures the changes of all kinds while this daemon is the coordinator.
type Capturer struct {
	Config
	share    share
	database database
	batches  *batches
	turn     chan struct{} // has an item while a kind is swept
	wake     chan struct{} // buffered; a kind is needed

	mu       sync.Mutex
	lease    delivery.Lease
	captures map[string]*capture
	needs    map[string]time.Time // by kind; the last request of a follower
	noted    map[string]time.Time // by kind; the last of these that was noted in the store
	waiting  map[string]*waiting  // by kind; the followers that wait for changes
}

// New returns a Capturer, which captures while Run runs.
func New(c Config) *Capturer {
	return &Capturer{
		Config: c, share: share{limit: func() float64 { return c.Settings().Share }},
		batches: newBatches(), turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		captures: make(map[string]*capture), needs: make(map[string]time.Time), noted: make(map[string]time.Time), waiting: make(map[string]*waiting),
	}
}

// Run captures until ctx is done.
func (c *Capturer) Run(ctx context.Context) {
	defer c.stopAll()
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	var noted, pruned time.Time
	for {
		if lease, ok := c.Publisher.Coordinator(); !ok || lease.Fence != c.held().Fence {
			c.stopAll()
			noted, pruned = time.Time{}, time.Time{}
			c.mu.Lock()
			c.lease = delivery.Lease{}
			if ok {
				c.lease = lease
			}
			c.mu.Unlock()
		}
		if c.held().Fence != 0 {
			var err error
			if time.Since(noted) >= needInterval {
				if err = c.readNeeds(ctx, noted.IsZero()); err == nil {
					noted = time.Now()
				}
			}
			if err == nil {
				c.startNeeded(ctx)
			}
			if err == nil && time.Since(pruned) >= pruneInterval {
				if err = c.prune(ctx); err == nil {
					pruned = time.Now()
				}
			}
			if err != nil && ctx.Err() == nil {
				c.Log.Warn("the state of capture cannot be read", "error", err.Error())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.wake:
		}
	}
}

// held returns the lease under which this daemon captures; its fence is 0 if there is none.
func (c *Capturer) held() delivery.Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lease
}

// kinds returns the kinds that may be captured, by name.
func (c *Capturer) kinds() map[string]*record.Kind {
	all := make(map[string]*record.Kind)
	for _, kind := range c.Kinds() {
		if kind.Captured() {
			all[kind.Name] = kind
		}
	}
	return all
}

// needed reports whether the changes of a kind are needed now.
func (c *Capturer) needed(kind *record.Kind) bool {
	if kind.Capture == record.CaptureAlways {
		return true
	}
	if kind.Events != "" && slices.ContainsFunc([]Op{Created, Updated, Deleted}, func(op Op) bool { return c.Named(event(kind, op)) }) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last, noted := c.needs[kind.Name]
	return noted && time.Since(last) < c.Settings().Keep
}

// event returns the name of the event of a change; empty if the kind raises none.
func event(kind *record.Kind, op Op) string {
	if kind.Events == "" {
		return ""
	}
	return kind.Events + "." + string(op)
}

// Need notes that a follower needs the changes of a kind. If another daemon captures, the
// note is in the store.
func (c *Capturer) Need(ctx context.Context, kind *record.Kind) error {
	now := time.Now()
	c.mu.Lock()
	first := c.needs[kind.Name].IsZero()
	c.needs[kind.Name] = now
	local := c.lease.Fence != 0
	due := !local && now.Sub(c.noted[kind.Name]) >= needInterval
	if due {
		c.noted[kind.Name] = now // requests at the same time leave it to this one
	}
	c.mu.Unlock()

	if local && first {
		signal(c.wake)
	}
	if !due {
		return nil
	}
	err := c.Store.Note(ctx, kind.Name, [][]byte{{}})
	if err != nil {
		c.mu.Lock()
		delete(c.noted, kind.Name) // for the next request
		c.mu.Unlock()
	}
	return err
}

// readNeeds reads the needs that other daemons have noted, first those of earlier processes.
func (c *Capturer) readNeeds(ctx context.Context, first bool) error {
	if first {
		stored, err := c.Store.Captures(ctx)
		if err != nil {
			return err
		}
		for _, s := range stored {
			c.note(s.Kind, s.State.Needed)
		}
	}
	for name := range c.kinds() {
		if c.running(name) != nil {
			continue // reads its notes itself
		}
		notes, err := c.Store.Noted(ctx, name, MaxKeys)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(notes, func(n Recheck) bool { return len(n.Key) == 0 }) {
			c.note(name, time.Now())
		}
	}
	return nil
}

// note records the time of a need.
func (c *Capturer) note(kind string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.needs[kind]) {
		c.needs[kind] = at
	}
}

// startNeeded starts and stops captures, so that those of the needed kinds run.
func (c *Capturer) startNeeded(ctx context.Context) {
	kinds := c.kinds()
	maps.DeleteFunc(kinds, func(_ string, kind *record.Kind) bool { return !c.needed(kind) })
	compared := make(map[string][]string)
	for name, kind := range kinds {
		if c.Compared != nil {
			compared[name] = c.Compared(kind)
		}
	}
	c.mu.Lock()
	var ended []*capture
	for name, k := range c.captures {
		if now := kinds[name]; now == nil || !k.isOf(now, compared[name]) {
			ended = append(ended, k)
			delete(c.captures, name)
		}
	}
	c.mu.Unlock()
	for _, k := range ended {
		k.stop()
		c.notify(k.kind.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, kind := range kinds {
		if c.captures[name] == nil {
			c.captures[name] = start(ctx, c, kind, compared[name], c.lease.Fence)
		}
	}
}

// stopAll stops all captures. Their followers have to look for the changes of another daemon.
func (c *Capturer) stopAll() {
	c.mu.Lock()
	all := c.captures
	c.captures = make(map[string]*capture)
	c.mu.Unlock()
	for name, k := range all {
		k.cancel()
		c.notify(name)
	}
	for _, k := range all {
		k.stop()
	}
}

func (c *Capturer) running(kind string) *capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.captures[kind]
}

// prune removes old changes, and the captures that have not been needed for long.
func (c *Capturer) prune(ctx context.Context) error {
	settings := c.Settings()
	for more, n := true, 0; more && n < maxPrunes; n++ {
		var err error
		if more, err = c.Store.Prune(ctx, time.Now().Add(-settings.Keep), settings.MaxSize, pruneLimit); err != nil {
			return err
		}
	}
	stored, err := c.Store.Captures(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		switch {
		case c.running(s.Kind) != nil:
		case s.State.Ended.IsZero():
			fence := c.held().Fence
			if s, err = c.Store.Begin(ctx, s.Kind, fence); err == nil {
				if s.State.Ended = time.Now().UTC(); !s.State.Manual {
					s.State.Phase = Idle
				}
				err = c.Store.Save(ctx, s.Kind, fence, s.State)
			}
		case time.Since(s.State.Ended) > settings.Keep:
			c.Log.Info("the capture of a kind that was not needed any more is removed", "kind", s.Kind)
			err = c.Store.Remove(ctx, s.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Resumption determines the fate of the differences that a stopped capture has found.
type Resumption string

// The resumptions.
const (
	Raise  Resumption = "raise"  // they become changes
	Silent Resumption = "silent" // the shadow is filled again; followers have to resynchronize
)

// CanResume fails unless the capture of a kind has stopped on this daemon.
func (c *Capturer) CanResume(kind string) error {
	_, err := c.stopped(kind)
	return err
}

// Resume continues the capture of a kind that has stopped. It tries again after failures, until it
// succeeds or this daemon ceases to capture the kind, which then remains stopped.
func (c *Capturer) Resume(kind string, how Resumption) error {
	k, err := c.stopped(kind)
	if err != nil {
		return err
	}
	select {
	case k.resume <- how:
	default: // resumed twice
	}
	return nil
}

// stopped returns the capture of a kind that has stopped on this daemon.
func (c *Capturer) stopped(kind string) (*capture, error) {
	k := c.running(kind)
	phase := Phase("") // until the capture has read its state
	if k != nil {
		phase = k.status.get().Phase
	}
	if phase == "" {
		return nil, fault.New(fault.Unavailable, "this daemon does not capture %s now", kind)
	}
	if phase != Stopped {
		return nil, fault.New(fault.Conflict, "the capture of %s is not stopped", kind)
	}
	return k, nil
}

// Status returns the state of the captures of this daemon, by kind.
func (c *Capturer) Status() []Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Status, 0, len(c.captures))
	for _, name := range slices.Sorted(maps.Keys(c.captures)) {
		all = append(all, c.captures[name].status.get())
	}
	return all
}

// Followers are woken in groups, one after the other. If a thousand of them continued at the same
// moment, the goroutines of other requests would wait until the scheduler had run all of them.
const (
	wakeGroups   = 32
	wakeInterval = 2 * time.Millisecond
)

// waiting is the groups of followers that wait for changes of a kind.
type waiting struct {
	groups [wakeGroups]chan struct{} // closed when changes have been published; nil for an empty group
	next   int                       // the group of the next follower
}

// join returns the channel of the next group.
func (w *waiting) join() <-chan struct{} {
	group := &w.groups[w.next]
	w.next = (w.next + 1) % wakeGroups
	if *group == nil {
		*group = make(chan struct{})
	}
	return *group
}

// wake wakes the first group now and the others later.
func (w *waiting) wake() {
	for i, group := range w.groups {
		if group != nil {
			time.AfterFunc(time.Duration(i)*wakeInterval, func() { close(group) })
		}
	}
}

// changed returns a channel that is closed when changes of a kind have been published, or this
// daemon ceases to capture it. It is nil if another daemon captures.
func (c *Capturer) changed(kind string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.captures[kind] == nil {
		return nil
	}
	w, ok := c.waiting[kind]
	if !ok {
		w = &waiting{}
		c.waiting[kind] = w
	}
	return w.join()
}

// notify wakes the followers of a kind.
func (c *Capturer) notify(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[kind]
	if !ok {
		return
	}
	w.wake()
	delete(c.waiting, kind)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
