package webhook

import "time"

// Status says where a message stands, by the numbers of interface.md.
type Status uint8

// The statuses.
const (
	NotSent Status = iota
	Successful
	RetryPending
	Failed
)

// Open reports whether attempts may follow.
func (s Status) Open() bool { return s == NotSent || s == RetryPending }

// Event is something that happened in the business. Its body is stored once,
// however many messages carry it.
type Event struct {
	ID      int64  // grows with time
	GUID    string // outside the service
	Name    string
	Body    []byte // sent byte for byte
	Size    int    // of the body, in bytes, where that was not read
	AddedAt time.Time
}

// Message is one event on its way to one subscription. It keeps the URL that
// the subscription had when the event was raised, and the right to reach it.
type Message struct {
	ID           int64 // grows with time; also its ItemNo
	GUID         string
	Event        *Event
	Partition    int64 // whose holder may send it
	Subscription int64
	URL          string
	Private      bool // an admin gave the URL: private addresses are allowed
	State
}

// State is what attempts change of a message.
type State struct {
	Status   Status
	Attempts int       // begun so far
	Next     time.Time // when the next attempt is due, while it is open
}

// Retries is the number of attempts after the first.
func (s State) Retries() int { return max(0, s.Attempts-1) }
