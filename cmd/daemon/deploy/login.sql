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
-- If a record kind uses another table or view, or a table does not exist, change or
-- remove its line; `whd check` prints a GRANT statement for each missing right.

-- Stops at a wrong database name; otherwise the user would be created in master.
:on error exit

USE [$(ERPDatabase)];
GO

CREATE LOGIN whd WITH PASSWORD = N'$(WHDPassword)', DEFAULT_DATABASE = [$(ERPDatabase)];
CREATE USER whd FOR LOGIN whd;
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
GRANT SELECT ON dbo.BM_StageCustomValues TO whd;
GO

-- Optional: changing custom field values of bills. Without this right, these requests get
-- status 403, and everything else works. To grant it, remove the two hyphens.
-- GRANT INSERT, UPDATE ON dbo.BM_StageCustomValues TO whd;
GO
