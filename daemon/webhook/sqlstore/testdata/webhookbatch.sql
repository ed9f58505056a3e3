== nothing

SET XACT_ABORT ON;
DECLARE @Result int, @NewEvents int, @NewMessages int;
SET @Result = 0;
SET @NewEvents = 0;
SET @NewMessages = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p WITH (FORCESEEK)
JOIN OPENJSON(@Leases) WITH (PartitionID bigint '$[0]', Fence bigint '$[1]') l ON l.PartitionID = p.PartitionID AND l.Fence = p.Fence;
IF @@ROWCOUNT <> @LeaseCount SET @Result = 1;
IF @Result = 0 AND NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = N'SubscriptionVersion' AND @Version IN (Next, -1)) SET @Result = 2;
IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;
  @Leases
  @LeaseCount
  @Version

== events

SET XACT_ABORT ON;
DECLARE @Result int, @NewEvents int, @NewMessages int;
SET @Result = 0;
SET @NewEvents = 0;
SET @NewMessages = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p WITH (FORCESEEK)
JOIN OPENJSON(@Leases) WITH (PartitionID bigint '$[0]', Fence bigint '$[1]') l ON l.PartitionID = p.PartitionID AND l.Fence = p.Fence;
IF @@ROWCOUNT <> @LeaseCount SET @Result = 1;
IF @Result = 0 AND NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = N'SubscriptionVersion' AND @Version IN (Next, -1)) SET @Result = 2;
IF @Result = 0
BEGIN
INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, EventKey, Body)
SELECT n.EventID, n.RecID, REPLACE(REPLACE(REPLACE(n.EventName COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~0', N'~'), n.AddedDateTime, REPLACE(REPLACE(REPLACE(n.EventKey COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~0', N'~'), b.Body FROM OPENJSON(@Events) WITH (EventID bigint '$[0]', RecID nvarchar(36) '$[1]', EventName nvarchar(max) '$[2]', AddedDateTime datetime2(7) '$[3]', EventKey nvarchar(max) '$[4]', N int '$[5]') n
JOIN (VALUES (0, @T0), (1, @T1), (2, @T2), (3, @T3)) b (N, Body) ON b.N = n.N
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Event o WHERE o.EventID = n.EventID);
SET @NewEvents = @@ROWCOUNT;
INSERT INTO whd.SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, MadeByAdmin, EventKey, LastSavedDateTime)
SELECT n.ID, n.RecID, n.EventID, n.PartitionID, n.SubscriptionID, REPLACE(REPLACE(REPLACE(n.URL COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~0', N'~'), n.Status, n.Attempts, n.NextAttemptDateTime, n.AddedDateTime, n.MadeByAdmin, REPLACE(REPLACE(REPLACE(n.EventKey COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~0', N'~'), n.AddedDateTime FROM OPENJSON(@Messages) WITH (ID bigint '$[0]', RecID nvarchar(36) '$[1]', EventID bigint '$[2]', PartitionID bigint '$[3]', SubscriptionID bigint '$[4]', URL nvarchar(max) '$[5]', Status tinyint '$[6]', Attempts int '$[7]', NextAttemptDateTime datetime2(7) '$[8]', AddedDateTime datetime2(7) '$[9]', MadeByAdmin bit '$[10]', EventKey nvarchar(max) '$[11]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.ID = n.ID);
SET @NewMessages = @@ROWCOUNT;
UPDATE k SET AddedSince = n.AddedSince, AddedUntil = n.AddedUntil
FROM whd.WH_MessageBlock k WITH (FORCESEEK)
JOIN OPENJSON(@Blocks) WITH (FirstID bigint '$[0]', LastID bigint '$[1]', AddedSince datetime2(7) '$[2]', AddedUntil datetime2(7) '$[3]') n ON n.FirstID = k.FirstID;
INSERT INTO whd.WH_MessageBlock (FirstID, LastID, AddedSince, AddedUntil)
SELECT n.FirstID, n.LastID, n.AddedSince, n.AddedUntil FROM OPENJSON(@Blocks) WITH (FirstID bigint '$[0]', LastID bigint '$[1]', AddedSince datetime2(7) '$[2]', AddedUntil datetime2(7) '$[3]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_MessageBlock o WHERE o.FirstID = n.FirstID);
IF NOT EXISTS (SELECT 1 FROM whd.WH_DeliveryMinute
	WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home)
	INSERT INTO whd.WH_DeliveryMinute (Minute, SubscriptionID, DaemonID, Events, Messages, Delivered, Failed, GivenUp, Took1, Took2, Took3, Took4, Took5, Took6, Took7, Took8, Took9, Took10, Took11, Took12)
	VALUES (@PublishedMinute, 0, @Home, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
UPDATE whd.WH_DeliveryMinute SET Events = Events + @NewEvents, Messages = Messages + @NewMessages
WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home;
END
IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;
  @Leases
  @LeaseCount
  @Version
  @T0
  @T1
  @T2
  @T3
  @Events
  @Messages
  @Blocks
  @PublishedMinute
  @Home

== everything

SET XACT_ABORT ON;
DECLARE @Result int, @NewEvents int, @NewMessages int;
SET @Result = 0;
SET @NewEvents = 0;
SET @NewMessages = 0;
BEGIN TRANSACTION;
UPDATE p SET Fence = p.Fence FROM whd.WH_Partition p WITH (FORCESEEK)
JOIN OPENJSON(@Leases) WITH (PartitionID bigint '$[0]', Fence bigint '$[1]') l ON l.PartitionID = p.PartitionID AND l.Fence = p.Fence;
IF @@ROWCOUNT <> @LeaseCount SET @Result = 1;
IF @Result = 0 AND NOT EXISTS (SELECT 1 FROM whd.WH_Number WHERE Name = N'SubscriptionVersion' AND @Version IN (Next, -1)) SET @Result = 2;
IF @Result = 0
BEGIN
UPDATE c SET NextChangeID = n.NextChangeID, Bytes = c.Bytes + n.Bytes
FROM whd.WH_Capture c WITH (FORCESEEK)
JOIN OPENJSON(@Capture) WITH (Kind nvarchar(128) '$[0]', Fence bigint '$[1]', First bigint '$[2]', NextChangeID bigint '$[3]', Bytes bigint '$[4]') n ON n.Kind COLLATE Latin1_General_BIN2 = c.Kind AND n.Fence = c.Fence AND n.First = c.NextChangeID;
IF @@ROWCOUNT <> 1 SET @Result = 5;
IF @Result = 0 INSERT INTO whd.WH_RecordChange (Kind, ChangeID, Op, RecordKey, EventID, Size, Body, Number, ShadowKey, Entry, AddedDateTime)
SELECT n.Kind, n.ChangeID, n.Op, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.RecordKey COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), n.EventID, n.Size, SUBSTRING(@Bytes, n.BodyAt, n.BodySize), n.Number, SUBSTRING(@Bytes, n.ShadowKeyAt, n.ShadowKeySize), SUBSTRING(@Bytes, n.EntryAt, n.EntrySize), n.AddedDateTime FROM OPENJSON(@RecordChanges) WITH (Kind nvarchar(128) '$[0]', ChangeID bigint '$[1]', Op nvarchar(8) '$[2]', RecordKey nvarchar(max) '$[3]', EventID bigint '$[4]', Size int '$[5]', BodyAt int '$[6]', BodySize int '$[7]', Number bigint '$[8]', ShadowKeyAt int '$[9]', ShadowKeySize int '$[10]', EntryAt int '$[11]', EntrySize int '$[12]', AddedDateTime datetime2(7) '$[13]') n;
DELETE s FROM whd.WH_Shadow s WITH (FORCESEEK)
JOIN whd.WH_Capture c ON c.ShadowID = s.ShadowID AND c.Kind = @Kind
JOIN OPENJSON(@Shadow) WITH (Number bigint '$[0]') n ON n.Number = s.Number;
INSERT INTO whd.WH_Shadow (ShadowID, Number, KeyHash, ShadowKey, Entry)
SELECT c.ShadowID, n.Number, n.KeyHash, SUBSTRING(@Bytes, n.ShadowKeyAt, n.ShadowKeySize), SUBSTRING(@Bytes, n.EntryAt, n.EntrySize) FROM OPENJSON(@Shadow) WITH (Number bigint '$[0]', KeyHash bigint '$[1]', ShadowKeyAt int '$[2]', ShadowKeySize int '$[3]', EntryAt int '$[4]', EntrySize int '$[5]') n
JOIN whd.WH_Capture c ON c.Kind = @Kind
WHERE n.EntrySize IS NOT NULL;
DELETE o FROM whd.WH_Outbox o WITH (READPAST, READCOMMITTEDLOCK, FORCESEEK)
JOIN OPENJSON(@Outbox) WITH (ID bigint '$[0]') n ON n.ID = o.OutboxID
WHERE o.RefusedReason IS NULL;
IF @@ROWCOUNT <> @OutboxCount SET @Result = 4;
IF EXISTS (SELECT 1 FROM whd.WH_Outbox o WITH (READPAST, READCOMMITTEDLOCK) WHERE o.OutboxID < @OutboxLast AND o.RefusedReason IS NULL) SET @Result = 4;
INSERT INTO whd.WH_OutboxTaken (Source, EventGUID)
SELECT DISTINCT @Source, n.EventGUID FROM OPENJSON(@Taken) WITH (EventGUID nvarchar(36) '$[0]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_OutboxTaken o WHERE o.Source = @Source AND o.EventGUID = n.EventGUID COLLATE Latin1_General_BIN2);
IF @@ROWCOUNT <> @TakenCount SET @Result = 4;
INSERT INTO whd.WH_Event (EventID, RecID, EventName, AddedDateTime, EventKey, Body)
SELECT n.EventID, n.RecID, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.EventName COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), n.AddedDateTime, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.EventKey COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), b.Body FROM OPENJSON(@Events) WITH (EventID bigint '$[0]', RecID nvarchar(36) '$[1]', EventName nvarchar(max) '$[2]', AddedDateTime datetime2(7) '$[3]', EventKey nvarchar(max) '$[4]', N int '$[5]') n
JOIN (VALUES (0, @T0), (1, @T1)) b (N, Body) ON b.N = n.N
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_Event o WHERE o.EventID = n.EventID);
SET @NewEvents = @@ROWCOUNT;
INSERT INTO whd.SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts, NextAttemptDateTime, AddedDateTime, MadeByAdmin, EventKey, LastSavedDateTime)
SELECT n.ID, n.RecID, n.EventID, n.PartitionID, n.SubscriptionID, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.URL COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), n.Status, n.Attempts, n.NextAttemptDateTime, n.AddedDateTime, n.MadeByAdmin, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.EventKey COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), n.AddedDateTime FROM OPENJSON(@Messages) WITH (ID bigint '$[0]', RecID nvarchar(36) '$[1]', EventID bigint '$[2]', PartitionID bigint '$[3]', SubscriptionID bigint '$[4]', URL nvarchar(max) '$[5]', Status tinyint '$[6]', Attempts int '$[7]', NextAttemptDateTime datetime2(7) '$[8]', AddedDateTime datetime2(7) '$[9]', MadeByAdmin bit '$[10]', EventKey nvarchar(max) '$[11]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage o WHERE o.ID = n.ID);
SET @NewMessages = @@ROWCOUNT;
UPDATE k SET AddedSince = n.AddedSince, AddedUntil = n.AddedUntil
FROM whd.WH_MessageBlock k WITH (FORCESEEK)
JOIN OPENJSON(@Blocks) WITH (FirstID bigint '$[0]', LastID bigint '$[1]', AddedSince datetime2(7) '$[2]', AddedUntil datetime2(7) '$[3]') n ON n.FirstID = k.FirstID;
INSERT INTO whd.WH_MessageBlock (FirstID, LastID, AddedSince, AddedUntil)
SELECT n.FirstID, n.LastID, n.AddedSince, n.AddedUntil FROM OPENJSON(@Blocks) WITH (FirstID bigint '$[0]', LastID bigint '$[1]', AddedSince datetime2(7) '$[2]', AddedUntil datetime2(7) '$[3]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_MessageBlock o WHERE o.FirstID = n.FirstID);
IF NOT EXISTS (SELECT 1 FROM whd.WH_DeliveryMinute
	WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home)
	INSERT INTO whd.WH_DeliveryMinute (Minute, SubscriptionID, DaemonID, Events, Messages, Delivered, Failed, GivenUp, Took1, Took2, Took3, Took4, Took5, Took6, Took7, Took8, Took9, Took10, Took11, Took12)
	VALUES (@PublishedMinute, 0, @Home, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
UPDATE whd.WH_DeliveryMinute SET Events = Events + @NewEvents, Messages = Messages + @NewMessages
WHERE Minute = @PublishedMinute AND SubscriptionID = 0 AND DaemonID = @Home;
UPDATE m SET Status = n.Status, Attempts = n.Attempt, NextAttemptDateTime = n.NextAttemptDateTime, LastSavedDateTime = n.LastSavedDateTime,
	HTTPCode = n.HTTPCode, ResponseMessage = n.Message
FROM whd.SY_WebhookMessage m WITH (FORCESEEK)
JOIN OPENJSON(@Outcomes1) WITH (MessageID bigint '$[0]', Attempt int '$[1]', Status tinyint '$[3]', HTTPCode int '$[5]', Message nvarchar(256) '$[6]', LastSavedDateTime datetime2(7) '$[10]', NextAttemptDateTime datetime2(7) '$[12]') n ON n.MessageID = m.ID
WHERE m.Attempts = n.Attempt - 1 AND m.NextAttemptDateTime IS NOT NULL
	AND EXISTS (SELECT 1 FROM whd.SY_WebhookSubscription s WHERE s.ID = m.SubscriptionID);
INSERT INTO whd.WH_DeliveryMinute (Minute, SubscriptionID, DaemonID, Events, Messages, Delivered, Failed, GivenUp, Took1, Took2, Took3, Took4, Took5, Took6, Took7, Took8, Took9, Took10, Took11, Took12)
SELECT DISTINCT n.Minute, n.SubscriptionID, @Home, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
FROM OPENJSON(@Counted1) WITH (Minute int '$[2]', SubscriptionID bigint '$[3]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_DeliveryMinute o
	WHERE o.Minute = n.Minute AND o.SubscriptionID = n.SubscriptionID AND o.DaemonID = @Home);
UPDATE d SET Delivered = d.Delivered + c.Delivered, Failed = d.Failed + c.Failed, GivenUp = d.GivenUp + c.GivenUp, Took1 = d.Took1 + c.Took1, Took2 = d.Took2 + c.Took2, Took3 = d.Took3 + c.Took3, Took4 = d.Took4 + c.Took4, Took5 = d.Took5 + c.Took5, Took6 = d.Took6 + c.Took6, Took7 = d.Took7 + c.Took7, Took8 = d.Took8 + c.Took8, Took9 = d.Took9 + c.Took9, Took10 = d.Took10 + c.Took10, Took11 = d.Took11 + c.Took11, Took12 = d.Took12 + c.Took12
FROM whd.WH_DeliveryMinute d WITH (FORCESEEK)
JOIN (SELECT n.Minute, n.SubscriptionID, SUM(n.Delivered) AS Delivered, SUM(n.Failed) AS Failed, SUM(n.GivenUp) AS GivenUp, SUM(CASE n.Took WHEN 1 THEN 1 ELSE 0 END) AS Took1, SUM(CASE n.Took WHEN 2 THEN 1 ELSE 0 END) AS Took2, SUM(CASE n.Took WHEN 3 THEN 1 ELSE 0 END) AS Took3, SUM(CASE n.Took WHEN 4 THEN 1 ELSE 0 END) AS Took4, SUM(CASE n.Took WHEN 5 THEN 1 ELSE 0 END) AS Took5, SUM(CASE n.Took WHEN 6 THEN 1 ELSE 0 END) AS Took6, SUM(CASE n.Took WHEN 7 THEN 1 ELSE 0 END) AS Took7, SUM(CASE n.Took WHEN 8 THEN 1 ELSE 0 END) AS Took8, SUM(CASE n.Took WHEN 9 THEN 1 ELSE 0 END) AS Took9, SUM(CASE n.Took WHEN 10 THEN 1 ELSE 0 END) AS Took10, SUM(CASE n.Took WHEN 11 THEN 1 ELSE 0 END) AS Took11, SUM(CASE n.Took WHEN 12 THEN 1 ELSE 0 END) AS Took12
	FROM OPENJSON(@Counted1) WITH (MessageID bigint '$[0]', Attempt int '$[1]', Minute int '$[2]', SubscriptionID bigint '$[3]', Delivered int '$[4]', Failed int '$[5]', GivenUp int '$[6]', Took int '$[7]') n
	JOIN whd.SY_WebhookMessage m ON m.ID = n.MessageID AND m.Attempts = n.Attempt
	WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r
		WHERE r.MessageID = n.MessageID AND r.Attempt = n.Attempt)
	GROUP BY n.Minute, n.SubscriptionID) c ON c.Minute = d.Minute AND c.SubscriptionID = d.SubscriptionID
WHERE d.DaemonID = @Home;
INSERT INTO whd.SY_WebhookMessageResponse (MessageID, Attempt, RecID, Status, Retries, HTTPCode, Message, Detail, AnswerText, Duration, LastSavedDateTime, TextHash)
SELECT n.MessageID, n.Attempt, n.RecID, n.Status, n.Retries, n.HTTPCode, n.Message, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.Detail COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.AnswerText COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), n.Duration, n.LastSavedDateTime, n.TextHash FROM OPENJSON(@Outcomes1) WITH (MessageID bigint '$[0]', Attempt int '$[1]', RecID nvarchar(36) '$[2]', Status tinyint '$[3]', Retries int '$[4]', HTTPCode int '$[5]', Message nvarchar(256) '$[6]', Detail nvarchar(max) '$[7]', AnswerText nvarchar(max) '$[8]', Duration bigint '$[9]', LastSavedDateTime datetime2(7) '$[10]', TextHash nvarchar(32) '$[11]') n
JOIN whd.SY_WebhookMessage m ON m.ID = n.MessageID AND m.Attempts = n.Attempt
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessageResponse r WHERE r.MessageID = n.MessageID AND r.Attempt = n.Attempt);
UPDATE o SET UsedDateTime = n.UsedDateTime FROM whd.WH_ResponseText o WITH (FORCESEEK)
JOIN OPENJSON(@Texts) WITH (TextHash nvarchar(32) '$[0]', UsedDateTime datetime2(7) '$[1]') n ON n.TextHash COLLATE Latin1_General_BIN2 = o.TextHash
WHERE CAST(o.UsedDateTime AS date) < CAST(n.UsedDateTime AS date);
INSERT INTO whd.WH_ResponseText (TextHash, UsedDateTime, Size, Text)
SELECT n.TextHash, n.UsedDateTime, n.Size, REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.Text1 COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~') + REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.Text2 COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~') + REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.Text3 COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~') FROM OPENJSON(@Texts) WITH (TextHash nvarchar(32) '$[0]', UsedDateTime datetime2(7) '$[1]', Size int '$[2]', Text1 nvarchar(max) '$[3]', Text2 nvarchar(max) '$[4]', Text3 nvarchar(max) '$[5]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_ResponseText o WHERE o.TextHash = n.TextHash COLLATE Latin1_General_BIN2);
UPDATE s SET IsEnabled = 0, DisabledReason = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(n.DisabledReason COLLATE Latin1_General_BIN2, N'~1', N'"'), N'~2', N'\'), N'~t', NCHAR(9)), N'~n', NCHAR(10)), N'~r', NCHAR(13)), N'~0', N'~'), LastSavedDateTime = n.LastSavedDateTime, RowHash = @RowHash
FROM whd.SY_WebhookSubscription s WITH (FORCESEEK)
JOIN OPENJSON(@Disabled) WITH (ID bigint '$[0]', DisabledReason nvarchar(max) '$[1]', LastSavedDateTime datetime2(7) '$[2]') n ON n.ID = s.ID
WHERE s.IsEnabled = 1;
IF @@ROWCOUNT > 0
BEGIN
	UPDATE whd.WH_Number SET Next = Next + 1 WHERE Name = N'SubscriptionVersion';
	INSERT INTO whd.WH_Nudge (Number, SubscriptionID, Kind, Holder, AddedDateTime)
	SELECT DISTINCT v.Next, n.ID, 4, @Holder, SYSUTCDATETIME() FROM OPENJSON(@Disabled) WITH (ID bigint '$[0]') n
	JOIN whd.WH_Number v ON v.Name = N'SubscriptionVersion';
