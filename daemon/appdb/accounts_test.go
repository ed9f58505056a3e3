package appdb

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

var _ account.Store = (*Accounts)(nil)

func TestRowsWithInvalidValuesAreErrors(t *testing.T) {
	ann := account.User{ID: "1", Name: "Ann", Role: account.Reader}
	for _, damage := range []string{
		`UPDATE WH_User SET Role = 'root'`,
		`UPDATE WH_User SET AddedDateTime = 'yesterday'`,
		`UPDATE WH_User SET LastSavedDateTime = x'00'`,
	} {
		db := openedOwn(t, filepath.Join(t.TempDir(), FileName))
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := &Accounts{db}
		if err := a.AddUser(t.Context(), ann, audit.Entry{}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.AddSession(t.Context(), account.Session{Hash: "s1", User: ann}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Pool.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		_, userErr := a.User(t.Context(), account.Fold("Ann"))
		_, usersErr := a.Users(t.Context())
		_, sessionErr := a.Session(t.Context(), "s1")
		for _, err := range []error{userErr, usersErr, sessionErr} {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: %v, want unavailable", damage, err)
			}
		}
	}
}

func TestTimesAreStoredTo100Nanoseconds(t *testing.T) {
	at := time.Date(2030, 1, 2, 12, 0, 0, 123_456_700, time.UTC)
	for _, stored := range []any{Timestamp(at), Timestamp(at.In(time.FixedZone("", 3600))), at} {
		var m Time
		if err := m.Scan(stored); err != nil || time.Time(m) != at {
			t.Errorf("%v: got %v (%v), want %v", stored, time.Time(m), err, at)
		}
	}
}

func TestChangeFailsWithoutAuditEntry(t *testing.T) {
	db := openedOwn(t, filepath.Join(t.TempDir(), FileName))
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := &Accounts{db}
	role := account.Reader
	ann := account.User{ID: "1", Name: "Ann", Role: role}
	if err := a.AddUser(t.Context(), ann, audit.Entry{}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Pool.ExecContext(t.Context(), `DROP TABLE WH_Audit`); err != nil {
		t.Fatal(err)
	}
	_, changeErr := a.ChangeUser(t.Context(), "ann", account.Change{DisplayName: &ann.ID}, audit.Entry{})
	_, removeErr := a.RemoveUser(t.Context(), "ann", audit.Entry{})
	addErr := a.AddUser(t.Context(), account.User{ID: "2", Name: "Bob", Role: role}, audit.Entry{})
	keyErr := a.AddKey(t.Context(), account.Key{ID: "7", Name: "till", Role: role}, audit.Entry{})
	for _, err := range []error{changeErr, removeErr, addErr, keyErr} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
	}
	users, usersErr := a.Users(t.Context())
	keys, keysErr := a.Keys(t.Context())
	if usersErr != nil || keysErr != nil || len(users) != 1 || users[0] != ann || len(keys) != 0 {
		t.Errorf("users are %+v (%v), keys %+v (%v)", users, usersErr, keys, keysErr)
	}
}
