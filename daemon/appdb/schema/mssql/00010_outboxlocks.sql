-- +goose Up

-- Readers of the outbox pass over locked rows, but not over locked pages, on which a
-- transaction that inserts many rows would make them wait.
ALTER TABLE whd.WH_Outbox DROP CONSTRAINT PK_WH_Outbox;
ALTER TABLE whd.WH_Outbox ADD CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID) WITH (ALLOW_PAGE_LOCKS = OFF);

-- +goose Down

ALTER TABLE whd.WH_Outbox DROP CONSTRAINT PK_WH_Outbox;
ALTER TABLE whd.WH_Outbox ADD CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID);
