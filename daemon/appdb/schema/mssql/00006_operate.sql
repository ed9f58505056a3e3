-- +goose Up

-- Who holds a partition, so that daemons can be counted, and until when its
-- holder shows somebody the changes of all.
ALTER TABLE whd.WH_Partition ADD Holder nvarchar(36) COLLATE Latin1_General_BIN2 NULL;

ALTER TABLE whd.WH_Partition ADD WatchedUntil datetime2(7) NULL;

-- Since when every attempt has failed; null after a success.
ALTER TABLE whd.SY_WebhookSubscription ADD FailingSince datetime2(7) NULL;

INSERT INTO whd.WH_Number (Name, Next) VALUES ('Nudge', 1);

-- What one daemon tells the others about messages that it does not hold: they
-- were made due (1), were deleted (2), or there are new ones (3). Numbers come
-- in the order of the commits.
CREATE TABLE whd.WH_Nudge (
    Number         bigint         NOT NULL,
    SubscriptionID bigint         NOT NULL,
    Kind           tinyint        NOT NULL,
    Holder         nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL, -- who tells it
    AddedDateTime  datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_Nudge PRIMARY KEY (Number, SubscriptionID, Kind)
);

-- What became of messages, for the live streams of other daemons: one row for
-- each batch that a daemon writes, while somebody reads.
CREATE TABLE whd.WH_Change (
    PartitionID   bigint         NOT NULL, -- the writer's own
    Number        bigint         NOT NULL, -- grows with the partition's batches
    AddedDateTime datetime2(7)   NOT NULL,
    Changes       nvarchar(max)  NOT NULL, -- JSON
    CONSTRAINT PK_WH_Change PRIMARY KEY (PartitionID, Number)
);

CREATE INDEX IX_WH_Change_Added ON whd.WH_Change (AddedDateTime);

-- Events that T-SQL of the ERP raises within its own transactions. The daemon
-- takes the rows away; those that it cannot take keep the reason.
CREATE TABLE whd.WH_Outbox (
    OutboxID      bigint IDENTITY(1,1) NOT NULL,
    EventName     nvarchar(256)  NOT NULL,
    Body          nvarchar(max)  NOT NULL,
    AddedDateTime datetime2(7)   NOT NULL CONSTRAINT DF_WH_Outbox_Added DEFAULT SYSUTCDATETIME(),
    RefusedReason nvarchar(400)  NULL,
    CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID)
);

-- Counting what is open reads this index alone, by its last column.
DROP INDEX IX_SY_WebhookMessage_Due ON whd.SY_WebhookMessage;

CREATE INDEX IX_SY_WebhookMessage_Due ON whd.SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID, Status) WHERE NextAttemptDateTime IS NOT NULL;

-- Whoever inserts thousands of rows at once must not lock the table, and the
-- daemon with it, until that ends.
ALTER TABLE whd.WH_Outbox SET (LOCK_ESCALATION = DISABLE);

-- +goose Down

DROP INDEX IX_SY_WebhookMessage_Due ON whd.SY_WebhookMessage;

CREATE INDEX IX_SY_WebhookMessage_Due ON whd.SY_WebhookMessage (PartitionID, SubscriptionID, NextAttemptDateTime, ID) WHERE NextAttemptDateTime IS NOT NULL;

DROP TABLE whd.WH_Outbox;
DROP TABLE whd.WH_Change;
DROP TABLE whd.WH_Nudge;
DELETE FROM whd.WH_Number WHERE Name = 'Nudge';
ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN FailingSince;
ALTER TABLE whd.WH_Partition DROP COLUMN WatchedUntil;
ALTER TABLE whd.WH_Partition DROP COLUMN Holder;
