-- +goose Up

-- The last change of the URL. Messages that were scheduled before are due at the new one.
ALTER TABLE SY_WebhookSubscription ADD COLUMN MovedDateTime TEXT;

-- +goose Down

ALTER TABLE SY_WebhookSubscription DROP COLUMN MovedDateTime;
