package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Accounts keeps users, sessions and API keys. Its statements are the subset
// of SQL that SQLite and SQL Server share, with parameters @Name, which the
// drivers of both understand.
type Accounts struct{ db *sql.DB }

// NewAccounts makes Accounts over a database that is migrated.
func NewAccounts(db *sql.DB) *Accounts { return &Accounts{db} }

const userColumns = `u.RecID, u.UserName, u.DisplayName, u.Role, u.PasswordHash, u.AddedDateTime, u.LastSavedDateTime`

// User finds a user by folded name.
func (a *Accounts) User(ctx context.Context, name string) (*account.User, error) {
	row := a.db.QueryRowContext(ctx, `SELECT `+userColumns+` FROM WH_User u WHERE u.UserKey = @UserKey`,
		sql.Named("UserKey", name))
	u, err := scanUser(row)
	return found(u, err, "finding a user")
}

// Users lists the users by name.
func (a *Accounts) Users(ctx context.Context) ([]account.User, error) {
	rows, err := a.db.QueryContext(ctx, `SELECT `+userColumns+` FROM WH_User u ORDER BY u.UserKey`)
	return list(rows, err, scanUser, "listing users")
}

const insertUser = `INSERT INTO WH_User (RecID, UserName, UserKey, DisplayName, Role, PasswordHash, AddedDateTime, LastSavedDateTime)
SELECT @RecID, @UserName, @UserKey, @DisplayName, @Role, @PasswordHash, @Added, @Saved`

func userArgs(u account.User) []any {
	return []any{
		sql.Named("RecID", u.ID), sql.Named("UserName", u.Name), sql.Named("UserKey", account.Fold(u.Name)),
		sql.Named("DisplayName", u.DisplayName), sql.Named("Role", u.Role.String()), sql.Named("PasswordHash", u.PasswordHash),
		sql.Named("Added", stamp(u.Added)), sql.Named("Saved", stamp(u.Saved)),
	}
}

// AddUser adds a user whose name is free.
func (a *Accounts) AddUser(ctx context.Context, u account.User) error {
	_, err := a.db.ExecContext(ctx, insertUser, userArgs(u)...)
	if duplicate(err) {
		return fault.New(fault.Conflict, "There is a user of this name already")
	}
	return accountsFault(err, "adding a user")
}

// AddFirstUser adds a user where there is none at all.
func (a *Accounts) AddFirstUser(ctx context.Context, u account.User) (bool, error) {
	added, err := affected(a.db.ExecContext(ctx, insertUser+` WHERE NOT EXISTS (SELECT 1 FROM WH_User)`, userArgs(u)...))
	if duplicate(err) {
		return false, nil
	}
	return added, accountsFault(err, "adding the first user")
}

// anotherAdmin is true of a user without whom there is an admin still.
const anotherAdmin = `(Role <> 'admin' OR EXISTS (SELECT 1 FROM WH_User o WHERE o.Role = 'admin' AND o.UserKey <> @UserKey))`

const updateUser = `UPDATE WH_User SET
	DisplayName = COALESCE(@DisplayName, DisplayName),
	Role = COALESCE(@Role, Role),
	PasswordHash = COALESCE(@PasswordHash, PasswordHash),
	LastSavedDateTime = @Saved
WHERE UserKey = @UserKey AND (@Role IS NULL OR @Role = 'admin' OR ` + anotherAdmin + `)`

const deleteUserSessions = `DELETE FROM WH_Session WHERE WH_User_RecID IN (SELECT RecID FROM WH_User WHERE UserKey = @UserKey)`

// ChangeUser changes a user, and ends the user's sessions with the password.
func (a *Accounts) ChangeUser(ctx context.Context, name string, c account.Change, now time.Time) (bool, error) {
	key := sql.Named("UserKey", name)
	var role sql.NullString
	if c.Role != nil {
		role = sql.NullString{String: c.Role.String(), Valid: true}
	}
	steps := []step{{updateUser, []any{
		sql.Named("DisplayName", nullable(c.DisplayName)), sql.Named("Role", role),
		sql.Named("PasswordHash", nullable(c.PasswordHash)), sql.Named("Saved", stamp(now)), key,
	}, true}}
	if c.PasswordHash != nil {
		steps = append(steps, step{deleteUserSessions, []any{key}, false})
	}
	changed, err := a.run(ctx, steps)
	return changed, accountsFault(err, "changing a user")
}

