package account

import (
	"context"
	"time"

	"github.com/bizhook/whd/daemon/audit"
)

// User is a person or program that signs in with a password.
type User struct {
	ID           string
	Name         string
	DisplayName  string
	Role         Role
	PasswordHash string // PHC text
	Added        time.Time
	Saved        time.Time // of the last change
}

// Change is what is to change of a user. Nil members stay as they are.
type Change struct {
	DisplayName  *string
	Role         *Role
	PasswordHash *string // a new password ends the user's sessions
}

// Key is an API key. The key itself is not kept, only its hash.
type Key struct {
	ID       string
	Name     string
	Hash     string
	Role     Role
	Added    time.Time
	Expires  time.Time // zero: never
	LastUsed time.Time // zero: never; up to a minute behind
}

func (k Key) detail() (d audit.Detail) {
	d.Set("KeyID", k.ID)
	d.Set("Role", k.Role.String())
	if !k.Expires.IsZero() {
		d.Set("ExpiryDateTime", k.Expires.UTC().Format(time.RFC3339))
	}
	return d
}

// Session is a login that lasts. Its id is not kept, only the id's hash.
type Session struct {
	Hash     string
	User     User // as it is now
	Remember bool // slides by the longer time
	Added    time.Time
	Expires  time.Time // up to a minute behind
}

// Uses are times to write down: when sessions expire, by their hashes, and
// when keys were last used, by their ids.
type Uses struct {
	Sessions map[string]time.Time
	Keys     map[string]time.Time
}

// Store keeps accounts. Users and keys are found by Fold of their names. A
// look-up that finds nothing gives nil and no error. A change and its entry in
// the audit trail are stored both or not at all.
type Store interface {
	User(ctx context.Context, name string) (*User, error)
	Users(ctx context.Context) ([]User, error) // by name

	// AddUser fails with fault.Conflict where the name is taken.
	AddUser(ctx context.Context, u User, e audit.Entry) error
	// AddFirstUser adds a user only where there is none at all.
	AddFirstUser(ctx context.Context, u User, e audit.Entry) (added bool, err error)
	// ChangeUser and RemoveUser do nothing to the last admin that would leave
	// no admin. Sessions that end do so in the same transaction.
	ChangeUser(ctx context.Context, name string, c Change, e audit.Entry) (changed bool, err error)
	RemoveUser(ctx context.Context, name string, e audit.Entry) (removed bool, err error)
	// Rehash gives a user another hash of the same password. It does nothing
	// where the hash is not was any more.
	Rehash(ctx context.Context, name, was, hash string) error

	Session(ctx context.Context, hash string) (*Session, error)
	// AddSession adds nothing where the user is gone or has another password
	// hash by now.
	AddSession(ctx context.Context, s Session) (added bool, err error)
	RemoveSession(ctx context.Context, hash string) error
	RemoveExpired(ctx context.Context, before time.Time) (int64, error)

	Key(ctx context.Context, hash string) (*Key, error)
	Keys(ctx context.Context) ([]Key, error) // by name
	// AddKey fails with fault.Conflict where the name is taken.
	AddKey(ctx context.Context, k Key, e audit.Entry) error
	RemoveKey(ctx context.Context, id string, e audit.Entry) (removed bool, err error)

	// Write stores uses in one transaction. Times never go back, and what is
	// gone stays gone.
	Write(ctx context.Context, u Uses) error
}
