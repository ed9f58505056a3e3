package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// Messages are joined with their subscription wherever they are read: those of
// one that was deleted are not there any more, however many are still to be
// removed.
const messageTables = `
FROM whd.SY_WebhookMessage m
JOIN whd.WH_Event e ON e.EventID = m.EventID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID`

// messageRead lists what is read of a message and its event, but for the body.
var messageRead = messageColumns.list(func(c column[*webhook.Message]) string { return "m." + c.name }) + `, e.RecID, e.EventName`

func scanMessage(row appdb.Row) (*webhook.Message, error) {
	m := &webhook.Message{Event: &webhook.Event{}}
	return m, row.Scan(append(messageFields(m), &m.Event.Body)...)
}

// scanListed reads a message without its event's body.
func scanListed(row appdb.Row) (*webhook.Message, error) {
	m := &webhook.Message{Event: &webhook.Event{}}
	return m, row.Scan(append(messageFields(m), &m.Event.Size)...)
}

func messageFields(m *webhook.Message) []any {
	fields := make([]any, 0, len(webhook.MessageColumns)+3)
	for _, c := range webhook.MessageColumns {
		fields = append(fields, destination(c.Of(m)))
	}
	return append(fields, &m.Event.GUID, &m.Event.Name)
}

// bodySize is the expression for the size of a body, which it does not read.
func (w *Store) bodySize() string {
	if w.own.IsServer() {
		return `DATALENGTH(e.Body)`
	}
	return `octet_length(e.Body)`
}

const openMessages = ` WHERE m.PartitionID = @Partition AND m.SubscriptionID = @Subscription AND m.NextAttemptDateTime IS NOT NULL`

// Page is delivery.Store's. What is due later than the place is asked for apart
// from what is due at the same time and has a higher number: one condition for
// both would have the database walk over all that are due at that time.
func (w *Store) Page(ctx context.Context, p delivery.Page) ([]*webhook.Message, error) {
	switch {
	case p.InOrder:
		return w.page(ctx, p, ` AND m.ID > @ID ORDER BY m.ID`)
	case p.After.ID == 0: // numbers are higher
		return w.page(ctx, p, ` AND m.NextAttemptDateTime >= @Next AND m.NextAttemptDateTime <= @Until ORDER BY m.NextAttemptDateTime, m.ID`)
	}
	same, err := w.page(ctx, p, ` AND m.NextAttemptDateTime = @Next AND m.NextAttemptDateTime <= @Until AND m.ID > @ID ORDER BY m.ID`)
	if err != nil || len(same) >= p.Limit {
		return same, err
	}
	p.Limit -= len(same)
	later, err := w.page(ctx, p, ` AND m.NextAttemptDateTime > @Next AND m.NextAttemptDateTime <= @Until ORDER BY m.NextAttemptDateTime, m.ID`)
	if err != nil {
		return nil, err
	}
	return append(same, later...), nil
}

func (w *Store) page(ctx context.Context, p delivery.Page, condition string) ([]*webhook.Message, error) {
	page, err := appdb.QueryAll(ctx, w.own, scanListed, `SELECT `+messageRead+`, `+w.bodySize()+messageTables+openMessages+condition+w.own.Limit(),
		append(pageArgs(p), sql.Named("Until", appdb.Stamp(p.Until)), sql.Named("Limit", p.Limit))...)
	return page, w.fault(err, "reading messages")
}

// Bodies is delivery.Store's.
func (w *Store) Bodies(ctx context.Context, events []int64) (map[int64][]byte, error) {
	bodies := make(map[int64][]byte, len(events))
	_, err := appdb.QueryAll(ctx, w.own, func(row appdb.Row) (_ struct{}, err error) {
		var event int64
		var body []byte
		err = row.Scan(&event, &body)
		bodies[event] = body
		return struct{}{}, err
	}, `SELECT e.EventID, e.Body FROM whd.WH_Event e WHERE e.EventID IN `+w.own.InList(), w.own.ListArg(events))
	return bodies, w.fault(err, "reading the bodies of events")
}

func pageArgs(p delivery.Page) []any {
	return []any{sql.Named("Partition", p.Partition), sql.Named("Subscription", p.Subscription),
		sql.Named("Next", appdb.Stamp(p.After.Next)), sql.Named("ID", p.After.ID)}
}

// Due is delivery.Store's.
func (w *Store) Due(ctx context.Context, p delivery.Page) (time.Time, error) {
	for _, condition := range []string{
		` AND m.NextAttemptDateTime = @Next AND m.ID > @ID`,
		` AND m.NextAttemptDateTime > @Next`,
	} {
		due, err := appdb.QueryOne(ctx, w.own, appdb.ScanTime, `SELECT MIN(m.NextAttemptDateTime) FROM whd.SY_WebhookMessage m`+openMessages+condition+
			` AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = @Subscription)`, pageArgs(p)...)
		if err != nil {
			return time.Time{}, w.fault(err, "looking for the next message")
		}
		if !due.IsZero() {
			return *due, nil
		}
	}
	return time.Time{}, nil
}

// Open is delivery.Store's.
func (w *Store) Open(ctx context.Context, partition int64) ([]int64, error) {
	open, err := appdb.QueryAll(ctx, w.own, appdb.ScanInt, `SELECT s.ID FROM whd.SY_WebhookSubscription s WHERE EXISTS (
	SELECT 1 FROM whd.SY_WebhookMessage m
	WHERE m.PartitionID = @Partition AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL) ORDER BY s.ID`,
		sql.Named("Partition", partition))
	return open, w.fault(err, "looking for open messages")
}