// RemoveUser removes a user and the user's sessions.
func (a *Accounts) RemoveUser(ctx context.Context, name string) (bool, error) {
	key := sql.Named("UserKey", name)
	removed, err := a.run(ctx, []step{
		{deleteUserSessions, []any{key}, false},
		{`DELETE FROM WH_User WHERE UserKey = @UserKey AND ` + anotherAdmin, []any{key}, true},
	})
	return removed, accountsFault(err, "removing a user")
}

// Session finds a session by its hash.
func (a *Accounts) Session(ctx context.Context, hash string) (*account.Session, error) {
	row := a.db.QueryRowContext(ctx, `SELECT s.SessionHash, s.IsRemembered, s.AddedDateTime, s.ExpiryDateTime, `+userColumns+`
FROM WH_Session s JOIN WH_User u ON u.RecID = s.WH_User_RecID WHERE s.SessionHash = @SessionHash`,
		sql.Named("SessionHash", hash))
	var s account.Session
	u, err := scanUserAfter(row, &s.Hash, &s.Remember, (*moment)(&s.Added), (*moment)(&s.Expires))
	s.User = u
	return found(s, err, "finding a session")
}

// AddSession adds a session of a user who still has the same password.
func (a *Accounts) AddSession(ctx context.Context, s account.Session) (bool, error) {
	added, err := affected(a.db.ExecContext(ctx, `INSERT INTO WH_Session (SessionHash, WH_User_RecID, IsRemembered, AddedDateTime, ExpiryDateTime)
SELECT @SessionHash, u.RecID, @IsRemembered, @Added, @Expires FROM WH_User u WHERE u.RecID = @UserID AND u.PasswordHash = @PasswordHash`,
		sql.Named("SessionHash", s.Hash), sql.Named("IsRemembered", s.Remember),
		sql.Named("Added", stamp(s.Added)), sql.Named("Expires", stamp(s.Expires)),
		sql.Named("UserID", s.User.ID), sql.Named("PasswordHash", s.User.PasswordHash)))
	return added, accountsFault(err, "adding a session")
}

// RemoveSession ends a session.
func (a *Accounts) RemoveSession(ctx context.Context, hash string) error {
	_, err := a.db.ExecContext(ctx, `DELETE FROM WH_Session WHERE SessionHash = @SessionHash`, sql.Named("SessionHash", hash))
	return accountsFault(err, "removing a session")
}

// RemoveExpired removes the sessions that expired before a time.
func (a *Accounts) RemoveExpired(ctx context.Context, before time.Time) (int64, error) {
	result, err := a.db.ExecContext(ctx, `DELETE FROM WH_Session WHERE ExpiryDateTime < @Before`, sql.Named("Before", stamp(before)))
	if err != nil {
		return 0, accountsFault(err, "removing expired sessions")
	}
	return result.RowsAffected()
}

const keyColumns = `k.RecID, k.Name, k.KeyHash, k.Role, k.AddedDateTime, k.ExpiryDateTime, k.LastUsedDateTime`

// Key finds an API key by its hash.
func (a *Accounts) Key(ctx context.Context, hash string) (*account.Key, error) {
	row := a.db.QueryRowContext(ctx, `SELECT `+keyColumns+` FROM WH_ApiKey k WHERE k.KeyHash = @KeyHash`,
		sql.Named("KeyHash", hash))
	k, err := scanKey(row)
	return found(k, err, "finding an API key")
}

// Keys lists the API keys by name.
func (a *Accounts) Keys(ctx context.Context) ([]account.Key, error) {
	rows, err := a.db.QueryContext(ctx, `SELECT `+keyColumns+` FROM WH_ApiKey k ORDER BY k.NameKey`)
	return list(rows, err, scanKey, "listing API keys")
}

// AddKey adds an API key whose name is free.
func (a *Accounts) AddKey(ctx context.Context, k account.Key) error {
	var expires sql.NullString
	if !k.Expires.IsZero() {
		expires = sql.NullString{String: stamp(k.Expires), Valid: true}
	}
	_, err := a.db.ExecContext(ctx, `INSERT INTO WH_ApiKey (RecID, Name, NameKey, KeyHash, Role, AddedDateTime, ExpiryDateTime)
VALUES (@RecID, @Name, @NameKey, @KeyHash, @Role, @Added, @Expires)`,
		sql.Named("RecID", k.ID), sql.Named("Name", k.Name), sql.Named("NameKey", account.Fold(k.Name)),
		sql.Named("KeyHash", k.Hash), sql.Named("Role", k.Role.String()),
		sql.Named("Added", stamp(k.Added)), sql.Named("Expires", expires))
	if duplicate(err) {
		return fault.New(fault.Conflict, "There is an API key of this name already")
	}
	return accountsFault(err, "adding an API key")
}

