-- Allows whd to keep its own data in a schema, whd, of a database: for the setting
-- store = "sqlserver://...", with which several daemons share the data. Without that
-- setting, the data is in files, and this script is not needed. Run it after login.sql, as
-- a server administrator with sqlcmd, which substitutes the variable:
--
--   sqlcmd -S server -E -v StoreDatabase="ERP" -i store.sql
--
-- The database can be the ERP's or another one on a server where the login whd exists.

-- Stops at a wrong database name; otherwise the schema would be created in master.
:on error exit

USE [$(StoreDatabase)];
GO

IF USER_ID(N'whd') IS NULL CREATE USER whd FOR LOGIN whd;
GO

IF SCHEMA_ID(N'whd') IS NULL EXEC(N'CREATE SCHEMA whd AUTHORIZATION whd');
GO

-- If outbox.sql has created the schema, it belongs to another user. Babelfish has no rights on
-- schemas other than those of their owners.
IF SERVERPROPERTY('BabelfishVersion') IS NULL AND NOT EXISTS (SELECT 1 FROM sys.schemas s WHERE s.name = N'whd' AND s.principal_id = USER_ID(N'whd'))
    EXEC(N'GRANT ALTER, SELECT, INSERT, UPDATE, DELETE, REFERENCES ON SCHEMA::whd TO whd');
GO

-- For `whd migrate`: create and change tables and views in its schema. Babelfish has no such
-- rights, since the owner of a schema may create them.
IF SERVERPROPERTY('BabelfishVersion') IS NULL EXEC(N'GRANT CREATE TABLE TO whd');
IF SERVERPROPERTY('BabelfishVersion') IS NULL EXEC(N'GRANT CREATE VIEW TO whd');
GO
