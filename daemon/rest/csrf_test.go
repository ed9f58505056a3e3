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

// TestCrossOriginChangesAreRejected checks the protection against CSRF: no page of another origin
// can change something with the credentials that a browser adds.
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

// foreign has the headers that browsers send for requests of pages of other origins.
var foreign = [][]string{
	{"Sec-Fetch-Site: cross-site"},
	{"Sec-Fetch-Site: same-site"},
	{"Origin: http://evil.example"},
	{"Origin: null"},
	{"Referer: http://evil.example/page"},
	{"Referer: http://127.0.0.1/another-port"},
	{"Sec-Fetch-Site: same-origin", "Origin: http://evil.example"},
	{"Sec-Fetch-Site: none", "Referer: http://evil.example"},
	// The same host with another scheme is another origin.
	{
		"Host: whd.example",
		"Origin: https://whd.example",
	},
	{"Host: whd.example", "Origin: http://whd.example:8080"},
	{"Host: whd.example", "Origin: http://whd.example.evil.example"},
	{"Origin: file://"},
	{"Origin: http://%zz"},
	// A plain HTTP page that suppresses its origin.
	{
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
		"Accept: text/html,*/*;q=0.8",
	},
}

func TestCrossOriginRequestsWithBrowserCredentials(t *testing.T) {
	i := demo.start(t)
	c := anonymous(t, i)
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	key := i.Key(t, "writer")
	for _, page := range foreign {
		for _, proof := range []string{cookie, basic("admin", daemontest.AdminPassword)} {
			c := c.with(page...).with(proof)
			for _, line := range []string{
				"GET /json/reply/DB_ClassQuery?callback=f",
				"GET /Queries/DB_Class?callback=f",
				"GET /auth?callback=f",
				"GET /auth/logout",
				"POST /auth/logout",
				"GET /auth/logout?callback=f",
			} {
				c.do(line, "").want(t, 403).wantHeader(t, "Set-Cookie", "")
			}
			c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200) // the page cannot read the response
		}
		c.with(page...).do("GET /json/reply/DB_ClassQuery?callback=f", "", "Authorization: Bearer "+key).want(t, 200)
	}
	c.do("GET /auth", "", cookie).want(t, 200) // the session is still valid
}

func TestSameOriginRequestsWithBrowserCredentials(t *testing.T) {
	i := demo.start(t)
	c := anonymous(t, i)
	cookie := "Cookie: ss-id=" + c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	host := strings.TrimPrefix(i.URL, "http://")
	for _, page := range [][]string{
		{},
		{"Sec-Fetch-Site: same-origin"},
		{"Sec-Fetch-Site: none"},
		{"Origin: " + i.URL},
		{"Referer: " + i.URL + "/page"},
		{"Sec-Fetch-Site: same-origin", "Referer: " + i.URL + "/page"},
		{"Host: WHD.example", "Origin: http://whd.example"},
		{"Host: whd.example:80", "Origin: http://whd.example"},
		{"Sec-Fetch-Site: same-origin", "Origin: https://" + host}, // TLS ends at an unknown proxy
	} {
		c := c.with(page...).with(cookie)
		c.do("GET /json/reply/DB_ClassQuery?callback=f", "").want(t, 200)
		c.do("GET /auth?callback=f", "").want(t, 200)
	}
}
