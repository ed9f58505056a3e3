-- +goose Up

-- Consecutive IDs of messages, and a period in which these were added. Messages of a long period are
-- found through the blocks: an index on the times does not have the order of the IDs.
CREATE TABLE WH_MessageBlock (
    FirstID    INTEGER NOT NULL PRIMARY KEY,
    LastID     INTEGER NOT NULL,
    AddedSince TEXT    NOT NULL,
    AddedUntil TEXT    NOT NULL
);

INSERT INTO WH_MessageBlock (FirstID, LastID, AddedSince, AddedUntil)
SELECT MIN(ID), MAX(ID), MIN(AddedDateTime), MAX(AddedDateTime)
FROM SY_WebhookMessage NOT INDEXED GROUP BY ID / 4096;

-- +goose Down

DROP TABLE WH_MessageBlock;
