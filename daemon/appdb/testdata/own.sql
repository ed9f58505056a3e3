== SQLite

SELECT u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime FROM WH_User u WHERE u.UserKey = @UserKey
  @UserKey = "ann"
SELECT u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime FROM WH_User u ORDER BY u.UserKey
BEGIN
INSERT INTO WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved
  @RecID = "id"
  @UserName = "Ann"
  @UserKey = "ann"
  @DisplayName = "Ann Other"
  @Role = "admin"
  @PasswordHash = "hash"
  @Added = "2030-01-02T12:00:00.1234567"
  @Saved = "2030-01-02T12:00:00.1234567"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
INSERT INTO WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved WHERE NOT EXISTS (SELECT 1 FROM WH_User)
  @RecID = "id"
  @UserName = "Ann"
  @UserKey = "ann"
  @DisplayName = "Ann Other"
  @Role = "admin"
  @PasswordHash = "hash"
  @Added = "2030-01-02T12:00:00.1234567"
  @Saved = "2030-01-02T12:00:00.1234567"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
UPDATE WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
UPDATE WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR (Role <> 'admin' OR EXISTS (SELECT 1 FROM WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey)))
  @DisplayName = "Ann Other"
  @Role = <nil>
  @PasswordHash = <nil>
  @Saved = "2030-01-02T12:00:00.1234567"
  @UserKey = "ann"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
UPDATE WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
UPDATE WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR (Role <> 'admin' OR EXISTS (SELECT 1 FROM WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey)))
  @DisplayName = <nil>
  @Role = "reader"
  @PasswordHash = "hash"
  @Saved = "2030-01-02T12:00:00.1234567"
  @UserKey = "ann"
DELETE FROM WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM WH_User WHERE UserKey = @UserKey)
  @UserKey = "ann"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
UPDATE WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
DELETE FROM WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM WH_User WHERE UserKey = @UserKey)
  @UserKey = "ann"
DELETE FROM WH_User WHERE UserKey = @UserKey AND (Role <> 'admin' OR EXISTS (SELECT 1 FROM WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey))
  @UserKey = "ann"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
UPDATE WH_User SET PasswordHash = @PasswordHash WHERE UserKey = @UserKey AND PasswordHash = @Was
  @PasswordHash = "another hash"
  @UserKey = "ann"
  @Was = "hash"
SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime, u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime
FROM WH_Session s JOIN WH_User u ON u.RecID = s.WH_User_RecID WHERE s.SessionHash = @SessionHash
  @SessionHash = "s"
BEGIN
UPDATE WH_User SET Role = Role WHERE RecID = @UserID AND PasswordHash = @PasswordHash
  @UserID = "id"
  @PasswordHash = "hash"
INSERT INTO WH_Session (SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime)
VALUES (@SessionHash, @UserID, @IsRemembered, @Added, @Expires)
  @SessionHash = "s"
  @UserID = "id"
  @IsRemembered = true
  @Added = "2030-01-02T12:00:00.1234567"
  @Expires = "2030-01-02T12:00:00.1234567"
COMMIT
DELETE FROM WH_Session WHERE SessionHash = @SessionHash
  @SessionHash = "s"
DELETE FROM WH_Session WHERE SessionHash IN (
	SELECT s.SessionHash FROM WH_Session s WHERE s.ExpiryDateTime < @Before ORDER BY s.SessionHash)
  @Before = "2030-01-02T12:00:00.1234567"
  @Limit = 1000
SELECT k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime FROM WH_ApiKey k WHERE k.KeyHash = @KeyHash
  @KeyHash = "k"
SELECT k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime FROM WH_ApiKey k WHERE k.ExpiryDateTime IS NULL OR k.ExpiryDateTime <> @Revoked ORDER BY k.NameKey
  @Revoked = "1970-01-01T00:00:00.0000000"
BEGIN
DELETE FROM WH_ApiKey WHERE KeyHash = @KeyHash AND ExpiryDateTime = @Revoked
  @KeyHash = "k"
  @Revoked = "1970-01-01T00:00:00.0000000"
INSERT INTO WH_ApiKey (RecID, Name, NameKey, KeyHash, Role, AddedDateTime, ExpiryDateTime)
VALUES (@RecID, @Name, @NameKey, @KeyHash, @Role, @Added, @Expires)
  @RecID = "id"
  @Name = "Till"
  @NameKey = "till"
  @KeyHash = "k"
  @Role = "writer"
  @Added = "2030-01-02T12:00:00.1234567"
  @Expires = <nil>
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
UPDATE WH_ApiKey SET NameKey = @Unused, ExpiryDateTime = @Revoked WHERE RecID = @RecID AND NameKey <> @Unused
  @RecID = "id"
  @Unused = " id"
  @Revoked = "1970-01-01T00:00:00.0000000"
INSERT INTO WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
UPDATE WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At
  @SessionHash = "a"
  @At = "2030-01-02T12:00:00.1234567"
UPDATE WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At
  @SessionHash = "b"
  @At = "2030-01-02T12:00:00.1234567"
UPDATE WH_ApiKey SET LastUsedDateTime = @At WHERE RecID = @RecID AND (LastUsedDateTime IS NULL OR LastUsedDateTime < @At)
  @RecID = "id"
  @At = "2030-01-02T12:00:00.1234567"
COMMIT

== SQL Server

