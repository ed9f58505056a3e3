package sqlstore

import (
	"fmt"
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/query"
)

// A file finds messages of an event through the blocks of IDs that have any, see WH_EventBlock.

// addEvent adds a condition on the name of the event.
func (l *messageList) addEvent(p *query.Plan, c query.Condition) bool {
	if l.attempts || l.db.IsServer() || l.event != nil {
		return false
	}
	event := argument(p, c)
	l.event = &event
	return true
}

// addBlocks adds the condition on blocks that follows from one on the ID.
func (l *messageList) addBlocks(p *query.Plan, c query.Condition) {
	id := argument(p, c)
	last := fmt.Sprintf("k.Block <= ? / %d", blockSize)
	first := fmt.Sprintf("k.Block >= ? / %d", blockSize)
	switch c.Operator {
	case record.LessThan, record.LessThanOrEqualTo:
		l.blocks = l.blocks.and(last, id)
	case record.GreaterThan, record.GreaterThanOrEqualTo:
		l.blocks = l.blocks.and(first, id)
	case record.Equal:
		l.blocks = l.blocks.and(first, id).and(last, id)
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
	return l.fromEvents(selected, "WH_EventBlock k CROSS JOIN ", "k.EventName = ?"+l.blocks.sql+bounds,
		append([]query.Arg{*l.event}, l.blocks.args...))
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
