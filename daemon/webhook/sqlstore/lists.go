package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
)

// Views of the record kinds that list messages, and attempts.
const (
	messageView = "WH_MessageView"
	attemptView = "WH_MessageResponseView"
)

// ListPlan returns a plan for messages or attempts that does not read, sort or count the
// whole history, if there is one. All other plans are returned unchanged.
func (a *Admin) ListPlan(p *query.Plan) *query.Plan {
	if p.Group != nil || p.Place != nil { // the keys of a page by cursor are not the first ones
		return p
	}
	l := newMessageList(p, a.db)
	if l == nil {
		return p
	}
	listed := *p
	switch selective := l.keyed || !l.has(webhook.Successful); {
	case p.Take == 0 || l.owners.sql == "" && !selective: // no rows, or in the order of an index anyway
	case p.Take > 0 && p.Take <= math.MaxInt32 && p.Skip <= math.MaxInt32 && len(p.Order) > 0 && p.Order[0].Field == p.Kind.KeyField():
		listed.PageKeys = l.keys(p.Skip+p.Take, p.Order[0].Desc)
	case selective:
		listed.PageKeys = l.keys(query.NoTake, false)
	}
	if !l.attempts {
		listed.Matches = l.count()
	}
	return &listed
}

// messageList has the conditions of a plan in terms of the tables: b of subscribers, s of
// subscriptions and m of messages.
type messageList struct {
	db       *appdb.DB
	attempts bool             // the rows are attempts, in the order of their messages
	keyed    bool             // messages has a condition on the key, by which few messages are found
	owners   conditions       // on b and s
	messages conditions       // on m.ID and m.EventKey
	statuses []webhook.Status // of messages; nil for all
}

// conditions are joined by AND.
type conditions struct {
	sql  string // each follows AND
	args []query.Arg
}

func (c conditions) and(sql string, args ...query.Arg) conditions {
	return conditions{c.sql + " AND " + sql, slices.Concat(c.args, args)}
}

// newMessageList returns nil if the plan has other rows or other conditions.
func newMessageList(p *query.Plan, db *appdb.DB) *messageList {
	view := p.Kind.Source()
	if p.Distinct || view != messageView && view != attemptView {
		return nil
	}
	l := &messageList{db: db, attempts: view == attemptView}
	for _, c := range p.Where {
		field := p.Kind.Fields[c.Field]
		comparison := dialect.Matches[min(c.Operator, record.In)].SQL // none for record.In
		switch {
		case !c.IsPlain():
			return nil
		case c.Field == p.Kind.KeyField() && comparison != "":
			l.messages = l.messages.and("m.ID"+comparison+"?", argument(p, c))
		case c.Operator == record.Equal && field.Name == "SubscriberID":
			l.owners = l.owners.and("b.RecID = ?", argument(p, c))
		case c.Operator == record.Equal && field.Name == "SubscriptionID":
			l.owners = l.owners.and("s.RecID = ?", argument(p, c))
		case c.Operator == record.Equal && field.ColumnName() == keyColumn:
			l.messages, l.keyed = l.messages.and("m.EventKey = ?", argument(p, c)), true
		case (c.Operator == record.Equal || c.Operator == record.In) && field.Name == "Status" && !l.attempts && l.statuses == nil && len(c.Operands) > 0:
			for _, v := range c.Operands {
				if v.Int < int64(webhook.NotSent) || v.Int > int64(webhook.Failed) {
					return nil
				}
				l.statuses = append(l.statuses, webhook.Status(v.Int))
			}
		default:
			return nil
		}
	}
	return l
}

func argument(p *query.Plan, c query.Condition) query.Arg {
	return query.Arg{Field: c.Field, Type: p.Kind.Fields[c.Field].Type.Stored(), Value: c.Operands[0]}
}

func (l *messageList) has(s webhook.Status) bool {
	return l.statuses == nil || slices.Contains(l.statuses, s)
}

// statusPart are the messages with a status.
type statusPart struct {
	where conditions
	open  bool // the index is by partition
}

func (l *messageList) parts() []statusPart {
	switch {
	case l.statuses == nil:
		return []statusPart{{where: l.messages}}
	case l.keyed:
		listed := strings.ReplaceAll(strings.Trim(fmt.Sprint(l.statuses), "[]"), " ", ", ")
		return []statusPart{{where: l.messages.and("m.Status IN (" + listed + ")")}}
	}
	return append(l.open(true), l.with(true, webhook.Successful, webhook.Failed)...)
}

// open returns the open messages with the statuses of the list, or with the others.
func (l *messageList) open(listed bool) []statusPart {
	return l.with(listed, webhook.NotSent, webhook.RetryPending)
}

