-- +goose Up

-- Numbers set aside in blocks, and the version that every change of a
-- subscription raises.
CREATE TABLE WH_Number (
    Name TEXT    NOT NULL PRIMARY KEY,
    Next INTEGER NOT NULL
);

INSERT INTO WH_Number (Name, Next) VALUES ('ID', 1), ('SubscriptionVersion', 1), ('MaxRetries', 9);

-- Whoever holds the lease of a partition may send its messages. The fence grows
-- with each lease.
CREATE TABLE WH_Partition (
    PartitionID INTEGER NOT NULL PRIMARY KEY,
    Fence       INTEGER NOT NULL,
    LeaseUntil  TEXT    NOT NULL
);

CREATE TABLE SY_WebhookSubscriber (
    ID                INTEGER NOT NULL PRIMARY KEY,
    RecID             TEXT    NOT NULL UNIQUE,
    Name              TEXT    NOT NULL COLLATE TSQL,
    IsEnabled         INTEGER NOT NULL,
    ItemNo            INTEGER NOT NULL,
    LastSavedDateTime TEXT    NOT NULL,
    RowHash           BLOB    NOT NULL
);

CREATE TABLE SY_WebhookSubscription (
    ID                INTEGER NOT NULL PRIMARY KEY,
    RecID             TEXT    NOT NULL UNIQUE,
    SubscriberID      INTEGER NOT NULL,
    EventName         TEXT    NOT NULL COLLATE TSQL,
    URL               TEXT    NOT NULL COLLATE TSQL,
    ItemNo            INTEGER NOT NULL,
    IsEnabled         INTEGER NOT NULL,
    DisabledReason    TEXT    COLLATE TSQL,
    Ordered           INTEGER NOT NULL,
    RetrySchedule     TEXT,    -- 5s,30s,2m0s; null: the settings'
    MaxRetries        INTEGER, -- the number of its waits
    Secret            TEXT    NOT NULL,
    OldSecret         TEXT,    -- signs as well, until a time
    OldSecretUntil    TEXT,
    MadeByAdmin       INTEGER NOT NULL,
    LastSavedDateTime TEXT    NOT NULL,
    RowHash           BLOB    NOT NULL
);

CREATE INDEX IX_SY_WebhookSubscription_Subscriber ON SY_WebhookSubscription (SubscriberID, ItemNo);

CREATE TABLE SY_WebhookSubscriptionRequestHeader (
    RecID          TEXT    NOT NULL,
    SubscriptionID INTEGER NOT NULL,
    ItemNo         INTEGER NOT NULL,
    Name           TEXT    NOT NULL,
    Value          TEXT    NOT NULL,
    PRIMARY KEY (SubscriptionID, ItemNo)
) WITHOUT ROWID;

-- Subscriptions that are gone and whose messages are still to be removed.
CREATE TABLE WH_SubscriptionRemoved (
    SubscriptionID  INTEGER NOT NULL PRIMARY KEY,
    RemovedDateTime TEXT    NOT NULL
);

CREATE TABLE WH_Event (
    EventID       INTEGER NOT NULL PRIMARY KEY,
    RecID         TEXT    NOT NULL,
    EventName     TEXT    NOT NULL COLLATE TSQL,
    AddedDateTime TEXT    NOT NULL,
    Body          TEXT    NOT NULL COLLATE TSQL
);

-- A message is open, so that attempts may follow, while NextAttemptDateTime is
-- not null.
CREATE TABLE SY_WebhookMessage (
    ID                  INTEGER NOT NULL PRIMARY KEY,
    RecID               TEXT    NOT NULL,
    EventID             INTEGER NOT NULL,
    PartitionID         INTEGER NOT NULL,
    SubscriptionID      INTEGER NOT NULL,
    URL                 TEXT    NOT NULL COLLATE TSQL,
    Status              INTEGER NOT NULL,
    Attempts            INTEGER NOT NULL,
    NextAttemptDateTime TEXT,
    AddedDateTime       TEXT    NOT NULL,
    LastSavedDateTime   TEXT    NOT NULL,
    HTTPCode            INTEGER,
    ResponseMessage     TEXT    COLLATE TSQL,
    MadeByAdmin         INTEGER NOT NULL -- as the URL was when the message was made
);

CREATE UNIQUE INDEX UQ_SY_WebhookMessage_RecID ON SY_WebhookMessage (RecID);
CREATE INDEX IX_SY_WebhookMessage_Subscription ON SY_WebhookMessage (SubscriptionID, ID);
CREATE INDEX IX_SY_WebhookMessage_Event ON SY_WebhookMessage (EventID);
CREATE INDEX IX_SY_WebhookMessage_Due ON SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID) WHERE NextAttemptDateTime IS NOT NULL;
CREATE INDEX IX_SY_WebhookMessage_Line ON SY_WebhookMessage (PartitionID, SubscriptionID, ID) WHERE NextAttemptDateTime IS NOT NULL;

CREATE TABLE SY_WebhookMessageResponse (
    MessageID         INTEGER NOT NULL,
    Attempt           INTEGER NOT NULL,
    RecID             TEXT    NOT NULL,
    Status            INTEGER NOT NULL,
    Retries           INTEGER NOT NULL,
    HTTPCode          INTEGER,
    Message           TEXT    NOT NULL COLLATE TSQL,
    Detail            TEXT    COLLATE TSQL, -- this and the next for admins
    AnswerText        TEXT    COLLATE TSQL,
    Duration          INTEGER NOT NULL, -- of 100 ns
    LastSavedDateTime TEXT    NOT NULL,
    PRIMARY KEY (MessageID, Attempt)
) WITHOUT ROWID;

CREATE TABLE WH_IdempotencyKey (
    KeyHash        TEXT    NOT NULL PRIMARY KEY, -- SHA-256 in hex
    Digest         TEXT    NOT NULL,             -- of the body, SHA-256 in hex
    EventGUID      TEXT    NOT NULL,
    Messages       INTEGER NOT NULL,
    ExpiryDateTime TEXT    NOT NULL
) WITHOUT ROWID;

CREATE INDEX IX_WH_IdempotencyKey_Expiry ON WH_IdempotencyKey (ExpiryDateTime);

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

CREATE VIEW WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage, m.NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries
FROM SY_WebhookMessage m
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID;

CREATE VIEW WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, r.AnswerText
FROM SY_WebhookMessageResponse r
JOIN SY_WebhookMessage m ON m.ID = r.MessageID
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID;

-- +goose Down

DROP VIEW WH_MessageResponseView;
DROP VIEW WH_MessageView;
DROP VIEW WH_SubscriptionView;
DROP TABLE WH_IdempotencyKey;
DROP TABLE SY_WebhookMessageResponse;
DROP TABLE SY_WebhookMessage;
DROP TABLE WH_Event;
DROP TABLE WH_SubscriptionRemoved;
DROP TABLE SY_WebhookSubscriptionRequestHeader;
DROP TABLE SY_WebhookSubscription;
DROP TABLE SY_WebhookSubscriber;
DROP TABLE WH_Partition;
DROP TABLE WH_Number;
