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
	if p.Group != nil {
		return p
	}
	if p.Place != nil { // the first keys are not those of the page, but of each of its parts
		listed := *p
		listed.FasterPart = a.partPlan
		listed.Matches = a.matches(p)
		return &listed
	}
	l := newMessageList(p, a.db)
	if l == nil {
		return p
	}
	listed := *p
	listed.PageKeys = l.pageKeys(p)
	if !l.attempts {
		listed.Matches = l.count()
	}
	return &listed
}

// matches counts all messages of a page by cursor, if the plan counts them, in a way that is faster
// than the general one; nil if there is none.
func (a *Admin) matches(p *query.Plan) *query.Fragment {
	if !p.Count {
		return nil
	}
	l := newMessageList(p, a.db)
	if l == nil || l.attempts {
		return nil
	}
	return l.count()
}

// partPlan returns the plan of a part of a page by cursor that does not read or sort the whole
// history, if there is one.
func (a *Admin) partPlan(p *query.Plan) *query.Plan {
	l := newMessageList(p, a.db)
	if l == nil {
		return p
	}
	listed := *p
	listed.PageKeys = l.pageKeys(p)
	return &listed
}

// pageKeys selects the IDs of the rows that a plan lists, or more; nil if the plan finds its rows
// by an index without them.
func (l *messageList) pageKeys(p *query.Plan) *query.Fragment {
	if l.isPageByTime(p) {
		return l.keysByTime(p.Skip+p.Take, p.Order[0].Desc)
	}
	if l.isPeriod() {
		return l.keysOfPeriod(p)
	}
	if l.event != nil && isPage(p) && isOrderedByID(p) {
		return l.keysOfEvent(p.Skip+p.Take, p.Order[0].Desc)
	}
	if l.event != nil {
		return nil
	}
	isSelective := l.keyed || !l.has(webhook.Successful)
	if p.Take == 0 || l.owners.sql == "" && !isSelective { // no rows, or in the order of an index
		return nil
	}
	if isPage(p) && isOrderedByID(p) {
		return l.keys(p.Skip+p.Take, p.Order[0].Desc)
	}
	if isSelective {
		return l.keys(query.NoTake, false)
	}
	return nil
}

// isPage reports whether a plan lists a limited number of rows, from a limited place on.
func isPage(p *query.Plan) bool {
	return p.Take > 0 && p.Take <= math.MaxInt32 && p.Skip <= math.MaxInt32
}

func isOrderedByID(p *query.Plan) bool {
	return len(p.Order) > 0 && p.Order[0].Field == p.Kind.KeyField()
}

// messageList has the conditions of a plan in terms of the tables: b of subscribers, s of
// subscriptions and m of messages.
type messageList struct {
	db       *appdb.DB
	attempts bool             // the rows are attempts, in the order of their messages
	keyed    bool             // messages has a condition on the key, by which few messages are found
	owners   conditions       // on b and s
	messages conditions       // on m.ID, m.EventKey and m.AddedDateTime
	period   conditions       // on m.RecID, which follow from those on m.AddedDateTime
	blocks   conditions       // on k of WH_MessageBlock, which follow from those on m.AddedDateTime and m.ID
	hasIDs   bool             // messages has a condition on m.ID
	event    *query.Arg       // name of the event; nil for all
	eventIDs conditions       // on k of WH_EventBlock, on a server on e.EventID, which follow from those on m.ID
	statuses []webhook.Status // of messages; nil for all
}

// conditions are joined by AND.
type conditions struct {
	sql  string // each follows AND
	args []query.Arg
}

func (c conditions) and(sql string, args ...query.Arg) conditions {
	return conditions{sql: c.sql + " AND " + sql, args: slices.Concat(c.args, args)}
}

// with returns both conditions.
func (c conditions) with(period conditions) conditions {
	return conditions{sql: c.sql + period.sql, args: slices.Concat(c.args, period.args)}
}

// newMessageList returns nil if the plan has other rows or other conditions.
func newMessageList(p *query.Plan, db *appdb.DB) *messageList {
	view := p.Kind.Source()
	if p.Distinct || view != messageView && view != attemptView {
		return nil
	}
	l := &messageList{db: db, attempts: view == attemptView}
	for _, c := range p.Where {
		if !c.IsPlain() || !l.add(p, c) {
			return nil
		}
	}
	if l.event != nil && !l.isOfEvent() {
		return nil
	}
	return l
}

