package webhooks

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// Names of the fields of a subscription form.
const (
	SubscriberField = "Subscriber"
	orderedField    = "Ordered"
	ScheduleField   = "RetrySchedule"
	RateField       = "MaxPerMinute"
)

// Values of a yes/no chooser.
const (
	Yes = "yes"
	No  = "no"

	ByKey = "by key" // of the order
)

// SubscriptionFields adds the fields of a subscription to a form, with the values of s.
func SubscriptionFields(f *ui.Form, s wire.Subscription) *headerLines {
	event := f.Add("EventName", "Event", s.EventName, "an event name, a pattern such as debtor.*, or * for all events")
	event.Suggest = func(text string) []ui.Suggestion { return pickEvents(text, customEvents(f.Session.Events)) }
	f.Add("URL", "URL", s.URL, "must be reachable from the service host")
	headers := addHeaders(f, record.Texts(s.Headers, func(h wire.Header) string { return h.Name }))
	ordered := f.Add(orderedField, "Ordered", No,
		"yes: each message waits for the previous one; by key: for the previous one with its key")
	ordered.Options = []string{No, Yes, ByKey}
	ordered.Set(orderOf(s))
	f.Add(ScheduleField, "Schedule", shortSchedule(s.RetrySchedule),
		"delays between attempts, such as 5s, 30s, 2m; empty for the default schedule")
	rate := f.Add(RateField, "Rate", rateText(s.MaxPerMinute),
		"attempts that may start in a minute; empty for the limit of the service")
	rate.Check = func() string {
		_, err := parseRate(rate.Text())
		if err != nil {
			return "must be a number of attempts a minute, or empty"
		}
		return ""
	}
	addWhere(f, event, s.Where)
	return headers
}

// rateText returns a rate limit as in the form, empty for the limit of the service.
func rateText(perMinute int) string {
	if perMinute == 0 {
		return ""
	}
	return strconv.Itoa(perMinute)
}

// parseRate parses a rate limit of the form. The service checks how high it may be.
func parseRate(text string) (int, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	perMinute, err := strconv.ParseUint(text, 10, 31)
	return int(perMinute), err
}

// shortSchedule formats a retry schedule without zero units: 1h0m0s becomes 1h.
func shortSchedule(schedule string) string {
	list := strings.Split(schedule, ",")
	for i, wait := range list {
		list[i] = strings.TrimSpace(wait)
		d, err := time.ParseDuration(list[i])
		if err == nil {
			list[i] = display.Duration(d)
		}
	}
	return strings.Join(list, ", ")
}

// SubscriptionForm returns the form for a new subscription. subscriberID returns the
// subscriber ID for the form values.
func SubscriptionForm(
	s Polling, title, event string, subscriberID func(values map[string]string) (id string, err error),
) *ui.Form {
	f := ui.NewForm(s.Common().Host, title, "create")
	f.CanTest = true
	headers := SubscriptionFields(f, wire.Subscription{EventName: event, URL: "https://"})
	f.Host.AddCmd(loadEvents(f.HostSession))
	f.Send = func(values map[string]string, test bool) tea.Cmd {
		subscriber, err := subscriberID(values)
		if err != nil {
			f.At = 0
			f.Fields[0].Error = err.Error()
			return nil
		}
		request := SubscriptionOf(values, wire.Subscription{})
		request.Where = whereOf(f.HostSession, values, nil)
		list := headers.headers()
		if len(list) > 0 {
			request.Headers = &list
		}
		return AddSubscription(s, f, subscriber, request, test)
	}
	return f
}

// createdSelector is implemented by lists that select a new subscription.
type createdSelector interface {
	// SelectCreated selects a subscription once it is loaded.
	SelectCreated(id string)
}

