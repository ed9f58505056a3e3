-- +goose Up

-- Entries are only ever added. Their numbers rise and are never used again.

CREATE TABLE whd.WH_Audit (
    EntryNo       bigint         IDENTITY(1,1) NOT NULL,
    AddedDateTime datetime2(7)   NOT NULL,
    UserName      nvarchar(256)  NOT NULL,
    Via           nvarchar(16)   NOT NULL,
    Address       nvarchar(64)   NOT NULL,
    Action        nvarchar(64)   NOT NULL,
    Subject       nvarchar(256)  NOT NULL,
    Detail        nvarchar(2000) NOT NULL,
    CONSTRAINT PK_WH_Audit PRIMARY KEY (EntryNo)
);

CREATE INDEX IX_WH_Audit_Added ON whd.WH_Audit (AddedDateTime);

-- +goose Down

DROP TABLE whd.WH_Audit;
