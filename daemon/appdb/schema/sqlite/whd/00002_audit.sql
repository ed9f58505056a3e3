-- +goose Up

-- Entries are only ever added. Their numbers rise and are never used again.

CREATE TABLE WH_Audit (
    EntryNo       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    AddedDateTime TEXT NOT NULL,
    UserName      TEXT NOT NULL COLLATE TSQL,
    Via           TEXT NOT NULL COLLATE TSQL,
    Address       TEXT NOT NULL COLLATE TSQL,
    Action        TEXT NOT NULL COLLATE TSQL,
    Subject       TEXT NOT NULL COLLATE TSQL,
    Detail        TEXT NOT NULL COLLATE TSQL
);

CREATE INDEX IX_WH_Audit_Added ON WH_Audit (AddedDateTime);

-- +goose Down

DROP TABLE WH_Audit;
