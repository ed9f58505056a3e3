package appdb

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

var _ account.Store = (*Accounts)(nil)

// TestRowsWithInvalidValuesAreErrors damages the row of a user, which then cannot be read.
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
		for method, err := range map[string]error{
			"User":    userErr,
			"Users":   usersErr,
			"Session": sessionErr,
		} {
			if !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s after %s: got %v, want unavailable", method, damage, err)
			}
		}
	}
}

func TestTimesAreStoredTo100Nanoseconds(t *testing.T) {
	at := time.Date(2030, 1, 2, 12, 0, 0, 123_456_700, time.UTC)
	inAnotherZone := at.In(time.FixedZone("", 3600))
	for _, stored := range []any{Timestamp(at), Timestamp(inAnotherZone), at} {
		var got Time
		if err := got.Scan(stored); err != nil || time.Time(got) != at {
			t.Errorf("scanning %v: got %v (%v), want %v", stored, time.Time(got), err, at)
		}
	}
}

// TestChangeFailsWithoutAuditEntry checks that changes are not made without the table of the
// audit trail.
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
	change := account.Change{DisplayName: &ann.ID}
	_, changeErr := a.ChangeUser(t.Context(), "ann", change, audit.Entry{})
	_, removeErr := a.RemoveUser(t.Context(), "ann", audit.Entry{})
	addErr := a.AddUser(t.Context(), account.User{ID: "2", Name: "Bob", Role: role}, audit.Entry{})
	keyErr := a.AddKey(t.Context(), account.Key{ID: "7", Name: "till", Role: role}, audit.Entry{})
	for method, err := range map[string]error{
		"ChangeUser": changeErr,
		"RemoveUser": removeErr,
		"AddUser":    addErr,
		"AddKey":     keyErr,
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s without the audit trail: got %v, want unavailable", method, err)
		}
	}

	users, err := a.Users(t.Context())
	if err != nil || !slices.Equal(users, []account.User{ann}) {
		t.Errorf("after the failed changes: got users %+v (%v), want only %+v", users, err, ann)
	}
	keys, err := a.Keys(t.Context())
	if err != nil || len(keys) != 0 {
		t.Errorf("after the failed changes: got keys %+v (%v), want none", keys, err)
	}
}
