-- +goose Up

-- The tables of the ERP that have been served, by record kind or table of bills. One that is
-- missing later is an error, until an administrator accepts that it is gone.
CREATE TABLE WH_ServedTable (
    Name TEXT NOT NULL PRIMARY KEY,
    IsGone INTEGER NOT NULL
) WITHOUT ROWID;

-- Earlier versions required all built-in tables. A store without users has not been used.
INSERT INTO WH_ServedTable (Name, IsGone)
SELECT t.Name, 0 FROM (
    SELECT 'CR_BatchTransDocuments' AS Name UNION ALL
    SELECT 'IN_KitStockTakeMain' UNION ALL
    SELECT 'BM_InputCustomFields' UNION ALL
    SELECT 'IN_BinLocationLookupCustomValues' UNION ALL
    SELECT 'DB_Class' UNION ALL
    SELECT 'CR_Classification' UNION ALL
    SELECT 'JB_EstimateResourceLines' UNION ALL
    SELECT 'SO_Totals' UNION ALL
    SELECT 'BM_Inputs' UNION ALL
    SELECT 'INMGT020POQty' UNION ALL
    SELECT 'SY_Filters' UNION ALL
    SELECT 'SM_LabourLineCustomValues' UNION ALL
    SELECT 'IN_Colours' UNION ALL
    SELECT 'IN_ProductAvailability' UNION ALL
    SELECT 'BM_Main' UNION ALL
    SELECT 'BM_Stages' UNION ALL
    SELECT 'BM_StageCustomFields' UNION ALL
    SELECT 'SY_Plugin' UNION ALL
    SELECT 'BM_StageCustomValues'
) t WHERE EXISTS (SELECT 1 FROM WH_User);

-- +goose Down

DROP TABLE WH_ServedTable;