SET LOCK_TIMEOUT 10000; SELECT u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime FROM [whd].WH_User u WHERE u.UserKey = @UserKey
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; SELECT u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime FROM [whd].WH_User u ORDER BY u.UserKey
BEGIN
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved
  @RecID = "id"
  @UserName = "Ann"
  @UserKey = "ann"
  @DisplayName = "Ann Other"
  @Role = "admin"
  @PasswordHash = "hash"
  @Added = "2030-01-02T12:00:00.1234567"
  @Saved = "2030-01-02T12:00:00.1234567"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved WHERE NOT EXISTS (SELECT 1 FROM [whd].WH_User)
  @RecID = "id"
  @UserName = "Ann"
  @UserKey = "ann"
  @DisplayName = "Ann Other"
  @Role = "admin"
  @PasswordHash = "hash"
  @Added = "2030-01-02T12:00:00.1234567"
  @Saved = "2030-01-02T12:00:00.1234567"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR (Role <> 'admin' OR EXISTS (SELECT 1 FROM [whd].WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey)))
  @DisplayName = "Ann Other"
  @Role = <nil>
  @PasswordHash = <nil>
  @Saved = "2030-01-02T12:00:00.1234567"
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR (Role <> 'admin' OR EXISTS (SELECT 1 FROM [whd].WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey)))
  @DisplayName = <nil>
  @Role = "reader"
  @PasswordHash = "hash"
  @Saved = "2030-01-02T12:00:00.1234567"
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM [whd].WH_User WHERE UserKey = @UserKey)
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM [whd].WH_User WHERE UserKey = @UserKey)
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_User WHERE UserKey = @UserKey AND (Role <> 'admin' OR EXISTS (SELECT 1 FROM [whd].WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey))
  @UserKey = "ann"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET PasswordHash = @PasswordHash WHERE UserKey = @UserKey AND PasswordHash = @Was
  @PasswordHash = "another hash"
  @UserKey = "ann"
  @Was = "hash"
SET LOCK_TIMEOUT 10000; SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime, u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime
FROM [whd].WH_Session s JOIN [whd].WH_User u ON u.RecID = s.WH_User_RecID WHERE s.SessionHash = @SessionHash
  @SessionHash = "s"
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_User SET Role = Role WHERE RecID = @UserID AND PasswordHash = @PasswordHash
  @UserID = "id"
  @PasswordHash = "hash"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Session (SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime)
VALUES (@SessionHash, @UserID, @IsRemembered, @Added, @Expires)
  @SessionHash = "s"
  @UserID = "id"
  @IsRemembered = true
  @Added = "2030-01-02T12:00:00.1234567"
  @Expires = "2030-01-02T12:00:00.1234567"
COMMIT
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_Session WHERE SessionHash = @SessionHash
  @SessionHash = "s"
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_Session WHERE SessionHash IN (
	SELECT s.SessionHash FROM [whd].WH_Session s WHERE s.ExpiryDateTime < @Before ORDER BY s.SessionHash)
  @Before = "2030-01-02T12:00:00.1234567"
  @Limit = 1000
SET LOCK_TIMEOUT 10000; SELECT k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime FROM [whd].WH_ApiKey k WHERE k.KeyHash = @KeyHash
  @KeyHash = "k"
SET LOCK_TIMEOUT 10000; SELECT k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime FROM [whd].WH_ApiKey k WHERE k.ExpiryDateTime IS NULL OR k.ExpiryDateTime <> @Revoked ORDER BY k.NameKey
  @Revoked = "1970-01-01T00:00:00.0000000"
BEGIN
SET LOCK_TIMEOUT 10000; DELETE FROM [whd].WH_ApiKey WHERE KeyHash = @KeyHash AND ExpiryDateTime = @Revoked
  @KeyHash = "k"
  @Revoked = "1970-01-01T00:00:00.0000000"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_ApiKey (RecID, Name, NameKey, KeyHash, Role, AddedDateTime, ExpiryDateTime)
VALUES (@RecID, @Name, @NameKey, @KeyHash, @Role, @Added, @Expires)
  @RecID = "id"
  @Name = "Till"
  @NameKey = "till"
  @KeyHash = "k"
  @Role = "writer"
  @Added = "2030-01-02T12:00:00.1234567"
  @Expires = <nil>
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_ApiKey SET NameKey = @Unused, ExpiryDateTime = @Revoked WHERE RecID = @RecID AND NameKey <> @Unused
  @RecID = "id"
  @Unused = " id"
  @Revoked = "1970-01-01T00:00:00.0000000"
SET LOCK_TIMEOUT 10000; INSERT INTO [whd].WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)
  @Added = "2030-01-02T12:00:00.1234567"
  @UserName = "ann"
  @Via = "cookie"
  @Address = "10.0.0.9"
  @Action = "user add"
  @Subject = "Ann"
  @Detail = "Role=admin"
COMMIT
BEGIN
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At
  @SessionHash = "a"
  @At = "2030-01-02T12:00:00.1234567"
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At
  @SessionHash = "b"
  @At = "2030-01-02T12:00:00.1234567"
SET LOCK_TIMEOUT 10000; UPDATE [whd].WH_ApiKey SET LastUsedDateTime = @At WHERE RecID = @RecID AND (LastUsedDateTime IS NULL OR LastUsedDateTime < @At)
  @RecID = "id"
  @At = "2030-01-02T12:00:00.1234567"
COMMIT

