-- of all, sqlite
SELECT "ItemNo" FROM WH_MessageView ORDER BY "ItemNo" DESC LIMIT +?1;
--     SCAN m
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- of all, sqlite
SELECT (SELECT COALESCE(SUM(m.Messages), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID) + (SELECT COALESCE(SUM(m.Messages), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of all, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] ORDER BY [ItemNo] DESC OFFSET @p1 ROWS FETCH NEXT @p2 ROWS ONLY OPTION (OPTIMIZE FOR (@p1 = 0, @p2 = 100));
-- of all, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- of a subscriber, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "SubscriberID" = ?1 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?2 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID ORDER BY m.ID DESC LIMIT 1 OFFSET ?3), 0) ORDER BY m.ID DESC LIMIT ?4) k) ORDER BY "ItemNo" DESC LIMIT +?5;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- of a subscriber, sqlite
SELECT (SELECT COALESCE(SUM(m.Messages), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?1) + (SELECT COALESCE(SUM(m.Messages), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?2);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
-- of a subscriber, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [SubscriberID] = @p1 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p2 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID ORDER BY m.ID DESC OFFSET @p3 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p4 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p5 ROWS FETCH NEXT @p6 ROWS ONLY OPTION (OPTIMIZE FOR (@p5 = 0, @p6 = 100));
-- of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p1;

-- of a subscription, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "SubscriberID" = ?1 AND "SubscriptionID" = ?2 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?3 AND s.RecID = ?4 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID ORDER BY m.ID DESC LIMIT 1 OFFSET ?5), 0) ORDER BY m.ID DESC LIMIT ?6) k) ORDER BY "ItemNo" DESC LIMIT +?7;
--     SEARCH s USING INDEX sqlite_autoindex_SY_WebhookSubscription_1 (RecID=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=? AND ID=?)
--     LIST SUBQUERY 3
--     SEARCH s USING INDEX sqlite_autoindex_SY_WebhookSubscription_1 (RecID=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- of a subscription, sqlite
SELECT (SELECT COALESCE(SUM(m.Messages), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?1 AND s.RecID = ?2) + (SELECT COALESCE(SUM(m.Messages), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?3 AND s.RecID = ?4);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SEARCH s USING INDEX sqlite_autoindex_SY_WebhookSubscription_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH s USING INDEX sqlite_autoindex_SY_WebhookSubscription_1 (RecID=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
-- of a subscription, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [SubscriberID] = @p1 AND [SubscriptionID] = @p2 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p3 AND s.RecID = @p4 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID ORDER BY m.ID DESC OFFSET @p5 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p6 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p7 ROWS FETCH NEXT @p8 ROWS ONLY OPTION (OPTIMIZE FOR (@p7 = 0, @p8 = 100));
-- of a subscription, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p1 AND s.RecID = @p2;

-- failed, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3 ORDER BY m.ID DESC LIMIT ?2) k) ORDER BY "ItemNo" DESC LIMIT +?3;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 2
--     SCAN m USING COVERING INDEX IX_SY_WebhookMessage_AllFailed
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- failed, sqlite
SELECT (SELECT COALESCE(SUM(m.Failed), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID) + (SELECT COALESCE(SUM(m.Failed), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- failed, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3 ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p2 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p3 ROWS FETCH NEXT @p4 ROWS ONLY OPTION (OPTIMIZE FOR (@p3 = 0, @p4 = 100));
-- failed, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3;

-- failed of a subscriber, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "SubscriberID" = ?2 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?3 AND m.Status = 3 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.Status = 3 ORDER BY m.ID DESC LIMIT 1 OFFSET ?4), 0) ORDER BY m.ID DESC LIMIT ?5) k) ORDER BY "ItemNo" DESC LIMIT +?6;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Failed (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Failed (SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- failed of a subscriber, sqlite
SELECT (SELECT COALESCE(SUM(m.Failed), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?1) + (SELECT COALESCE(SUM(m.Failed), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?2);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
-- failed of a subscriber, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [SubscriberID] = @p2 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p3 AND m.Status = 3 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.Status = 3 ORDER BY m.ID DESC OFFSET @p4 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p5 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p6 ROWS FETCH NEXT @p7 ROWS ONLY OPTION (OPTIMIZE FOR (@p6 = 0, @p7 = 100));
-- failed of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p1 AND m.Status = 3;

-- retrying, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 ORDER BY m.ID DESC LIMIT 1 OFFSET ?2), 0) ORDER BY m.ID DESC LIMIT ?3) k) ORDER BY "ItemNo" DESC LIMIT +?4;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN p
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Line (PartitionID=? AND SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Line (PartitionID=? AND SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- retrying, sqlite
SELECT COUNT(*) FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2;
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
-- retrying, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 ORDER BY m.ID DESC OFFSET @p2 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p3 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p4 ROWS FETCH NEXT @p5 ROWS ONLY OPTION (OPTIMIZE FOR (@p4 = 0, @p5 = 100));
-- retrying, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2;

-- retrying of a subscriber, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "SubscriberID" = ?2 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE b.RecID = ?3 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 ORDER BY m.ID DESC LIMIT 1 OFFSET ?4), 0) ORDER BY m.ID DESC LIMIT ?5) k) ORDER BY "ItemNo" DESC LIMIT +?6;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SCAN p
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Line (PartitionID=? AND SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Line (PartitionID=? AND SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- retrying of a subscriber, sqlite
SELECT COUNT(*) FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE b.RecID = ?1 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
-- retrying of a subscriber, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [SubscriberID] = @p2 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE b.RecID = @p3 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2 ORDER BY m.ID DESC OFFSET @p4 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p5 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p6 ROWS FETCH NEXT @p7 ROWS ONLY OPTION (OPTIMIZE FOR (@p6 = 0, @p7 = 100));
-- retrying of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE b.RecID = @p1 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2;

-- delivered of a subscriber, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "SubscriberID" = ?2 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?3 AND m.Status = 1 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.Status = 1 ORDER BY m.ID DESC LIMIT 1 OFFSET ?4), 0) ORDER BY m.ID DESC LIMIT ?5) k) ORDER BY "ItemNo" DESC LIMIT +?6;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- delivered of a subscriber, sqlite
SELECT (SELECT (SELECT (SELECT COALESCE(SUM(m.Messages - m.Failed), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?1) + (SELECT COALESCE(SUM(m.Messages - m.Failed), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?2)) - (SELECT COUNT(*) FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE b.RecID = ?3 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 0)) - (SELECT COUNT(*) FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE b.RecID = ?4 AND m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 7
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 5
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 6
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
--     SCALAR SUBQUERY 8
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
-- delivered of a subscriber, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [SubscriberID] = @p2 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p3 AND m.Status = 1 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.Status = 1 ORDER BY m.ID DESC OFFSET @p4 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p5 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p6 ROWS FETCH NEXT @p7 ROWS ONLY OPTION (OPTIMIZE FOR (@p6 = 0, @p7 = 100));
-- delivered of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p1 AND m.Status = 1;

-- retrying or failed by the last attempt, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" IN (?1, ?2) AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2) k UNION ALL SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3) k) ORDER BY "LastSavedDateTime" DESC, "ItemNo" DESC LIMIT +?3;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 4
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
--     UNION ALL
--     SCAN m USING COVERING INDEX IX_SY_WebhookMessage_AllFailed
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     USE TEMP B-TREE FOR ORDER BY
-- retrying or failed by the last attempt, sqlite
SELECT (SELECT (SELECT COALESCE(SUM(m.Failed), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID) + (SELECT COALESCE(SUM(m.Failed), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID)) + (SELECT COUNT(*) FROM SY_WebhookSubscription s JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN WH_Partition p CROSS JOIN SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 5
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 6
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN p
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Due (PartitionID=? AND SubscriptionID=? AND NextAttemptDateTime>?)
-- retrying or failed by the last attempt, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] IN (@p1, @p2) AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2) k UNION ALL SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3) k) ORDER BY [LastSavedDateTime] DESC, [ItemNo] + 0 DESC OFFSET @p3 ROWS FETCH NEXT @p4 ROWS ONLY OPTION (OPTIMIZE FOR (@p3 = 0, @p4 = 100));
-- retrying or failed by the last attempt, tsql
SELECT (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookSubscription s JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID CROSS JOIN [whd].WH_Partition p CROSS JOIN [whd].SY_WebhookMessage m WHERE m.PartitionID = p.PartitionID AND m.SubscriptionID = s.ID AND m.NextAttemptDateTime IS NOT NULL AND m.Status = 2) + (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.Status = 3);

-- candidates of a bulk operation, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "ItemNo" > ?2 AND "ItemNo" <= ?3 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID > ?4 AND m.ID <= ?5 AND m.Status = 3 ORDER BY m.ID LIMIT ?6) k) ORDER BY "ItemNo" LIMIT +?7;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 2
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_AllFailed (ID>? AND ID<?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- candidates of a bulk operation, sqlite
SELECT COUNT(*) FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID > ?1 AND m.ID <= ?2 AND m.Status = 3;
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_AllFailed (ID>? AND ID<?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- candidates of a bulk operation, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [ItemNo] > @p2 AND [ItemNo] <= @p3 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID > @p4 AND m.ID <= @p5 AND m.Status = 3 ORDER BY m.ID OFFSET 0 ROWS FETCH NEXT @p6 ROWS ONLY) k) ORDER BY [ItemNo] + 0 OFFSET @p7 ROWS FETCH NEXT @p8 ROWS ONLY OPTION (OPTIMIZE FOR (@p7 = 0, @p8 = 100));
-- candidates of a bulk operation, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID > @p1 AND m.ID <= @p2 AND m.Status = 3;

