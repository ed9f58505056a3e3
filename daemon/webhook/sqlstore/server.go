package sqlstore

import (
	"context"
	"strings"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/webhook/delivery"
)

// serverWriter writes batches to a server, each in one round trip.
type serverWriter struct{ own *appdb.DB }

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
	statement, args := serverBatch(b, s.own.HolderArg())
	// Of two daemons that write the same key or text at once, the second finds
	// the first's when it tries again.
	worth := func(err error) bool { return executor.IsDeadlock(err) || executor.IsDuplicate(err) }
	return executor.Retry(ctx, worth, func(ctx context.Context) error {
		result, err := s.own.QueryInt(ctx, statement, args...)
		if err != nil {
			return err
		}
		return batchErrors[result]
	})
}

// The row of a partition is locked first. It keeps another daemon from taking
// the partition until the end, and is nobody else's to write but that daemon's.
// The version is only read: that a subscription is deleted at the same moment
// leaves messages that nobody sees, and which are removed with the others.
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
	// daemon, nor be overtaken: a transaction of somebody else that ends while rows
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
