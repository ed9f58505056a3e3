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

// MessageRecord is the kind of messages.
const MessageRecord = "Message"

// MessageFilter says which messages are shown.
type MessageFilter struct {
	Subscriber   string // its id, empty for all
	Subscription string // its id, empty for all
	Label        string // of what was chosen elsewhere, for people: of a subscriber its name
	Conditions   []client.Filter
	Problems     bool // only those that failed
	Undelivered  bool // only those that failed and those that wait
}

// Members is the filter as the service takes it.
func (f MessageFilter) Members() url.Values {
	q := url.Values{}
	if f.Subscriber != "" {
		q.Set("SubscriberID", f.Subscriber)
	}
	if f.Subscription != "" {
		q.Set("SubscriptionID", f.Subscription)
	}
	for _, c := range f.Conditions {
		q[c.Member()] = c.Values
	}
	if c, limits := f.StatusFilter().Condition(); limits {
		q[c.Member()] = c.Values
	}
	return q
}

// statusFilter says by what has become of them which messages are shown.
type statusFilter struct {
	Badge    string
	Statuses []string // nil for all
}

// statuses are what ! goes through beside all of them.
func (f MessageFilter) StatusFilter() statusFilter {
	switch {
	case f.Undelivered:
		return statusFilter{"not delivered", []string{"0", "2", "3"}}
	case f.Problems:
		return statusFilter{"problems", []string{"2", "3"}}
	}
	return statusFilter{}
}

// Condition is the condition that this is; false for none.
func (s statusFilter) Condition() (client.Filter, bool) {
	return client.Filter{Field: "Status", Operator: record.In, Values: s.Statuses}, s.Statuses != nil
}

// Matches reports whether a message with this status is shown. What has just come
// is no problem before it has failed.
func (s statusFilter) Matches(status int) bool {
	return s.Statuses == nil || slices.Contains(s.Statuses, strconv.Itoa(status))
}

// MessageKind is what messages can be filtered by.
func MessageKind() *record.Kind {
	kind, _ := record.System().Lookup(MessageRecord)
	return kind
}

// Filters is the filter as queries take it.
func (f MessageFilter) Filters() []client.Filter {
	all := append([]client.Filter(nil), f.Conditions...)
	if f.Subscriber != "" {
		all = append(all, client.Filter{Field: "SubscriberID", Operator: record.Equal, Values: []string{f.Subscriber}})
	}
	if f.Subscription != "" {
		all = append(all, client.Filter{Field: "SubscriptionID", Operator: record.Equal, Values: []string{f.Subscription}})
	}
	if c, limits := f.StatusFilter().Condition(); limits {
		all = append(all, c)
	}
	return all
}

// Matches reports whether a message goes to whom the filter means.
func (f MessageFilter) Matches(c wire.MessageChange) bool {
	return (f.Subscriber == "" || f.Subscriber == c.SubscriberID) && (f.Subscription == "" || f.Subscription == c.SubscriptionID)
}

// MessageFields are all but the body.
var MessageFields = sync.OnceValue(func() string {
	return strings.Join(slices.DeleteFunc(MessageKind().FieldNames(), func(name string) bool { return name == "Body" }), ",")
})
