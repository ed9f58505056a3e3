-- Makes a login for whd with the least rights that it needs. Run it as a server
-- administrator with sqlcmd, which fills in the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" WHDPassword="..." -i login.sql
--
-- Rights: to read the record kinds' tables and those of bills, to write the one
-- table of custom field values, and to own a schema, whd, for its own tables.
-- Where a record kind reads another table or view, or one of the tables does
-- not exist, change or drop its line; `whd check` tells what is missing.

-- Without this, all that follows a wrong name would be made in master.
:on error exit

USE [$(ERPDatabase)];
GO

CREATE LOGIN whd WITH PASSWORD = N'$(WHDPassword)', DEFAULT_DATABASE = [$(ERPDatabase)];
CREATE USER whd FOR LOGIN whd;
GO

CREATE SCHEMA whd AUTHORIZATION whd;
GO

-- To make and change its own tables and views, in its own schema, at `whd migrate`.
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

-- The custom field values of bill stages, and what they hang on.
GRANT SELECT ON dbo.BM_Main TO whd;
GRANT SELECT ON dbo.BM_Stages TO whd;
GRANT SELECT ON dbo.BM_StageCustomFields TO whd;
GRANT SELECT ON dbo.SY_Plugin TO whd;
GRANT SELECT, INSERT, UPDATE ON dbo.BM_StageCustomValues TO whd;
GO
