package account_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/storage"
)

func TestUseExtendsSession(t *testing.T) {
	for _, tt := range []struct {
		name     string
		remember bool
		ttl      time.Duration
	}{
		{"not remembered", false, 8 * time.Hour},
		{"remembered", true, 14 * 24 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := begin(t)
			p.add(t, "Ann", account.Reader)
			used := p.login(t, "Ann", tt.remember)
			unused := p.login(t, "Ann", tt.remember)
			p.clock.pass(tt.ttl - 1)
			p.expect(t, cookie(used), "reader")
			p.clock.pass(1)
			p.expect(t, cookie(unused), "unauthorized")
			p.clock.pass(tt.ttl - 2)
			p.expect(t, cookie(used), "reader")
			p.clock.pass(tt.ttl)
			p.expect(t, cookie(used), "unauthorized")
		})
	}
}

func TestChangesThatEndSessions(t *testing.T) {
	tests := []struct {
		name string
		end  func(ctx context.Context, p process, id string) error
		want string
	}{
		{
			"logout",
			func(ctx context.Context, p process, id string) error { return p.Logout(ctx, id) },
			"unauthorized",
		},
		{
			"logout of an unknown session",
			func(ctx context.Context, p process, _ string) error {
				return p.Logout(ctx, strings.Repeat("x", 20))
			},
			"reader",
		},
		{
			"logout with an invalid id",
			func(ctx context.Context, p process, _ string) error { return p.Logout(ctx, "x") },
			"reader",
		},
		{
			"new password",
			func(ctx context.Context, p process, _ string) error {
				return p.SetPassword(ctx, "ann", "another horse")
			},
			"unauthorized",
		},
		{
			"deleted user",
			func(ctx context.Context, p process, _ string) error { return p.RemoveUser(ctx, "ann") },
			"unauthorized",
		},
		{
			"new role",
			func(ctx context.Context, p process, _ string) error {
				return p.SetRole(ctx, "ann", account.Admin)
			},
			"admin",
		},
		{
			"new password of another user",
			func(ctx context.Context, p process, _ string) error {
				return p.SetPassword(ctx, "Bob", "another horse")
			},
			"reader",
		},
		{
			"deletion of another user",
			func(ctx context.Context, p process, _ string) error { return p.RemoveUser(ctx, "Bob") },
			"reader",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := begin(t)
			p.add(t, "Ann", account.Reader)
			p.add(t, "Bob", account.Reader)
			id := p.login(t, "Ann", false)
			p.expect(t, cookie(id), "reader")
			if err := tt.end(t.Context(), p, id); err != nil {
				t.Fatal(err)
			}
			p.expect(t, cookie(id), tt.want)
			if err := p.Write(t.Context()); err != nil { // a later write does not restore the session
				t.Fatal(err)
			}
			p.expect(t, cookie(id), tt.want)
			p.clock.pass(time.Minute)
			p.expect(t, cookie(id), tt.want)
		})
	}
}

