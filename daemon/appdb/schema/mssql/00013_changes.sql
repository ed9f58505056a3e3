-- +goose Up

-- The identity that made or last changed the subscription: user:NAME or key:ID; null for
-- a caller with a SubscriberID alone.
ALTER TABLE whd.SY_WebhookSubscription ADD Owner nvarchar(300) NULL;

-- The capture of each record kind. A daemon captures under a fence. Changes are kept
-- from FirstChangeID on; their bodies have Bytes bytes. ShadowID is that of the entries
-- in WH_Shadow; 0 before the first.
CREATE TABLE whd.WH_Capture (
    Kind          nvarchar(128)  COLLATE Latin1_General_BIN2 NOT NULL,
    Fence         bigint         NOT NULL,
    NextChangeID  bigint         NOT NULL,
    FirstChangeID bigint         NOT NULL,
    Bytes         bigint         NOT NULL,
    ShadowID      bigint         NOT NULL,
    State         nvarchar(max)  NOT NULL, -- JSON
    CONSTRAINT PK_WH_Capture PRIMARY KEY (Kind)
);

-- Each start of a capture, with the ID of its first change.
CREATE TABLE whd.WH_CaptureEpoch (
    Kind          nvarchar(128)  COLLATE Latin1_General_BIN2 NOT NULL,
    Number        bigint         NOT NULL,
    EpochID       bigint         NOT NULL, -- random
    FirstChangeID bigint         NOT NULL,
    CONSTRAINT PK_WH_CaptureEpoch PRIMARY KEY (Kind, Number)
);

-- Changes of records. The body is that of the event if messages were made of it.
CREATE TABLE whd.WH_RecordChange (
    Kind          nvarchar(128)  COLLATE Latin1_General_BIN2 NOT NULL,
    ChangeID      bigint         NOT NULL,
    Op            nvarchar(8)    COLLATE Latin1_General_BIN2 NOT NULL,
    RecordKey     nvarchar(128)  COLLATE Latin1_General_BIN2 NOT NULL,
    EventID       bigint         NULL,
    Size          int            NOT NULL, -- of the body
    Body          varbinary(max) NULL,     -- JSON in UTF-8
    Number        bigint         NOT NULL, -- of the row's entry in the shadow
    ShadowKey     varbinary(max) NOT NULL,
    Entry         varbinary(max) NULL,     -- after the change; null if it was removed
    AddedDateTime datetime2(7)   NOT NULL,
    CONSTRAINT PK_WH_RecordChange PRIMARY KEY (Kind, ChangeID)
);

CREATE INDEX IX_WH_RecordChange_Added ON whd.WH_RecordChange (AddedDateTime, Kind, ChangeID);
CREATE INDEX IX_WH_RecordChange_Event ON whd.WH_RecordChange (EventID) WHERE EventID IS NOT NULL;

-- Hashes of the records, with which capture finds their changes.
CREATE TABLE whd.WH_Shadow (
    ShadowID      bigint         NOT NULL,
    Number        bigint         NOT NULL,
    KeyHash       bigint         NOT NULL, -- of ShadowKey
    ShadowKey     varbinary(max) NOT NULL,
    Entry         varbinary(max) NOT NULL,
    CONSTRAINT PK_WH_Shadow PRIMARY KEY (ShadowID, Number)
);

CREATE INDEX IX_WH_Shadow_Key ON whd.WH_Shadow (ShadowID, KeyHash);

-- Keys of records that are to be read again.
CREATE TABLE whd.WH_Recheck (
    RecheckID     bigint IDENTITY(1,1) NOT NULL,
    Kind          nvarchar(128)  COLLATE Latin1_General_BIN2 NOT NULL,
    ShadowKey     varbinary(max) NOT NULL,
    CONSTRAINT PK_WH_Recheck PRIMARY KEY (RecheckID)
);

CREATE INDEX IX_WH_Recheck_Kind ON whd.WH_Recheck (Kind, RecheckID);

-- +goose Down

DROP TABLE whd.WH_Recheck;
DROP TABLE whd.WH_Shadow;
DROP TABLE whd.WH_RecordChange;
DROP TABLE whd.WH_CaptureEpoch;
DROP TABLE whd.WH_Capture;
ALTER TABLE whd.SY_WebhookSubscription DROP COLUMN Owner;
