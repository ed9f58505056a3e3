package tui

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

// messageRecord is the kind of messages.
const messageRecord = "Message"

// messageFilter says which messages are shown.
type messageFilter struct {
	subscriber   string // its id, empty for all
	subscription string // its id, empty for all
	label        string // of what was chosen elsewhere, for people: of a subscriber its name
	conditions   []client.Filter
	problems     bool // only those that failed
	undelivered  bool // only those that failed and those that wait
}

// members is the filter as the service takes it.
func (f messageFilter) members() url.Values {
	q := url.Values{}
	if f.subscriber != "" {
		q.Set("SubscriberID", f.subscriber)
	}
	if f.subscription != "" {
		q.Set("SubscriptionID", f.subscription)
	}
	for _, c := range f.conditions {
		q[c.Member()] = c.Values
	}
	if c, limits := f.standing().condition(); limits {
		q[c.Member()] = c.Values
	}
	return q
}

// standing says by what has become of them which messages are shown.
type standing struct {
	chip     string
	statuses []string // nil for all
}

// statuses are what ! goes through beside all of them.
func (f messageFilter) standing() standing {
	switch {
	case f.undelivered:
		return standing{"not delivered", []string{"0", "2", "3"}}
	case f.problems:
		return standing{"problems", []string{"2", "3"}}
	}
	return standing{}
}

// condition is the condition that this is; false for none.
func (s standing) condition() (client.Filter, bool) {
	return client.Filter{Field: "Status", Operator: record.In, Values: s.statuses}, s.statuses != nil
}

// means reports whether a message with this status is shown. What has just come
// is no problem before it has failed.
func (s standing) means(status int) bool {
	return s.statuses == nil || slices.Contains(s.statuses, strconv.Itoa(status))
}

// messageKind is what messages can be filtered by.
func messageKind() *record.Kind {
	kind, _ := record.System().Lookup(messageRecord)
	return kind
}

// filters is the filter as queries take it.
func (f messageFilter) filters() []client.Filter {
	all := append([]client.Filter(nil), f.conditions...)
	if f.subscriber != "" {
		all = append(all, client.Filter{Field: "SubscriberID", Operator: record.Equal, Values: []string{f.subscriber}})
	}
	if f.subscription != "" {
		all = append(all, client.Filter{Field: "SubscriptionID", Operator: record.Equal, Values: []string{f.subscription}})
	}
	if c, limits := f.standing().condition(); limits {
		all = append(all, c)
	}
	return all
}

// of reports whether a message goes to whom the filter means.
func (f messageFilter) of(c wire.MessageChange) bool {
	return (f.subscriber == "" || f.subscriber == c.SubscriberID) && (f.subscription == "" || f.subscription == c.SubscriptionID)
}

// messageFields are all but the body.
var messageFields = sync.OnceValue(func() string {
	return strings.Join(slices.DeleteFunc(messageKind().FieldNames(), func(name string) bool { return name == "Body" }), ",")
})
