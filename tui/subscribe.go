package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// subscriberField is the field of a form that says who gets something.
const subscriberField = "Subscriber"

// subscriptionForm asks for a new subscription; whose it is, who tells by the
// values.
func (a *app) subscriptionForm(title, event string, to screen, who func(values map[string]string) (id string, err error)) *form {
	f := &form{app: a, title: title}
	f.add("EventName", "Event", event, "a published event, a family such as debtor.*, or *").pick = pickEvents
	f.add("URL", "URL", "https://", "the service sends there; this computer need not reach it")
	f.add("Headers", "Header", "", "a header to send with it, such as Authorization; empty for none")
	f.add("HeaderValue", "Value", "", "of that header").masked = true
	f.notes = []string{"ctrl+s create   ctrl+t create and send a test   esc cancel"}
	f.send = func(values map[string]string, try bool) tea.Cmd {
		subscriber, err := who(values)
		if err != nil {
			f.at = 0
			f.fields[0].wrong = err.Error()
			return nil
		}
		return a.addSubscription(to, subscriber, subscriptionOf(values), try)
	}
	return f
}

// subscriptionOf is what a form asks the service for.
func subscriptionOf(values map[string]string) wire.SubscriptionRequest {
	event, url := values["EventName"], values["URL"]
	if rest, doubled := strings.CutPrefix(url, "https://http"); doubled {
		url = "http" + rest // what stands there already was typed once more
	}
	request := wire.SubscriptionRequest{EventName: &event, URL: &url}
	if name := values["Headers"]; name != "" {
		request.Headers = &[]wire.Header{{Name: name, Value: values["HeaderValue"]}}
	}
	return request
}

// subscribed tells how a new subscription went: what was wrong stands at its
// field, and the secret is shown, which is never shown again.
func (a *app) subscribed(m subscriptionMsg) {
	if m.subscription == nil {
		if f, ok := a.over.(*form); !ok || !f.refuse(m.err) {
			a.fail("new subscription", m.err)
		}
		return
	}
	a.fail("new subscription", m.err)
	a.over = newSecret(a, m.subscription)
}

// newSecret shows the secret of a subscription that has just been made.
func newSecret(a *app, s *wire.Subscription) overlay {
	return &text{app: a, title: "Created", copy: s.Secret, lines: []span{
		{s.EventName + " to " + s.URL, ""}, {},
		{"The secret that its messages are signed with. It is not shown again:", a.theme.crumb}, {},
		{"  " + s.Secret, ""}, {},
		{"y copies it", a.theme.dim},
	}}
}

// pickEvents lists the events that a text begins.
func pickEvents(text string) []suggestion {
	if text == "*" || strings.HasSuffix(text, ".*") {
		return nil
	}
	var starts, holds []suggestion
	for _, e := range record.Events() {
		one := suggestion{e.Name, e.Name, ""}
		switch {
		case strings.EqualFold(e.Name, text):
			return nil
		case strings.HasPrefix(e.Name, strings.ToLower(text)):
			starts = append(starts, one)
		case strings.Contains(e.Name, strings.ToLower(text)):
			holds = append(holds, one)
		}
	}
	return append(starts, holds...)
}
