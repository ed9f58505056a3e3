-- +goose Up

-- A delivered message that is sent again is marked by a NextAttemptDateTime 1200 years before
-- the time, which the list shows.
DROP VIEW WH_MessageView;

CREATE VIEW WH_MessageView AS
SELECT m.ID, b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, e.EventName, m.URL, e.Body, m.ID AS ItemNo, m.Status,
    CASE WHEN m.Attempts > 1 THEN m.Attempts - 1 ELSE 0 END AS Retries,
    m.AddedDateTime, m.LastSavedDateTime,
    m.HTTPCode AS LastMessageResponseHTTPCode, m.ResponseMessage AS LastMessageResponseMessage,
    CASE WHEN m.NextAttemptDateTime < '1900-01-01' THEN printf('%04d', substr(m.NextAttemptDateTime, 1, 4) + 1200) || substr(m.NextAttemptDateTime, 5)
        ELSE m.NextAttemptDateTime END AS NextAttemptDateTime,
    COALESCE(s.MaxRetries, (SELECT CAST(n.Next AS int) FROM WH_Number n WHERE n.Name = 'MaxRetries')) AS MaxRetries, m.EventKey
FROM SY_WebhookMessage m
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID;

-- The secrets that were replaced before OldSecret and still sign, with the ends of their
-- validity.
ALTER TABLE SY_WebhookSubscription ADD COLUMN EarlierSecrets TEXT;

-- +goose Down

ALTER TABLE SY_WebhookSubscription DROP COLUMN EarlierSecrets;

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
