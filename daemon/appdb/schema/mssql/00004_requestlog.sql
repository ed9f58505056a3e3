-- +goose Up

-- Several daemons may write here. DateTime is UTC, RequestDuration in units of
-- 100 ns, Bytes about what the row takes.

CREATE TABLE whd.WH_RequestLog (
    Id                bigint        IDENTITY(1, 1) NOT NULL,
    DateTime          datetime2(7)  NOT NULL,
    StatusCode        int           NOT NULL,
    StatusDescription nvarchar(100) NULL,
    HttpMethod        nvarchar(20)  NULL,
    AbsoluteUri       nvarchar(4000) NULL,
    PathInfo          nvarchar(2000) NULL,
    RequestBody       nvarchar(max) NULL,
    RequestDto        nvarchar(max) NULL,
    UserAuthId        nvarchar(256) NULL,
    SessionId         nvarchar(8)   NULL,
    IpAddress         nvarchar(64)  NULL,
    ForwardedFor      nvarchar(500) NULL,
    Referer           nvarchar(2000) NULL,
    Headers           nvarchar(max) NULL,
    FormData          nvarchar(max) NULL,
    Items             nvarchar(max) NULL,
    Session           nvarchar(max) NULL,
    ResponseDto       nvarchar(max) NULL,
    ErrorResponse     nvarchar(max) NULL,
    ExceptionSource   nvarchar(256) NULL,
    ExceptionData     nvarchar(max) NULL,
    RequestDuration   bigint        NOT NULL,
    Bytes             int           NOT NULL,
    CONSTRAINT PK_WH_RequestLog PRIMARY KEY (Id)
);

CREATE INDEX IX_WH_RequestLog_DateTime ON whd.WH_RequestLog (DateTime, Bytes);

-- +goose Down

DROP TABLE whd.WH_RequestLog;
