-- +goose Up

-- Rows of an outbox in the ERP's database that were published. A row is deleted there
-- after its events were stored here, and then its mark is removed. A mark does not
-- expire: without it the row would be published again.
CREATE TABLE WH_OutboxTaken (
    Source    TEXT NOT NULL, -- the outbox
    EventGUID TEXT NOT NULL, -- its row
    PRIMARY KEY (Source, EventGUID)
) WITHOUT ROWID;

-- +goose Down

DROP TABLE WH_OutboxTaken;
