// Package appdbtest is the conformance test suite of accounts and the audit trail.
package appdbtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/storage"
)

// Accounts runs the suite of accounts. Each call of open returns an empty store,
// which is closed when the test ends.
func Accounts(t *testing.T, open func(t *testing.T) *storage.Store) {
	for name, test := range map[string]func(*testing.T, accounts){
		"Users":           userRows,
		"ChangeUser":      changeUserRow,
		"RemoveUser":      removeUserRow,
		"Sessions":        sessionRows,
		"Keys":            keyRows,
		"Uses":            writeUses,
		"Cancelled":       accountsCancelled,
		"OneFirstUser":    oneFirstUser,
		"LastAdmin":       lastAdmin,
		"PasswordSession": passwordSession,
		"ConcurrentUses":  concurrentUses,
		"LongestTexts":    longestTexts,
		"TextsUnchanged":  textsUnchanged,
	} {
		t.Run(name, func(t *testing.T) { test(t, accounts{open(t).AppDB.Accounts(), t}) })
	}
	t.Run("Closed", func(t *testing.T) { accountsClosed(t, open(t)) })
}

// accounts are the accounts of a test.
type accounts struct {
	account.Store
	t *testing.T
}

// noon is a time that every store stores exactly.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 123_456_000, time.UTC)

// entryAt returns the audit entry of a test's change.
func entryAt(at time.Time) audit.Entry {
	return audit.Entry{
		Actor:   audit.Actor{Name: "tester", Via: "cookie", Address: "10.0.0.9"},
		At:      at,
		Action:  "test",
		Subject: "x",
	}
}

func (b accounts) addUser(name string, r account.Role) account.User {
	b.t.Helper()
	u := account.User{
		ID:           "id of " + name,
		Name:         name,
		DisplayName:  "D",
		Role:         r,
		PasswordHash: "hash of " + name,
		Added:        noon,
		Saved:        noon,
	}
	if err := b.AddUser(b.t.Context(), u, entryAt(noon)); err != nil {
		b.t.Fatal(err)
	}
	return u
}

func (b accounts) addSession(hash string, u account.User) account.Session {
	b.t.Helper()
	s := account.Session{
		Hash:     hash,
		User:     u,
		Remember: true,
		Added:    noon,
		Expires:  noon.Add(time.Hour),
	}
	if added, err := b.AddSession(b.t.Context(), s); err != nil || !added {
		b.t.Fatalf("adding the session %s: got %v (%v), want true", hash, added, err)
	}
	return s
}

// expectUser expects a user by name.
func (b accounts) expectUser(name string, want account.User) {
	b.t.Helper()
	got, err := b.User(b.t.Context(), account.Fold(name))
	if err != nil || got == nil || *got != want {
		b.t.Errorf("the user %s: got %+v (%v), want %+v", name, got, err, want)
	}
}

// expectSession expects a session by its hash, or none if want is nil.
func (b accounts) expectSession(hash string, want *account.Session) {
	b.t.Helper()
	got, err := b.Session(b.t.Context(), hash)
	isSame := got == want || got != nil && want != nil && *got == *want
	if err != nil || !isSame {
		b.t.Errorf("the session %s: got %+v (%v), want %+v", hash, got, err, want)
	}
}

// expectKey expects a key by its hash.
func (b accounts) expectKey(want account.Key) {
	b.t.Helper()
	got, err := b.Key(b.t.Context(), want.Hash)
	if err != nil || got == nil || *got != want {
		b.t.Errorf("the key %s: got %+v (%v), want %+v", want.Hash, got, err, want)
	}
}

// expectSessions counts the sessions by removing them all.
func (b accounts) expectSessions(want int64) {
	b.t.Helper()
	if n, err := b.RemoveExpired(b.t.Context(), noon.AddDate(1, 0, 0)); err != nil || n != want {
		b.t.Errorf("%d sessions are left (%v), want %d", n, err, want)
	}
}

