package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// serverWriter writes batches to a server, each in one round trip.
type serverWriter struct{ db *appdb.DB }

func (s *serverWriter) close() error { return nil }

// What a batch gives back.
const (
	batchWritten = iota
	batchFenced
	batchStale
	batchKeyTaken
	batchOutboxTaken
)

var batchErrors = map[int64]error{
	batchFenced: delivery.ErrFenced, batchStale: delivery.ErrStale, batchKeyTaken: delivery.ErrKeyTaken,
	batchOutboxTaken: delivery.ErrOutboxTaken,
}

func (s *serverWriter) write(ctx context.Context, b *delivery.Batch) error {
	statement, args := serverBatch(b, s.db.HolderArg())
	// Of two daemons that write the same key or text at once, the second finds
	// the first's when it tries again.
	worth := func(err error) bool { return executor.IsDeadlock(err) || executor.IsDuplicate(err) }
	return executor.Retry(ctx, worth, func(ctx context.Context) error {
		result, err := s.db.QueryInt(ctx, statement, args...)
		if err != nil {
			return err
		}
		return batchErrors[result]
	})
}

// The row of a partition is locked first. It keeps another daemon from taking
// the partition until the end, and is written by that daemon alone.
// The version is only read: that a subscription is deleted at the same moment
// leaves messages that are not shown, and are removed with the others.
var (
	serverBegin = `SET XACT_ABORT ON;
DECLARE @Result int;
SET @Result = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p
JOIN ` + leaseColumns.open("Leases") + ` l ON l.PartitionID = p.PartitionID AND l.Fence = p.Fence;
IF @@ROWCOUNT <> @LeaseCount SET @Result = 1;
IF @Result = 0 AND NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = N'SubscriptionVersion' AND @Version IN (Next, -1)) SET @Result = 2;
`
	serverBlock = `IF @Result = 0
BEGIN
`
	serverEvents = `INSERT INTO whd.WH_Event (` + eventColumns.names() + `)
SELECT ` + eventColumns.values() + ` FROM ` + numberedEvents.open("Events") + ` n
JOIN (VALUES {texts}) b (N, Body) ON b.N = n.N
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Event o WHERE o.EventID = n.EventID);
`
	serverMessages = `INSERT INTO whd.SY_WebhookMessage (` + messageColumns.names() + `, LastSavedDateTime)
SELECT ` + messageColumns.values() + `, n.AddedDateTime FROM ` + messageColumns.open("Messages") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.ID = n.ID);
`
	serverOutcomes = `UPDATE m SET ` + strings.ReplaceAll(becomes, "@", "n.") + `
FROM whd.SY_WebhookMessage m
JOIN ` + resultColumns.open("Outcomes", "MessageID", "Attempt", "Status", "HTTPCode", "Message", "LastSavedDateTime", "NextAttemptDateTime") + ` n ON n.MessageID = m.ID
WHERE m.Attempts = n.Attempt - 1 AND m.NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = m.SubscriptionID);
INSERT INTO whd.SY_WebhookMessageResponse (` + attemptColumns.names() + `)
SELECT ` + attemptColumns.values() + ` FROM ` + attemptColumns.open("Outcomes") + ` n
JOIN whd.SY_WebhookMessage m ON m.ID = n.MessageID AND m.Attempts = n.Attempt
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = n.MessageID AND r.Attempt = n.Attempt);
`
	serverTextRows = `UPDATE o SET UsedDateTime = n.UsedDateTime FROM whd.WH_ResponseText o
