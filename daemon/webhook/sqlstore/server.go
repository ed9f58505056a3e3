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

// serverWriter writes batches to SQL Server, each in one round trip.
type serverWriter struct{ db *appdb.DB }

func (s *serverWriter) close() error { return nil }

// Results of a batch statement.
const (
	batchWritten = iota
	batchFenced
	batchStale
	batchKeyTaken
	batchOutboxTaken
	batchCaptureLost
)

var batchErrors = map[int64]error{
	batchFenced:      delivery.ErrFenced,
	batchStale:       delivery.ErrStale,
	batchKeyTaken:    delivery.ErrKeyTaken,
	batchOutboxTaken: delivery.ErrOutboxTaken,
	batchCaptureLost: delivery.ErrCaptureLost,
}

func (s *serverWriter) write(ctx context.Context, b *delivery.Batch, blocks []messageBlock) error {
	statement, args := serverBatch(b, blocks, s.db.HolderArg())
	// If two daemons insert the same key or text concurrently, the second one finds
	// the row of the first when it tries again.
	mayRetry := func(err error) bool { return executor.IsDeadlock(err) || executor.IsDuplicate(err) }
	return executor.Retry(ctx, mayRetry, func(ctx context.Context) error {
		result, err := s.db.QueryInt(ctx, statement, args...)
		if err != nil {
			return err
		}
		return batchErrors[result]
	})
}

// The row of a partition is locked first: no other daemon can take over the
// partition until the end, and only its holder writes the row otherwise. The
// version is only read: a concurrent deletion of a subscription leaves messages
// that are invisible and deleted later. Without FORCESEEK the server may scan a small
// table for the rows of a list, and take update locks on rows of other daemons.
var (
	serverBegin = `SET XACT_ABORT ON;
DECLARE @Result int, @NewEvents int, @NewMessages int;
SET @Result = 0;
SET @NewEvents = 0;
SET @NewMessages = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p WITH (FORCESEEK)
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
SET @NewEvents = @@ROWCOUNT;
`
	serverMessages = `INSERT INTO whd.SY_WebhookMessage (` + messageColumns.names() + `, LastSavedDateTime)
SELECT ` + messageColumns.values() + `, n.AddedDateTime FROM ` + messageColumns.open("Messages") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.ID = n.ID);
SET @NewMessages = @@ROWCOUNT;
`
	serverMessageBlocks = `UPDATE k SET AddedSince = n.AddedSince, AddedUntil = n.AddedUntil
FROM whd.WH_MessageBlock k WITH (FORCESEEK)
JOIN ` + blockColumns.open("Blocks") + ` n ON n.FirstID = k.FirstID;
INSERT INTO whd.WH_MessageBlock (` + blockColumns.names() + `)
SELECT ` + blockColumns.values() + ` FROM ` + blockColumns.open("Blocks") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_MessageBlock o WHERE o.FirstID = n.FirstID);
`
	serverOutcomes = `UPDATE m SET ` + strings.ReplaceAll(messageUpdate, "@", "n.") + `
FROM whd.SY_WebhookMessage m WITH (FORCESEEK)
JOIN ` + resultColumns.open("Outcomes", "MessageID", "Attempt", "Status", "HTTPCode", "Message", "LastSavedDateTime", "NextAttemptDateTime") + ` n ON n.MessageID = m.ID
WHERE m.Attempts = n.Attempt - 1 AND m.NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = m.SubscriptionID);
`
	serverAttempts = `INSERT INTO whd.SY_WebhookMessageResponse (` + attemptColumns.names() + `)
SELECT ` + attemptColumns.values() + ` FROM ` + attemptColumns.open("Outcomes") + ` n
JOIN whd.SY_WebhookMessage m ON m.ID = n.MessageID AND m.Attempts = n.Attempt
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = n.MessageID AND r.Attempt = n.Attempt);
`
	serverMoved = `UPDATE m SET URL = plain(n.URL) FROM whd.SY_WebhookMessage m WITH (FORCESEEK)
JOIN ` + movedColumns.open("Moved") + ` n ON n.MessageID = m.ID
WHERE m.Attempts = n.Attempt;
`
	serverTextRows = `UPDATE o SET UsedDateTime = n.UsedDateTime FROM whd.WH_ResponseText o WITH (FORCESEEK)
JOIN ` + textPieces.open("Texts", "TextHash", "UsedDateTime") + ` n ON n.TextHash COLLATE Latin1_General_BIN2 = o.TextHash
WHERE CAST(o.UsedDateTime AS date) < CAST(n.UsedDateTime AS date);
INSERT INTO whd.WH_ResponseText (` + textColumns.names() + `)
SELECT n.TextHash, n.UsedDateTime, n.Size, plain(n.Text1) + plain(n.Text2) + plain(n.Text3) FROM ` + textPieces.open("Texts") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_ResponseText o WHERE o.TextHash = n.TextHash COLLATE Latin1_General_BIN2);
`
	serverDisabled = `UPDATE s SET IsEnabled = 0, DisabledReason = plain(n.DisabledReason), LastSavedDateTime = n.LastSavedDateTime, RowHash = @RowHash
