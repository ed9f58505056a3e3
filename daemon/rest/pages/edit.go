package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// subscriptionForm is the page with the form of a subscription.
type subscriptionForm struct {
	encode.Page
	Error      *problem
	Action     string
	Back       string
	Button     string
	Subscriber string // empty if the title has the name
	URL        string
	EventName  string
	Events     []wire.Event // those that exist, as suggestions
	Enabled    bool
	Orders     []encode.Choice
	Schedule   string
	Rate       string // maximum number of attempts a minute
	Formats    []encode.Choice
	Conditions []conditionRow
	Condition  string // as JSON, if it cannot be rows
	Headers    []wire.Header
	HasHeaders bool // some are stored, with values that are not shown
	Replace    bool // the headers of the form replace the stored ones
	Free       int  // empty rows of conditions and of headers
	RowHash    string
	State      string // see memberState; empty for a subscription that exists: it has RowHash
}

// subscriptionInputs are the inputs of the form.
var subscriptionInputs = []field{
	{Name: webhook.MemberURL, Help: "The address that receives the messages by POST"},
	{Name: webhook.MemberEvent, Help: "A published event, a family such as debtor.*, or *"},
	{Name: "IsEnabled"},
	{Name: webhook.MemberWhere},
	{Name: webhook.MemberHeaders},
	{Name: "OrderBy"},
	{Name: webhook.MemberSchedule, Help: "Such as 5s,30s,2m"},
	{Name: webhook.MemberRate},
	{Name: webhook.MemberFormat},
}

// Input returns an input with its error, for the template.
func (f subscriptionForm) Input(name string) (field, error) {
	i := slices.IndexFunc(subscriptionInputs, func(input field) bool { return input.Name == name })
	if i < 0 {
		return field{}, fmt.Errorf("the form has no input %s", name)
	}
	input := subscriptionInputs[i]
	input.Error = f.Error.text(name)
	return input, nil
}

// Numbers of empty rows.
const (
	freeRows = 2
	moreRows = 4
	maxRows  = 50
)

// orders are the values of OrderBy, in words.
var orders = []encode.Choice{
	{Value: "none", Text: "in any order, as quickly as possible"},
	{Value: "key", Text: "in order by key"},
	{Value: "subscription", Text: "in order"},
}

// formats are the values of Format, in words.
var formats = []encode.Choice{
	{Value: "", Text: "Standard Webhooks"},
	{Value: wire.FormatCloudEvents, Text: "Standard Webhooks, with the headers of CloudEvents"},
}

// selecting returns choices with the selected one.
func selecting(list []encode.Choice, selected string) []encode.Choice {
	var choices []encode.Choice
	for _, c := range list {
		c.Selected = c.Value == selected
		choices = append(choices, c)
	}
	return choices
}

// edit shows the form of a subscription with its values.
func (h subscriptions) edit(x *edge.Context) error {
	v, err := h.find(x)
	if err != nil {
		return err
	}
	f := h.formFor(x, v)
	f.fill(v)
	return h.showForm(x, http.StatusOK, f)
}

// fill sets the values of a form to those of a subscription.
func (f *subscriptionForm) fill(v *subscriptionView) {
	f.URL = v.URL
	f.EventName = v.EventName
	f.Enabled = v.IsEnabled
	f.Orders = selecting(orders, orderOf(&v.Subscription))
	f.Schedule = v.RetrySchedule
	f.Rate = rateOf(&v.Subscription)
	f.Formats = selecting(formats, v.Format)
	f.Conditions = v.Conditions
	f.Condition = v.Condition
	f.Headers = maskedHeaders(v.Headers)
	f.RowHash = text64(v.RowHash)
}

// rateOf returns the value of MaxPerMinute of a subscription, empty for the one of the settings.
func rateOf(s *wire.Subscription) string {
	if s.MaxPerMinute == 0 {
		return ""
	}
	return strconv.Itoa(s.MaxPerMinute)
}

