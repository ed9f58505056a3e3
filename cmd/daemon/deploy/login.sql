-- Creates a login for whd with the minimum rights. Run it as a server administrator
-- with sqlcmd, which substitutes the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" WHDPassword="..." -i login.sql
--
-- Rights: read the tables of the record kinds and of bills, write the table of custom
-- field values, and own a schema, whd, for the service's tables. If a record kind uses
-- another table or view, or a table does not exist, change or remove its line;
-- `whd check` reports missing rights.

-- Stops at a wrong database name; otherwise everything would be created in master.
:on error exit

USE [$(ERPDatabase)];
GO

CREATE LOGIN whd WITH PASSWORD = N'$(WHDPassword)', DEFAULT_DATABASE = [$(ERPDatabase)];
CREATE USER whd FOR LOGIN whd;
GO

CREATE SCHEMA whd AUTHORIZATION whd;
GO

-- For `whd migrate`: create and change tables and views in its schema.
GRANT CREATE TABLE TO whd;
GRANT CREATE VIEW TO whd;
GO

-- The record kinds.
GRANT SELECT ON dbo.CR_BatchTransDocuments TO whd;
GRANT SELECT ON dbo.IN_KitStockTakeMain TO whd;
GRANT SELECT ON dbo.BM_InputCustomFields TO whd;
GRANT SELECT ON dbo.IN_BinLocationLookupCustomValues TO whd;
GRANT SELECT ON dbo.DB_Class TO whd;
GRANT SELECT ON dbo.CR_Classification TO whd;
GRANT SELECT ON dbo.JB_EstimateResourceLines TO whd;
GRANT SELECT ON dbo.SO_Totals TO whd;
GRANT SELECT ON dbo.BM_Inputs TO whd;
GRANT SELECT ON dbo.INMGT020POQty TO whd;
GRANT SELECT ON dbo.SY_Filters TO whd;
GRANT SELECT ON dbo.SM_LabourLineCustomValues TO whd;
GRANT SELECT ON dbo.IN_Colours TO whd;
GRANT SELECT ON dbo.IN_ProductAvailability TO whd;
GO

-- The custom field values of bill stages, and the tables that they refer to.
GRANT SELECT ON dbo.BM_Main TO whd;
GRANT SELECT ON dbo.BM_Stages TO whd;
GRANT SELECT ON dbo.BM_StageCustomFields TO whd;
GRANT SELECT ON dbo.SY_Plugin TO whd;
GRANT SELECT, INSERT, UPDATE ON dbo.BM_StageCustomValues TO whd;
GO
