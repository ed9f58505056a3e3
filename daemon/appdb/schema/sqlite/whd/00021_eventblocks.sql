-- +goose Up

-- The names of the events that each block of 1024 IDs of messages has, by which messages of a
-- rare event are found. The writer of batches adds them from time to time; an index on the
-- names would be maintained by each event, and take long to make. NamedMessage is the highest ID
-- of the messages that are in their blocks.
CREATE TABLE WH_EventBlock (
    EventName TEXT    NOT NULL COLLATE TSQL,
    Block     INTEGER NOT NULL,
    PRIMARY KEY (EventName, Block)
) WITHOUT ROWID;

INSERT INTO WH_Number (Name, Next) VALUES ('NamedMessage', 0);

-- +goose Down

DELETE FROM WH_Number WHERE Name = 'NamedMessage';
DROP TABLE WH_EventBlock;
