package appdb

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
)

// Accounts stores users, sessions and API keys.
type Accounts struct{ db *DB }

const userColumns = `u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash,` +
	` u.AddedDateTime, u.LastSavedDateTime`

// User returns a user by folded name, or nil.
func (a *Accounts) User(ctx context.Context, name string) (*account.User, error) {
	const statement = `SELECT ` + userColumns + ` FROM whd.WH_User u WHERE u.UserKey = @UserKey`
	u, err := QueryOne(ctx, a.db, scanUser, statement, sql.Named("UserKey", name))
	return u, a.db.Fault(err, "finding a user")
}

// Users returns all users ordered by name.
func (a *Accounts) Users(ctx context.Context) ([]account.User, error) {
	const statement = `SELECT ` + userColumns + ` FROM whd.WH_User u ORDER BY u.UserKey`
	users, err := QueryAll(ctx, a.db, scanUser, statement)
	return users, a.db.Fault(err, "listing users")
}

const insertUser = `INSERT INTO whd.WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash,` +
	` AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved`

func userArgs(u account.User) []any {
	return []any{
		sql.Named("RecID", u.ID),
		sql.Named("UserName", u.Name),
		sql.Named("UserKey", account.Fold(u.Name)),
		sql.Named("DisplayName", u.DisplayName),
		sql.Named("Role", u.Role.String()),
		sql.Named("PasswordHash", u.PasswordHash),
		sql.Named("Added", Timestamp(u.Added)),
		sql.Named("Saved", Timestamp(u.Saved)),
	}
}

// AddUser adds a user. It fails with Conflict if the name is taken.
func (a *Accounts) AddUser(ctx context.Context, u account.User, e audit.Entry) error {
	_, err := a.db.Run(ctx, MustAffect(insertUser, userArgs(u)...), AuditStep(e))
	if executor.IsDuplicate(err) {
		return conflict("UserName", "A user of this name already exists")
	}
	return a.db.Fault(err, "adding a user")
}

func conflict(member, message string) error {
	return &fault.Error{
		Kind:    fault.Conflict,
		Message: message,
		Fields:  []fault.Field{{Name: member, Message: "is taken"}},
	}
}

// AddFirstUser adds a user if there are no users, and reports whether it did.
func (a *Accounts) AddFirstUser(ctx context.Context, u account.User, e audit.Entry) (bool, error) {
	const statement = insertUser + ` WHERE NOT EXISTS (SELECT 1 FROM whd.WH_User)`
	added, err := a.db.Run(ctx, MustAffect(statement, userArgs(u)...), AuditStep(e))
	if executor.IsDuplicate(err) {
		return false, nil
	}
	return added, a.db.Fault(err, "adding the first user")
}

// anotherAdmin is the condition that an admin is left after the removal of a user.
const anotherAdmin = `(Role <> 'admin' OR EXISTS (` +
	`SELECT 1 FROM whd.WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey))`

const updateUser = `UPDATE whd.WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR ` + anotherAdmin + `)`

// lockUsers changes nothing, but serializes transactions on the same user and those
// that may remove an admin. Otherwise two of them could each rely on the admin that
// the other removes.
const lockUsers = `UPDATE whd.WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'`

const deleteUserSessions = `DELETE FROM whd.WH_Session WHERE WH_User_RecID IN (` +
	`SELECT RecID FROM whd.WH_User WHERE UserKey = @UserKey)`

// ChangeUser changes a user, and ends the user's sessions if the password changes.
func (a *Accounts) ChangeUser(
	ctx context.Context, name string, c account.Change, e audit.Entry,
) (bool, error) {
	key := sql.Named("UserKey", name)
	var role sql.NullString
	if c.Role != nil {
		role = sql.NullString{String: c.Role.String(), Valid: true}
	}
	update := MustAffect(updateUser,
		sql.Named("DisplayName", nullableText(c.DisplayName)),
		sql.Named("Role", role),
		sql.Named("PasswordHash", nullableText(c.PasswordHash)),
		sql.Named("Saved", Timestamp(e.At)),
		key)
	steps := []Step{Statement(lockUsers, key), update}
	if c.PasswordHash != nil {
		steps = append(steps, Statement(deleteUserSessions, key))
	}
	changed, err := a.db.Run(ctx, append(steps, AuditStep(e))...)
	return changed, a.db.Fault(err, "changing a user")
}

