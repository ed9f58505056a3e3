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
	"github.com/bizhook/whd/daemon/wake"
)

// Config configures a Capturer.
type Config struct {
	Source    Source
	Store     Store
	Publisher Publisher
	Log       *slog.Logger
	Secret    []byte                  // secret of the store; keys the hashes of rows
	Kinds     func() []*record.Kind   // all kinds of the ERP
	Named     func(event string) bool // reports whether a subscription, enabled or not, is to an event by its name
	Settings  func() Settings         // called often, since settings can be reloaded

	// Compared returns the fields that conditions of subscriptions compare with their values before
	// a change, sorted; nil for none.
	Compared func(kind *record.Kind) []string
}

// Settings are the settings of capture.
type Settings struct {
	Share   float64       // share of the time that reads for all kinds may take
	Sweep   time.Duration // minimum time between two sweeps of a kind
	Overlap time.Duration // that polls by time read again
	Keep    time.Duration // time for which changes, and shadows that are not needed, are kept
	MaxSize int64         // limit of the bodies of all changes, in bytes
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
	config  Config
	common  *common
	batches *batches
	wake    chan struct{} // buffered; a kind is needed

	// For the goroutine of Run: when it last did this under the lease.
	needsRead time.Time
	pruned    time.Time

	mu       sync.Mutex
	fence    int64 // fence of the lease under which this daemon captures; 0 if there is none
	captures map[string]*capture
}

// common has the parts that the captures of all kinds share.
type common struct {
	share     share
	database  database
	needs     *needs
	followers *followers
	turn      chan struct{} // has an item while a kind is swept
}

// New returns a Capturer, which captures while Run runs.
func New(c Config) *Capturer {
	return &Capturer{
		config: c,
		common: &common{
			share:     share{limit: func() float64 { return c.Settings().Share }},
			needs:     newNeeds(),
			followers: newFollowers(),
			turn:      make(chan struct{}, 1),
		},
		batches:  newBatches(),
		wake:     make(chan struct{}, 1),
		captures: make(map[string]*capture),
	}
}

// Run captures until ctx is done.
func (c *Capturer) Run(ctx context.Context) {
	defer c.stopAll()
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		c.followLease()
		if c.heldFence() != 0 {
			err := c.maintain(ctx)
			if err != nil && ctx.Err() == nil {
				c.config.Log.Warn("the state of capture cannot be read", "error", err.Error())
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

// followLease stops all captures when the lease was lost, or acquired again.
func (c *Capturer) followLease() {
	fence := int64(0)
	lease, ok := c.config.Publisher.Coordinator()
	if ok {
		fence = lease.Fence
	}
	if fence == c.heldFence() {
		return
	}
	c.stopAll()
	c.needsRead = time.Time{}
	c.pruned = time.Time{}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.fence = fence
}

// heldFence returns the fence of the lease under which this daemon captures; 0 if there is none.
func (c *Capturer) heldFence() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fence
}

// maintain captures the kinds that are needed now, and prunes old changes and captures.
func (c *Capturer) maintain(ctx context.Context) error {
	if time.Since(c.needsRead) >= needInterval {
		if err := c.readNeeds(ctx); err != nil {
			return err
		}
		c.needsRead = time.Now()
	}
	c.startNeeded(ctx)
	if time.Since(c.pruned) >= pruneInterval {
		if err := c.prune(ctx); err != nil {
			return err
		}
		c.pruned = time.Now()
	}
	return nil
}

// kinds returns the kinds that may be captured, by name.
func (c *Capturer) kinds() map[string]*record.Kind {
	kinds := make(map[string]*record.Kind)
	for _, kind := range c.config.Kinds() {
		if kind.Captured() {
			kinds[kind.Name] = kind
		}
	}
	return kinds
}

// neededKinds returns the kinds to be captured now, by name.
func (c *Capturer) neededKinds() map[string]*record.Kind {
	kinds := c.kinds()
	maps.DeleteFunc(kinds, func(_ string, kind *record.Kind) bool { return !c.Needed(kind) })
	return kinds
}

// Needed reports whether the changes of a kind are needed now, as far as this daemon knows.
func (c *Capturer) Needed(kind *record.Kind) bool {
	if kind.Capture == record.CaptureAlways || c.subscribed(kind) {
		return true
	}
	last := c.common.needs.last(kind.Name)
	return !last.IsZero() && time.Since(last) < c.config.Settings().Keep
}

// subscribed reports whether a subscription names an event of a kind.
func (c *Capturer) subscribed(kind *record.Kind) bool {
	if kind.Events == "" {
		return false
	}
	return slices.ContainsFunc([]Op{Created, Updated, Deleted}, func(op Op) bool {
		return c.config.Named(event(kind, op))
	})
}

// event returns the name of the event of a change; empty if the kind publishes none.
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
	first := c.common.needs.add(kind.Name, now)
	if c.heldFence() != 0 {
		if first {
			wake.Signal(c.wake)
		}
		return nil
	}
	if !c.common.needs.beginNote(kind.Name, now) {
		return nil
	}
	err := c.config.Store.Note(ctx, kind.Name, [][]byte{{}})
	if err != nil {
		c.common.needs.noteFailed(kind.Name)
	}
	return err
}

// readNeeds reads the needs that other daemons have noted, first those of earlier processes.
func (c *Capturer) readNeeds(ctx context.Context) error {
	if c.needsRead.IsZero() {
		stored, err := c.config.Store.Captures(ctx)
		if err != nil {
			return err
		}
		for _, s := range stored {
			c.common.needs.add(s.Kind, s.State.Needed)
		}
	}
	for name := range c.kinds() {
		if c.running(name) != nil {
			continue // reads its notes itself
		}
		notes, err := c.config.Store.Noted(ctx, name, MaxKeys)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(notes, func(n Recheck) bool { return len(n.Key) == 0 }) {
			c.common.needs.add(name, time.Now())
		}
	}
	return nil
}

// startNeeded starts and stops captures, so that those of the needed kinds run.
func (c *Capturer) startNeeded(ctx context.Context) {
	kinds := c.neededKinds()
	compared := make(map[string][]string)
	if c.config.Compared != nil {
		for name, kind := range kinds {
			compared[name] = c.config.Compared(kind)
		}
	}
	for _, k := range c.removeOthers(kinds, compared) {
		k.stop()
		c.common.followers.notify(k.kind.Name)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for name, kind := range kinds {
		if c.captures[name] == nil {
			c.captures[name] = start(ctx, c, kind, compared[name])
		}
	}
}

// removeOthers removes and returns the captures that are not of these kinds, or compare other fields.
func (c *Capturer) removeOthers(kinds map[string]*record.Kind, compared map[string][]string) []*capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	var removed []*capture
	for name, k := range c.captures {
		kind, needed := kinds[name]
		if needed {
			k.adoptIfEqual(kind)
		}
		if !needed || !k.isOf(kind, compared[name]) {
			removed = append(removed, k)
			delete(c.captures, name)
		}
	}
	return removed
}

// stopAll stops all captures. Their followers have to look for the changes of another daemon.
func (c *Capturer) stopAll() {
	c.mu.Lock()
	captures := c.captures
	c.captures = make(map[string]*capture)
	c.mu.Unlock()
	for name, k := range captures {
		k.cancel()
		c.common.followers.notify(name)
	}
	for _, k := range captures {
		k.stop()
	}
}

// running returns the capture of a kind; nil if this daemon does not capture it.
func (c *Capturer) running(kind string) *capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.captures[kind]
}

