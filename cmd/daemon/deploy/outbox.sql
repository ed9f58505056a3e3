-- Allows a user of the ERP's database to publish events with T-SQL. It creates the table
-- whd.WH_Outbox, unless whd migrate has created it, and grants the least rights:
-- the ERP's user inserts rows but does not read or change them, and the service's user,
-- whd, reads and deletes them and records why a row is invalid. Run it as a database
-- owner with sqlcmd, which substitutes the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" ERPUser="erp" -i outbox.sql
--
-- It can be run again. If the service uses another login than that of login.sql, change
-- the name whd in the last batch. Then set erp.outbox = "whd.WH_Outbox" in the settings of whd.
-- ERPUser can also be a database role. Ownership chaining does not apply, since the
-- table is not in the schema of the ERP's procedures and triggers: all users who run
-- them need the right.

:on error exit

USE [$(ERPDatabase)];
GO

IF SCHEMA_ID(N'whd') IS NULL EXEC(N'CREATE SCHEMA whd');
GO

-- Readers pass over locked rows, but not over locked pages, on which a transaction that
-- inserts many rows would make them wait.
IF OBJECT_ID(N'whd.WH_Outbox') IS NULL
CREATE TABLE whd.WH_Outbox (
    OutboxID      bigint IDENTITY(1,1) NOT NULL,
    EventName     nvarchar(256)  NOT NULL,
    Body          nvarchar(max)  NOT NULL,
    AddedDateTime datetime2(7)   NOT NULL CONSTRAINT DF_WH_Outbox_Added DEFAULT SYSUTCDATETIME(),
    RefusedReason nvarchar(400)  NULL,
    CONSTRAINT PK_WH_Outbox PRIMARY KEY (OutboxID) WITH (ALLOW_PAGE_LOCKS = OFF)
);
GO

-- Identifies a row when OutboxID is reused, for example after TRUNCATE TABLE.
IF COL_LENGTH(N'whd.WH_Outbox', N'EventGUID') IS NULL
ALTER TABLE whd.WH_Outbox ADD EventGUID uniqueidentifier NOT NULL CONSTRAINT DF_WH_Outbox_EventGUID DEFAULT NEWID();
GO

IF OBJECT_ID(N'whd.UQ_WH_Outbox_EventGUID') IS NULL
ALTER TABLE whd.WH_Outbox ADD CONSTRAINT UQ_WH_Outbox_EventGUID UNIQUE (EventGUID) WITH (ALLOW_PAGE_LOCKS = OFF);
GO

-- Otherwise a transaction that inserts thousands of rows locks the table.
ALTER TABLE whd.WH_Outbox SET (LOCK_ESCALATION = DISABLE);
GO

GRANT INSERT ON whd.WH_Outbox TO [$(ERPUser)];
GO

-- The owner of the schema has all rights on its tables, and cannot be granted any.
IF NOT EXISTS (SELECT 1 FROM sys.schemas s WHERE s.name = N'whd' AND s.principal_id = USER_ID(N'whd'))
BEGIN
    GRANT SELECT, DELETE ON whd.WH_Outbox TO whd;
    GRANT UPDATE ON whd.WH_Outbox (RefusedReason) TO whd;
END
GO
