== SQLite

SELECT m.RecID, s.RecID, f.RecID AS FieldID, f.SettingName AS SettingName, f.SY_Plugin_RecID, p.Name, v.RecID, v.Contents FROM (SELECT 1 AS One) AS x LEFT JOIN "BM_Main" AS m ON m.RecID = ?1 COLLATE TSQL LEFT JOIN "BM_Stages" AS s ON s.RecID = ?2 COLLATE TSQL AND s.BM_Main_RecID = m.RecID COLLATE TSQL LEFT JOIN "BM_StageCustomFields" AS f ON f.RecID = ?3 COLLATE TSQL LEFT JOIN "SY_Plugin" AS p ON p.RecID = f.SY_Plugin_RecID COLLATE TSQL LEFT JOIN "BM_StageCustomValues" AS v ON v.BM_Stages_RecID = s.RecID COLLATE TSQL AND v.BM_StageCustomFields_RecID = f.RecID COLLATE TSQL ORDER BY v.LastSavedDateTime DESC

SELECT m.RecID, s.RecID, f.RecID AS FieldID, f.SettingName AS SettingName, f.SY_Plugin_RecID, p.Name, v.RecID, v.Contents FROM (SELECT 1 AS One) AS x LEFT JOIN "BM_Main" AS m ON m.RecID = ?1 COLLATE TSQL LEFT JOIN "BM_Stages" AS s ON s.RecID = ?2 COLLATE TSQL AND s.BM_Main_RecID = m.RecID COLLATE TSQL LEFT JOIN "BM_StageCustomFields" AS f ON 1 = 1 LEFT JOIN "SY_Plugin" AS p ON p.RecID = f.SY_Plugin_RecID COLLATE TSQL LEFT JOIN "BM_StageCustomValues" AS v ON v.BM_Stages_RecID = s.RecID COLLATE TSQL AND v.BM_StageCustomFields_RecID = f.RecID COLLATE TSQL ORDER BY CASE WHEN f.DisplayOrder IS NULL THEN 1 ELSE 0 END, f.DisplayOrder, SettingName, FieldID, v.LastSavedDateTime DESC

UPDATE "BM_StageCustomValues" SET Contents = ?1, LastSavedDateTime = ?2 WHERE BM_Stages_RecID = ?3 COLLATE TSQL AND BM_StageCustomFields_RecID = ?4 COLLATE TSQL

SELECT Contents FROM "BM_StageCustomValues" WHERE BM_Stages_RecID = ?1 COLLATE TSQL AND BM_StageCustomFields_RecID = ?2 COLLATE TSQL ORDER BY LastSavedDateTime DESC

SELECT RecID FROM "BM_StageCustomValues" LIMIT 10

INSERT INTO "BM_StageCustomValues" (RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents, LastSavedDateTime) VALUES (?1, ?2, ?3, ?4, ?5)

SELECT RecID FROM "BM_Main" LIMIT 10

== SQL Server

SELECT CAST(m.RecID AS nvarchar(max)), CAST(s.RecID AS nvarchar(max)), CAST(f.RecID AS nvarchar(max)) AS FieldID, CAST(f.SettingName AS nvarchar(max)) AS SettingName, CAST(f.SY_Plugin_RecID AS nvarchar(max)), CAST(p.Name AS nvarchar(max)), CAST(v.RecID AS nvarchar(max)), CAST(v.Contents AS nvarchar(max)) FROM (SELECT 1 AS One) AS x LEFT JOIN [dbo].[BM_Main] AS m ON m.RecID = @p1 LEFT JOIN [dbo].[BM_Stages] AS s ON s.RecID = @p2 AND s.BM_Main_RecID = m.RecID LEFT JOIN [dbo].[BM_StageCustomFields] AS f ON f.RecID = @p3 LEFT JOIN [dbo].[SY_Plugin] AS p ON p.RecID = f.SY_Plugin_RecID LEFT JOIN [dbo].[BM_StageCustomValues] AS v ON v.BM_Stages_RecID = s.RecID AND v.BM_StageCustomFields_RecID = f.RecID ORDER BY v.LastSavedDateTime DESC

SELECT CAST(m.RecID AS nvarchar(max)), CAST(s.RecID AS nvarchar(max)), CAST(f.RecID AS nvarchar(max)) AS FieldID, CAST(f.SettingName AS nvarchar(max)) AS SettingName, CAST(f.SY_Plugin_RecID AS nvarchar(max)), CAST(p.Name AS nvarchar(max)), CAST(v.RecID AS nvarchar(max)), CAST(v.Contents AS nvarchar(max)) FROM (SELECT 1 AS One) AS x LEFT JOIN [dbo].[BM_Main] AS m ON m.RecID = @p1 LEFT JOIN [dbo].[BM_Stages] AS s ON s.RecID = @p2 AND s.BM_Main_RecID = m.RecID LEFT JOIN [dbo].[BM_StageCustomFields] AS f ON 1 = 1 LEFT JOIN [dbo].[SY_Plugin] AS p ON p.RecID = f.SY_Plugin_RecID LEFT JOIN [dbo].[BM_StageCustomValues] AS v ON v.BM_Stages_RecID = s.RecID AND v.BM_StageCustomFields_RecID = f.RecID ORDER BY CASE WHEN f.DisplayOrder IS NULL THEN 1 ELSE 0 END, f.DisplayOrder, SettingName, FieldID, v.LastSavedDateTime DESC

UPDATE [dbo].[BM_StageCustomValues] SET Contents = @p1, LastSavedDateTime = SYSDATETIME() WHERE BM_Stages_RecID = @p2 AND BM_StageCustomFields_RecID = @p3

SELECT CAST(Contents AS nvarchar(max)) FROM [dbo].[BM_StageCustomValues] WHERE BM_Stages_RecID = @p1 AND BM_StageCustomFields_RecID = @p2 ORDER BY LastSavedDateTime DESC

SELECT TOP 10 CAST(RecID AS nvarchar(max)) FROM [dbo].[BM_StageCustomValues]

INSERT INTO [dbo].[BM_StageCustomValues] (RecID, BM_Stages_RecID, BM_StageCustomFields_RecID, Contents, LastSavedDateTime) VALUES (@p1, @p2, @p3, @p4, SYSDATETIME())

SELECT TOP 10 CAST(RecID AS nvarchar(max)) FROM [dbo].[BM_Main]

