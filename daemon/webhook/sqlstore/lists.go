package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
)

// Views of the record kinds that list messages, and attempts.
const (
	messageView = "WH_MessageView"
	attemptView = "WH_MessageResponseView"
)

// ListPlan returns a plan for messages or attempts that does not sort or count the whole
// history, if there is one. All other plans are returned unchanged.
func (a *Admin) ListPlan(p *query.Plan) *query.Plan {
	l := newMessageList(p)
	if l == nil {
		return p
	}
	listed := *p
	if l.isPage(p) {
		listed.PageKeys = l.pageKeys(p, a.db.IsServer())
	}
	if !l.attempts {
		listed.Matches = l.count(a.db.IsServer())
	}
	for _, f := range []*query.Fragment{listed.PageKeys, listed.Matches} {
		if f != nil {
			f.SQL = a.db.InSchema(f.SQL)
		}
	}
	return &listed
}

// messageList has the conditions of a plan in terms of the tables: b of subscribers, s of
// subscriptions and m of messages.
type messageList struct {
	attempts bool       // the rows are attempts, in the order of their messages
	owners   conditions // on b and s
	messages conditions // on m
	failed   bool       // only failed messages; this condition is in messages
	keys     bool       // messages has a condition on m.ID
}

type conditions struct {
	sql  string // each follows AND
	args []query.Arg
}

func (c conditions) and(sql string, args ...query.Arg) conditions {
	return conditions{c.sql + " AND " + sql, slices.Concat(c.args, args)}
}

// newMessageList returns nil if the plan has other rows or other conditions.
func newMessageList(p *query.Plan) *messageList {
	l := &messageList{attempts: p.Kind.Source() == attemptView}
	if p.Distinct || !l.attempts && p.Kind.Source() != messageView {
		return nil
	}
	for _, c := range p.Where {
		field := p.Kind.Fields[c.Field]
		comparison := dialect.Matches[c.Operator].SQL
		switch {
		case c.Field == p.Kind.KeyField() && comparison != "":
			l.keys = true
			l.messages = l.messages.and("m.ID"+comparison+"?", argument(p, c))
		case c.Operator != record.Equal:
			return nil
		case field.Name == "SubscriberID":
			l.owners = l.owners.and("b.RecID = ?", argument(p, c))
		case field.Name == "SubscriptionID":
			l.owners = l.owners.and("s.RecID = ?", argument(p, c))
		case field.Name == "Status" && !l.attempts && c.Operands[0].Int == int64(webhook.Failed):
			l.failed = true
			l.messages = l.messages.and("m.Status = 3") // as in the condition of the indexes
		default:
			return nil
		}
	}
	return l
}

func argument(p *query.Plan, c query.Condition) query.Arg {
	return query.Arg{Field: c.Field, Type: p.Kind.Fields[c.Field].Type.Stored(), Value: c.Operands[0]}
}

// isPage reports whether the plan reads a page in the order of the messages, and the
// database does not read the messages in this order anyway.
func (l *messageList) isPage(p *query.Plan) bool {
	return p.Take > 0 && p.Take <= math.MaxInt32 && p.Skip <= math.MaxInt32 && len(p.Order) > 0 && p.Order[0].Field == p.Kind.KeyField() &&
		(l.owners.sql != "" || l.failed)
}

// pageKeys selects the IDs of the first messages. Those of several subscriptions are
// merged: from each, only as many are read as the page has rows, by an index.
func (l *messageList) pageKeys(p *query.Plan, server bool) *query.Fragment {
	rows := query.Arg{Field: query.NoField, Type: record.Long, Value: wire.Value{Int: p.Skip + p.Take}}
	before := rows
	before.Value.Int--
	order, bound, none := " ORDER BY m.ID", "<=", int64(math.MaxInt64)
	if p.Order[0].Desc {
		order, bound, none = " ORDER BY m.ID DESC", ">=", 0
	}
	last, first := " LIMIT 1 OFFSET ?", " LIMIT ?"
	if server {
		last, first = " OFFSET ? ROWS FETCH NEXT 1 ROWS ONLY", " OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY"
	}
	where := l.messages
	if l.attempts {
		where = where.and("EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = m.ID)")
	}
	if l.owners.sql != "" {
		where = where.and(fmt.Sprintf("m.ID %s COALESCE((SELECT m.ID FROM whd.SY_WebhookMessage m WHERE m.SubscriptionID = s.ID%s%s%s), %d)",
			bound, where.sql, order, last, none), append(slices.Clone(where.args), before)...)
	}
	f := ofOwners("m.ID", "whd.SY_WebhookMessage", l.owners, where)
	f.SQL += order + first
	f.Args = append(f.Args, rows)
	return f
}

// count counts the messages. A file has their numbers for each subscription.
func (l *messageList) count(server bool) *query.Fragment {
	switch {
	case server:
		return ofOwners("COUNT_BIG(*)", "whd.SY_WebhookMessage", l.owners, l.messages)
	case l.keys:
		return ofOwners("COUNT(*)", "whd.SY_WebhookMessage", l.owners, l.messages)
	case l.failed:
		return ofOwners("COALESCE(SUM(m.Failed), 0)", "whd.WH_MessageCount", l.owners, conditions{})
	}
	return ofOwners("COALESCE(SUM(m.Messages), 0)", "whd.WH_MessageCount", l.owners, conditions{})
}

// ofOwners selects those rows of a table m that belong to an existing subscription.
func ofOwners(selected, table string, owners, messages conditions) *query.Fragment {
	return &query.Fragment{
		SQL: "SELECT " + selected + " FROM " + table + " m JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID" +
			" JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID" + strings.Replace(owners.sql+messages.sql, " AND ", " WHERE ", 1),
		Args: slices.Concat(owners.args, messages.args),
	}
}
