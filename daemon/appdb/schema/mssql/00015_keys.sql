-- +goose Up

-- The subject of an event, with a copy in its messages, which are found by it.
ALTER TABLE whd.WH_Event ADD EventKey nvarchar(256) COLLATE Latin1_General_BIN2 NULL;
ALTER TABLE whd.SY_WebhookMessage ADD EventKey nvarchar(256) COLLATE Latin1_General_BIN2 NULL;

CREATE INDEX IX_SY_WebhookMessage_Key ON whd.SY_WebhookMessage (EventKey, ID) WHERE EventKey IS NOT NULL;
CREATE INDEX IX_WH_RecordChange_Key ON whd.WH_RecordChange (RecordKey, Kind, ChangeID);

DROP VIEW whd.WH_MessageView;

CREATE VIEW whd.WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage, m.NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM whd.WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries, m.EventKey
FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID;

-- Each message waits for the previous one with the same key. Not with Ordered, by which
-- each one waits for the previous one of the subscription. NULL means 0.
ALTER TABLE whd.SY_WebhookSubscription ADD OrderedByKey bit NULL;

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, CAST(COALESCE(s.OrderedByKey, 0) AS bit) AS OrderedByKey
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- The roles that captured events require. They are kept when a kind is not captured any
-- more, since its messages can still be read.
CREATE TABLE whd.WH_EventRole (
    EventName nvarchar(100) COLLATE Latin1_General_BIN2 NOT NULL CONSTRAINT PK_WH_EventRole PRIMARY KEY,
    Role      nvarchar(20)  NOT NULL -- empty for reader
);

-- +goose Down

DROP TABLE whd.WH_EventRole;

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN OrderedByKey;

DROP VIEW whd.WH_MessageView;

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

DROP INDEX IX_WH_RecordChange_Key ON whd.WH_RecordChange;
DROP INDEX IX_SY_WebhookMessage_Key ON whd.SY_WebhookMessage;
ALTER TABLE whd.SY_WebhookMessage DROP COLUMN EventKey;
ALTER TABLE whd.WH_Event DROP COLUMN EventKey;