FROM whd.SY_WebhookSubscription s WITH (FORCESEEK)
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
	serverKeys = `UPDATE k SET ` + keyUpdate("n.") + `
FROM whd.WH_IdempotencyKey k WITH (FORCESEEK)
JOIN ` + keyColumns.open("Keys") + ` n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
WHERE k.ExpiryDateTime <= SYSUTCDATETIME();
INSERT INTO whd.WH_IdempotencyKey (` + keyColumns.names() + `)
SELECT ` + keyColumns.values() + ` FROM ` + keyColumns.open("Keys") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey o WHERE o.KeyHash = n.KeyHash COLLATE Latin1_General_BIN2);
IF EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey k
	JOIN ` + keyColumns.open("Keys", "KeyHash", "EventGUID") + ` n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
	WHERE k.EventGUID <> n.EventGUID COLLATE Latin1_General_BIN2) SET @Result = 3;
`
	serverHealth = `UPDATE s SET FailingSince = n.FailingSince FROM whd.SY_WebhookSubscription s WITH (FORCESEEK)
JOIN ` + healthColumns.open("Health") + ` n ON n.ID = s.ID
WHERE n.FailingSince IS NULL OR n.Overwrite = 1 OR s.FailingSince IS NULL;
`
	serverChanges = `INSERT INTO whd.WH_Change (PartitionID, Number, AddedDateTime, Changes) VALUES (@Home, @Number, SYSUTCDATETIME(), @Changes);
`
	// last, since the counter stays locked until the end
	serverPeerEvents = `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'Nudge';
INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT c.Next, n.SubscriptionID, n.Kind, @Holder, SYSUTCDATETIME()
FROM ` + peerEventColumns.open("PeerEvents") + ` n
JOIN whd.WH_Number c ON c.Name = N'Nudge';
`
	// The rows of the outbox that become events. None may have been processed by
	// another daemon, or be overtaken: if a transaction of another program commits
	// during the read, its later rows may be visible first.
	serverOutbox = `DELETE o FROM whd.WH_Outbox o WITH (READPAST, READCOMMITTEDLOCK, FORCESEEK)
JOIN ` + outboxColumns.open("Outbox") + ` n ON n.ID = o.OutboxID
WHERE o.RefusedReason IS NULL;
IF @@ROWCOUNT <> @OutboxCount SET @Result = 4;
IF EXISTS (SELECT 1 FROM whd.WH_Outbox o WITH (READPAST, READCOMMITTEDLOCK) WHERE o.OutboxID < @OutboxLast AND o.RefusedReason IS NULL) SET @Result = 4;
`
	// The rows of an external outbox that become events: none may be marked already.
	serverTaken = `INSERT INTO whd.WH_OutboxTaken (Source, EventGUID)
