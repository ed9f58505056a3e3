package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// action is something that can be done with a message.
type action struct {
	name           string // in addresses, and of the note
	verb           string // of the link
	button         string
	title          func(id string) string
	danger         bool
	forSubscribers bool
	fits           func(s webhook.Status) bool
	once           bool   // the form has an effect only once
	unfit          string // why it is not possible with another status
	effects        []string
	do             func(h messages, x *edge.Context, m *wire.Message) error
	removes        bool // there is no page of the message afterwards
}

// actions are those of a message.
var actions = []action{
	{
		name:           "Retry",
		verb:           "Retry",
		button:         "Retry the message",
		title:          func(id string) string { return "Retry message " + id },
		forSubscribers: true,
		fits:           func(s webhook.Status) bool { return s != webhook.Successful },
		once:           true,
		unfit:          "The message has been delivered, so there is nothing to retry.",
		effects: []string{
			"The message becomes due now, and is sent as soon as its subscription allows it.",
			"It keeps its ID and its body. The attempts so far stay in its history.",
		},
		do: func(h messages, x *edge.Context, m *wire.Message) error {
			return h.send(x, http.MethodPost, h.messagePath(m)+"/Retry", nil, nil)
		},
	},
	{
		name:   "SendAgain",
		verb:   "Send again",
		button: "Send the message again",
		title:  func(id string) string { return "Send message " + id + " again" },
		fits:   func(s webhook.Status) bool { return s == webhook.Successful },
		once:   true,
		unfit:  "Only a message that has been delivered can be sent again, and this one has not.",
		effects: []string{
			"The endpoint has received this message. It is sent once more, with the same webhook-id and the " +
				"header webhook-replay.",
			"A receiver that has kept the webhook-id will ignore it.",
			"In a subscription with an order, newer messages wait until this one has been sent.",
		},
		do: messages.sendAgain,
	},
	{
		name:           "Delete",
		verb:           "Delete",
		button:         "Delete the message",
		title:          func(id string) string { return "Delete message " + id },
		danger:         true,
		forSubscribers: true,
		fits:           func(webhook.Status) bool { return true },
		effects: []string{
			"The message and its attempts are deleted, and no further attempt is made. This cannot be undone.",
		},
		do: func(h messages, x *edge.Context, m *wire.Message) error {
			return h.send(x, http.MethodDelete, h.messagePath(m), nil, nil)
		},
		removes: true,
	},
}

// messagePath returns the path of the operations on a message.
func (h messages) messagePath(m *wire.Message) string {
	return subscriptionPath(h.owner(m.SubscriberID), m.SubscriptionID) + "/Messages/" + url.PathEscape(m.MessageID)
}

// sendAgain sends a delivered message once more, unless it has been sent again since it was read.
func (h messages) sendAgain(x *edge.Context, m *wire.Message) error {
	var done wire.MessagesRetried
	members := map[string]any{
		"MessageID": m.MessageID,
		fieldStatus: int(webhook.Successful),
		"Retries":   m.Retries,
	}
	err := h.send(x, http.MethodPost, apiMessages+"/Retry", members, &done)
	if err == nil && done.Retried == 0 {
		return fault.New(fault.Conflict, "The message was not sent again: its body has been removed, or it has just been sent again")
	}
	return err
}

// allowed reports whether the user of the pages has an action.
func (h messages) allowed(a action) bool { return h.visitor == nil || a.forSubscribers }

// actionLinks returns the links to the pages of the actions that fit the status of a message.
func (h messages) actionLinks(x *edge.Context, m *wire.Message) []encode.Link {
	var links []encode.Link
	for _, a := range actions {
		if h.allowed(a) && a.fits(webhook.Status(m.Status)) {
			links = append(links, encode.Link{Name: a.verb, URL: x.Base + h.actionAddress(a, m)})
		}
	}
	return links
}

// actionAddress returns the address of the page of an action.
func (h messages) actionAddress(a action, m *wire.Message) string {
	return h.messageAddress(m.MessageID) + h.verbs + a.name
}

