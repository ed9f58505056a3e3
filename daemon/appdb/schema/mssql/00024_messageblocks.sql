-- +goose Up

-- Consecutive IDs of messages, and a period in which these were added. Messages of a long period are
-- found through the blocks: an index on the times does not have the order of the IDs.
CREATE TABLE whd.WH_MessageBlock (
    FirstID    bigint       NOT NULL,
    LastID     bigint       NOT NULL,
    AddedSince datetime2(7) NOT NULL,
    AddedUntil datetime2(7) NOT NULL,
    CONSTRAINT PK_WH_MessageBlock PRIMARY KEY (FirstID)
);

INSERT INTO whd.WH_MessageBlock (FirstID, LastID, AddedSince, AddedUntil)
SELECT MIN(m.ID), MAX(m.ID), MIN(m.AddedDateTime), MAX(m.AddedDateTime)
FROM whd.SY_WebhookMessage m GROUP BY m.ID / 4096;

-- +goose Down

DROP TABLE whd.WH_MessageBlock;