// orderOf returns the value of OrderBy of a subscription.
func orderOf(s *wire.Subscription) string {
	switch {
	case s.Ordered:
		return "subscription"
	case s.OrderedByKey:
		return "key"
	default:
		return "none"
	}
}

// formFor returns the form of a subscription without its values.
func (h subscriptions) formFor(x *edge.Context, v *subscriptionView) subscriptionForm {
	page := h.subscriptionAddress(v.RecID)
	title := "Edit the subscription to " + v.EventName
	return subscriptionForm{
		Page:       h.frame(x, title, h.subscriptionsLink(), encode.Link{Name: v.EventName, URL: page}),
		Action:     page + "/Edit",
		Back:       page,
		Button:     "Save the subscription",
		Subscriber: v.Subscriber,
		HasHeaders: len(v.Headers) > 0,
	}
}

// showForm shows the form of a subscription.
func (h subscriptions) showForm(x *edge.Context, status int, f subscriptionForm) error {
	f.Action = x.Base + f.Action
	f.Back = x.Base + f.Back
	if err := h.get(x, "/Webhooks/Events", nil, &f.Events); err != nil {
		return err
	}
	f.Free = max(freeRows, min(maxRows, f.Free))
	for range f.Free {
		f.Conditions = append(f.Conditions, conditionRow{ConditionRow: encode.EmptyCondition()})
		f.Headers = append(f.Headers, wire.Header{})
	}
	return show(x, status, "subscriptionForm", f)
}

// sent sets the values of a form to those that were sent.
func (f *subscriptionForm) sent(values url.Values) {
	f.URL = values.Get("URL")
	f.EventName = values.Get("EventName")
	f.Enabled = values.Get("IsEnabled") != ""
	f.Orders = selecting(orders, values.Get("OrderBy"))
	f.Schedule = values.Get("RetrySchedule")
	f.Rate = values.Get("MaxPerMinute")
	f.Formats = selecting(formats, values.Get("Format"))
	f.Conditions = rowsOf(values)
	f.Condition = values.Get("Where")
	f.Headers = headersOf(values)
	f.Replace = values.Get("ReplaceHeaders") != ""
	f.RowHash = values.Get(memberRowHash)
	f.State = values.Get(memberState)
	f.Free, _ = strconv.Atoi(values.Get("Free")) // 0 if it is no number
}

// members returns the members of the operation that saves a form.
func members(values url.Values, withHeaders bool) (map[string]any, error) {
	body := map[string]any{
		"URL":           values.Get("URL"),
		"EventName":     values.Get("EventName"),
		"IsEnabled":     values.Get("IsEnabled") != "",
		"OrderBy":       values.Get("OrderBy"),
		"RetrySchedule": values.Get("RetrySchedule"),
		"MaxPerMinute":  values.Get("MaxPerMinute"),
		"Format":        values.Get("Format"),
	}
	if hash := values.Get(memberRowHash); hash != "" {
		body[memberRowHash] = hash
	}
	if withHeaders {
		body["Headers"] = headersOf(values)
	}
	if whole := values.Get("Where"); whole != "" {
		body["Where"] = whole
		return body, nil
	}
	where, err := conditionOf(values)
	body["Where"] = where
	return body, err
}

// requestsRows reports whether the button for more rows has sent a form. It changes nothing.
func requestsRows(values url.Values) bool { return values.Get("More") != "" }