func userRows(t *testing.T, b accounts) {
	want := b.addUser("Ann", account.Publisher)
	b.expectUser("aNN", want)
	if got, err := b.User(t.Context(), "bob"); err != nil || got != nil {
		t.Errorf("a missing user: got %+v (%v), want none", got, err)
	}
	duplicate := want
	duplicate.ID = "another"
	duplicate.Name = "ANN"
	if err := b.AddUser(t.Context(), duplicate, entryAt(noon)); !fault.Is(err, fault.Conflict) {
		t.Errorf("duplicate name: got %v, want conflict", err)
	}
	second := account.User{ID: "x", Name: "Bob", Role: account.Admin}
	if added, err := b.AddFirstUser(t.Context(), second, entryAt(noon)); err != nil || added {
		t.Errorf("adding a second first user: got %v (%v), want false", added, err)
	}
	aaron := b.addUser("aaron", account.Reader)
	users, err := b.Users(t.Context())
	if ordered := []account.User{aaron, want}; err != nil || !slices.Equal(users, ordered) {
		t.Errorf("got users %+v (%v), want %+v", users, err, ordered)
	}
}

func changeUserRow(t *testing.T, b accounts) {
	ann := b.addUser("Ann", account.Reader)
	bob := b.addUser("Bob", account.Admin)
	kept := b.addSession("s1", bob)
	ended := b.addSession("s2", ann)
	later := noon.Add(time.Minute)
	name := "Other"
	hash := "other hash"
	role := account.Writer
	change := func(user string, c account.Change, want bool) {
		t.Helper()
		changed, err := b.ChangeUser(t.Context(), account.Fold(user), c, entryAt(later))
		if err != nil || changed != want {
			t.Errorf("changing %s: got %v (%v), want %v", user, changed, err, want)
		}
	}

	change("Ann", account.Change{DisplayName: &name, Role: &role}, true)
	ann.DisplayName = name
	ann.Role = role
	ann.Saved = later
	ended.User = ann
	b.expectSession("s2", &ended) // shows the changed user

	change("Ann", account.Change{PasswordHash: &hash}, true)
	b.expectSession("s2", nil)
	b.expectSession("s1", &kept)
	ann.PasswordHash = hash
	b.expectUser("Ann", ann)

	change("Bob", account.Change{Role: &role, PasswordHash: &hash}, false) // the last admin
	b.expectSession("s1", &kept)
	change("missing", account.Change{PasswordHash: &hash}, false)
}

func removeUserRow(t *testing.T, b accounts) {
	ann := b.addUser("Ann", account.Reader)
	bob := b.addUser("Bob", account.Admin)
	b.addSession("s1", ann)
	kept := b.addSession("s2", bob)
	for _, c := range []struct {
		user string
		want bool
	}{{"Ann", true}, {"Bob", false}, {"missing", false}} {
		removed, err := b.RemoveUser(t.Context(), account.Fold(c.user), entryAt(noon))
		if err != nil || removed != c.want {
			t.Errorf("removing %s: got %v (%v), want %v", c.user, removed, err, c.want)
		}
	}
	b.expectSession("s1", nil)
	b.expectSession("s2", &kept)
	b.expectSessions(1)
}

// sessionRows adds, reads and removes sessions.
func sessionRows(t *testing.T, b accounts) {
	ann := b.addUser("Ann", account.Reader)
	want := b.addSession("s1", ann)
	b.expectSession("s1", &want)
	b.expectSession("S1", nil)

	stale := ann
	stale.PasswordHash = "old hash"
	deleted := ann
	deleted.ID = "missing"
	for _, u := range []account.User{stale, deleted} {
		s := account.Session{Hash: "s2", User: u, Added: noon, Expires: noon}
		if added, err := b.AddSession(t.Context(), s); err != nil || added {
			t.Errorf("adding a session of %+v: got %v (%v), want false", u, added, err)
		}
	}

	for _, c := range []struct {
		before time.Time
		want   int64
	}{
		{want.Expires, 0},
		{want.Expires.Add(time.Microsecond), 1},
	} {
		if n, err := b.RemoveExpired(t.Context(), c.before); err != nil || n != c.want {
			t.Errorf("sessions that expired before %v: removed %d (%v), want %d", c.before, n, err, c.want)
		}
	}

	b.addSession("s3", ann)
	for range 2 {
		if err := b.RemoveSession(t.Context(), "s3"); err != nil {
			t.Error(err)
		}
		b.expectSession("s3", nil)
	}
	endSessions(t, b, ann)
}