END
UPDATE k SET Digest = n.Digest, EventGUID = n.EventGUID, Messages = n.Messages, ExpiryDateTime = n.ExpiryDateTime
FROM whd.WH_IdempotencyKey k WITH (FORCESEEK)
JOIN OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', Digest nvarchar(64) '$[1]', EventGUID nvarchar(36) '$[2]', Messages int '$[3]', ExpiryDateTime datetime2(7) '$[4]') n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
WHERE k.ExpiryDateTime <= SYSUTCDATETIME();
INSERT INTO whd.WH_IdempotencyKey (KeyHash, Digest, EventGUID, Messages, ExpiryDateTime)
SELECT n.KeyHash, n.Digest, n.EventGUID, n.Messages, n.ExpiryDateTime FROM OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', Digest nvarchar(64) '$[1]', EventGUID nvarchar(36) '$[2]', Messages int '$[3]', ExpiryDateTime datetime2(7) '$[4]') n
WHERE NOT EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey o WHERE o.KeyHash = n.KeyHash COLLATE Latin1_General_BIN2);
IF EXISTS (SELECT 1 FROM whd.WH_IdempotencyKey k
	JOIN OPENJSON(@Keys) WITH (KeyHash nvarchar(64) '$[0]', EventGUID nvarchar(36) '$[2]') n ON n.KeyHash COLLATE Latin1_General_BIN2 = k.KeyHash
	WHERE k.EventGUID <> n.EventGUID COLLATE Latin1_General_BIN2) SET @Result = 3;