// AddSubscription creates a subscription and, with test, sends it a test message.
// Rejected values are shown at their fields. The secret is shown once; the service
// does not return it again.
func AddSubscription(s Polling, f *ui.Form, subscriber string, request wire.SubscriptionRequest, test bool) tea.Cmd {
	const name = "new subscription"
	h := s.Common().Host
	var created *wire.Subscription
	var accepted *acceptedTest // nil without a test
	return h.Change(ui.Change{
		Screen: s,
		Name:   name,
		Then:   pollAfter(s),
		Do: func(ctx context.Context, c *client.Client) (err error) {
			created, err = c.AddSubscription(ctx, subscriber, request)
			if err == nil && test {
				accepted = sendTest(ctx, c, created)
			}
			return err
		},
		OnDone: func(err error) {
			if created == nil {
				showFormResult(h, f, name, false, err)
				return
			}
			if list, ok := s.(createdSelector); ok {
				list.SelectCreated(created.RecID)
			}
			ShowCreated(h, f, *created, accepted)
		},
	})
}

// ShowCreated shows the secret of a new subscription and, unless accepted is nil, the
// result of the test message.
func ShowCreated(h ui.Host, f *ui.Form, created wire.Subscription, accepted *acceptedTest) {
	f.Finish()
	box := newSecret(h, "Created", created, created.Secret)
	h.ShowSecret(box)
	if accepted == nil {
		showNotice(h, &created)
		return
	}
	startTest(h, created, accepted, testPrefix("created", created), &box.Text)
}

// SubscriptionOf returns the request for the form values that differ from a subscription.
func SubscriptionOf(values map[string]string, old wire.Subscription) (request wire.SubscriptionRequest) {
	url := values["URL"]
	if url != old.URL {
		url = trimScheme(url)
	}
	if event := values["EventName"]; event != old.EventName || event == "" {
		request.EventName = &event
	}
	if url != old.URL || url == "" {
		request.URL = &url
	}
	switch order := values[orderedField]; {
	case order == orderOf(old):
	case order == ByKey:
		request.OrderBy = new("key")
	case order == No && old.OrderedByKey:
		request.OrderBy = new("none")
	default:
		request.Ordered = new(order == Yes)
	}
	if schedule := values[ScheduleField]; schedule != shortSchedule(old.RetrySchedule) {
		request.RetrySchedule = &schedule
	}
	rate, err := parseRate(values[RateField]) // which the form has checked
	if err == nil && rate != old.MaxPerMinute {
		request.MaxPerMinute = &rate
	}
	return request
}

// orderOf returns the order of a subscription's messages as in the form.
func orderOf(s wire.Subscription) string {
	if s.Ordered {
		return Yes
	}
	if s.OrderedByKey {
		return ByKey
	}
	return No
}

// trimScheme removes the scheme that the form starts with if the URL was typed or
// pasted with its own scheme.
func trimScheme(url string) string {
	for _, scheme := range []string{"http://", "https://"} {
		if address, doubled := strings.CutPrefix(url, "https://"+scheme); doubled {
			return scheme + address
		}
	}
	return url
}

// loadEvents fetches the published events for the suggestions. If that
// fails, the built-in events are suggested and any name can be typed.
func loadEvents(d ui.HostSession) tea.Cmd {
	ctx, c := d.Session.Context, d.Session.Client
	return func() tea.Msg {
		list, err := c.Events(ctx)
		return ui.Response{Err: err, Client: c, Apply: func() tea.Cmd {
			if err == nil {
				d.Session.Events = list
			}
			return nil
		}}
	}
}

// builtinEvents returns the names of the built-in events.
func builtinEvents() []string {
	return record.Texts(record.Events(), func(e record.Event) string { return e.Name })
}

// customEvents returns the names of the events that are not built in.
func customEvents(list []wire.Event) []string {
	builtin := builtinEvents()
	var names []string
	for _, e := range list {
		if !slices.Contains(builtin, e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// pickEvents suggests the events that start with text, then those that contain it.
func pickEvents(text string, custom []string) []ui.Suggestion {
	if text == "*" || strings.HasSuffix(text, ".*") {
		return nil
	}
	text = strings.ToLower(text)
	var withPrefix, containing []ui.Suggestion
	for _, name := range slices.Concat(builtinEvents(), custom) {
		lower := strings.ToLower(name)
		suggestion := ui.Suggestion{Text: name, Name: name}
		switch {
		case lower == text:
			return nil // it is complete
		case strings.HasPrefix(lower, text):
			withPrefix = append(withPrefix, suggestion)
		case strings.Contains(lower, text):
			containing = append(containing, suggestion)
		}
	}
	return slices.Concat(withPrefix, containing)
}