-- attempts of a subscriber, sqlite
SELECT "MessageItemNo" FROM WH_MessageResponseView WHERE "SubscriberID" = ?1 AND "MessageItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?2 AND EXISTS (SELECT 1 FROM SY_WebhookMessageResponse r WHERE r.MessageID = m.ID) AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND EXISTS (SELECT 1 FROM SY_WebhookMessageResponse r WHERE r.MessageID = m.ID) ORDER BY m.ID DESC LIMIT 1 OFFSET ?3), 0) ORDER BY m.ID DESC LIMIT ?4) k) ORDER BY "MessageItemNo" DESC, "ItemNo" LIMIT +?5;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 5
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 3
--     SEARCH m USING COVERING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=?)
--     CORRELATED SCALAR SUBQUERY 2
--     SEARCH r USING PRIMARY KEY (MessageID=?)
--     SEARCH r EXISTS USING PRIMARY KEY (MessageID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH r USING PRIMARY KEY (MessageID=?)
-- attempts of a subscriber, sqlite
SELECT COUNT(*) FROM WH_MessageResponseView WHERE "SubscriberID" = ?1;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Subscription (SubscriptionID=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH r USING PRIMARY KEY (MessageID=?)
--     SEARCH t USING COVERING INDEX sqlite_autoindex_WH_ResponseText_1 (TextHash=?) LEFT-JOIN
-- attempts of a subscriber, tsql
SELECT [MessageItemNo] FROM [whd].[WH_MessageResponseView] WHERE [SubscriberID] = @p1 AND [MessageItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p2 AND EXISTS (SELECT 1 FROM [whd].SY_WebhookMessageResponse r WHERE r.MessageID = m.ID) AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND EXISTS (SELECT 1 FROM [whd].SY_WebhookMessageResponse r WHERE r.MessageID = m.ID) ORDER BY m.ID DESC OFFSET @p3 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p4 ROWS ONLY) k) ORDER BY [MessageItemNo] + 0 DESC, [ItemNo] OFFSET @p5 ROWS FETCH NEXT @p6 ROWS ONLY OPTION (OPTIMIZE FOR (@p5 = 0, @p6 = 100));
-- attempts of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].[WH_MessageResponseView] WHERE [SubscriberID] = @p1;

