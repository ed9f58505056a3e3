package store

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

// Accounts keeps users, sessions and API keys.
type Accounts struct{ own *ownDB }

const userColumns = `u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime`

// User finds a user by folded name.
func (a *Accounts) User(ctx context.Context, name string) (*account.User, error) {
	u, err := found(ctx, a.own, scanUser, `SELECT `+userColumns+` FROM whd.WH_User u WHERE u.UserKey = @UserKey`,
		sql.Named("UserKey", name))
	return u, a.own.fault(err, "finding a user")
}

// Users lists the users by name.
func (a *Accounts) Users(ctx context.Context) ([]account.User, error) {
	all, err := list(ctx, a.own, scanUser, `SELECT `+userColumns+` FROM whd.WH_User u ORDER BY u.UserKey`)
	return all, a.own.fault(err, "listing users")
}

const insertUser = `INSERT INTO whd.WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved`

func userArgs(u account.User) []any {
	return []any{
		sql.Named("RecID", u.ID), sql.Named("UserName", u.Name), sql.Named("UserKey", account.Fold(u.Name)),
		sql.Named("DisplayName", u.DisplayName), sql.Named("Role", u.Role.String()), sql.Named("PasswordHash", u.PasswordHash),
		sql.Named("Added", stamp(u.Added)), sql.Named("Saved", stamp(u.Saved)),
	}
}

// AddUser adds a user whose name is free.
func (a *Accounts) AddUser(ctx context.Context, u account.User, e audit.Entry) error {
	_, err := a.own.run(ctx, step{insertUser, userArgs(u), true}, written(e))
	if executor.IsDuplicate(err) {
		return taken("UserName", "There is a user of this name already")
	}
	return a.own.fault(err, "adding a user")
}

func taken(member, message string) error {
	return &fault.Error{Kind: fault.Conflict, Message: message, Fields: []fault.Field{{Name: member, Message: "is taken"}}}
}

// AddFirstUser adds a user where there is none at all.
func (a *Accounts) AddFirstUser(ctx context.Context, u account.User, e audit.Entry) (bool, error) {
	added, err := a.own.run(ctx, step{insertUser + ` WHERE NOT EXISTS (SELECT 1 FROM whd.WH_User)`, userArgs(u), true}, written(e))
	if executor.IsDuplicate(err) {
		return false, nil
	}
	return added, a.own.fault(err, "adding the first user")
}

// anotherAdmin is true of a user without whom there is an admin still.
const anotherAdmin = `(Role <> 'admin' OR EXISTS (SELECT 1 FROM whd.WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey))`

const updateUser = `UPDATE whd.WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR ` + anotherAdmin + `)`

// lockUsers changes nothing, but makes transactions over the same user, and
// those that may leave no admin, wait for each other. Else two of them could
// each count on the admin that the other one takes away.
const lockUsers = `UPDATE whd.WH_User SET Role = Role WHERE UserKey = @UserKey OR Role = 'admin'`

const deleteUserSessions = `DELETE FROM whd.WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM whd.WH_User WHERE UserKey = @UserKey)`

// ChangeUser changes a user, and ends the user's sessions with the password.
func (a *Accounts) ChangeUser(ctx context.Context, name string, c account.Change, e audit.Entry) (bool, error) {
	key := sql.Named("UserKey", name)
	var role sql.NullString
	if c.Role != nil {
		role = sql.NullString{String: c.Role.String(), Valid: true}
	}
	steps := []step{{lockUsers, []any{key}, false}, {updateUser, []any{
		sql.Named("DisplayName", nullable(c.DisplayName)), sql.Named("Role", role),
		sql.Named("PasswordHash", nullable(c.PasswordHash)), sql.Named("Saved", stamp(e.At)), key,
	}, true}}
	if c.PasswordHash != nil {
		steps = append(steps, step{deleteUserSessions, []any{key}, false})
	}
	changed, err := a.own.run(ctx, append(steps, written(e))...)
	return changed, a.own.fault(err, "changing a user")
}

// Rehash gives a user another hash of the same password. The time of the last
// change stays, since nothing has changed for anybody.
func (a *Accounts) Rehash(ctx context.Context, name, was, hash string) error {
	_, err := a.own.exec(ctx, `UPDATE whd.WH_User SET PasswordHash = @PasswordHash WHERE UserKey = @UserKey AND PasswordHash = @Was`,
		sql.Named("PasswordHash", hash), sql.Named("UserKey", name), sql.Named("Was", was))
	return a.own.fault(err, "storing a password's new hash")
}

// RemoveUser removes a user and the user's sessions.
func (a *Accounts) RemoveUser(ctx context.Context, name string, e audit.Entry) (bool, error) {
	key := sql.Named("UserKey", name)
	removed, err := a.own.run(ctx,
		step{lockUsers, []any{key}, false},
		step{deleteUserSessions, []any{key}, false},
		step{`DELETE FROM whd.WH_User WHERE UserKey = @UserKey AND ` + anotherAdmin, []any{key}, true},
		written(e))
	return removed, a.own.fault(err, "removing a user")
}

