package sqlstore

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// fileWriter writes batches to the file of our own tables, over a connection of
// its own whose statements stay prepared. All that write to the file take turns.
type fileWriter struct {
	own  *appdb.DB
	path string

	// What follows belongs to whoever has the turn.
	conn   *sqlite.Conn // nil after a failure
	wal    checkpointer
	closed bool
}

// filePragmas are the writer's. It decides itself when the log is written back:
// SQLite would do so within a commit for which many wait.
var filePragmas = []string{"synchronous = FULL", "wal_autocheckpoint = 0", "cache_size = -8000", "journal_size_limit = 33554432"}

func openFileWriter(own *appdb.DB, path string) (batchWriter, error) {
	f := &fileWriter{own: own, path: path, wal: checkpointer{drain: own.Drain}}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *fileWriter) open() (err error) {
	f.conn, err = sqlite.Open(f.path, sqlite.Options{Existing: true, BusyTimeout: appdb.FileTimeout, Pragmas: filePragmas})
	return err
}

func (f *fileWriter) close() error {
	leave, err := f.own.Lock(context.Background())
	if err != nil {
		return err
	}
	defer leave()
	if f.closed = true; f.conn == nil {
		return nil
	}
	err = f.conn.Close()
	f.conn = nil
	return err
}

func (f *fileWriter) write(ctx context.Context, b *delivery.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	return f.inTurn(ctx, func() error {
		return f.transact(ctx, func() error { return f.fill(b) })
	})
}

// inTurn waits for the turn and writes. Where it is time to, the log is written
// back.
func (f *fileWriter) inTurn(ctx context.Context, write func() error) error {
	leave, err := f.own.Lock(ctx)
	if err != nil {
		return err
	}
	if err := f.ready(); err != nil {
		leave()
		return err
	}
	if err := write(); err != nil {
		leave()
		return err
	}
	if f.wal.due(f.conn) {
		go func() { // keeps the turn, and whoever closes the writer waits for it
			defer leave()
			f.wal.writeBack(f.conn)
		}()
		return nil
	}
	leave()
	return nil
}

// ready opens the connection anew where a failure has closed it.
func (f *fileWriter) ready() error {
	switch {
	case f.closed:
		return sqlite.ErrPoolClosed
	case f.conn == nil:
		return f.open()
	}
	return nil
}

