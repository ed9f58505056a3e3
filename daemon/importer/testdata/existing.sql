CREATE TABLE {schema}.SY_WebhookSubscriber (
    RecID uniqueidentifier NOT NULL PRIMARY KEY,
    Name varchar(255) NOT NULL,
    IsEnabled bit NULL,
    ItemNo int NOT NULL,
    LastSavedDateTime datetime NOT NULL,
    RowHash varbinary(8) NULL
);
CREATE TABLE {schema}.SY_WebhookSubscription (
    RecID uniqueidentifier NOT NULL PRIMARY KEY,
    SY_WebhookSubscriber_RecID uniqueidentifier NOT NULL,
    EventName varchar(255) NOT NULL,
    URL varchar(max) NOT NULL,
    ItemNo int NOT NULL,
    LastSavedDateTime datetime NOT NULL,
    RowHash varbinary(8) NULL
);
CREATE TABLE {schema}.SY_WebhookSubscriptionRequestHeader (
    RecID uniqueidentifier NOT NULL PRIMARY KEY,
    SY_WebhookSubscription_RecID uniqueidentifier NOT NULL,
    Name varchar(max) NOT NULL,
    Value varchar(max) NOT NULL,
    ItemNo int NOT NULL
);
CREATE TABLE {schema}.SY_WebhookMessage (
    RecID uniqueidentifier NOT NULL PRIMARY KEY,
    SY_WebhookSubscription_RecID uniqueidentifier NOT NULL,
    Body nvarchar(max) NULL,
    ItemNo int NOT NULL,
    Status tinyint NOT NULL,
    Retries int NOT NULL,
    AddedDateTime datetime NOT NULL,
    LastSavedDateTime datetime NOT NULL,
    RowHash varbinary(8) NULL,
    RetryAfterDateTime datetime NULL
);
INSERT INTO {schema}.SY_WebhookSubscriber (RecID, Name, IsEnabled, ItemNo, LastSavedDateTime) VALUES
    ('A0000000-0000-4000-8000-000000000001', 'ACME Wärehouse', 1, 1, '2026-01-02'),
    ('A0000000-0000-4000-8000-000000000002', 'Disabled', NULL, 2, '2026-01-02');
INSERT INTO {schema}.SY_WebhookSubscription (RecID, SY_WebhookSubscriber_RecID, EventName, URL, ItemNo, LastSavedDateTime) VALUES
    ('B0000000-0000-4000-8000-000000000001', 'A0000000-0000-4000-8000-000000000001', 'SalesOrder.created', '{receiver}', 1, '2026-01-02'),
    ('B0000000-0000-4000-8000-000000000002', 'A0000000-0000-4000-8000-000000000001', 'job.created', 'https://erp.example/hook?key=canary-key', 2, '2026-01-02'),
    ('B0000000-0000-4000-8000-000000000003', 'A0000000-0000-4000-8000-000000000002', 'debtor.updated', 'ftp://erp.example/', 1, '2026-01-02'),
    ('B0000000-0000-4000-8000-000000000004', 'A0000000-0000-4000-8000-00000000000F', 'debtor.updated', 'http://erp.example/', 1, '2026-01-02');
INSERT INTO {schema}.SY_WebhookSubscriptionRequestHeader (RecID, SY_WebhookSubscription_RecID, Name, Value, ItemNo) VALUES
    ('C0000000-0000-4000-8000-000000000002', 'B0000000-0000-4000-8000-000000000001', 'X-First', 'canary-1', 1),
    ('C0000000-0000-4000-8000-000000000001', 'B0000000-0000-4000-8000-000000000001', 'X-Second', 'canary-2', 2);
INSERT INTO {schema}.SY_WebhookMessage (RecID, SY_WebhookSubscription_RecID, Body, ItemNo, Status, Retries, AddedDateTime, LastSavedDateTime, RetryAfterDateTime) VALUES
    ('D0000000-0000-4000-8000-000000000003', 'B0000000-0000-4000-8000-000000000001', N'{"InvoiceNo":"№ 1"}', 1, 0, 0, '2026-01-02T03:04:05.123', '2026-01-02', NULL),
    ('D0000000-0000-4000-8000-000000000002', 'B0000000-0000-4000-8000-000000000001', N'{"InvoiceNo":"2"}', 2, 2, 3, '2026-01-02T03:04:05.123', '2026-01-02', '2026-01-02T03:10:00'),
    ('D0000000-0000-4000-8000-000000000004', 'B0000000-0000-4000-8000-000000000001', N'{"InvoiceNo":"4"}', 3, 1, 0, '2026-01-01', '2026-01-02', NULL),
    ('D0000000-0000-4000-8000-000000000005', 'B0000000-0000-4000-8000-000000000001', N'{"InvoiceNo":"5"}', 4, 3, 5, '2026-01-01', '2026-01-02', NULL),
    ('D0000000-0000-4000-8000-000000000006', 'B0000000-0000-4000-8000-000000000003', N'{"InvoiceNo":"6"}', 5, 0, 0, '2026-01-01', '2026-01-02', NULL);
