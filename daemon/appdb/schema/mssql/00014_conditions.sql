-- +goose Up

-- The condition on the events of the subscription, in JSON; null for all events.
ALTER TABLE whd.SY_WebhookSubscription ADD Condition nvarchar(max) NULL;

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- +goose Down

DROP VIEW whd.WH_SubscriptionView;

CREATE VIEW whd.WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash
FROM whd.SY_WebhookSubscription s
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN Condition;
