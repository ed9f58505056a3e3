-- +goose Up

-- Who holds a partition, so that daemons can be counted, and until when its
-- holder shows somebody the changes of all.
ALTER TABLE WH_Partition ADD COLUMN Holder TEXT;

ALTER TABLE WH_Partition ADD COLUMN WatchedUntil TEXT;

-- Since when every attempt has failed; null after a success.
ALTER TABLE SY_WebhookSubscription ADD COLUMN FailingSince TEXT;

INSERT INTO WH_Number (Name, Next) VALUES ('Nudge', 1);

-- What one daemon tells the others about messages that it does not hold: they
-- were made due (1), were deleted (2), or there are new ones (3). Numbers come
-- in the order of the commits.
CREATE TABLE WH_Nudge (
    Number         INTEGER NOT NULL,
    SubscriptionID INTEGER NOT NULL,
    Kind           INTEGER NOT NULL,
    Holder         TEXT    NOT NULL, -- who tells it
    AddedDateTime  TEXT    NOT NULL,
    PRIMARY KEY (Number, SubscriptionID, Kind)
) WITHOUT ROWID;

-- What became of messages, for the live streams of other daemons: one row for
-- each batch that a daemon writes, while somebody reads.
CREATE TABLE WH_Change (
    PartitionID   INTEGER NOT NULL, -- the writer's own
    Number        INTEGER NOT NULL, -- grows with the partition's batches
    AddedDateTime TEXT    NOT NULL,
    Changes       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (PartitionID, Number)
);

CREATE INDEX IX_WH_Change_Added ON WH_Change (AddedDateTime);

-- Counting what is open reads this index alone, by its last column.
DROP INDEX IX_SY_WebhookMessage_Due;

CREATE INDEX IX_SY_WebhookMessage_Due ON SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID, Status) WHERE NextAttemptDateTime IS NOT NULL;

-- +goose Down

DROP INDEX IX_SY_WebhookMessage_Due;

CREATE INDEX IX_SY_WebhookMessage_Due ON SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID) WHERE NextAttemptDateTime IS NOT NULL;

DROP TABLE WH_Change;
DROP TABLE WH_Nudge;
DELETE FROM WH_Number WHERE Name = 'Nudge';
ALTER TABLE SY_WebhookSubscription DROP COLUMN FailingSince;
ALTER TABLE WH_Partition DROP COLUMN WatchedUntil;
ALTER TABLE WH_Partition DROP COLUMN Holder;
