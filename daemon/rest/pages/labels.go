package pages

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// labels has the labels of the inputs of all forms, by member. An input has the name of the member
// that an operation reads, and the errors of operations name members: see problemOf.
var labels = map[string]string{
	// Of subscriptions.
	webhook.MemberURL:      "Endpoint",
	webhook.MemberEvent:    "Event",
	"IsEnabled":            "Enabled",
	webhook.MemberWhere:    "Conditions",
	webhook.MemberHeaders:  "Headers",
	"OrderBy":              "Order",
	webhook.MemberSchedule: "Waits between attempts",
	webhook.MemberRate:     "Attempts a minute, at most",
	webhook.MemberFormat:   "Format",
	memberKeepFor:          "The present secret",
	memberSubscriberID:     "SubscriberID",

	// Of subscribers, users, keys and captures.
	"Name":           "Name",
	"UserName":       "User name",
	"DisplayName":    "Display name",
	"Role":           "Role",
	"Password":       "Password",
	"ExpiryDateTime": "Expires",
	"Mode":           "Changes since the stop",

	// Of filters.
	memberKey:           "Key",
	"URLContains":       "Endpoint has",
	"NameContains":      "Name has",
	queries.MemberSince: "Added since",
	queries.MemberUntil: "Added before",
}

// memberKey is the key of a record: a filter of messages and of the history.
const memberKey = "Key"

// labelOf returns the label of the input for a member, or the name of a member without one.
func labelOf(member string) string { return cmp.Or(labels[member], member) }

// field is an input of a form.
type field struct {
	Name, Value, Help string
	Hint              string // an example of a value, which the input shows until it has one
	Type              string // of the input; empty for text
	Choices           []encode.Choice
	Error             string // the problem with the value
	Required          bool
	title             string // a label that differs from the one in labels
}

// Label returns the label.
func (f field) Label() string { return cmp.Or(f.title, labelOf(f.Name)) }

// searchForm is the form with the filters of a list.
type searchForm struct {
	Name   string // for screen readers
	Button string
	Error  *problem
	Inputs []field
	Hidden []encode.Pair // the filters without an input
}

// timeHint is an example of a time in a form.
const timeHint = "2026-01-31 14:00, UTC"

// newSearchForm returns a form with inputs for some filters of a list of things.
func newSearchForm(things string, filters url.Values, inputs ...string) searchForm {
	form := searchForm{
		Name:   "Search " + things,
		Button: "Show " + things,
		Hidden: pairsOf(without(filters, inputs...)),
	}
	for _, name := range inputs {
		input := field{Name: name, Value: filters.Get(name)}
		if isTime(name) {
			input.Hint = timeHint
		}
		form.Inputs = append(form.Inputs, input)
	}
	return form
}

// refused reports whether an error is about filters, and marks their inputs. Those of the address that
// have no input get one, so that the user can correct them. It returns the status of the page with
// the form.
func (s *searchForm) refused(err error) (int, bool) {
	for _, wrong := range fault.From(err).Fields {
		s.reveal(wrong.Name)
	}
	reason, status := problemOf(err, s.Inputs)
	if reason == nil || !reason.marks() {
		return 0, false
	}
	reason.Message = "Nothing is shown, since a value is wrong:"
	s.Error = reason
	s.Inputs = reason.mark(s.Inputs)
	return status, true
}

// reveal makes a hidden filter an input. Several values of one are items of a list.
func (s *searchForm) reveal(name string) {
	var texts []string
	var hidden []encode.Pair
	for _, pair := range s.Hidden {
		if query.SameName(pair.Name, name) {
			texts = append(texts, pair.Value)
			name = pair.Name
		} else {
			hidden = append(hidden, pair)
		}
	}
	if texts == nil {
		return
	}
	s.Hidden = hidden
	s.Inputs = append(s.Inputs, field{Name: name, Value: strings.Join(texts, ",")})
}
