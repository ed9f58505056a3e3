-- +goose Up

-- The sessions of subscribers on their pages. A session ends with its subscriber, or when that is
-- disabled.
CREATE TABLE WH_PortalSession (
    SessionHash    TEXT    NOT NULL PRIMARY KEY, -- SHA-256 in hex
    SubscriberID   INTEGER NOT NULL,
    AddedDateTime  TEXT    NOT NULL,
    ExpiryDateTime TEXT    NOT NULL
) WITHOUT ROWID;

CREATE INDEX IX_WH_PortalSession_Subscriber ON WH_PortalSession (SubscriberID, AddedDateTime);

CREATE INDEX IX_WH_PortalSession_Expiry ON WH_PortalSession (ExpiryDateTime);

-- +goose Down

DROP TABLE WH_PortalSession;
