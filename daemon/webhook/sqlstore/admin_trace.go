package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// Limits of a trace.
const (
	maxTraced     = 100 // changes, and newest messages
	maxTracedOpen = 100 // open messages before those
)

// Statements of a trace: each reads by an index, of the key, of the event or of the messages.
const (
	tracedChanges = `SELECT c.Kind, c.Op, c.ChangeID, COALESCE(c.EventID, 0), c.AddedDateTime, c.Body, e.Body
FROM whd.WH_RecordChange c
LEFT JOIN whd.WH_Event e ON e.EventID = c.EventID`
	changesOfKey   = tracedChanges + ` WHERE c.RecordKey = @Key` + newestChanges
	changesOfEvent = tracedChanges + ` WHERE c.EventID = @Event` + newestChanges
	newestChanges  = ` ORDER BY c.AddedDateTime DESC, c.ChangeID DESC`

	messagesOfKey = ` WHERE m.EventKey = @Key ORDER BY m.ID DESC`
	openBefore    = ` WHERE m.EventKey = @Key AND m.ID < @Before AND m.NextAttemptDateTime IS NOT NULL ORDER BY m.ID`

	tracedAttempts = `SELECT r.MessageID, r.Attempt, COALESCE(r.HTTPCode, 0), r.Message, r.Duration, r.LastSavedDateTime
FROM whd.SY_WebhookMessageResponse r
WHERE r.MessageID IN %s
ORDER BY r.MessageID, r.Attempt`

	tracedEvents = `SELECT e.EventID, e.RecID, e.EventName, e.AddedDateTime
FROM whd.WH_Event e
WHERE e.EventID IN `
)

// Trace returns the last changes of a key, its messages with their events, and their attempts, the
// oldest first. Of a key with many messages it has the newest ones, and open ones before them,
// for which these may wait.
func (a *Admin) Trace(ctx context.Context, key string) (*admin.Trace, error) {
	ofKey := sql.Named("Key", key)
	changes, moreChanges, err := a.tracedChanges(ctx, changesOfKey, ofKey)
	if err != nil {
		return nil, err
	}
	messages, moreMessages, err := a.newestMessages(ctx, key)
	if err != nil {
		return nil, err
	}
	t := &admin.Trace{
		Changes:  changes,
		Messages: messages,
		More:     moreChanges || moreMessages,
	}
	if moreMessages {
		oldest := messages[0]
		t.Since = oldest.Event.AddedAt
		open, err := a.openBefore(ctx, oldest)
		if err != nil {
			return nil, err
		}
		t.Messages = append(open, messages...)
	}

	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	if err != nil {
		return nil, err
	}
	t.Events, err = a.tracedEvents(ctx, t)
	return t, err
}

// TraceMessage returns a message with its event, its attempts, and the changes of the event. The
// oldest open messages of its key are there too, since the message may wait for them.
func (a *Admin) TraceMessage(ctx context.Context, guid string) (*admin.Trace, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + ` WHERE m.RecID = @Message`
	row, err := appdb.QueryOne(ctx, a.db, scanMessage(bodySize), query, sql.Named("Message", guid))
	if err != nil || row == nil {
		return nil, a.missing(err, "message")
	}
	m := *row
	t := &admin.Trace{
		Messages: []*webhook.Message{m},
		Events:   map[int64]*webhook.Event{m.Event.ID: m.Event},
		Only:     m,
	}

	// Not by its key, which may have any number of newer changes.
	t.Changes, t.More, err = a.tracedChanges(ctx, changesOfEvent, sql.Named("Event", m.Event.ID))
	if err != nil {
		return nil, err
	}
	if m.Event.Key != "" {
		open, err := a.openBefore(ctx, m)
		if err != nil {
			return nil, err
		}
		t.Messages = append(open, m)
	}
	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	return t, err
}

// tracedChanges returns the last changes that a statement reads, the oldest first, and whether there
// are older ones.
func (a *Admin) tracedChanges(
	ctx context.Context, statement string, arg sql.NamedArg,
) (changes []admin.TracedChange, hasOlder bool, err error) {
	rows, err := appdb.QueryAll(ctx, a.db, scanTracedChange, statement+a.db.Limit, arg, limitArg(maxTraced+1))
	if err != nil {
		return nil, false, a.fault(err, "reading the changes of a key")
	}
	changes, hasOlder = newest(rows)
	return changes, hasOlder, nil
}

