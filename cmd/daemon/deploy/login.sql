-- Creates a login for whd that can only read. Run it as a server administrator with
-- sqlcmd, which substitutes the two variables:
--
--   sqlcmd -S server -E -v ERPDatabase="ERP" WHDPassword="..." -i login.sql
--
-- Rights: SELECT on the tables of the record kinds and of bills. The service creates and
-- changes nothing in this database. Capturing changes needs no other right either, such as
-- VIEW SERVER STATE. Two things need more rights:
--
--   * changing custom field values of bills: the last statement of this script
--   * keeping the service's own data on this server (the setting store): store.sql
--
-- Tables that do not exist are left out. If a record kind uses another table or view, change
-- its line; `whd check` prints a GRANT statement for each missing right.
--
-- The script can be run again: it then sets the password of the login, and grants rights on
-- tables that have been created since.

-- Stops at a wrong database name; otherwise the user would be created in master.
:on error exit

USE [$(ERPDatabase)];
GO

IF SUSER_ID(N'whd') IS NULL
    CREATE LOGIN whd WITH PASSWORD = N'$(WHDPassword)', DEFAULT_DATABASE = [$(ERPDatabase)]
ELSE
    ALTER LOGIN whd WITH PASSWORD = N'$(WHDPassword)';
GO

IF USER_ID(N'whd') IS NULL CREATE USER whd FOR LOGIN whd;
GO

-- The record kinds.
IF OBJECT_ID(N'dbo.CR_BatchTransDocuments') IS NOT NULL GRANT SELECT ON dbo.CR_BatchTransDocuments TO whd;
IF OBJECT_ID(N'dbo.IN_KitStockTakeMain') IS NOT NULL GRANT SELECT ON dbo.IN_KitStockTakeMain TO whd;
IF OBJECT_ID(N'dbo.BM_InputCustomFields') IS NOT NULL GRANT SELECT ON dbo.BM_InputCustomFields TO whd;
IF OBJECT_ID(N'dbo.IN_BinLocationLookupCustomValues') IS NOT NULL GRANT SELECT ON dbo.IN_BinLocationLookupCustomValues TO whd;
IF OBJECT_ID(N'dbo.DB_Class') IS NOT NULL GRANT SELECT ON dbo.DB_Class TO whd;
IF OBJECT_ID(N'dbo.CR_Classification') IS NOT NULL GRANT SELECT ON dbo.CR_Classification TO whd;
IF OBJECT_ID(N'dbo.JB_EstimateResourceLines') IS NOT NULL GRANT SELECT ON dbo.JB_EstimateResourceLines TO whd;
IF OBJECT_ID(N'dbo.SO_Totals') IS NOT NULL GRANT SELECT ON dbo.SO_Totals TO whd;
IF OBJECT_ID(N'dbo.BM_Inputs') IS NOT NULL GRANT SELECT ON dbo.BM_Inputs TO whd;
IF OBJECT_ID(N'dbo.INMGT020POQty') IS NOT NULL GRANT SELECT ON dbo.INMGT020POQty TO whd;
IF OBJECT_ID(N'dbo.SY_Filters') IS NOT NULL GRANT SELECT ON dbo.SY_Filters TO whd;
IF OBJECT_ID(N'dbo.SM_LabourLineCustomValues') IS NOT NULL GRANT SELECT ON dbo.SM_LabourLineCustomValues TO whd;
IF OBJECT_ID(N'dbo.IN_Colours') IS NOT NULL GRANT SELECT ON dbo.IN_Colours TO whd;
IF OBJECT_ID(N'dbo.IN_ProductAvailability') IS NOT NULL GRANT SELECT ON dbo.IN_ProductAvailability TO whd;
GO

-- The custom field values of bill stages, and the tables that they refer to.
IF OBJECT_ID(N'dbo.BM_Main') IS NOT NULL GRANT SELECT ON dbo.BM_Main TO whd;
IF OBJECT_ID(N'dbo.BM_Stages') IS NOT NULL GRANT SELECT ON dbo.BM_Stages TO whd;
IF OBJECT_ID(N'dbo.BM_StageCustomFields') IS NOT NULL GRANT SELECT ON dbo.BM_StageCustomFields TO whd;
IF OBJECT_ID(N'dbo.SY_Plugin') IS NOT NULL GRANT SELECT ON dbo.SY_Plugin TO whd;
IF OBJECT_ID(N'dbo.BM_StageCustomValues') IS NOT NULL GRANT SELECT ON dbo.BM_StageCustomValues TO whd;
GO

-- Optional: changing custom field values of bills. Without this right, these requests get
-- status 403, and everything else works. To grant it, remove the two hyphens.
-- GRANT INSERT, UPDATE ON dbo.BM_StageCustomValues TO whd;
GO
