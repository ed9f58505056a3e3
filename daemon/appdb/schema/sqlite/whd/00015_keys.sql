-- +goose Up

-- The subject of an event, with a copy in its messages, which are found by it.
ALTER TABLE WH_Event ADD COLUMN EventKey TEXT;
ALTER TABLE SY_WebhookMessage ADD COLUMN EventKey TEXT;

CREATE INDEX IX_SY_WebhookMessage_Key ON SY_WebhookMessage (EventKey, ID) WHERE EventKey IS NOT NULL;
CREATE INDEX IX_WH_RecordChange_Key ON WH_RecordChange (RecordKey, Kind, ChangeID);

DROP VIEW WH_MessageView;

CREATE VIEW WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage, m.NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries, m.EventKey
FROM SY_WebhookMessage m
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID;

-- Each message waits for the previous one with the same key. Not with Ordered, by which
-- each one waits for the previous one of the subscription.
ALTER TABLE SY_WebhookSubscription ADD COLUMN OrderedByKey INTEGER;

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, COALESCE(s.OrderedByKey, 0) AS OrderedByKey
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- The roles that captured events require. They are kept when a kind is not captured any
-- more, since its messages can still be read.
CREATE TABLE WH_EventRole (
    EventName TEXT NOT NULL PRIMARY KEY,
    Role      TEXT NOT NULL -- empty for reader
) WITHOUT ROWID;

-- +goose Down

DROP TABLE WH_EventRole;

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE SY_WebhookSubscription DROP COLUMN OrderedByKey;

DROP VIEW WH_MessageView;

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

DROP INDEX IX_WH_RecordChange_Key;
DROP INDEX IX_SY_WebhookMessage_Key;
ALTER TABLE SY_WebhookMessage DROP COLUMN EventKey;
ALTER TABLE WH_Event DROP COLUMN EventKey;