// Rehash replaces the hash of an unchanged password. LastSavedDateTime stays, since
// the user did not change.
func (a *Accounts) Rehash(ctx context.Context, name, old, hash string) error {
	const statement = `UPDATE whd.WH_User SET PasswordHash = @PasswordHash` +
		` WHERE UserKey = @UserKey AND PasswordHash = @Was`
	_, err := a.db.Exec(ctx, statement,
		sql.Named("PasswordHash", hash),
		sql.Named("UserKey", name),
		sql.Named("Was", old))
	return a.db.Fault(err, "storing a password's new hash")
}

// RemoveUser removes a user and the user's sessions.
func (a *Accounts) RemoveUser(ctx context.Context, name string, e audit.Entry) (bool, error) {
	key := sql.Named("UserKey", name)
	removed, err := a.db.Run(ctx,
		Statement(lockUsers, key),
		Statement(deleteUserSessions, key),
		MustAffect(`DELETE FROM whd.WH_User WHERE UserKey = @UserKey AND `+anotherAdmin, key),
		AuditStep(e))
	return removed, a.db.Fault(err, "removing a user")
}

// Session returns a session by its hash, or nil.
func (a *Accounts) Session(ctx context.Context, hash string) (*account.Session, error) {
	const statement = `SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime, ` +
		userColumns + `
FROM whd.WH_Session s JOIN whd.WH_User u ON u.RecID = s.WH_User_RecID` +
		` WHERE s.SessionHash = @SessionHash`
	s, err := QueryOne(ctx, a.db, scanSession, statement, sql.Named("SessionHash", hash))
	return s, a.db.Fault(err, "finding a session")
}

// AddSession adds a session if the user's password has not changed. It
// locks the user first: a concurrent change of the password either ends this
// session too, or is already visible.
func (a *Accounts) AddSession(ctx context.Context, s account.Session) (bool, error) {
	const (
		lockUser = `UPDATE whd.WH_User SET Role = Role` +
			` WHERE RecID = @UserID AND PasswordHash = @PasswordHash`
		addSession = `INSERT INTO whd.WH_Session (SessionHash, WH_User_RecID, IsRemembered,` +
			` AddedDateTime, ExpiryDateTime)
VALUES (@SessionHash, @UserID, @IsRemembered, @Added, @Expires)`
	)
	added, err := a.db.Run(ctx,
		MustAffect(lockUser,
			sql.Named("UserID", s.User.ID),
			sql.Named("PasswordHash", s.User.PasswordHash)),
		MustAffect(addSession,
			sql.Named("SessionHash", s.Hash),
			sql.Named("UserID", s.User.ID),
			sql.Named("IsRemembered", s.Remember),
			sql.Named("Added", Timestamp(s.Added)),
			sql.Named("Expires", Timestamp(s.Expires))))
	return added, a.db.Fault(err, "adding a session")
}

// RemoveSession ends a session.
func (a *Accounts) RemoveSession(ctx context.Context, hash string) error {
	_, err := a.db.Exec(ctx, `DELETE FROM whd.WH_Session WHERE SessionHash = @SessionHash`,
		sql.Named("SessionHash", hash))
	return a.db.Fault(err, "removing a session")
}

// UserSessions returns the sessions of a user, without the user.
func (a *Accounts) UserSessions(ctx context.Context, userID string) ([]account.Session, error) {
	scan := func(row Row) (s account.Session, err error) {
		err = row.Scan(&s.Hash, &s.Remember, (*Time)(&s.Added), (*Time)(&s.Expires))
		return s, err
	}
	const statement = `SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime
FROM whd.WH_Session s WHERE s.WH_User_RecID = @UserID`
	sessions, err := QueryAll(ctx, a.db, scan, statement, sql.Named("UserID", userID))
	return sessions, a.db.Fault(err, "listing the sessions of a user")
}

