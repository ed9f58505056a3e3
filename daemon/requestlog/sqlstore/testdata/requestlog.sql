== SQLite

INSERT INTO WH_RequestLog (StatusDescription, HttpMethod, AbsoluteUri, PathInfo, RequestBody, RequestDto, UserAuthId, SessionId, IpAddress, ForwardedFor, Referer, Headers, FormData, Items, Session, ResponseDto, ErrorResponse, ExceptionSource, ExceptionData, DateTime, StatusCode, RequestDuration) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)

DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog WHERE DateTime < ?2 AND Id >= ?3 AND Id < ?4 ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) RETURNING Id, UserAuthId IS NULL, 64 + COALESCE(octet_length(StatusDescription), 0) + COALESCE(octet_length(HttpMethod), 0) + COALESCE(octet_length(AbsoluteUri), 0) + COALESCE(octet_length(PathInfo), 0) + COALESCE(octet_length(RequestBody), 0) + COALESCE(octet_length(RequestDto), 0) + COALESCE(octet_length(UserAuthId), 0) + COALESCE(octet_length(SessionId), 0) + COALESCE(octet_length(IpAddress), 0) + COALESCE(octet_length(ForwardedFor), 0) + COALESCE(octet_length(Referer), 0) + COALESCE(octet_length(Headers), 0) + COALESCE(octet_length(FormData), 0) + COALESCE(octet_length(Items), 0) + COALESCE(octet_length(Session), 0) + COALESCE(octet_length(ResponseDto), 0) + COALESCE(octet_length(ErrorResponse), 0) + COALESCE(octet_length(ExceptionSource), 0) + COALESCE(octet_length(ExceptionData), 0)

DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) RETURNING Id, UserAuthId IS NULL, 64 + COALESCE(octet_length(StatusDescription), 0) + COALESCE(octet_length(HttpMethod), 0) + COALESCE(octet_length(AbsoluteUri), 0) + COALESCE(octet_length(PathInfo), 0) + COALESCE(octet_length(RequestBody), 0) + COALESCE(octet_length(RequestDto), 0) + COALESCE(octet_length(UserAuthId), 0) + COALESCE(octet_length(SessionId), 0) + COALESCE(octet_length(IpAddress), 0) + COALESCE(octet_length(ForwardedFor), 0) + COALESCE(octet_length(Referer), 0) + COALESCE(octet_length(Headers), 0) + COALESCE(octet_length(FormData), 0) + COALESCE(octet_length(Items), 0) + COALESCE(octet_length(Session), 0) + COALESCE(octet_length(ResponseDto), 0) + COALESCE(octet_length(ErrorResponse), 0) + COALESCE(octet_length(ExceptionSource), 0) + COALESCE(octet_length(ExceptionData), 0)

DELETE FROM WH_RequestLog WHERE Id IN (SELECT Id FROM WH_RequestLog WHERE UserAuthId IS NULL AND Id >= ?2 ORDER BY Id LIMIT ?1)
AND Id < (SELECT MAX(Id) FROM WH_RequestLog) RETURNING Id, UserAuthId IS NULL, 64 + COALESCE(octet_length(StatusDescription), 0) + COALESCE(octet_length(HttpMethod), 0) + COALESCE(octet_length(AbsoluteUri), 0) + COALESCE(octet_length(PathInfo), 0) + COALESCE(octet_length(RequestBody), 0) + COALESCE(octet_length(RequestDto), 0) + COALESCE(octet_length(UserAuthId), 0) + COALESCE(octet_length(SessionId), 0) + COALESCE(octet_length(IpAddress), 0) + COALESCE(octet_length(ForwardedFor), 0) + COALESCE(octet_length(Referer), 0) + COALESCE(octet_length(Headers), 0) + COALESCE(octet_length(FormData), 0) + COALESCE(octet_length(Items), 0) + COALESCE(octet_length(Session), 0) + COALESCE(octet_length(ResponseDto), 0) + COALESCE(octet_length(ErrorResponse), 0) + COALESCE(octet_length(ExceptionSource), 0) + COALESCE(octet_length(ExceptionData), 0)

SELECT SUM(64 + COALESCE(octet_length(StatusDescription), 0) + COALESCE(octet_length(HttpMethod), 0) + COALESCE(octet_length(AbsoluteUri), 0) + COALESCE(octet_length(PathInfo), 0) + COALESCE(octet_length(RequestBody), 0) + COALESCE(octet_length(RequestDto), 0) + COALESCE(octet_length(UserAuthId), 0) + COALESCE(octet_length(SessionId), 0) + COALESCE(octet_length(IpAddress), 0) + COALESCE(octet_length(ForwardedFor), 0) + COALESCE(octet_length(Referer), 0) + COALESCE(octet_length(Headers), 0) + COALESCE(octet_length(FormData), 0) + COALESCE(octet_length(Items), 0) + COALESCE(octet_length(Session), 0) + COALESCE(octet_length(ResponseDto), 0) + COALESCE(octet_length(ErrorResponse), 0) + COALESCE(octet_length(ExceptionSource), 0) + COALESCE(octet_length(ExceptionData), 0)) FROM WH_RequestLog WHERE Id > ?1 AND Id <= ?2 AND UserAuthId IS NULL

