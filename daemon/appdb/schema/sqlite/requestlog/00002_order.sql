-- +goose Up

-- Queries find requests by time, and count them, through their IDs with these tables.

-- IDs between the first and the last one that no row has, and the last of them.
CREATE TABLE WH_RequestLogMissing (
    Number INTEGER NOT NULL,
    LastId INTEGER NOT NULL
);

INSERT INTO WH_RequestLogMissing (Number, LastId)
SELECT Number, CASE WHEN Number > 0 THEN LastId ELSE 0 END
FROM (SELECT COALESCE(MAX(Id) - MIN(Id) + 1 - COUNT(*), 0) AS Number, MAX(Id) AS LastId FROM WH_RequestLog);

-- By how many ms at most the times of rows up to the last one are before the time of a row with a
-- lower Id.
CREATE TABLE WH_RequestLogLag (
    Lag    INTEGER NOT NULL PRIMARY KEY,
    LastId INTEGER NOT NULL
);

INSERT INTO WH_RequestLogLag (Lag, LastId)
SELECT CAST(MAX(julianday(Latest) - julianday(DateTime)) * 86400000 AS INTEGER) + 2, MAX(Id)
FROM (SELECT Id, DateTime, MAX(DateTime) OVER (ORDER BY Id) AS Latest FROM WH_RequestLog)
HAVING MAX(Id) IS NOT NULL;

-- +goose Down

DROP TABLE WH_RequestLogLag;
DROP TABLE WH_RequestLogMissing;
