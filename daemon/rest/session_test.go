package rest_test

import (
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/storage"
)

func TestKeepAlive(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	c := anonymous(t, i)
	c.do("GET /KeepAlive", "").want(t, 401).
		wantHeader(t, "WWW-Authenticate", `credentials realm="/auth/credentials", Basic realm="whd"`)
	c.do("GET /Sessions/Current", "").want(t, 401)
	id := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	for _, proof := range []string{
		"Cookie: ss-id=" + id,
		"X-ss-id: " + id,
		basic("admin", daemontest.AdminPassword),
		"Authorization: Bearer " + i.Key(t, "reader"),
	} {
		a := c.do("GET /keepalive/", "", proof).want(t, 204)
		if a.body != "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("/keepalive with %s: got the body %q and the headers %v, want neither body nor cookie",
				proof, a.body, a.header)
		}
	}
}

// sessionServer starts a server with sessions that take the time from passed, and returns an
// anonymous client.
func sessionServer(t *testing.T, passed *atomic.Int64) client {
	t.Helper()
	begun := time.Now()
	handler, _ := newServer(t, storage.Config{Dir: t.TempDir()}, func(c *rest.Config) {
		accounts, err := account.New(account.Config{
			Store: c.Store.(*storage.Store).AppDB.Accounts(),
			Clock: func() time.Time { return begun.Add(time.Duration(passed.Load())) },
			Lifetimes: func() account.Lifetimes {
				return account.Lifetimes{
					Session:  time.Hour,
					Remember: 200 * time.Minute,
				}
			},

			CheapHashes: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := accounts.EnsureAdmin(t.Context(), daemontest.AdminPassword); err != nil {
			t.Fatal(err)
		}
		c.Accounts, c.Edge.TrustedProxies = accounts, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client{t: t, url: server.URL}
}

// A login ends the session of its request after a minute. A failed one does not.
func TestLoginEndsEarlierSession(t *testing.T) {
	for _, proof := range []string{"Cookie: ss-id=", "X-ss-id: "} {
		var passed atomic.Int64
		anonymous := sessionServer(t, &passed)
		first := proof + anonymous.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
		second := proof + anonymous.do("GET /auth?"+loginForm(), "", first).want(t, 200).cookie(t).Value
		anonymous.do("GET /auth?UserName=admin&Password=wrong", "", second).want(t, 401)
		passed.Add(int64(59 * time.Second))
		anonymous.do("GET /KeepAlive", "", first).want(t, 204)
		passed.Add(int64(time.Second))
		anonymous.do("GET /KeepAlive", "", first).want(t, 401)
		anonymous.do("GET /KeepAlive", "", second).want(t, 204)
	}
}

// TestRememberedSessionCookieSlides checks that the cookie is extended with
// its session, but not in each response.
func TestRememberedSessionCookieSlides(t *testing.T) {
	var passed atomic.Int64
	anonymous := sessionServer(t, &passed)
	cookie := anonymous.do("GET /auth?"+loginForm("RememberMe", "on"), "").want(t, 200).cookie(t)
	c := anonymous.with("Cookie: ss-id="+cookie.Value, "X-Forwarded-Proto: https")
	set := 0
	for range 600 { // half minutes: longer than the validity of the first cookie
		passed.Add(int64(30 * time.Second))
		a := c.do("GET /KeepAlive", "").want(t, 204)
		if a.header.Get("Set-Cookie") == "" {
			continue
		}
		set++
		renewed := a.cookie(t)
		if renewed.Value != cookie.Value || !renewed.HttpOnly || !renewed.Secure ||
			renewed.Expires.Before(cookie.Expires) {
			t.Fatalf("%v, was %v", renewed, cookie)
		}
	}
	if set != 150 { // once in two minutes, a hundredth of its lifetime
		t.Errorf("the cookie was set %d times", set)
	}
	id := anonymous.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	if a := anonymous.do("GET /KeepAlive", "", "Cookie: ss-id="+id).want(t, 204); a.header.Get("Set-Cookie") != "" {
		t.Errorf("a session that is not remembered sets %s", a.header.Get("Set-Cookie"))
	}
}

func TestCurrentSession(t *testing.T) {
	i := daemontest.Start(t)
	addUser(t, i, "publisher")
	c := anonymous(t, i)
	id := c.do("GET /auth?UserName=ann&Password="+url.QueryEscape(annPassword), "").want(t, 200).cookie(t).Value
	for proof, via := range map[string]string{
		"Cookie: ss-id=" + id:     "cookie",
		"X-ss-id: " + id:          "header",
		basic("ann", annPassword): "basic",
	} {
		s := read[wire.CurrentSession](t, c.do("GET /Sessions/Current", "", proof).want(t, 200))
		if !s.EmbeddedRecords {
			t.Errorf("via %s: the records are not embedded", via)
		}
		if s.UserName != "Ann" || s.DisplayName != "Ann Other" || s.Role != "publisher" || s.Via != via {
			t.Errorf("got the session %+v, want that of Ann via %s", s, via)
		}
		masked := len(s.SessionID) == 8 && !strings.Contains(id, s.SessionID)
		if (via != "basic") != masked || (s.ExpiryDateTime != "") != masked {
			t.Errorf("via %s: got %+v, want an expiry and a masked ID, for basic neither", via, s)
		}
	}
	key := i.Key(t, "reader")
	s := read[wire.CurrentSession](t,
		c.do("GET /Sessions/Current", "", "Authorization: Bearer "+key).want(t, 200))
	if s.KeyID == "" || s.Via != "bearer" {
		t.Errorf("with an API key: got %+v, want its ID", s)
	}
	c.do("DELETE /Sessions/Current", "", "Cookie: ss-id="+id).want(t, 204).cookie(t)
	c.do("GET /Sessions/Current", "", "Cookie: ss-id="+id).want(t, 401)
}

// TestChangedWhileSignedIn checks changes of a user by an admin while the user is
// logged in.
func TestChangedWhileSignedIn(t *testing.T) {
	i := daemontest.Start(t)
	addUser(t, i, "reader")
	boss, c := asAdmin(t, i), anonymous(t, i)
	cookie := "Cookie: ss-id=" + c.do("GET /auth?UserName=ann&Password="+url.QueryEscape(annPassword), "").want(t, 200).cookie(t).Value
	for _, proof := range []string{cookie, basic("ann", annPassword)} {
		c.do("GET /Users", "", proof).want(t, 403)
	}
	boss.do("PATCH /Users/ann", `{"Role":"admin"}`).want(t, 200)
	for _, proof := range []string{cookie, basic("ann", annPassword)} {
		c.do("GET /Users", "", proof).want(t, 200)
	}
	boss.do("PATCH /Users/ann", `{"Role":"reader"}`).want(t, 200)
	for _, proof := range []string{cookie, basic("ann", annPassword)} {
		c.do("GET /Users", "", proof).want(t, 403)
	}
	boss.do("DELETE /Users/ann", "").want(t, 204)
	for _, proof := range []string{cookie, basic("ann", annPassword)} {
		c.do("GET /KeepAlive", "", proof).want(t, 401)
	}
}

// TestPrecedenceOfCredentials checks which of several credentials is used.
func TestPrecedenceOfCredentials(t *testing.T) {
	i := daemontest.Start(t)
	addUser(t, i, "reader")
	c := anonymous(t, i)
	id := c.do("GET /auth?UserName=ann&Password="+url.QueryEscape(annPassword), "").want(t, 200).cookie(t).Value
	key := i.Key(t, "writer")
	right := map[string]string{
		"cookie": "Cookie: ss-id=" + id,
		"header": "X-ss-id: " + id,
		"basic":  basic("admin", daemontest.AdminPassword),
		"bearer": "Authorization: Bearer " + key,
	}

	wrong := map[string]string{
		"cookie": "Cookie: ss-id=" + strings.Repeat("x", 20),
		"header": "X-ss-id: " + strings.Repeat("x", 20),
		"basic":  basic("admin", "wrong one"),
		"bearer": "Authorization: Bearer x",
	}
	order := []string{"bearer", "basic", "header", "cookie"}
	for n, strong := range order {
		for _, weak := range order[n+1:] {
			if strong == "bearer" && weak == "basic" {
				continue // two Authorization headers: the first is used
			}
			s := read[wire.CurrentSession](t,
				c.do("GET /Sessions/Current", "", right[strong], wrong[weak]).want(t, 200))
			if s.Via != strong {
				t.Errorf("%s with a wrong %s: %+v", strong, weak, s)
			}
			c.do("GET /Sessions/Current", "", wrong[strong], right[weak]).want(t, 401)
		}
	}

	// Cookies of other services on the same host, and an older one of this service.
	c.do("GET /KeepAlive", "", "Cookie: theme=dark; ss-pid=x; ss-id="+id+"; other=\"a b\"").want(t, 204)
	c.do("GET /KeepAlive", "", "Cookie: ss-id=; theme=dark").want(t, 401)
}

func TestProviders(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for _, line := range []string{
		"GET /auth?provider=Credentials&",
		"GET /Authenticate/Credentials?",
		"GET /authenticate?Provider=credentials&",
	} {
		c.do(line+loginForm("State", "x", "UseTokenCookie", "false", "nonce", "1"), "").want(t, 200).
			wantHeader(t, "X-Ignored-Members", "")
	}
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm("Colour", "red"), "").want(t, 200).
		wantHeader(t, "X-Ignored-Members", "Colour").cookie(t).Value
	c.do("POST /auth", `{"provider":"logout"}`, cookie).want(t, 200).cookie(t)
	c.do("GET /auth", "", cookie).want(t, 401)
	c.do("POST /authenticate/logout", "").want(t, 200)
	if a := c.do("GET /auth?provider=facebook&"+loginForm(), "").want(t, 404); !strings.Contains(a.body, "unknown provider facebook") {
		t.Errorf("provider=facebook: got %s, want an unknown provider", a.body)
	}
	if a := c.do("GET /auth?UserName=admin", "").want(t, 400); a.fieldNames(t) != "Password" ||
		!strings.Contains(a.body, "NotEmpty") {
		t.Errorf("without a password: got %s, want NotEmpty for Password", a.body)
	}
	for _, format := range []string{"json", "xml", "csv", "jsv", "html", "ndjson"} {
		a := c.do("GET /"+format+"/reply/authenticate?"+loginForm(), "").want(t, 200)
		id := a.cookie(t).Value
		if !strings.Contains(a.body, id) || !strings.Contains(a.header.Get("Content-Type"), format) {
			t.Errorf("a login as %s: got %s, want the ID of the session", format, a.body)
		}
	}
}

// TestRedirectToTheLoginPage checks that page navigations are redirected to the
// login page, and back to pages of this service only.
func TestRedirectToTheLoginPage(t *testing.T) {
	i := daemontest.Start(t, "--http-base-path", "/erp")
	c := anonymous(t, i)
	page := []string{"Accept: text/html,application/xhtml+xml,*/*;q=0.8"}
	for path, back := range map[string]string{
		"/Queries/DB_Class":              "/erp/Queries/DB_Class",
		"/Queries/DB_Class?Take=1&x=%26": "/erp/Queries/DB_Class?Take=1&x=%26",
		"/html/reply/DB_ClassQuery":      "/erp/html/reply/DB_ClassQuery",
		"/Users":                         "/erp/Users",
	} {
		for _, method := range []string{"GET ", "HEAD "} {
			a := c.do(method+path, "", page...).want(t, 302).wantHeader(t, "WWW-Authenticate", "")
			a.wantHeader(t, "Location", "/erp/login?redirect="+url.QueryEscape(back))
		}
		c.do("GET "+path, "", append(page, "Sec-Fetch-Mode: navigate")...).want(t, 302)
		c.do("GET "+path, "", append(page, "Sec-Fetch-Mode: cors")...).want(t, 401)
		c.do("GET "+path, "", append(page, "Authorization: Bearer x")...).want(t, 401)
	}
	c.do("POST /Queries/DB_Class", "{}", page...).want(t, 401)
	c.do("GET /Queries/DB_Class", "").want(t, 401)
	c.do("GET /auth", "", page...).want(t, 401)
	c.url = strings.TrimSuffix(i.URL, "/erp")
	c.do("GET //erp//Queries/DB_Class", "", page...).want(t, 302).
		wantHeader(t, "Location", "/erp/login?redirect="+url.QueryEscape("/erp//Queries/DB_Class"))
}

func TestLoginRedirectTarget(t *testing.T) {
	c := anonymous(t, daemontest.Start(t))
	for to, want := range map[string]string{
		"/Queries/DB_Class?Take=1": "/Queries/DB_Class?Take=1",
		"//evil.example":           "/Pages",
		`/\evil.example`:           "/Pages",
		`\evil.example`:            "/Pages",
		"https:evil.example":       "/Pages",
		"https://evil.example":     "/Pages",
		"javascript:alert(1)":      "/Pages",
		"/\t/evil.example":         "/Pages",
		"evil.example":             "/Pages",
	} {
		a := c.do("POST /auth/credentials", loginForm("redirect", to),
			"Content-Type: application/x-www-form-urlencoded", "Accept: text/html")
		isRedirect := a.status == 302 || a.status == 303
		if got := a.header.Get("Location"); !isRedirect || got != want {
			t.Errorf("a login with redirect=%s: status %d to %s, want a redirect to %s", to, a.status, got, want)
		}
		if a.cookie(t).Value == "" {
			t.Errorf("a login with redirect=%s sets no session cookie", to)
		}
	}
	a := c.do("POST /auth/credentials", loginForm("redirect", "/x"),
		"Content-Type: application/x-www-form-urlencoded").want(t, 200)
	if a.session(t).SessionID == "" {
		t.Errorf("got %s, want a session", a.body)
	}
}
