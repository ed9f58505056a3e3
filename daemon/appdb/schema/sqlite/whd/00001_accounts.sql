-- +goose Up

-- Times are UTC text with seven fraction digits, as those of the records.

CREATE TABLE WH_User (
    RecID             TEXT NOT NULL PRIMARY KEY,
    UserName          TEXT NOT NULL,
    UserKey           TEXT NOT NULL UNIQUE, -- UserName without letter case
    DisplayName       TEXT NOT NULL,
    Role              TEXT NOT NULL,
    PasswordHash      TEXT NOT NULL, -- PHC text, argon2id
    AddedDateTime     TEXT NOT NULL,
    LastSavedDateTime TEXT NOT NULL
);

CREATE TABLE WH_ApiKey (
    RecID            TEXT NOT NULL PRIMARY KEY,
    Name             TEXT NOT NULL,
    NameKey          TEXT NOT NULL UNIQUE, -- Name without letter case
    KeyHash          TEXT NOT NULL UNIQUE, -- SHA-256 in hex
    Role             TEXT NOT NULL,
    AddedDateTime    TEXT NOT NULL,
    ExpiryDateTime   TEXT, -- null: never
    LastUsedDateTime TEXT
);

CREATE TABLE WH_Session (
    SessionHash    TEXT NOT NULL PRIMARY KEY, -- SHA-256 in hex
    WH_User_RecID  TEXT NOT NULL,
    IsRemembered   INTEGER NOT NULL,
    AddedDateTime  TEXT NOT NULL,
    ExpiryDateTime TEXT NOT NULL
);

CREATE INDEX IX_WH_Session_User ON WH_Session (WH_User_RecID);
CREATE INDEX IX_WH_Session_Expiry ON WH_Session (ExpiryDateTime);

-- +goose Down

DROP TABLE WH_Session;
DROP TABLE WH_ApiKey;
DROP TABLE WH_User;
