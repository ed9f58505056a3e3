package record

import (
	"slices"
	"strings"
)

// Event is an event that subscriptions can receive.
type Event struct {
	Name        string
	Description string
}

// eventFamily has the events of a business record.
type eventFamily struct {
	name  string // the part of the event name before the dot
	label string // name of the record, for display
	verbs string // the parts after the dot, separated by spaces
	key   string // the member with the record's ID in a sample
}

// eventFamilies is from the published interface.
var eventFamilies = []eventFamily{
	{"bookin", "book in", "created updated", "BookInID"},
	{"creditor", "creditor (supplier)", "created deleted updated", "CreditorID"},
	{"creditorclassification", "creditor classification", "created deleted updated", "ClassificationID"},
	{"debtor", "debtor (customer)", "created deleted updated", "DebtorID"},
	{"debtorcategory", "debtor category", "created deleted updated", "CategoryID"},
	{"debtorclassification", "debtor classification", "created deleted updated", "ClassificationID"},
	{"goodsreceivednote", "goods received note", "created updated", "GoodsReceivedNoteID"},
	{"inventory", "inventory item (product)", "created deleted updated stocklevel", "InventoryID"},
	{"inventorycategory", "inventory category", "created deleted updated", "CategoryID"},
	{"inventoryclassification", "inventory classification", "created deleted updated", "ClassificationID"},
	{"purchaseorder", "purchase order", "created deleted updated", "OrderID"},
	{"salesorder", "sales order", "created updated", "InvoiceID"},
	{"salesquote", "sales quote", "created updated", "QuoteID"},
	{"shipment", "shipment", "created updated", "ShipmentID"},
	{"warehousetransferin", "warehouse transfer in", "created updated", "TransferID"},
	{"warehousetransferout", "warehouse transfer out", "created updated", "TransferID"},
}

// verbTexts completes the description of an event, by verb.
var verbTexts = map[string]string{
	"created":    "is created",
	"deleted":    "is deleted",
	"updated":    "is modified",
	"stocklevel": "changes its stock level",
}

// Events returns the events that the ERP publishes, in the order of the published
// interface.
func Events() []Event {
	var events []Event
	for _, f := range eventFamilies {
		for verb := range strings.FieldsSeq(f.verbs) {
			events = append(events, newEvent(f.name, f.label, verb))
		}
	}
	return events
}

// newEvent returns the event of a kind for a change of its records, such as created.
func newEvent(family, kind, verb string) Event {
	return Event{
		Name:        family + "." + verb,
		Description: "Occurs when a record of the kind " + kind + " " + verbTexts[verb],
	}
}

// CapturedEvents returns the events of changes of a kind's records; none if they are not
// captured.
func CapturedEvents(k *Kind) (all []Event) {
	if k.Events == "" || !k.Captured() {
		return nil
	}
	return []Event{
		newEvent(k.Events, k.Name, "created"),
		newEvent(k.Events, k.Name, "updated"),
		newEvent(k.Events, k.Name, "deleted"),
	}
}

// servicePrefix starts the names of the events that the service publishes about itself.
const servicePrefix = "webhooks."

// SubscriptionDisabled is the event that the service has disabled a subscription because
// of the responses of its endpoint, or because there were none.
const SubscriptionDisabled = servicePrefix + "subscription.disabled"

// Events about the delivery of messages: a message has failed for good, the circuit breaker of an
// endpoint has opened, and the endpoint accepts messages again.
const (
	MessageFailed     = servicePrefix + "message.failed"
	EndpointFailing   = servicePrefix + "endpoint.failing"
	EndpointRecovered = servicePrefix + "endpoint.recovered"
)

// IsServiceEvent reports whether the service publishes an event about itself, or whether a pattern
// matches only such events. They are about the endpoints of all subscribers, so only admins can
// subscribe to them, and only by their name or family: the pattern * does not match them.
func IsServiceEvent(name string) bool {
	return len(name) > len(servicePrefix) && strings.EqualFold(name[:len(servicePrefix)], servicePrefix)
}

