package account_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
)

// TestCredentialPrecedence checks that only one credential is checked: Authorization, else
// X-ss-id, else the cookie.
func TestCredentialPrecedence(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.add(t, "Bob", account.Publisher)
	ann := p.login(t, "Ann", false)
	bob := p.login(t, "Bob", false)
	key := p.key(t, "till", account.Writer)
	stale := strings.Repeat("x", len(ann))
	bobWithStale := basic("Bob", goodPassword)
	bobWithStale.SessionCookie = stale
	wrongBob := basic("Bob", badPassword)
	wrongBob.SessionCookie = ann
	emptyBasic := basic("", "")
	emptyBasic.SessionCookie = ann
	tests := []struct {
		name string
		c    account.Credentials
		want string
	}{
		{"no credentials", account.Credentials{}, "unauthorized"},
		{"cookie", account.Credentials{SessionCookie: ann}, "reader"},
		{"header", account.Credentials{SessionHeader: ann}, "reader"},
		{
			"header before cookie",
			account.Credentials{SessionHeader: bob, SessionCookie: ann},
			"publisher",
		},
		{
			"stale header with a cookie",
			account.Credentials{SessionHeader: stale, SessionCookie: ann},
			"unauthorized",
		},
		{
			"bearer before all",
			account.Credentials{Bearer: key, SessionHeader: bob, SessionCookie: ann},
			"writer",
		},
		{
			"wrong bearer with a cookie",
			account.Credentials{Bearer: key + "x", SessionCookie: ann},
			"unauthorized",
		},
		{
			"bearer with a stale cookie",
			account.Credentials{Bearer: key, SessionCookie: stale},
			"writer",
		},
		{"basic with a stale cookie", bobWithStale, "publisher"},
		{"wrong basic with a cookie", wrongBob, "unauthorized"},
		{"empty basic with a cookie", emptyBasic, "unauthorized"},
		{"key as user name", basic(key, ""), "writer"},
		{"key as user name with any password", basic(key, "x"), "writer"},
		{"unknown key as user name", basic("whd_"+strings.Repeat("A", 43), ""), "unauthorized"},
		{"session id as bearer", bearer(ann), "unauthorized"},
		{"key as session", cookie(key), "unauthorized"},
		{"short cookie", cookie("x"), "unauthorized"},
		{"very long bearer", bearer(strings.Repeat("x", 60_000)), "unauthorized"},
		{"very long cookie", cookie(strings.Repeat("x", 60_000)), "unauthorized"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { p.expect(t, tt.c, tt.want) })
	}
}

func TestIdentityOfEachCredential(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Admin)
	id := p.login(t, "Ann", false)
	key := p.key(t, "till", account.Writer)
	ann := func(method account.AuthMethod) account.Identity {
		return account.Identity{
			Name:        "Ann",
			DisplayName: "Ann!",
			Role:        account.Admin,
			AuthMethod:  method,
		}
	}
	till := func(method account.AuthMethod) account.Identity {
		return account.Identity{Name: "till", Role: account.Writer, AuthMethod: method}
	}
	tests := []struct {
		name    string
		c       account.Credentials
		want    account.Identity
		ambient bool
	}{
		{"cookie", cookie(id), ann(account.Cookie), true},
		{"header", account.Credentials{SessionHeader: id}, ann(account.Header), false},
		{"basic", basic("ann", goodPassword), ann(account.Basic), true},
		{"bearer", bearer(key), till(account.Bearer), false},
		{"key as basic", basic(key, ""), till(account.Basic), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.c.Empty() {
				t.Error("Empty is true, want false")
			}
			got, err := p.Authenticate(t.Context(), tt.c)
			if err != nil {
				t.Fatal(err)
			}
			if (got.KeyID == "") == (got.UserID == "") {
				t.Errorf("%+v has both or neither of a user and a key", got)
			}
			if (got.SessionHash == "") != got.Expires.IsZero() {
				t.Errorf("%+v has only one of SessionHash and Expires", got)
			}
			got.UserID = ""
			got.KeyID = ""
			got.SessionHash = ""
			got.Expires = time.Time{}
			if got != tt.want || !got.Known() {
				t.Errorf("got %+v (known %v), want %+v", got, got.Known(), tt.want)
			}
			if ambient := got.AuthMethod.Ambient(); ambient != tt.ambient {
				t.Errorf("got ambient %v, want %v", ambient, tt.ambient)
			}
		})
	}
	if (account.Identity{}).Known() {
		t.Error("the zero Identity is known, want it unknown")
	}
	if !(account.Credentials{Address: "10.0.0.1"}).Empty() {
		t.Error("credentials with only an address are not empty")
	}
}

