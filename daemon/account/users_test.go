package account_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
)

func TestAddUser(t *testing.T) {
	p := begin(t)
	p.add(t, "Ärne", account.Reader)
	ok := account.NewUser{Name: "Bob", DisplayName: "", Role: account.Reader, Password: "12345678"}
	with := func(change func(*account.NewUser)) account.NewUser {
		n := ok
		change(&n)
		return n
	}
	tests := []struct {
		name   string
		n      account.NewUser
		want   string
		fields []string
	}{
		{"valid", ok, "ok", nil},
		{"duplicate name", ok, "conflict", []string{"UserName"}},
		{"duplicate name in other letter case", with(func(n *account.NewUser) { n.Name = "bOB" }), "conflict", []string{"UserName"}},
		{"duplicate name in other non-ASCII letter case", with(func(n *account.NewUser) { n.Name = "äRNE" }), "conflict", []string{"UserName"}},
		{"with a domain", with(func(n *account.NewUser) { n.Name = `OFFICE\bob@example.com` }), "ok", nil},
		{"password of eight characters in 16 bytes", with(func(n *account.NewUser) { n.Name, n.Password = "a", "ääääääää" }), "ok", nil},
		{"password of seven characters in 14 bytes", with(func(n *account.NewUser) { n.Name, n.Password = "b", "äääääää" }), "invalid", []string{"Password"}},
		{"password of maximum length", with(func(n *account.NewUser) { n.Name, n.Password = "c", strings.Repeat("x", 1024) }), "ok", nil},
		{"password too long", with(func(n *account.NewUser) { n.Name, n.Password = "d", strings.Repeat("x", 1025) }), "invalid", []string{"Password"}},
		{"empty", account.NewUser{}, "invalid", []string{"Password", "Role", "UserName"}},
		{"colon in name", with(func(n *account.NewUser) { n.Name = "a:b" }), "invalid", []string{"UserName"}},
		{"slash in name", with(func(n *account.NewUser) { n.Name = "a/b" }), "invalid", []string{"UserName"}},
		{"name of dots", with(func(n *account.NewUser) { n.Name = ".." }), "invalid", []string{"UserName"}},
		{"leading space", with(func(n *account.NewUser) { n.Name = " a" }), "invalid", []string{"UserName"}},
		{"trailing space", with(func(n *account.NewUser) { n.Name = "a " }), "invalid", []string{"UserName"}},
		{"line feed in name", with(func(n *account.NewUser) { n.Name = "a\nb" }), "invalid", []string{"UserName"}},
		{"invalid UTF-8", with(func(n *account.NewUser) { n.Name = "a\xff" }), "invalid", []string{"UserName"}},
		{"name of maximum length", with(func(n *account.NewUser) { n.Name = strings.Repeat("x", 256) }), "ok", nil},
		{"name too long", with(func(n *account.NewUser) { n.Name = strings.Repeat("x", 257) }), "invalid", []string{"UserName"}},
		{"display name too long", with(func(n *account.NewUser) { n.Name, n.DisplayName = "e", strings.Repeat("x", 257) }), "invalid", []string{"DisplayName"}},
		{"unknown role", with(func(n *account.NewUser) { n.Name, n.Role = "f", account.Admin+1 }), "invalid", []string{"Role"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := p.AddUser(t.Context(), tt.n)
			expectKind(t, err, tt.want)
			if !slices.Equal(fieldsOf(err), tt.fields) && err != nil {
				t.Errorf("fields %v, want %v", fieldsOf(err), tt.fields)
			}
			if err == nil && (u.ID == "" || u.Name != tt.n.Name || !u.Added.Equal(p.clock.Now())) {
				t.Errorf("added %+v", u)
			}
		})
	}
}

