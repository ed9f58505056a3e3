-- +goose Up

-- Times are UTC text with seven fraction digits, as those of the records. The
-- newest row is never removed, so that Id goes on growing.

CREATE TABLE WH_RequestLog (
    Id                INTEGER NOT NULL PRIMARY KEY,
    DateTime          TEXT NOT NULL,
    StatusCode        INTEGER NOT NULL,
    StatusDescription TEXT COLLATE TSQL,
    HttpMethod        TEXT COLLATE TSQL,
    AbsoluteUri       TEXT COLLATE TSQL,
    PathInfo          TEXT COLLATE TSQL,
    RequestBody       TEXT COLLATE TSQL,
    RequestDto        TEXT COLLATE TSQL, -- this and what follows that is no plain text: JSON
    UserAuthId        TEXT COLLATE TSQL,
    SessionId         TEXT COLLATE TSQL, -- the beginning of the session's hash
    IpAddress         TEXT COLLATE TSQL,
    ForwardedFor      TEXT COLLATE TSQL,
    Referer           TEXT COLLATE TSQL,
    Headers           TEXT COLLATE TSQL,
    FormData          TEXT COLLATE TSQL,
    Items             TEXT COLLATE TSQL,
    Session           TEXT COLLATE TSQL,
    ResponseDto       TEXT COLLATE TSQL,
    ErrorResponse     TEXT COLLATE TSQL,
    ExceptionSource   TEXT COLLATE TSQL,
    ExceptionData     TEXT COLLATE TSQL,
    RequestDuration   INTEGER NOT NULL -- in units of 100 ns
);

-- +goose Down

DROP TABLE WH_RequestLog;
