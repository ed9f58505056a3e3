package record

import (
	"slices"
	"strings"
)

// Event is a published event.
type Event struct {
	Name        string
	Description string
}

// family is a business record and what can happen to it.
type eventFamily struct {
	name   string // before the point
	people string // what people call the record
	verbs  string // separated by spaces
	key    string // the member that names the record in a sample
}

// eventFamilies is the table of the published interface.
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

// occasions say when an event occurs, by its verb.
var occasions = map[string]string{
	"created":    "is created",
	"deleted":    "is deleted",
	"updated":    "is modified",
	"stocklevel": "has another stock level",
}

// Events lists the events that the ERP publishes, in the order of the published interface.
func Events() []Event {
	var all []Event
	for _, f := range eventFamilies {
		for verb := range strings.FieldsSeq(f.verbs) {
			all = append(all, Event{f.name + "." + verb, "Occurs when a record of the kind " + f.people + " " + occasions[verb]})
		}
	}
	return all
}

// SubscriptionDisabled is the event that a subscription was disabled by what its
// endpoint answered, or because it never did.
const SubscriptionDisabled = "webhooks.subscription.disabled"

// ServiceEvents are the events that the service raises itself, about itself.
// Clients may not raise them.
func ServiceEvents() []Event {
	return []Event{{SubscriptionDisabled, "The service has disabled a subscription, whose messages wait from now on"}}
}

// TestEvent is the event that tries a subscription out. Clients can neither raise it nor
// subscribe to it.
const TestEvent = "webhooks.test"

// TestEventFor is the name of an event that tries a subscription out and looks like
// another one to receivers.
func TestEventFor(event string) string { return TestEvent + ":" + event }

// SentEvent is the name of an event as receivers get it, and whether it is
// marked as a test.
func SentEvent(name string) (sent string, test bool) {
	if name == TestEvent {
		return name, true
	}
	if sent, test = strings.CutPrefix(name, TestEventFor("")); test {
		return sent, true
	}
	return name, false
}

// EventPattern reports whether a subscription may name the text as its events,
// and gives it in the letter case of the events: the name of a published event,
// a family such as debtor.*, or *.
func EventPattern(events []Event, text string) (pattern string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return text, true
	}
	family, wild := strings.CutSuffix(text, ".*")
	i := slices.IndexFunc(events, func(e Event) bool {
		head, _, _ := strings.Cut(e.Name, ".")
		return strings.EqualFold(e.Name, text) || wild && strings.EqualFold(head, family)
	})
	if i < 0 {
		return "", false
	}
	if wild {
		head, _, _ := strings.Cut(events[i].Name, ".")
		return head + ".*", true
	}
	return events[i].Name, true
}

// MatchesEvent reports whether a subscription with a pattern of EventPattern gets
// an event.
func MatchesEvent(pattern, event string) bool {
	family, wild := strings.CutSuffix(pattern, ".*")
	head, _, _ := strings.Cut(event, ".")
	return pattern == "*" || strings.EqualFold(pattern, event) || wild && strings.EqualFold(head, family)
}

// SampleBody is a document to try an event out with: JSON that names a record
// which there is not. The documents of the business have many more members.
func SampleBody(event string) string {
	head, _, _ := strings.Cut(event, ".")
	for _, f := range eventFamilies {
		if strings.EqualFold(f.name, head) {
			return `{"EventName":"` + event + `","` + f.key + `":"TEST-1","Test":true}`
		}
	}
	return `{"EventName":"` + event + `","Test":true}`
}