-- by time, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "ItemNo" IN (SELECT m.ID FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.RecID >= substr(COALESCE((SELECT m.RecID FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) ORDER BY m.RecID DESC LIMIT 1 OFFSET ?1), ''), 1, 13) UNION ALL SELECT m.ID FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID <= COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY "AddedDateTime" DESC, "ItemNo" DESC LIMIT +?2;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 6
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>?)
--     SCALAR SUBQUERY 3
--     SCAN m USING INDEX UQ_SY_WebhookMessage_RecID
--     SCALAR SUBQUERY 2
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 1
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     UNION ALL
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 5
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     USE TEMP B-TREE FOR ORDER BY
-- by time, sqlite
SELECT (SELECT COALESCE(SUM(m.Messages), 0) FROM WH_MessageCount m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID) + (SELECT COALESCE(SUM(m.Messages), 0) FROM (SELECT SubscriptionID, 1 AS Messages, Status = 3 AS Failed FROM SY_WebhookMessage NOT INDEXED WHERE ID > (SELECT Next FROM WH_Number WHERE Name = 'CountedMessage')) m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 1
--     SCAN s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH SY_WebhookMessage USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 2
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- by time, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.RecID >= SUBSTRING(ISNULL((SELECT m.RecID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) ORDER BY m.RecID DESC OFFSET @p1 ROWS FETCH NEXT 1 ROWS ONLY), ''), 1, 13) AND m.RecID < '~' ORDER BY m.RecID DESC OFFSET 0 ROWS FETCH NEXT (SELECT n.Next FROM [whd].WH_Number n WHERE n.Name = 'ID') ROWS ONLY) k UNION ALL SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID <= ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY [AddedDateTime] DESC, [ItemNo] + 0 DESC OFFSET @p2 ROWS FETCH NEXT @p3 ROWS ONLY OPTION (OPTIMIZE FOR (@p2 = 0, @p3 = 100));
-- by time, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID;

