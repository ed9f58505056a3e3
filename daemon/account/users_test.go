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
	bob := account.NewUser{Name: "Bob", DisplayName: "", Role: account.Reader, Password: "12345678"}
	named := func(name string) account.NewUser {
		n := bob
		n.Name = name
		return n
	}
	withPassword := func(name, password string) account.NewUser {
		n := named(name)
		n.Password = password
		return n
	}
	withDisplayName := named("e")
	withDisplayName.DisplayName = strings.Repeat("x", 257)
	withRole := named("f")
	withRole.Role = account.Admin + 1
	userName := []string{"UserName"}
	password := []string{"Password"}
	tests := []struct {
		name   string
		user   account.NewUser
		want   string   // kind of the error
		fields []string // fields of the error
	}{
		{"valid", bob, "ok", nil},
		{"duplicate name", bob, "conflict", userName},
		{"duplicate name in other letter case", named("bOB"), "conflict", userName},
		{"duplicate name in other non-ASCII letter case", named("äRNE"), "conflict", userName},
		{"with a domain", named(`OFFICE\bob@example.com`), "ok", nil},
		{"password of eight characters in 16 bytes", withPassword("a", "ääääääää"), "ok", nil},
		{"password of seven characters in 14 bytes", withPassword("b", "äääääää"), "invalid", password},
		{"password of maximum length", withPassword("c", strings.Repeat("x", 1024)), "ok", nil},
		{"password too long", withPassword("d", strings.Repeat("x", 1025)), "invalid", password},
		{"empty", account.NewUser{}, "invalid", []string{"Password", "Role", "UserName"}},
		{"colon in name", named("a:b"), "invalid", userName},
		{"slash in name", named("a/b"), "invalid", userName},
		{"name of dots", named(".."), "invalid", userName},
		{"leading space", named(" a"), "invalid", userName},
		{"trailing space", named("a "), "invalid", userName},
		{"line feed in name", named("a\nb"), "invalid", userName},
		{"invalid UTF-8", named("a\xff"), "invalid", userName},
		{"name of maximum length", named(strings.Repeat("x", 256)), "ok", nil},
		{"name too long", named(strings.Repeat("x", 257)), "invalid", userName},
		{"display name too long", withDisplayName, "invalid", []string{"DisplayName"}},
		{"unknown role", withRole, "invalid", []string{"Role"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := p.AddUser(t.Context(), tt.user)
			expectKind(t, err, tt.want)
			if err != nil {
				if !slices.Equal(fieldsOf(err), tt.fields) {
					t.Errorf("got the fields %v, want %v", fieldsOf(err), tt.fields)
				}
				return
			}
			if u.ID == "" || u.Name != tt.user.Name || !u.Added.Equal(p.clock.Now()) {
				t.Errorf("got the user %+v, want %q with an ID, added at %v", u, tt.user.Name, p.clock.Now())
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
	if err != nil || u.DisplayName != name || u.Role != account.Writer {
		t.Errorf("got the user %+v (%v), want the display name %s and the role writer", u, err, name)
	}
	if !u.Saved.Equal(p.clock.Now()) || u.Added.Equal(u.Saved) {
		t.Errorf("got the user %+v, want it added earlier than saved, at %v", u, p.clock.Now())
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
		t.Fatalf("the first call: got created %v (%v), want true", created, err)
	}
	p.expect(t, basic("Admin", goodPassword), "admin")
	created, err = p.EnsureAdmin(t.Context(), "another "+goodPassword)
	if err != nil || created {
		t.Errorf("the second call: got created %v (%v), want false", created, err)
	}
	p.expect(t, basic("admin", "another "+goodPassword), "unauthorized")
}

func TestConcurrentEnsureAdminCreatesOneAdmin(t *testing.T) {
	dir := t.TempDir()
	c := newClock()
	daemons := []process{start(t, dir, c), start(t, dir, c), start(t, dir, c)}
	passwords := make(chan string, len(daemons))
	var group sync.WaitGroup
	for i, p := range daemons {
		group.Go(func() {
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
	group.Wait()
	if len(passwords) != 1 {
		t.Fatalf("%d admins were created, want 1", len(passwords))
	}
	daemons[0].expect(t, basic("admin", <-passwords), "admin")
}
