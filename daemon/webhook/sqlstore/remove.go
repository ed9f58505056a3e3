package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// deletion is a message that is to go, unless it has changed since it was
// looked at.
type deletion struct{ id, event, status, attempts int64 }

func scanCondemned(row appdb.Row) (c deletion, err error) {
	err = row.Scan(&c.id, &c.event, &c.status, &c.attempts)
	return c, err
}

var deletionColumns = columns[deletion]{
	{"ID", number, func(d deletion) any { return d.id }},
	{"EventID", number, func(d deletion) any { return d.event }},
	{"Status", small, func(d deletion) any { return d.status }},
	{"Attempts", integer, func(d deletion) any { return d.attempts }},
}

// leastRemoved is how many messages are removed in a turn even if a writer waits
// for it, at least this many and half of the step, so that removals keep up with
// any load.
const leastRemoved = 10

// remove removes messages, with what is known of their attempts and with events
// that no other message needs, over the connection of the batches: another
// one's changes would empty its cache, and another one would decide by itself
// when to write the log back. It ends early where somebody waits, and says what
// is left; the removal's Took is how long nobody else could write.
func (f *fileWriter) remove(ctx context.Context, all []deletion) (left []deletion, r delivery.Removed, err error) {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	err = f.inTurn(ctx, func() error {
		began := time.Now()
		err := f.loosely(func() error {
			return f.transact(ctx, func() (err error) {
				left, r.Rows, err = f.condemn(all)
				return err
			})
		})
		r.Took = time.Since(began)
		return err
	})
	if err != nil {
		return all, delivery.Removed{}, err
	}
	return left, r, nil
}

// loosely does work whose transaction need not be on the disk when it ends. If
// it is lost, it is done again. It is on the disk once the next one is.
func (f *fileWriter) loosely(work func() error) error {
	if err := f.conn.Exec("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	err := work()
	if f.conn == nil {
		return err
	}
	if strict := f.conn.Exec("PRAGMA synchronous = FULL"); strict != nil {
		f.conn.Close()
		f.conn = nil
		return errors.Join(err, strict)
	}
	return err
}

// condemn removes messages one by one, until somebody waits.
func (f *fileWriter) condemn(all []deletion) (left []deletion, n int, err error) {
	for i, c := range all {
		if i >= max(leastRemoved, len(all)/2) && f.own.WriteLock.Wanted() {
			return all[i:], n, nil
		}
		if err := f.conn.Query(`DELETE FROM SY_WebhookMessage WHERE ID = ?1 AND Status = ?2 AND Attempts = ?3`, nil, c.id, c.status, c.attempts); err != nil {
			return nil, n, err
		}
		if f.conn.Changes() == 0 {
			continue
		}
		n++
		if err := f.conn.Query(`DELETE FROM SY_WebhookMessageResponse WHERE MessageID = ?1`, nil, c.id); err != nil {
			return nil, n, err
		}
		err := f.conn.Query(`DELETE FROM WH_Event WHERE EventID = ?1 AND NOT EXISTS (SELECT 1 FROM SY_WebhookMessage m WHERE m.EventID = ?1)`, nil, c.event)
		if err != nil {
			return nil, n, err
		}
	}
	return nil, n, nil
}

// The messages go first: an outcome that is written at the same moment finds
// none, or has changed its message by then.
var serverRemove = `SET XACT_ABORT ON;
DECLARE @Removed int;
BEGIN TRANSACTION;
DELETE m FROM whd.SY_WebhookMessage m
JOIN ` + deletionColumns.open("Messages", "ID", "Status", "Attempts") + ` c ON c.ID = m.ID
WHERE m.Status = c.Status AND m.Attempts = c.Attempts;
SET @Removed = @@ROWCOUNT;
DELETE r FROM whd.SY_WebhookMessageResponse r
JOIN ` + deletionColumns.open("Messages", "ID") + ` c ON c.ID = r.MessageID
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.ID = r.MessageID);
DELETE e FROM whd.WH_Event e
WHERE e.EventID IN (SELECT c.EventID FROM ` + deletionColumns.open("Messages", "EventID") + ` c)
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = e.EventID);
COMMIT TRANSACTION;
SELECT @Removed;`

// remove removes messages in one round trip. Only their own rows are locked.
func (s *serverWriter) remove(ctx context.Context, all []deletion) (left []deletion, r delivery.Removed, err error) {
	rows := mssql.Document(deletionColumns.encode(all, nil))
	began := time.Now()
	err = executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		removed, err := s.own.QueryInt(ctx, serverRemove, sql.Named("Messages", rows))
		r.Rows = int(removed)
		return err
	})
	r.Took = time.Since(began)
	return nil, r, err
}
