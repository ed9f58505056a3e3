-- +goose Up

-- The latest time of all rows, the last Id that its row may have, and the latest time of the rows
-- with a higher Id. They are current while the last row has a lag in WH_RequestLogLag.
CREATE TABLE WH_RequestLogLatest (
    DateTime TEXT    NOT NULL,
    LastId   INTEGER NOT NULL,
    Later    TEXT    NOT NULL
);

INSERT INTO WH_RequestLogLatest (DateTime, LastId, Later)
SELECT COALESCE(MAX(DateTime), '0001-01-01T00:00:00.0000000'), COALESCE(MAX(Id), 0), '0001-01-01T00:00:00.0000000'
FROM WH_RequestLog;

-- The stored lags may be greater than those of the rows.
DELETE FROM WH_RequestLogLag;

INSERT INTO WH_RequestLogLag (Lag, LastId)
SELECT CAST(MAX(julianday(Latest) - julianday(DateTime)) * 86400000 AS INTEGER) + 2, MAX(Id)
FROM (SELECT Id, DateTime, MAX(DateTime) OVER (ORDER BY Id) AS Latest FROM WH_RequestLog)
HAVING MAX(Id) IS NOT NULL;

-- +goose Down

DROP TABLE WH_RequestLogLatest;
