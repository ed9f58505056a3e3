-- +goose Up

-- The last change of the URL. Messages that were scheduled before are due at the new one.
ALTER TABLE whd.SY_WebhookSubscription ADD MovedDateTime datetime2(7) NULL;

-- +goose Down

ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN MovedDateTime;
