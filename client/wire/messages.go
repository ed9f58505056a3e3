// Code generated from the record kinds by make golden; DO NOT EDIT.

package wire

// Message is the delivery of an event to a subscription.
type Message struct {
	SubscriberID                string
	SubscriptionID              string
	MessageID                   string
	EventName                   string
	URL                         string
	Body                        string
	ItemNo                      int64
	Status                      int // as in MessageState
	Retries                     int
	AddedDateTime               Timestamp
	LastSavedDateTime           Timestamp
	LastMessageResponseHTTPCode *int
	LastMessageResponseMessage  string
	NextAttemptDateTime         Timestamp
	MaxRetries                  int
	Key                         string // the subject of the event; empty for none
}

// MessageResponse is a delivery attempt of a message.
type MessageResponse struct {
	SubscriberID             string
	SubscriptionID           string
	MessageID                string
	MessageResponseID        string
	EventName                string
	URL                      string
	Body                     string
	MessageItemNo            int64
	Status                   int // of the message after the attempt
	Retries                  int
	AddedDateTime            Timestamp
	MessageLastSavedDateTime Timestamp
	HTTPCode                 *int   // nil without a response
	Message                  string // the reason phrase, or the error
	ItemNo                   int    // the number of the attempt
	LastSavedDateTime        Timestamp
	Duration                 string // such as PT0.0123S
}