// TestVerifiedBasicIsCached checks that a verified password is not hashed again for five
// minutes, unless the user changes.
func TestVerifiedBasicIsCached(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.hashes.Store(0)
	expectHashes := func(when string, want int32) {
		t.Helper()
		if n := p.hashes.Swap(0); n != want {
			t.Errorf("%s: %d hashes, want %d", when, n, want)
		}
	}

	for range 1000 {
		p.expect(t, basic("Ann", goodPassword), "reader")
	}
	expectHashes("1000 requests", 1)
	p.clock.pass(5*time.Minute - 1)
	p.expect(t, basic("ann", goodPassword), "reader")
	expectHashes("within five minutes", 0)
	p.clock.pass(1)
	p.expect(t, basic("Ann", goodPassword), "reader")
	expectHashes("after five minutes", 1)

	name := "Annie"
	if err := p.UpdateUser(t.Context(), "Ann", account.Update{DisplayName: &name}); err != nil {
		t.Fatal(err)
	}
	p.clock.pass(time.Second)
	p.expect(t, basic("Ann", goodPassword), "reader")
	if err := p.SetRole(t.Context(), "Ann", account.Writer); err != nil {
		t.Fatal(err)
	}
	p.hashes.Store(0)
	p.expect(t, basic("Ann", goodPassword), "writer")
	expectHashes("after a change of the user", 1)

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

// TestRecognize checks that passwords are recognized without being verified: wrong ones cost no
// hash and do not count as failed logins.
func TestRecognize(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	p.hashes.Store(0)
	for range 20 {
		for _, password := range []string{badPassword, goodPassword} {
			_, err := p.Recognize(t.Context(), basic("Ann", password))
			if !fault.Is(err, fault.Unauthorized) {
				t.Fatalf("a password that was not verified: got error %v, want Unauthorized", err)
			}
		}
	}
	if n := p.hashes.Load(); n != 0 {
		t.Errorf("%d hashes, want none", n)
	}

	p.expect(t, basic("Ann", goodPassword), "reader")
	identity, err := p.Recognize(t.Context(), basic("Ann", goodPassword))
	if err != nil || identity.Name != "Ann" {
		t.Errorf("a password that was verified: %+v (%v), want Ann", identity, err)
	}
	_, err = p.Recognize(t.Context(), bearer("unknown"))
	if !fault.Is(err, fault.Unauthorized) {
		t.Errorf("an unknown key: got error %v, want Unauthorized", err)
	}
}

func TestUnauthorizedMessages(t *testing.T) {
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

// TestUnavailableStore checks that an unavailable store is not reported as a wrong password.
func TestUnavailableStore(t *testing.T) {
	p := begin(t)
	p.add(t, "Ann", account.Reader)
	id := p.login(t, "Ann", false)
	key := p.key(t, "till", account.Reader)
	down, err := account.New(account.Config{Store: broken{}})
	if err != nil {
		t.Fatal(err)
	}
	p.Service = down
	p.expect(t, cookie(id), "unavailable")
	p.expect(t, bearer(key), "unavailable")
	for range 10 { // these attempts do not count as failed logins
		p.expect(t, basic("Ann", goodPassword), "unavailable")
		_, err := p.Login(t.Context(), account.Login{UserName: "Ann", Password: goodPassword})
		expectKind(t, err, "unavailable")
	}
	expectKind(t, p.Logout(t.Context(), id), "unavailable")
}