-- of a period, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "AddedDateTime" >= ?1 AND "AddedDateTime" < ?2 AND "ItemNo" IN (SELECT m.ID FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?3 AND m.AddedDateTime < ?4 AND m.RecID >= ?5 AND m.RecID < ?6 AND m.RecID < CASE WHEN (SELECT COUNT(*) FROM (SELECT 1 AS one FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID WHERE 1 = 1 AND m.RecID >= ?7 AND m.RecID < ?8 LIMIT 1001) q) <= 1000 THEN '~' ELSE '' END UNION ALL SELECT k.ID FROM (SELECT m.ID FROM WH_MessageBlock k CROSS JOIN SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.ID >= k.FirstID AND m.ID <= k.LastID AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND k.FirstID <= CASE WHEN (SELECT COUNT(*) FROM (SELECT 1 AS one FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID WHERE 1 = 1 AND m.RecID >= ?9 AND m.RecID < ?10 LIMIT 1001) q) <= 1000 THEN 0 ELSE CAST(9223372036854775807 AS bigint) END AND k.AddedUntil >= ?11 AND k.AddedSince <= ?12 AND m.AddedDateTime >= ?13 AND m.AddedDateTime < ?14 ORDER BY k.FirstID DESC, m.ID DESC LIMIT ?15) k UNION ALL SELECT m.ID FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?16 AND m.AddedDateTime < ?17 AND m.ID <= COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY "ItemNo" DESC LIMIT +?18;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 9
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCALAR SUBQUERY 2
--     CO-ROUTINE q
--     SEARCH m USING COVERING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCAN q
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     UNION ALL
--     CO-ROUTINE k
--     SEARCH k USING INTEGER PRIMARY KEY (rowid<?)
--     SCALAR SUBQUERY 5
--     CO-ROUTINE q
--     SEARCH m USING COVERING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCAN q
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN k
--     UNION ALL
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 8
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- of a period, sqlite
SELECT (SELECT COUNT(*) FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?1 AND m.AddedDateTime < ?2 AND m.RecID >= ?3 AND m.RecID < ?4 AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0)) + (SELECT COUNT(*) FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?5 AND m.AddedDateTime < ?6 AND m.ID <= COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 2
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCALAR SUBQUERY 1
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 3
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of a period, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [AddedDateTime] >= CAST(@p1 AS datetime2(7)) AND [AddedDateTime] < CAST(@p2 AS datetime2(7)) AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p3 AS datetime2(7)) AND m.AddedDateTime < CAST(@p4 AS datetime2(7)) AND m.RecID >= @p5 AND m.RecID < @p6 AND m.RecID < CASE WHEN (SELECT COUNT(*) FROM (SELECT TOP 1001 1 AS one FROM [whd].SY_WebhookMessage m WHERE 1 = 1 AND m.RecID >= @p7 AND m.RecID < @p8) q) <= 1000 THEN '~' ELSE '' END ORDER BY m.RecID OFFSET 0 ROWS FETCH NEXT 1000 ROWS ONLY) k UNION ALL SELECT k.ID FROM (SELECT m.ID FROM [whd].WH_MessageBlock k CROSS APPLY (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID >= k.FirstID AND m.ID <= k.LastID AND m.AddedDateTime >= CAST(@p9 AS datetime2(7)) AND m.AddedDateTime < CAST(@p10 AS datetime2(7)) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p11 ROWS ONLY) m WHERE 1 = 1 AND k.FirstID <= CASE WHEN (SELECT COUNT(*) FROM (SELECT TOP 1001 1 AS one FROM [whd].SY_WebhookMessage m WHERE 1 = 1 AND m.RecID >= @p12 AND m.RecID < @p13) q) <= 1000 THEN 0 ELSE CAST(9223372036854775807 AS bigint) END AND k.AddedUntil >= CAST(@p14 AS datetime2(7)) AND k.AddedSince <= CAST(@p15 AS datetime2(7)) AND k.FirstID >= ISNULL((SELECT k.FirstID FROM [whd].WH_MessageBlock k CROSS APPLY (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.ID >= k.FirstID AND m.ID <= k.LastID AND m.AddedDateTime >= CAST(@p16 AS datetime2(7)) AND m.AddedDateTime < CAST(@p17 AS datetime2(7)) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p18 ROWS ONLY) m WHERE 1 = 1 AND k.FirstID <= CASE WHEN (SELECT COUNT(*) FROM (SELECT TOP 1001 1 AS one FROM [whd].SY_WebhookMessage m WHERE 1 = 1 AND m.RecID >= @p19 AND m.RecID < @p20) q) <= 1000 THEN 0 ELSE CAST(9223372036854775807 AS bigint) END AND k.AddedUntil >= CAST(@p21 AS datetime2(7)) AND k.AddedSince <= CAST(@p22 AS datetime2(7)) ORDER BY k.FirstID DESC OFFSET @p23 ROWS FETCH NEXT 1 ROWS ONLY), 0) AND k.FirstID <= CAST(9223372036854775807 AS bigint) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p24 ROWS ONLY) k UNION ALL SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p25 AS datetime2(7)) AND m.AddedDateTime < CAST(@p26 AS datetime2(7)) AND m.ID <= ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY [ItemNo] + 0 DESC OFFSET @p27 ROWS FETCH NEXT @p28 ROWS ONLY OPTION (OPTIMIZE FOR (@p27 = 0, @p28 = 100));
-- of a period, tsql
SELECT (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p1 AS datetime2(7)) AND m.AddedDateTime < CAST(@p2 AS datetime2(7)) AND m.RecID >= @p3 AND m.RecID < @p4 AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0)) + (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p5 AS datetime2(7)) AND m.AddedDateTime < CAST(@p6 AS datetime2(7)) AND m.ID <= ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0);

