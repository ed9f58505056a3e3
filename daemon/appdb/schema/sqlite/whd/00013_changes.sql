-- +goose Up

-- The identity that made or last changed the subscription: user:NAME or key:ID; null for
-- a caller with a SubscriberID alone.
ALTER TABLE SY_WebhookSubscription ADD COLUMN Owner TEXT;

-- The capture of each record kind. A daemon captures under a fence. Changes are kept
-- from FirstChangeID on; their bodies have Bytes bytes. ShadowID is that of the entries
-- in shadow.db; another one, or 0, means that the shadow is lost.
CREATE TABLE WH_Capture (
    Kind          TEXT    NOT NULL PRIMARY KEY,
    Fence         INTEGER NOT NULL,
    NextChangeID  INTEGER NOT NULL,
    FirstChangeID INTEGER NOT NULL,
    Bytes         INTEGER NOT NULL,
    ShadowID      INTEGER NOT NULL,
    State         TEXT    NOT NULL -- JSON
) WITHOUT ROWID;

-- Each start of a capture, with the ID of its first change.
CREATE TABLE WH_CaptureEpoch (
    Kind          TEXT    NOT NULL,
    Number        INTEGER NOT NULL,
    EpochID       INTEGER NOT NULL, -- random
    FirstChangeID INTEGER NOT NULL,
    PRIMARY KEY (Kind, Number)
) WITHOUT ROWID;

-- Changes of records. The body is that of the event if messages were made of it.
CREATE TABLE WH_RecordChange (
    Kind          TEXT    NOT NULL,
    ChangeID      INTEGER NOT NULL,
    Op            TEXT    NOT NULL,
    RecordKey     TEXT    NOT NULL,
    EventID       INTEGER,
    Size          INTEGER NOT NULL, -- of the body
    Body          BLOB,             -- JSON in UTF-8
    Number        INTEGER NOT NULL, -- of the row's entry in the shadow
    ShadowKey     BLOB    NOT NULL,
    Entry         BLOB,             -- after the change; null if it was removed
    AddedDateTime TEXT    NOT NULL,
    PRIMARY KEY (Kind, ChangeID)
);

CREATE INDEX IX_WH_RecordChange_Added ON WH_RecordChange (AddedDateTime, Kind, ChangeID);
CREATE INDEX IX_WH_RecordChange_Event ON WH_RecordChange (EventID) WHERE EventID IS NOT NULL;

-- Keys of records that are to be read again.
CREATE TABLE WH_Recheck (
    RecheckID     INTEGER NOT NULL PRIMARY KEY,
    Kind          TEXT    NOT NULL,
    ShadowKey     BLOB    NOT NULL
);

CREATE INDEX IX_WH_Recheck_Kind ON WH_Recheck (Kind, RecheckID);

-- +goose Down

DROP TABLE WH_Recheck;
DROP TABLE WH_RecordChange;
DROP TABLE WH_CaptureEpoch;
DROP TABLE WH_Capture;
ALTER TABLE SY_WebhookSubscription DROP COLUMN Owner;
