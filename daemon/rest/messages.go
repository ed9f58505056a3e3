package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// messages has the handlers of messages and their attempts.
type messages struct {
	admin         *admin.Service
	access        *accessControl
	queries       *queries
	subscriptions *subscriptions
}

// list answers a query for rows of the subscriber in the path, and of the message if
// the path has one.
func (h *messages) list(x *edge.Context) error {
	if _, err := h.admin.ResolveSubscriber(x.Request.Context(), x.Params.Get(inSubscriber)); err != nil {
		return err
	}
	members, err := readMembers(x)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(slices.Clone(members), func(m query.Member) bool { return !m.Empty && strings.EqualFold(m.Name, inSubscriber) })
	where, err := pathConditions(x, inSubscriber, inMessage)
	if err != nil {
		return err
	}
	plan, err := h.queries.plan(x, members, where...)
	if err != nil {
		return err
	}
	x.Members = members
	return h.queries.rows(x, plan)
}

// pathConditions returns the ids of the path as conditions on the kind's fields.
func pathConditions(x *edge.Context, names ...string) ([]query.Condition, error) {
	var where []query.Condition
	for _, name := range names {
		text := x.Params.Get(name)
		if text == "" {
			continue
		}
		id, err := wire.ParseGuid(text)
		if err != nil {
			return nil, fault.New(fault.NotFound, "There is no such message")
		}
		where = append(where, condition(x.Kind, name, record.Equal, wire.Value{Text: id}))
	}
	return where, nil
}

// messageAddress returns the ids of the message in the path.
func messageAddress(x *edge.Context) admin.Address {
	return admin.Address{Subscriber: x.Params.Get(inSubscriber), Subscription: x.Params.Get(inSubscription), Message: x.Params.Get(inMessage)}
}

// remove removes a message and cancels its pending attempt.
func (h *messages) remove(x *edge.Context) error {
	return x.NoContent(h.admin.RemoveMessage(x.Request.Context(), messageAddress(x)))
}

// retry makes a failed message due now.
func (h *messages) retry(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	m, err := h.admin.RetryMessage(x.Request.Context(), messageAddress(x))
	return messageState(x, m, err)
}

// sendTest sends a test message to a subscription.
func (h *messages) sendTest(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	t, err := h.testMessage(x)
	if err != nil {
		return err
	}
	m, err := h.admin.SendTest(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription), t)
	return messageState(x, m, err)
}

// testMessage reads the content of a test message. Receivers verify only the
// signature, so choosing the content requires the role for publishing events in
// addition to the SubscriberID.
func (h *messages) testMessage(x *edge.Context) (admin.TestMessage, error) {
	f := readForm(x)
	f.knows(inSubscriber, inSubscription)
	event, _ := f.given(memberEvent)
	t := admin.TestMessage{Event: event, Body: eventBody(x, f)}
	if err := f.done(x); err != nil || t.Event == "" && t.Body == nil {
		return t, err
	}
	return t, h.access.requireRole(x, account.Publisher)
}

// messageState responds with the state of a message that will be sent.
func messageState(x *edge.Context, m *webhook.Message, err error) error {
	if err != nil {
		return err
	}
	return x.Document(http.StatusAccepted, "Message", wire.MessageState{MessageID: m.GUID, Status: int(m.Status), Retries: m.Retries()})
}

// periodMembers documents Since and Until.
var periodMembers = []metadata.Member{
	{Name: memberSince, Type: "DateTime", Help: "messages added at or after this time"},
	{Name: memberUntil, Type: "DateTime", Help: "messages added before this time"},
}