-- of a period by time, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "AddedDateTime" >= ?1 AND "AddedDateTime" < ?2 AND "ItemNo" IN (SELECT m.ID FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?3 AND m.AddedDateTime < ?4 AND m.RecID >= ?5 AND m.RecID < ?6 AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.RecID >= substr(COALESCE((SELECT m.RecID FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?7 AND m.AddedDateTime < ?8 AND m.RecID >= ?9 AND m.RecID < ?10 AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) ORDER BY m.RecID DESC LIMIT 1 OFFSET ?11), ''), 1, 13) UNION ALL SELECT m.ID FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?12 AND m.AddedDateTime < ?13 AND m.ID <= COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY "AddedDateTime" DESC, "ItemNo" DESC LIMIT +?14;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 6
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCALAR SUBQUERY 1
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SCALAR SUBQUERY 3
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCALAR SUBQUERY 2
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     UNION ALL
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 5
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     USE TEMP B-TREE FOR ORDER BY
-- of a period by time, sqlite
SELECT (SELECT COUNT(*) FROM SY_WebhookMessage m INDEXED BY UQ_SY_WebhookMessage_RecID CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?1 AND m.AddedDateTime < ?2 AND m.RecID >= ?3 AND m.RecID < ?4 AND m.ID + 0 > COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0)) + (SELECT COUNT(*) FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= ?5 AND m.AddedDateTime < ?6 AND m.ID <= COALESCE((SELECT i.Next FROM WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 2
--     SEARCH m USING INDEX UQ_SY_WebhookMessage_RecID (RecID>? AND RecID<?)
--     SCALAR SUBQUERY 1
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 3
--     SEARCH i USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of a period by time, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [AddedDateTime] >= CAST(@p1 AS datetime2(7)) AND [AddedDateTime] < CAST(@p2 AS datetime2(7)) AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p3 AS datetime2(7)) AND m.AddedDateTime < CAST(@p4 AS datetime2(7)) AND m.RecID >= @p5 AND m.RecID < @p6 AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.RecID >= SUBSTRING(ISNULL((SELECT m.RecID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p7 AS datetime2(7)) AND m.AddedDateTime < CAST(@p8 AS datetime2(7)) AND m.RecID >= @p9 AND m.RecID < @p10 AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) ORDER BY m.RecID DESC OFFSET @p11 ROWS FETCH NEXT 1 ROWS ONLY), ''), 1, 13) AND m.RecID < '~' ORDER BY m.RecID DESC OFFSET 0 ROWS FETCH NEXT (SELECT n.Next FROM [whd].WH_Number n WHERE n.Name = 'ID') ROWS ONLY) k UNION ALL SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p12 AS datetime2(7)) AND m.AddedDateTime < CAST(@p13 AS datetime2(7)) AND m.ID <= ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0) ORDER BY [AddedDateTime] DESC, [ItemNo] + 0 DESC OFFSET @p14 ROWS FETCH NEXT @p15 ROWS ONLY OPTION (OPTIMIZE FOR (@p14 = 0, @p15 = 100));
-- of a period by time, tsql
SELECT (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p1 AS datetime2(7)) AND m.AddedDateTime < CAST(@p2 AS datetime2(7)) AND m.RecID >= @p3 AND m.RecID < @p4 AND m.ID + 0 > ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0)) + (SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.AddedDateTime >= CAST(@p5 AS datetime2(7)) AND m.AddedDateTime < CAST(@p6 AS datetime2(7)) AND m.ID <= ISNULL((SELECT i.Next FROM [whd].WH_Number i WHERE i.Name = 'ImportedMessage'), 0) AND m.ID >= 0);

