-- +goose Up

-- A block of WH_EventBlock has 128 IDs now: the messages of a rare event are found among fewer others.
-- The blocks are filled here, 2 s for a million messages. Until the writer and the sweeps had done it,
-- lists of rare events would read all messages.
DELETE FROM WH_EventBlock;
INSERT INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT e.EventName, m.ID / 128
FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e
WHERE e.EventID = m.EventID AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage');

-- +goose Down

DELETE FROM WH_EventBlock;
INSERT INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT e.EventName, m.ID / 256
FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e
WHERE e.EventID = m.EventID AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage');
