== SQLite

INSERT INTO WH_RequestLog (StatusDescription, HttpMethod, AbsoluteUri, PathInfo, RequestBody, RequestDto, UserAuthId, SessionId, IpAddress, ForwardedFor, Referer, Headers, FormData, Items, Session, ResponseDto, ErrorResponse, ExceptionSource, ExceptionData, DateTime, StatusCode, RequestDuration) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)

DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) AND (DateTime < ?2 OR ?3)

== SQL Server

INSERT INTO [own tables].WH_RequestLog (DateTime, StatusCode, RequestDuration, Bytes, StatusDescription, HttpMethod, AbsoluteUri, PathInfo, RequestBody, RequestDto, UserAuthId, SessionId, IpAddress, ForwardedFor, Referer, Headers, FormData, Items, Session, ResponseDto, ErrorResponse, ExceptionSource, ExceptionData)
SELECT c0, c1, c2, c3, REPLACE(REPLACE(REPLACE(t0, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t1, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t2, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t3, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t4, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t5, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t6, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t7, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t8, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t9, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t10, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t11, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t12, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t13, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t14, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t15, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t16, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t17, '^1', '"'), '^2', '\'), '^0', '^'), REPLACE(REPLACE(REPLACE(t18, '^1', '"'), '^2', '\'), '^0', '^')
FROM OPENJSON(@Rows) WITH (n int '$[0]', c0 datetime2(7) '$[1]', c1 int '$[2]', c2 bigint '$[3]', c3 int '$[4]', t0 nvarchar(max) '$[5]', t1 nvarchar(max) '$[6]', t2 nvarchar(max) '$[7]', t3 nvarchar(max) '$[8]', t4 nvarchar(max) '$[9]', t5 nvarchar(max) '$[10]', t6 nvarchar(max) '$[11]', t7 nvarchar(max) '$[12]', t8 nvarchar(max) '$[13]', t9 nvarchar(max) '$[14]', t10 nvarchar(max) '$[15]', t11 nvarchar(max) '$[16]', t12 nvarchar(max) '$[17]', t13 nvarchar(max) '$[18]', t14 nvarchar(max) '$[19]', t15 nvarchar(max) '$[20]', t16 nvarchar(max) '$[21]', t17 nvarchar(max) '$[22]', t18 nvarchar(max) '$[23]') ORDER BY n

[[0,"2030-01-02T03:04:05.0000006",404,15000,95,null,null,null,"/a^0b","two lines é",null,null,null,null,null,null,"{^1Host^1:^1x^2^2y^1}",null,null,null,null,null,null,null],[1,"0001-01-01T00:00:00.0000000",200,0,64,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]]

SELECT COUNT_BIG(*), COALESCE(SUM(CAST(Bytes AS bigint)), 0) FROM [own tables].WH_RequestLog

DELETE FROM [own tables].WH_RequestLog
WHERE Id IN (SELECT TOP (@Batch) Id FROM [own tables].WH_RequestLog ORDER BY Id) AND (DateTime < CAST(@Before AS datetime2(7)) OR @TooMany > 0)

