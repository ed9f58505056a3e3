package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// cookie returns the session cookie set by a response.
func (a answer) cookie(t testing.TB) *http.Cookie {
	t.Helper()
	for _, c := range a.http.Cookies() {
		if c.Name == "ss-id" {
			return c
		}
	}
	t.Fatalf("a response with status %d, headers %v and body %s sets no ss-id, want one", a.status, a.header, a.body)
	return nil
}

// session returns the response to a login or GET /auth.
func (a answer) session(t testing.TB) wire.AuthenticateResponse {
	t.Helper()
	var s wire.AuthenticateResponse
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return s
}

func loginForm(members ...string) string {
	v := url.Values{"UserName": {"admin"}, "Password": {daemontest.AdminPassword}}
	for i := 0; i < len(members); i += 2 {
		v.Set(members[i], members[i+1])
	}
	return v.Encode()
}

func loginJSON() string {
	body, _ := json.Marshal(map[string]any{
		"userName":   "ADMIN",
		"PASSWORD":   daemontest.AdminPassword,
		"rememberme": false,
	})
	return string(body)
}

func TestLoginRoutes(t *testing.T) {
	c := anonymous(t, demo.start(t))
	seen := make(map[string]bool)
	for _, path := range []string{
		"/auth",
		"/auth/credentials",
		"/authenticate",
		"/json/reply/Authenticate",
		"/JSON/Reply/authenticate/",
		"/Auth.json",
	} {
		for _, a := range []answer{
			c.do("GET "+path+"?"+loginForm(), ""),
			c.do("GET "+path+"?username=admin&pASSWORD="+url.QueryEscape(daemontest.AdminPassword), ""),
			c.do("POST "+path, loginJSON(), "Content-Type: application/json"),
			c.do("POST "+path, loginForm(), formType),
			c.do("GET "+path, loginJSON(), "Content-Type: application/json"),
			c.do("POST "+path+"?UserName=admin", `{"UserName":"missing","Password":"`+daemontest.AdminPassword+`"}`),
		} {
			cookie := a.want(t, 200).cookie(t)
			s := a.session(t)
			if s.SessionID != cookie.Value || s.UserName != "admin" {
				t.Errorf("a login at %s returned %s, want the user admin and the session %s of the cookie",
					path, a.body, cookie.Value)
			}
			if seen[s.SessionID] || s.SessionID == "" {
				t.Errorf("a login at %s returned the session %q, want a new one", path, s.SessionID)
			}
			seen[s.SessionID] = true
			if want := "ss-id=" + s.SessionID + "; Path=/; HttpOnly; SameSite=Lax"; cookie.String() != want {
				t.Errorf("a login at %s set the cookie %s, want %s", path, cookie, want)
			}
		}
	}
}

func TestRememberMe(t *testing.T) {
	c := anonymous(t, demo.start(t))
	const day = 24 * time.Hour
	expires := c.do("GET /auth?"+loginForm("RememberMe", "True"), "").want(t, 200).cookie(t).Expires
	if left := time.Until(expires); left < 13*day || left > 15*day {
		t.Errorf("with RememberMe the session is remembered for %v, want 14 days", left)
	}

	a := c.do("GET /auth?"+loginForm("RememberMe", "maybe"), "").want(t, 400)
	a.wantMessage(t, `"FieldName":"RememberMe"`)

	expires = c.do("GET /auth?"+loginForm("RememberMe", ""), "").want(t, 200).cookie(t).Expires
	if !expires.IsZero() {
		t.Errorf("with an empty RememberMe the session is remembered until %v, want until the browser ends", expires)
	}
}

