-- +goose Up

-- The events, messages and attempts of each daemon by minute, for 48 hours. All statistics come
-- from it: a batch counts the rows that it stores in the same transaction.
-- Minute is the end of an attempt, or a publication, in minutes since 1970. DaemonID is the
-- partition that the daemon leases for new messages.
-- Took1 to Took12 count the attempts of a subscription by duration: up to 1, 2.5, 6, 15, 40, 100,
-- 250 and 600 ms, 1.5, 4 and 15 s, and longer ones. The last failed one is in FailedDateTime,
-- HTTPCode and FailedMessage.
-- SubscriptionID 0 has the events and messages that were published, and in Took1 to Took12 the
-- times from publishing to delivery, of messages delivered by the first attempt.
CREATE TABLE whd.WH_DeliveryMinute (
    Minute         int           NOT NULL,
    SubscriptionID bigint        NOT NULL,
    DaemonID       bigint        NOT NULL,
    Events         int           NOT NULL,
    Messages       int           NOT NULL,
    Delivered      int           NOT NULL,
    Failed         int           NOT NULL, -- to be retried
    GivenUp        int           NOT NULL,
    Took1          int           NOT NULL,
    Took2          int           NOT NULL,
    Took3          int           NOT NULL,
    Took4          int           NOT NULL,
    Took5          int           NOT NULL,
    Took6          int           NOT NULL,
    Took7          int           NOT NULL,
    Took8          int           NOT NULL,
    Took9          int           NOT NULL,
    Took10         int           NOT NULL,
    Took11         int           NOT NULL,
    Took12         int           NOT NULL,
    FailedDateTime datetime2(7)  NULL,
    HTTPCode       int           NULL,
    FailedMessage  nvarchar(256) NULL,
    CONSTRAINT PK_WH_DeliveryMinute PRIMARY KEY (Minute, SubscriptionID, DaemonID)
);

-- The first minute that is counted.
INSERT INTO whd.WH_Number (Name, Next) VALUES ('CountedSince', DATEDIFF(minute, '1970-01-01', SYSUTCDATETIME()));

-- +goose Down

DELETE FROM whd.WH_Number WHERE Name = 'CountedSince';
DROP TABLE whd.WH_DeliveryMinute;
