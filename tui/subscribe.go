package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// The fields of a form that say who gets something, and how.
const (
	subscriberField = "Subscriber"
	orderedField    = "Ordered"
	scheduleField   = "RetrySchedule"
)

// What a chooser of yes and no can be.
const (
	yes = "yes"
	no  = "no"
)

// subscriptionFields adds the fields of a subscription to a form.
func (f *form) subscriptionFields(s wire.Subscription) *headerLines {
	f.add("EventName", "Event", s.EventName, "a published event, a family such as debtor.*, or *").pick = f.app.pickEvents
	f.add("URL", "URL", s.URL, "the service sends there; this computer need not reach it")
	var names []string
	for _, h := range s.Headers {
		names = append(names, h.Name)
	}
	headers := f.addHeaders(names)
	ordered := f.add(orderedField, "Ordered", no, "yes: each message waits until the one before has arrived or failed for good")
	if ordered.among = []string{no, yes}; s.Ordered {
		ordered.set(yes)
	}
	f.add(scheduleField, "Retries", waits(s.RetrySchedule), "waits between attempts, such as 5s, 30s, 2m; empty: the service's")
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

// subscriptionForm asks for a new subscription; whose it is, who tells by the
// values.
func (a *app) subscriptionForm(title, event string, to screen, who func(values map[string]string) (id string, err error)) *form {
	f := &form{app: a, title: title, verb: "create", tries: true}
	headers := f.subscriptionFields(wire.Subscription{EventName: event, URL: "https://"})
	a.later(a.askEventNames())
	f.send = func(values map[string]string, try bool) tea.Cmd {
		subscriber, err := who(values)
		if err != nil {
			f.at = 0
			f.fields[0].wrong = err.Error()
			return nil
		}
		request := subscriptionOf(values, wire.Subscription{})
		if list := headers.headers(); len(list) > 0 {
			request.Headers = &list
		}
		return a.addSubscription(to, subscriber, request, try)
	}
	return f
}

// subscriptionOf is what a form asks the service for: all that is another than
// it was.
func subscriptionOf(values map[string]string, was wire.Subscription) (request wire.SubscriptionRequest) {
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
	if ordered := values[orderedField] == yes; ordered != was.Ordered {
		request.Ordered = &ordered
	}
	if schedule := values[scheduleField]; schedule != waits(was.RetrySchedule) {
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

// subscribed tells how a new subscription went: what was wrong stands at its
// field, and the secret is shown, which is never shown again.
func (a *app) subscribed(m subscriptionMsg) {
	if m.subscription == nil {
		if !m.form.open() || !m.form.refuse(m.err) {
			a.fail("new subscription", m.err)
		}
		return
	}
	a.fail("new subscription", m.err)
	m.form.close()
	box := newSecret(a, m.subscription)
	a.tellOnce(box)
	if m.trial != nil {
		m.trial.before = "created; "
		m.trial.under(&box.text)
		a.later(a.tried(*m.trial))
	}
}

// learnt keeps the names of the events that the service has beside those that
// are known without asking.
func (a *app) learnt(m eventNamesMsg) {
	if m.err != nil || m.era != a.era {
		return // what is known without asking can be picked, and all others be typed
	}
	a.eventNames = nil
	for _, e := range m.list {
		if !slices.ContainsFunc(record.Events(), func(known record.Event) bool { return known.Name == e.Name }) {
			a.eventNames = append(a.eventNames, e.Name)
		}
	}
}

// pickEvents lists the events that a text begins, then those that hold it.
func (a *app) pickEvents(text string) []suggestion {
	if text == "*" || strings.HasSuffix(text, ".*") {
		return nil
	}
	var names []string
	for _, e := range record.Events() {
		names = append(names, e.Name)
	}
	names = append(names, a.eventNames...)
	var starts, holds []suggestion
	for _, name := range names {
		one := suggestion{name, name, ""}
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
