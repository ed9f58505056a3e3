package account_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
)

// TestOwnerRole checks that changes of users and keys decide the role of an owner: at once
// in the same process, within seconds in another one.
func TestOwnerRole(t *testing.T) {
	c := newClock()
	dir := t.TempDir()
	p := start(t, dir, c)
	other := start(t, dir, c)
	ctx := t.Context()
	p.add(t, "Ann", account.Writer)
	key := addExpiringKey(t, p, time.Hour)
	ann := account.Identity{Name: "ANN", AuthMethod: account.Cookie}.Owner()
	shop := account.Identity{KeyID: key.ID, AuthMethod: account.Bearer}.Owner()
	for _, s := range []process{p, other} {
		s.expectOwner(t, ann, account.Writer)
		s.expectOwner(t, shop, account.Reader)
		s.expectOwner(t, account.Identity{}.Owner(), account.NoRole)
		s.expectOwner(t, "user:"+key.ID, account.NoRole)
	}

	if err := p.SetRole(ctx, "ann", account.Reader); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveKey(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	p.expectOwner(t, ann, account.Reader)
	p.expectOwner(t, shop, account.NoRole)
	c.pass(5 * time.Second)
	other.expectOwner(t, ann, account.Reader)
	other.expectOwner(t, shop, account.NoRole)
}

// TestOwnerRoleOfNewKey checks that another process knows the role of a new key at once after
// a request with the key, until the key expires.
func TestOwnerRoleOfNewKey(t *testing.T) {
	c := newClock()
	dir := t.TempDir()
	p := start(t, dir, c)
	other := start(t, dir, c)
	other.expectOwner(t, "key:unknown", account.NoRole) // caches the owners
	key := addExpiringKey(t, p, time.Second)
	owner := "key:" + key.ID
	p.expectOwner(t, owner, account.Reader)
	other.expectOwner(t, owner, account.NoRole)

	identity := account.Identity{KeyID: key.ID, AuthMethod: account.Bearer, Role: account.Reader}
	if got := other.Owner(t.Context(), identity); got != owner {
		t.Errorf("the owner of a request with the key: got %q, want %q", got, owner)
	}
	other.expectOwner(t, owner, account.Reader)
	c.pass(time.Second)
	p.expectOwner(t, owner, account.NoRole)
}

// addExpiringKey adds the key shop, which expires after a time.
func addExpiringKey(t *testing.T, p process, ttl time.Duration) account.Key {
	t.Helper()
	_, key, err := p.AddKey(t.Context(), account.NewKey{
		Name:    "shop",
		Role:    account.Reader,
		Expires: p.clock.Now().Add(ttl),
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// expectOwner expects the role of an owner.
func (p process) expectOwner(t *testing.T, owner string, want account.Role) {
	t.Helper()
	if got, err := p.OwnerRole(t.Context(), owner); err != nil || got != want {
		t.Errorf("the role of %s: got %q (%v), want %q", owner, got, err, want)
	}
}

// failingUsers is a store that cannot read the users while fails is set.
type failingUsers struct {
	account.Store
	fails atomic.Bool
}

func (s *failingUsers) Users(ctx context.Context) ([]account.User, error) {
	if s.fails.Load() {
		return nil, down()
	}
	return s.Store.Users(ctx)
}

// TestOwnerMayRead checks that an owner must be a reader and have the role of a kind, by the
// last role that was read if the accounts cannot be read.
func TestOwnerMayRead(t *testing.T) {
	c := newClock()
	p := start(t, t.TempDir(), c)
	p.add(t, "Ann", account.Writer)
	store := &failingUsers{Store: p.store.AppDB.Accounts()}
	accounts, err := account.New(account.Config{Store: store, Clock: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(owner, role string, want bool) {
		t.Helper()
		if got := accounts.OwnerMayRead(owner, &record.Kind{Role: role}); got != want {
			t.Errorf("%s may read a kind of the role %q: got %t, want %t", owner, role, got, want)
		}
	}
	for range 2 {
		expect("user:Ann", "", true)
		expect("user:Ann", "writer", true)
		expect("user:Ann", "admin", false)
		expect("user:Ann", "owner", false) // no role
		expect("user:Bob", "", false)      // no user
		expect("", "", false)
		store.fails.Store(true)
		c.pass(time.Hour)
	}
}
