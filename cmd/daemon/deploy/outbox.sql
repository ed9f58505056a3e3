-- Lets a user of the ERP's database raise events by T-SQL, and nothing else: it
-- can neither read nor change what is in the outbox. Run it as a database owner,
-- after `whd migrate`, with sqlcmd, which fills in the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" ERPUser="erp" -i outbox.sql
--
-- A role of the database does as well as a user. The table belongs to another
-- schema than the ERP's own procedures and triggers, so that those who run them
-- need the right, too.

:on error exit

USE [$(ERPDatabase)];
GO

GRANT INSERT ON whd.WH_Outbox TO [$(ERPUser)];
GO
