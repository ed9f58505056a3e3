package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/webhook"
)

// Captures lists the captures of changes.
type Captures interface {
	// List returns the state of all captures, by kind.
	List(ctx context.Context) ([]wire.Capture, error)
}

// notRequested returns the kinds that are captured on demand, but not now. If they are not known,
// there are none, and no notice is about them.
func notRequested(ctx context.Context, c Captures) map[string]bool {
	if c == nil {
		return nil
	}
	list, err := c.List(ctx)
	if err != nil {
		return nil
	}
	kinds := make(map[string]bool)
	for _, capture := range list {
		if capture.Phase == wire.CaptureNotRequested || capture.Phase == wire.CaptureIdle {
			kinds[capture.Kind] = true
		}
	}
	return kinds
}

// noticedSubscriptions makes the documents of subscriptions for one request, with notices about the
// records that they do not receive.
type noticedSubscriptions struct {
	handlers     *subscriptions
	x            *edge.Context
	notRequested map[string]bool // see notRequested; nil until it is needed
}

func (h *subscriptions) noticed(x *edge.Context) *noticedSubscriptions {
	return &noticedSubscriptions{handlers: h, x: x}
}

// document returns a subscription with its notices.
func (n *noticedSubscriptions) document(r webhook.Subscription) wire.Subscription {
	d := n.handlers.document(n.x, r)
	d.Notice = n.captureNotice(r)
	d.HeldMessages = n.heldMessages(r)
	return d
}

// captureNotice describes the changes of records that a subscription does not receive, or does not
// start the capture of, although its pattern matches their events. It names no kind that the caller may
// not read.
func (n *noticedSubscriptions) captureNotice(r webhook.Subscription) string {
	if record.IsServiceEvent(r.Pattern) && !n.handlers.admin.Rules().IsAdmin(r.Owner.Name) {
		return "the subscription receives no events, because its owner is not an admin: save it as an admin"
	}
	if !webhook.IsWildcard(r.Pattern) && r.Owner.Name != "" {
		return "" // it starts the capture, or is disabled with the reason
	}
	rules := n.handlers.admin.Rules()
	covered := rules.Covered(r.Pattern)
	if len(covered) == 0 {
		return ""
	}
	n.identify()
	maySee := func(k *record.Kind) bool { return queries.MayQuery(n.x, k) }
	seen := slices.DeleteFunc(slices.Clone(covered), func(k *record.Kind) bool { return !maySee(k) })
	if len(seen) == 0 && r.Pattern == "*" {
		return "" // whether there are captured events is not public
	}

	if r.Owner.Name == "" {
		return "with a SubscriberID alone, the subscription receives no events of changed records" + named(seen) +
			" and starts no capture: save it as a user with the right to read them"
	}
	if r.Pattern != "*" {
		return n.unreadNotice(r, covered, seen)
	}
	return n.notStartedNotice(seen)
}

// unreadNotice returns the notice about the kinds of a family that the owner of a subscription may
// not read.
func (n *noticedSubscriptions) unreadNotice(r webhook.Subscription, covered, seen []*record.Kind) string {
	rules := n.handlers.admin.Rules()
	mayRead := func(k *record.Kind) bool { return rules.MayRead(r.Owner.Name, k) }
	covered = slices.DeleteFunc(covered, mayRead)
	if len(covered) == 0 {
		return ""
	}
	return "the subscription receives no events of changed records" + named(slices.DeleteFunc(seen, mayRead)) +
		" and starts no capture, because its owner may not read the records"
}

// notStartedNotice returns the notice about those kinds that are not captured now: a subscription to
// all events does not start their capture.
func (n *noticedSubscriptions) notStartedNotice(kinds []*record.Kind) string {
	if n.notRequested == nil {
		n.notRequested = notRequested(n.x.Request.Context(), n.handlers.captures)
	}
	kinds = slices.DeleteFunc(kinds, func(k *record.Kind) bool { return !n.notRequested[k.Name] })
	if len(kinds) == 0 {
		return ""
	}
	ways := "subscribe to their events"
	if len(kinds) == 1 {
		ways = webhook.HowToRequest(kinds[0])
	}
	return "changes of " + listed(kinds) + " are not captured, and a subscription to all events" +
		" does not start their capture: " + ways
}

// named returns the names of kinds in parentheses; empty without kinds.
func named(kinds []*record.Kind) string {
	if len(kinds) == 0 {
		return ""
	}
	return " (" + listed(kinds) + ")"
}

// maxListed is the maximum number of kinds that a notice lists.
const maxListed = 10

// listed returns the names of kinds, or of the first ones.
func listed(kinds []*record.Kind) string {
	var names []string
	for _, k := range kinds[:min(len(kinds), maxListed)] {
		names = append(names, k.Name)
	}
	text := strings.Join(names, ", ")
	if omitted := len(kinds) - len(names); omitted > 0 {
		text += fmt.Sprintf(" and %d more", omitted)
	}
	return text
}

// maxCounted is the maximum number of open messages of a subscription that are searched for held
// ones.
const maxCounted = 1000

// heldMessages counts the held messages of a subscription, for administrators. It reads nothing for
// a subscription with an owner that may read all records.
func (n *noticedSubscriptions) heldMessages(r webhook.Subscription) int {
	sub := n.handlers.engine.Subscriptions().Subscription(r.ID)
	if sub == nil || !withholdsAny(sub) {
		return 0
	}
	n.identify()
	if !n.x.Identity.Role.Includes(account.Admin) {
		return 0
	}
	held, err := n.countHeld(n.x.Request.Context(), sub)
	if err != nil {
		return 0 // the subscription is shown without the number
	}
	return held
}

// identify identifies the caller of a route without a login.
func (n *noticedSubscriptions) identify() {
	if !n.x.Identity.Known() {
		n.handlers.access.Identify(n.x)
	}
}

// withholdsAny reports whether a subscription withholds an event that it matches.
func withholdsAny(sub *webhook.Subscription) bool {
	for event := range sub.Owner.Withheld {
		if record.MatchesEvent(sub.Pattern, event) {
			return true
		}
	}
	return false
}

// countHeld counts the messages that a subscription withholds among its oldest open ones.
func (n *noticedSubscriptions) countHeld(ctx context.Context, sub *webhook.Subscription) (int, error) {
	kind, _ := n.handlers.queries.System.Lookup(queries.MessageKind)
	event, _ := kind.Column(MemberEvent)
	itemNo, _ := kind.Column("ItemNo")
	status, _ := kind.Column(memberStatus)
	open := query.Condition{Field: status, Operator: record.In}
	for _, s := range []webhook.Status{webhook.NotSent, webhook.RetryPending} {
		open.Operands = append(open.Operands, wire.Value{Int: int64(s)})
	}
	rows, err := n.handlers.queries.Store.Select(ctx, &query.Plan{
		Kind:    kind,
		Columns: []int{event},
		Where: []query.Condition{
			queries.Condition(kind, inSubscription, record.Equal, wire.Value{Text: sub.GUID}),
			open,
		},
		Order: []query.Order{{Field: itemNo}},
		Take:  maxCounted,
	})
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	held := 0
	for {
		cells, err := rows.Next()
		if err != nil || cells == nil {
			return held, err
		}
		if sub.Withholds(string(cells[0].Data)) {
			held++
		}
	}
}
