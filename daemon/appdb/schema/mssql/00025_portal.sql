-- +goose Up

-- The sessions of subscribers on their pages. A session ends with its subscriber, or when that is
-- disabled.
CREATE TABLE whd.WH_PortalSession (
    SessionHash    nvarchar(64) COLLATE Latin1_General_BIN2 NOT NULL, -- SHA-256 in hex
    SubscriberID   bigint       NOT NULL,
    AddedDateTime  datetime2(7) NOT NULL,
    ExpiryDateTime datetime2(7) NOT NULL,
    CONSTRAINT PK_WH_PortalSession PRIMARY KEY (SessionHash)
);

CREATE INDEX IX_WH_PortalSession_Subscriber ON whd.WH_PortalSession (SubscriberID, AddedDateTime);

CREATE INDEX IX_WH_PortalSession_Expiry ON whd.WH_PortalSession (ExpiryDateTime);

-- +goose Down

DROP TABLE whd.WH_PortalSession;
