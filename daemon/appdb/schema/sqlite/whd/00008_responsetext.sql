-- +goose Up

-- The texts that receivers answered with: each is stored once, under the first 16
-- bytes of its SHA-256 in hex. Rows of attempts from before this version, and of
-- short texts, have the text themselves.
CREATE TABLE WH_ResponseText (
    TextHash     TEXT    NOT NULL PRIMARY KEY,
    UsedDateTime TEXT    NOT NULL, -- of an attempt that got it, up to a day before the last
    Size         INTEGER NOT NULL, -- about what the row takes, in bytes
    Text         TEXT    NOT NULL COLLATE TSQL
);

CREATE INDEX IX_WH_ResponseText_Used ON WH_ResponseText (UsedDateTime, Size);

-- The sum of the sizes, kept by the triggers for the writer of batches, and a number
-- that is changed to see whether the file can be written.
INSERT INTO WH_Number (Name, Next) VALUES ('ResponseTextSize', 0), ('Probe', 0);

-- +goose StatementBegin
CREATE TRIGGER TR_WH_ResponseText_Insert AFTER INSERT ON WH_ResponseText BEGIN
    UPDATE WH_Number SET Next = Next + NEW.Size WHERE Name = 'ResponseTextSize';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER TR_WH_ResponseText_Delete AFTER DELETE ON WH_ResponseText BEGIN
    UPDATE WH_Number SET Next = Next - OLD.Size WHERE Name = 'ResponseTextSize';
END;
-- +goose StatementEnd

ALTER TABLE SY_WebhookMessageResponse ADD COLUMN TextHash TEXT;

CREATE INDEX IX_SY_WebhookMessageResponse_Text ON SY_WebhookMessageResponse (TextHash) WHERE TextHash IS NOT NULL;

DROP VIEW WH_MessageResponseView;

CREATE VIEW WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, COALESCE(t.Text, r.AnswerText) COLLATE TSQL AS AnswerText
FROM SY_WebhookMessageResponse r
JOIN SY_WebhookMessage m ON m.ID = r.MessageID
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID
LEFT JOIN WH_ResponseText t ON t.TextHash = r.TextHash;

-- +goose Down

DROP VIEW WH_MessageResponseView;

CREATE VIEW WH_MessageResponseView AS
SELECT b.RecID AS SubscriberID, s.RecID AS SubscriptionID, m.RecID AS MessageID, r.RecID AS MessageResponseID, e.EventName, m.URL, e.Body,
    m.ID AS MessageItemNo, r.Status, r.Retries, m.AddedDateTime, m.LastSavedDateTime AS MessageLastSavedDateTime,
    r.HTTPCode, r.Message, r.Attempt AS ItemNo, r.LastSavedDateTime, r.Duration, r.Detail, r.AnswerText
FROM SY_WebhookMessageResponse r
JOIN SY_WebhookMessage m ON m.ID = r.MessageID
JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID
JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID
JOIN WH_Event e ON e.EventID = m.EventID;

DROP INDEX IX_SY_WebhookMessageResponse_Text;
ALTER TABLE SY_WebhookMessageResponse DROP COLUMN TextHash;
DROP TABLE WH_ResponseText;
DELETE FROM WH_Number WHERE Name IN ('ResponseTextSize', 'Probe');
