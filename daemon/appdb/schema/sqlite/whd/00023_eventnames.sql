-- +goose Up

-- A block has 256 IDs now: the messages of a rare event are found among fewer others. All messages
-- are added to the blocks again.
DELETE FROM WH_EventBlock;
UPDATE WH_Number SET Next = 0 WHERE Name = 'NamedMessage';

-- +goose Down

DELETE FROM WH_EventBlock;
UPDATE WH_Number SET Next = 0 WHERE Name = 'NamedMessage';
