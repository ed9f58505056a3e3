package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// maxTraced is the maximum number of changes of a trace, of the newest messages, and of the
// open ones before them.
const maxTraced = 100

// Statements of a trace: each reads by the index of the key.
const (
	tracedChanges = `SELECT c.Kind, c.Op, c.ChangeID, COALESCE(c.EventID, 0), c.AddedDateTime, c.Body, e.Body FROM whd.WH_RecordChange c
LEFT JOIN whd.WH_Event e ON e.EventID = c.EventID
WHERE c.RecordKey = @Key ORDER BY c.AddedDateTime DESC, c.ChangeID DESC`
	tracedMessages = ` WHERE m.EventKey = @Key ORDER BY m.ID DESC`
	tracedMessage  = ` WHERE m.RecID = @Message`
	tracedOpen     = ` WHERE m.EventKey = @Key AND m.NextAttemptDateTime IS NOT NULL ORDER BY m.ID`
	tracedAttempts = `SELECT r.MessageID, r.Attempt, COALESCE(r.HTTPCode, 0), r.Message, r.Duration, r.LastSavedDateTime FROM whd.SY_WebhookMessageResponse r
WHERE r.MessageID IN `
	tracedEvents = `SELECT e.EventID, e.RecID, e.EventName, e.AddedDateTime FROM whd.WH_Event e WHERE e.EventID IN `
)

// Trace returns the last changes of a key, its messages with their events, and their attempts, the
// oldest first. Of a key with many messages it has the newest ones, and open ones before them,
// for which these may wait.
func (a *Admin) Trace(ctx context.Context, key string) (*admin.Trace, error) {
	changes, err := a.tracedChanges(ctx, key)
	if err != nil {
		return nil, err
	}
	messages, err := a.tracedMessages(ctx, key, tracedMessages)
	if err != nil {
		return nil, err
	}
	var open []*webhook.Message
	if len(messages) > maxTraced {
		open, err = a.tracedMessages(ctx, key, tracedOpen)
		if err != nil {
			return nil, err
		}
	}

	t := &admin.Trace{
		Changes:  changes[:min(len(changes), maxTraced)],
		Messages: messages[:min(len(messages), maxTraced)],
		More:     len(changes) > maxTraced || len(messages) > maxTraced,
		Events:   make(map[int64]*webhook.Event),
	}
	slices.Reverse(t.Changes)
	slices.Reverse(t.Messages)
	if len(t.Messages) == maxTraced && t.More {
		t.Since = t.Messages[0].Event.AddedAt
	}
	open = slices.DeleteFunc(open, func(m *webhook.Message) bool { return m.ID >= t.Messages[0].ID })
	t.Messages = append(open[:min(len(open), maxTraced)], t.Messages...)

	for _, m := range t.Messages {
		t.Events[m.Event.ID] = m.Event
	}
	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	if err != nil {
		return nil, err
	}
	err = a.addTracedEvents(ctx, t)
	return t, err
}

// TraceMessage returns a message with its event, its attempts, and the changes of the event. Those
// of its key that are open and older than the message, for which it may wait, are there too.
func (a *Admin) TraceMessage(ctx context.Context, guid string) (*admin.Trace, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + tracedMessage
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
	if m.Event.Key != "" {
		err = a.addTracedKey(ctx, t)
		if err != nil {
			return nil, err
		}
	}
	t.Attempts, err = a.tracedAttempts(ctx, t.Messages)
	return t, err
}

// addTracedKey adds the changes of the key of the only message of a trace that belong to its event,
// and the open messages before it.
func (a *Admin) addTracedKey(ctx context.Context, t *admin.Trace) error {
	event := t.Only.Event
	changes, err := a.tracedChanges(ctx, event.Key)
	if err != nil {
		return err
	}
	t.Changes = slices.DeleteFunc(changes, func(c admin.TracedChange) bool { return c.EventID != event.ID })
	slices.Reverse(t.Changes)

	open, err := a.tracedMessages(ctx, event.Key, tracedOpen)
	open = slices.DeleteFunc(open, func(m *webhook.Message) bool { return m.ID >= t.Only.ID })
	t.Messages = append(open, t.Messages...)
	return err
}

// tracedChanges returns the last changes of a key, the newest first, one more than a trace has.
func (a *Admin) tracedChanges(ctx context.Context, key string) ([]admin.TracedChange, error) {
	rows, err := appdb.QueryAll(ctx, a.db, scanInto(tracedChangeFields), tracedChanges+a.db.Limit, traceArgs(key)...)
	changes := make([]admin.TracedChange, len(rows))
	for i, r := range rows {
		changes[i] = r.TracedChange
		if changes[i].Body == nil {
			changes[i].Body = r.eventBody
		}
	}
	return changes, a.fault(err, "reading the changes of a key")
}

// tracedChange is a stored change. Its body is that of its event if it has one.
type tracedChange struct {
	admin.TracedChange
	eventBody []byte
}

func traceArgs(key string) []any {
	return []any{sql.Named("Key", key), sql.Named("Limit", maxTraced+1)}
}

func tracedChangeFields(c *tracedChange) []any {
	return []any{&c.Kind, &c.Op, &c.ID, &c.EventID, (*appdb.Time)(&c.At), &c.Body, &c.eventBody}
}

// tracedMessages returns the first messages of a key that a condition selects, one more than a
// trace has.
func (a *Admin) tracedMessages(ctx context.Context, key, where string) ([]*webhook.Message, error) {
	query := `SELECT ` + messageRead + `, 0` + messageTables + where + a.db.Limit
	messages, err := appdb.QueryAll(ctx, a.db, scanMessage(bodySize), query, traceArgs(key)...)
	return messages, a.fault(err, "reading the messages of a key")
}

// tracedAttempts returns the attempts of messages by their IDs.
func (a *Admin) tracedAttempts(ctx context.Context, messages []*webhook.Message) (map[int64][]admin.TracedAttempt, error) {
	var ids []int64
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	rows, err := appdb.QueryAll(ctx, a.db, scanInto(tracedAttemptFields),
		tracedAttempts+a.db.InList+` ORDER BY r.MessageID, r.Attempt`, a.db.ListArg(ids))
	if err != nil {
		return nil, a.fault(err, "reading the attempts of a key")
	}
	attempts := make(map[int64][]admin.TracedAttempt)
	for _, r := range rows {
		r.Took = time.Duration(r.ticks) * 100
		attempts[r.message] = append(attempts[r.message], r.TracedAttempt)
	}
	return attempts, nil
}

// tracedAttempt is a stored attempt.
type tracedAttempt struct {
	admin.TracedAttempt
	message int64
	ticks   int64 // duration
}

func tracedAttemptFields(r *tracedAttempt) []any {
	return []any{&r.message, &r.Number, &r.Code, &r.Message, &r.ticks, (*appdb.Time)(&r.At)}
}

// addTracedEvents adds the events of changes that have no message in the trace.
func (a *Admin) addTracedEvents(ctx context.Context, t *admin.Trace) error {
	var ids []int64
	for _, c := range t.Changes {
		if c.EventID != 0 && t.Events[c.EventID] == nil {
			ids = append(ids, c.EventID)
		}
	}
	events, err := appdb.QueryAll(ctx, a.db, scanInto(tracedEventFields), tracedEvents+a.db.InList, a.db.ListArg(ids))
	for _, e := range events {
		t.Events[e.ID] = &e
	}
	return a.fault(err, "reading the events of a key")
}

func tracedEventFields(e *webhook.Event) []any {
	return []any{&e.ID, &e.GUID, &e.Name, (*appdb.Time)(&e.AddedAt)}
}