// TestReplacedSession checks that a session that was replaced by a login works for another
// minute, however it is used.
func TestReplacedSession(t *testing.T) {
	dir := t.TempDir()
	now := newClock()
	p := start(t, dir, now)
	other := start(t, dir, now)
	p.add(t, "Ann", account.Reader)
	id := p.login(t, "Ann", true)
	other.expect(t, cookie(id), "reader")
	if err := p.Replace(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	now.pass(time.Minute - 1)
	p.expect(t, cookie(id), "reader")
	other.expect(t, cookie(id), "reader")
	if err := other.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	now.pass(1)
	p.expect(t, cookie(id), "unauthorized")
	if err := p.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	now.pass(5 * time.Second)
	other.expect(t, cookie(id), "unauthorized")
	for _, unknown := range []string{"", "x", strings.Repeat("x", account.SessionIDLength)} {
		if err := p.Replace(t.Context(), unknown); err != nil {
			t.Errorf("replacing the unknown session %q: %v", unknown, err)
		}
	}
}

// TestReplacedSessionAfterRestart checks that a restart does not extend a replaced session.
func TestReplacedSessionAfterRestart(t *testing.T) {
	dir := t.TempDir()
	now := newClock()
	p := start(t, dir, now)
	p.add(t, "Ann", account.Reader)
	id := p.login(t, "Ann", false)
	if err := p.Replace(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	start(t, dir, now).expect(t, cookie(id), "unauthorized")
}

// TestSessionsOfUserAreLimited checks that a user has at most 1,000 sessions: a login ends the
// longest unused ones of the user, of both lifetimes.
func TestSessionsOfUserAreLimited(t *testing.T) {
	const limit = 1000
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	ofBob := p.login(t, "Bob", false)
	first := p.login(t, "Ann", false)
	unused := p.login(t, "Ann", true)
	for range limit - 2 {
		p.clock.pass(time.Second)
		p.login(t, "Ann", false)
	}
	p.expect(t, cookie(first), "reader") // used now

	p.clock.pass(time.Second)
	last := p.login(t, "Ann", false)
	p.expect(t, cookie(unused), "unauthorized")
	for _, id := range []string{first, last, ofBob} {
		p.expect(t, cookie(id), "reader")
	}
	sessions, err := p.store.AppDB.Accounts().UserSessions(t.Context(), p.userID(t, "Ann"))
	if err != nil || len(sessions) != limit {
		t.Errorf("got %d sessions of Ann (%v), want %d", len(sessions), err, limit)
	}
}

func (p process) userID(t *testing.T, name string) (id string) {
	t.Helper()
	user, err := p.User(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return user.ID
}

// TestSessionsOfDeletedUserStayInvalid checks that a new user does not inherit the sessions of
// a deleted user with the same name.
func TestSessionsOfDeletedUserStayInvalid(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Admin)
	p.add(t, "Bob", account.Admin)
	id := p.login(t, "Ann", false)
	if err := p.RemoveUser(t.Context(), "Ann"); err != nil {
		t.Fatal(err)
	}
	p.add(t, "Ann", account.Admin)
	p.expect(t, cookie(id), "unauthorized")
}

func TestUsedSessionSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	p := start(t, dir, c)
	p.add(t, "Ann", account.Reader)
	used := p.login(t, "Ann", false)
	unused := p.login(t, "Ann", false)
	key := p.key(t, "till", account.Reader)
	c.pass(7 * time.Hour)
	p.expect(t, cookie(used), "reader")
	p.expect(t, bearer(key), "reader")
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.pass(7 * time.Hour)
	p = start(t, dir, c)
	p.expect(t, cookie(used), "reader")
	p.expect(t, cookie(unused), "unauthorized")
	keys, err := p.Keys(t.Context())
	if err != nil || len(keys) != 1 || !keys[0].LastUsed.Equal(c.Now().Add(-7*time.Hour)) {
		t.Errorf("got keys %+v (%v), want one that was used seven hours ago", keys, err)
	}
}

// TestChangesOfAnotherProcess checks that changes made by another process take effect when the
// cached look-ups expire.
func TestChangesOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	p := start(t, dir, c)
	other := start(t, dir, c)
	p.expect(t, basic("Ann", goodPassword), "unauthorized")
	other.add(t, "Ann", account.Reader)
	p.expect(t, basic("Ann", goodPassword), "reader") // computing a hash bypasses the cache
	id := p.login(t, "Ann", false)
	key := p.key(t, "till", account.Writer)
	for _, o := range []process{p, other} {
		o.expect(t, cookie(id), "reader")
		o.expect(t, bearer(key), "writer")
	}

	step := func(name string, change error, credentials account.Credentials, want string) {
		t.Helper()
		if change != nil {
			t.Fatalf("%s: %v", name, change)
		}
		other.expect(t, credentials, want)
		c.pass(5 * time.Second)
		p.expect(t, credentials, want)
	}
	ctx := t.Context()
	step("role", other.SetRole(ctx, "Ann", account.Publisher), cookie(id), "publisher")
	step("same role by basic", nil, basic("Ann", goodPassword), "publisher")
	step("password ends sessions",
		other.SetPassword(ctx, "Ann", "another horse"), cookie(id), "unauthorized")
	step("old password", nil, basic("Ann", goodPassword), "unauthorized")
	step("new password", nil, basic("Ann", "another horse"), "publisher")
	keys, err := p.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step("key", other.RemoveKey(ctx, keys[0].ID), bearer(key), "token expired")
	step("user", other.RemoveUser(ctx, "Ann"), basic("Ann", "another horse"), "unauthorized")
}

