package webhook

import (
	"time"

	"github.com/bizhook/whd/client/record"
)

// The types below are the bodies of the events that the service publishes about itself. They
// contain neither the SubscriberID nor the URL, which are secrets of the subscriber. The tag help
// describes a member in /openapi.json and in the types for receivers; the manual has the same texts.

// SubscriptionDisabledBody is the body of record.SubscriptionDisabled.
type SubscriptionDisabledBody struct {
	SubscriptionID   string    `help:"RecID of the subscription"`
	EventName        string    `help:"event or pattern of the subscription"`
	Reason           string    `help:"why it was disabled"`
	DisabledDateTime time.Time `help:"when it was disabled"`
}

// MessageFailedBody is the body of record.MessageFailed.
type MessageFailedBody struct {
	SubscriptionID string    `help:"RecID of the subscription"`
	SubscriberName string    `help:"name of the subscriber"`
	EventName      string    `help:"event of the message"`
	MessageID      string    `help:"ID of the message: its header webhook-id"`
	EventID        string    `help:"EventID of the event of the message"`
	Key            string    `json:",omitempty" help:"Key of that event; left out if it has none"`
	HTTPCode       int       `json:",omitempty" help:"status of the last response; left out without one"`
	Reason         string    `help:"why the last attempt failed"`
	Attempts       int       `help:"number of attempts"`
	OtherMessages  int       `json:",omitempty" help:"number of other messages that have failed since the last event; left out for 0"`
	At             time.Time `help:"when the message failed"`
}

// EndpointFailingBody is the body of record.EndpointFailing.
type EndpointFailingBody struct {
	SubscriptionID string    `help:"RecID of the subscription"`
	SubscriberName string    `help:"name of the subscriber"`
	EventName      string    `help:"event or pattern of the subscription"`
	HTTPCode       int       `json:",omitempty" help:"status of the last response; left out without one"`
	Reason         string    `help:"why the last attempt failed"`
	FailingSince   time.Time `json:",omitzero" help:"when the first attempt failed; left out if another daemon has just delivered a message"`
	At             time.Time `help:"when the event was published"`
}

// EndpointRecoveredBody is the body of record.EndpointRecovered.
type EndpointRecoveredBody struct {
	SubscriptionID string    `help:"RecID of the subscription"`
	SubscriberName string    `help:"name of the subscriber"`
	EventName      string    `help:"event or pattern of the subscription"`
	At             time.Time `help:"when the event was published"`
}

// Values of the samples.
const (
	sampleSubscription = "00000000-0000-0000-0000-000000000001"
	sampleMessage      = "00000000-0000-0000-0000-000000000002"
	sampleEvent        = "00000000-0000-0000-0000-000000000003"
	sampleSubscriber   = "Web shop"
)

// ServiceBodies returns a sample of the body of each event that the service publishes about itself,
// by the name of the event.
func ServiceBodies() map[string]any {
	noon := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	return map[string]any{
		record.SubscriptionDisabled: SubscriptionDisabledBody{
			SubscriptionID:   sampleSubscription,
			EventName:        "debtor.*",
			Reason:           "the endpoint responded with 410 Gone",
			DisabledDateTime: noon,
		},
		record.MessageFailed: MessageFailedBody{
			SubscriptionID: sampleSubscription,
			SubscriberName: sampleSubscriber,
			EventName:      "debtor.updated",
			MessageID:      sampleMessage,
			EventID:        sampleEvent,
			Key:            "0001",
			HTTPCode:       503,
			Reason:         "Service Unavailable",
			Attempts:       10,
			OtherMessages:  2,
			At:             noon,
		},
		record.EndpointFailing: EndpointFailingBody{
			SubscriptionID: sampleSubscription,
			SubscriberName: sampleSubscriber,
			EventName:      "debtor.*",
			Reason:         string(ConnectionRefused),
			FailingSince:   noon.Add(-time.Minute),
			At:             noon,
		},
		record.EndpointRecovered: EndpointRecoveredBody{
			SubscriptionID: sampleSubscription,
			SubscriberName: sampleSubscriber,
			EventName:      "debtor.*",
			At:             noon,
		},
	}
}
