package live

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/webhook"
)

// ringSize is how many changes are kept for readers that come back, and how far
// one may fall behind.
const ringSize = 10_000

// batchSize is how many changes a reader gets at once, which is less than what
// goes to a connection in one piece.
const batchSize = 64

// ring keeps the last changes by their numbers, which begin at 1.
type ring struct {
	changes []webhook.Change // by slot; made when the first change comes
	last    uint64
}

// slot is the place of a change in a ring.
func slot(number uint64) int { return int((number - 1) % ringSize) }

func (r *ring) add(changes []webhook.Change) {
	if r.changes == nil {
		r.changes = make([]webhook.Change, ringSize)
	}
	for i := range changes {
		r.last++
		r.changes[slot(r.last)] = changes[i]
	}
}

// holds reports whether all that follows a change is still there.
func (r *ring) holds(after uint64) bool { return after <= r.last && r.last-after <= ringSize }

// frames are changes as readers get them. Each is encoded once, by the first
// reader that comes to it, while whoever publishes goes on.
type frames struct {
	mu     sync.Mutex
	bySlot []frame // by slot
}

type frame struct {
	number uint64
	text   []byte
}

// numbered is a change that waits to be encoded.
type numbered struct {
	number uint64
	change webhook.Change
}

// readFrames appends the frames of the changes that follow one, no more than a
// batch of them. It gives the number of the last of them, and whether there are
// more. Its error is ErrBehind, with the number of the last change of all.
func (h *Hub) readFrames(dst []byte, after uint64) (out []byte, last uint64, more bool, err error) {
	f := &h.frames
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bySlot == nil {
		f.bySlot = make([]frame, ringSize)
	}
	missing, last, more, err := h.copyMissing(after)
	if err != nil {
		return dst, last, false, err
	}
	texts := make([]byte, 0, len(missing)*frameSize)
	for _, m := range missing {
		start := len(texts)
		texts = appendEvent(texts, h.id(m.number), wire.EventMessage, encode(&m.change))
		f.bySlot[slot(m.number)] = frame{m.number, texts[start:len(texts):len(texts)]}
	}
	for n := after + 1; n <= last; n++ {
		dst = append(dst, f.bySlot[slot(n)].text...)
	}
	return dst, last, more, nil
}

// frameSize is about what a frame takes.
const frameSize = 384

// copyMissing copies the changes of the next batch that have no frame yet.
func (h *Hub) copyMissing(after uint64) (missing []numbered, last uint64, more bool, err error) {
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

// encode is a change as JSON on one line.
func encode(c *webhook.Change) []byte {
	shown := wire.MessageChange{
		MessageID: c.Message, SubscriberID: c.Subscriber, SubscriptionID: c.Subscription, EventName: c.Event,
		Status: int(c.Status), Retries: c.Retries, NextAttemptDateTime: wire.Moment(c.Next),
		Duration: wire.TimeSpan(c.Took), At: wire.Moment(c.At), Deleted: c.Deleted,
	}
	if c.Code != 0 {
		shown.HTTPCode = &c.Code
	}
	text, err := json.Marshal(shown)
	if err != nil {
		panic("live: " + err.Error()) // there is nothing in it that JSON has not
	}
	return text
}

// id is the id of a change.
func (h *Hub) id(number uint64) string { return h.epoch + "-" + strconv.FormatUint(number, 10) }

// Why a stream cannot go on where it was cut.
const (
	resetUnknownID   = "what has happened since is not known: the service was started anew, or another one answers, or nobody has watched for a while"
	resetOverrun     = "more has happened since than the service remembers"
	resetPeersJoined = "from here on the changes of other daemons are shown too"
	resetSlow        = "more happens than this reader can follow"
)

// resume finds the change behind which a stream goes on. Where it cannot show
// everything that followed the id, lost says why.
func (h *Hub) resume(topics Topics, id string) (cursor uint64, resetReason string) {
	if id == "" || !topics.Has(Messages) {
		return h.ring.last, ""
	}
	epoch, digits, _ := strings.Cut(id, "-")
	after, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err != nil || epoch != h.epoch || after > h.ring.last:
		return h.ring.last, resetUnknownID
	case !h.ring.holds(after):
		return h.ring.last, resetOverrun
	}
	return after, ""
}