INSERT INTO WH_RequestLogLag (Lag, LastId) VALUES (?1, ?2)
ON CONFLICT (Lag) DO UPDATE SET LastId = excluded.LastId

SELECT COALESCE(MAX(Lag), 0) FROM WH_RequestLogLag
WHERE LastId >= (SELECT MIN(Id) FROM WH_RequestLog)

UPDATE WH_RequestLogMissing SET Number = Number + ?1, LastId = MAX(LastId, ?2)

SELECT Id, DateTime FROM WH_RequestLog WHERE Id >= ?1 ORDER BY Id LIMIT 1

SELECT COALESCE((SELECT MAX(Id) FROM WH_RequestLog) - (SELECT MIN(Id) FROM WH_RequestLog) + 1
	- (SELECT Number FROM WH_RequestLogMissing), 0)

SELECT MAX(0, COALESCE(MIN(?, (SELECT MAX(Id) FROM WH_RequestLog))
	- MAX(?, (SELECT MIN(Id) FROM WH_RequestLog)) + 1, 0))

== SQL Server

INSERT INTO [own tables].WH_RequestLog (DateTime, StatusCode, RequestDuration, Bytes, StatusDescription, HttpMethod, AbsoluteUri, PathInfo, RequestBody, RequestDto, UserAuthId, SessionId, IpAddress, ForwardedFor, Referer, Headers, FormData, Items, Session, ResponseDto, ErrorResponse, ExceptionSource, ExceptionData)
SELECT c0, c1, c2, c3, REPLACE(REPLACE(REPLACE(t0 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t1 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t2 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t3 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t4 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t5 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t6 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t7 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t8 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t9 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t10 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t11 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t12 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t13 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t14 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t15 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t16 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t17 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^'), REPLACE(REPLACE(REPLACE(t18 COLLATE Latin1_General_BIN2, N'^1', N'"'), N'^2', N'\'), N'^0', N'^')
FROM OPENJSON(@Rows) WITH (n int '$[0]', c0 datetime2(7) '$[1]', c1 int '$[2]', c2 bigint '$[3]', c3 int '$[4]', t0 nvarchar(max) '$[5]', t1 nvarchar(max) '$[6]', t2 nvarchar(max) '$[7]', t3 nvarchar(max) '$[8]', t4 nvarchar(max) '$[9]', t5 nvarchar(max) '$[10]', t6 nvarchar(max) '$[11]', t7 nvarchar(max) '$[12]', t8 nvarchar(max) '$[13]', t9 nvarchar(max) '$[14]', t10 nvarchar(max) '$[15]', t11 nvarchar(max) '$[16]', t12 nvarchar(max) '$[17]', t13 nvarchar(max) '$[18]', t14 nvarchar(max) '$[19]', t15 nvarchar(max) '$[20]', t16 nvarchar(max) '$[21]', t17 nvarchar(max) '$[22]', t18 nvarchar(max) '$[23]') ORDER BY n

[[0,"2030-01-02T03:04:05.0000006",404,15000,95,null,null,null,"/a^0b","two lines é",null,null,null,null,null,null,"{^1Host^1:^1x^2^2y^1}",null,null,null,null,null,null,null],[1,"0001-01-01T00:00:00.0000000",200,0,64,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]]

SELECT COUNT_BIG(*), COALESCE(SUM(CAST(Bytes AS bigint)), 0) FROM [own tables].WH_RequestLog

SELECT COUNT_BIG(*), COALESCE(SUM(CAST(Bytes AS bigint)), 0) FROM [own tables].WH_RequestLog WHERE UserAuthId IS NULL

DELETE FROM [own tables].WH_RequestLog WHERE Id IN (
	SELECT TOP (@Batch) Id FROM [own tables].WH_RequestLog
	WHERE DateTime < CAST(@Before AS datetime2(7)) ORDER BY DateTime)

DELETE FROM [own tables].WH_RequestLog WHERE Id IN (
	SELECT TOP (@Batch) Id FROM [own tables].WH_RequestLog ORDER BY Id)

SELECT COALESCE(MAX(r.Id), 0) FROM (
	SELECT TOP (@Batch) Id FROM [own tables].WH_RequestLog WHERE UserAuthId IS NULL AND Id >= @First ORDER BY Id) r

DELETE FROM [own tables].WH_RequestLog WHERE UserAuthId IS NULL AND Id >= @First AND Id <= @Last

