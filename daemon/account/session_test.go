package account_test

import (
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
			used, unused := p.login(t, "Ann", tt.remember), p.login(t, "Ann", tt.remember)
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
		end  func(t *testing.T, p process, id string) error
		want string
	}{
		{"logout", func(t *testing.T, p process, id string) error { return p.Logout(t.Context(), id) }, "unauthorized"},
		{"logout of an unknown session", func(t *testing.T, p process, id string) error { return p.Logout(t.Context(), strings.Repeat("x", 20)) }, "reader"},
		{"logout with an invalid id", func(t *testing.T, p process, id string) error { return p.Logout(t.Context(), "x") }, "reader"},
		{"new password", func(t *testing.T, p process, id string) error {
			return p.SetPassword(t.Context(), "ann", "another horse")
		}, "unauthorized"},
		{"deleted user", func(t *testing.T, p process, id string) error { return p.RemoveUser(t.Context(), "ann") }, "unauthorized"},
		{"new role", func(t *testing.T, p process, id string) error { return p.SetRole(t.Context(), "ann", account.Admin) }, "admin"},
		{"new password of another user", func(t *testing.T, p process, id string) error {
			return p.SetPassword(t.Context(), "Bob", "another horse")
		}, "reader"},
		{"deletion of another user", func(t *testing.T, p process, id string) error { return p.RemoveUser(t.Context(), "Bob") }, "reader"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := begin(t)
			p.add(t, "Ann", account.Reader)
			p.add(t, "Bob", account.Reader)
			id := p.login(t, "Ann", false)
			p.expect(t, cookie(id), "reader")
			if err := tt.end(t, p, id); err != nil {
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

// A session that was replaced by a login works for another minute, however it is used.
func TestReplacedSession(t *testing.T) {
	dir, now := t.TempDir(), newClock()
	p, other := start(t, dir, now), start(t, dir, now)
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

// A restart does not extend a replaced session.
func TestReplacedSessionAfterRestart(t *testing.T) {
	dir, now := t.TempDir(), newClock()
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

// A user has at most 1,000 sessions: a login ends the longest unused ones of the user, of
// both lifetimes.
func TestSessionsOfUserAreLimited(t *testing.T) {
	const limit = 1000
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Reader)
	others := p.login(t, "Bob", false)
	first, unused := p.login(t, "Ann", false), p.login(t, "Ann", true)
	for range limit - 2 {
		p.clock.pass(time.Second)
		p.login(t, "Ann", false)
	}
	p.expect(t, cookie(first), "reader") // used now

	p.clock.pass(time.Second)
	last := p.login(t, "Ann", false)
	p.expect(t, cookie(unused), "unauthorized")
	for _, id := range []string{first, last, others} {
		p.expect(t, cookie(id), "reader")
	}
	all, err := p.store.AppDB.Accounts().UserSessions(t.Context(), p.user(t, "Ann"))
	if err != nil || len(all) != limit {
		t.Errorf("Ann has %d sessions, want %d (%v)", len(all), limit, err)
	}
}

func (p process) user(t *testing.T, name string) (id string) {
	t.Helper()
	user, err := p.User(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return user.ID
}

// A new user does not inherit the sessions of a deleted user with the same name.
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
	dir, c := t.TempDir(), newClock()
	p := start(t, dir, c)
	p.add(t, "Ann", account.Reader)
	used, unused := p.login(t, "Ann", false), p.login(t, "Ann", false)
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
		t.Errorf("keys are %+v (%v)", keys, err)
	}
}

// Changes made by another process take effect when the cached look-ups expire.
func TestChangesOfAnotherProcess(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	p, other := start(t, dir, c), start(t, dir, c)
	p.expect(t, basic("Ann", goodPassword), "unauthorized")
	other.add(t, "Ann", account.Reader)
	p.expect(t, basic("Ann", goodPassword), "reader") // computing a hash bypasses the cache
	id, key := p.login(t, "Ann", false), p.key(t, "till", account.Writer)
	for _, o := range []process{p, other} {
		o.expect(t, cookie(id), "reader")
		o.expect(t, bearer(key), "writer")
	}

	step := func(name string, change error, c1 account.Credentials, want string) {
		t.Helper()
		if change != nil {
			t.Fatal(name, change)
		}
		other.expect(t, c1, want)
		c.pass(5 * time.Second)
		p.expect(t, c1, want)
	}
	step("role", other.SetRole(t.Context(), "Ann", account.Publisher), cookie(id), "publisher")
	step("same role by basic", nil, basic("Ann", goodPassword), "publisher")
	step("password ends sessions", other.SetPassword(t.Context(), "Ann", "another horse"), cookie(id), "unauthorized")
	step("old password", nil, basic("Ann", goodPassword), "unauthorized")
	step("new password", nil, basic("Ann", "another horse"), "publisher")
	keys, err := p.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step("key", other.RemoveKey(t.Context(), keys[0].ID), bearer(key), "token expired")
	step("user", other.RemoveUser(t.Context(), "Ann"), basic("Ann", "another horse"), "unauthorized")
}

func TestUseInOneProcessExtendsSessionInOthers(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	p, other := start(t, dir, c), start(t, dir, c)
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
		store, log := &flaky{Store: file.AppDB.Accounts()}, &logged{}
		s, err := account.New(account.Config{Store: store, Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		secret, key, err := s.As(audit.System()).AddKey(t.Context(), account.NewKey{Name: "till", Role: account.Reader})
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

// The cookie of a remembered session is renewed about 100 times, not with each request.
func TestRenewOfRememberedSession(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	remembered, usual := p.login(t, "Ann", true), p.login(t, "Ann", false)
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
