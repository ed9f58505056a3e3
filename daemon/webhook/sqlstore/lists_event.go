package sqlstore

import (
	"fmt"
	"math"
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
)

// A file finds messages of an event through the blocks of IDs that have any, see WH_EventBlock. A
// server finds them through the index on the names of events.

// addEvent adds a condition on the name of the event.
func (l *messageList) addEvent(p *query.Plan, c query.Condition) bool {
	if l.attempts || l.event != nil {
		return false
	}
	event := argument(p, c)
	l.event = &event
	return true
}

// addEventIDs adds the condition on blocks, or on the IDs of events, that follows from one on the ID
// of a message.
func (l *messageList) addEventIDs(p *query.Plan, c query.Condition) {
	id := argument(p, c)
	last := fmt.Sprintf("k.Block <= ? / %d", blockSize)
	first := fmt.Sprintf("k.Block >= ? / %d", blockSize)
	if l.db.IsServer() {
		// The IDs of an event and its messages are consecutive: see package delivery.
		last = "e.EventID <= ?"
		first = "e.EventID >= ISNULL((SELECT MAX(n.EventID) FROM whd.WH_Event n WHERE n.EventID <= ?), 0)"
	}
	switch c.Operator {
	case record.LessThan, record.LessThanOrEqualTo:
		l.eventIDs = l.eventIDs.and(last, id)
	case record.GreaterThan, record.GreaterThanOrEqualTo:
		l.eventIDs = l.eventIDs.and(first, id)
	case record.Equal:
		l.eventIDs = l.eventIDs.and(first, id).and(last, id)
	}
}

// isOfEvent reports whether the list has all messages of an event, with no conditions but those on
// the ID.
func (l *messageList) isOfEvent() bool {
	return l.event != nil && l.period.sql == "" && l.isOfTime()
}

// keysOfEvent selects the IDs of the first messages of an event by ID, or more of them: those of
// blocks, and those above that are in none yet.
func (l *messageList) keysOfEvent(rows int64, desc bool) *query.Fragment {
	if l.db.IsServer() {
		return l.keysOfEventOnServer(rows, desc)
	}
	direction := ""
	if desc {
		direction = " DESC"
	}
	named := l.named("m.ID")
	above := l.notNamed("m.ID")
	return &query.Fragment{
		SQL: "SELECT k.ID FROM (" + named.SQL + " ORDER BY k.Block" + direction + ", m.ID" + direction + " LIMIT ?) k" +
			" UNION ALL SELECT k.ID FROM (" + above.SQL + " ORDER BY m.ID" + direction + " LIMIT ?) k",
		Args: slices.Concat(named.Args, []query.Arg{rowCount(rows)}, above.Args, []query.Arg{rowCount(rows)}),
	}
}

// countOfEvent counts the messages of an event.
func (l *messageList) countOfEvent() *query.Fragment {
	if l.db.IsServer() {
		return l.countOfEventOnServer()
	}
	countAll := dialect.SQLite().CountAll
	named, above := l.named(countAll), l.notNamed(countAll)
	return &query.Fragment{
		SQL:  "SELECT (" + named.SQL + ") + (" + above.SQL + ")",
		Args: slices.Concat(named.Args, above.Args),
	}
}

// named selects from the messages of the event in the blocks that have any.
func (l *messageList) named(selected string) query.Fragment {
	bounds := fmt.Sprintf(" AND m.ID >= k.Block * %d AND m.ID < k.Block * %[1]d + %[1]d AND m.ID <= %s", blockSize, lastNamed)
	return l.fromEvents(selected, "WH_EventBlock k CROSS JOIN ", "k.EventName = ?"+l.eventIDs.sql+bounds,
		append([]query.Arg{*l.event}, l.eventIDs.args...))
}

// notNamed selects from the messages of the event above those.
func (l *messageList) notNamed(selected string) query.Fragment {
	return l.fromEvents(selected, "", "m.ID > "+lastNamed, nil)
}

// fromEvents selects from the messages of the event that belong to an existing subscription.
func (l *messageList) fromEvents(selected, outer, where string, args []query.Arg) query.Fragment {
	return query.Fragment{
		SQL: l.db.InSchema("SELECT " + selected + " FROM " + outer + messageTable + " m " + byID +
			" CROSS JOIN whd.WH_Event e CROSS JOIN whd.SY_WebhookSubscription s CROSS JOIN whd.SY_WebhookSubscriber b" +
			" WHERE " + where + " AND e.EventID = m.EventID AND e.EventName = ?" +
			" AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID" + l.messages.sql),
		Args: slices.Concat(args, []query.Arg{*l.event}, l.messages.args),
	}
}

