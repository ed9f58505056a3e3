-- +goose Up

-- The failed messages of a subscription and of all, by age. They are few.
CREATE INDEX IX_SY_WebhookMessage_Failed ON whd.SY_WebhookMessage (SubscriptionID, ID) WHERE Status = 3;
CREATE INDEX IX_SY_WebhookMessage_AllFailed ON whd.SY_WebhookMessage (ID, SubscriptionID) WHERE Status = 3;

-- +goose Down

DROP INDEX IX_SY_WebhookMessage_AllFailed ON whd.SY_WebhookMessage;
DROP INDEX IX_SY_WebhookMessage_Failed ON whd.SY_WebhookMessage;