// Session finds a session by its hash.
func (a *Accounts) Session(ctx context.Context, hash string) (*account.Session, error) {
	s, err := found(ctx, a.own, scanSession, `SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime, `+userColumns+`
FROM whd.WH_Session s JOIN whd.WH_User u ON u.RecID = s.WH_User_RecID WHERE s.SessionHash = @SessionHash`,
		sql.Named("SessionHash", hash))
	return s, a.own.fault(err, "finding a session")
}

// AddSession adds a session of a user who still has the same password. The user
// is locked first: a change of the password then ends this session too, or
// comes before it.
func (a *Accounts) AddSession(ctx context.Context, s account.Session) (bool, error) {
	added, err := a.own.run(ctx,
		step{`UPDATE whd.WH_User SET Role = Role WHERE RecID = @UserID AND PasswordHash = @PasswordHash`,
			[]any{sql.Named("UserID", s.User.ID), sql.Named("PasswordHash", s.User.PasswordHash)}, true},
		step{`INSERT INTO whd.WH_Session (SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime)
VALUES (@SessionHash, @UserID, @IsRemembered, @Added, @Expires)`,
			[]any{sql.Named("SessionHash", s.Hash), sql.Named("UserID", s.User.ID), sql.Named("IsRemembered", s.Remember),
				sql.Named("Added", stamp(s.Added)), sql.Named("Expires", stamp(s.Expires))}, true})
	return added, a.own.fault(err, "adding a session")
}

// RemoveSession ends a session.
func (a *Accounts) RemoveSession(ctx context.Context, hash string) error {
	_, err := a.own.exec(ctx, `DELETE FROM whd.WH_Session WHERE SessionHash = @SessionHash`, sql.Named("SessionHash", hash))
	return a.own.fault(err, "removing a session")
}

// RemoveExpired removes the sessions that expired before a time.
func (a *Accounts) RemoveExpired(ctx context.Context, before time.Time) (int64, error) {
	n, err := a.own.exec(ctx, `DELETE FROM whd.WH_Session WHERE ExpiryDateTime < @Before`, sql.Named("Before", stamp(before)))
	return n, a.own.fault(err, "removing expired sessions")
}

const keyColumns = `k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime`

// Key finds an API key by its hash.
func (a *Accounts) Key(ctx context.Context, hash string) (*account.Key, error) {
	k, err := found(ctx, a.own, scanKey, `SELECT `+keyColumns+` FROM whd.WH_ApiKey k WHERE k.KeyHash = @KeyHash`,
		sql.Named("KeyHash", hash))
	return k, a.own.fault(err, "finding an API key")
}

// Keys lists the API keys by name.
func (a *Accounts) Keys(ctx context.Context) ([]account.Key, error) {
	all, err := list(ctx, a.own, scanKey, `SELECT `+keyColumns+` FROM whd.WH_ApiKey k ORDER BY k.NameKey`)
	return all, a.own.fault(err, "listing API keys")
}

// AddKey adds an API key whose name is free.
func (a *Accounts) AddKey(ctx context.Context, k account.Key, e audit.Entry) error {
	var expires sql.NullString
	if !k.Expires.IsZero() {
		expires = sql.NullString{String: stamp(k.Expires), Valid: true}
	}
	_, err := a.own.run(ctx, step{`INSERT INTO whd.WH_ApiKey (RecID, Name, NameKey, KeyHash, Role, AddedDateTime, ExpiryDateTime)
VALUES (@RecID, @Name, @NameKey, @KeyHash, @Role, @Added, @Expires)`, []any{
		sql.Named("RecID", k.ID), sql.Named("Name", k.Name), sql.Named("NameKey", account.Fold(k.Name)),
		sql.Named("KeyHash", k.Hash), sql.Named("Role", k.Role.String()),
		sql.Named("Added", stamp(k.Added)), sql.Named("Expires", expires),
	}, true}, written(e))
	if executor.IsDuplicate(err) {
		return taken("Name", "There is an API key of this name already")
	}
	return a.own.fault(err, "adding an API key")
}

// RemoveKey ends an API key.
func (a *Accounts) RemoveKey(ctx context.Context, id string, e audit.Entry) (bool, error) {
	removed, err := a.own.run(ctx,
		step{`DELETE FROM whd.WH_ApiKey WHERE RecID = @RecID`, []any{sql.Named("RecID", id)}, true}, written(e))
	return removed, a.own.fault(err, "removing an API key")
}

// Write stores the times at which sessions expire and keys were used. All
// daemons go through the rows in one order, so that none waits for another that
// waits for it.
func (a *Accounts) Write(ctx context.Context, u account.Uses) error {
	var steps []step
	for _, hash := range slices.Sorted(maps.Keys(u.Sessions)) {
		steps = append(steps, step{`UPDATE whd.WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At`,
			[]any{sql.Named("SessionHash", hash), sql.Named("At", stamp(u.Sessions[hash]))}, false})
	}
	for _, id := range slices.Sorted(maps.Keys(u.Keys)) {
		steps = append(steps, step{`UPDATE whd.WH_ApiKey SET LastUsedDateTime = @At WHERE RecID = @RecID AND (LastUsedDateTime IS NULL OR LastUsedDateTime < @At)`,
			[]any{sql.Named("RecID", id), sql.Named("At", stamp(u.Keys[id]))}, false})
	}
	_, err := a.own.run(ctx, steps...)
	return a.own.fault(err, "writing the uses of accounts")
}