// RemoveSessions ends sessions. All daemons remove them in the same order, which prevents
// deadlocks.
func (a *Accounts) RemoveSessions(ctx context.Context, hashes []string) error {
	const statement = `DELETE FROM whd.WH_Session WHERE SessionHash = @SessionHash`
	sorted := slices.Sorted(slices.Values(hashes))
	for part := range slices.Chunk(sorted, maxRemoved) {
		var steps []Step
		for _, hash := range part {
			steps = append(steps, Statement(statement, sql.Named("SessionHash", hash)))
		}
		if _, err := a.db.Run(ctx, steps...); err != nil {
			return a.db.Fault(err, "removing sessions")
		}
	}
	return nil
}

// EndSession makes a session expire at a time, unless it expires earlier.
func (a *Accounts) EndSession(ctx context.Context, hash string, at time.Time) error {
	const statement = `UPDATE whd.WH_Session SET ExpiryDateTime = @At
WHERE SessionHash = @SessionHash AND ExpiryDateTime > @At`
	_, err := a.db.Exec(ctx, statement,
		sql.Named("SessionHash", hash),
		sql.Named("At", Timestamp(at)))
	return a.db.Fault(err, "ending a session")
}

// maxRemoved is how many sessions a transaction removes: far fewer than the 5,000 locks for
// which SQL Server locks the table.
const maxRemoved = 1000

// RemoveExpired removes the sessions that expired before a time, and returns their
// number.
func (a *Accounts) RemoveExpired(ctx context.Context, before time.Time) (removed int64, err error) {
	statement := `DELETE FROM whd.WH_Session WHERE SessionHash IN (
	SELECT s.SessionHash FROM whd.WH_Session s WHERE s.ExpiryDateTime < @Before` +
		` ORDER BY s.SessionHash` + a.db.Limit + `)`
	for {
		n, err := a.db.Exec(ctx, statement,
			sql.Named("Before", Timestamp(before)),
			sql.Named("Limit", maxRemoved))
		removed += n
		if err != nil || n < maxRemoved {
			return removed, a.db.Fault(err, "removing expired sessions")
		}
	}
}

// revokedExpiry is the expiry of revoked keys. It is in the past for every clock, so that
// earlier builds reject these keys too.
var revokedExpiry = time.Unix(0, 0)

const keyColumns = `k.RecID, k.Name, k.KeyHash, k.Role,` +
	` k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime`

// Key returns an API key by its hash, or nil.
func (a *Accounts) Key(ctx context.Context, hash string) (*account.Key, error) {
	const statement = `SELECT ` + keyColumns + ` FROM whd.WH_ApiKey k WHERE k.KeyHash = @KeyHash`
	k, err := QueryOne(ctx, a.db, scanKey, statement, sql.Named("KeyHash", hash))
	return k, a.db.Fault(err, "finding an API key")
}

// Keys returns all API keys other than revoked ones, ordered by name.
func (a *Accounts) Keys(ctx context.Context) ([]account.Key, error) {
	const statement = `SELECT ` + keyColumns + ` FROM whd.WH_ApiKey k ` +
		`WHERE k.ExpiryDateTime IS NULL OR k.ExpiryDateTime <> @Revoked ORDER BY k.NameKey`
	revoked := sql.Named("Revoked", Timestamp(revokedExpiry))
	keys, err := QueryAll(ctx, a.db, scanKey, statement, revoked)
	return keys, a.db.Fault(err, "listing API keys")
}