func TestAuthenticationMethods(t *testing.T) {
	i := daemontest.Start(t) // not shared, since failed logins are limited by address
	c := anonymous(t, i)
	key := i.Key(t, "reader")
	id := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	for _, tt := range []struct {
		header  string
		user    string // the start of the name
		session string
	}{
		{"Cookie: ss-id=" + id, "admin", id},
		{"X-ss-id: " + id, "admin", id},
		{"x-Ss-Id: " + id, "admin", id},
		{basic("admin", daemontest.AdminPassword), "admin", ""},
		{basic("Admin", daemontest.AdminPassword), "admin", ""},
		{basic(key, ""), "reader ", ""},
		{"Authorization: Bearer " + key, "reader ", ""},
		{"Authorization: bEARER   " + key, "reader ", ""},
	} {
		c.do("GET /json/reply/DB_ClassQuery?Take=1", "", tt.header).want(t, 200)
		c.do("POST /Queries/DB_Class", `{"Take":1}`, tt.header).want(t, 200)
		s := c.do("GET /auth", "", tt.header).want(t, 200).session(t)
		if !strings.HasPrefix(s.UserName, tt.user) || s.SessionID != tt.session {
			t.Errorf("GET /auth with %s returned the user %q and the session %q, want %q... and %q",
				tt.header, s.UserName, s.SessionID, tt.user, tt.session)
		}
	}

	for _, header := range []string{
		"Cookie: ss-id=" + strings.ToLower(id) + "x",
		"X-ss-id: " + strings.Repeat("x", 20),
		basic("admin", "wrong"),
		basic("admin", ""),
		"Authorization: Basic !!!",
		"Authorization: Bearer ",
		"Authorization: Bearer " + key[:len(key)-1],
		"Authorization: Bearer " + key + "x",
		"Authorization: " + key,
	} {
		for _, line := range []string{"GET /json/reply/DB_ClassQuery", "GET /auth"} {
			a := c.do(line, "", header).want(t, 401)
			a.wantHeader(t, "WWW-Authenticate", `credentials realm="/auth/credentials", Basic realm="whd"`)
			if strings.Contains(a.body, key) || !strings.Contains(a.body, `"ErrorCode":"Unauthorized"`) {
				t.Errorf("%s with %s returned %s, want the ErrorCode Unauthorized and no key", line, header, a.body)
			}
		}
	}
}

func TestLogout(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for _, line := range []string{"GET /auth/logout", "POST /auth/logout", "GET /Auth/Logout.json/"} {
		for _, name := range []string{"Cookie: ss-id=", "X-ss-id: "} {
			header := name + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
			c.do("GET /auth", "", header).want(t, 200)
			cookie := c.do(line, "", header).want(t, 200).cookie(t)
			if cookie.MaxAge >= 0 || cookie.Value != "" || cookie.Path != "/" {
				t.Errorf("%s set the cookie %s, want an empty one of / that has expired", line, cookie)
			}
			c.do("GET /auth", "", header).want(t, 401)
			c.do("GET /json/reply/DB_ClassQuery", "", header).want(t, 401)
			c.do(line, "", header).want(t, 200) // a second logout
		}
	}
	c.do("GET /auth/logout", "").want(t, 200)
}

func TestTooManyFailedLogins(t *testing.T) {
	i := daemontest.Start(t) // not shared, since failed logins are limited by address
	c := anonymous(t, i)
	const eve = "Eve"
	for range 5 {
		a := c.do("POST /auth", `{"UserName":"`+eve+`","Password":"guess"}`).want(t, 401)
		a.wantMessage(t, `"Message":"Invalid Username or Password"`)
	}
	a := c.do("POST /auth", `{"UserName":"`+strings.ToLower(eve)+`","Password":"guess"}`).want(t, 429)
	a.wantMessage(t, `"ErrorCode":"TooManyRequests"`)
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 99 {
		t.Errorf("the sixth failed login returned Retry-After %q, want from 1 to 99 seconds",
			a.header.Get("Retry-After"))
	}
	c.do("GET /json/reply/DB_ClassQuery", "", basic(eve, "guess")).want(t, 429)
	c.do("POST /auth", loginJSON()).want(t, 200) // another user
}