// changed returns a channel that is closed when changes of a kind have been published, or this
// daemon ceases to capture it. It is nil if another daemon captures.
func (c *Capturer) changed(kind string) <-chan struct{} {
	// Joined before the look at the captures: the end of a capture is notified after it is removed.
	published := c.common.followers.join(kind)
	if c.running(kind) == nil {
		return nil
	}
	return published
}

// prune removes old changes, and the captures that have not been needed for long.
func (c *Capturer) prune(ctx context.Context) error {
	if err := c.pruneChanges(ctx); err != nil {
		return err
	}
	stored, err := c.config.Store.Captures(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		if c.running(s.Kind) != nil {
			continue
		}
		if s.State.Ended.IsZero() {
			err = c.endCapture(ctx, s.Kind)
		} else {
			err = c.removeUnneeded(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneChanges removes old changes in short transactions.
func (c *Capturer) pruneChanges(ctx context.Context) error {
	settings := c.config.Settings()
	for range maxPrunes {
		before := time.Now().Add(-settings.Keep)
		hasMore, err := c.config.Store.Prune(ctx, before, settings.MaxSize, pruneLimit)
		if err != nil || !hasMore {
			return err
		}
	}
	return nil
}

// endCapture stores that the capture of a kind has ended. One that waits for an administrator
// remains stopped.
func (c *Capturer) endCapture(ctx context.Context, kind string) error {
	fence := c.heldFence()
	stored, err := c.config.Store.Begin(ctx, kind, fence)
	if err != nil {
		return err
	}
	state := stored.State
	state.Ended = time.Now().UTC()
	if !state.Manual {
		state.Phase = Idle
	}
	return c.config.Store.Save(ctx, kind, fence, state)
}

// removeUnneeded removes a capture that ended too long ago to be continued.
func (c *Capturer) removeUnneeded(ctx context.Context, ended Capture) error {
	if time.Since(ended.State.Ended) <= c.config.Settings().Keep {
		return nil
	}
	c.config.Log.Info("the capture of a kind that was not needed any more is removed", "kind", ended.Kind)
	return c.config.Store.Remove(ctx, ended.Kind)
}

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
	case k.ordered <- how:
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
	list := make([]Status, 0, len(c.captures))
	for _, name := range slices.Sorted(maps.Keys(c.captures)) {
		list = append(list, c.captures[name].status.get())
	}
	return list
}