-- failed of a subscriber since a time, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "Status" = ?1 AND "SubscriberID" = ?2 AND "AddedDateTime" >= ?3 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?4 AND m.AddedDateTime >= ?5 AND m.Status = 3 AND m.ID >= COALESCE((SELECT m.ID FROM SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.AddedDateTime >= ?6 AND m.Status = 3 ORDER BY m.ID DESC LIMIT 1 OFFSET ?7), 0) ORDER BY m.ID DESC LIMIT ?8) k) ORDER BY "ItemNo" DESC LIMIT +?9;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 3
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Failed (SubscriptionID=? AND ID>?)
--     CORRELATED SCALAR SUBQUERY 1
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Failed (SubscriptionID=?)
--     USE TEMP B-TREE FOR ORDER BY
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- failed of a subscriber since a time, sqlite
SELECT COUNT(*) FROM SY_WebhookMessage m JOIN SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = ?1 AND m.AddedDateTime >= ?2 AND m.Status = 3;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH s USING COVERING INDEX IX_SY_WebhookSubscription_Subscriber (SubscriberID=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Failed (SubscriptionID=?)
-- failed of a subscriber since a time, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [Status] = @p1 AND [SubscriberID] = @p2 AND [AddedDateTime] >= CAST(@p3 AS datetime2(7)) AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p4 AND m.AddedDateTime >= CAST(@p5 AS datetime2(7)) AND m.Status = 3 AND m.ID >= ISNULL((SELECT m.ID FROM [whd].SY_WebhookMessage m WHERE m.SubscriptionID = s.ID AND m.AddedDateTime >= CAST(@p6 AS datetime2(7)) AND m.Status = 3 ORDER BY m.ID DESC OFFSET @p7 ROWS FETCH NEXT 1 ROWS ONLY), 0) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p8 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p9 ROWS FETCH NEXT @p10 ROWS ONLY OPTION (OPTIMIZE FOR (@p9 = 0, @p10 = 100));
-- failed of a subscriber since a time, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE b.RecID = @p1 AND m.AddedDateTime >= CAST(@p2 AS datetime2(7)) AND m.Status = 3;

-- by key, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "EventKey" = ?1 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.EventKey = ?2 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY m.ID DESC LIMIT ?3) k) ORDER BY "ItemNo" DESC LIMIT +?4;
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=? AND ID=?)
--     LIST SUBQUERY 2
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- by key, sqlite
SELECT COUNT(*) FROM SY_WebhookMessage m CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.EventKey = ?1 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID;
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- by key, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [EventKey] = @p1 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE m.EventKey = @p2 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p3 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p4 ROWS FETCH NEXT @p5 ROWS ONLY OPTION (OPTIMIZE FOR (@p4 = 0, @p5 = 100));
-- by key, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE m.EventKey = @p1 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID;

