-- +goose Up

-- The attempts that may start in a minute; NULL means the default of the settings.
ALTER TABLE whd.SY_WebhookSubscription ADD MaxPerMinute int NULL;
-- The form of messages; NULL means the body with the headers of Standard Webhooks.
ALTER TABLE whd.SY_WebhookSubscription ADD Format nvarchar(20) NULL;

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, CAST(COALESCE(s.OrderedByKey, 0) AS bit) AS OrderedByKey,
    s.MaxPerMinute
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- +goose Down

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition, CAST(COALESCE(s.OrderedByKey, 0) AS bit) AS OrderedByKey
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN Format;
ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN MaxPerMinute;
