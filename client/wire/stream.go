package wire

import (
	"encoding/json"
	"time"
)

// MediaEventStream is the media type of a live stream.
const MediaEventStream = "text/event-stream"

// HeaderLastEventID is the header that resumes a live stream.
const HeaderLastEventID = "Last-Event-ID"

// Topics of a live stream.
const (
	TopicMessages = "messages" // changes of messages
	TopicStats    = "stats"    // delivery statistics
	TopicRequests = "requests" // handled requests
)

// Names of a live stream's events.
const (
	EventMessage   = "message"   // a MessageChange
	EventStats     = "stats"     // delivery statistics
	EventRequest   = "request"   // a HandledRequest
	EventHeartbeat = "heartbeat" // a Heartbeat
	EventReset     = "reset"     // a Reset
)

// MessageChange is a change of a message. It is sent with the topic messages.
type MessageChange struct {
	MessageID           string
	SubscriberID        string
	SubscriptionID      string
	EventName           string
	Status              int       // 0 not sent, 1 successful, 2 failed and to be retried, 3 failed
	Retries             int       // attempts after the first
	NextAttemptDateTime Timestamp // null if there is none
	HTTPCode            *int      // status code of the attempt, null without a response
	Duration            TimeSpan  // duration of the attempt, null if the change is not an attempt
	At                  Timestamp // time of the change
	Deleted             bool      `json:",omitempty"` // the message was deleted
}

// HandledRequest is a request that the service has handled. It is sent with the topic
// requests.
type HandledRequest struct {
	At                   Timestamp
	Method               string
	PathInfo             string // masked as in the request log
	StatusCode           int
	DurationMilliseconds float64
	UserName             string `json:",omitempty"` // name of the caller, if known
	RequestID            string
}

// Heartbeat shows that the stream is alive and has the time of the service.
type Heartbeat struct {
	At Timestamp
}

// Reset means that the stream has missed changes: the client must reload the data
// that it updates by events.
type Reset struct {
	Reason string // human-readable
}

// TimeSpan is a duration. Its JSON is an ISO 8601 duration such as "PT0.0123S", with a
// resolution of 100 nanoseconds; zero is null.
type TimeSpan time.Duration

// tick is the unit of AppendTimeSpan.
const tick = time.Second / ticksPerSecond

// MarshalJSON returns a string such as "PT0.0123S"; null for zero.
func (s TimeSpan) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	text := AppendTimeSpan([]byte{'"'}, int64(time.Duration(s)/tick))
	return append(text, '"'), nil
}

// UnmarshalJSON accepts every form of a time span that the service accepts.
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
