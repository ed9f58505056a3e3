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
}

// eventFamilies is the table of interface.md.
var eventFamilies = []eventFamily{
	{"bookin", "book in", "created updated"},
	{"creditor", "creditor (supplier)", "created deleted updated"},
	{"creditorclassification", "creditor classification", "created deleted updated"},
	{"debtor", "debtor (customer)", "created deleted updated"},
	{"debtorcategory", "debtor category", "created deleted updated"},
	{"debtorclassification", "debtor classification", "created deleted updated"},
	{"goodsreceivednote", "goods received note", "created updated"},
	{"inventory", "inventory item (product)", "created deleted updated stocklevel"},
	{"inventorycategory", "inventory category", "created deleted updated"},
	{"inventoryclassification", "inventory classification", "created deleted updated"},
	{"purchaseorder", "purchase order", "created deleted updated"},
	{"salesorder", "sales order", "created updated"},
	{"salesquote", "sales quote", "created updated"},
	{"shipment", "shipment", "created updated"},
	{"warehousetransferin", "warehouse transfer in", "created updated"},
	{"warehousetransferout", "warehouse transfer out", "created updated"},
}

// occasions say when an event occurs, by its verb.
var occasions = map[string]string{
	"created":    "is created",
	"deleted":    "is deleted",
	"updated":    "is modified",
	"stocklevel": "has another stock level",
}

// Events lists the events that the ERP publishes, in the order of interface.md.
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
// Nobody else may raise them.
func ServiceEvents() []Event {
	return []Event{{SubscriptionDisabled, "The service has disabled a subscription, whose messages wait from now on"}}
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
