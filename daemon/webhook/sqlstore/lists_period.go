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

// Messages are found by the time when they were added through the index on their GUIDs, which start
// with that time: see webhook.GUIDTime. An index on AddedDateTime would have to be maintained by
// every delivery, and take long to make.

// addedColumn is the time when a message was added.
const addedColumn = "AddedDateTime"

// addPeriod adds a condition on the time when messages were added.
func (l *messageList) addPeriod(p *query.Plan, c query.Condition) bool {
	if l.attempts {
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
	first := added.Add(-maxRounding)
	if err != nil || first.UnixMilli() < 0 { // a GUID has no earlier time
		return false
	}
	c.Operands = c.Operands[operand : operand+1]
	isUpper := op == record.LessThan || op == record.LessThanOrEqualTo || op == record.Equal
	isLower := op == record.GreaterThan || op == record.GreaterThanOrEqualTo || op == record.Equal
	if !isUpper && !isLower {
		return false
	}
	operandSQL := "?"
	if l.db.IsServer() {
		operandSQL = "CAST(? AS datetime2(7))"
	}
	l.messages = l.messages.and("m."+addedColumn+dialect.Matches[op].SQL+operandSQL, argument(p, c))
	if isLower {
		l.blocks = l.blocks.and("k.AddedUntil >= "+operandSQL, argument(p, c))
		l.period = l.period.and("m.RecID >= ?", guidArg(p, webhook.GUIDTime(first)))
	}
	if isUpper {
		l.blocks = l.blocks.and("k.AddedSince <= "+operandSQL, argument(p, c))
		l.period = l.period.and("m.RecID < ?", guidArg(p, webhook.GUIDTime(added)+afterGUIDs))
	}
	return true
}

// maxRounding is the maximum difference between the stored time and that in the GUID: Babelfish
// rounds times to microseconds.
const maxRounding = time.Microsecond

// afterGUIDs sorts after all characters of GUIDs.
const afterGUIDs = "~"

// guidArg is the argument for a text that is compared with the GUIDs of messages.
func guidArg(p *query.Plan, s string) query.Arg {
	field, _ := p.Kind.Column("MessageID")
	return query.Arg{Field: field, Type: record.Text, Value: wire.Value{Text: s}}
}

// isPeriod reports whether the list has all messages that were added in a period.
func (l *messageList) isPeriod() bool { return l.period.sql != "" && l.event == nil && l.isOfTime() }

// isOfTime reports whether the list has no conditions but those on the time, the ID and the event.
func (l *messageList) isOfTime() bool {
	return l.owners.sql == "" && l.statuses == nil && !l.keyed && !l.attempts
}

// byGUID and byID are the indexes by which a file reads messages.
const (
	byGUID = "INDEXED BY UQ_SY_WebhookMessage_RecID"
	byID   = "NOT INDEXED"
)

// fromMessages selects from the messages that belong to an existing subscription, in the order of
// an index.
func (l *messageList) fromMessages(selected, index string, where conditions) query.Fragment {
	return query.Fragment{
		SQL: l.db.InSchema("SELECT " + selected + " FROM " + messageTable + " m " + l.indexed(index) +
			"CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b" +
			" WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID" + where.sql),
		Args: where.args,
	}
}

// indexed returns the hint for an index, which a server chooses itself.
func (l *messageList) indexed(index string) string {
	if l.db.IsServer() {
		return ""
	}
	return index + " "
}

// importedMessage is the name of the highest ID of a message that was imported from another service,
// in WH_Number. Imported messages keep their GUIDs, which do not start with the time. Those up to this
// ID are therefore found by their IDs: an import is the first thing that a store gets, so that they
// are few, and the retention removes them.
const importedMessage = "ImportedMessage"

// lastImported returns the SQL of that ID.
func (l *messageList) lastImported() string {
	otherwise := "COALESCE"
	if l.db.IsServer() { // which would evaluate the subquery of COALESCE twice
		otherwise = "ISNULL"
	}
	return otherwise + "((SELECT i.Next FROM whd.WH_Number i WHERE i.Name = '" + importedMessage + "'), 0)"
}

// isNotImported is the condition that the GUID of a message starts with its time. The addition keeps
// the databases from using the index on the IDs.
func (l *messageList) isNotImported() string { return "m.ID + 0 > " + l.lastImported() }

// imported selects from the messages that may be imported. A server gets a second bound, without
// which it estimates that the first one excludes few messages.
func (l *messageList) imported(selected string) query.Fragment {
	return l.fromMessages(selected, byID, l.messages.and("m.ID <= "+l.lastImported()+" AND m.ID >= 0"))
}

// countOfPeriod counts the messages of a period.
func (l *messageList) countOfPeriod(countAll string) *query.Fragment {
	counted := l.fromMessages(countAll, byGUID, l.messages.with(l.period).and(l.isNotImported()))
	imported := l.imported(countAll)
	return &query.Fragment{
		SQL:  "SELECT (" + counted.SQL + ") + (" + imported.SQL + ")",
		Args: slices.Concat(counted.Args, imported.Args),
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

// allMessages is at least the number of all messages. A server estimates that a subquery limits the
// rows to few, and then reads them by the index instead of all of the table.
const allMessages = "(SELECT n.Next FROM whd.WH_Number n WHERE n.Name = '" + lastID + "')"

// keysByTime selects the IDs of the first messages by time, and of all others of the millisecond of
// the last one.
func (l *messageList) keysByTime(rows int64, desc bool) *query.Fragment {
	where := l.messages.with(l.period).and(l.isNotImported())
	order := " ORDER BY m.RecID"
	if desc {
		order += " DESC"
	}
	last := l.fromMessages("m.RecID", byGUID, where)
	keys := l.fromMessages("m.ID", byGUID, where.and(
		l.guidBound(last.SQL+order, desc),
		append(slices.Clone(last.Args), rowCount(rows-1))...))
	if l.db.IsServer() {
		keys.SQL = "SELECT k.ID FROM (" + keys.SQL + order + " OFFSET 0 ROWS FETCH NEXT " +
			l.db.InSchema(allMessages) + " ROWS ONLY) k"
	}
	imported := l.imported("m.ID")
	return &query.Fragment{
		SQL:  keys.SQL + " UNION ALL " + imported.SQL,
		Args: slices.Concat(keys.Args, imported.Args),
	}
}

// guidBound is the condition for GUIDs up to the last one of some, and for all others of its
// millisecond. last selects these GUIDs in their order. A server gets a second bound, without which
// it estimates that the first one excludes few messages.
func (l *messageList) guidBound(last string, desc bool) string {
	const (
		file   = "substr(COALESCE((%s LIMIT 1 OFFSET ?), '%s'), 1, 13)"
		server = "SUBSTRING(ISNULL((%s OFFSET ? ROWS FETCH NEXT 1 ROWS ONLY), '%s'), 1, 13)"
	)
	switch {
	case l.db.IsServer() && desc:
		return "m.RecID >= " + fmt.Sprintf(server, last, "") + " AND m.RecID < '" + afterGUIDs + "'"
	case l.db.IsServer():
		return "m.RecID <= " + fmt.Sprintf(server, last, afterGUIDs) + " + '" + afterGUIDs + "' AND m.RecID >= ''"
	case desc:
		return "m.RecID >= " + fmt.Sprintf(file, last, "")
	default:
		return "m.RecID <= " + fmt.Sprintf(file, last, afterGUIDs) + " || '" + afterGUIDs + "'"
	}
}

// addBlockIDs adds the condition on blocks that follows from one on the ID of a message.
func (l *messageList) addBlockIDs(p *query.Plan, c query.Condition) {
	isUpper := c.Operator == record.LessThan || c.Operator == record.LessThanOrEqualTo || c.Operator == record.Equal
	isLower := c.Operator == record.GreaterThan || c.Operator == record.GreaterThanOrEqualTo || c.Operator == record.Equal
	if isLower {
		l.blocks = l.blocks.and("k.LastID >= ?", argument(p, c))
	}
	if isUpper {
		l.blocks = l.blocks.and("k.FirstID <= ?", argument(p, c))
	}
}

// maxPeriod is the number of messages of a period that are read and sorted by ID. Those of a longer
// one are searched in the blocks that have any.
const maxPeriod = 1000

// keysOfPeriod selects the IDs of the first messages of a period by ID, or more of them; nil for
// other orders. The conditions that follow from the number of messages are bounds of indexes, so
// that one of the two parts reads nothing.
func (l *messageList) keysOfPeriod(p *query.Plan) *query.Fragment {
	if !isPage(p) || !isOrderedByID(p) {
		return nil
	}
	isShort := l.isShort()
	short := l.fromMessages("m.ID", byGUID, l.messages.with(l.period).and(
		"m.RecID < CASE WHEN "+isShort+" THEN '"+afterGUIDs+"' ELSE '' END", l.period.args...))
	last := fmt.Sprintf("CAST(%d AS bigint)", math.MaxInt64)
	isLong := conditions{}.and("k.FirstID <= CASE WHEN "+isShort+" THEN 0 ELSE "+last+" END", l.period.args...)
	long := l.keysOfBlocks(isLong, p.Skip+p.Take, p.Order[0].Desc)
	if l.db.IsServer() {
		short.SQL = fmt.Sprintf("SELECT k.ID FROM (%s ORDER BY m.RecID OFFSET 0 ROWS FETCH NEXT %d ROWS ONLY) k",
			short.SQL, maxPeriod)
	}
	imported := l.imported("m.ID")
	return &query.Fragment{
		SQL:  short.SQL + " UNION ALL " + long.SQL + " UNION ALL " + imported.SQL,
		Args: slices.Concat(short.Args, long.Args, imported.Args),
	}
}

// keysOfBlocks selects the IDs of the first messages by ID in the blocks of a period.
func (l *messageList) keysOfBlocks(which conditions, rows int64, desc bool) *query.Fragment {
	direction := ""
	if desc {
		direction = " DESC"
	}
	which = which.with(l.blocks)
	if l.db.IsServer() {
		from := func(selected string) query.Fragment { return l.fromBlocksOnServer(selected, which, rows, direction) }
		return l.firstOnServer(from, "k.FirstID", rows, desc)
	}
	where := which.with(l.messages)
	return &query.Fragment{
		SQL: l.db.InSchema("SELECT k.ID FROM (SELECT m.ID FROM whd.WH_MessageBlock k CROSS JOIN " + messageTable + " m " + byID +
			" CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b" +
			" WHERE m.ID >= k.FirstID AND m.ID <= k.LastID AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID" + where.sql +
			" ORDER BY k.FirstID" + direction + ", m.ID" + direction + " LIMIT ?) k"),
		Args: slices.Concat(where.args, []query.Arg{rowCount(rows)}),
	}
}

// fromBlocksOnServer selects from the first messages of each block of a period that belong to an
// existing subscription.
func (l *messageList) fromBlocksOnServer(selected string, which conditions, rows int64, direction string) query.Fragment {
	return query.Fragment{
		SQL: l.db.InSchema("SELECT " + selected + " FROM whd.WH_MessageBlock k CROSS APPLY (SELECT m.ID FROM " +
			messageTable + " m" + ownersOnServer + " WHERE m.ID >= k.FirstID AND m.ID <= k.LastID" + l.messages.sql +
			" ORDER BY m.ID" + direction + " OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY) m WHERE 1 = 1" + which.sql),
		Args: slices.Concat(l.messages.args, []query.Arg{rowCount(rows)}, which.args),
	}
}

// isShort is the condition that a period has at most maxPeriod messages. It has the arguments of the
// period.
func (l *messageList) isShort() string {
	top, limit := "", fmt.Sprintf(" LIMIT %d", maxPeriod+1)
	if l.db.IsServer() {
		top, limit = fmt.Sprintf("TOP %d ", maxPeriod+1), ""
	}
	first := l.db.InSchema("SELECT " + top + "1 AS one FROM " + messageTable + " m " + l.indexed(byGUID) +
		"WHERE 1 = 1" + l.period.sql + limit)
	return fmt.Sprintf("(SELECT COUNT(*) FROM (%s) q) <= %d", first, maxPeriod)
}