-- of an event, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "EventName" = ?1 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM WH_EventBlock k CROSS JOIN SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE k.EventName = ?2 AND m.ID >= k.Block * 128 AND m.ID < k.Block * 128 + 128 AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?3 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY k.Block DESC, m.ID DESC LIMIT ?4) k UNION ALL SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.ID > (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?5 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY m.ID DESC LIMIT ?6) k) ORDER BY "ItemNo" DESC LIMIT +?7;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 6
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     CO-ROUTINE k
--     SEARCH k USING PRIMARY KEY (EventName=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 1
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN k
--     UNION ALL
--     CO-ROUTINE k
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 4
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN k
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- of an event, sqlite
SELECT (SELECT COUNT(*) FROM WH_EventBlock k CROSS JOIN SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE k.EventName = ?1 AND m.ID >= k.Block * 128 AND m.ID < k.Block * 128 + 128 AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?2 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID) + (SELECT COUNT(*) FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.ID > (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?3 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 2
--     SEARCH k USING PRIMARY KEY (EventName=?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 1
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 3
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of an event, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [EventName] = @p1 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID) m WHERE e.EventName = @p2 AND e.EventID >= ISNULL((SELECT e.EventID FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID) m WHERE e.EventName = @p3 ORDER BY e.EventID DESC OFFSET @p4 ROWS FETCH NEXT 1 ROWS ONLY), 0) AND e.EventID <= CAST(9223372036854775807 AS bigint) ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p5 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p6 ROWS FETCH NEXT @p7 ROWS ONLY OPTION (OPTIMIZE FOR (@p6 = 0, @p7 = 100));
-- of an event, tsql
SELECT CASE WHEN (SELECT COUNT(*) FROM (SELECT TOP 1001 1 AS one FROM [whd].WH_Event e WHERE e.EventName = @p1) q) <= 1000 THEN (SELECT COUNT_BIG(*) FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID) m WHERE e.EventName = @p2) ELSE (SELECT COUNT_BIG(*) FROM [whd].WH_Event e JOIN [whd].SY_WebhookMessage m ON m.EventID = e.EventID JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE e.EventName = @p3) END;

-- of an event, from an ID on, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "EventName" = ?1 AND "ItemNo" > ?2 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM WH_EventBlock k CROSS JOIN SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE k.EventName = ?3 AND k.Block >= ?4 / 128 AND m.ID >= k.Block * 128 AND m.ID < k.Block * 128 + 128 AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?5 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID > ?6 ORDER BY k.Block, m.ID LIMIT ?7) k UNION ALL SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.ID > (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?8 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID > ?9 ORDER BY m.ID LIMIT ?10) k) ORDER BY "ItemNo" LIMIT +?11;
--     SEARCH m USING INTEGER PRIMARY KEY (rowid=?)
--     LIST SUBQUERY 6
--     COMPOUND QUERY
--     LEFT-MOST SUBQUERY
--     CO-ROUTINE k
--     SEARCH k USING PRIMARY KEY (EventName=? AND Block>?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 1
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN k
--     UNION ALL
--     CO-ROUTINE k
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 4
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCAN k
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of an event, from an ID on, sqlite
SELECT (SELECT COUNT(*) FROM WH_EventBlock k CROSS JOIN SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE k.EventName = ?1 AND k.Block >= ?2 / 128 AND m.ID >= k.Block * 128 AND m.ID < k.Block * 128 + 128 AND m.ID <= (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?3 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID > ?4) + (SELECT COUNT(*) FROM SY_WebhookMessage m NOT INDEXED CROSS JOIN WH_Event e CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE m.ID > (SELECT Next FROM WH_Number WHERE Name = 'NamedMessage') AND e.EventID = m.EventID AND e.EventName = ?5 AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID AND m.ID > ?6);
--     SCAN CONSTANT ROW
--     SCALAR SUBQUERY 2
--     SEARCH k USING PRIMARY KEY (EventName=? AND Block>?)
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)
--     SCALAR SUBQUERY 1
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
--     SCALAR SUBQUERY 4
--     SEARCH m USING INTEGER PRIMARY KEY (rowid>?)
--     SCALAR SUBQUERY 3
--     SEARCH WH_Number USING INDEX sqlite_autoindex_WH_Number_1 (Name=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING INTEGER PRIMARY KEY (rowid=?)
-- of an event, from an ID on, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [EventName] = @p1 AND [ItemNo] > @p2 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID AND m.ID > @p3) m WHERE e.EventName = @p4 AND e.EventID >= ISNULL((SELECT MAX(n.EventID) FROM [whd].WH_Event n WHERE n.EventID <= @p5), 0) AND e.EventID <= ISNULL((SELECT e.EventID FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID AND m.ID > @p6) m WHERE e.EventName = @p7 AND e.EventID >= ISNULL((SELECT MAX(n.EventID) FROM [whd].WH_Event n WHERE n.EventID <= @p8), 0) ORDER BY e.EventID OFFSET @p9 ROWS FETCH NEXT 1 ROWS ONLY), CAST(9223372036854775807 AS bigint)) AND e.EventID >= 0 ORDER BY m.ID OFFSET 0 ROWS FETCH NEXT @p10 ROWS ONLY) k) ORDER BY [ItemNo] + 0 OFFSET @p11 ROWS FETCH NEXT @p12 ROWS ONLY OPTION (OPTIMIZE FOR (@p11 = 0, @p12 = 100));
-- of an event, from an ID on, tsql
SELECT CASE WHEN (SELECT COUNT(*) FROM (SELECT TOP 1001 1 AS one FROM [whd].WH_Event e WHERE e.EventName = @p1) q) <= 1000 THEN (SELECT COUNT_BIG(*) FROM [whd].WH_Event e CROSS APPLY (SELECT TOP 2147483647 m.ID FROM [whd].SY_WebhookMessage m JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE m.EventID = e.EventID AND m.ID > @p2) m WHERE e.EventName = @p3 AND e.EventID >= ISNULL((SELECT MAX(n.EventID) FROM [whd].WH_Event n WHERE n.EventID <= @p4), 0)) ELSE (SELECT COUNT_BIG(*) FROM [whd].WH_Event e JOIN [whd].SY_WebhookMessage m ON m.EventID = e.EventID JOIN [whd].SY_WebhookSubscription s ON s.ID = m.SubscriptionID JOIN [whd].SY_WebhookSubscriber b ON b.ID = s.SubscriberID WHERE e.EventName = @p5 AND e.EventID >= ISNULL((SELECT MAX(n.EventID) FROM [whd].WH_Event n WHERE n.EventID <= @p6), 0) AND m.ID > @p7) END;

