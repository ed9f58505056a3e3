package delivery

import (
	"errors"
	"hash/fnv"
	"time"

	"github.com/bizhook/whd/daemon/webhook/condition"
)

// Captured is a group of changes of one record kind with their events. A batch stores all
// of them or none.
type Captured struct {
	Kind    string
	Fence   int64            // fence of the kind's capture
	Known   condition.Change // facts known about all of these changes
	Changes []CapturedChange
	AddedAt time.Time // set by PublishCaptured
}

// CapturedChange is a change with its event.
type CapturedChange struct {
	ID      int64 // ascending without gaps; the first must be the next number of the kind
	Op      string
	Key     string
	Event   string // name of the event; empty to publish none
	EventID int64  // set by the engine: of the stored event, 0 if it has no messages
	Body    []byte // JSON, of the change and of the event

	// The entry of the shadow, see changes.Entry: its number, key and, encoded, the rest.
	Number    int64 // 0 if the shadow has no entry of the row
	ShadowKey []byte
	Entry     []byte
	Deleted   bool
}

// MaxCaptured is the maximum number of changes of a group.
const MaxCaptured = 256

// KeyHash returns the number by which a shadow finds the entry of a key. It is stored.
func KeyHash(key []byte) int64 {
	h := fnv.New64a()
	h.Write(key)
	return int64(h.Sum64())
}

// ErrCaptureLost means that another daemon captures the kind, or that its position differs from the
// group's: read the state again.
var ErrCaptureLost = errors.New("the capture of the kind was lost")
