package wire

import (
	"encoding/json"
	"time"
)

// MediaEventStream is the media type of a live stream.
const MediaEventStream = "text/event-stream"

// HeaderLastEventID is the header that resumes a live stream.
const HeaderLastEventID = "Last-Event-ID"

// The topics of a live stream.
const (
	TopicMessages = "messages" // what becomes of messages
	TopicStats    = "stats"    // figures of the delivery
	TopicRequests = "requests" // requests that the service has answered
)

// The names of a live stream's events.
const (
	EventMessage   = "message"   // a MessageChange
	EventStats     = "stats"     // figures of the delivery
	EventRequest   = "request"   // an AnsweredRequest
	EventHeartbeat = "heartbeat" // a Heartbeat
	EventReset     = "reset"     // a Reset
)

// MessageChange is what became of one message, of the topic messages.
type MessageChange struct {
	MessageID           string
	SubscriberID        string
	SubscriptionID      string
	EventName           string
	Status              int // as in MessageState
	Retries             int
	NextAttemptDateTime Timestamp // null where there is none
	HTTPCode            *int      // of the attempt, null where no answer came
	Duration            TimeSpan  // of the attempt, null where the change is none
	At                  Timestamp
	Deleted             bool `json:",omitempty"`
}

// AnsweredRequest is one request that the service has answered, of the topic
// requests.
type AnsweredRequest struct {
	At                   Timestamp
	Method               string
	PathInfo             string // masked as in the request log
	StatusCode           int
	DurationMilliseconds float64
	UserName             string `json:",omitempty"` // of who asked, where that is known
	RequestID            string
}

// Heartbeat says that the stream is alive, and what time it is at the service.
type Heartbeat struct {
	At Timestamp
}

// Reset says that the stream has not shown every change: what was read before
// has to be read again.
type Reset struct {
	Reason string // for people
}

// TimeSpan is a duration. JSON has it as AppendTimeSpan writes it, exact to 100
// nanoseconds.
type TimeSpan time.Duration

// tick is the unit of AppendTimeSpan.
const tick = time.Second / ticksPerSecond

// MarshalJSON writes a text such as "PT0.0123S"; none at all is null.
func (s TimeSpan) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	text := AppendTimeSpan([]byte{'"'}, int64(time.Duration(s)/tick))
	return append(text, '"'), nil
}

// UnmarshalJSON reads every form of a time span that the service takes.
func (s *TimeSpan) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = 0
		return nil
	}
	var unquoted string
	if err := json.Unmarshal(text, &unquoted); err != nil {
		return errTimeSpan
	}
	ticks, err := ParseTimeSpan(unquoted)
	if err != nil {
		return err
	}
	if ticks > int64(maxSpan/tick) || ticks < -int64(maxSpan/tick) {
		return errTimeSpan
	}
	*s = TimeSpan(ticks) * TimeSpan(tick)
	return nil
}

// maxSpan is the longest time.Duration, some 292 years.
const maxSpan = time.Duration(1<<63 - 1)
