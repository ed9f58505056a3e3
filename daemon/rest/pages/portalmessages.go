package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// portalMessagesLink leads to the list of messages.
var portalMessagesLink = encode.Link{Name: "Messages", URL: pathPortalMessages}

// portalMessageAddress returns the address of the page of a message.
func portalMessageAddress(id string) string { return pathPortalMessages + "/" + url.PathEscape(id) }

// messages shows the messages of the subscriber that match the filters of the address.
func (h portal) messages(x *edge.Context, v webhook.Visitor) error {
	accepted := messageFilters(memberBefore)
	accepted.hidden = memberSubscriberID // no address of a page has it
	filters, err := accepted.in(x)
	if err != nil {
		return err
	}
	members := x.Request.URL.Query()
	selection := strictly(filters)
	selection.Set(query.Fields, listed)
	selection.Set(query.Take, strconv.Itoa(pageSize+1))
	if before := members.Get(memberBefore); before != "" {
		selection.Set("ItemNo"+record.LessThan.Suffix(), before)
	}
	var found rows[wire.Message]
	err = h.get(x, subscriberPath(v)+"/Messages", selection, &found)
	if err != nil {
		return err
	}

	base := x.Base + pathPortalMessages
	page := messageList{
		Page:       portalFrame(x, v, "Messages"),
		Note:       noteOf(members.Get(memberNote)),
		Conditions: conditionsOf(messageKind(), base, filters, messageWords),
		Statuses:   statusTabs(base, filters),
		Periods:    periodTabs(x, base, filters),
		RefreshURL: with(base, filters, edge.MemberRefresh, "10"),
		ClearURL:   base,
	}
	page.paginate(base, filters, &found, members.Get(memberBefore) != "")
	for i := range found.Results {
		r := rowOf(x, base, filters, &found.Results[i])
		r.URL = x.Base + portalMessageAddress(r.MessageID)
		page.Rows = append(page.Rows, r)
	}
	return show(x, http.StatusOK, "portalMessages", page)
}

// findMessage returns the message in the address, and why it is held.
func (h portal) findMessage(x *edge.Context, v webhook.Visitor) (wire.Message, string, error) {
	var found rows[wire.Message]
	id := x.Params.Get("MessageID")
	err := h.get(x, subscriberPath(v)+"/Messages", url.Values{"MessageID": {id}}, &found)
	m, err := only(found, err, "message")
	return m, found.Meta[wire.MetaHeld], err
}

// portalMessagePage is the page of a message for its subscriber.
type portalMessagePage struct {
	messagePage
	SubscriptionURL string
	RefreshURL      string
}

// message shows a message with its attempts.
func (h portal) message(x *edge.Context, v webhook.Visitor) error {
	m, held, err := h.findMessage(x, v)
	if err != nil {
		return err
	}
	address := x.Base + portalMessageAddress(m.MessageID)
	page := portalMessagePage{
		messagePage: messagePage{
			Page:    portalFrame(x, v, "Message "+shortID(m.MessageID), portalMessagesLink),
			Message: m,
			Note:    messageNote(x, &m),
			State:   statusOf(m.Status),
			Answer:  answer(m.LastMessageResponseHTTPCode, m.LastMessageResponseMessage),
			Held:    held,
			Next:    next(x, &m),
			Added:   ago(x, m.AddedDateTime),
			Tries:   tries(&m),
			Pretty:  pretty(m.Body),
		},
		SubscriptionURL: x.Base + portalSubscriptionAddress(m.SubscriptionID),
		RefreshURL:      address + "?" + edge.MemberRefresh + "=2",
	}
	for _, a := range portalActions() {
		if a.fits(webhook.Status(m.Status)) {
			page.Actions = append(page.Actions, encode.Link{Name: a.button, URL: address + "/Do/" + a.name})
		}
	}
	page.Attempts, err = h.attempts(x, v, m.MessageID)
	if err != nil {
		return err
	}
	return show(x, http.StatusOK, "portalMessage", page)
}

// attempts returns the latest attempts of a message, the newest first.
func (h portal) attempts(x *edge.Context, v webhook.Visitor, message string) ([]attemptRow, error) {
	var found rows[wire.Attempt]
	err := h.get(x, subscriberPath(v)+"/Messages/"+url.PathEscape(message)+"/Responses", url.Values{
		query.OrderByDesc: {"ItemNo"},
		query.Take:        {strconv.Itoa(maxAttempts)},
		query.Fields:      {"ItemNo,LastSavedDateTime,HTTPCode,Message,Duration,URL,Status"},
	}, &found)
	return attemptRows(x, found.Results), err
}

// portalActions returns the actions of a message that a subscriber has.
func portalActions() []action {
	isForAdmins := func(a action) bool { return a.name == "SendAgain" }
	return slices.DeleteFunc(slices.Clone(actions), isForAdmins)
}

// confirmMessage shows the confirmation of an action.
func (h portal) confirmMessage(x *edge.Context, v webhook.Visitor) error {
	a, m, err := h.messageAction(x, v)
	if err != nil {
		return err
	}
	return a.portalConfirmation(x, v, &m).open(x)
}

// messageAction returns the action in the address, and its message.
func (h portal) messageAction(x *edge.Context, v webhook.Visitor) (action, wire.Message, error) {
	a, err := portalActionOf(x, portalActions(), func(a action) string { return a.name })
	if err != nil {
		return a, wire.Message{}, err
	}
	m, _, err := h.findMessage(x, v)
	return a, m, err
}

// portalConfirmation returns the confirmation before an action.
func (a action) portalConfirmation(x *edge.Context, v webhook.Visitor, m *wire.Message) confirmation {
	address := portalMessageAddress(m.MessageID)
	id := shortID(m.MessageID)
	return confirmation{
		Page: portalFrame(x, v, a.button+" message "+id, portalMessagesLink,
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
		Action: address + "/Do/" + a.name,
		Button: a.button,
		Danger: a.danger,
		Back:   address,
	}
}

// changeMessage carries out an action.
func (h portal) changeMessage(x *edge.Context, v webhook.Visitor) error {
	a, m, err := h.messageAction(x, v)
	if err != nil {
		return err
	}
	path := subscriptionPath(v.Subscriber, m.SubscriptionID) + "/Messages/" + url.PathEscape(m.MessageID)
	target := portalMessageAddress(m.MessageID)
	switch a.name {
	case "Retry":
		err = h.send(x, http.MethodPost, path+"/Retry", nil, nil)
	case "Delete":
		err = h.send(x, http.MethodDelete, path, nil, nil)
		target = pathPortalMessages
	}
	if err != nil {
		return a.portalConfirmation(x, v, &m).retry(x, err)
	}
	return goTo(x, target+"?"+memberNote+"="+a.name)
}
