package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
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
	if _, err := h.admin.Known(x.Request.Context(), x.Params.Get(inSubscriber)); err != nil {
		return err
	}
	members, err := readMembers(x)
	if err != nil {
		return err
	}
	where, err := pathConditions(x, inSubscriber, inMessage)
	if err != nil {
		return err
	}
	plan, err := h.queries.planMembers(x, without(members, inSubscriber), where...)
	if err != nil {
		return err
	}
	return h.queries.rows(x, plan)
}

// without leaves a member out, since the path says it.
func without(members query.Members, name string) query.Members {
	var rest query.Members
	for _, m := range members {
		if found, ok := (query.Members{m}).Get(name); !ok || found.Empty {
			rest = append(rest, m)
		}
	}
	return rest
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
	if err := h.admin.RemoveMessage(x.Request.Context(), messageAddress(x)); err != nil {
		return err
	}
	x.Response.WriteHeader(http.StatusNoContent)
	return nil
}

// retryRate is how often those who have but a SubscriberID may send what is in a
// subscription again, or test it.
var retryRate = edge.Rate{PerSecond: 10.0 / 60, Burst: 10}

// limitRetries counts a retry, unless an admin asks.
func (h *subscriptions) limitRetries(x *edge.Context) error {
	admin, err := h.access.isAdmin(x)
	if err != nil || admin {
		return err
	}
	return h.countRetry(x)
}

// countRetry counts a retry of a subscription that there is: other ids would take
// the place of its count.
func (h *subscriptions) countRetry(x *edge.Context) error {
	r, err := h.admin.Subscription(x.Request.Context(), x.Params.Get(inSubscriber), x.Params.Get(inSubscription))
	if err != nil {
		return err
	}
	return h.retries.Take(r.GUID, x.Timing.Start)
}

// retry makes a message that has failed due now.
func (h *messages) retry(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	m, err := h.admin.RetryMessage(x.Request.Context(), messageAddress(x))
	if err != nil {
		return err
	}
	return messageState(x, m)
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
	if err != nil {
		return err
	}
	return messageState(x, m)
}

// trial reads what a subscription is to be tried out with. The receiver checks
// nothing but the signature, so who decides what is signed needs the role that
// raising events takes, and not just the SubscriberID.
func (h *messages) trial(x *edge.Context) (admin.TestMessage, error) {
	f, err := readForm(x)
	if err != nil {
		return admin.TestMessage{}, err
	}
	f.knows(inSubscriber, inSubscription)
	event, _ := f.given(memberEvent)
	t := admin.TestMessage{Event: event, Body: eventBody(x, f)}
	if err := f.done(x); err != nil || t.Event == "" && t.Body == nil {
		return t, err
	}
	return t, h.access.demand(x, account.Publisher)
}

// messageState answers with a message that is going to be sent.
func messageState(x *edge.Context, m *webhook.Message) error {
	return x.Document(http.StatusAccepted, "Message", wire.MessageState{MessageID: m.GUID, Status: int(m.Status), Retries: m.Retries()})
}