// ServiceEvents returns the events that the service publishes about itself. Clients
// cannot publish them.
func ServiceEvents() []Event {
	return []Event{
		{SubscriptionDisabled, "The service has disabled a subscription; its messages stay queued"},
		{MessageFailed, "A message has failed for good; at most one event a minute and subscription"},
		{EndpointFailing, "The endpoint of a subscription fails; its messages wait, except for probes"},
		{EndpointRecovered, "The endpoint of a subscription accepts messages again"},
	}
}

// TestEvent is the event of a test message. Clients can neither publish nor subscribe to
// it.
const TestEvent = servicePrefix + "test"

// TestEventFor returns the name of a test event that receivers get as event.
func TestEventFor(event string) string { return TestEvent + ":" + event }

// SentEvent returns the event name that receivers get for the name in a message, which in a test
// message has a prefix, and whether the message is such a test.
func SentEvent(name string) (sent string, test bool) {
	if name == TestEvent {
		return name, true
	}
	return strings.CutPrefix(name, TestEventFor(""))
}

// EventPattern validates the events of a subscription: the name of a published event, a
// family such as debtor.*, or *. It returns the pattern in the letter case of events.
func EventPattern(events []Event, text string) (pattern string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return text, true
	}
	matches := func(e Event) bool { return MatchesEvent(text, e.Name) }
	i := slices.IndexFunc(events, matches)
	if i < 0 {
		return "", false
	}
	event := events[i].Name
	if strings.HasSuffix(text, familySuffix) {
		family, _, _ := strings.Cut(event, ".")
		return family + familySuffix, true
	}
	return event, true
}

// familySuffix ends a pattern that matches all events of a family.
const familySuffix = ".*"

// MatchesEvent reports whether an event matches a pattern of EventPattern.
func MatchesEvent(pattern, event string) bool {
	if pattern == "*" {
		return !IsServiceEvent(event)
	}
	if strings.EqualFold(pattern, event) {
		return true
	}
	family, ok := strings.CutSuffix(pattern, familySuffix)
	eventFamily, _, _ := strings.Cut(event, ".")
	return ok && strings.EqualFold(eventFamily, family)
}

// SampleBody returns a JSON document for a test of an event. The record that it names
// does not exist, and real documents of records have many more members. Those of the service's own
// events have the same members, and Test.
func SampleBody(event string) string {
	for name, body := range serviceSamples {
		if strings.EqualFold(name, event) {
			return body
		}
	}
	family, _, _ := strings.Cut(event, ".")
	for _, f := range eventFamilies {
		if strings.EqualFold(f.name, family) {
			return `{"EventName":"` + event + `","` + f.key + `":"TEST-1","Test":true}`
		}
	}
	return `{"EventName":"` + event + `","Test":true}`
}

// serviceSamples are the samples of the service's own events. The package webhook of the service,
// which defines the bodies, tests that these are equal to its samples.
var serviceSamples = map[string]string{
	SubscriptionDisabled: `{"SubscriptionID":"00000000-0000-0000-0000-000000000001",` +
		`"EventName":"debtor.*","Reason":"the endpoint responded with 410 Gone",` +
		`"DisabledDateTime":"2024-01-31T12:00:00Z","Test":true}`,
	MessageFailed: `{"SubscriptionID":"00000000-0000-0000-0000-000000000001",` +
		`"SubscriberName":"Web shop","EventName":"debtor.updated",` +
		`"MessageID":"00000000-0000-0000-0000-000000000002",` +
		`"EventID":"00000000-0000-0000-0000-000000000003","Key":"0001","HTTPCode":503,` +
		`"Reason":"Service Unavailable","Attempts":10,"OtherMessages":2,` +
		`"At":"2024-01-31T12:00:00Z","Test":true}`,
	EndpointFailing: `{"SubscriptionID":"00000000-0000-0000-0000-000000000001",` +
		`"SubscriberName":"Web shop","EventName":"debtor.*","Reason":"connection refused",` +
		`"FailingSince":"2024-01-31T11:59:00Z","At":"2024-01-31T12:00:00Z","Test":true}`,
	EndpointRecovered: `{"SubscriptionID":"00000000-0000-0000-0000-000000000001",` +
		`"SubscriberName":"Web shop","EventName":"debtor.*","At":"2024-01-31T12:00:00Z","Test":true}`,
}
