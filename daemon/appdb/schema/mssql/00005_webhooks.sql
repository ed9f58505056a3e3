-- +goose Up

-- Times are UTC. Texts that rows are found by are compared byte by byte.

-- Numbers set aside in blocks, and the version that every change of a
-- subscription raises.
CREATE TABLE whd.WH_Number (
    Name nvarchar(32) COLLATE Latin1_General_BIN2 NOT NULL,
    Next bigint       NOT NULL,
    CONSTRAINT PK_WH_Number PRIMARY KEY (Name)
);

INSERT INTO whd.WH_Number (Name, Next) VALUES ('ID', 1), ('SubscriptionVersion', 1), ('MaxRetries', 9);

-- Whoever holds the lease of a partition may send its messages. The fence grows
-- with each lease.
CREATE TABLE whd.WH_Partition (
    PartitionID bigint         NOT NULL,
    Fence       bigint         NOT NULL,
    LeaseUntil  datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_Partition PRIMARY KEY (PartitionID)
);

CREATE TABLE whd.SY_WebhookSubscriber (
    ID                bigint         NOT NULL,
    RecID             nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    Name              nvarchar(256)  NOT NULL,
    IsEnabled         bit            NOT NULL,
    ItemNo            int            NOT NULL,
    LastSavedDateTime datetime2(7)   NOT NULL,
    RowHash           varbinary(8)   NOT NULL,
    CONSTRAINT PK_SY_WebhookSubscriber PRIMARY KEY (ID),
    CONSTRAINT UQ_SY_WebhookSubscriber_RecID UNIQUE (RecID)
);

CREATE TABLE whd.SY_WebhookSubscription (
    ID                bigint         NOT NULL,
    RecID             nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    SubscriberID      bigint         NOT NULL,
    EventName         nvarchar(256)  NOT NULL,
    URL               nvarchar(2048) NOT NULL,
    ItemNo            int            NOT NULL,
    IsEnabled         bit            NOT NULL,
    DisabledReason    nvarchar(400)  NULL,
    Ordered           bit            NOT NULL,
    RetrySchedule     nvarchar(1000) COLLATE Latin1_General_BIN2 NULL, -- 5s,30s,2m0s; null: the settings'
    MaxRetries        int            NULL, -- the number of its waits
    Secret            nvarchar(256)  COLLATE Latin1_General_BIN2 NOT NULL,
    OldSecret         nvarchar(256)  COLLATE Latin1_General_BIN2 NULL, -- signs as well, until a time
    OldSecretUntil    datetime2(7)   NULL,
    MadeByAdmin       bit            NOT NULL,
    LastSavedDateTime datetime2(7)   NOT NULL,
    RowHash           varbinary(8)   NOT NULL,
    CONSTRAINT PK_SY_WebhookSubscription PRIMARY KEY (ID),
    CONSTRAINT UQ_SY_WebhookSubscription_RecID UNIQUE (RecID)
);

CREATE INDEX IX_SY_WebhookSubscription_Subscriber ON whd.SY_WebhookSubscription (SubscriberID, ItemNo);

CREATE TABLE whd.SY_WebhookSubscriptionRequestHeader (
    RecID          nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    SubscriptionID bigint         NOT NULL,
    ItemNo         int            NOT NULL,
    Name           nvarchar(256)  NOT NULL,
    Value          nvarchar(max)  NOT NULL,
    CONSTRAINT PK_SY_WebhookSubscriptionRequestHeader PRIMARY KEY (SubscriptionID, ItemNo)
);

-- Subscriptions that are gone and whose messages are still to be removed.
CREATE TABLE whd.WH_SubscriptionRemoved (
    SubscriptionID  bigint         NOT NULL,
    RemovedDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_SubscriptionRemoved PRIMARY KEY (SubscriptionID)
);

CREATE TABLE whd.WH_Event (
    EventID       bigint         NOT NULL,
    RecID         nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    EventName     nvarchar(256)  NOT NULL,
    AddedDateTime datetime2(7)   NOT NULL,
    Body          nvarchar(max)  NOT NULL,
    CONSTRAINT PK_WH_Event PRIMARY KEY (EventID)
);

