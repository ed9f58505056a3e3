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
CREATE TABLE WH_DeliveryMinute (
    Minute         INTEGER NOT NULL,
    SubscriptionID INTEGER NOT NULL,
    DaemonID       INTEGER NOT NULL,
    Events         INTEGER NOT NULL,
    Messages       INTEGER NOT NULL,
    Delivered      INTEGER NOT NULL,
    Failed         INTEGER NOT NULL, -- to be retried
    GivenUp        INTEGER NOT NULL,
    Took1          INTEGER NOT NULL,
    Took2          INTEGER NOT NULL,
    Took3          INTEGER NOT NULL,
    Took4          INTEGER NOT NULL,
    Took5          INTEGER NOT NULL,
    Took6          INTEGER NOT NULL,
    Took7          INTEGER NOT NULL,
    Took8          INTEGER NOT NULL,
    Took9          INTEGER NOT NULL,
    Took10         INTEGER NOT NULL,
    Took11         INTEGER NOT NULL,
    Took12         INTEGER NOT NULL,
    FailedDateTime TEXT,
    HTTPCode       INTEGER,
    FailedMessage  TEXT    COLLATE TSQL,
    PRIMARY KEY (Minute, SubscriptionID, DaemonID)
) WITHOUT ROWID;

-- The first minute that is counted.
INSERT INTO WH_Number (Name, Next) VALUES ('CountedSince', CAST(strftime('%s', 'now') AS INTEGER) / 60);

-- +goose Down

DELETE FROM WH_Number WHERE Name = 'CountedSince';
DROP TABLE WH_DeliveryMinute;