// AddKey adds an API key, which may have been revoked. It fails with Conflict if the name
// is taken.
func (a *Accounts) AddKey(ctx context.Context, k account.Key, e audit.Entry) error {
	const (
		deleteRevoked = `DELETE FROM whd.WH_ApiKey` +
			` WHERE KeyHash = @KeyHash AND ExpiryDateTime = @Revoked`
		insertKey = `INSERT INTO whd.WH_ApiKey (RecID, Name, NameKey, KeyHash, Role,` +
			` AddedDateTime, ExpiryDateTime)
VALUES (@RecID, @Name, @NameKey, @KeyHash, @Role, @Added, @Expires)`
	)
	_, err := a.db.Run(ctx,
		Statement(deleteRevoked,
			sql.Named("KeyHash", k.Hash),
			sql.Named("Revoked", Timestamp(revokedExpiry))),
		MustAffect(insertKey,
			sql.Named("RecID", k.ID),
			sql.Named("Name", k.Name),
			sql.Named("NameKey", account.Fold(k.Name)),
			sql.Named("KeyHash", k.Hash),
			sql.Named("Role", k.Role.String()),
			sql.Named("Added", Timestamp(k.Added)),
			sql.Named("Expires", NullableTimestamp(k.Expires))),
		AuditStep(e))
	if executor.IsDuplicate(err) {
		return conflict("Name", "An API key of this name already exists")
	}
	return a.db.Fault(err, "adding an API key")
}

// RemoveKey revokes an API key and reports whether it existed. The row keeps its hash and
// frees its name: names of keys do not begin with a space.
func (a *Accounts) RemoveKey(ctx context.Context, id string, e audit.Entry) (bool, error) {
	const revoke = `UPDATE whd.WH_ApiKey SET NameKey = @Unused, ExpiryDateTime = @Revoked` +
		` WHERE RecID = @RecID AND NameKey <> @Unused`
	removed, err := a.db.Run(ctx,
		MustAffect(revoke,
			sql.Named("RecID", id),
			sql.Named("Unused", " "+id),
			sql.Named("Revoked", Timestamp(revokedExpiry))),
		AuditStep(e))
	return removed, a.db.Fault(err, "removing an API key")
}

// Write stores when sessions expire and when keys were last used. All daemons
// update the rows in the same order, which prevents deadlocks.
func (a *Accounts) Write(ctx context.Context, u account.Uses) error {
	const (
		extendSession = `UPDATE whd.WH_Session SET ExpiryDateTime = @At` +
			` WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At`
		useKey = `UPDATE whd.WH_ApiKey SET LastUsedDateTime = @At` +
			` WHERE RecID = @RecID AND (LastUsedDateTime IS NULL OR LastUsedDateTime < @At)`
	)
	var steps []Step
	for _, hash := range slices.Sorted(maps.Keys(u.Sessions)) {
		steps = append(steps, Statement(extendSession,
			sql.Named("SessionHash", hash),
			sql.Named("At", Timestamp(u.Sessions[hash]))))
	}
	for _, id := range slices.Sorted(maps.Keys(u.Keys)) {
		steps = append(steps, Statement(useKey,
			sql.Named("RecID", id),
			sql.Named("At", Timestamp(u.Keys[id]))))
	}
	_, err := a.db.Run(ctx, steps...)
	return a.db.Fault(err, "writing the uses of accounts")
}

func scanUser(row Row) (account.User, error) { return scanUserAfter(row) }

// scanUserAfter scans the user columns, after the given destinations.
func scanUserAfter(row Row, before ...any) (account.User, error) {
	var u account.User
	destinations := append(before,
		&u.ID, &u.Name, &u.DisplayName, (*roleText)(&u.Role), &u.PasswordHash,
		(*Time)(&u.Added), (*Time)(&u.Saved))
	err := row.Scan(destinations...)
	return u, err
}

func scanSession(row Row) (s account.Session, err error) {
	s.User, err = scanUserAfter(row, &s.Hash, &s.Remember, (*Time)(&s.Added), (*Time)(&s.Expires))
	return s, err
}

func scanKey(row Row) (account.Key, error) {
	var k account.Key
	err := row.Scan(&k.ID, &k.Name, &k.Hash, (*roleText)(&k.Role), (*Time)(&k.Added),
		(*Time)(&k.Expires), (*Time)(&k.LastUsed))
	k.Revoked = k.Expires.Equal(revokedExpiry)
	return k, err
}

// roleText scans a stored role.
type roleText account.Role

func (r *roleText) Scan(value any) error {
	text, _ := value.(string)
	return (*account.Role)(r).UnmarshalText([]byte(text))
}
