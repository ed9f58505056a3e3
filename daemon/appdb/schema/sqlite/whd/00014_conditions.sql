-- +goose Up

-- The condition on the events of the subscription, in JSON; null for all events.
ALTER TABLE SY_WebhookSubscription ADD COLUMN Condition TEXT;

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash, s.Condition
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- +goose Down

DROP VIEW WH_SubscriptionView;

CREATE VIEW WH_SubscriptionView AS
SELECT s.RecID, b.RecID AS SY_WebhookSubscriber_RecID, s.EventName, s.URL, s.ItemNo, s.IsEnabled, s.DisabledReason,
    s.Ordered, s.RetrySchedule, s.LastSavedDateTime, s.RowHash
FROM SY_WebhookSubscription s
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

ALTER TABLE SY_WebhookSubscription DROP COLUMN Condition;
