package account_test

import (
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
)

// TestOwnerRole checks that changes of users and keys decide the role of an owner: at once
// in the same process, within seconds in another one.
func TestOwnerRole(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	p, other := start(t, dir, c), start(t, dir, c)
	ctx := t.Context()
	if _, err := p.AddUser(ctx, account.NewUser{Name: "Ann", Role: account.Writer, Password: "a password for tests only"}); err != nil {
		t.Fatal(err)
	}
	_, key, err := p.AddKey(ctx, account.NewKey{Name: "shop", Role: account.Reader, Expires: c.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	user, byKey := account.Identity{Name: "ANN", AuthMethod: account.Cookie}.Owner(), account.Identity{KeyID: key.ID, AuthMethod: account.Bearer}.Owner()
	expect := func(s process, owner string, want account.Role) {
		t.Helper()
		if got, err := s.OwnerRole(ctx, owner); err != nil || got != want {
			t.Errorf("%s has the role %q (%v), want %q", owner, got, err, want)
		}
	}
	for _, s := range []process{p, other} {
		expect(s, user, account.Writer)
		expect(s, byKey, account.Reader)
		expect(s, account.Identity{}.Owner(), account.NoRole)
		expect(s, "user:"+key.ID, account.NoRole)
	}
	role := account.Reader
	if err := p.UpdateUser(ctx, "ann", account.Update{Role: &role}); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveKey(ctx, key.ID); err != nil {
		t.Fatal(err)
	}
	expect(p, user, account.Reader)
	expect(p, byKey, account.NoRole)
	c.pass(5 * time.Second)
	expect(other, user, account.Reader)
	expect(other, byKey, account.NoRole)
	_, key, err = p.AddKey(ctx, account.NewKey{Name: "shop", Role: account.Reader, Expires: c.Now().Add(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	expect(p, "key:"+key.ID, account.Reader)
	expect(other, "key:"+key.ID, account.NoRole)
	if owner := other.Owner(ctx, account.Identity{KeyID: key.ID, AuthMethod: account.Bearer, Role: account.Reader}); owner != "key:"+key.ID {
		t.Errorf("the owner is %q", owner)
	}
	expect(other, "key:"+key.ID, account.Reader) // at once, after a request with the key
	c.pass(time.Second)
	expect(p, "key:"+key.ID, account.NoRole)
}