END
IF @Result = 0 COMMIT TRANSACTION ELSE ROLLBACK TRANSACTION;
SELECT @Result;
  @Leases
  @LeaseCount
  @Version
  @Capture
  @RecordChanges
  @Shadow
  @Kind
  @Outbox
  @OutboxCount
  @OutboxLast
  @Taken
  @Source
  @TakenCount
  @T0
  @T1
  @Events
  @Messages
  @Blocks
  @PublishedMinute
  @Outcomes1
  @Counted1
  @Texts
  @Disabled
  @RowHash
  @Keys
  @Holder
  @Bytes
  @Home

== removal

SET XACT_ABORT ON;
DECLARE @Removed int;
BEGIN TRANSACTION;
DELETE m FROM whd.SY_WebhookMessage m WITH (FORCESEEK)
JOIN OPENJSON(@Messages) WITH (ID bigint '$[0]', Status tinyint '$[2]', Attempts int '$[3]') c ON c.ID = m.ID
WHERE m.Status = c.Status AND m.Attempts = c.Attempts;
SET @Removed = @@ROWCOUNT;
DELETE r FROM whd.SY_WebhookMessageResponse r WITH (FORCESEEK)
JOIN OPENJSON(@Messages) WITH (ID bigint '$[0]') c ON c.ID = r.MessageID
WHERE NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.ID = r.MessageID);
DELETE e FROM whd.WH_Event e
WHERE e.EventID IN (SELECT c.EventID FROM OPENJSON(@Messages) WITH (EventID bigint '$[1]') c)
	AND NOT EXISTS (SELECT 1 FROM whd.SY_WebhookMessage m WHERE m.EventID = e.EventID)
	AND NOT EXISTS (SELECT 1 FROM whd.WH_RecordChange r WHERE r.EventID = e.EventID);
COMMIT TRANSACTION;
SELECT @Removed;