func TestUsersAreSortedByName(t *testing.T) {
	p := begin(t)
	for _, name := range []string{"carl", "Ann", "bob"} {
		p.add(t, name, account.Reader)
	}
	users, err := p.Users(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range users {
		names = append(names, u.Name)
	}
	if want := []string{"Ann", "bob", "carl"}; !slices.Equal(names, want) {
		t.Errorf("users are %v, want %v", names, want)
	}
	u, err := p.User(t.Context(), "ANN")
	if err != nil || u != users[0] {
		t.Errorf("found %+v (%v), want %+v", u, err, users[0])
	}
	_, err = p.User(t.Context(), "Dan")
	expectKind(t, err, "not found")
}

func TestUpdateUser(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Admin)
	p.add(t, "Bob", account.Reader)
	p.clock.pass(time.Hour)
	short := "short"
	long := strings.Repeat("x", 300)
	none := account.NoRole
	writer := account.Writer
	name := "Robert"
	tests := []struct {
		name string
		user string
		up   account.Update
		want string
	}{
		{"no changes", "bob", account.Update{}, "ok"},
		{"unknown user", "dan", account.Update{Role: &writer}, "not found"},
		{"display name and role", "bob", account.Update{DisplayName: &name, Role: &writer}, "ok"},
		{"short password", "bob", account.Update{Password: &short}, "invalid"},
		{"long display name", "bob", account.Update{DisplayName: &long}, "invalid"},
		{"no role", "bob", account.Update{Role: &none}, "invalid"},
		{"role of the last admin", "ann", account.Update{Role: &writer}, "conflict"},
		{"display name of the last admin", "ann", account.Update{DisplayName: &name}, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expectKind(t, p.UpdateUser(t.Context(), tt.user, tt.up), tt.want) })
	}
	u, err := p.User(t.Context(), "Bob")
	if err != nil || u.DisplayName != name || u.Role != account.Writer || !u.Saved.Equal(p.clock.Now()) || u.Added.Equal(u.Saved) {
		t.Errorf("Bob is %+v (%v)", u, err)
	}
}

func TestLastAdminCannotBeRemoved(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Admin)
	p.add(t, "Bob", account.Reader)
	id := p.login(t, "Ann", false)
	expectKind(t, p.RemoveUser(t.Context(), "Ann"), "conflict")
	p.expect(t, cookie(id), "admin") // the refused change did not end the session
	expectKind(t, p.SetRole(t.Context(), "Bob", account.Admin), "ok")
	expectKind(t, p.RemoveUser(t.Context(), "Ann"), "ok")
	expectKind(t, p.RemoveUser(t.Context(), "Ann"), "not found")
	expectKind(t, p.RemoveUser(t.Context(), "Bob"), "conflict")
}

func TestEnsureAdminCreatesOneAdmin(t *testing.T) {
	p := begin(t)
	_, err := p.EnsureAdmin(t.Context(), "short")
	expectKind(t, err, "invalid")
	_, err = p.EnsureAdmin(t.Context(), "")
	expectKind(t, err, "invalid")
	created, err := p.EnsureAdmin(t.Context(), goodPassword)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	p.expect(t, basic("Admin", goodPassword), "admin")
	created, err = p.EnsureAdmin(t.Context(), "another "+goodPassword)
	if err != nil || created {
		t.Errorf("second call: created %v, %v", created, err)
	}
	p.expect(t, basic("admin", "another "+goodPassword), "unauthorized")
}

func TestConcurrentEnsureAdminCreatesOneAdmin(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	daemons := []process{start(t, dir, c), start(t, dir, c), start(t, dir, c)}
	passwords := make(chan string, len(daemons))
	var all sync.WaitGroup
	for i, p := range daemons {
		all.Go(func() {
			password := fmt.Sprint(goodPassword, i)
			created, err := p.EnsureAdmin(t.Context(), password)
			if err != nil {
				t.Error(err)
			}
			if created {
				passwords <- password
			}
		})
	}
	all.Wait()
	if len(passwords) != 1 {
		t.Fatalf("%d admins were created, want 1", len(passwords))
	}
	daemons[0].expect(t, basic("admin", <-passwords), "admin")
}