// add adds a condition of a plan. It returns false for one that it does not know.
func (l *messageList) add(p *query.Plan, c query.Condition) bool {
	comparison := dialect.Matches[min(c.Operator, record.In)].SQL // none for record.In
	if c.Field == p.Kind.KeyField() && comparison != "" {
		l.messages = l.messages.and("m.ID"+comparison+"?", argument(p, c))
		l.hasIDs = true
		l.addEventIDs(p, c)
		l.addBlockIDs(p, c)
		return true
	}
	field := p.Kind.Fields[c.Field]
	if field.Name == "Status" {
		return l.addStatuses(c)
	}
	if field.ColumnName() == addedColumn {
		return l.addPeriod(p, c)
	}
	if c.Operator != record.Equal {
		return false
	}
	switch {
	case field.Name == "SubscriberID":
		l.owners = l.owners.and("b.RecID = ?", argument(p, c))
	case field.Name == "SubscriptionID":
		l.owners = l.owners.and("s.RecID = ?", argument(p, c))
	case field.Name == "EventName":
		return l.addEvent(p, c)
	case field.ColumnName() == keyColumn:
		l.messages = l.messages.and("m.EventKey = ?", argument(p, c))
		l.keyed = true
	default:
		return false
	}
	return true
}

// addStatuses adds a condition on the statuses of messages, of which there may be one.
func (l *messageList) addStatuses(c query.Condition) bool {
	if l.attempts || l.statuses != nil || len(c.Operands) == 0 {
		return false
	}
	if c.Operator != record.Equal && c.Operator != record.In {
		return false
	}
	for _, v := range c.Operands {
		if v.Int < int64(webhook.NotSent) || v.Int > int64(webhook.Failed) {
			return false
		}
		l.statuses = append(l.statuses, webhook.Status(v.Int))
	}
	return true
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
	if l.statuses == nil {
		return []statusPart{{where: l.messages}}
	}
	if l.keyed {
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(l.statuses), "[]"), " ", ", ")
		return []statusPart{{where: l.messages.and("m.Status IN (" + list + ")")}}
	}
	return append(l.open(true), l.with(true, webhook.Successful, webhook.Failed)...)
}

// open returns the open messages with the statuses of the list, or with the others.
func (l *messageList) open(listed bool) []statusPart {
	return l.with(listed, webhook.NotSent, webhook.RetryPending)
}

// with returns the messages with those of some statuses that the list has, or has not.
func (l *messageList) with(listed bool, statuses ...webhook.Status) []statusPart {
	var parts []statusPart
	for _, s := range statuses {
		if l.has(s) != listed {
			continue
		}
		p := statusPart{where: l.messages, open: s.Open()}
		if p.open {
			p.where = p.where.and("m.NextAttemptDateTime IS NOT NULL")
		}
		p.where = p.where.and(fmt.Sprintf("m.Status = %d", s))
		parts = append(parts, p)
	}
	return parts
}