// newestMessages returns the last messages of a key, the oldest first, and whether there are older
// ones.
func (a *Admin) newestMessages(
	ctx context.Context, key string,
) (messages []*webhook.Message, hasOlder bool, err error) {
	rows, err := a.tracedMessages(ctx, messagesOfKey, sql.Named("Key", key), limitArg(maxTraced+1))
	if err != nil {
		return nil, false, err
	}
	messages, hasOlder = newest(rows)
	return messages, hasOlder, nil
}

// newest returns the rows of a trace in the order of time. The rows have the opposite order, and one
// more than the trace may have shows that there are others.
func newest[T any](rows []T) (kept []T, hasOlder bool) {
	hasOlder = len(rows) > maxTraced
	if hasOlder {
		rows = rows[:maxTraced]
	}
	slices.Reverse(rows)
	return rows, hasOlder
}

// openBefore returns the oldest open messages that have the key of a message and precede it.
func (a *Admin) openBefore(ctx context.Context, m *webhook.Message) ([]*webhook.Message, error) {
	return a.tracedMessages(ctx, openBefore,
		sql.Named("Key", m.Event.Key), sql.Named("Before", m.ID), limitArg(maxTracedOpen))
}

// tracedMessages returns the messages that a condition selects, without the bodies of their events.
func (a *Admin) tracedMessages(ctx context.Context, where string, args ...any) ([]*webhook.Message, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + where + a.db.Limit
	messages, err := appdb.QueryAll(ctx, a.db, scanMessage(bodySize), query, args...)
	return messages, a.fault(err, "reading the messages of a key")
}

// limitArg returns the parameter of appdb.Dialect.Limit.
func limitArg(rows int) sql.NamedArg { return sql.Named("Limit", rows) }

// scanTracedChange scans a change. Its body is that of its event if it has none of its own.
func scanTracedChange(row appdb.Row) (admin.TracedChange, error) {
	var c admin.TracedChange
	var eventBody []byte
	err := row.Scan(&c.Kind, &c.Op, &c.ID, &c.EventID, (*appdb.Time)(&c.At), &c.Body, &eventBody)
	if c.Body == nil {
		c.Body = eventBody
	}
	return c, err
}

// tracedAttempts returns the attempts of messages by their IDs.
func (a *Admin) tracedAttempts(
	ctx context.Context, messages []*webhook.Message,
) (map[int64][]admin.TracedAttempt, error) {
	ids := make([]int64, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	statement := fmt.Sprintf(tracedAttempts, a.db.InList)
	rows, err := appdb.QueryAll(ctx, a.db, scanTracedAttempt, statement, a.db.ListArg(ids))
	if err != nil {
		return nil, a.fault(err, "reading the attempts of a key")
	}
	attempts := make(map[int64][]admin.TracedAttempt)
	for _, r := range rows {
		attempts[r.message] = append(attempts[r.message], r.TracedAttempt)
	}
	return attempts, nil
}

// tracedAttempt is an attempt with the ID of its message.
type tracedAttempt struct {
	admin.TracedAttempt
	message int64
}

func scanTracedAttempt(row appdb.Row) (tracedAttempt, error) {
	var r tracedAttempt
	var took int64
	err := row.Scan(&r.message, &r.Number, &r.Code, &r.Message, &took, (*appdb.Time)(&r.At))
	r.Took = fromTicks(took)
	return r, err
}

// tracedEvents returns the events of the messages of a trace, and of its changes without a message,
// by ID.
func (a *Admin) tracedEvents(ctx context.Context, t *admin.Trace) (map[int64]*webhook.Event, error) {
	events := make(map[int64]*webhook.Event)
	for _, m := range t.Messages {
		events[m.Event.ID] = m.Event
	}
	var missing []int64
	for _, c := range t.Changes {
		if c.EventID != 0 && events[c.EventID] == nil {
			missing = append(missing, c.EventID)
		}
	}
	if len(missing) == 0 {
		return events, nil
	}

	statement := tracedEvents + a.db.InList
	rows, err := appdb.QueryAll(ctx, a.db, scanInto(tracedEventFields), statement, a.db.ListArg(missing))
	if err != nil {
		return nil, a.fault(err, "reading the events of a key")
	}
	for _, e := range rows {
		events[e.ID] = &e
	}
	return events, nil
}

func tracedEventFields(e *webhook.Event) []any {
	return []any{&e.ID, &e.GUID, &e.Name, (*appdb.Time)(&e.AddedAt)}
}
