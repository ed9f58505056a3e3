package rest

import (
	"net/http"
	"strings"
	"time"

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

// The members that say when messages were added, beside the filters of every
// query.
const (
	memberSince = "Since" // and later
	memberUntil = "Until" // and earlier, but not at that time
)

// periodMembers are Since and Until for documents.
var periodMembers = []metadata.Member{
	{Name: memberSince, Type: "DateTime", Help: "messages that were added then or later"},
	{Name: memberUntil, Type: "DateTime", Help: "messages that were added before"},
}

// withoutPeriod takes Since and Until out of the members of a query of messages, and
// makes conditions of them.
func withoutPeriod(x *edge.Context, members query.Members) (query.Members, []query.Condition, error) {
	if x.Kind.Name != messageKind {
		return members, nil, nil
	}
	var others query.Members
	for _, m := range members {
		if !strings.EqualFold(m.Name, memberSince) && !strings.EqualFold(m.Name, memberUntil) {
			others = append(others, m)
		}
	}
	where, wrong := periodOf(x.Kind, members)
	if len(wrong) > 0 {
		return nil, nil, &fault.Error{Kind: fault.Invalid, Message: wrong[0].Name + " " + wrong[0].Message, Fields: wrong}
	}
	return others, where, nil
}

func periodOf(kind *record.Kind, members query.Members) (where []query.Condition, wrong []fault.Field) {
	for _, end := range []struct {
		member   string
		operator record.Operator
	}{{memberSince, record.GreaterThanOrEqualTo}, {memberUntil, record.LessThan}} {
		m, given := members.Get(end.member)
		if !given || m.Empty {
			continue
		}
		text, err := oneText(m)
		if err == nil {
			text, err = wire.ParseDate(text, time.UTC)
		}
		if err != nil {
			wrong = append(wrong, fault.Field{Name: end.member, Message: err.Error()})
			continue
		}
		where = append(where, condition(kind, "AddedDateTime", end.operator, wire.Value{Text: text}))
	}
	return where, wrong
}
