package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// One credential counts: Authorization, else X-ss-id, else the cookie.
func TestWhichCredentialCounts(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Publisher)
	ann, bob, key := p.login(t, "Ann", false), p.login(t, "Bob", false), p.key(t, "till", account.Writer)
	stale := strings.Repeat("x", len(ann))
	tests := []struct {
		name string
		c    account.Credentials
		want string
	}{
		{"nothing", account.Credentials{}, "unauthorized"},
		{"cookie", account.Credentials{SessionCookie: ann}, "reader"},
		{"header", account.Credentials{SessionHeader: ann}, "reader"},
		{"header before cookie", account.Credentials{SessionHeader: bob, SessionCookie: ann}, "publisher"},
		{"stale header beside a cookie", account.Credentials{SessionHeader: stale, SessionCookie: ann}, "unauthorized"},
		{"bearer before all", account.Credentials{Bearer: key, SessionHeader: bob, SessionCookie: ann}, "writer"},
		{"wrong bearer beside a cookie", account.Credentials{Bearer: key + "x", SessionCookie: ann}, "unauthorized"},
		{"bearer beside a stale cookie", account.Credentials{Bearer: key, SessionCookie: stale}, "writer"},
		{"basic beside a stale cookie", account.Credentials{HasBasic: true, BasicUser: "Bob", BasicPassword: goodPassword, SessionCookie: stale}, "publisher"},
		{"wrong basic beside a cookie", account.Credentials{HasBasic: true, BasicUser: "Bob", BasicPassword: badPassword, SessionCookie: ann}, "unauthorized"},
		{"empty basic beside a cookie", account.Credentials{HasBasic: true, SessionCookie: ann}, "unauthorized"},
		{"key as user name", basic(key, ""), "writer"},
		{"key as user name with any password", basic(key, "x"), "writer"},
		{"unknown key as user name", basic("whd_"+strings.Repeat("A", 43), ""), "unauthorized"},
		{"session id as bearer", bearer(ann), "unauthorized"},
		{"key as session", cookie(key), "unauthorized"},
		{"short cookie", cookie("x"), "unauthorized"},
		{"endless bearer", bearer(strings.Repeat("x", 60_000)), "unauthorized"},
		{"endless cookie", cookie(strings.Repeat("x", 60_000)), "unauthorized"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { p.expect(t, tt.c, tt.want) })
	}
}

func TestIdentities(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Admin)
	id, key := p.login(t, "Ann", false), p.key(t, "till", account.Writer)
	tests := []struct {
		name    string
		c       account.Credentials
		want    account.Identity
		ambient bool
	}{
		{"cookie", cookie(id), account.Identity{Name: "Ann", DisplayName: "Ann!", Role: account.Admin, AuthMethod: account.Cookie}, true},
		{"header", account.Credentials{SessionHeader: id}, account.Identity{Name: "Ann", DisplayName: "Ann!", Role: account.Admin, AuthMethod: account.Header}, false},
		{"basic", basic("ann", goodPassword), account.Identity{Name: "Ann", DisplayName: "Ann!", Role: account.Admin, AuthMethod: account.Basic}, true},
		{"bearer", bearer(key), account.Identity{Name: "till", Role: account.Writer, AuthMethod: account.Bearer}, false},
		{"key as basic", basic(key, ""), account.Identity{Name: "till", Role: account.Writer, AuthMethod: account.Basic}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.c.Empty() {
				t.Error("credentials are said to be empty")
			}
			got, err := p.Authenticate(t.Context(), tt.c)
			if err != nil {
				t.Fatal(err)
			}
			if (got.KeyID == "") == (got.UserID == "") {
				t.Errorf("%+v is not exactly one of user and key", got)
			}
			if (got.SessionHash == "") != got.Expires.IsZero() {
				t.Errorf("%+v has half a session", got)
			}
			got.UserID, got.KeyID, got.SessionHash, got.Expires = "", "", "", time.Time{}
			if got != tt.want || !got.Known() || got.AuthMethod.Ambient() != tt.ambient {
				t.Errorf("got %+v (ambient %v), want %+v", got, got.AuthMethod.Ambient(), tt.want)
			}
		})
	}
	if (account.Identity{}).Known() || !(account.Credentials{Address: "10.0.0.1"}).Empty() {
		t.Error("the zero Identity is known")
	}
}

func TestVerifiedBasicIsRemembered(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.hashes.Store(0)
	spent := func() int32 { return p.hashes.Swap(0) }
	for range 1000 {
		p.expect(t, basic("Ann", goodPassword), "reader")
	}
	if n := spent(); n != 1 {
		t.Errorf("%d hashes for 1000 requests, want 1", n)
	}
	p.clock.pass(5*time.Minute - 1)
	p.expect(t, basic("ann", goodPassword), "reader")
	if n := spent(); n != 0 {
		t.Errorf("%d hashes within five minutes, want 0", n)
	}
	p.clock.pass(1)
	p.expect(t, basic("Ann", goodPassword), "reader")
	if n := spent(); n != 1 {
		t.Errorf("%d hashes after five minutes, want 1", n)
	}
	name := "Annie"
	if err := p.UpdateUser(t.Context(), "Ann", account.Update{DisplayName: &name}); err != nil {
		t.Fatal(err)
	}
	p.clock.pass(time.Second)
	p.expect(t, basic("Ann", goodPassword), "reader")
	if err := p.SetRole(t.Context(), "Ann", account.Writer); err != nil {
		t.Fatal(err)
	}
	spent()
	p.expect(t, basic("Ann", goodPassword), "writer")
	if n := spent(); n != 1 {
		t.Errorf("%d hashes after a change of the user, want 1", n)
	}
	if err := p.SetPassword(t.Context(), "Ann", "another horse"); err != nil {
		t.Fatal(err)
	}
	p.expect(t, basic("Ann", goodPassword), "unauthorized")
	p.expect(t, basic("Ann", "another horse"), "writer")
	if err := p.RemoveUser(t.Context(), "Ann"); err != nil {
		t.Fatal(err)
	}
	p.expect(t, basic("Ann", "another horse"), "unauthorized")
}

func TestAuthenticateMessages(t *testing.T) {
	p := begin(t)
	for text, c := range map[string]account.Credentials{
		"Not Authenticated":            cookie(strings.Repeat("x", 20)),
		"Invalid API Key":              bearer("x"),
		"Invalid Username or Password": basic("Ann", badPassword),
	} {
		if _, err := p.Authenticate(t.Context(), c); fault.From(err).Message != text {
			t.Errorf("got %v, want %s", err, text)
		}
	}
}

// A store that does not answer must not look like a wrong password.
func TestStoreDown(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	id, key := p.login(t, "Ann", false), p.key(t, "till", account.Reader)
	down, err := account.New(account.Config{Store: broken{}})
	if err != nil {
		t.Fatal(err)
	}
	p.Service = down
	p.expect(t, cookie(id), "unavailable")
	p.expect(t, bearer(key), "unavailable")
	for range 10 { // and is not counted against the user
		p.expect(t, basic("Ann", goodPassword), "unavailable")
		_, err := p.Login(t.Context(), account.Login{UserName: "Ann", Password: goodPassword})
		expectKind(t, err, "unavailable")
	}
	expectKind(t, p.Logout(t.Context(), id), "unavailable")
}
