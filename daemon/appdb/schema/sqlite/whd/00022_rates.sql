-- +goose Up

-- The attempts that may start in a minute; NULL means the default of the settings.
ALTER TABLE SY_WebhookSubscription ADD COLUMN MaxPerMinute INTEGER;
-- The form of messages; NULL means the body with the headers of Standard Webhooks.
ALTER TABLE SY_WebhookSubscription ADD COLUMN Format TEXT;

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, COALESCE(s.OrderedByKey, 0) AS OrderedByKey,
    s.MaxPerMinute
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- +goose Down

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, COALESCE(s.OrderedByKey, 0) AS OrderedByKey
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE SY_WebhookSubscription DROP COLUMN Format;
ALTER TABLE SY_WebhookSubscription DROP COLUMN MaxPerMinute;