JOIN ` + textPieces.open("Texts", "TextHash", "UsedDateTime") + ` n ON n.TextHash COLLATE Latin1_General_BIN2 = o.TextHash
WHERE CAST(o.UsedDateTime AS date) < CAST(n.UsedDateTime AS date);
INSERT INTO whd.WH_ResponseText (` + textColumns.names() + `)
SELECT n.TextHash, n.UsedDateTime, n.Size, plain(n.Text1) + plain(n.Text2) + plain(n.Text3) FROM ` + textPieces.open("Texts") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_ResponseText o WHERE o.TextHash = n.TextHash COLLATE Latin1_General_BIN2);
`
	serverDisabled = `UPDATE s SET IsEnabled = 0, DisabledReason = plain(n.DisabledReason), LastSavedDateTime = n.LastSavedDateTime, RowHash = @RowHash
FROM whd.SY_WebhookSubscription s
JOIN ` + disabledColumns.open("Disabled") + ` n ON n.ID = s.ID
WHERE s.IsEnabled = 1;
IF @@ROWCOUNT > 0
BEGIN
	UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'SubscriptionVersion';
	INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
	SELECT DISTINCT v.Next, n.ID, 4, @Holder, SYSUTCDATETIME() FROM ` + disabledColumns.open("Disabled", "ID") + ` n
	JOIN whd.WH_Number v ON v.Name = N'SubscriptionVersion';
END
`
	serverKeys = `UPDATE k SET ` + keyGiven("n.") + `
FROM whd.WH_IdempotencyKey k
JOIN ` + keyColumns.open("Keys") + ` n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
WHERE k.ExpiryDateTime <= SYSUTCDATETIME();
INSERT INTO whd.WH_IdempotencyKey (` + keyColumns.names() + `)
SELECT ` + keyColumns.values() + ` FROM ` + keyColumns.open("Keys") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey o WHERE o.KeyHash = n.KeyHash COLLATE Latin1_General_BIN2);
IF EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey k
	JOIN ` + keyColumns.open("Keys", "KeyHash", "EventGUID") + ` n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
	WHERE k.EventGUID <> n.EventGUID COLLATE Latin1_General_BIN2) SET @Result = 3;
`
	serverHealth = `UPDATE s SET FailingSince = n.FailingSince FROM whd.SY_WebhookSubscription s
JOIN ` + healthColumns.open("Health") + ` n ON n.ID = s.ID
WHERE n.FailingSince IS NULL OR n.Anew = 1 OR s.FailingSince IS NULL;
`
	serverChanges = `INSERT INTO whd.WH_Change (PartitionID, Number, AddedDateTime, Changes) VALUES (@Home, @Number, SYSUTCDATETIME(), @Changes);
`
	// The number stays locked until the end, which is why this comes last.
	serverPeerEvents = `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'Nudge';
INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT c.Next, n.SubscriptionID, n.Kind, @Holder, SYSUTCDATETIME()
FROM ` + peerEventColumns.open("PeerEvents") + ` n
JOIN whd.WH_Number c ON c.Name = N'Nudge';
`
	// The rows of the outbox that become events. None may have been taken by another
	// daemon, nor be overtaken: another program's transaction that ends while rows
	// are read may show its later ones first.
	serverOutbox = `DELETE o FROM whd.WH_Outbox o WITH (READPAST)