-- A message is open, so that attempts may follow, while NextAttemptDateTime is
-- not null.
CREATE TABLE whd.SY_WebhookMessage (
    ID                  bigint         NOT NULL,
    RecID               nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    EventID             bigint         NOT NULL,
    PartitionID         bigint         NOT NULL,
    SubscriptionID      bigint         NOT NULL,
    URL                 nvarchar(2048) NOT NULL,
    Status              tinyint        NOT NULL,
    Attempts            int            NOT NULL,
    NextAttemptDateTime datetime2(7)   NULL,
    AddedDateTime       datetime2(7)   NOT NULL,
    LastSavedDateTime   datetime2(7)   NOT NULL,
    HTTPCode            int            NULL,
    ResponseMessage     nvarchar(256)  NULL,
    MadeByAdmin         bit            NOT NULL, -- as the URL was when the message was made
    CONSTRAINT PK_SY_WebhookMessage PRIMARY KEY (ID)
);

CREATE UNIQUE INDEX UQ_SY_WebhookMessage_RecID ON whd.SY_WebhookMessage (RecID);
CREATE INDEX IX_SY_WebhookMessage_Subscription ON whd.SY_WebhookMessage (SubscriptionID, ID);
CREATE INDEX IX_SY_WebhookMessage_Event ON whd.SY_WebhookMessage (EventID);
CREATE INDEX IX_SY_WebhookMessage_Due ON whd.SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID) WHERE NextAttemptDateTime IS NOT NULL;
CREATE INDEX IX_SY_WebhookMessage_Line ON whd.SY_WebhookMessage (PartitionID, SubscriptionID, ID) WHERE NextAttemptDateTime IS NOT NULL;

CREATE TABLE whd.SY_WebhookMessageResponse (
    MessageID         bigint         NOT NULL,
    Attempt           int            NOT NULL,
    RecID             nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    Status            tinyint        NOT NULL,
    Retries           int            NOT NULL,
    HTTPCode          int            NULL,
    Message           nvarchar(256)  NOT NULL,
    Detail            nvarchar(2000) NULL, -- this and the next for admins
    AnswerText        nvarchar(max)  NULL,
    Duration          bigint         NOT NULL, -- of 100 ns
    LastSavedDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_SY_WebhookMessageResponse PRIMARY KEY (MessageID, Attempt)
);

CREATE TABLE whd.WH_IdempotencyKey (
    KeyHash        nvarchar(64)   COLLATE Latin1_General_BIN2 NOT NULL, -- SHA-256 in hex
    Digest         nvarchar(64)   COLLATE Latin1_General_BIN2 NOT NULL, -- of the body, SHA-256 in hex
    EventGUID      nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL,
    Messages       int            NOT NULL,
    ExpiryDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_IdempotencyKey PRIMARY KEY (KeyHash)
);

CREATE INDEX IX_WH_IdempotencyKey_Expiry ON whd.WH_IdempotencyKey (ExpiryDateTime);

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

CREATE VIEW whd.WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage, m.NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM whd.WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries
FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID;

CREATE VIEW whd.WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, r.AnswerText
FROM whd.SY_WebhookMessageResponse r
JOIN whd.SY_WebhookMessage m ON m.ID = r.MessageID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID;

-- +goose Down

DROP VIEW whd.WH_MessageResponseView;
DROP VIEW whd.WH_MessageView;
DROP VIEW whd.WH_SubscriptionView;
DROP TABLE whd.WH_IdempotencyKey;
DROP TABLE whd.SY_WebhookMessageResponse;
DROP TABLE whd.SY_WebhookMessage;
DROP TABLE whd.WH_Event;
DROP TABLE whd.WH_SubscriptionRemoved;
DROP TABLE whd.SY_WebhookSubscriptionRequestHeader;
DROP TABLE whd.SY_WebhookSubscription;
DROP TABLE whd.SY_WebhookSubscriber;
DROP TABLE whd.WH_Partition;
DROP TABLE whd.WH_Number;