// RemoveKey ends an API key.
func (a *Accounts) RemoveKey(ctx context.Context, id string) (bool, error) {
	removed, err := affected(a.db.ExecContext(ctx, `DELETE FROM WH_ApiKey WHERE RecID = @RecID`, sql.Named("RecID", id)))
	return removed, accountsFault(err, "removing an API key")
}

// Write stores the times at which sessions expire and keys were used.
func (a *Accounts) Write(ctx context.Context, u account.Uses) error {
	var steps []step
	for hash, at := range u.Sessions {
		steps = append(steps, step{`UPDATE WH_Session SET ExpiryDateTime = @At WHERE SessionHash = @SessionHash AND ExpiryDateTime < @At`,
			[]any{sql.Named("SessionHash", hash), sql.Named("At", stamp(at))}, false})
	}
	for id, at := range u.Keys {
		steps = append(steps, step{`UPDATE WH_ApiKey SET LastUsedDateTime = @At WHERE RecID = @RecID AND (LastUsedDateTime IS NULL OR LastUsedDateTime < @At)`,
			[]any{sql.Named("RecID", id), sql.Named("At", stamp(at))}, false})
	}
	_, err := a.run(ctx, steps)
	return accountsFault(err, "writing the uses of accounts")
}

// step is a statement of a transaction. One that must hit a row ends the
// transaction where it hits none.
type step struct {
	sql  string
	args []any
	must bool
}

// run runs the steps in one transaction. It reports whether they hit what they
// must; if not, nothing has changed. The first statement of each transaction
// writes, since SQLite cannot wait for a lock once it has read.
func (a *Accounts) run(ctx context.Context, steps []step) (bool, error) {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // does nothing after Commit
	for _, s := range steps {
		hit, err := affected(tx.ExecContext(ctx, s.sql, s.args...))
		if err != nil {
			return false, err
		}
		if s.must && !hit {
			return false, nil
		}
	}
	return true, tx.Commit()
}

func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// scanner is a row, or the row that rows stand at.
type scanner interface{ Scan(into ...any) error }

func scanUser(row scanner) (account.User, error) { return scanUserAfter(row) }

// scanUserAfter reads the user columns that stand behind others.
func scanUserAfter(row scanner, before ...any) (account.User, error) {
	var u account.User
	err := row.Scan(append(before, &u.ID, &u.Name, &u.DisplayName, (*roleText)(&u.Role), &u.PasswordHash,
		(*moment)(&u.Added), (*moment)(&u.Saved))...)
	return u, err
}

func scanKey(row scanner) (account.Key, error) {
	var k account.Key
	err := row.Scan(&k.ID, &k.Name, &k.Hash, (*roleText)(&k.Role), (*moment)(&k.Added), (*moment)(&k.Expires), (*moment)(&k.LastUsed))
	return k, err
}

func found[T any](row T, err error, doing string) (*T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, accountsFault(err, doing)
	}
	return &row, nil
}

func list[T any](rows *sql.Rows, err error, scan func(scanner) (T, error), doing string) ([]T, error) {
	if err != nil {
		return nil, accountsFault(err, doing)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, accountsFault(err, doing)
		}
		all = append(all, row)
	}
	return all, accountsFault(rows.Err(), doing)
}

// stamp is a time as it is stored.
func stamp(t time.Time) string { return t.UTC().Format(wire.DateLayout) }

// moment reads a stored time; null is the zero time.
type moment time.Time

// Scan implements sql.Scanner.
func (m *moment) Scan(value any) (err error) {
	var t time.Time
	switch v := value.(type) {
	case nil:
	case time.Time:
		t = v
	case string:
		t, err = time.Parse(wire.DateLayout, v)
	default:
		err = fmt.Errorf("a time is stored as %T", value)
	}
	*m = moment(t)
	return err
}

// roleText reads a stored role.
type roleText account.Role

// Scan implements sql.Scanner.
func (r *roleText) Scan(value any) error {
	text, _ := value.(string)
	return (*account.Role)(r).UnmarshalText([]byte(text))
}

func nullable(text *string) sql.NullString {
	if text == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: *text, Valid: true}
}

// duplicate reports whether a unique index refused a row.
func duplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// accountsFault tells those who ask only that the store does not answer.
func accountsFault(err error, doing string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return unavailable(fmt.Errorf("%s: %w", doing, err), "the store of accounts does not answer")
}
