-- +goose Up

-- Times are UTC. Texts that rows are found by are compared byte by byte: what
-- letter case may not tell apart is stored without it.

CREATE TABLE whd.WH_User (
    RecID             nvarchar(36)  COLLATE Latin1_General_BIN2 NOT NULL,
    UserName          nvarchar(256) NOT NULL,
    UserKey           nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL, -- UserName without letter case
    DisplayName       nvarchar(256) NOT NULL,
    Role              nvarchar(16)  COLLATE Latin1_General_BIN2 NOT NULL,
    PasswordHash      nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL, -- PHC text, argon2id
    AddedDateTime     datetime2(7)  NOT NULL,
    LastSavedDateTime datetime2(7)  NOT NULL,
    CONSTRAINT PK_WH_User PRIMARY KEY (RecID),
    CONSTRAINT UQ_WH_User_UserKey UNIQUE (UserKey)
);

CREATE TABLE whd.WH_ApiKey (
    RecID            nvarchar(36)  COLLATE Latin1_General_BIN2 NOT NULL,
    Name             nvarchar(256) NOT NULL,
    NameKey          nvarchar(256) COLLATE Latin1_General_BIN2 NOT NULL, -- Name without letter case
    KeyHash          nvarchar(64)  COLLATE Latin1_General_BIN2 NOT NULL, -- SHA-256 in hex
    Role             nvarchar(16)  COLLATE Latin1_General_BIN2 NOT NULL,
    AddedDateTime    datetime2(7)  NOT NULL,
    ExpiryDateTime   datetime2(7)  NULL, -- null: never
    LastUsedDateTime datetime2(7)  NULL,
    CONSTRAINT PK_WH_ApiKey PRIMARY KEY (RecID),
    CONSTRAINT UQ_WH_ApiKey_NameKey UNIQUE (NameKey),
    CONSTRAINT UQ_WH_ApiKey_KeyHash UNIQUE (KeyHash)
);

CREATE TABLE whd.WH_Session (
    SessionHash    nvarchar(64) COLLATE Latin1_General_BIN2 NOT NULL, -- SHA-256 in hex
    WH_User_RecID  nvarchar(36) COLLATE Latin1_General_BIN2 NOT NULL,
    IsRemembered   bit          NOT NULL,
    AddedDateTime  datetime2(7) NOT NULL,
    ExpiryDateTime datetime2(7) NOT NULL,
    CONSTRAINT PK_WH_Session PRIMARY KEY (SessionHash)
);

CREATE INDEX IX_WH_Session_User ON whd.WH_Session (WH_User_RecID);

CREATE INDEX IX_WH_Session_Expiry ON whd.WH_Session (ExpiryDateTime);

-- +goose Down

DROP TABLE whd.WH_Session;
DROP TABLE whd.WH_ApiKey;
DROP TABLE whd.WH_User;
