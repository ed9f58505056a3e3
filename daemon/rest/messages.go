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

// messages are the handlers of messages and their attempts.
type messages struct {
	admin         *admin.Service
	access        *access
	queries       *queries
	subscriptions *subscriptions
}

// list answers a query for what belongs to the subscriber that the
// path names, and to a message where it names one.
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

// pathConditions are the ids of the path as conditions on the kind's fields.
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

// messageAddress is where a message is, by the path.
func messageAddress(x *edge.Context) admin.Address {
	return admin.Address{Subscriber: x.Params.Get(inSubscriber), Subscription: x.Params.Get(inSubscription), Message: x.Params.Get(inMessage)}
}

// remove removes a message and cancels what is pending of it.
func (h *messages) remove(x *edge.Context) error {
	return x.NoContent(h.admin.RemoveMessage(x.Request.Context(), messageAddress(x)))
}

// retry makes a message that has failed due now.
func (h *messages) retry(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	m, err := h.admin.RetryMessage(x.Request.Context(), messageAddress(x))
	return messageState(x, m, err)
}

// sendTest sends a message to a subscription, so that people can see
// whether it arrives.
func (h *messages) sendTest(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	t, err := h.trial(x)
	if err != nil {
		return err
	}
	m, err := h.admin.SendTest(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription), t)
	return messageState(x, m, err)
}

// trial reads what a subscription is to be tried out with. The receiver checks
// nothing but the signature, so who decides what is signed needs the role that
// raising events takes, and not just the SubscriberID.
func (h *messages) trial(x *edge.Context) (admin.TestMessage, error) {
	f := readForm(x)
	f.knows(inSubscriber, inSubscription)
	event, _ := f.given(memberEvent)
	t := admin.TestMessage{Event: event, Body: eventBody(x, f)}
	if err := f.done(x); err != nil || t.Event == "" && t.Body == nil {
		return t, err
	}
	return t, h.access.demand(x, account.Publisher)
}

// messageState answers with a message that is going to be sent.
func messageState(x *edge.Context, m *webhook.Message, err error) error {
	if err != nil {
		return err
	}
	return x.Document(http.StatusAccepted, "Message", wire.MessageState{MessageID: m.GUID, Status: int(m.Status), Retries: m.Retries()})
}

// periodMembers are Since and Until for documents.
var periodMembers = []metadata.Member{
	{Name: memberSince, Type: "DateTime", Help: "messages that were added then or later"},
	{Name: memberUntil, Type: "DateTime", Help: "messages that were added before"},
}
