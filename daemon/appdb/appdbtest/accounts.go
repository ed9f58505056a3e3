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
	s := account.Session{Hash: hash, User: u, Remember: true, Added: noon, Expires: noon.Add(time.Hour)}
	if added, err := b.AddSession(b.t.Context(), s); err != nil || !added {
		b.t.Fatalf("added %v (%v)", added, err)
	}
	return s
}

func (b accounts) expectSession(hash string, want *account.Session) {
	b.t.Helper()
	got, err := b.Session(b.t.Context(), hash)
	isSame := got == want || got != nil && want != nil && *got == *want
	if err != nil || !isSame {
		b.t.Errorf("session is %+v (%v), want %+v", got, err, want)
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
	got, err := b.User(t.Context(), account.Fold("aNN"))
	if err != nil || got == nil || *got != want {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	if got, err := b.User(t.Context(), "bob"); err != nil || got != nil {
		t.Errorf("got %+v (%v), want none", got, err)
	}
	duplicate := want
	duplicate.ID, duplicate.Name = "another", "ANN"
	if err := b.AddUser(t.Context(), duplicate, entryAt(noon)); !fault.Is(err, fault.Conflict) {
		t.Errorf("duplicate name: got %v, want conflict", err)
	}
	second := account.User{ID: "x", Name: "Bob", Role: account.Admin}
	if added, err := b.AddFirstUser(t.Context(), second, entryAt(noon)); err != nil || added {
		t.Errorf("a second first user: %v (%v)", added, err)
	}
	other := b.addUser("aaron", account.Reader)
	all, err := b.Users(t.Context())
	if err != nil || !slices.Equal(all, []account.User{other, want}) {
		t.Errorf("users are %+v (%v)", all, err)
	}
}

func changeUserRow(t *testing.T, b accounts) {
	ann, bob := b.addUser("Ann", account.Reader), b.addUser("Bob", account.Admin)
	kept, ended := b.addSession("s1", bob), b.addSession("s2", ann)
	later := noon.Add(time.Minute)
	name := "Other"
	hash := "other hash"
	role := account.Writer
	change := func(user string, c account.Change, want bool) {
		t.Helper()
		if changed, err := b.ChangeUser(t.Context(), account.Fold(user), c, entryAt(later)); err != nil || changed != want {
			t.Errorf("changed %v (%v), want %v", changed, err, want)
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
	if got, err := b.User(t.Context(), account.Fold("Ann")); err != nil || *got != ann {
		t.Errorf("got %+v (%v), want %+v", got, err, ann)
	}
	change("Bob", account.Change{Role: &role, PasswordHash: &hash}, false) // the last admin
	b.expectSession("s1", &kept)
	change("missing", account.Change{PasswordHash: &hash}, false)
}

func removeUserRow(t *testing.T, b accounts) {
	ann, bob := b.addUser("Ann", account.Reader), b.addUser("Bob", account.Admin)
	b.addSession("s1", ann)
	kept := b.addSession("s2", bob)
	for _, c := range []struct {
		user string
		want bool
	}{{"Ann", true}, {"Bob", false}, {"missing", false}} {
		if removed, err := b.RemoveUser(t.Context(), account.Fold(c.user), entryAt(noon)); err != nil || removed != c.want {
			t.Errorf("%s: removed %v (%v), want %v", c.user, removed, err, c.want)
		}
	}
	b.expectSession("s1", nil)
	b.expectSession("s2", &kept)
	b.expectSessions(1)
}

func sessionRows(t *testing.T, b accounts) {
	ann := b.addUser("Ann", account.Reader)
	want := b.addSession("s1", ann)
	b.expectSession("s1", &want)
	b.expectSession("S1", nil)

	stale, deleted := ann, ann
	stale.PasswordHash, deleted.ID = "old hash", "missing"
	for _, u := range []account.User{stale, deleted} {
		ended := account.Session{Hash: "s2", User: u, Added: noon, Expires: noon}
		if added, err := b.AddSession(t.Context(), ended); err != nil || added {
			t.Errorf("added %v (%v) for %+v", added, err, u)
		}
	}
	if n, err := b.RemoveExpired(t.Context(), want.Expires); err != nil || n != 0 {
		t.Errorf("removed %d (%v), want 0", n, err)
	}
	if n, err := b.RemoveExpired(t.Context(), want.Expires.Add(time.Microsecond)); err != nil || n != 1 {
		t.Errorf("removed %d (%v), want 1", n, err)
	}
	b.addSession("s3", ann)
	for range 2 {
		if err := b.RemoveSession(t.Context(), "s3"); err != nil {
			t.Error(err)
		}
		b.expectSession("s3", nil)
	}

	fourth := b.addSession("s4", ann)
	b.addSession("s5", ann)
	for _, later := range []time.Duration{time.Second, time.Hour} { // the second is after the end
		if err := b.EndSession(t.Context(), "s4", noon.Add(later)); err != nil {
			t.Error(err)
		}
	}
	fourth.Expires = noon.Add(time.Second)
	b.expectSession("s4", &fourth)
	all, err := b.UserSessions(t.Context(), ann.ID)
	isFourth := func(s account.Session) bool { return s.Hash == "s4" && s.Expires.Equal(fourth.Expires) }
	if err != nil || len(all) != 2 || !slices.ContainsFunc(all, isFourth) {
		t.Errorf("the sessions of Ann are %+v (%v), want s4 and s5", all, err)
	}
	if err := b.RemoveSessions(t.Context(), []string{"s5", "s4", "missing"}); err != nil {
		t.Error(err)
	}
	if all, err := b.UserSessions(t.Context(), ann.ID); err != nil || len(all) != 0 {
		t.Errorf("the sessions of Ann are %+v (%v), want none", all, err)
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
		if got, err := b.Key(t.Context(), k.Hash); err != nil || got == nil || *got != k {
			t.Errorf("got %+v (%v), want %+v", got, err, k)
		}
	}
	duplicate := account.Key{ID: "3", Name: "TILL", Hash: "h3", Added: noon}
	if err := b.AddKey(t.Context(), duplicate, entryAt(noon)); !fault.Is(err, fault.Conflict) {
		t.Errorf("duplicate name: got %v, want conflict", err)
	}
	keys, err := b.Keys(t.Context())
	if err != nil || !slices.Equal(keys, []account.Key{bounded, unlimited}) {
		t.Errorf("keys are %+v (%v)", keys, err)
	}
	for _, want := range []bool{true, false} {
		if removed, err := b.RemoveKey(t.Context(), "1", entryAt(noon)); err != nil || removed != want {
			t.Errorf("removed %v (%v), want %v", removed, err, want)
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
	s.Expires, k.LastUsed = noon.Add(90*time.Minute), noon.Add(90*time.Minute)
	b.expectSession("s1", &s)
	b.expectSession("missing", nil)
	if got, err := b.Key(t.Context(), "h1"); err != nil || *got != k {
		t.Errorf("got %+v (%v), want %+v", got, err, k)
	}
	if err := b.Write(t.Context(), account.Uses{}); err != nil {
		t.Error(err)
	}
}

// operations calls every method with arguments that match nothing.
func operations(ctx context.Context, a account.Store) map[string]error {
	all := make(map[string]error)
	_, all["User"] = a.User(ctx, "x")
	_, all["Users"] = a.Users(ctx)
	all["AddUser"] = a.AddUser(ctx, account.User{ID: "x", Name: "x"}, entryAt(noon))
	_, all["AddFirstUser"] = a.AddFirstUser(ctx, account.User{ID: "x", Name: "x"}, entryAt(noon))
	_, all["ChangeUser"] = a.ChangeUser(ctx, "x", account.Change{}, entryAt(noon))
	_, all["RemoveUser"] = a.RemoveUser(ctx, "x", entryAt(noon))
	all["Rehash"] = a.Rehash(ctx, "x", "y", "z")
	_, all["Session"] = a.Session(ctx, "x")
	_, all["AddSession"] = a.AddSession(ctx, account.Session{})
	all["RemoveSession"] = a.RemoveSession(ctx, "x")
	all["RemoveSessions"] = a.RemoveSessions(ctx, []string{"x"})
	all["EndSession"] = a.EndSession(ctx, "x", time.Now())
	_, all["UserSessions"] = a.UserSessions(ctx, "x")
	_, all["RemoveExpired"] = a.RemoveExpired(ctx, noon)
	_, all["Key"] = a.Key(ctx, "x")
	_, all["Keys"] = a.Keys(ctx)
	all["AddKey"] = a.AddKey(ctx, account.Key{ID: "x"}, entryAt(noon))
	_, all["RemoveKey"] = a.RemoveKey(ctx, "x", entryAt(noon))
	all["Write"] = a.Write(ctx, account.Uses{Keys: map[string]time.Time{"x": noon}})
	return all
}

func accountsCancelled(t *testing.T, b accounts) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range operations(ctx, b) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want cancelled", name, err)
		}
	}
}

func accountsClosed(t *testing.T, s *storage.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range operations(t.Context(), s.AppDB.Accounts()) {
		if !fault.Is(err, fault.Unavailable) || fault.From(err).RetryAfter <= 0 {
			t.Errorf("%s: %v, want unavailable with RetryAfter", name, err)
		}
	}
}

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
		if got, err := b.User(t.Context(), account.Fold(name)); err != nil || got == nil || *got != u {
			t.Errorf("got %+v (%v), want %+v", got, err, u)
		}
	}
}

// textsUnchanged checks that texts are stored unchanged, and that names are equal
// only if Fold makes them equal.
func textsUnchanged(t *testing.T, b accounts) {
	for _, name := range []string{"O'Brien", "resume", "résumé", "straße", "-- x", "[a]%_", "whd.WH_User", "a\b", "😀"} {
		u := b.addUser(name, account.Reader)
		if got, err := b.User(t.Context(), account.Fold(name)); err != nil || got == nil || *got != u {
			t.Errorf("got %+v (%v), want %+v", got, err, u)
		}
	}
	display := " leading and trailing  "
	if _, err := b.ChangeUser(t.Context(), "resume", account.Change{DisplayName: &display}, entryAt(noon)); err != nil {
		t.Fatal(err)
	}
	if got, err := b.User(t.Context(), "resume"); err != nil || got.DisplayName != display {
		t.Errorf("got %+v (%v)", got, err)
	}
}
