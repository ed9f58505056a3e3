package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

var _ account.Store = (*Accounts)(nil)

// noon is a time that the store keeps exactly: 100 ns are its finest step.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_700, time.UTC)

func newAccounts(t *testing.T) *Accounts {
	t.Helper()
	return NewAccounts(migrated(t, filepath.Join(t.TempDir(), ownFile)))
}

func addUser(t *testing.T, a *Accounts, name string, r account.Role) account.User {
	t.Helper()
	u := account.User{ID: "id of " + name, Name: name, DisplayName: "D", Role: r, PasswordHash: "hash of " + name, Added: noon, Saved: noon}
	if err := a.AddUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	return u
}

func addSession(t *testing.T, a *Accounts, hash string, u account.User) account.Session {
	t.Helper()
	s := account.Session{Hash: hash, User: u, Remember: true, Added: noon, Expires: noon.Add(time.Hour)}
	if added, err := a.AddSession(t.Context(), s); err != nil || !added {
		t.Fatalf("added %v (%v)", added, err)
	}
	return s
}

func expectSession(t *testing.T, a *Accounts, hash string, want *account.Session) {
	t.Helper()
	got, err := a.Session(t.Context(), hash)
	if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
		t.Errorf("session is %+v (%v), want %+v", got, err, want)
	}
}

func TestUserRows(t *testing.T) {
	a := newAccounts(t)
	want := addUser(t, a, "Ann", account.Publisher)
	got, err := a.User(t.Context(), account.Fold("aNN"))
	if err != nil || got == nil || *got != want {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	if got, err := a.User(t.Context(), "bob"); err != nil || got != nil {
		t.Errorf("got %+v (%v), want none", got, err)
	}
	again := want
	again.ID, again.Name = "another", "ANN"
	if err := a.AddUser(t.Context(), again); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same name again: %v", err)
	}
	if added, err := a.AddFirstUser(t.Context(), account.User{ID: "x", Name: "Bob", Role: account.Admin}); err != nil || added {
		t.Errorf("a second first user: %v (%v)", added, err)
	}
}

func TestChangeUserRow(t *testing.T) {
	a := newAccounts(t)
	ann, bob := addUser(t, a, "Ann", account.Reader), addUser(t, a, "Bob", account.Admin)
	kept, ended := addSession(t, a, "s1", bob), addSession(t, a, "s2", ann)
	later := noon.Add(time.Minute)
	name, hash, role := "Other", "other hash", account.Writer
	change := func(user string, c account.Change, want bool) {
		t.Helper()
		if changed, err := a.ChangeUser(t.Context(), account.Fold(user), c, later); err != nil || changed != want {
			t.Errorf("changed %v (%v), want %v", changed, err, want)
		}
	}
	change("Ann", account.Change{DisplayName: &name, Role: &role}, true)
	ann.DisplayName, ann.Role, ann.Saved = name, role, later
	ended.User = ann
	expectSession(t, a, "s2", &ended) // shows the user as it is now
	change("Ann", account.Change{PasswordHash: &hash}, true)
	expectSession(t, a, "s2", nil)
	expectSession(t, a, "s1", &kept)
	ann.PasswordHash = hash
	if got, err := a.User(t.Context(), account.Fold("Ann")); err != nil || *got != ann {
		t.Errorf("got %+v (%v), want %+v", got, err, ann)
	}
	change("Bob", account.Change{Role: &role, PasswordHash: &hash}, false) // the last admin
	expectSession(t, a, "s1", &kept)
	change("nobody", account.Change{PasswordHash: &hash}, false)
}

