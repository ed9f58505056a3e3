package wire

import (
	"encoding/json"
	"time"
)

// Timestamp is a time of the webhook resources. JSON has it in the legacy notation
// /Date(milliseconds+0000)/, as clients of the existing service expect.
type Timestamp time.Time

// MarshalJSON writes the legacy notation; the zero time is null.
func (m Timestamp) MarshalJSON() ([]byte, error) {
	if time.Time(m).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + LegacyDate(time.Time(m)) + `"`), nil
}

// UnmarshalJSON reads every form of a date that the service takes.
func (m *Timestamp) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*m = Timestamp{}
		return nil
	}
	var unquoted string
	if err := json.Unmarshal(text, &unquoted); err != nil {
		return errDate
	}
	date, err := ParseDate(unquoted, time.UTC)
	if err != nil {
		return err
	}
	at, err := time.Parse(DateLayout, date)
	*m = Timestamp(at)
	return err
}

// Event is a published event.
type Event struct {
	Name        string
	Description string
}

// EventReceipt answers the raising of an event.
type EventReceipt struct {
	EventID  string
	Messages int // one for each subscription that the event goes to
}

// Subscriber receives events. Its RecID is the SubscriberID, the
// key to its subscriptions.
type Subscriber struct {
	RecID             string
	Name              string
	IsEnabled         bool
	ItemNo            int
	LastSavedDateTime Timestamp
	RowHash           []byte
	Subscriptions     []Subscription `json:",omitempty"`
}

// Header is a header that messages are sent with. A reply never shows its value.
type Header struct {
	Name  string
	Value string
}

// Subscription says which events go to which address.
type Subscription struct {
	RecID             string
	SubscriberID      string `json:"SY_WebhookSubscriber_RecID"`
	EventName         string // a published event, a family such as debtor.*, or *
	URL               string
	ItemNo            int
	LastSavedDateTime Timestamp
	RowHash           []byte
	IsEnabled         bool
	DisabledReason    string    `json:",omitempty"`
	FailingSince      Timestamp `json:",omitzero"` // since when every attempt has failed; left out after a success
	Ordered           bool
	RetrySchedule     string   `json:",omitempty"` // waits such as 5s, 30s, 2m; empty for the settings'
	Headers           []Header `json:",omitempty"`
	Secret            string   `json:",omitempty"` // shown once, when it was made
}

// MessageState answers the wish to send a message again.
type MessageState struct {
	MessageID string
	Status    int // 0 not sent, 1 successful, 2 failed and to be retried, 3 failed
	Retries   int
}

// TestRequest says what a subscription is tried out with. What is empty the
// service chooses.
type TestRequest struct {
	EventName string `json:",omitempty"` // one that the subscription takes, which the message looks like
	Body      string `json:",omitempty"` // delivered byte for byte
}

// SubscriberRequest adds or changes a subscriber. What is nil stays as it is.
type SubscriberRequest struct {
	Name      *string `json:",omitempty"`
	IsEnabled *bool   `json:",omitempty"`
	RowHash   []byte  `json:",omitempty"` // of the state that a change is based on
}

// SubscriptionRequest adds or changes a subscription. What is nil stays as it is.
type SubscriptionRequest struct {
	URL           *string   `json:",omitempty"`
	EventName     *string   `json:",omitempty"`
	Headers       *[]Header `json:",omitempty"` // all of them
	IsEnabled     *bool     `json:",omitempty"`
	Ordered       *bool     `json:",omitempty"`
	RetrySchedule *string   `json:",omitempty"`
	RowHash       []byte    `json:",omitempty"`
}

// Page is the envelope of a query whose rows have a type of their own.
type Page[T any] struct {
	Offset         int64
	Total          int64
	Results        []T
	Meta           map[string]string
	ResponseStatus ResponseStatus
}

// Message is one event on its way to one subscription.
type Message struct {
	ItemNo                      int64
	SubscriberID                string
	SubscriptionID              string
	MessageID                   string
	EventName                   string
	URL                         string
	Body                        string
	Status                      int // as in MessageState
	Retries                     int
	AddedDateTime               Timestamp
	LastSavedDateTime           Timestamp
	LastMessageResponseHTTPCode *int
	LastMessageResponseMessage  string
	NextAttemptDateTime         Timestamp
	MaxRetries                  int
}

// MessageResponse is one attempt to send a message.
type MessageResponse struct {
	MessageItemNo            int64
	SubscriberID             string
	SubscriptionID           string
	MessageID                string
	MessageResponseID        string
	EventName                string
	URL                      string
	Body                     string
	Status                   int // of the message after the attempt
	Retries                  int
	AddedDateTime            Timestamp
	MessageLastSavedDateTime Timestamp
	HTTPCode                 *int   // nil where no answer came
	Message                  string // the reason phrase, or why no answer came
	ItemNo                   int    // the number of the attempt
	LastSavedDateTime        Timestamp
	Duration                 string // such as PT0.0123S
}

// Attempt is one attempt as admins see it.
type Attempt struct {
	MessageResponse
	Detail     *string // the error, where no answer came
	AnswerText *string // the first 4 KiB of an answer
}