// save changes a subscription.
func (h subscriptions) save(x *edge.Context) error {
	v, err := h.find(x)
	if err != nil {
		return err
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	f := h.formFor(x, v)
	f.sent(values)
	if requestsRows(values) {
		f.Free += moreRows
		return h.showForm(x, http.StatusOK, f)
	}
	body, err := members(values, f.Replace || !f.HasHeaders && len(headersOf(values)) > 0)
	if err == nil {
		if h.visitor != nil {
			removeUnchanged(body, &v.Subscription)
		}
		err = h.send(x, http.MethodPatch, h.path(v), body, nil)
	}
	if err != nil {
		return h.again(x, f, err)
	}
	return goTo(x, h.subscriptionAddress(v.RecID)+"?"+memberNote+"=Saved")
}

// again shows a form again, with the reason why it could not be saved.
func (h subscriptions) again(x *edge.Context, f subscriptionForm, err error) error {
	reason, status := problemOf(err, subscriptionInputs)
	if reason == nil {
		return err
	}
	f.Error = reason
	return h.showForm(x, status, f)
}

// outdated shows the form of a new subscription again because the subscriptions have changed.
func (h subscriptions) outdated(x *edge.Context, f subscriptionForm, state string) error {
	f.State = state
	f.Error = &problem{Message: "A subscription has been added or deleted" + outdatedForm}
	return h.showForm(x, http.StatusConflict, f)
}

// removeUnchanged removes the members from a change that a subscription has already. The form of a
// subscriber lacks conditions that it may not see: they must not be replaced by none.
func removeUnchanged(body map[string]any, s *wire.Subscription) {
	for name, stored := range map[string]any{
		"URL":           s.URL,
		"EventName":     s.EventName,
		"IsEnabled":     s.IsEnabled,
		"OrderBy":       orderOf(s),
		"RetrySchedule": s.RetrySchedule,
		"MaxPerMinute":  rateOf(s),
		"Format":        s.Format,
	} {
		if body[name] == stored {
			delete(body, name)
		}
	}
	if equalConditions(body["Where"], s.Where) {
		delete(body, "Where")
	}
}

// equalConditions reports whether a condition of a form, as JSON or its text, is the stored one.
func equalConditions(sent any, stored json.RawMessage) bool {
	var text []byte
	switch sent := sent.(type) {
	case json.RawMessage:
		text = sent
	case string:
		text = []byte(sent)
	}
	if len(stored) == 0 {
		stored = json.RawMessage("{}")
	}
	var a, b bytes.Buffer
	if json.Compact(&a, text) != nil || json.Compact(&b, stored) != nil {
		return false
	}
	return bytes.Equal(a.Bytes(), b.Bytes())
}

// openNew shows the form of a new subscription of a subscriber.
func (h subscriptions) openNew(x *edge.Context, f subscriptionForm, s *wire.Subscriber) error {
	f.Enabled = true
	f.Orders = selecting(orders, "none")
	f.Formats = selecting(formats, "")
	f.State = subscribeState(s)
	return h.showForm(x, http.StatusOK, f)
}

// subscribeState returns the state that the form of a new subscription is based on.
func subscribeState(s *wire.Subscriber) string {
	var ids []string
	for i := range s.Subscriptions {
		ids = append(ids, s.Subscriptions[i].RecID)
	}
	return stateOf(ids...)
}

// add adds a subscription and shows its secret, which is never shown again.
func (h subscriptions) add(x *edge.Context, f subscriptionForm, s *wire.Subscriber) error {
	values, err := formOf(x)
	if err != nil {
		return err
	}
	f.sent(values)
	if requestsRows(values) {
		f.Free += moreRows
		return h.showForm(x, http.StatusOK, f)
	}
	if state := subscribeState(s); state != f.State {
		return h.outdated(x, f, state)
	}
	body, err := members(values, true)
	var added wire.Subscription
	if err == nil {
		path := apiSubscribers + "/" + url.PathEscape(s.RecID) + "/Subscriptions"
		err = h.send(x, http.MethodPost, path, body, &added)
	}
	if err != nil {
		return h.again(x, f, err)
	}
	v := h.newView(x, added, nil)
	v.name(x, s)
	return h.show(x, http.StatusCreated, v, subscriptionPage{Note: notes["Added"], Secret: added.Secret})
}
