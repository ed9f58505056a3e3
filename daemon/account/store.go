package account

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/audit"
)

// User is an account that signs in with a password.
type User struct {
	ID           string
	Name         string
	DisplayName  string
	Role         Role
	PasswordHash string // PHC text
	Added        time.Time
	Saved        time.Time // time of the last change
}

// Change is a change of a user. Nil fields are not changed.
type Change struct {
	DisplayName  *string
	Role         *Role
	PasswordHash *string // a new password ends the user's sessions
}

// Key is an API key. Only the hash of its secret is stored.
type Key struct {
	ID       string
	Name     string
	Hash     string
	Role     Role
	Added    time.Time
	Expires  time.Time // zero: never
	LastUsed time.Time // zero: never; up to a minute old
	Revoked  bool      // removed; only Store.Key returns such keys
}

// detail returns the audit entry's detail of a new key.
func (k Key) detail() audit.Detail {
	var d audit.Detail
	d.Set("KeyID", k.ID)
	d.Set("Role", k.Role.String())
	if !k.Expires.IsZero() {
		d.Set("ExpiryDateTime", k.Expires.UTC().Format(time.RFC3339))
	}
	return d
}

// Session is a login session. Only the hash of its id is stored.
type Session struct {
	Hash     string
	User     User // current row
	Remember bool // has the longer lifetime
	Added    time.Time
	Expires  time.Time // up to a minute old
}

// Uses contains times to store: the expiry of sessions by hash, and the last use of
// keys by id.
type Uses struct {
	Sessions map[string]time.Time
	Keys     map[string]time.Time
}

// Store stores accounts. Names of users and keys are matched by Fold. A look-up without
// a result returns nil and no error. A change and its audit entry are stored in one
// transaction.
type Store interface {
	User(ctx context.Context, name string) (*User, error)
	Users(ctx context.Context) ([]User, error) // by name

	// AddUser fails with fault.Conflict if the name is in use.
	AddUser(ctx context.Context, u User, e audit.Entry) error
	// AddFirstUser adds a user only if there are no users.
	AddFirstUser(ctx context.Context, u User, e audit.Entry) (added bool, err error)
	// ChangeUser and RemoveUser do nothing if no admin would be left. Sessions that the
	// change invalidates are deleted in the same transaction.
	ChangeUser(ctx context.Context, name string, c Change, e audit.Entry) (changed bool, err error)
	RemoveUser(ctx context.Context, name string, e audit.Entry) (removed bool, err error)
	// Rehash replaces a password hash by another hash of the same password. It does
	// nothing if the stored hash is no longer previous.
	Rehash(ctx context.Context, name, previous, hash string) error

	// Session returns the session with this hash of its ID, even if it has expired.
	Session(ctx context.Context, hash string) (*Session, error)
	// AddSession adds nothing if the user was deleted or the password hash has changed.
	AddSession(ctx context.Context, s Session) (added bool, err error)
	RemoveSession(ctx context.Context, hash string) error
	// UserSessions returns the sessions of a user, without the user.
	UserSessions(ctx context.Context, userID string) ([]Session, error)
	// RemoveSessions removes sessions by hash and ignores unknown ones.
	RemoveSessions(ctx context.Context, hashes []string) error
	// EndSession makes a session expire at a time, unless it expires earlier.
	EndSession(ctx context.Context, hash string, at time.Time) error
	// RemoveExpired removes the sessions that expired before a time and returns their number.
	RemoveExpired(ctx context.Context, before time.Time) (int64, error)

	Key(ctx context.Context, hash string) (*Key, error)
	Keys(ctx context.Context) ([]Key, error) // by name
	// AddKey fails with fault.Conflict if the name is in use.
	AddKey(ctx context.Context, k Key, e audit.Entry) error
	// RemoveKey marks a key as Revoked and frees its name. The hash is kept, so that
	// clients that still use the key get a precise error.
	RemoveKey(ctx context.Context, id string, e audit.Entry) (removed bool, err error)

	// Write stores uses in one transaction. It never replaces a time by an earlier one,
	// and ignores deleted sessions and keys.
	Write(ctx context.Context, u Uses) error
}
