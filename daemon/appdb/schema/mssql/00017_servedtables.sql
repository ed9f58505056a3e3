-- +goose Up

-- The tables of the ERP that have been served, by record kind or table of bills. One that is
-- missing later is an error, until an administrator accepts that it is gone.
CREATE TABLE whd.WH_ServedTable (
    Name nvarchar(128) COLLATE Latin1_General_BIN2 NOT NULL CONSTRAINT PK_WH_ServedTable PRIMARY KEY,
    IsGone bit NOT NULL
);

-- Earlier versions required all built-in tables. A store without users has not been used.
INSERT INTO whd.WH_ServedTable (Name, IsGone)
SELECT t.Name, 0 FROM (
    SELECT N'CR_BatchTransDocuments' AS Name UNION ALL
    SELECT N'IN_KitStockTakeMain' UNION ALL
    SELECT N'BM_InputCustomFields' UNION ALL
    SELECT N'IN_BinLocationLookupCustomValues' UNION ALL
    SELECT N'DB_Class' UNION ALL
    SELECT N'CR_Classification' UNION ALL
    SELECT N'JB_EstimateResourceLines' UNION ALL
    SELECT N'SO_Totals' UNION ALL
    SELECT N'BM_Inputs' UNION ALL
    SELECT N'INMGT020POQty' UNION ALL
    SELECT N'SY_Filters' UNION ALL
    SELECT N'SM_LabourLineCustomValues' UNION ALL
    SELECT N'IN_Colours' UNION ALL
    SELECT N'IN_ProductAvailability' UNION ALL
    SELECT N'BM_Main' UNION ALL
    SELECT N'BM_Stages' UNION ALL
    SELECT N'BM_StageCustomFields' UNION ALL
    SELECT N'SY_Plugin' UNION ALL
    SELECT N'BM_StageCustomValues'
) t WHERE EXISTS (SELECT 1 FROM whd.WH_User);

-- +goose Down

DROP TABLE whd.WH_ServedTable;