SELECT DISTINCT @Source, n.EventGUID FROM ` + takenColumns.open("Taken") + ` n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_OutboxTaken o WHERE o.Source = @Source AND o.EventGUID = n.EventGUID COLLATE Latin1_General_BIN2);
IF @@ROWCOUNT <> @TakenCount SET @Result = 4;
`
	serverEnd = `IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;`
)

// keyUpdate returns the SET list that replaces an expired key by a new one.
func keyUpdate(source string) string {
	var sets []string
	for _, column := range []string{"Digest", "EventGUID", "Messages", "ExpiryDateTime"} {
		sets = append(sets, column+` = `+source+column)
	}
	return strings.Join(sets, ", ")
}

// The messages are deleted first: an outcome written concurrently then either finds
// no message, or has already changed it.
var serverRemove = `SET XACT_ABORT ON;
DECLARE @Removed int;
BEGIN TRANSACTION;
DELETE m FROM whd.SY_WebhookMessage m WITH (FORCESEEK)
JOIN ` + deletionColumns.open("Messages", "ID", "Status", "Attempts") + ` c ON c.ID = m.ID
WHERE m.Status = c.Status AND m.Attempts = c.Attempts;
SET @Removed = @@ROWCOUNT;
DELETE r FROM whd.SY_WebhookMessageResponse r WITH (FORCESEEK)
JOIN ` + deletionColumns.open("Messages", "ID") + ` c ON c.ID = r.MessageID
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.ID = r.MessageID);
DELETE e FROM whd.WH_Event e
WHERE e.EventID IN (SELECT c.EventID FROM ` + deletionColumns.open("Messages", "EventID") + ` c)
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = e.EventID)
	AND NOT EXISTS (SELECT 1 FROM whd.WH_RecordChange r WHERE r.EventID = e.EventID);
