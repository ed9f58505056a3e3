-- +goose Up

-- A delivered message that is sent again is marked by a NextAttemptDateTime 1200 years before
-- the time, which the list shows.
DROP VIEW whd.WH_MessageView;

CREATE VIEW whd.WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage,
    CASE WHEN m.NextAttemptDateTime < '1900-01-01' THEN DATEADD(year, 1200, m.NextAttemptDateTime)
        ELSE m.NextAttemptDateTime END AS NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM whd.WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries, m.EventKey
FROM whd.SY_WebhookMessage m
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID;

-- The secrets that were replaced before OldSecret and still sign, with the ends of their
-- validity.
ALTER TABLE whd.SY_WebhookSubscription ADD EarlierSecrets nvarchar(1000) COLLATE Latin1_General_BIN2 NULL;

-- +goose Down

ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN EarlierSecrets;

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