// transact does the work that fill does, all or nothing. Once it begins to
// commit it does not stop any more.
func (f *fileWriter) transact(ctx context.Context, fill func() error) error {
	unwatch := f.conn.Watch(ctx)
	err := f.conn.Exec("BEGIN IMMEDIATE")
	if err == nil {
		err = fill()
	}
	unwatch()
	if err == nil {
		err = f.conn.Exec("COMMIT")
	}
	if err == nil {
		return f.own.Lost()
	}
	if f.conn.InTransaction() && f.conn.Exec("ROLLBACK") != nil {
		f.conn.Close()
		f.conn = nil
	}
	if e, is := errors.AsType[*sqlite.Error](err); is && e.Interrupted() && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// fill does all of a batch.
func (f *fileWriter) fill(b *delivery.Batch) error {
	if len(b.Outbox) > 0 {
		return delivery.ErrOutboxTaken // a file has none
	}
	for _, l := range b.Leases {
		_, held, err := f.conn.QueryInt(`SELECT 1 FROM WH_Partition WHERE PartitionID = ?1 AND Fence = ?2`, l.Partition, l.Fence)
		if err != nil || !held {
			return errors.Join(err, delivery.ErrFenced)
		}
	}
	_, current, err := f.conn.QueryInt(`SELECT 1 FROM WH_Number WHERE Name = 'SubscriptionVersion' AND ?1 IN (Next, -1)`, b.Version)
	if err != nil || !current {
		return errors.Join(err, delivery.ErrStale)
	}
	for _, part := range []func(*delivery.Batch) error{f.events, f.messages, f.outcomes, f.boundTexts, f.disable, f.health, f.keys, f.changes, f.nudges} {
		if err := part(b); err != nil {
			return err
		}
	}
	return nil
}

// each runs a statement once for each of n things.
func (f *fileWriter) each(statement string, n int, run func(s *sqlite.Stmt, i int) error) error {
	if n == 0 {
		return nil
	}
	s, err := f.conn.Prepare(statement)
	if err != nil {
		return err
	}
	defer s.Reset()
	for i := range n {
		if err := run(s, i); err != nil {
			return err
		}
	}
	return nil
}

// step runs a bound statement that gives no rows.
func (f *fileWriter) step(s *sqlite.Stmt) error {
	if _, err := s.Step(); err != nil {
		return err
	}
	return s.Reset()
}

func (f *fileWriter) events(b *delivery.Batch) error {
	return f.each(`INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (EventID) DO NOTHING`, len(b.Events), func(s *sqlite.Stmt, i int) error {
		e := b.Events[i]
		s.Bind(e.ID, e.GUID, e.Name, appdb.Stamp(e.AddedAt), string(e.Body))
		return f.step(s)
	})
}

func (f *fileWriter) messages(b *delivery.Batch) error {
	return f.each(`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11)
ON CONFLICT (ID) DO NOTHING`, len(b.Messages), func(s *sqlite.Stmt, i int) error {
		m := b.Messages[i]
		s.Bind(m.ID, m.GUID, m.Event.ID, m.Partition, m.Subscription, m.URL, int64(m.Status), int64(m.Attempts),
			appdb.NullIfEmpty(dueText(m.State)), appdb.Stamp(m.Event.AddedAt), appdb.Bit(m.Private))
		return f.step(s)
	})
}

const (
	fileOutcome = `UPDATE SY_WebhookMessage SET Status = ?3, Attempts = ?2, NextAttemptDateTime = ?4, LastSavedDateTime = ?5,
	HTTPCode = ?6, ResponseMessage = ?7
WHERE ID = ?1 AND Attempts = ?2 - 1 AND NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM SY_WebhookSubscription s WHERE s.ID = SubscriptionID)`
	fileResponse = `INSERT INTO SY_WebhookMessageResponse (MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Detail,
	AnswerText, Duration, LastSavedDateTime, TextHash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`
	fileText = `INSERT INTO WH_ResponseText (TextHash, UsedDateTime, Size, Text) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (TextHash) DO UPDATE SET UsedDateTime = excluded.UsedDateTime
WHERE substr(UsedDateTime, 1, 10) < substr(excluded.UsedDateTime, 1, 10)`
)

func (f *fileWriter) outcomes(b *delivery.Batch) error {
	return f.each(fileOutcome, len(b.Outcomes), func(s *sqlite.Stmt, i int) error {
		a := attemptOf(b.Outcomes[i])
		var code any
		if a.code != 0 {
			code = int64(a.code)
		}
		s.Bind(a.message, int64(a.number), int64(a.status), appdb.NullIfEmpty(a.next), a.ended, code, a.reason)
		if err := f.step(s); err != nil || f.conn.Changes() == 0 {
			return err // the attempt is known, or the message gone
		}
		if a.hash != "" {
			if err := f.conn.Query(fileText, nil, a.hash, a.ended, textSize(a.answer), a.answer); err != nil {
				return err
			}
			a.answer = ""
		}
		return f.conn.Query(fileResponse, nil, a.message, int64(a.number), a.guid, int64(a.status), int64(max(0, a.number-1)), code, a.reason,
			appdb.NullIfEmpty(a.detail), appdb.NullIfEmpty(a.answer), a.duration, a.ended, appdb.NullIfEmpty(a.hash))
	})
}

// textSize is about what the row of a text takes.
func textSize(text string) int64 { return int64(len(text)) + 256 }

// boundTexts removes the oldest texts while all take more than they may. How many
// go at once is bounded, since others wait; the next batches go on.
func (f *fileWriter) boundTexts(b *delivery.Batch) error {
	for range 16 * len(b.Outcomes) {
		_, over, err := f.conn.QueryInt(`SELECT 1 FROM WH_Number WHERE Name = 'ResponseTextSize' AND ?1 > 0 AND Next > ?1`, b.MaxTextSize)
		if err == nil && over {
			err = f.conn.Query(`DELETE FROM WH_ResponseText WHERE TextHash = (SELECT TextHash FROM WH_ResponseText ORDER BY UsedDateTime LIMIT 1)`, nil)
		}
		if err != nil || !over {
			return err
		}
	}
	return nil
}

// disable disables subscriptions, which raises their version.
func (f *fileWriter) disable(b *delivery.Batch) error {
	var disabled []int64
	err := f.each(`UPDATE SY_WebhookSubscription SET IsEnabled = 0, DisabledReason = ?2, LastSavedDateTime = ?3, RowHash = ?4
WHERE ID = ?1 AND IsEnabled = 1`, len(b.Disabled), func(s *sqlite.Stmt, i int) error {
		d := b.Disabled[i]
		s.Bind(d.Subscription, readable(d.Reason, mostDisabled), appdb.Stamp(d.At), newRowHash())
		err := f.step(s)
		if f.conn.Changes() > 0 {
			disabled = append(disabled, d.Subscription)
		}
		return err
	})
	if err != nil || len(disabled) == 0 {
		return err
	}
	if err := f.conn.Query(`UPDATE WH_Number SET Next = Next + 1 WHERE Name = ?1`, nil, subscriptionVersion); err != nil {
		return err
	}
	return f.each(f.nudge(), len(disabled), func(s *sqlite.Stmt, i int) error {
		s.Bind(disabled[i], int64(changedKind), f.own.Holder, subscriptionVersion)
		return f.step(s)
	})
}

// nudge is the statement that adds a row under one of the numbers.
func (f *fileWriter) nudge() string {
	return `INSERT INTO WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, ?1, ?2, ?3, ` + f.own.Clock() + ` FROM WH_Number n WHERE n.Name = ?4`
}

func (f *fileWriter) keys(b *delivery.Batch) error {
	if len(b.Keys) == 0 {
		return nil
	}
	return f.each(`INSERT INTO WH_IdempotencyKey (KeyHash, Digest, EventGUID, Messages, ExpiryDateTime) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (KeyHash) DO UPDATE SET Digest = excluded.Digest, EventGUID = excluded.EventGUID, Messages = excluded.Messages,
	ExpiryDateTime = excluded.ExpiryDateTime
WHERE ExpiryDateTime <= `+f.own.Clock()+` OR EventGUID = excluded.EventGUID`, len(b.Keys), func(s *sqlite.Stmt, i int) error {
		k := b.Keys[i]
		s.Bind(hex.EncodeToString(k.Hash[:]), hex.EncodeToString(k.Digest[:]), k.Event, int64(k.Count), appdb.Stamp(k.Until))
		if err := f.step(s); err != nil {
			return err
		}
		if f.conn.Changes() == 0 {
			return delivery.ErrKeyTaken
		}
		return nil
	})
}

// health notes since when subscriptions fail, or that they do not any more.
func (f *fileWriter) health(b *delivery.Batch) error {
	return f.each(`UPDATE SY_WebhookSubscription SET FailingSince = ?2 WHERE ID = ?1 AND (?2 IS NULL OR ?3 = 1 OR FailingSince IS NULL)`,
		len(b.Health), func(s *sqlite.Stmt, i int) error {
			s.Bind(b.Health[i].Subscription, appdb.NullIfEmpty(momentText(b.Health[i].Since)), appdb.Bit(b.Health[i].Anew))
			return f.step(s)
		})
}

// changes are kept for the streams of other daemons.
func (f *fileWriter) changes(b *delivery.Batch) error {
	if len(b.Changes) == 0 {
		return nil
	}
	return f.each(`INSERT INTO WH_Change (PartitionID, Number, AddedDateTime, Changes) VALUES (?1, ?2, `+f.own.Clock()+`, ?3)`, 1,
		func(s *sqlite.Stmt, _ int) error {
			s.Bind(b.Home, b.Number, changesText(b))
			return f.step(s)
		})
}

// nudges tell other daemons about messages that they hold.
func (f *fileWriter) nudges(b *delivery.Batch) error {
	if len(b.PeerEvents) == 0 {
		return nil
	}
	if err := f.conn.Query(`UPDATE WH_Number SET Next = Next + 1 WHERE Name = ?1`, nil, lastNudge); err != nil {
		return err
	}
	return f.each(f.nudge(), len(b.PeerEvents), func(s *sqlite.Stmt, i int) error {
		s.Bind(b.PeerEvents[i].Subscription, int64(b.PeerEvents[i].Kind), f.own.Holder, lastNudge)
		return f.step(s)
	})
}
