package wire

import (
	"encoding/json"
	"time"
)

// Timestamp is a time of the webhook resources. Its JSON has the legacy notation
// /Date(milliseconds+0000)/, as clients of the .NET service expect.
type Timestamp time.Time

// MarshalJSON returns the legacy notation; null for the zero time.
func (m Timestamp) MarshalJSON() ([]byte, error) {
	if time.Time(m).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + LegacyDate(time.Time(m)) + `"`), nil
}

// UnmarshalJSON accepts every form of a date that the service accepts.
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
	parsed, err := time.Parse(DateLayout, date)
	*m = Timestamp(parsed)
	return err
}

// BodyType returns the Content-Type with which the body of an event is sent. Publishers do not
// specify it: it is JSON if the body is valid JSON, and plain text otherwise.
func BodyType(body []byte) string {
	if json.Valid(body) {
		return "application/json; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// Event is a published event.
type Event struct {
	Name        string
	Description string
	Source      string `json:",omitempty"` // SourceCaptured; empty if clients post the event
	Kind        string `json:",omitempty"` // the record kind of a captured event
	Deletes     bool   `json:",omitempty"` // deletions of records are detected
	Before      bool   `json:",omitempty"` // messages have the values before the change
	Coalesced   bool   `json:",omitempty"` // several changes in a short time may be one event
}

// EventBody describes the body of an event.
type EventBody struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema, empty for any body
	Sample      json.RawMessage // a body; the record in it does not exist
}

// SourceCaptured is the Source of events that the service publishes when it finds changed
// records.
const SourceCaptured = "captured"

// EventPost publishes an event.
type EventPost struct {
	EventName string
	Key       string `json:",omitempty"` // the subject of the event, such as the number of a document
	Body      string // delivered unchanged
}

// EventReceipt is the reply to the publication of an event.
type EventReceipt struct {
	EventID  string
	Messages int // one per subscription of the event

	// Replayed is the header Idempotent-Replayed: the event was published by an earlier request with
	// the same idempotency key.
	Replayed bool `json:"-"`
}

// Subscriber receives events. Its RecID is the SubscriberID, which authorizes managing
// its subscriptions.
type Subscriber struct {
	RecID             string
	Name              string
	IsEnabled         bool
	ItemNo            int
	LastSavedDateTime Timestamp
	RowHash           []byte
	Subscriptions     []Subscription `json:",omitempty"`
}

// Header is a custom header of messages. Replies contain its value only in the reply to
// the request that replaced the headers. The service assigns the ID.
type Header struct {
	Name  string
	Value string

	SubscriptionRequestHeaderID string `json:",omitempty"`
}

// Subscription sends events to an address.
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
	FailingSince      Timestamp `json:",omitzero"` // start of uninterrupted failures; left out after a success
	Ordered           bool      // each message waits for the previous one
	OrderedByKey      bool      // each message waits for the previous one with the same key

	// OrderBy is none, subscription (Ordered) or key (OrderedByKey). Lists of all subscriptions
	// do not have it.
	OrderBy       string   `json:",omitempty"`
	RetrySchedule string   `json:",omitempty"` // waits such as 5s, 30s, 2m; empty: the schedule of the settings
	MaxPerMinute  int      `json:",omitempty"` // attempts that may start in a minute; 0: the default of the settings
	Format        string   `json:",omitempty"` // cloudevents or empty; lists of all subscriptions lack it
	Headers       []Header `json:",omitempty"`
	Secret        string   `json:",omitempty"` // only in the reply to its creation

	// Where is an object with the condition on the body of events. It is left out if the caller
	// may not read the records.
	Where json.RawMessage `json:",omitempty"`

	// CapturedFrom is the time from which all values before changes that Where compares are
	// known.
	CapturedFrom Timestamp `json:",omitzero"`

	// SigningSecrets is the number of secrets that sign messages now, including the current one.
	// Lists of all subscriptions do not have it.
	SigningSecrets int `json:",omitempty"`

	// OldSecretsUntil is the end of the use of all replaced secrets. It is left out if none is
	// used.
	OldSecretsUntil Timestamp `json:",omitzero"`

	// Notice describes the changes of records that the subscription does not receive, or does not
	// start the capture of, although its EventName matches their events. Lists of all subscriptions
	// do not have it.
	Notice string `json:",omitempty"`

	// HeldMessages is the number of messages, among the oldest 1,000 that are to be sent, that are
	// held because the owner of the subscription may not read their records. Only administrators see
	// it, and not in lists of all subscriptions.
	HeldMessages int `json:",omitempty"`
}

// StatusWords has the statuses of messages in words, by their numbers.
var StatusWords = [...]string{"not sent", "delivered", "retrying", "failed"}

// MessageState is the reply to a retry or a test.
type MessageState struct {
	MessageID string
	Status    int // 0 not sent, 1 successful, 2 failed and to be retried, 3 failed
	Retries   int

	// Held is the reason why the message is not sent although it is due; empty if it is not held.
	Held string `json:",omitempty"`
}

// MetaHeld is the member of Meta with the reason why a message is held. The reply to a request for
// one message by its MessageID has it.
const MetaHeld = "Held"

// TestRequest is a request for a test message. The service chooses empty members.
type TestRequest struct {
	EventName string `json:",omitempty"` // an event of the subscription
	Body      string `json:",omitempty"` // delivered unchanged
}

// SubscriberRequest creates or updates a subscriber. Nil members are not changed.
type SubscriberRequest struct {
	Name      *string `json:",omitempty"`
	IsEnabled *bool   `json:",omitempty"`
	RowHash   []byte  `json:",omitempty"` // hash of the state on which the change is based
}

// SubscriptionRequest creates or updates a subscription. Nil members are not changed.
type SubscriptionRequest struct {
	URL           *string   `json:",omitempty"`
	EventName     *string   `json:",omitempty"`
	Headers       *[]Header `json:",omitempty"` // replaces all headers
	IsEnabled     *bool     `json:",omitempty"`
	Ordered       *bool     `json:",omitempty"`
	OrderBy       *string   `json:",omitempty"` // none, subscription or key; Ordered is true for subscription
	RetrySchedule *string   `json:",omitempty"`
	MaxPerMinute  *int      `json:",omitempty"` // 0 for the default of the settings
	Format        *string   `json:",omitempty"` // cloudevents adds its headers; empty for none
	RowHash       []byte    `json:",omitempty"`

	// Where is an object with a condition on the body of events; {} for all events.
	Where json.RawMessage `json:",omitempty"`
}

// FormatCloudEvents is the Format of a subscription that adds the headers of CloudEvents to messages.
const FormatCloudEvents = "cloudevents"

// Page is the envelope of a query with rows of type T.
type Page[T any] struct {
	Offset         int64
	Total          int64
	Results        []T
	Meta           map[string]string
	ResponseStatus ResponseStatus
}

// Attempt is a delivery attempt with the details for admins.
type Attempt struct {
	MessageResponse
	Detail     *string // the error, without a response
	AnswerText *string // the first 4 KiB of the response
}
