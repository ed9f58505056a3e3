package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/webhook"
)

// A file finds messages by the time when they were added through the index on their GUIDs, which
// start with that time: see webhook.GUIDTime. An index on AddedDateTime would have to be maintained
// by every delivery.

// addedColumn is the time when a message was added.
const addedColumn = "AddedDateTime"

// addPeriod adds a condition on the time when messages were added.
func (l *messageList) addPeriod(p *query.Plan, c query.Condition) bool {
	if l.attempts || l.db.IsServer() {
		return false
	}
	if c.Operator == record.Between {
		return l.addBound(p, c, record.GreaterThanOrEqualTo, 0) && l.addBound(p, c, record.LessThanOrEqualTo, 1)
	}
	return l.addBound(p, c, c.Operator, 0)
}

// addBound adds the comparison with an operand of a condition on the time.
func (l *messageList) addBound(p *query.Plan, c query.Condition, op record.Operator, operand int) bool {
	if operand >= len(c.Operands) {
		return false
	}
	added, err := time.Parse(wire.DateLayout, c.Operands[operand].Text)
	if err != nil || added.UnixMilli() < 0 {
		return false
	}
	c.Operands = c.Operands[operand : operand+1]
	isUpper := op == record.LessThan || op == record.LessThanOrEqualTo || op == record.Equal
	isLower := op == record.GreaterThan || op == record.GreaterThanOrEqualTo || op == record.Equal
	if !isUpper && !isLower {
		return false
	}
	l.messages = l.messages.and("m."+addedColumn+dialect.Matches[op].SQL+"?", argument(p, c))
	if isLower {
		l.period = l.period.and("m.RecID >= ?", textArg(webhook.GUIDTime(added)))
	}
	if isUpper {
		l.period = l.period.and("m.RecID < ?", textArg(webhook.GUIDTime(added)+afterGUIDs))
	}
	return true
}

// afterGUIDs sorts after all characters of GUIDs.
const afterGUIDs = "~"

// textArg is the argument for a text.
func textArg(s string) query.Arg {
	return query.Arg{Field: query.NoField, Type: record.Text, Value: wire.Value{Text: s}}
}

// isPeriod reports whether the list has all messages that were added in a period.
func (l *messageList) isPeriod() bool { return l.period.sql != "" && l.event == nil && l.isOfTime() }

// isOfTime reports whether the list has no conditions but those on the time, the ID and the event.
func (l *messageList) isOfTime() bool {
	return l.owners.sql == "" && l.statuses == nil && !l.keyed && !l.attempts && !l.db.IsServer()
}

// byGUID and byID are the indexes by which messages are read.
const (
	byGUID = "INDEXED BY UQ_SY_WebhookMessage_RecID"
	byID   = "NOT INDEXED"
)

// fromMessages selects from the messages that belong to an existing subscription, in the order of
// an index.
func (l *messageList) fromMessages(selected, index string, where conditions) query.Fragment {
	return query.Fragment{
		SQL: l.db.InSchema("SELECT " + selected + " FROM " + messageTable + " m " + index +
			" CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b" +
			" WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID" + where.sql),
		Args: where.args,
	}
}

// isPageByTime reports whether a plan lists a page of messages by time, of which the index on the
// GUIDs finds the first ones.
func (l *messageList) isPageByTime(p *query.Plan) bool {
	if !isPage(p) || !l.isOfTime() || l.event != nil || len(p.Order) == 0 {
		return false
	}
	isByTime := p.Kind.Fields[p.Order[0].Field].ColumnName() == addedColumn
	readsOthers := l.hasIDs && l.period.sql == "" // those with other IDs
	return isByTime && !readsOthers
}

// keysByTime selects the IDs of the first messages by time, and of all others of the millisecond of
// the last one.
func (l *messageList) keysByTime(rows int64, desc bool) *query.Fragment {
	where := l.messages.with(l.period)
	last := l.fromMessages("m.RecID", byGUID, where)
	bound := "m.RecID <= substr(COALESCE((%s), '" + afterGUIDs + "'), 1, 13) || '" + afterGUIDs + "'"
	order := " ORDER BY m.RecID"
	if desc {
		bound = "m.RecID >= substr(COALESCE((%s), ''), 1, 13)"
		order += " DESC"
	}
	bound = fmt.Sprintf(bound, last.SQL+order+" LIMIT 1 OFFSET ?")
	args := append(slices.Clone(last.Args), rowCount(rows-1))
	keys := l.fromMessages("m.ID", byGUID, where.and(bound, args...))
	return &keys
}

// maxPeriod is the number of messages of a period that are read and sorted by ID. Those of a longer
// one are searched from the end of the list.
const maxPeriod = 1000

// keysOfPeriod selects the IDs of the first messages of a period by ID, or more of them; nil for
// other orders. The conditions that follow from the number of messages are bounds of indexes, so
// that one of the two parts reads nothing.
func (l *messageList) keysOfPeriod(p *query.Plan) *query.Fragment {
	if !isPage(p) || !isOrderedByID(p) {
		return nil
	}
	first := l.db.InSchema("SELECT 1 FROM " + messageTable + " m " + byGUID + " WHERE 1 = 1" + l.period.sql)
	isShort := fmt.Sprintf("(SELECT COUNT(*) FROM (%s LIMIT %d)) <= %d", first, maxPeriod+1, maxPeriod)
	short := l.fromMessages("m.ID", byGUID, l.messages.with(l.period).and(
		"m.RecID < CASE WHEN "+isShort+" THEN '"+afterGUIDs+"' ELSE '' END", l.period.args...))
	long := l.fromMessages("m.ID", byID, l.messages.and(
		fmt.Sprintf("m.ID <= CASE WHEN %s THEN 0 ELSE %d END", isShort, math.MaxInt64), l.period.args...))
	order := " ORDER BY m.ID"
	if p.Order[0].Desc {
		order += " DESC"
	}
	return &query.Fragment{
		SQL:  short.SQL + " UNION ALL SELECT k.ID FROM (" + long.SQL + order + " LIMIT ?) k",
		Args: slices.Concat(short.Args, long.Args, []query.Arg{rowCount(p.Skip + p.Take)}),
	}
}
