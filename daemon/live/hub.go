// Package live streams changes to readers. A Hub keeps the last changes of messages;
// each reader follows them at its own pace, and publishers never wait for a reader.
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

// MaxReaders is the maximum number of concurrent readers.
const MaxReaders = 64

// Config configures a Hub. The zero value suits a single daemon without statistics.
type Config struct {
	Shared bool          // changes of other daemons are only published while the hub is watched
	Check  time.Duration // interval of checking a reader's permission; 15 s if zero

	// Stats is the source of stats events; nil for none. While there are readers of stats, it is
	// called once a second. Its data is broadcast if it has changed, or if a reader has joined.
	Stats func() (data any, changed bool)
}

// Errors that end a reader.
var (
	ErrFull    = errors.New("live: too many readers")
	ErrClosed  = errors.New("live: the hub is closed")
	ErrBehind  = errors.New("live: the reader is too slow")
	ErrStalled = errors.New("live: the reader's connection is stalled")
)

// Hub distributes published changes to readers. It is safe for concurrent use.
type Hub struct {
	config Config
	epoch  string // part of the IDs of changes: IDs of another epoch cannot be resumed
	frames frames

	wanted   atomic.Uint32             // topics that are being read
	lastRead atomic.Pointer[time.Time] // when messages were last read; nil for never

	ctx    context.Context // done once the hub is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu             sync.Mutex
	ring           ring
	readers        []*Reader
	counts         Counts
	statsRequested bool               // a reader of stats has joined and has not received any yet
	stopStats      context.CancelFunc // not nil while there are readers of stats
}

// Counts holds the number of current readers and cumulative counts.
type Counts struct {
	Readers int
	Behind  int64 // readers dropped because they were too slow
	Stalled int64 // readers dropped because their connection was stalled
	Refused int64 // readers rejected because there were too many
	Skipped int64 // broadcasts that slow readers missed
}

// New returns a Hub. It must be closed.
func New(c Config) *Hub {
	if c.Check == 0 {
		c.Check = heartbeatInterval
	}
	h := &Hub{config: c, epoch: newEpoch()}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// newEpoch returns a random epoch.
func newEpoch() string { return strings.ToLower(rand.Text()[:10]) }

// Publish publishes changes in the order in which they were made. It copies them and
// does not block.
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

// Counts returns counts of readers.
func (h *Hub) Counts() Counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := h.counts
	counts.Readers = len(h.readers)
	return counts
}

// count updates the counts of readers.
func (h *Hub) count(update func(*Counts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	update(&h.counts)
}

// Close ends all readers and rejects new ones. Publish may still be called. Close may
// be called repeatedly.
func (h *Hub) Close() {
	h.mu.Lock()
	h.cancel()
	h.updateTopics()
	h.mu.Unlock()
	h.tasks.Wait()
}

// join adds a reader that continues after the change with the given ID, or after the
// latest change.
func (h *Hub) join(r *Reader, lastID string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return ErrClosed
	}
	if len(h.readers) == MaxReaders {
		h.counts.Refused++
		return ErrFull
	}
	h.readers = append(h.readers, r)
	h.statsRequested = h.statsRequested || r.topics.Has(Stats)
	h.updateTopics()
	r.cursor, r.resetReason = h.resume(r.topics, lastID)
	return nil
}

// leave removes a reader.
func (h *Hub) leave(r *Reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers = slices.DeleteFunc(h.readers, func(other *Reader) bool { return other == r })
	h.updateTopics()
}

// updateTopics updates the topics that are read after readers joined or left. The lock
// is held.
func (h *Hub) updateTopics() {
	var topics Topics
	for _, r := range h.readers {
		topics |= r.topics
	}
	now := time.Now()
	lastRead := &now
	isRead := topics.Has(Messages)
	hasGap := isRead && !h.Watched() && h.config.Shared
	switch {
	case h.ctx.Err() != nil:
		topics = 0
		lastRead = nil
	case hasGap:
		h.epoch = newEpoch() // changes of other daemons are missing in between
	case !isRead && !h.Wanted(Messages):
		lastRead = h.lastRead.Load()
	}
	h.lastRead.Store(lastRead)
	h.wanted.Store(uint32(topics))
	h.setStatsRunning(topics.Has(Stats))
}

// Wanted reports whether a topic is being read.
func (h *Hub) Wanted(topic Topics) bool { return Topics(h.wanted.Load()).Has(topic) }

// Open returns a Reader of the given topics, to be served by Run. It continues without
// gaps after lastID, the ID of the last event received; empty starts now. It returns
// ErrFull or ErrClosed.
func (h *Hub) Open(topics Topics, lastID string) (*Reader, error) {
	r := &Reader{
		hub:        h,
		topics:     topics,
		wake:       make(chan struct{}, 1),
		broadcasts: make(chan []byte, broadcastBuffer),
	}
	if err := h.join(r, lastID); err != nil {
		return nil, err
	}
	r.notify()
	return r, nil
}

// watchedGrace is how long a hub counts as watched after the last reader of messages
// has left, so that most readers can reconnect.
const watchedGrace = time.Minute

// Watched reports whether messages are being read or were within the last minute.
func (h *Hub) Watched() bool {
	if h.Wanted(Messages) {
		return true
	}
	lastRead := h.lastRead.Load()
	return lastRead != nil && time.Since(*lastRead) < watchedGrace
}

// PeersJoined reports that changes of other daemons are published from now on. Current
// readers get a reset, since they have missed some.
func (h *Hub) PeersJoined() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.readers {
		r.peersJoined = true
		r.notify()
	}
}

// Topics is a set of topics of a stream.
type Topics uint8

// The topics.
const (
	Messages Topics = 1 << iota
	Stats
	Requests
)

// defaultTopics are the topics of a stream that does not specify any.
const defaultTopics = Messages | Stats

// topicNames are the names of the topics, in the same order.
var topicNames = []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}

// Has reports whether a topic is in the set.
func (t Topics) Has(topic Topics) bool { return t&topic != 0 }

// ParseTopics parses comma-separated names, ignoring case. Without a name it returns
// messages and stats.
func ParseTopics(text string) (Topics, error) {
	var topics Topics
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		isName := func(topic string) bool { return strings.EqualFold(topic, name) }
		i := slices.IndexFunc(topicNames, isName)
		if i < 0 {
			return 0, fmt.Errorf("must be of %s", strings.Join(topicNames, ", "))
		}
		topics |= 1 << i
	}
	if topics == 0 {
		topics = defaultTopics
	}
	return topics, nil
}
