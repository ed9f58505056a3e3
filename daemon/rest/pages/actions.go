package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// action is something that can be done with a message.
type action struct {
	name    string // in addresses
	button  string
	danger  bool
	fits    func(s webhook.Status) bool
	effects []string
}

// actions are those of a message.
var actions = []action{
	{
		name:   "Retry",
		button: "Retry",
		fits:   func(s webhook.Status) bool { return s != webhook.Successful },
		effects: []string{
			"The message becomes due now, and is sent as soon as its subscription allows it.",
			"It keeps its ID and its body. The attempts so far stay in its history.",
		},
	},
	{
		name:   "SendAgain",
		button: "Send again",
		fits:   func(s webhook.Status) bool { return s == webhook.Successful },
		effects: []string{
			"The endpoint has received this message. It is sent once more, with the same webhook-id and the " +
				"header webhook-replay.",
			"A receiver that has kept the webhook-id will ignore it.",
			"In a subscription with an order, newer messages wait until this one has been sent.",
		},
	},
	{
		name:   "Delete",
		button: "Delete",
		danger: true,
		fits:   func(webhook.Status) bool { return true },
		effects: []string{
			"The message and its attempts are deleted, and no further attempt is made. This cannot be undone.",
		},
	},
}

// actionLinks returns the links to the pages of the actions that fit the state of a message.
func actionLinks(x *edge.Context, m *wire.Message) []encode.Link {
	var links []encode.Link
	for _, a := range actions {
		if a.fits(webhook.Status(m.Status)) {
			links = append(links, encode.Link{Name: a.button, URL: x.Base + addressOf(m.MessageID) + "/" + a.name})
		}
	}
	return links
}

// actionOf returns the action in the address, and its message.
func (h messages) actionOf(x *edge.Context) (action, wire.Message, error) {
	name := x.Params.Get("Action")
	i := slices.IndexFunc(actions, func(a action) bool { return strings.EqualFold(a.name, name) })
	if i < 0 {
		return action{}, wire.Message{}, edge.NotFound()
	}
	m, _, err := h.find(x)
	return actions[i], m, err
}

// confirm shows the confirmation of an action.
func (h messages) confirm(x *edge.Context) error {
	a, m, err := h.actionOf(x)
	if err != nil {
		return err
	}
	return a.confirmation(x, &m).open(x)
}

// confirmation returns the confirmation before an action.
func (a action) confirmation(x *edge.Context, m *wire.Message) confirmation {
	title := a.button + " message " + shortID(m.MessageID)
	if a.name == "SendAgain" {
		title = "Send message " + shortID(m.MessageID) + " again"
	}
	last := answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage)
	return confirmation{
		Page: frame(x, title, messagesLink,
			encode.Link{Name: "Message " + shortID(m.MessageID), URL: addressOf(m.MessageID)}),
		Effects: a.effects,
		Facts: []encode.Pair{
			{Name: "Event", Value: m.EventName},
			{Name: "Endpoint", Value: m.URL},
			{Name: "Status", Value: statusOf(m.Status).Words},
			{Name: "Last response", Value: cmp.Or(last, "none")},
		},
		Action: addressOf(m.MessageID) + "/" + a.name,
		Button: a.button,
		Danger: a.danger,
		Back:   addressOf(m.MessageID),
	}
}

// act carries out an action.
func (h messages) act(x *edge.Context) error {
	a, m, err := h.actionOf(x)
	if err != nil {
		return err
	}
	path := "/Webhooks/Subscribers/" + url.PathEscape(m.SubscriberID) + "/Subscriptions/" +
		url.PathEscape(m.SubscriptionID) + "/Messages/" + url.PathEscape(m.MessageID)
	target := addressOf(m.MessageID)
	switch a.name {
	case "Retry":
		err = h.send(x, http.MethodPost, path+"/Retry", nil, nil)
	case "SendAgain":
		err = h.sendAgain(x, m.MessageID)
	case "Delete":
		err = h.send(x, http.MethodDelete, path, nil, nil)
		target = pathMessages
	}
	if err != nil {
		return a.confirmation(x, &m).retry(x, err)
	}
	return goTo(x, target+"?"+memberNote+"="+a.name)
}

// sendAgain sends a delivered message once more.
func (h messages) sendAgain(x *edge.Context, message string) error {
	var done wire.MessagesRetried
	members := map[string]any{"MessageID": message, "Status": int(webhook.Successful)}
	err := h.send(x, http.MethodPost, apiMessages+"/Retry", members, &done)
	if err == nil && done.Retried == 0 {
		return fault.New(fault.Conflict, "the message was not sent again: it is being sent, or its body has been removed")
	}
	return err
}
