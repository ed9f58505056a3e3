-- +goose Up

-- The texts that receivers answered with: each is stored once, under the first 16
-- bytes of its SHA-256 in hex. Rows of attempts from before this version, and of
-- short texts, have the text themselves.
CREATE TABLE whd.WH_ResponseText (
    TextHash     nvarchar(32)   COLLATE Latin1_General_BIN2 NOT NULL,
    UsedDateTime datetime2(7)   NOT NULL, -- of an attempt that got it, up to a day before the last
    Size         int            NOT NULL, -- about what the row takes, in bytes
    Text         nvarchar(max)  NOT NULL,
    CONSTRAINT PK_WH_ResponseText PRIMARY KEY (TextHash)
);

-- Adding the sizes up reads this index alone.
CREATE INDEX IX_WH_ResponseText_Used ON whd.WH_ResponseText (UsedDateTime, Size);

ALTER TABLE whd.SY_WebhookMessageResponse ADD TextHash nvarchar(32) COLLATE Latin1_General_BIN2 NULL;

CREATE INDEX IX_SY_WebhookMessageResponse_Text ON whd.SY_WebhookMessageResponse (TextHash) WHERE TextHash IS NOT NULL;

-- A number that is changed to see whether the database can be written.
INSERT INTO whd.WH_Number (Name, Next) VALUES ('Probe', 0);

DROP VIEW whd.WH_MessageResponseView;

CREATE VIEW whd.WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, COALESCE(t.Text, r.AnswerText) AS AnswerText
FROM whd.SY_WebhookMessageResponse r
JOIN whd.SY_WebhookMessage m ON m.ID = r.MessageID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID
LEFT JOIN whd.WH_ResponseText t ON t.TextHash = r.TextHash;

-- +goose Down

DROP VIEW whd.WH_MessageResponseView;

CREATE VIEW whd.WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, r.AnswerText
FROM whd.SY_WebhookMessageResponse r
JOIN whd.SY_WebhookMessage m ON m.ID = r.MessageID
JOIN whd.SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN whd.SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN whd.WH_Event e ON e.EventID = m.EventID;

DROP INDEX IX_SY_WebhookMessageResponse_Text ON whd.SY_WebhookMessageResponse;
ALTER TABLE whd.SY_WebhookMessageResponse DROP COLUMN TextHash;
DROP TABLE whd.WH_ResponseText;
DELETE FROM whd.WH_Number WHERE Name = 'Probe';
