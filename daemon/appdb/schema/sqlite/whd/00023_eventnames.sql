-- +goose Up

-- A block has 256 IDs now: the messages of a rare event are found among fewer others. All messages
-- are added to the blocks again.
DELETE FROM WH_EventBlock;
UPDATE WH_Number SET Next = 0 WHERE Name = 'NamedMessage';

-- If two daemons migrate at the same time, one of them must fail: it then finds that the version has
-- changed. Migrations that create nothing, such as this one, would be recorded twice.
CREATE UNIQUE INDEX UQ_WH_Migration_Version ON WH_Migration (version_id);

-- +goose Down

DROP INDEX UQ_WH_Migration_Version;

DELETE FROM WH_EventBlock;
UPDATE WH_Number SET Next = 0 WHERE Name = 'NamedMessage';
