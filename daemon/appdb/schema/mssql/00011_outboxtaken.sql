-- +goose Up

-- Rows of an outbox in the ERP's database that were published. A row is deleted there
-- after its events were stored here, and then its mark is removed. A mark does not
-- expire: without it the row would be published again.
CREATE TABLE whd.WH_OutboxTaken (
    Source    nvarchar(300)  COLLATE Latin1_General_BIN2 NOT NULL, -- the outbox
    EventGUID nvarchar(36)   COLLATE Latin1_General_BIN2 NOT NULL, -- its row
    CONSTRAINT PK_WH_OutboxTaken PRIMARY KEY (Source, EventGUID)
);

-- +goose Down

DROP TABLE whd.WH_OutboxTaken;