// endSessions ends a session at a time, and then all sessions of a user.
func endSessions(t *testing.T, b accounts, u account.User) {
	ended := b.addSession("s4", u)
	b.addSession("s5", u)
	for _, later := range []time.Duration{time.Second, time.Hour} { // the second is after the end
		if err := b.EndSession(t.Context(), "s4", noon.Add(later)); err != nil {
			t.Error(err)
		}
	}
	ended.Expires = noon.Add(time.Second)
	b.expectSession("s4", &ended)

	sessions, err := b.UserSessions(t.Context(), u.ID)
	isEnded := func(s account.Session) bool {
		return s.Hash == "s4" && s.Expires.Equal(ended.Expires)
	}
	if err != nil || len(sessions) != 2 || !slices.ContainsFunc(sessions, isEnded) {
		t.Errorf("the sessions of %s: got %+v (%v), want s4 and s5", u.Name, sessions, err)
	}
	if err := b.RemoveSessions(t.Context(), []string{"s5", "s4", "missing"}); err != nil {
		t.Error(err)
	}
	if sessions, err := b.UserSessions(t.Context(), u.ID); err != nil || len(sessions) != 0 {
		t.Errorf("the removed sessions of %s: got %+v (%v), want none", u.Name, sessions, err)
	}
}

func keyRows(t *testing.T, b accounts) {
	unlimited := account.Key{ID: "1", Name: "Till", Hash: "h1", Role: account.Writer, Added: noon}
	bounded := account.Key{
		ID:      "2",
		Name:    "shop",
		Hash:    "h2",
		Role:    account.Reader,
		Added:   noon,
		Expires: noon.Add(time.Hour),
	}
	for _, k := range []account.Key{unlimited, bounded} {
		if err := b.AddKey(t.Context(), k, entryAt(noon)); err != nil {
			t.Fatal(err)
		}
		b.expectKey(k)
	}
	duplicate := account.Key{ID: "3", Name: "TILL", Hash: "h3", Added: noon}
	if err := b.AddKey(t.Context(), duplicate, entryAt(noon)); !fault.Is(err, fault.Conflict) {
		t.Errorf("duplicate name: got %v, want conflict", err)
	}
	keys, err := b.Keys(t.Context())
	if ordered := []account.Key{bounded, unlimited}; err != nil || !slices.Equal(keys, ordered) {
		t.Errorf("got keys %+v (%v), want %+v", keys, err, ordered)
	}
	for _, want := range []bool{true, false} {
		removed, err := b.RemoveKey(t.Context(), "1", entryAt(noon))
		if err != nil || removed != want {
			t.Errorf("removing a key: got %v (%v), want %v", removed, err, want)
		}
	}
}

// writeUses writes uses in any order: times only increase, and removed rows stay
// removed.
func writeUses(t *testing.T, b accounts) {
	s := b.addSession("s1", b.addUser("Ann", account.Reader))
	k := account.Key{ID: "1", Name: "Till", Hash: "h1", Role: account.Writer, Added: noon}
	if err := b.AddKey(t.Context(), k, entryAt(noon)); err != nil {
		t.Fatal(err)
	}
	for _, minutes := range []int{90, 70} {
		at := noon.Add(time.Duration(minutes) * time.Minute)
		uses := account.Uses{
			Sessions: map[string]time.Time{"s1": at, "missing": at},
			Keys:     map[string]time.Time{"1": at, "missing": at},
		}
		if err := b.Write(t.Context(), uses); err != nil {
			t.Fatal(err)
		}
	}
	s.Expires = noon.Add(90 * time.Minute)
	k.LastUsed = noon.Add(90 * time.Minute)
	b.expectSession("s1", &s)
	b.expectSession("missing", nil)
	b.expectKey(k)
	if err := b.Write(t.Context(), account.Uses{}); err != nil {
		t.Error(err)
	}
}