func TestUseInOneProcessExtendsSessionInOthers(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	p := start(t, dir, c)
	other := start(t, dir, c)
	p.add(t, "Ann", account.Reader)
	id := p.login(t, "Ann", false)
	for range 5 {
		c.pass(7 * time.Hour)
		p.expect(t, cookie(id), "reader")
		if err := p.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := other.Write(t.Context()); err != nil { // deletes expired sessions
			t.Fatal(err)
		}
	}
	other.expect(t, cookie(id), "reader")
}

func TestExpiredSessionsAreDeleted(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	id := p.login(t, "Ann", false)
	c := p.clock
	c.pass(8*time.Hour + 6*time.Minute)
	if err := p.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.pass(-8 * time.Hour) // if the row still existed, it would be valid now
	p.expect(t, cookie(id), "unauthorized")
}

func TestTimesAreStoredEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, err := storage.Open(t.Context(), storage.Config{
			Dir:         t.TempDir(),
			Registry:    record.Builtin(),
			Connections: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		store := &flaky{Store: file.AppDB.Accounts()}
		log := &logged{}
		s, err := account.New(account.Config{
			Store: store,
			Log:   slog.New(slog.NewTextHandler(log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		till := account.NewKey{Name: "till", Role: account.Reader}
		secret, key, err := s.As(audit.System()).AddKey(t.Context(), till)
		if err != nil {
			t.Fatal(err)
		}
		use := func() time.Time {
			if _, err := s.Authenticate(t.Context(), bearer(secret)); err != nil {
				t.Fatal(err)
			}
			return time.Now()
		}
		expect := func(step string, want time.Time) {
			t.Helper()
			row, err := file.AppDB.Accounts().Key(t.Context(), key.Hash)
			if err != nil || row == nil || !row.LastUsed.Equal(want) {
				t.Errorf("%s: stored %+v (%v), want last use at %v", step, row, err, want)
			}
		}
		s.Start(t.Context())
		first := use()
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		expect("before a minute", time.Time{})
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		expect("after a minute", first)

		store.fails.Store(true)
		second := use()
		time.Sleep(time.Minute)
		synctest.Wait()
		expect("while the store is down", first)
		if !strings.Contains(log.String(), "retrying in a minute") {
			t.Errorf("the log has no warning: %s", log)
		}
		store.fails.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		expect("when the store is available again", second)

		third := use()
		for range 2 {
			if err := s.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		expect("after Stop", third)
	})
}

func TestStartEndsWithContext(t *testing.T) {
	p := begin(t)
	p.Start(t.Context()) // goleak checks that the goroutine ends
}

func TestNewNeedsStore(t *testing.T) {
	if _, err := account.New(account.Config{}); err == nil {
		t.Error("New without a store returns no error")
	}
}

// TestRenewOfRememberedSession checks that the cookie of a remembered session is renewed about
// 100 times, not with each request.
func TestRenewOfRememberedSession(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	remembered := p.login(t, "Ann", true)
	usual := p.login(t, "Ann", false)
	renewed := 0
	const hours = 14 * 24
	for range hours {
		p.clock.pass(time.Hour)
		id, err := p.Authenticate(t.Context(), cookie(remembered))
		if err != nil {
			t.Fatal(err)
		}
		if id.Renew {
			renewed++
		}
		if id, err := p.Authenticate(t.Context(), cookie(usual)); err != nil || id.Renew {
			t.Fatalf("a session that is not remembered: %+v (%v)", id, err)
		}
	}
	if renewed < 99 || renewed > 101 {
		t.Errorf("renewed %d times in %d hours, want 100", renewed, hours)
	}
}
