package sqlstore

import (
	"context"

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
const (
	serverBegin = `SET XACT_ABORT ON;
DECLARE @Result int;
SET @Result = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p
JOIN OPENJSON(@Leases) WITH (PartitionID bigint '$[0]', Fence bigint '$[1]') l ON l.PartitionID = p.PartitionID AND l.Fence = p.Fence;
IF @@ROWCOUNT <> @LeaseCount SET @Result = 1;
IF @Result = 0 AND NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = N'SubscriptionVersion' AND @Version IN (Next, -1)) SET @Result = 2;
`
	serverBlock = `IF @Result = 0
BEGIN
`
	serverEvents = `INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT e.EventID, e.RecID, plain(e.EventName), e.AddedDateTime, b.Body FROM OPENJSON(@Events) WITH (EventID bigint '$[0]', RecID nvarchar(36) '$[1]',
	EventName nvarchar(max) '$[2]', AddedDateTime datetime2(7) '$[3]', N int '$[4]') e
JOIN (VALUES {texts}) b (N, Body) ON b.N = e.N
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Event o WHERE o.EventID = e.EventID);
`
	serverMessages = `INSERT INTO whd.SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	NextAttemptDateTime, AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT m.ID, m.RecID, m.EventID, m.PartitionID, m.SubscriptionID, plain(m.URL), m.Status, m.Attempts, m.Next, m.Added, m.Added, m.MadeByAdmin
FROM OPENJSON(@Messages) WITH (ID bigint '$[0]', RecID nvarchar(36) '$[1]', EventID bigint '$[2]', PartitionID bigint '$[3]',
	SubscriptionID bigint '$[4]', URL nvarchar(max) '$[5]', Status tinyint '$[6]', Attempts int '$[7]', Next datetime2(7) '$[8]',
	Added datetime2(7) '$[9]', MadeByAdmin bit '$[10]') m
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.ID = m.ID);
`
	serverOutcomes = `UPDATE m SET Status = a.Status, Attempts = a.Attempt, NextAttemptDateTime = a.Next, LastSavedDateTime = a.Ended,
	HTTPCode = a.Code, ResponseMessage = a.Reason
FROM whd.SY_WebhookMessage m
JOIN OPENJSON(@Outcomes) WITH (MessageID bigint '$[0]', Attempt int '$[1]', Status tinyint '$[3]', Code int '$[5]', Reason nvarchar(256) '$[6]',
	Next datetime2(7) '$[7]', Ended datetime2(7) '$[8]') a ON a.MessageID = m.ID
WHERE m.Attempts = a.Attempt - 1 AND m.NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = m.SubscriptionID);
INSERT INTO whd.SY_WebhookMessageResponse (MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Detail, AnswerText, Duration, LastSavedDateTime, TextHash)
SELECT a.MessageID, a.Attempt, a.RecID, a.Status, a.Retries, a.Code, a.Reason, NULLIF(plain(a.Detail), N''),
	NULLIF(plain(a.Answer), N''), a.Duration, a.Ended, a.TextHash
FROM OPENJSON(@Outcomes) WITH (MessageID bigint '$[0]', Attempt int '$[1]', RecID nvarchar(36) '$[2]', Status tinyint '$[3]', Retries int '$[4]',
	Code int '$[5]', Reason nvarchar(256) '$[6]', Ended datetime2(7) '$[8]', Duration bigint '$[9]', Detail nvarchar(max) '$[10]',
	Answer nvarchar(max) '$[11]', TextHash nvarchar(32) '$[12]') a
JOIN whd.SY_WebhookMessage m ON m.ID = a.MessageID AND m.Attempts = a.Attempt
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = a.MessageID AND r.Attempt = a.Attempt);
`
	serverTextRows = `UPDATE o SET UsedDateTime = n.Used FROM whd.WH_ResponseText o
JOIN OPENJSON(@Texts) WITH (TextHash nvarchar(32) '$[0]', Used datetime2(7) '$[1]') n ON n.TextHash COLLATE Latin1_General_BIN2 = o.TextHash
WHERE CAST(o.UsedDateTime AS date) < CAST(n.Used AS date);
INSERT INTO whd.WH_ResponseText (TextHash, UsedDateTime, Size, Text)
SELECT n.TextHash, n.Used, n.Size, plain(n.Text1) + plain(n.Text2) + plain(n.Text3)
FROM OPENJSON(@Texts) WITH (TextHash nvarchar(32) '$[0]', Used datetime2(7) '$[1]', Size int '$[2]', Text1 nvarchar(max) '$[3]',
	Text2 nvarchar(max) '$[4]', Text3 nvarchar(max) '$[5]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_ResponseText o WHERE o.TextHash = n.TextHash COLLATE Latin1_General_BIN2);
`
	serverDisabled = `UPDATE s SET IsEnabled = 0, DisabledReason = plain(d.Reason), LastSavedDateTime = d.At, RowHash = @RowHash
FROM whd.SY_WebhookSubscription s
JOIN OPENJSON(@Disabled) WITH (ID bigint '$[0]', Reason nvarchar(max) '$[1]', At datetime2(7) '$[2]') d ON d.ID = s.ID
WHERE s.IsEnabled = 1;
IF @@ROWCOUNT > 0
BEGIN
	UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'SubscriptionVersion';
	INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
	SELECT DISTINCT n.Next, d.ID, 4, @Holder, SYSUTCDATETIME() FROM OPENJSON(@Disabled) WITH (ID bigint '$[0]') d
	JOIN whd.WH_Number n ON n.Name = N'SubscriptionVersion';
END
`
	serverKeys = `UPDATE k SET Digest = n.Digest, EventGUID = n.EventGUID, Messages = n.Messages, ExpiryDateTime = n.Expiry
FROM whd.WH_IdempotencyKey k
JOIN OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', Digest nvarchar(64) '$[1]', EventGUID nvarchar(36) '$[2]', Messages int '$[3]',
	Expiry datetime2(7) '$[4]') n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
WHERE k.ExpiryDateTime <= SYSUTCDATETIME();
INSERT INTO whd.WH_IdempotencyKey (KeyHash, Digest, EventGUID, Messages, ExpiryDateTime)
SELECT n.KeyHash, n.Digest, n.EventGUID, n.Messages, n.Expiry
FROM OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', Digest nvarchar(64) '$[1]', EventGUID nvarchar(36) '$[2]', Messages int '$[3]',
	Expiry datetime2(7) '$[4]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey o WHERE o.KeyHash = n.KeyHash COLLATE Latin1_General_BIN2);
IF EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey k
	JOIN OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', EventGUID nvarchar(36) '$[2]') n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
	WHERE k.EventGUID <> n.EventGUID COLLATE Latin1_General_BIN2) SET @Result = 3;
`
	serverHealth = `UPDATE s SET FailingSince = h.Since FROM whd.SY_WebhookSubscription s
JOIN OPENJSON(@Health) WITH (ID bigint '$[0]', Since datetime2(7) '$[1]', Anew bit '$[2]') h ON h.ID = s.ID
WHERE h.Since IS NULL OR h.Anew = 1 OR s.FailingSince IS NULL;
`
	serverChanges = `INSERT INTO whd.WH_Change (PartitionID, Number, AddedDateTime, Changes) VALUES (@Home, @Number, SYSUTCDATETIME(), @Changes);
`
	// The number stays locked until the end, which is why this comes last.
	serverNudges = `UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'Nudge';
INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
SELECT c.Next, n.SubscriptionID, n.Kind, @Holder, SYSUTCDATETIME()
FROM OPENJSON(@Nudges) WITH (SubscriptionID bigint '$[0]', Kind tinyint '$[1]') n
JOIN whd.WH_Number c ON c.Name = N'Nudge';
`
	serverEnd = `IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;`
)