// operations calls every method with arguments that match nothing, and returns the errors by
// the name of the method.
func operations(ctx context.Context, a account.Store) map[string]error {
	errs := make(map[string]error)
	_, errs["User"] = a.User(ctx, "x")
	_, errs["Users"] = a.Users(ctx)
	errs["AddUser"] = a.AddUser(ctx, account.User{ID: "x", Name: "x"}, entryAt(noon))
	_, errs["AddFirstUser"] = a.AddFirstUser(ctx, account.User{ID: "x", Name: "x"}, entryAt(noon))
	_, errs["ChangeUser"] = a.ChangeUser(ctx, "x", account.Change{}, entryAt(noon))
	_, errs["RemoveUser"] = a.RemoveUser(ctx, "x", entryAt(noon))
	errs["Rehash"] = a.Rehash(ctx, "x", "y", "z")
	_, errs["Session"] = a.Session(ctx, "x")
	_, errs["AddSession"] = a.AddSession(ctx, account.Session{})
	errs["RemoveSession"] = a.RemoveSession(ctx, "x")
	errs["RemoveSessions"] = a.RemoveSessions(ctx, []string{"x"})
	errs["EndSession"] = a.EndSession(ctx, "x", time.Now())
	_, errs["UserSessions"] = a.UserSessions(ctx, "x")
	_, errs["RemoveExpired"] = a.RemoveExpired(ctx, noon)
	_, errs["Key"] = a.Key(ctx, "x")
	_, errs["Keys"] = a.Keys(ctx)
	errs["AddKey"] = a.AddKey(ctx, account.Key{ID: "x"}, entryAt(noon))
	_, errs["RemoveKey"] = a.RemoveKey(ctx, "x", entryAt(noon))
	errs["Write"] = a.Write(ctx, account.Uses{Keys: map[string]time.Time{"x": noon}})
	return errs
}

func accountsCancelled(t *testing.T, b accounts) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range operations(ctx, b) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: got %v, want it cancelled", name, err)
		}
	}
}

func accountsClosed(t *testing.T, s *storage.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range operations(t.Context(), s.AppDB.Accounts()) {
		if !fault.Is(err, fault.Unavailable) || fault.From(err).RetryAfter <= 0 {
			t.Errorf("%s of a closed store: got %v, want unavailable with RetryAfter", name, err)
		}
	}
}

// longestTexts stores texts of the maximum length, in bytes.
func longestTexts(t *testing.T, b accounts) {
	for _, letter := range []string{"x", "é", "漢", "😀"} {
		name := strings.Repeat(letter, 256/len(letter))
		u := account.User{
			ID:           strings.Repeat(string(rune('a'+len(letter))), 36),
			Name:         name,
			DisplayName:  name,
			Role:         account.Publisher,
			PasswordHash: strings.Repeat("h", 200),
			Added:        noon,
			Saved:        noon,
		}
		if err := b.AddUser(t.Context(), u, entryAt(noon)); err != nil {
			t.Fatal(err)
		}
		b.expectUser(name, u)
	}
}

// textsUnchanged checks that texts are stored unchanged, and that names are equal
// only if Fold makes them equal.
func textsUnchanged(t *testing.T, b accounts) {
	names := []string{
		"O'Brien", "resume", "résumé", "straße", "-- x", "[a]%_", "whd.WH_User", "a\b", "😀",
	}
	for _, name := range names {
		u := b.addUser(name, account.Reader)
		b.expectUser(name, u)
	}
	display := " leading and trailing  "
	change := account.Change{DisplayName: &display}
	if _, err := b.ChangeUser(t.Context(), "resume", change, entryAt(noon)); err != nil {
		t.Fatal(err)
	}
	if got, err := b.User(t.Context(), "resume"); err != nil || got.DisplayName != display {
		t.Errorf("the changed user: got %+v (%v), want the display name %q", got, err, display)
	}
}
