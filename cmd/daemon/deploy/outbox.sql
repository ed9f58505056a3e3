-- Allows a user of the ERP's database to publish events with T-SQL: to insert into the
-- outbox, but not to read or change it. Run it as a database owner, after
-- `whd migrate`, with sqlcmd, which substitutes the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" ERPUser="erp" -i outbox.sql
--
-- ERPUser can also be a database role. Ownership chaining does not apply, since the
-- table is not in the schema of the ERP's procedures and triggers: all users who run
-- them need the right.

:on error exit

USE [$(ERPDatabase)];
GO

GRANT INSERT ON whd.WH_Outbox TO [$(ERPUser)];
GO
