package rest_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

func TestOneLineForEachRequest(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := asAdmin(t, i)
	for _, test := range []struct {
		line  string
		parts []string
	}{
		{
			line: "GET /json/reply/DB_ClassQuery?Take=1",
			parts: []string{
				"level=INFO",
				"method=GET",
				"path=/json/reply/DB_ClassQuery",
				`query="Take=1"`,
				"status=200",
				"aborted=false",
				"user=admin",
				"address=127.0.0.1",
			},
		},
		{
			line: "HEAD /Queries/DB_Class",
			parts: []string{
				"level=INFO", "method=HEAD", "path=/Queries/DB_Class", "status=200",
				"user=admin",
			},
		},
		{line: "GET /json/reply/SO_TotalsQuery", parts: []string{"status=200", "aborted=false"}},
		{line: "GET /json/reply/NopeQuery", parts: []string{"status=404"}},
		{line: "OPTIONS /auth", parts: []string{"method=OPTIONS", "status=204", "bytes=0"}},
		{line: "BREW /auth", parts: []string{"method=BREW", "status=405"}},
		{line: "GET /a%2Fb%0Ac", parts: []string{"path=/a%2Fb%0Ac", "status=404"}},
		{line: "GET /healthz", parts: []string{"level=DEBUG", "path=/healthz", "status=200"}},
		{line: "GET /readyz", parts: []string{"level=DEBUG", "path=/readyz", "status=200"}},
	} {
		id := c.do(test.line, "").header.Get("X-Request-Id")
		i.Log.Await(t, append(test.parts, "msg=request", "id="+id, " ms=")...)
	}

	id := c.do("GET /"+strings.Repeat("y", 30000)+"?"+strings.Repeat("x", 30000), "").header.Get("X-Request-Id")
	if line := i.Log.Await(t, "msg=request", id); len(line) > 5000 {
		t.Errorf("log line of %d bytes", len(line))
	}
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(i.Log.String(), "msg=request"); n != 10 {
		t.Errorf("%d lines for 10 requests", n)
	}
}

func TestRequestIDs(t *testing.T) {
	c := anonymous(t, demo.start(t))
	made := make(map[string]bool)
	for range 3 {
		id := c.do("GET /healthz", "").header.Get("X-Request-Id")
		if len(id) != 16 || made[id] {
			t.Errorf("X-Request-Id %q", id)
		}
		made[id] = true
	}
	for sent, taken := range map[string]bool{
		"f2b1-2019_05.01/a:b":   true,
		"two words":             false,
		`quote"`:                false,
		"\u00e9":                false,
		"tab\tbed":              false,
		"a\\b":                  false,
		strings.Repeat("x", 64): true,
		strings.Repeat("x", 65): false,
	} {
		got := c.do("GET /healthz", "", "X-Request-Id: "+sent).header.Get("X-Request-Id")
		if (got == sent) != taken || got == "" {
			t.Errorf("%q became %q", sent, got)
		}
	}
}

// canaries are secrets that must not appear in logs.
var canaries = []string{
	"canary-password", "canary-user", "canary-key", "canary-header",
	"canary-cookie", "canary-bearer", daemontest.AdminPassword,
}

func TestNoSecretReachesTheLog(t *testing.T) {
	i := daemontest.Start(t)
	key := i.Key(t, "reader")
	c := anonymous(t, i)
	for _, test := range []struct {
		line, body string
		headers    []string
	}{
		{line: "GET /auth?UserName=canary-user&Password=canary-password"},
		{line: "GET /auth?a=1&username=canary-user&PASSWORD=canary-password&b=2"},
		{line: "GET /auth?User%4Eame=canary-user&P%61ssword=canary-password"},
		{line: "GET /auth?Password=canary-password&Password=canary-password%zz"},
		{line: "GET /auth?%zz=canary-password&Password=canary-password"},
		{line: "GET /auth?Password+=canary-password&%20password=canary-password"},
		{line: "GET /auth?%7B%22UserName%22:%22canary-user%22,%22Password%22:%22canary-password%22%7D"},
		{line: "GET /auth?RememberMe=x;Password=canary-password"},
		{line: "GET /json/reply/DB_ClassQuery?ApiKey=canary-key&Headers=canary-header"},
		{line: "POST /auth", body: `{"UserName":"canary-user","Password":"canary-password"}`},
		{line: "POST /auth", body: `{"UserName":{"x":"canary-user"},"Password":["canary-password"]`},
		{
			line:    "POST /auth",
			body:    "UserName=canary-user&Password=canary-password",
			headers: []string{"Content-Type: application/x-www-form-urlencoded"},
		},
		{
			line:    "POST /auth?Password=canary-password",
			body:    "canary-password",
			headers: []string{"Content-Type: text/x"},
		},
		{
			line:    "POST /json/reply/DB_ClassQuery",
			body:    `{"Password":"canary-password","Strict":true}`,
			headers: []string{"Authorization: Bearer " + key},
		},
		{line: "GET /json/reply/DB_ClassQuery", headers: []string{basic("canary-user", "canary-password")}},
		{line: "GET /json/reply/DB_ClassQuery", headers: []string{"Authorization: Bearer canary-bearer"}},
		{line: "GET /json/reply/DB_ClassQuery", headers: []string{"Cookie: ss-id=canary-cookie"}},
		{line: "GET /json/reply/DB_ClassQuery", headers: []string{"X-ss-id: canary-cookie"}},
		{
			line:    "GET /auth/logout",
			headers: []string{"X-ss-id: canary-cookie", "Cookie: ss-id=canary-cookie"},
		},
		{line: "GET /auth?" + loginForm()},
		{line: "GET /auth?UserName=admin&Password=" + url.PathEscape(daemontest.AdminPassword)},
		{line: "GET /json/reply/DB_ClassQuery", headers: []string{basic("admin", daemontest.AdminPassword)}},
	} {
		a := c.do(test.line, test.body, test.headers...)
		for _, secret := range append(canaries, key) {
			if strings.Contains(a.body, secret) {
				t.Errorf("%s: the response contains %s: %s", test.line, secret, a.body)
			}
		}
	}

	id := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	c.do("GET /auth", "", "Cookie: ss-id="+id).want(t, 200)
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}

	log, err := url.QueryUnescape(strings.ReplaceAll(i.Log.String(), "%zz", ""))
	if err != nil {
		t.Fatal(err)
	}

	for _, secret := range append(canaries, key, id) {
		if strings.Contains(log, secret) || strings.Contains(i.Log.String(), secret) {
			t.Errorf("the log contains %s:\n%s", secret, log)
		}
	}

	if n := strings.Count(log, "msg=request"); n != 24 {
		t.Errorf("%d lines for 24 requests", n)
	}
}