func TestAnonymousQueries(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	c := anonymous(t, i)
	for _, tt := range []struct {
		line   string
		status int
	}{
		{"GET /json/reply/DB_ClassQuery", 200},
		{"POST /Queries/DB_Class", 200},
		{"GET /json/reply/DB_ClassQuery?callback=f", 200},
		{"POST /json/oneway/DB_ClassQuery", 204},
	} {
		a := c.do(tt.line, "", "Cookie: ss-id=of+a+session+that+has+ended", "Sec-Fetch-Site: same-origin")
		if a.status != tt.status {
			t.Errorf("%s without a login returned status %d, want %d", tt.line, a.status, tt.status)
		}
	}
	c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	c.do("GET /json/reply/DB_ClassQuery", "",
		"Authorization: Bearer wrong").want(t, 401) // invalid credentials are an error even on anonymous routes
	c.do("GET /auth", "").want(t, 401)
}

func TestCookieIsSecureBehindATLSProxy(t *testing.T) {
	i := daemontest.Start(t, "--http-trusted-proxies", "127.0.0.0/8")
	c := anonymous(t, i)
	const oneProxy, twoProxies = "192.0.2.1", "192.0.2.1, 127.0.0.2"
	for _, tt := range []struct {
		client string // X-Forwarded-For
		proto  string
		secure bool
	}{
		{oneProxy, "https", true},
		{oneProxy, "HTTPS", true},
		{oneProxy, "http", false},
		{oneProxy, "", false},
		{oneProxy, "https, http", false}, // the proxy has appended to the header of the client
		{twoProxies, "https, http", true},
		{twoProxies, "http, https", false},
		{twoProxies, "https", true}, // the inner one has left the header as it was
	} {
		for _, path := range []string{"/auth?" + loginForm(), "/auth/logout"} {
			a := c.do("GET "+path, "", "X-Forwarded-For: "+tt.client, "X-Forwarded-Proto: "+tt.proto).want(t, 200)
			if got := a.cookie(t).Secure; got != tt.secure {
				t.Errorf("GET %s from %s with X-Forwarded-Proto %q set a cookie with Secure %t, want %t",
					path, tt.client, tt.proto, got, tt.secure)
			}
		}
	}

	// The header of an untrusted client is ignored.
	cookie := anonymous(t, demo.start(t)).do("GET /auth?"+loginForm(), "",
		"X-Forwarded-Proto: https").want(t, 200).cookie(t)
	if cookie.Secure {
		t.Errorf("X-Forwarded-Proto of an untrusted client set the cookie %s, want one without Secure", cookie)
	}
}

func TestAddressBehindAProxy(t *testing.T) {
	i := daemontest.Start(t, "--http-trusted-proxies", "127.0.0.0/8")
	c := anonymous(t, i)
	c.do("GET /auth?"+loginForm(), "", "X-Forwarded-For: 10.1.2.3").want(t, 200)
	i.Log.Await(t, "path=/auth ", "address=10.1.2.3")
	c.do("GET /auth", "", "X-Forwarded-For: 1.1.1.1, 10.9.9.9, 127.0.0.1").want(t, 401)
	i.Log.Await(t, "path=/auth ", "address=10.9.9.9")
}

func TestOriginBehindATLSProxy(t *testing.T) {
	i := daemontest.Start(t, "--http-trusted-proxies", "127.0.0.0/8")
	c := anonymous(t, i)
	id := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	c.do("GET /auth?callback=f", "", "X-ss-id: "+id,
		"Origin: https://erp.example").want(t, 200) // browsers never send this header on their own
	c = c.with("Cookie: ss-id=" + id)
	c.do("GET /auth?callback=f", "", "Origin: https://erp.example",
		"X-Forwarded-Host: erp.example:443", "X-Forwarded-Proto: https").want(t, 200)
	c.do("GET /auth?callback=f", "", "Origin: http://erp.example", "X-Forwarded-Host: erp.example",
		"X-Forwarded-Proto: https").want(t, 403)
	c.do("GET /auth?callback=f", "", "Origin: https://erp.example").want(t, 403)
}
