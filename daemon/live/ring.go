package live

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// ringSize is the number of changes kept for readers that reconnect or fall behind.
const ringSize = 10_000

// batchSize is the maximum number of changes sent to a reader at a time. A batch is
// smaller than a single write to a connection.
const batchSize = 64

// ring holds the last changes, numbered from 1.
type ring struct {
	changes []webhook.Change // by slot; allocated for the first change
	last    uint64           // number of the last change; 0 for none
}

// slot returns the index of a change.
func slot(number uint64) int { return int((number - 1) % ringSize) }

// add adds changes in their order, and replaces the oldest ones.
func (r *ring) add(changes []webhook.Change) {
	if r.changes == nil {
		r.changes = make([]webhook.Change, ringSize)
	}
	for i := range changes {
		r.last++
		r.changes[slot(r.last)] = changes[i]
	}
}

// holds reports whether all changes after the given one are still in the ring.
func (r *ring) holds(after uint64) bool { return after <= r.last && r.last-after <= ringSize }

// frames are changes in the format of the stream. Each is encoded once, by the first
// reader that needs it, without blocking publishers.
type frames struct {
	mu     sync.Mutex
	bySlot []frame // by slot
}

// frame is one encoded change.
type frame struct {
	number uint64 // number of the change; 0 for an empty slot
	text   []byte
}

// numbered is a change to be encoded.
type numbered struct {
	number uint64
	change webhook.Change
}

// readFrames appends the frames of at most batchSize changes after the given one. It
// returns the number of the last appended change and whether there are more. It returns
// ErrBehind, with the number of the latest change, if the ring no longer has them.
func (h *Hub) readFrames(dst []byte, after uint64) (out []byte, last uint64, hasMore bool, err error) {
	f := &h.frames
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bySlot == nil {
		f.bySlot = make([]frame, ringSize)
	}
	missing, last, hasMore, err := h.copyMissing(after)
	if err != nil {
		return dst, last, false, err
	}
	texts := make([]byte, 0, len(missing)*frameSize)
	for _, m := range missing {
		start := len(texts)
		texts = appendEvent(texts, h.id(m.number), wire.EventMessage, encode(&m.change))
		f.bySlot[slot(m.number)] = frame{number: m.number, text: texts[start:len(texts):len(texts)]}
	}
	for n := after + 1; n <= last; n++ {
		dst = append(dst, f.bySlot[slot(n)].text...)
	}
	return dst, last, hasMore, nil
}

// frameSize is the approximate size of a frame in bytes.
const frameSize = 384

// copyMissing copies the changes of the next batch that are not encoded yet.
func (h *Hub) copyMissing(after uint64) (missing []numbered, last uint64, hasMore bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ring.holds(after) {
		return nil, h.ring.last, false, ErrBehind
	}
	last = min(after+batchSize, h.ring.last)
	for n := after + 1; n <= last; n++ {
		if h.frames.bySlot[slot(n)].number != n {
			missing = append(missing, numbered{n, h.ring.changes[slot(n)]})
		}
	}
	return missing, last, last < h.ring.last, nil
}

// encode encodes a change as JSON on one line.
func encode(c *webhook.Change) []byte {
	shown := wire.MessageChange{
		MessageID:           c.Message,
		SubscriberID:        c.Subscriber,
		SubscriptionID:      c.Subscription,
		EventName:           c.Event,
		Status:              int(c.Status),
		Retries:             c.Retries,
		NextAttemptDateTime: wire.Timestamp(c.Next),
		Duration:            wire.TimeSpan(c.Took),
		At:                  wire.Timestamp(c.At),
		Deleted:             c.Deleted,
	}
	if c.Code != 0 {
		shown.HTTPCode = &c.Code
	}
	text, err := json.Marshal(shown)
	if err != nil {
		panic("live: " + err.Error()) // the type has no values that cannot be encoded
	}
	return text
}

// id returns the event ID of a change.
func (h *Hub) id(number uint64) string { return h.epoch + "-" + strconv.FormatUint(number, 10) }

// Reasons why a stream cannot be resumed.
const (
	resetUnknownID   = "changes since then are unknown: the service was restarted or replaced, or there was no reader for a while"
	resetOverrun     = "there were more changes since then than the service keeps"
	resetPeersJoined = "changes of other daemons are included from here on"
	resetSlow        = "the reader is too slow for the number of changes"
)

// resume returns the change after which a stream continues. If changes after the given
// ID are missing, resetReason is not empty.
func (h *Hub) resume(topics Topics, id string) (cursor uint64, resetReason string) {
	if id == "" || !topics.Has(Messages) {
		return h.ring.last, ""
	}
	epoch, digits, _ := strings.Cut(id, "-")
	after, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || epoch != h.epoch || after > h.ring.last {
		return h.ring.last, resetUnknownID
	}
	if !h.ring.holds(after) {
		return h.ring.last, resetOverrun
	}
	return after, ""
}
