package account_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/storage"
)

// TestConcurrentUse runs all operations concurrently, for the race detector. Identities must
// not be mixed up.
func TestConcurrentUse(t *testing.T) {
	p := begin(t)
	p.add(t, "root", account.Admin)
	p.Start(t.Context())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { useAccount(t, p, fmt.Sprint("user", i)) })
	}
	group.Go(func() {
		for range 20 {
			if err := p.Write(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// useAccount creates a user, signs in, changes and deletes it.
func useAccount(t *testing.T, p process, name string) {
	for range 3 {
		p.add(t, name, account.Reader)
		id := p.login(t, name, false)
		key := p.key(t, name, account.Writer)
		credentials := []account.Credentials{cookie(id), bearer(key), basic(name, goodPassword)}
		for range 10 {
			for _, c := range credentials {
				identity, err := p.Authenticate(t.Context(), c)
				if err != nil || identity.Name != name {
					t.Errorf("%s: got the identity %+v (%v)", name, identity, err)
				}
			}
		}
		for _, err := range []error{
			p.SetRole(t.Context(), name, account.Writer),
			p.Logout(t.Context(), id),
			p.SetPassword(t.Context(), name, "another horse"),
			p.RemoveUser(t.Context(), name),
			p.RemoveKey(t.Context(), name),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		p.expect(t, cookie(id), "unauthorized")
		p.expect(t, bearer(key), "token expired")
		p.expect(t, basic(name, goodPassword), "unauthorized")
	}
}

// TestLoginDuringPasswordChange checks that a login creates no session if the password changes
// during it.
func TestLoginDuringPasswordChange(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	bob, err := p.AddUser(t.Context(), account.NewUser{
		Name:     "Bob",
		Role:     account.Reader,
		Password: "another horse",
	})
	if err != nil {
		t.Fatal(err)
	}
	change := account.Change{PasswordHash: &bob.PasswordHash}
	entry := audit.Entry{At: p.clock.Now()}
	p.CheapHashes(func() {
		_, err := p.store.AppDB.Accounts().ChangeUser(t.Context(), "ann", change, entry)
		if err != nil {
			t.Error(err)
		}
	})
	_, err = p.Login(t.Context(), account.Login{UserName: "Ann", Password: goodPassword})
	expectKind(t, err, "unauthorized")
}

// BenchmarkBasic authenticates by Basic credentials with a password that was verified recently,
// as scripts send them with each request.
func BenchmarkBasic(b *testing.B) {
	config := storage.Config{Dir: b.TempDir(), Registry: record.Builtin(), Connections: 1}
	s, err := storage.Open(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	accounts, err := account.New(account.Config{Store: s.AppDB.Accounts()})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := accounts.EnsureAdmin(b.Context(), goodPassword); err != nil {
		b.Fatal(err)
	}
	c := basic(account.FirstUser, goodPassword)
	for b.Loop() {
		if _, err := accounts.Authenticate(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
