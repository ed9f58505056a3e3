package webhook

import (
	"fmt"
	"time"
)

// Status is the delivery status of a message, with the numbers of interface.md.
type Status uint8

// The statuses.
const (
	NotSent Status = iota
	Successful
	RetryPending
	Failed
)

// Open reports whether more attempts may follow.
func (s Status) Open() bool { return s == NotSent || s == RetryPending }

// Event is a published event. Its body is stored once for all of its messages.
type Event struct {
	ID      int64  // ascending with time
	GUID    string // public ID
	Name    string
	Key     string // subject of the event; empty for none
	Body    []byte // sent byte for byte
	Size    int    // size of the body in bytes, if the body was not read
	AddedAt time.Time
}

// Message is one event for one subscription. Each attempt goes to the URL that the subscription
// has then. The message keeps the URL of its last attempt.
type Message struct {
	ID           int64  // ascending with time; it is also the ItemNo
	GUID         string // starts with GUIDTime of the event's AddedAt, unless it was imported
	Event        *Event
	Partition    int64 // sent by the daemon that holds its lease
	Subscription int64
	URL          string // address of the last attempt; before the first attempt, the subscription's at publication
	MadeByAdmin  bool   // Subscription.MadeByAdmin at publication: read only by older programs
	State
}

// NewMessage returns the message of an event for a subscription, as it is before its first
// attempt. The store sets its ID.
func NewMessage(guid string, event *Event, subscription *Subscription, partition int64) *Message {
	return &Message{
		GUID:         guid,
		Event:        event,
		Partition:    partition,
		Subscription: subscription.ID,
		URL:          subscription.URL,
		MadeByAdmin:  subscription.MadeByAdmin,
		State:        State{Next: event.AddedAt},
	}
}

// GUIDTime returns the first characters of the GUIDs of messages that are added in the same
// millisecond. They grow with time, so that the index on the GUIDs finds messages by time.
func GUIDTime(added time.Time) string {
	text := fmt.Sprintf("%012x", added.UnixMilli())
	return text[:8] + "-" + text[8:]
}

// State is the part of a message that attempts change.
type State struct {
	Status   Status
	Attempts int       // attempts started so far
	Next     time.Time // when the next attempt is due, while the status is open
	Replay   bool      // it was delivered before and is sent once more; then it is delivered again
}

// Retries returns the number of attempts after the first.
func (s State) Retries() int { return max(0, s.Attempts-1) }

// Change is a change of one message: it was created, attempted, made due or deleted.
// Live streams show changes.
type Change struct {
	Message      string // its GUID
	Subscriber   string // GUID
	Subscription string // GUID
	Event        string // its name
	Status       Status
	Retries      int
	Next         time.Time     // when the next attempt is due, zero for none
	Code         int           // status code of the last attempt, 0 without a response
	Took         time.Duration // duration of the attempt; 0 if the change is not an attempt
	At           time.Time
	Deleted      bool
}

// NewChange returns the change to a message's new state, without its subscription.
func NewChange(m *Message, state State, at time.Time) Change {
	c := Change{Message: m.GUID, Event: m.Event.Name, Status: state.Status, Retries: state.Retries(), At: at}
	if state.Status.Open() {
		c.Next = state.Next
	}
	return c
}

// ChangeOf returns the change to a message's new state.
func (s *Snapshot) ChangeOf(m *Message, state State, at time.Time) Change {
	c := NewChange(m, state, at)
	if sub := s.Subscription(m.Subscription); sub != nil {
		c.Subscriber, c.Subscription = sub.Subscriber, sub.GUID
	}
	return c
}