JOIN ` + outboxColumns.open("Outbox") + ` n ON n.ID = o.OutboxID
WHERE o.RefusedReason IS NULL;
IF @@ROWCOUNT <> @OutboxCount SET @Result = 4;
IF EXISTS (SELECT 1 FROM whd.WH_Outbox o WITH (READPAST) WHERE o.OutboxID < @OutboxLast AND o.RefusedReason IS NULL) SET @Result = 4;
`
	serverEnd = `IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;`
)

// keyGiven is what a key that has run out gets from the one that takes its place.
func keyGiven(from string) string {
	return `Digest = ` + from + `Digest, EventGUID = ` + from + `EventGUID, Messages = ` + from + `Messages, ExpiryDateTime = ` + from + `ExpiryDateTime`
}

// The messages go first: an outcome that is written at the same moment finds
// none, or has changed its message already.
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
		removed, err := s.db.QueryInt(ctx, serverRemove, sql.Named("Messages", rows))
		r.Rows = int(removed)
		return err
	})
	r.Took = time.Since(began)
	return nil, r, err
}

// shrink does nothing: a server's files are its own affair.
func (s *serverWriter) shrink(context.Context) (r delivery.Removed, err error) { return r, nil }

// On a server events have numbers, by which their bodies are found, and texts
// come in pieces, each short enough even if all of its characters are escaped.
var (
	numberedEvents = append(eventColumns[:len(eventColumns):len(eventColumns)], column[*webhook.Event]{"N", integer, nil})
	textPieces     = newTextPieces()
)

func newTextPieces() columns[storedText] {
	all := textColumns[: len(textColumns)-1 : len(textColumns)-1]
	for i := range answerPieces {
		all = append(all, column[storedText]{fmt.Sprint("Text", i+1), text, func(t storedText) any { return piece(t.text, i) }})
	}
	return all
}

func piece(text string, i int) string {
	const most = 2000
	for range i {
		text = text[len(appdb.Truncate(text, most)):]
	}
	return appdb.Truncate(text, most)
}

// batchText collects the statement of a batch for a server, and its arguments:
// rows as JSON for OPENJSON, and the bodies of events beside them. Babelfish cuts
// texts that come out of OPENJSON at 4,000 characters, and leaves their escapes
// in.
type batchText struct {
	statement strings.Builder
	args      []any
	escapes   escapes
}

// serverBatch is the statement of a batch, with the parts that it needs. A batch
// without rows only checks leases and version: SQL Server takes no empty block.
//
// The arguments are at most webhook.MaxBatchEvents and one for each kind of rows,
// while a call takes 2,100.
func serverBatch(b *delivery.Batch, holder sql.NamedArg) (string, []any) {
	w := &batchText{}
	w.rows("Leases", leaseColumns.encode(b.Leases, &w.escapes))
	w.arg("LeaseCount", len(b.Leases))
	w.arg("Version", b.Version)
	if len(b.Outbox) > 0 {
		part(w, serverOutbox, "Outbox", outboxColumns, b.Outbox)
		w.arg("OutboxCount", len(b.Outbox))
		w.arg("OutboxLast", slices.Max(b.Outbox))
	}
	if len(b.Events) > 0 {
		part(w, w.withBodies(serverEvents, b.Events), "Events", numberedEvents, b.Events)
	}
	part(w, serverMessages, "Messages", messageColumns, b.Messages)
	w.outcomes(b.Outcomes)
	if len(b.Disabled) > 0 {
		part(w, serverDisabled, "Disabled", disabledColumns, b.Disabled)
		w.arg("RowHash", newRowHash())
	}
	part(w, serverHealth, "Health", healthColumns, b.Health)
	if len(b.Changes) > 0 {
		w.statement.WriteString(serverChanges)
		w.arg("Home", b.Home)
		w.arg("Number", b.Number)
		w.rows("Changes", []byte(changesText(b)))
	}
	part(w, serverKeys, "Keys", keyColumns, b.Keys)
	part(w, serverPeerEvents, "PeerEvents", peerEventColumns, b.PeerEvents)
	if len(b.Disabled)+len(b.PeerEvents) > 0 {
		w.args = append(w.args, holder)
	}
	block := ""
	if w.statement.Len() > 0 {
		block = serverBlock + w.statement.String() + "END\n"
	}
	return serverBegin + w.escapes.fill(block) + serverEnd, w.args
}

func (w *batchText) arg(name string, value any) { w.args = append(w.args, sql.Named(name, value)) }

func (w *batchText) rows(name string, json []byte) { w.arg(name, mssql.Document(json)) }

// part adds a statement for rows, if there are any.
func part[T any](w *batchText, statement, name string, c columns[T], all []T) {
	if len(all) > 0 {
		w.statement.WriteString(statement)
		w.rows(name, c.encode(all, &w.escapes))
	}
}

// withBodies puts the bodies of events, each behind its number, in their place
// in the statement. There are rows to fill up to a power of two, so that
// statements of a few lengths serve all batches.
func (w *batchText) withBodies(statement string, events []*webhook.Event) string {
	count := 1
	for count < len(events) {
		count *= 2
	}
	var list strings.Builder
	for n := range count {
		if n > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "(%d, @T%d)", n, n)
		var body []byte
		if n < len(events) {
			body = events[n].Body
		}
		w.arg(fmt.Sprintf("T%d", n), mssql.Document(body))
	}
	return strings.ReplaceAll(statement, "{texts}", list.String())
}

// outcomes adds what came of attempts, in rounds that each have one of each
// message, in the order in which they come: an UPDATE does one of several that it
// joins. There is seldom more than one round.
func (w *batchText) outcomes(outcomes []webhook.AttemptResult) {
	var rounds [][]*attempt
	var stored []storedText
	turns, known := make(map[int64]int, len(outcomes)), make(map[string]bool)
	for _, a := range attemptsOf(outcomes) {
		if t, is := a.store(); is && !known[t.hash] {
			known[t.hash] = true
			stored = append(stored, t)
		}
		turn := turns[a.Message.ID]
		turns[a.Message.ID]++
		if turn == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[turn] = append(rounds[turn], a)
	}
	for i, round := range rounds {
		name := fmt.Sprintf("Outcomes%d", i+1)
		part(w, strings.ReplaceAll(serverOutcomes, "@Outcomes", "@"+name), name, resultColumns, round)
	}
	part(w, serverTextRows, "Texts", textPieces, stored)
}
