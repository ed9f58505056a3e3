package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// changing has requests that change something. All of them fail.
var changing = []string{
	"POST /Users",
	"PATCH /Users/admin",
	"DELETE /Users/missing",
	"POST /ApiKeys",
	"DELETE /ApiKeys/none",
	"DELETE /Sessions/Current",
	"PATCH /Bills/x/Stages/y/CustomFieldValues/z",
	"POST /auth",
	"GET /auth",
	"POST /auth/credentials",
	"GET /auth/logout",
	"POST /json/reply/Authenticate",
	"GET /json/reply/AddUser",
	"GET /api/RemoveUser?UserName=missing",
	"POST /json/oneway/RemoveUser",
	"POST /csv/reply/AddUser[]",
	"POST /json/oneway/AddUser%5B%5D",
	"DELETE /xml/reply/WebhooksSubscribersPOSTRequest",
	"PUT /json/reply/RaiseEvent",
	"GET /api/BillStageCustomFieldValuePATCHRequest",
	"GET /html/reply/LogoutGetRequest",
	"GET /api/LoginPOSTRequest",
	"POST /json/reply/LoginPOSTRequest",
}

func TestCrossOriginChangesAreRejected(t *testing.T) {
	i := demo.start(t)
	c := anonymous(t, i)
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	for _, page := range foreign {
		for _, proof := range []string{cookie, basic("admin", daemontest.AdminPassword)} {
			for _, line := range changing {
				if a := c.with(page...).do(line, "", proof).want(t, 403); a.header.Get("Set-Cookie") != "" {
					t.Errorf("%s with %v sets %s", line, page, a.header.Get("Set-Cookie"))
				}
			}
		}
		// A login is a change as well.
		a := c.with(page...).do("POST /auth/credentials", loginForm(),
			"Content-Type: application/x-www-form-urlencoded").want(t, 403)
		if a.header.Get("Set-Cookie") != "" {
			t.Errorf("a login by %v sets %s", page, a.header.Get("Set-Cookie"))
		}
		c.with(page...).do("POST /json/reply/DB_ClassQuery", "", cookie).want(t, 200) // changes nothing
		key := "Authorization: Bearer " + i.Key(t, "reader")
		c.with(page...).do("DELETE /ApiKeys/none", "", key).want(t, 403).wantMessage(t, "requires the role admin")
	}
	c.do("GET /auth", "", cookie).want(t, 200)
}

// TestLinksToChanges checks that a link in an e-mail cannot change anything: browsers
// send the same headers as for an address that the user has typed.
func TestLinksToChanges(t *testing.T) {
	c := anonymous(t, demo.start(t))
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	c = c.with(cookie, "User-Agent: Mozilla/5.0", "Sec-Fetch-Site: none")
	for _, path := range []string{
		"/api/RemoveUser?UserName=missing",
		"/json/reply/RemoveUser?UserName=missing",
		"/html/oneway/WebhooksSubscriberDELETERequest?SubscriberID=" + noID,
	} {
		c.do("GET "+path, "").want(t, 403)
		c.do("POST "+path, "").want(t, 404)
	}
	c.do("GET /json/reply/Users", "").want(t, 200)
	c.do("GET /api/Authenticate", "").want(t, 200)
}

func (a answer) wantMessage(t testing.TB, part string) {
	t.Helper()
	if !strings.Contains(a.body, part) {
		t.Errorf("%s does not contain %q", a.body, part)
	}
}

func TestPagesOfListedOrigins(t *testing.T) {
	i := daemontest.Start(t, "--http-cors-origins", "https://shop.example,http://localhost:3000")
	c := anonymous(t, i)
	for _, page := range [][]string{
		{"Origin: https://shop.example"},
		{
			"Origin: https://shop.example",
			"Sec-Fetch-Site: cross-site",
			"Referer: https://shop.example/basket",
		},
		{"Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"},
	} {
		a := c.with(page...).do("POST /auth", loginJSON()).want(t, 200)
		a.wantHeader(t, "Access-Control-Allow-Origin", strings.TrimPrefix(page[0], "Origin: ")).
			wantHeader(t, "Access-Control-Allow-Credentials", "true")
		if !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "X-Row-Count") ||
			!strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Origin") {
			t.Errorf("got the headers %v, want X-Row-Count exposed and Vary with Origin", a.header)
		}
		c.with(page...).do("GET /Users", "").want(t, 401).
			wantHeader(t, "Access-Control-Allow-Credentials", "true") // the page may read it
		a = c.with(page...).do("OPTIONS /Users/ann", "", "Access-Control-Request-Method: PATCH",
			"Access-Control-Request-Headers: content-type").want(t, 204)
		a.wantHeader(t, "Access-Control-Allow-Methods", "DELETE, GET, HEAD, PATCH, OPTIONS").
			wantHeader(t, "Access-Control-Max-Age", "600")
		if !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Content-Type") {
			t.Errorf("got the headers %v, want Content-Type allowed", a.header)
		}
	}

	for _, origin := range []string{
		"https://evil.example",
		"http://shop.example",
		"https://shop.example:8443",
		"https://shop.example.evil.example",
		"null",
		"https://SHOP.example/",
	} {
		a := c.do("OPTIONS /Users/ann", "", "Origin: "+origin, "Access-Control-Request-Method: PATCH").want(t, 204)
		a.wantHeader(t, "Access-Control-Allow-Origin", "").wantHeader(t, "Access-Control-Allow-Methods", "").
			wantHeader(t, "Vary", "Accept, Origin")
	}

	a := anonymous(t, demo.start(t)).do("OPTIONS /Users", "", "Origin: https://shop.example",
		"Access-Control-Request-Method: POST").want(t, 204)
	a.wantHeader(t, "Access-Control-Allow-Origin", "").wantHeader(t, "Vary", "Accept")
}

// TestAnonymousQueriesRejectCrossOriginCallbacks checks that pages of other origins cannot use
// callbacks to read anonymous queries.
func TestAnonymousQueriesRejectCrossOriginCallbacks(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous", "--http-hosts", "whd.example")
	c := anonymous(t, i)
	for _, page := range foreign {
		c.with(page...).do("GET /json/reply/DB_ClassQuery?callback=steal", "").want(t, 403)
	}
	c.do("GET /json/reply/DB_ClassQuery?callback=take", "").want(t, 200)
	c.with("User-Agent: Mozilla/5.0", "Sec-Fetch-Site: same-origin").do("GET /json/reply/DB_ClassQuery?callback=take", "").want(t, 200)
}

// TestManyUnknownMembers checks that the number of reported unknown members is
// limited.
func TestManyUnknownMembers(t *testing.T) {
	c := anonymous(t, daemontest.Start(t))
	body := strings.Repeat("x", 1)
	for n := range 5000 {
		body += "&y" + strings.Repeat("z", n%7) + string(rune('a'+n%26)) + strings.Repeat("q", n/182) + "=1"
	}
	a := c.do("POST /auth?Strict=true", body, "Content-Type: application/x-www-form-urlencoded").want(t, 400)
	if len(a.body) > 8<<10 {
		t.Errorf("the reply has %d bytes", len(a.body))
	}
}
