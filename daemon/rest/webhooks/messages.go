package webhooks

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// messages has the handlers of messages and their attempts.
type messages struct {
	admin         *admin.Service
	engine        *delivery.Engine
	access        *accounts.Access
	queries       *queries.Handler
	subscriptions *subscriptions
}

// List answers a query for rows of the subscriber in the path, and of the message if
// the path has one.
func (h *messages) List(x *edge.Context) error {
	if _, err := h.admin.ResolveSubscriber(x.Request.Context(), x.Params.Get(InSubscriber)); err != nil {
		return err
	}
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	// The path takes precedence over a member with the SubscriberID.
	members = slices.DeleteFunc(slices.Clone(members), func(m query.Member) bool {
		return !m.Empty && query.SameName(m.Name, InSubscriber)
	})
	where, err := pathConditions(x, InSubscriber, inMessage)
	if err != nil {
		return err
	}
	plan, err := h.queries.Plan(x, members, append(where, h.hidden(x)...)...)
	if err != nil {
		return err
	}
	x.Members = members
	return h.rows(x, plan)
}

// Query answers a query for messages of all subscribers.
func (h *messages) Query(x *edge.Context) error {
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	plan, err := h.queries.Plan(x, members)
	if err != nil {
		return err
	}
	return h.rows(x, plan)
}

// rows responds with the rows of a plan. If it selects a message by its ID that is held, Meta has the
// reason.
func (h *messages) rows(x *edge.Context, plan *query.Plan) error {
	reason, err := h.heldReason(x.Request.Context(), plan)
	if err != nil {
		return err
	}
	if reason == "" {
		return h.queries.Rows(x, plan)
	}
	return h.queries.RowsWith(x, plan, []queries.Meta{{Name: wire.MetaHeld, Value: reason}})
}

// heldReason returns why the message is held that a plan selects by its ID; empty if it is not held,
// or if the plan selects other rows.
func (h *messages) heldReason(ctx context.Context, plan *query.Plan) (string, error) {
	kind := plan.Kind
	if kind.Name != queries.MessageKind || plan.Group != nil {
		return "", nil
	}
	id, _ := kind.Column(inMessage)
	isID := func(c query.Condition) bool { return c.IsPlain() && c.Field == id && c.Operator == record.Equal }
	if !slices.ContainsFunc(plan.Where, isID) {
		return "", nil
	}

	var columns []int
	for _, name := range []string{MemberEvent, inSubscription, memberStatus} {
		column, _ := kind.Column(name)
		columns = append(columns, column)
	}
	rows, err := h.queries.Store.Select(ctx, &query.Plan{
		Kind:    kind,
		Columns: columns,
		Where:   plan.Where,
		Order:   []query.Order{{Field: id}},
		Take:    1,
		Mask:    plan.Mask,
	})
	if err != nil {
		return "", err
	}
	defer rows.Close()
	cells, err := rows.Next()
	if err != nil || cells == nil || !webhook.Status(cells[2].Int).Open() {
		return "", err
	}
	event, subscription := string(cells[0].Data), string(cells[1].Data)
	for sub := range h.engine.Subscriptions().Subscriptions {
		if strings.EqualFold(sub.GUID, subscription) {
			return heldBy(sub, event), nil
		}
	}
	return "", nil
}

// heldBy returns why a subscription, which may be nil, withholds the messages of an event; empty if
// it does not.
func heldBy(sub *webhook.Subscription, event string) string {
	if sub == nil || !sub.Withholds(event) {
		return ""
	}
	return admin.HeldReason(sub)
}

// hidden returns conditions that leave out the messages with records of kinds that require a role
// which the caller lacks. The SubscriberID does not replace the role, not even for kinds that are no
// longer captured.
func (h *messages) hidden(x *edge.Context) []query.Condition {
	var where []query.Condition
	for event, role := range h.admin.Rules().Roles {
		kindRole := account.ParseKindRole(role)
		if kindRole.Allows(account.NoRole) {
			continue
		}
		if !x.Identity.Known() {
			h.access.Identify(x)
		}
		if kindRole.Allows(x.Identity.Role) {
			continue
		}
		for _, name := range []string{event, record.TestEventFor(event)} {
			where = append(where, queries.Condition(x.Kind, MemberEvent, record.NotEqualTo, wire.Value{Text: name}))
		}
	}
	return where
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
			return nil, fault.NoSuch("message")
		}
		where = append(where, queries.Condition(x.Kind, name, record.Equal, wire.Value{Text: id}))
	}
	return where, nil
}

// messageAddress returns the ids of the message in the path.
func messageAddress(x *edge.Context) admin.Address {
	return admin.Address{
		Subscriber:   x.Params.Get(InSubscriber),
		Subscription: x.Params.Get(inSubscription),
		Message:      x.Params.Get(inMessage),
	}
}

// Remove removes a message and cancels its pending attempt.
func (h *messages) Remove(x *edge.Context) error {
	return x.NoContent(h.admin.RemoveMessage(x.Request.Context(), messageAddress(x)))
}

// Retry makes a failed message due now.
func (h *messages) Retry(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	m, err := h.admin.RetryMessage(x.Request.Context(), messageAddress(x))
	return h.respondState(x, m, err)
}

// SendTest sends a test message to a subscription.
func (h *messages) SendTest(x *edge.Context) error {
	if err := h.subscriptions.limitRetries(x); err != nil {
		return err
	}
	t, err := h.testMessage(x)
	if err != nil {
		return err
	}
	m, err := h.admin.SendTest(x.Request.Context(), x.Params.Get(InSubscriber), x.Params.Get(inSubscription), t)
	return h.respondState(x, m, err)
}

// testMessage reads the content of a test message. Receivers verify only the
// signature, so choosing the content requires the role for publishing events in
// addition to the SubscriberID.
func (h *messages) testMessage(x *edge.Context) (admin.TestMessage, error) {
	f := form.Read(x)
	f.Knows(InSubscriber, inSubscription)
	event, _ := f.Given(MemberEvent)
	t := admin.TestMessage{Event: event, Body: eventBody(x, f)}
	if err := f.Done(x); err != nil {
		return t, err
	}
	isSample := t.Event == "" && t.Body == nil
	if isSample {
		return t, nil
	}
	return t, h.access.RequireRole(x, account.Publisher)
}

// respondState responds with the state of a message that will be sent, unless it is held.
func (h *messages) respondState(x *edge.Context, m *webhook.Message, err error) error {
	if err != nil {
		return err
	}
	return x.Document(http.StatusAccepted, "Message", wire.MessageState{
		MessageID: m.GUID,
		Status:    int(m.Status),
		Retries:   m.Retries(),
		Held:      heldBy(h.engine.Subscriptions().Subscription(m.Subscription), m.Event.Name),
	})
}

// PeriodMembers documents Since and Until.
var PeriodMembers = []metadata.Member{
	{Name: queries.MemberSince, Type: "DateTime", Help: "messages added at or after this time"},
	{Name: queries.MemberUntil, Type: "DateTime", Help: "messages added before this time"},
}
