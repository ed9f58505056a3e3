package webhook

import "time"

// Status is how far a message has come, by the numbers of interface.md.
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
// the subscription had when the event was published, and the right to reach it.
type Message struct {
	ID           int64 // grows with time; also its ItemNo
	GUID         string
	Event        *Event
	Partition    int64 // whose holder may send it
	Subscription int64
	URL          string
	MadeByAdmin  bool // an admin gave the URL: private addresses are allowed
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

// Change is what became of one message: it was made, attempted, made due by a
// person, or deleted. The live stream shows changes.
type Change struct {
	Message      string // its GUID
	Subscriber   string // GUID
	Subscription string // GUID
	Event        string // its name
	Status       Status
	Retries      int
	Next         time.Time     // when the next attempt is due, the zero time for none
	Code         int           // of the last attempt's answer, 0 where there was none
	Took         time.Duration // of the attempt; 0 where the change is none
	At           time.Time
	Deleted      bool
}

// NewChange is what became of a message, without its subscription.
func NewChange(m *Message, is State, at time.Time) Change {
	c := Change{Message: m.GUID, Event: m.Event.Name, Status: is.Status, Retries: is.Retries(), At: at}
	if is.Status.Open() {
		c.Next = is.Next
	}
	return c
}

// ChangeOf is what became of a message by its present state.
func (s *Snapshot) ChangeOf(m *Message, is State, at time.Time) Change {
	c := NewChange(m, is, at)
	if sub := s.Subscription(m.Subscription); sub != nil {
		c.Subscriber, c.Subscription = sub.Subscriber, sub.GUID
	}
	return c
}
