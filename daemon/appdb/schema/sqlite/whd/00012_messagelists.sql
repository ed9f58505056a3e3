-- +goose Up

-- The failed messages of a subscription and of all, by age. They are few.
CREATE INDEX IX_SY_WebhookMessage_Failed ON SY_WebhookMessage (SubscriptionID, ID) WHERE Status = 3;
CREATE INDEX IX_SY_WebhookMessage_AllFailed ON SY_WebhookMessage (ID, SubscriptionID) WHERE Status = 3;

-- The number of messages of each subscription, also of a removed one, and how many of
-- them have failed. The writer of batches counts new messages, since a trigger would
-- double the cost of an insert; triggers maintain the rest. CountedMessage is the highest
-- ID that was counted: an older program that uses the file later does not count.
CREATE TABLE WH_MessageCount (
    SubscriptionID INTEGER NOT NULL PRIMARY KEY,
    Messages       INTEGER NOT NULL,
    Failed         INTEGER NOT NULL
);

INSERT INTO WH_MessageCount (SubscriptionID, Messages, Failed)
SELECT m.SubscriptionID, COUNT(*), (SELECT COUNT(*) FROM SY_WebhookMessage f WHERE f.SubscriptionID = m.SubscriptionID AND f.Status = 3)
FROM SY_WebhookMessage m GROUP BY m.SubscriptionID;

INSERT INTO WH_Number (Name, Next) SELECT 'CountedMessage', COALESCE(MAX(ID), 0) FROM SY_WebhookMessage;

-- +goose StatementBegin
CREATE TRIGGER TR_SY_WebhookMessage_Delete AFTER DELETE ON SY_WebhookMessage
WHEN OLD.ID <= (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage') BEGIN
    UPDATE WH_MessageCount SET Messages = Messages - 1, Failed = Failed - (OLD.Status = 3) WHERE SubscriptionID = OLD.SubscriptionID;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER TR_SY_WebhookMessage_Status AFTER UPDATE OF Status ON SY_WebhookMessage WHEN (OLD.Status = 3) <> (NEW.Status = 3) AND NEW.ID <= (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage') BEGIN
    UPDATE WH_MessageCount SET Failed = Failed + (NEW.Status = 3) - (OLD.Status = 3) WHERE SubscriptionID = NEW.SubscriptionID;
END;
-- +goose StatementEnd

-- A removed subscription is forgotten when it has no messages.
-- +goose StatementBegin
CREATE TRIGGER TR_WH_SubscriptionRemoved_Delete AFTER DELETE ON WH_SubscriptionRemoved BEGIN
    DELETE FROM WH_MessageCount WHERE SubscriptionID = OLD.SubscriptionID AND Messages = 0;
END;
-- +goose StatementEnd

-- +goose Down

DROP TRIGGER TR_WH_SubscriptionRemoved_Delete;
DROP TRIGGER TR_SY_WebhookMessage_Status;
DROP TRIGGER TR_SY_WebhookMessage_Delete;
DROP TABLE WH_MessageCount;
DELETE FROM WH_Number WHERE Name = 'CountedMessage';
DROP INDEX IX_SY_WebhookMessage_AllFailed;
DROP INDEX IX_SY_WebhookMessage_Failed;