// keys selects the IDs of at least the first messages, or of all. Each subscription has
// as many as the page, which are read by an index.
func (l *messageList) keys(rows int64, desc bool) *query.Fragment {
	var f query.Fragment
	for i, p := range l.parts() {
		first := l.first(p, rows, desc)
		if i > 0 {
			f.SQL += " UNION ALL "
		}
		f.SQL += "SELECT k.ID FROM (" + first.SQL + ") k"
		f.Args = append(f.Args, first.Args...)
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

	order := " ORDER BY m.ID"
	if desc {
		order += " DESC"
	}
	if !l.keyed && (l.owners.sql != "" || p.open) {
		where = l.bounded(p, where, rows, desc, order)
	}
	limit := " LIMIT ?"
	if l.db.IsServer() {
		limit = " OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY"
	}
	f := l.from("m.ID", messageTable, p.open, where)
	f.SQL += order + limit
	f.Args = append(f.Args, rowCount(rows))
	return f
}

// rowCount is the argument for a number of rows.
func rowCount(n int64) query.Arg {
	return query.Arg{Field: query.NoField, Type: record.Long, Value: wire.Value{Int: n}}
}

// bounded adds the condition that a message is not behind the last one of the page that its
// subscription, and partition, would have alone. If these have fewer, there is no bound.
func (l *messageList) bounded(p statusPart, where conditions, rows int64, desc bool, order string) conditions {
	comparison, unbounded := "<=", int64(math.MaxInt64)
	if desc {
		comparison, unbounded = ">=", 0
	}
	last, otherwise := " LIMIT 1 OFFSET ?", "COALESCE"
	if l.db.IsServer() { // which would evaluate the subquery of COALESCE twice
		last, otherwise = " OFFSET ? ROWS FETCH NEXT 1 ROWS ONLY", "ISNULL"
	}
	same := "m.SubscriptionID = s.ID"
	if p.open {
		same = "m.PartitionID = p.PartitionID AND " + same
	}
	bound := "(SELECT m.ID FROM " + messageTable + " m WHERE " + same + where.sql + order + last + ")"
	args := append(slices.Clone(where.args), rowCount(rows-1))
	return where.and(fmt.Sprintf("m.ID %s %s(%s, %d)", comparison, otherwise, bound, unbounded), args...)
}

const messageTable = "whd.SY_WebhookMessage"

// from selects from a table m the rows that belong to an existing subscription. The indexes
// of open messages are by partition; CROSS JOIN makes SQLite use them, and that by key.
func (l *messageList) from(selected, table string, open bool, where conditions) query.Fragment {
	joined := table + ` m JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID`
	if l.keyed {
		joined = table + ` m CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b`
		where = where.and("s.ID = m.SubscriptionID AND b.ID = s.SubscriberID")
	} else if open {
		joined = `whd.SY_WebhookSubscription s JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID` +
			` CROSS JOIN whd.WH_Partition p CROSS JOIN ` + table + ` m`
		where.sql = " AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID" + where.sql
	}
	filter := strings.Replace(l.owners.sql+where.sql, " AND ", " WHERE ", 1)
	return query.Fragment{
		SQL:  l.db.InSchema("SELECT " + selected + " FROM " + joined + filter),
		Args: slices.Concat(l.owners.args, where.args),
	}
}

// count counts the messages. A file has the numbers of all and of failed messages for each
// subscription: only open ones are counted.
func (l *messageList) count() *query.Fragment {
	countAll := dialect.SQLite().CountAll
	if l.db.IsServer() {
		countAll = dialect.TSQL().CountAll
	}
	if l.isPeriod() {
		return l.countOfPeriod(countAll)
	}
	if l.event != nil {
		return l.countOfEvent()
	}
	if l.db.IsServer() {
		return l.countRows(query.Fragment{}, countAll, " + ", l.parts())
	}
	if l.messages.sql == "" { // nor a key
		if l.has(webhook.Successful) { // most messages: all but the others
			stored := "m.Messages"
			if !l.has(webhook.Failed) {
				stored += " - m.Failed"
			}
			return l.countRows(l.stored(stored), countAll, " - ", l.open(false))
		}
		if l.has(webhook.Failed) {
			return l.countRows(l.stored("m.Failed"), countAll, " + ", l.open(true))
		}
	}
	return l.countRows(query.Fragment{}, countAll, " + ", l.parts())
}

// stored sums a number of messages that a file has for each subscription, and adds that of the
// messages that are not counted yet.
func (l *messageList) stored(number string) query.Fragment {
	sum := "COALESCE(SUM(" + number + "), 0)"
	counted := l.from(sum, "whd.WH_MessageCount", false, conditions{})
	recent := l.from(sum, newCounts, false, conditions{})
	return query.Fragment{
		SQL:  "SELECT (" + counted.SQL + ") + (" + recent.SQL + ")",
		Args: slices.Concat(counted.Args, recent.Args),
	}
}

// countRows adds the numbers of messages with some statuses to a number, or subtracts them. start
// has no SQL if there is none.
func (l *messageList) countRows(start query.Fragment, countAll, sign string, parts []statusPart) *query.Fragment {
	f := start
	for _, p := range parts {
		counted := l.from(countAll, messageTable, p.open, p.where)
		if f.SQL == "" {
			f = counted
			continue
		}
		f.SQL = "SELECT (" + f.SQL + ")" + sign + "(" + counted.SQL + ")"
		f.Args = append(f.Args, counted.Args...)
	}
	return &f
}
