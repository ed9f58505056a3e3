package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
	"github.com/bizhook/whd/daemon/webhook/stats"
)

// fileWriter writes batches to the file, over its own connection with
// prepared statements. The write lock serializes it with all other writers.
type fileWriter struct {
	db   *appdb.DB
	path string

	// Guarded by the write lock.
	conn    *sqlite.Conn // nil after a failure
	wal     checkpointer
	closed  bool
	values  []any      // reused for the parameters of each statement
	recent  int        // messages written since the last count
	minutes minuteRows // additions of the current batch
}

func (f *fileWriter) open() error {
	conn, err := openToWrite(f.path)
	f.conn = conn
	if err != nil {
		return err
	}
	return f.transact(context.Background(), f.count)
}

func (f *fileWriter) close() error {
	unlock, err := f.db.Lock(context.Background())
	if err != nil { // after a failed sync; nothing is written any more
		return f.wal.close()
	}
	f.closed = true
	if f.conn != nil {
		err = f.conn.Close()
		f.conn = nil
	}
	unlock()
	return errors.Join(err, f.wal.close())
}

func (f *fileWriter) write(ctx context.Context, b *delivery.Batch, blocks []messageBlock) error {
	ctx, cancel := context.WithTimeout(ctx, executor.StatementLimit)
	defer cancel()
	return f.locked(ctx, func() error {
		return f.transact(ctx, func() error { return f.writeBatch(b, blocks) })
	})
}

