package ui

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// MessageRecord is the record kind of messages.
const MessageRecord = "Message"

// The statuses of messages, as in wire.Message.Status and in the status of an attempt.
const (
	StatusNotSent = iota
	StatusDelivered
	StatusRetrying
	StatusFailed
)

// MessageFilter selects messages.
type MessageFilter struct {
	Subscriber   string // SubscriberID, empty for all
	Subscription string // SubscriptionID, empty for all
	Label        string // display name of the selected subscriber or subscription
	Conditions   []client.Filter
	Problems     bool // failed messages only
	Undelivered  bool // failed and pending messages only
}

// Members returns the filter as query parameters.
func (f MessageFilter) Members() url.Values {
	q := url.Values{}
	for _, c := range f.Filters() {
		q[c.Member()] = c.Values
	}
	return q
}

// statusFilter limits messages by status.
type statusFilter struct {
	Badge    string
	Statuses []string // nil for all
}

func newStatusFilter(badge string, statuses ...int) statusFilter {
	return statusFilter{Badge: badge, Statuses: record.Texts(statuses, strconv.Itoa)}
}

// StatusFilter returns the status filter that Problems and Undelivered select.
func (f MessageFilter) StatusFilter() statusFilter {
	if f.Undelivered {
		return newStatusFilter("not delivered", StatusNotSent, StatusRetrying, StatusFailed)
	}
	if f.Problems {
		return newStatusFilter("failed or retrying", StatusRetrying, StatusFailed)
	}
	return statusFilter{}
}

// Condition returns the query condition, false if all messages are selected.
func (s statusFilter) Condition() (client.Filter, bool) {
	return client.Filter{Field: "Status", Operator: record.In, Values: s.Statuses}, s.Statuses != nil
}

// Matches reports whether a status is selected.
func (s statusFilter) Matches(status int) bool {
	return s.Statuses == nil || slices.Contains(s.Statuses, strconv.Itoa(status))
}

// MessageKind returns the record kind of messages.
func MessageKind() *record.Kind {
	kind, _ := record.System().Lookup(MessageRecord)
	return kind
}

// Filters returns the filter as query conditions.
func (f MessageFilter) Filters() []client.Filter {
	var all []client.Filter
	if f.Subscriber != "" {
		all = append(all, client.Filter{Field: "SubscriberID", Operator: record.Equal, Values: []string{f.Subscriber}})
	}
	if f.Subscription != "" {
		all = append(all, client.Filter{
			Field:    "SubscriptionID",
			Operator: record.Equal,
			Values:   []string{f.Subscription},
		})
	}
	all = append(all, f.Conditions...)
	if c, limits := f.StatusFilter().Condition(); limits {
		all = append(all, c)
	}
	return all
}

// Matches reports whether a message is of the selected subscriber and subscription.
func (f MessageFilter) Matches(c wire.MessageChange) bool {
	hasSubscriber := f.Subscriber == "" || f.Subscriber == c.SubscriberID
	hasSubscription := f.Subscription == "" || f.Subscription == c.SubscriptionID
	return hasSubscriber && hasSubscription
}

// MessageFields are the fields of messages except the body, separated by commas.
var MessageFields = sync.OnceValue(func() string {
	return strings.Join(slices.DeleteFunc(MessageKind().FieldNames(), func(name string) bool {
		return name == "Body"
	}), ",")
})