// keysOfEventOnServer selects the IDs of the first messages of an event by ID. It searches those of as
// many events as have enough messages, and sorts them: since the IDs of an event and its messages are
// consecutive, messages have the order of their events.
func (l *messageList) keysOfEventOnServer(rows int64, desc bool) *query.Fragment {
	return l.firstOnServer(l.fromEventsOnServer, "e.EventID", rows, desc)
}

// maxRareEvents is the number of events with a name, up to which their messages are counted by one
// search for each. The messages of more events are faster to read all.
const maxRareEvents = 1000

// countOfEventOnServer counts the messages of an event.
func (l *messageList) countOfEventOnServer() *query.Fragment {
	countAll := dialect.TSQL().CountAll
	rare := l.fromEventsOnServer(countAll)
	frequent := query.Fragment{
		SQL: l.db.InSchema("SELECT " + countAll + " FROM whd.WH_Event e JOIN " + messageTable + " m ON m.EventID = e.EventID" +
			ownersOnServer + " WHERE e.EventName = ?" + l.eventIDs.sql + l.messages.sql),
		Args: slices.Concat([]query.Arg{*l.event}, l.eventIDs.args, l.messages.args),
	}
	events := l.db.InSchema(fmt.Sprintf(
		"SELECT TOP %d 1 AS one FROM whd.WH_Event e WHERE e.EventName = ?", maxRareEvents+1))
	return &query.Fragment{
		SQL: fmt.Sprintf("SELECT CASE WHEN (SELECT COUNT(*) FROM (%s) q) <= %d THEN (%s) ELSE (%s) END",
			events, maxRareEvents, rare.SQL, frequent.SQL),
		Args: slices.Concat([]query.Arg{*l.event}, rare.Args, frequent.Args),
	}
}

// fromEventsOnServer selects from the messages of the event that belong to an existing subscription.
// They are searched for each event: the server compiles a statement for any name, and might expect so
// many events that it reads all messages. TOP prevents that, with more than an event has.
func (l *messageList) fromEventsOnServer(selected string) query.Fragment {
	return query.Fragment{
		SQL: l.db.InSchema("SELECT " + selected + " FROM whd.WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM " +
			messageTable + " m" + ownersOnServer + " WHERE m.EventID = e.EventID" + l.messages.sql + ") m" +
			" WHERE e.EventName = ?" + l.eventIDs.sql),
		Args: slices.Concat(l.messages.args, []query.Arg{*l.event}, l.eventIDs.args),
	}
}

// ownersOnServer joins messages with their subscriptions and subscribers.
const ownersOnServer = " JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID" +
	" JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID"

// firstOnServer selects the IDs of the first messages by ID, which are those of rows in the order of
// a column. A server might sort all messages by both columns: it gets the value of the column up to
// which there are enough messages, and sorts these. It gets a second bound, without which it
// estimates that the first one excludes few rows.
func (l *messageList) firstOnServer(
	from func(selected string) query.Fragment, column string, rows int64, desc bool,
) *query.Fragment {
	maxID := fmt.Sprintf("CAST(%d AS bigint)", math.MaxInt64)
	direction, bounds := "", column+" <= ISNULL((%s), "+maxID+") AND "+column+" >= 0"
	if desc {
		direction, bounds = " DESC", column+" >= ISNULL((%s), 0) AND "+column+" <= "+maxID
	}
	keys, last := from("m.ID"), from(column)
	last.SQL += " ORDER BY " + column + direction + " OFFSET ? ROWS FETCH NEXT 1 ROWS ONLY"
	return &query.Fragment{
		SQL: "SELECT k.ID FROM (" + keys.SQL + " AND " + fmt.Sprintf(bounds, last.SQL) +
			" ORDER BY m.ID" + direction + " OFFSET 0 ROWS FETCH NEXT ? ROWS ONLY) k",
		Args: slices.Concat(keys.Args, last.Args, []query.Arg{rowCount(rows - 1), rowCount(rows)}),
	}
}