// locked calls write with the write lock and an open connection, and then starts a
// checkpoint if one is due.
func (f *fileWriter) locked(ctx context.Context, write func() error) error {
	if err := f.wal.await(ctx); err != nil {
		return err
	}
	unlock, err := f.db.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if f.closed {
		return sqlite.ErrPoolClosed
	}
	if f.conn == nil { // closed after a failure
		if err := f.open(); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	f.wal.written(f.conn)
	return nil
}

// transact runs work in a transaction. Once the commit has started, ctx no longer
// cancels it.
func (f *fileWriter) transact(ctx context.Context, work func() error) error {
	err := f.workUntilDone(ctx, work)
	if err == nil {
		err = f.conn.Query("COMMIT", nil)
	}
	if err == nil {
		return f.db.CheckFiles()
	}

	if f.conn.InTransaction() && f.conn.Exec("ROLLBACK") != nil {
		f.conn.Close()
		f.conn = nil
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if ok && failed.Interrupted() && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// workUntilDone starts a transaction and runs work in it. Its statements are interrupted when ctx is
// done.
func (f *fileWriter) workUntilDone(ctx context.Context, work func() error) error {
	stopInterrupt := f.conn.InterruptOn(ctx)
	defer stopInterrupt()
	err := f.conn.Query("BEGIN IMMEDIATE", nil)
	if err != nil {
		return err
	}
	return work()
}

// repairTimes ends leases that expire in the future, moves open messages to the first
// partition, and restarts the waits of messages that were saved in the future. It has no time
// limit: a file can have millions of such messages.
func (f *fileWriter) repairTimes(ctx context.Context) error {
	return f.locked(ctx, func() error {
		return f.transact(ctx, f.repairEach)
	})
}

// repairEach runs the statements of repairTimes.
func (f *fileWriter) repairEach() error {
	err := f.conn.Query(`UPDATE WH_Partition SET LeaseUntil = ?1`, nil, appdb.Timestamp(time.Time{}))
	if err != nil {
		return err
	}
	err = f.conn.Query(`UPDATE SY_WebhookMessage SET PartitionID = ?1
WHERE PartitionID IN (SELECT p.PartitionID FROM WH_Partition p WHERE p.PartitionID <> ?1) AND SubscriptionID IN (SELECT s.ID FROM SY_WebhookSubscription s)
	AND NextAttemptDateTime IS NOT NULL`, nil, int64(delivery.FirstPartition))
	if err != nil {
		return err
	}
	return f.conn.Query(`UPDATE SY_WebhookMessage SET NextAttemptDateTime = strftime('%Y-%m-%dT%H:%M:%f0000', 'now',
	printf('%.3f seconds', max(0, 86400 * (julianday(NextAttemptDateTime) - julianday(LastSavedDateTime)))))
WHERE PartitionID = ?1 AND SubscriptionID IN (SELECT s.ID FROM SY_WebhookSubscription s)
	AND NextAttemptDateTime > `+f.db.Clock+` AND LastSavedDateTime > `+f.db.Clock, nil, int64(delivery.FirstPartition))
}

// writeBatch writes all parts of a batch.
func (f *fileWriter) writeBatch(b *delivery.Batch, blocks []messageBlock) error {
	if len(b.Outbox) > 0 {
		return delivery.ErrOutboxTaken // a file has no outbox
	}
	err := f.checkLeases(b)
	if err != nil {
		return err
	}
	f.minutes = newMinuteRows(b)
	for _, part := range []func() error{
		func() error { return f.captured(b) },
		func() error { return f.mark(b) },
		func() error { return f.events(b) },
		func() error { return f.messages(b) },
		func() error { return each(f, fileBlock, blocks, nil) },
		func() error { return f.outcomes(b) },
		func() error { return each(f, fileMinute, f.minutes.rows, nil) },
		func() error { return f.boundTexts(b) },
		func() error { return f.disable(b) },
		func() error { return each(f, fileHealth, b.Health, nil) },
		func() error { return f.keys(b) },
		func() error { return f.changes(b) },
		func() error { return f.notify(lastPeerEvent, b.PeerEvents) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// checkLeases returns an error if a lease of a batch is not held, or if its version is not current.
func (f *fileWriter) checkLeases(b *delivery.Batch) error {
	for _, l := range b.Leases {
		_, isHeld, err := f.conn.QueryInt(`SELECT 1 FROM WH_Partition WHERE PartitionID = ?1 AND Fence = ?2`,
			l.Partition, l.Fence)
		if err != nil || !isHeld {
			return errors.Join(err, delivery.ErrFenced)
		}
	}
	_, isCurrent, err := f.conn.QueryInt(
		`SELECT 1 FROM WH_Number WHERE Name = 'SubscriptionVersion' AND ?1 IN (Next, -1)`, b.Version)
	if err != nil || !isCurrent {
		return errors.Join(err, delivery.ErrStale)
	}
	return nil
}

// each executes a statement for each row, and calls then after each.
func each[T any](f *fileWriter, run statement[T], rows []T, then func(T) error) error {
	if len(rows) == 0 {
		return nil
	}
	s, err := f.conn.Prepare(run.text)
	if err != nil {
		return err
	}
	defer s.Reset()
	for _, row := range rows {
		for _, value := range run.bound {
			f.values = append(f.values, value(row))
		}
		s.Bind(f.values...)
		clear(f.values)
		f.values = f.values[:0]
		_, err := s.Step()
		if err != nil {
			return err
		}
		err = s.Reset()
		if err != nil {
			return err
		}
		if then == nil {
			continue
		}
		err = then(row)
		if err != nil {
			return err
		}
	}
	return nil
}

// The statements of a batch.
var (
	fileEvent = newStatement(eventColumns, `INSERT INTO WH_Event (`+eventColumns.names()+`) VALUES (`+eventColumns.parameters()+`)
ON CONFLICT (EventID) DO NOTHING`)
	fileMessage = newStatement(messageColumns, `INSERT INTO SY_WebhookMessage (`+messageColumns.names()+`, LastSavedDateTime)
VALUES (`+messageColumns.parameters()+`, @AddedDateTime) ON CONFLICT (ID) DO NOTHING`)
	fileBlock = newStatement(blockColumns, `INSERT INTO WH_MessageBlock (`+blockColumns.names()+`) VALUES (`+blockColumns.parameters()+`)
ON CONFLICT (FirstID) DO UPDATE SET AddedSince = excluded.AddedSince, AddedUntil = excluded.AddedUntil`)
	fileOutcome = newStatement(resultColumns, `UPDATE SY_WebhookMessage SET `+messageUpdate+`
WHERE ID = @MessageID AND Attempts = @Attempt - 1 AND NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM SY_WebhookSubscription s WHERE s.ID = SubscriptionID)`)
	fileAttempt = newStatement(attemptColumns, `INSERT INTO SY_WebhookMessageResponse (`+attemptColumns.names()+`) VALUES (`+attemptColumns.parameters()+`)`)
	fileMoved   = newStatement(movedColumns, `UPDATE SY_WebhookMessage SET URL = @URL WHERE ID = @MessageID AND Attempts = @Attempt`)
	fileText    = newStatement(textColumns, `INSERT INTO WH_ResponseText (`+textColumns.names()+`) VALUES (`+textColumns.parameters()+`)
ON CONFLICT (TextHash) DO UPDATE SET UsedDateTime = excluded.UsedDateTime
WHERE substr(UsedDateTime, 1, 10) < substr(excluded.UsedDateTime, 1, 10)`)
	fileDisabled = newStatement(disabledColumns, `UPDATE SY_WebhookSubscription SET IsEnabled = 0, DisabledReason = @DisabledReason,
	LastSavedDateTime = @LastSavedDateTime, RowHash = randomblob(8) WHERE ID = @ID AND IsEnabled = 1`)
	fileHealth = newStatement(healthColumns, `UPDATE SY_WebhookSubscription SET FailingSince = @FailingSince
WHERE ID = @ID AND (@FailingSince IS NULL OR @Overwrite = 1 OR FailingSince IS NULL)`)
	fileKey = newStatement(keyColumns, `INSERT INTO WH_IdempotencyKey (`+keyColumns.names()+`) VALUES (`+keyColumns.parameters()+`)
ON CONFLICT (KeyHash) DO UPDATE SET `+keyUpdate("excluded.")+`
WHERE ExpiryDateTime <= `+appdb.FileDialect.Clock+` OR EventGUID = excluded.EventGUID`)
)

// captured writes changes of records.
func (f *fileWriter) captured(b *delivery.Batch) error {
	if b.Captured == nil {
		return nil
	}
	err := each(f, fileCapture, []*delivery.Captured{b.Captured}, func(*delivery.Captured) error {
		if f.conn.Changes() != 1 {
			return delivery.ErrCaptureLost
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(f, fileChange, capturedChanges(b.Captured), nil)
}

// mark marks rows of an external outbox, none of which may be marked already.
func (f *fileWriter) mark(b *delivery.Batch) error {
	for _, row := range b.Taken {
		err := f.conn.Query(`INSERT INTO WH_OutboxTaken (Source, EventGUID) VALUES (?1, ?2) ON CONFLICT DO NOTHING`, nil, b.Source, row)
		if err != nil {
			return err
		}
		if f.conn.Changes() == 0 {
			return delivery.ErrOutboxTaken
		}
	}
	return nil
}

// events inserts the events, and counts those that are not stored yet.
func (f *fileWriter) events(b *delivery.Batch) error {
	if len(b.Events) == 0 {
		return nil
	}
	var inserted stats.Traffic
	err := each(f, fileEvent, b.Events, func(*webhook.Event) error {
		inserted.Events += int64(f.conn.Changes())
		return nil
	})
	f.minutes.published(publishedMinute(b), inserted)
	return err
}

// messages inserts the messages, and adds them to the numbers of messages from time to time.
func (f *fileWriter) messages(b *delivery.Batch) error {
	var inserted stats.Traffic
	err := each(f, fileMessage, b.Messages, func(*webhook.Message) error {
		inserted.Messages += int64(f.conn.Changes())
		return nil
	})
	if len(b.Events) > 0 {
		f.minutes.published(publishedMinute(b), inserted)
	}
	f.recent += len(b.Messages)
	if err != nil || f.recent < maxUncounted {
		return err
	}
	return f.count()
}

// maxUncounted is about the number of new messages after which they are counted. Counting
// those of each batch would write two more pages for each event at low rates.
const maxUncounted = 256

// uncounted are the messages with IDs above that of the last one counted: new ones, since IDs
// grow, and those of an older program or of whd store copy. They are read by their IDs: the
// index by subscription has the order of the groups, but all messages.
const uncounted = `SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')`

// countUncounted adds the uncounted messages to the counts.
const countUncounted = `INSERT INTO WH_MessageCount (SubscriptionID, Messages, Failed)
SELECT SubscriptionID, COUNT(*), SUM(Status = 3) FROM ` + uncounted + ` GROUP BY SubscriptionID
ON CONFLICT (SubscriptionID) DO UPDATE SET Messages = Messages + excluded.Messages, Failed = Failed + excluded.Failed`

// newCounts has a row like those of WH_MessageCount for each uncounted message.
const newCounts = `(SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM ` + uncounted + `)`

// count adds the uncounted messages to the counts, and some to the blocks of events.
func (f *fileWriter) count() error {
	err := f.conn.Query(countUncounted, nil)
	if err != nil {
		return err
	}
	err = f.conn.Query(`UPDATE WH_Number SET Next = (SELECT MAX(ID) FROM SY_WebhookMessage)
WHERE Name = 'CountedMessage' AND Next < (SELECT MAX(ID) FROM SY_WebhookMessage)`, nil)
	if err != nil {
		return err
	}
	f.recent = 0
	return f.name()
}

// outcomes writes results of attempts, with their responses.
func (f *fileWriter) outcomes(b *delivery.Batch) error {
	return each(f, fileOutcome, attemptsOf(b.Outcomes), func(a *attempt) error {
		if f.conn.Changes() == 0 {
			return nil // the attempt is already stored, or the message was deleted
		}
		f.minutes.attempted(a)
		if a.isMoved() {
			if err := each(f, fileMoved, []*attempt{a}, nil); err != nil {
				return err
			}
		}
		if t, ok := a.extractText(); ok {
			if err := each(f, fileText, []storedText{t}, nil); err != nil {
				return err
			}
		}
		return each(f, fileAttempt, []*attempt{a}, nil)
	})
}

// boundTexts deletes the least recently used texts while their total size exceeds
// the limit. The number of deletions is bounded, since callers wait for the batch;
// the next batches continue.
func (f *fileWriter) boundTexts(b *delivery.Batch) error {
	for range 16 * len(b.Outcomes) {
		_, isOver, err := f.conn.QueryInt(
			`SELECT 1 FROM WH_Number WHERE Name = 'ResponseTextSize' AND ?1 > 0 AND Next > ?1`, b.MaxTextSize)
		if err != nil || !isOver {
			return err
		}
		err = f.conn.Query(`DELETE FROM WH_ResponseText
WHERE TextHash = (SELECT TextHash FROM WH_ResponseText ORDER BY UsedDateTime LIMIT 1)`, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// disable disables subscriptions and increments the version of the subscriptions.
func (f *fileWriter) disable(b *delivery.Batch) error {
	var disabled []delivery.PeerEvent
	err := each(f, fileDisabled, b.Disabled, func(d delivery.Disabled) error {
		if f.conn.Changes() > 0 {
			disabled = append(disabled, delivery.PeerEvent{Subscription: d.Subscription, Kind: changedKind})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.notify(subscriptionVersion, disabled)
}

// notify increments a counter and adds rows with its number for other daemons.
func (f *fileWriter) notify(number string, events []delivery.PeerEvent) error {
	if len(events) == 0 {
		return nil
	}
	err := f.conn.Query(`UPDATE WH_Number SET Next = Next + 1 WHERE Name = ?1`, nil, number)
	if err != nil {
		return err
	}
	for _, e := range events {
		err := f.conn.Query(`INSERT INTO WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT n.Next, ?1, ?2, ?3, `+f.db.Clock+` FROM WH_Number n WHERE n.Name = ?4`, nil, e.Subscription, int64(e.Kind), f.db.Holder, number)
		if err != nil {
			return err
		}
	}
	return nil
}

// keys writes idempotency keys, none of which may belong to another event.
func (f *fileWriter) keys(b *delivery.Batch) error {
	return each(f, fileKey, b.Keys, func(delivery.Key) error {
		if f.conn.Changes() == 0 {
			return delivery.ErrKeyTaken
		}
		return nil
	})
}

// changes stores the changes for the streams of other daemons.
func (f *fileWriter) changes(b *delivery.Batch) error {
	if len(b.Changes) == 0 {
		return nil
	}
	return f.conn.Query(`INSERT INTO WH_Change (PartitionID, Number, AddedDateTime, Changes)
VALUES (?1, ?2, `+f.db.Clock+`, ?3)`, nil, b.Home, b.Number, changesText(b))
}