func TestRemoveUserRow(t *testing.T) {
	a := newAccounts(t)
	ann, bob := addUser(t, a, "Ann", account.Reader), addUser(t, a, "Bob", account.Admin)
	addSession(t, a, "s1", ann)
	kept := addSession(t, a, "s2", bob)
	for user, want := range map[string]bool{"Ann": true, "Bob": false, "nobody": false} {
		if removed, err := a.RemoveUser(t.Context(), account.Fold(user)); err != nil || removed != want {
			t.Errorf("%s: removed %v (%v), want %v", user, removed, err, want)
		}
	}
	expectSession(t, a, "s1", nil)
	expectSession(t, a, "s2", &kept)
	var left int
	if err := a.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM WH_Session`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d sessions are left (%v), want 1", left, err)
	}
}

func TestSessionRows(t *testing.T) {
	a := newAccounts(t)
	ann := addUser(t, a, "Ann", account.Reader)
	want := addSession(t, a, "s1", ann)
	expectSession(t, a, "s1", &want)
	expectSession(t, a, "S1", nil)

	stale, gone := ann, ann
	stale.PasswordHash, gone.ID = "hash of before", "nobody"
	for _, u := range []account.User{stale, gone} {
		if added, err := a.AddSession(t.Context(), account.Session{Hash: "s2", User: u}); err != nil || added {
			t.Errorf("added %v (%v) for %+v", added, err, u)
		}
	}
	if n, err := a.RemoveExpired(t.Context(), want.Expires); err != nil || n != 0 {
		t.Errorf("removed %d (%v), want 0", n, err)
	}
	if n, err := a.RemoveExpired(t.Context(), want.Expires.Add(time.Microsecond)); err != nil || n != 1 {
		t.Errorf("removed %d (%v), want 1", n, err)
	}
	addSession(t, a, "s3", ann)
	for range 2 {
		if err := a.RemoveSession(t.Context(), "s3"); err != nil {
			t.Error(err)
		}
		expectSession(t, a, "s3", nil)
	}
}

func TestKeyRows(t *testing.T) {
	a := newAccounts(t)
	endless := account.Key{ID: "1", Name: "Till", Hash: "h1", Role: account.Writer, Added: noon}
	bounded := account.Key{ID: "2", Name: "shop", Hash: "h2", Role: account.Reader, Added: noon, Expires: noon.Add(time.Hour)}
	for _, k := range []account.Key{endless, bounded} {
		if err := a.AddKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Key(t.Context(), k.Hash); err != nil || got == nil || *got != k {
			t.Errorf("got %+v (%v), want %+v", got, err, k)
		}
	}
	if err := a.AddKey(t.Context(), account.Key{ID: "3", Name: "TILL", Hash: "h3"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same name again: %v", err)
	}
	keys, err := a.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0] != bounded || keys[1] != endless {
		t.Errorf("keys are %+v (%v)", keys, err)
	}
	for _, want := range []bool{true, false} {
		if removed, err := a.RemoveKey(t.Context(), "1"); err != nil || removed != want {
			t.Errorf("removed %v (%v), want %v", removed, err, want)
		}
	}
}

// Daemons write in any order: times only go forward, and nothing comes back.
func TestWriteUses(t *testing.T) {
	a := newAccounts(t)
	s := addSession(t, a, "s1", addUser(t, a, "Ann", account.Reader))
	k := account.Key{ID: "1", Name: "Till", Hash: "h1", Role: account.Writer, Added: noon}
	if err := a.AddKey(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	for _, minutes := range []int{90, 70} {
		at := noon.Add(time.Duration(minutes) * time.Minute)
		uses := account.Uses{
			Sessions: map[string]time.Time{"s1": at, "gone": at},
			Keys:     map[string]time.Time{"1": at, "gone": at},
		}
		if err := a.Write(t.Context(), uses); err != nil {
			t.Fatal(err)
		}
	}
	s.Expires, k.LastUsed = noon.Add(90*time.Minute), noon.Add(90*time.Minute)
	expectSession(t, a, "s1", &s)
	expectSession(t, a, "gone", nil)
	if got, err := a.Key(t.Context(), "h1"); err != nil || *got != k {
		t.Errorf("got %+v (%v), want %+v", got, err, k)
	}
	if err := a.Write(t.Context(), account.Uses{}); err != nil {
		t.Error(err)
	}
}

// operations is every way in, with arguments that find nothing.
func operations(ctx context.Context, a *Accounts) map[string]error {
	all := make(map[string]error)
	_, all["User"] = a.User(ctx, "x")
	_, all["Users"] = a.Users(ctx)
	all["AddUser"] = a.AddUser(ctx, account.User{ID: "x", Name: "x"})
	_, all["AddFirstUser"] = a.AddFirstUser(ctx, account.User{ID: "x", Name: "x"})
	_, all["ChangeUser"] = a.ChangeUser(ctx, "x", account.Change{}, noon)
	_, all["RemoveUser"] = a.RemoveUser(ctx, "x")
	_, all["Session"] = a.Session(ctx, "x")
	_, all["AddSession"] = a.AddSession(ctx, account.Session{})
	all["RemoveSession"] = a.RemoveSession(ctx, "x")
	_, all["RemoveExpired"] = a.RemoveExpired(ctx, noon)
	_, all["Key"] = a.Key(ctx, "x")
	_, all["Keys"] = a.Keys(ctx)
	all["AddKey"] = a.AddKey(ctx, account.Key{ID: "x"})
	_, all["RemoveKey"] = a.RemoveKey(ctx, "x")
	all["Write"] = a.Write(ctx, account.Uses{Keys: map[string]time.Time{"x": noon}})
	return all
}

func TestAccountsUnreachable(t *testing.T) {
	db, err := openOwn(filepath.Join(t.TempDir(), ownFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range operations(t.Context(), NewAccounts(db)) {
		if !fault.Is(err, fault.Unavailable) || fault.Of(err).RetryAfter <= 0 {
			t.Errorf("%s: %v, want unavailable with a time to wait", name, err)
		}
	}
}

func TestAccountsCancelled(t *testing.T) {
	a := newAccounts(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range operations(ctx, a) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
}

// A row that this program cannot read must not pass for one that it can.
func TestUnreadableRows(t *testing.T) {
	for _, damage := range []string{
		`UPDATE WH_User SET Role = 'root'`,
		`UPDATE WH_User SET AddedDateTime = 'yesterday'`,
		`UPDATE WH_User SET LastSavedDateTime = x'00'`,
	} {
		a := newAccounts(t)
		addSession(t, a, "s1", addUser(t, a, "Ann", account.Reader))
		if _, err := a.db.ExecContext(t.Context(), damage); err != nil {
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