COMMIT TRANSACTION;
SELECT @Removed;`

// remove deletes messages in one round trip. It locks only their rows.
func (s *serverWriter) remove(ctx context.Context, messages []deletion) ([]deletion, delivery.Removed, error) {
	rows := mssql.Document(deletionColumns.encode(messages, nil))
	var r delivery.Removed
	started := time.Now()
	err := executor.Retry(ctx, executor.IsDeadlock, func(ctx context.Context) error {
		removed, err := s.db.QueryInt(ctx, serverRemove, sql.Named("Messages", rows))
		r.Rows = int(removed)
		return err
	})
	r.Took = time.Since(started)
	return nil, r, err
}

// shrink does nothing: the files are managed by the server.
func (s *serverWriter) shrink(context.Context) (delivery.Removed, error) {
	return delivery.Removed{}, nil
}

// On SQL Server, events have an index for joining their bodies, and texts are split
// into pieces that fit even if all characters are escaped.
var (
	numberedEvents = append(eventColumns[:len(eventColumns):len(eventColumns)], column[*webhook.Event]{"N", integer, nil})
	textPieces     = newTextPieces()
)

func newTextPieces() columns[storedText] {
	pieces := textColumns[: len(textColumns)-1 : len(textColumns)-1]
	for i := range responsePieces {
		pieces = append(pieces, column[storedText]{
			name:  fmt.Sprint("Text", i+1),
			typ:   text,
			value: func(t storedText) any { return piece(t.text, i) },
		})
	}
	return pieces
}

func piece(text string, i int) string {
	const maxPiece = 2000
	for range i {
		text = text[len(appdb.Truncate(text, maxPiece)):]
	}
	return appdb.Truncate(text, maxPiece)
}

// batchText builds the statement of a batch for SQL Server and its arguments: rows
// as JSON for OPENJSON, and the bodies of events as separate parameters. Babelfish
// truncates texts from OPENJSON at 4,000 characters and does not unescape them.
type batchText struct {
	statement strings.Builder
	args      []any
	escapes   escapes
}

// serverBatch returns the statement of a batch and its arguments; it contains only
// the parts that the batch needs. A batch without rows only checks leases and
// version: SQL Server does not allow an empty block.
//
// There are at most webhook.MaxBatchEvents arguments and one for each kind of rows;
// a call allows 2,100.
func serverBatch(b *delivery.Batch, blocks []messageBlock, holder sql.NamedArg) (string, []any) {
	w := &batchText{}
	w.rows("Leases", leaseColumns.encode(b.Leases, &w.escapes))
	w.arg("LeaseCount", len(b.Leases))
	w.arg("Version", b.Version)
	w.captured(b.Captured)
	if len(b.Outbox) > 0 {
		part(w, serverOutbox, "Outbox", outboxColumns, b.Outbox)
		w.arg("OutboxCount", len(b.Outbox))
		w.arg("OutboxLast", slices.Max(b.Outbox))
	}
	if len(b.Taken) > 0 {
		part(w, serverTaken, "Taken", takenColumns, b.Taken)
		w.arg("Source", b.Source)
		w.arg("TakenCount", len(b.Taken))
	}
	if len(b.Events) > 0 {
		part(w, w.withBodies(serverEvents, b.Events), "Events", numberedEvents, b.Events)
	}
	part(w, serverMessages, "Messages", messageColumns, b.Messages)
	part(w, serverMessageBlocks, "Blocks", blockColumns, blocks)
	if len(b.Events) > 0 {
		w.statement.WriteString(serverPublished)
		w.arg("PublishedMinute", publishedMinute(b))
	}
	w.outcomes(b)
	if len(b.Disabled) > 0 {
		part(w, serverDisabled, "Disabled", disabledColumns, b.Disabled)
		w.arg("RowHash", newRowHash())
	}
	part(w, serverHealth, "Health", healthColumns, b.Health)
	if len(b.Changes) > 0 {
		w.statement.WriteString(serverChanges)
		w.arg("Number", b.Number)
		w.rows("Changes", []byte(changesText(b)))
	}
	part(w, serverKeys, "Keys", keyColumns, b.Keys)
	part(w, serverPeerEvents, "PeerEvents", peerEventColumns, b.PeerEvents)
	if len(b.Disabled)+len(b.PeerEvents) > 0 {
		w.args = append(w.args, holder)
	}
	if b.Captured != nil {
		w.arg("Bytes", w.escapes.bytes)
	}
	if len(b.Events)+len(b.Outcomes)+len(b.Changes) > 0 {
		w.arg("Home", b.Home)
	}
	block := ""
	if w.statement.Len() > 0 {
		block = serverBlock + w.statement.String() + "END\n"
	}
	return serverBegin + w.escapes.fill(block) + serverEnd, w.args
}

// captured adds changes of records, and their entries in the shadow.
func (w *batchText) captured(c *delivery.Captured) {
	if c == nil {
		return
	}
	part(w, serverCapture, "Capture", captureColumns, []*delivery.Captured{c})
	part(w, serverRecordChanges, "RecordChanges", changeColumns, capturedChanges(c))
	if rows := shadowRows(c); len(rows) > 0 {
		part(w, serverShadow, "Shadow", shadowColumns, rows)
		w.arg("Kind", c.Kind)
	}
}

func (w *batchText) arg(name string, value any) { w.args = append(w.args, sql.Named(name, value)) }

func (w *batchText) rows(name string, json []byte) { w.arg(name, mssql.Document(json)) }

// part adds a statement for rows, if there are any.
func part[T any](w *batchText, statement, name string, c columns[T], rows []T) {
	if len(rows) > 0 {
		w.statement.WriteString(statement)
		w.rows(name, c.encode(rows, &w.escapes))
	}
}

// withBodies adds the bodies of events as parameters and lists them, with their
// indexes, in the statement. The list is padded to a power of two, so that there
// are few different statements.
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

// outcomes adds the results of attempts. If there are several for a message, they
// are split into rounds with one result per message each: an UPDATE applies only
// one of several joined rows. There is rarely more than one round. Each round is counted
// before its attempts are inserted: those that are already stored do not count again.
func (w *batchText) outcomes(b *delivery.Batch) {
	var rounds [][]*attempt
	var stored []storedText
	var moved []*attempt
	counts := make(map[int64]int, len(b.Outcomes)) // results by message
	seen := make(map[string]bool)                  // hashes of texts
	attempts := attemptsOf(b.Outcomes)
	for _, a := range attempts {
		if t, ok := a.extractText(); ok && !seen[t.hash] {
			seen[t.hash] = true
			stored = append(stored, t)
		}
		if a.isMoved() {
			moved = append(moved, a)
		}
		round := counts[a.Message.ID]
		counts[a.Message.ID]++
		if round == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], a)
	}
	for i, round := range rounds {
		outcomes := fmt.Sprintf("Outcomes%d", i+1)
		part(w, strings.ReplaceAll(serverOutcomes, "@Outcomes", "@"+outcomes), outcomes, resultColumns, round)
		counted := fmt.Sprintf("Counted%d", i+1)
		part(w, strings.ReplaceAll(serverCounted, "@Counted", "@"+counted), counted, countedColumns, countedRows(round))
		w.statement.WriteString(strings.ReplaceAll(serverAttempts, "@Outcomes", "@"+outcomes))
	}
	part(w, serverFailed, "LastFailed", lastFailedColumns, failedOf(b, attempts))
	part(w, serverMoved, "Moved", movedColumns, moved)
	part(w, serverTextRows, "Texts", textPieces, stored)
}
