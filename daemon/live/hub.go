// Package live shows what happens as it happens. A Hub keeps the last changes
// of messages and serves readers, each of which follows them at a pace of its
// own: whoever publishes never waits for one.
package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// MaxReaders is how many there may be at a time.
const MaxReaders = 64

// Config is what a Hub works with. Its zero value is that of a daemon alone.
type Config struct {
	Shared bool          // changes of other daemons are published only while the hub is watched
	Check  time.Duration // between two looks at a reader's right to read; 15 s where zero
}

// Why a reader ends.
var (
	ErrFull    = errors.New("live: there are as many readers as there may be")
	ErrClosed  = errors.New("live: the hub is closed")
	ErrBehind  = errors.New("live: the reader is too slow for what happens")
	ErrStalled = errors.New("live: the reader's connection takes nothing")
)

// Hub hands out what is published. Any number of goroutines may use it.
type Hub struct {
	config Config
	epoch  string // in the ids of changes: those of another one cannot be resumed
	frames frames

	wanted   atomic.Uint32             // the topics that are read
	lastRead atomic.Pointer[time.Time] // when messages were last read, where no reader of them is left; nil for never

	ctx    context.Context // done once the hub is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu             sync.Mutex
	ring           ring
	readers        []*Reader
	counts         Counts
	statsSource    func() (any, bool) // what Measure was given
	statsRequested bool               // somebody reads stats who has got none
	stopStats      context.CancelFunc // not nil while somebody reads stats
}

// Counts are figures about readers, of which all but the first only grow.
type Counts struct {
	Readers int
	Behind  int64 // dropped because they were too slow
	Stalled int64 // dropped because their connection took nothing
	Refused int64 // turned away because there were too many
	Skipped int64 // events without an id that a slow reader was not given
}

// New makes a Hub. Close ends it.
func New(c Config) *Hub {
	if c.Check == 0 {
		c.Check = heartbeatInterval
	}
	h := &Hub{config: c, epoch: newEpoch()}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func newEpoch() string { return strings.ToLower(rand.Text()[:10]) }

// Publish takes changes over, in the order in which they were made. It copies
// them and does not wait for anybody.
func (h *Hub) Publish(changes []webhook.Change) {
	if len(changes) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring.add(changes)
	for _, r := range h.readers {
		r.notify()
	}
}

// Counts tells how many readers there are and what became of others.
func (h *Hub) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := h.counts
	counts.Readers = len(h.readers)
	return counts
}

func (h *Hub) count(update func(*Counts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	update(&h.counts)
}

// Close ends all readers and lets nobody in any more. What is published later
// is still taken. It may be called again.
func (h *Hub) Close() {
	h.mu.Lock()
	h.cancel()
	h.updateTopics()
	h.mu.Unlock()
	h.tasks.Wait()
}

// join lets a reader in, behind the change with an id, or behind the last one.
func (h *Hub) join(r *Reader, lastID string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ctx.Err() != nil:
		return ErrClosed
	case len(h.readers) == MaxReaders:
		h.counts.Refused++
		return ErrFull
	}
	h.readers = append(h.readers, r)
	h.statsRequested = h.statsRequested || r.topics.Has(Stats)
	h.updateTopics()
	r.cursor, r.resetReason = h.resume(r.topics, lastID)
	return nil
}

func (h *Hub) leave(r *Reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers = slices.DeleteFunc(h.readers, func(one *Reader) bool { return one == r })
	h.updateTopics()
}

// updateTopics follows what is wanted, once readers have come or gone.
func (h *Hub) updateTopics() {
	var all Topics
	for _, r := range h.readers {
		all |= r.topics
	}
	now := time.Now()
	left := &now
	switch read := all.Has(Messages); {
	case h.ctx.Err() != nil:
		all, left = 0, nil
	case read && !h.Watched() && h.config.Shared:
		h.epoch = newEpoch() // what others did meanwhile is missing
	case !read && !h.Wanted(Messages):
		left = h.lastRead.Load()
	}
	h.lastRead.Store(left)
	h.wanted.Store(uint32(all))
	h.setStatsRunning(all.Has(Stats))
}

// Wanted reports whether somebody reads a topic.
func (h *Hub) Wanted(topic Topics) bool { return Topics(h.wanted.Load()).Has(topic) }

// Open makes a Reader of some topics, which Run serves. Behind lastID, the id of
// the last event that somebody got, nothing is left out; empty is from now on.
// Its errors are ErrFull and ErrClosed.
func (h *Hub) Open(topics Topics, lastID string) (*Reader, error) {
	r := &Reader{hub: h, topics: topics, wake: make(chan struct{}, 1), broadcasts: make(chan []byte, broadcastBuffer)}
	if err := h.join(r, lastID); err != nil {
		return nil, err
	}
	r.notify()
	return r, nil
}

// watchedGrace is how long a hub counts as watched after its last reader of messages
// has gone. Most that were cut off are back by then.
const watchedGrace = time.Minute

// Watched reports whether messages are read, or were a minute ago.
func (h *Hub) Watched() bool {
	left := h.lastRead.Load()
	return h.Wanted(Messages) || left != nil && time.Since(*left) < watchedGrace
}

// PeersJoined says that from now on the changes of other daemons are published too.
// Readers that began before get a reset, since they have missed some.
func (h *Hub) PeersJoined() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.readers {
		r.peersJoined = true
		r.notify()
	}
}

// Topics is a set of what a stream may be about.
type Topics uint8

// The topics.
const (
	Messages Topics = 1 << iota
	Stats
	Requests
)

// defaultTopics is what a stream is about whose reader does not say.
const defaultTopics = Messages | Stats

// topicNames are their names, in the same order.
var topicNames = []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}

// Has reports whether a topic is in the set.
func (t Topics) Has(topic Topics) bool { return t&topic != 0 }

// ParseTopics reads names separated by commas, in any letter case. No name at
// all means messages and stats.
func ParseTopics(text string) (Topics, error) {
	var all Topics
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		i := slices.IndexFunc(topicNames, func(one string) bool { return strings.EqualFold(one, name) })
		if i < 0 {
			return 0, fmt.Errorf("must be of %s", strings.Join(topicNames, ", "))
		}
		all |= 1 << i
	}
	if all == 0 {
		all = defaultTopics
	}
	return all, nil
}