-- by key, failed or retrying, of a subscriber, sqlite
SELECT "ItemNo" FROM WH_MessageView WHERE "EventKey" = ?1 AND "Status" IN (?2, ?3) AND "SubscriberID" = ?4 AND "ItemNo" IN (SELECT k.ID FROM (SELECT m.ID FROM SY_WebhookMessage m CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE b.RecID = ?5 AND m.EventKey = ?6 AND m.Status IN (3, 2) AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY m.ID DESC LIMIT ?7) k) ORDER BY "ItemNo" DESC LIMIT +?8;
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=?)
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=? AND ID=?)
--     LIST SUBQUERY 2
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
-- by key, failed or retrying, of a subscriber, sqlite
SELECT COUNT(*) FROM SY_WebhookMessage m CROSS JOIN SY_WebhookSubscription s CROSS JOIN SY_WebhookSubscriber b WHERE b.RecID = ?1 AND m.EventKey = ?2 AND m.Status IN (3, 2) AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID;
--     SEARCH m USING INDEX IX_SY_WebhookMessage_Key (EventKey=?)
--     SEARCH s USING INTEGER PRIMARY KEY (rowid=?)
--     SEARCH b USING COVERING INDEX sqlite_autoindex_SY_WebhookSubscriber_1 (RecID=? AND rowid=?)
-- by key, failed or retrying, of a subscriber, tsql
SELECT [ItemNo] FROM [whd].[WH_MessageView] WHERE [EventKey] = @p1 AND [Status] IN (@p2, @p3) AND [SubscriberID] = @p4 AND [ItemNo] IN (SELECT k.ID FROM (SELECT m.ID FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE b.RecID = @p5 AND m.EventKey = @p6 AND m.Status IN (3, 2) AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID ORDER BY m.ID DESC OFFSET 0 ROWS FETCH NEXT @p7 ROWS ONLY) k) ORDER BY [ItemNo] + 0 DESC OFFSET @p8 ROWS FETCH NEXT @p9 ROWS ONLY OPTION (OPTIMIZE FOR (@p8 = 0, @p9 = 100));
-- by key, failed or retrying, of a subscriber, tsql
SELECT COUNT_BIG(*) FROM [whd].SY_WebhookMessage m CROSS JOIN [whd].SY_WebhookSubscription s CROSS JOIN [whd].SY_WebhookSubscriber b WHERE b.RecID = @p1 AND m.EventKey = @p2 AND m.Status IN (3, 2) AND s.ID = m.SubscriptionID AND b.ID = s.SubscriberID;