// with returns the messages with those of some statuses that the list has, or has not.
func (l *messageList) with(listed bool, statuses ...webhook.Status) (all []statusPart) {
	for _, s := range statuses {
		p := statusPart{l.messages, s.Open()}
		if p.open {
			p.where = p.where.and("m.NextAttemptDateTime IS NOT NULL")
		}
		if p.where = p.where.and(fmt.Sprintf("m.Status = %d", s)); l.has(s) == listed {
			all = append(all, p)
		}
	}
	return all
}

// keys selects the IDs of at least the first messages, or of all. Each subscription has
// as many as the page, which are read by an index.
func (l *messageList) keys(rows int64, desc bool) *query.Fragment {
	var f query.Fragment
	for i, p := range l.parts() {
		of := l.first(p, rows, desc)
		if i > 0 {
			f.SQL += " UNION ALL "
		}
		f.SQL += "SELECT k.ID FROM (" + of.SQL + ") k"
		f.Args = append(f.Args, of.Args...)
	}
	return &f
}

// first selects the IDs of the first messages with a status, or of all.
func (l *messageList) first(p statusPart, rows int64, desc bool) query.Fragment {
	where := p.where
	if l.attempts {
		where = where.and("EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = m.ID)")
	}
	if rows == query.NoTake {
		return l.from("m.ID", messageTable, p.open, where)
	}
	number := query.Arg{Field: query.NoField, Type: record.Long, Value: wire.Value{Int: rows}}
	before := number
	before.Value.Int--
	order, bound, none := " ORDER BY m.ID", "<=", int64(math.MaxInt64)
	if desc {
		order, bound, none = " ORDER BY m.ID DESC", ">=", 0
	}
	last, limit, otherwise := " LIMIT 1 OFFSET ?", " LIMIT ?", "COALESCE"
	if l.db.IsServer() { // which would evaluate the subquery of COALESCE twice
		last, limit, otherwise = " OFFSET ? ROWS FETCH NEXT 1 ROWS ONLY", " OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY", "ISNULL"
	}
	if !l.keyed && (l.owners.sql != "" || p.open) {
		same := "m.SubscriptionID = s.ID"
		if p.open {
			same = "m.PartitionID = p.PartitionID AND " + same
		}
		where = where.and(fmt.Sprintf("m.ID %s %s((SELECT m.ID FROM %s m WHERE %s%s%s%s), %d)", bound, otherwise, messageTable, same, where.sql, order, last, none),
			append(slices.Clone(where.args), before)...)
	}
	f := l.from("m.ID", messageTable, p.open, where)
	f.SQL += order + limit
	f.Args = append(f.Args, number)
	return f
}

const messageTable = "whd.SY_WebhookMessage"

// from selects from a table m the rows that belong to an existing subscription. The indexes
// of open messages are by partition; CROSS JOIN makes SQLite use them, and that by key.
func (l *messageList) from(selected, table string, open bool, where conditions) query.Fragment {
	joined := table + " m JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID"
	switch {
	case l.keyed:
		joined = table + " m CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b"
		where = where.and("s.ID = m.SubscriptionID AND b.ID = s.SubscriberID")
	case open:
		joined = "whd.SY_WebhookSubscription s JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN whd.WH_Partition p CROSS JOIN " + table + " m"
		where = conditions{" AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID" + where.sql, where.args}
	}
	return query.Fragment{
		SQL:  l.db.InSchema("SELECT " + selected + " FROM " + joined + strings.Replace(l.owners.sql+where.sql, " AND ", " WHERE ", 1)),
		Args: slices.Concat(l.owners.args, where.args),
	}
}

// count counts the messages. A file has the numbers of all and of failed messages for each
// subscription: only open ones are counted.
func (l *messageList) count() *query.Fragment {
	parts, sign, rows, stored := l.parts(), " + ", dialect.SQLite().CountAll, ""
	switch {
	case l.db.IsServer():
		rows = dialect.TSQL().CountAll
	case l.messages.sql != "": // also of a key
	case l.has(webhook.Successful): // most messages: all but the others
		parts, sign, stored = l.open(false), " - ", "m.Messages"
		if !l.has(webhook.Failed) {
			stored += " - m.Failed"
		}
	case l.has(webhook.Failed):
		parts, stored = l.open(true), "m.Failed"
	}
	var f query.Fragment
	if stored != "" {
		f = l.from("COALESCE(SUM("+stored+"), 0)", "whd.WH_MessageCount", false, conditions{})
		recent := l.from("COALESCE(SUM("+stored+"), 0)", newCounts, false, conditions{})
		f = query.Fragment{SQL: "SELECT (" + f.SQL + ") + (" + recent.SQL + ")", Args: slices.Concat(f.Args, recent.Args)}
	}
	for _, p := range parts {
		counted := l.from(rows, messageTable, p.open, p.where)
		if f.SQL == "" {
			f = counted
			continue
		}
		f.SQL = "SELECT (" + f.SQL + ")" + sign + "(" + counted.SQL + ")"
		f.Args = append(f.Args, counted.Args...)
	}
	return &f
}
