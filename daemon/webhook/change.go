package webhook

import "time"

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
