package webhooks

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// The fields of a form that say who gets something, and how.
const (
	SubscriberField = "Subscriber"
	orderedField    = "Ordered"
	ScheduleField   = "RetrySchedule"
)

// Name a chooser of yes and no can be.
const (
	Yes = "yes"
	No  = "no"
)

// SubscriptionFields adds the fields of a subscription to a form.
func SubscriptionFields(f *ui.Form, s wire.Subscription) *headerLines {
	f.Add("EventName", "Event", s.EventName, "a published event, a family such as debtor.*, or *").Suggest = func(text string) []ui.Suggestion { return pickEvents(text, f.EventNames) }
	f.Add("URL", "URL", s.URL, "the service sends there; this computer need not reach it")
	var names []string
	for _, h := range s.Headers {
		names = append(names, h.Name)
	}
	headers := addHeaders(f, names)
	ordered := f.Add(orderedField, "Ordered", No, "yes: each message waits until the one before has arrived or failed for good")
	if ordered.Options = []string{No, Yes}; s.Ordered {
		ordered.Set(Yes)
	}
	f.Add(ScheduleField, "Retries", waits(s.RetrySchedule), "waits between attempts, such as 5s, 30s, 2m; empty: the service's")
	return headers
}

// waits is a schedule without the units that are nought: 1h0m0s is 1h.
func waits(schedule string) string {
	list := strings.Split(schedule, ",")
	for i, wait := range list {
		wait = strings.TrimSpace(wait)
		if short, cut := strings.CutSuffix(wait, "m0s"); cut {
			wait = short + "m"
		}
		if short, cut := strings.CutSuffix(wait, "h0m"); cut {
			wait = short + "h"
		}
		list[i] = wait
	}
	return strings.Join(list, ", ")
}

// SubscriptionForm asks for a new subscription; whose it is, who tells by the
// values.
func SubscriptionForm(s Polling, title, event string, who func(values map[string]string) (id string, err error)) *ui.Form {
	f := ui.NewForm(s.Common().Host, title, "create")
	f.CanTest = true
	headers := SubscriptionFields(f, wire.Subscription{EventName: event, URL: "https://"})
	f.AddCmd(askEventNames(f.Dialog))
	f.Send = func(values map[string]string, try bool) tea.Cmd {
		subscriber, err := who(values)
		if err != nil {
			f.At = 0
			f.Fields[0].Error = err.Error()
			return nil
		}
		request := SubscriptionOf(values, wire.Subscription{})
		if list := headers.headers(); len(list) > 0 {
			request.Headers = &list
		}
		return AddSubscription(s, f, subscriber, request, try)
	}
	return f
}

// AddSubscription adds a subscription, and sends it a test message where that is
// wanted. What was wrong is shown at its field; the secret of the new one is
// shown, which the service does not show again.
func AddSubscription(s Polling, f *ui.Form, subscriber string, request wire.SubscriptionRequest, try bool) tea.Cmd {
	const what = "new subscription"
	h := s.Common().Host
	var made *wire.Subscription
	var test *takenTest
	return h.Change(ui.Change{Screen: s, Name: what, Then: polled(s), Do: func(ctx context.Context, c *client.Client) (err error) {
		if made, err = c.AddSubscription(ctx, subscriber, request); err == nil && try {
			test = sendTest(ctx, c, made)
		}
		return err
	}, OnDone: func(err error) {
		if made == nil {
			if !f.RejectedFields(err) {
				h.ShowError(what, err)
			}
			return
		}
		ShowCreated(h, f, *made, test)
	}})
}

// ShowCreated shows the secret of a new subscription.
func ShowCreated(h ui.Host, f *ui.Form, made wire.Subscription, test *takenTest) {
	f.Finish()
	box := newSecret(h, "Created", made, made.Secret)
	h.ShowSecret(box)
	if test != nil {
		startTest(h, made, test, "created; ", &box.Text)
	}
}

// SubscriptionOf is what a form asks the service for: all that is another than
// it was.
func SubscriptionOf(values map[string]string, was wire.Subscription) (request wire.SubscriptionRequest) {
	url := values["URL"]
	if url != was.URL {
		url = once(url)
	}
	if event := values["EventName"]; event != was.EventName || event == "" {
		request.EventName = &event
	}
	if url != was.URL || url == "" {
		request.URL = &url
	}
	if ordered := values[orderedField] == Yes; ordered != was.Ordered {
		request.Ordered = &ordered
	}
	if schedule := values[ScheduleField]; schedule != waits(was.RetrySchedule) {
		request.RetrySchedule = &schedule
	}
	return request
}

// once is an address without the scheme that the form begins it with, where it was
// typed or pasted with its own.
func once(url string) string {
	for _, scheme := range []string{"http://", "https://"} {
		if rest, doubled := strings.CutPrefix(url, "https://"+scheme); doubled {
			return scheme + rest
		}
	}
	return url
}

// askEventNames asks for the names of the events that the service has beside those
// that are known without asking. Where they do not come, those can be picked, and
// all others be typed.
func askEventNames(d ui.Dialog) tea.Cmd {
	c, ctx := d.Client, d.Context
	return func() tea.Msg {
		list, err := c.Events(ctx)
		return ui.Response{Err: err, Apply: func() tea.Cmd {
			if err == nil {
				d.EventNames = unpublished(list)
			}
			return nil
		}}
	}
}

func unpublished(list []wire.Event) []string {
	var names []string
	for _, e := range list {
		if !slices.ContainsFunc(record.Events(), func(known record.Event) bool { return known.Name == e.Name }) {
			names = append(names, e.Name)
		}
	}
	return names
}

// pickEvents lists the events that a text begins, then those that hold it.
func pickEvents(text string, more []string) []ui.Suggestion {
	if text == "*" || strings.HasSuffix(text, ".*") {
		return nil
	}
	var names []string
	for _, e := range record.Events() {
		names = append(names, e.Name)
	}
	names = append(names, more...)
	var starts, holds []ui.Suggestion
	for _, name := range names {
		one := ui.Suggestion{Text: name, Name: name, Help: ""}
		switch {
		case strings.EqualFold(name, text):
			return nil
		case strings.HasPrefix(strings.ToLower(name), strings.ToLower(text)):
			starts = append(starts, one)
		case strings.Contains(strings.ToLower(name), strings.ToLower(text)):
			holds = append(holds, one)
		}
	}
	return slices.Concat(starts, holds)
}