// actionOf returns the action in the address, and its message.
func (h messages) actionOf(x *edge.Context) (action, wire.Message, error) {
	name := x.Params.Get("Action")
	i := slices.IndexFunc(actions, func(a action) bool { return strings.EqualFold(a.name, name) })
	if i < 0 || !h.allowed(actions[i]) {
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
	c := h.confirmation(x, a, &m)
	if !a.removes && c.Button != "" {
		err = h.addTarget(x, &c, &m)
		if err != nil {
			return err
		}
	}
	return c.open(x)
}

// addTarget adds the address to which a message is sent now, if its subscription was changed since
// the last attempt: until the next one, a message has the address of that attempt.
func (h messages) addTarget(x *edge.Context, c *confirmation, m *wire.Message) error {
	var s wire.Subscription
	err := h.get(x, subscriptionPath(h.owner(m.SubscriberID), m.SubscriptionID), nil, &s)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err == nil && s.URL != m.URL {
		c.Facts = append(c.Facts, encode.Pair{Name: "Now sent to", Value: s.URL})
	}
	return err
}

// confirmation returns the confirmation before an action. It has no button if the action does not fit
// the status of the message.
func (h messages) confirmation(x *edge.Context, a action, m *wire.Message) confirmation {
	id := shortID(m.MessageID)
	address := h.messageAddress(m.MessageID)
	c := confirmation{
		Page: h.frame(x, a.title(id), h.messagesLink(),
			encode.Link{Name: "Message " + id, URL: address}),
		Effects: a.effects,
		Facts: []encode.Pair{
			{Name: "Event", Value: m.EventName},
			{Name: "Endpoint", Value: m.URL},
			{Name: "Status", Value: statusOf(m.Status).Words},
			{
				Name:  "Last response",
				Value: noneYet(answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage)),
			},
		},
		Action: h.actionAddress(a, m),
		Button: a.button,
		Danger: a.danger,
		Back:   address,
	}
	if a.once {
		c.Hidden = []encode.Pair{{Name: memberState, Value: messageState(m)}}
	}
	if !a.fits(webhook.Status(m.Status)) {
		c.Effects = []string{a.unfit}
		c.Button = ""
	}
	return c
}

// messageState returns the state that the form of an action on a message is based on.
func messageState(m *wire.Message) string {
	return stateOf(strconv.Itoa(m.Status), strconv.Itoa(m.Retries), time.Time(m.LastSavedDateTime).String())
}

// act carries out an action, unless it no longer fits the status of the message.
func (h messages) act(x *edge.Context) error {
	a, m, err := h.actionOf(x)
	if err != nil {
		return err
	}
	if !a.fits(webhook.Status(m.Status)) {
		return h.refuse(x, a, &m)
	}
	values, err := formOf(x)
	if err != nil {
		return err
	}
	if a.once && values.Get(memberState) != messageState(&m) {
		return h.confirmation(x, a, &m).outdated(x, "The message has been attempted or changed")
	}
	err = a.do(h, x, &m)
	if fault.Is(err, fault.Conflict) { // perhaps with an attempt that has just ended
		present, _, findErr := h.find(x)
		if findErr == nil && !a.fits(webhook.Status(present.Status)) {
			return h.refuse(x, a, &present)
		}
	}
	if err != nil {
		return h.confirmation(x, a, &m).retry(x, err)
	}
	target := h.messageAddress(m.MessageID)
	if a.removes {
		target = h.messageList
	}
	return goTo(x, target+"?"+memberNote+"="+a.name)
}

// refuse shows why an action has not been carried out: the status of the message is another one.
func (h messages) refuse(x *edge.Context, a action, m *wire.Message) error {
	c := h.confirmation(x, a, m)
	c.Error = &problem{Message: "Nothing has been done: the status is now " + statusOf(m.Status).Words + "."}
	return c.show(x, http.StatusConflict)
}
