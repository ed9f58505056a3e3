package rest_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// execute runs a statement in a database file of a stopped daemon.
func execute(t *testing.T, dir, file, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if result, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	} else if n, _ := result.RowsAffected(); n == 0 {
		t.Fatalf("%s: no row", statement)
	}
}

// browserPage has the headers of a browser that opens a page.
var browserPage = []string{"Accept: text/html", "User-Agent: Mozilla/5.0 Firefox/140.0", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none"}

func TestKeyInURL(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-key-in-url")
	c := anonymous(t, i)
	key, admin := i.Key(t, "reader"), i.Key(t, "admin")
	for _, line := range []string{
		"GET /json/reply/DB_ClassQuery?Take=1&apikey=KEY", "GET /Queries/DB_Class.csv?aPIkey=KEY&Strict=true", "POST /api/DB_ClassQuery?ApiKey=KEY",
		"GET /Queries/DB_Class?%61pikey=KEY&callback=f", "HEAD /Queries/DB_Class?apikey=KEY", "GET /auth?apikey=KEY", "GET /KeepAlive?apikey=KEY", "GET /Sessions/Current?apikey=KEY&Strict=true",
		"GET /Queries/DB_Class?apikey=KEY&apikey=",
	} {
		a := c.do(strings.ReplaceAll(line, "KEY", key), "").wantHeader(t, "X-Ignored-Members", "")
		if a.status != 200 && a.status != 204 {
			t.Errorf("%s: %d %s", line, a.status, a.body)
		}
		if strings.Contains(a.body, key) {
			t.Errorf("%s: the response has the key: %s", line, a.body)
		}
	}
	c.do("POST /json/reply/DB_ClassQuery[]?apikey="+key, `[{"Take":1},{"Take":2}]`).want(t, 200)
	c.do("POST /ApiKeys?apikey="+admin, `{"Name":"by URL","Role":"reader"}`).want(t, 201)
	c.do("GET /Logs?apikey="+key, "").want(t, 403)
	for name, url := range map[string]string{
		"unknown": "apikey=" + key[:len(key)-1] + "_", "part of a key": "apikey=" + key[:20], "two keys": "apikey=" + key + "&apikey=" + admin, "empty": "apikey=", "in the body": "",
	} {
		a := c.do("POST /json/reply/DB_ClassQuery?"+url, `{"apikey":"`+key+`"}`).want(t, 401)
		if !strings.Contains(a.body, `"ErrorCode":"Unauthorized"`) {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	// The header takes precedence over the URL, the URL over a session.
	c.do("GET /Queries/DB_Class?apikey="+key, "", "Authorization: Bearer whd_wrong").want(t, 401)
	c.do("GET /Queries/DB_Class?apikey="+key, "", "Cookie: ss-id=old").want(t, 200)
	c.do("GET /Queries/DB_Class?apikey=wrong", "", "Cookie: ss-id="+c.do("GET /auth?"+loginForm(), "").cookie(t).Value).want(t, 401)

	// A key in a URL is no proof that the sender is not a page of another origin.
	c.do("POST /auth?apikey="+key, loginForm(), "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: cross-site").want(t, 403)
	c.do("GET /json/reply/AddApiKey?Name=two&Role=reader&apikey="+admin, "", browserPage...).want(t, 403)

	// Pages and redirects do not repeat the key.
	page := c.do("GET /Queries/DB_Class?Take=1&apikey="+key, "", browserPage...).want(t, 200)
	form := c.do("GET /Queries/DB_Class?apikey="+key+"&Description.op=Contains&Description.value=a", "", browserPage...)
	metadata := c.do("GET /metadata?op=DB_ClassQuery&apikey="+key, "", browserPage...).want(t, 200)
	for _, a := range []answer{page, form, metadata} {
		if strings.Contains(a.body+a.header.Get("Location"), key) || strings.Contains(strings.ToLower(a.body), "apikey=") {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	c.do("GET /Queries/DB_Class?apikey=wrong", "", browserPage...).want(t, 401) // not the login page
}

func TestKeyInURLIsOffByDefault(t *testing.T) {
	i := demo.start(t)
	key := i.Key(t, "reader")
	anonymous(t, i).do("GET /Queries/DB_Class?apikey="+key, "").want(t, 401)
	c := asAdmin(t, i)
	c.do("GET /Queries/DB_Class.json?apikey="+key, "").want(t, 200).wantHeader(t, "X-Ignored-Members", "apikey")
	if a := c.do("GET /Queries/DB_Class?Strict=true&apikey="+key, "").want(t, 400); strings.Contains(a.body, key) {
		t.Errorf("%s", a.body)
	}
	for _, line := range []string{"GET /Queries/DB_Class?Take=1&apikey=" + key, "POST /Queries/DB_Class.html?Take=1"} {
		if a := c.do(line, `{"apikey":"`+key+`"}`, browserPage[0]).want(t, 200); strings.Contains(a.body, key) {
			t.Errorf("%s: %s", line, a.body)
		}
	}
	for _, url := range []string{"apikey=KEY&%zz", "%zz=1&ApiKey=KEY", "apikey=KEY&apikey[]=KEY", "apikey=KEY%zz", "apikey[]=KEY"} {
		if a := c.do("GET /Queries/DB_Class?"+strings.ReplaceAll(url, "KEY", key), "", browserPage...); strings.Contains(a.body, key) {
			t.Errorf("%s: %d %s", url, a.status, a.body)
		}
	}
	a := anonymous(t, i).do("GET /Queries/DB_Class?Take=1&apikey="+key+"&P%61ssword=x&key=y", "", browserPage...).want(t, 302)
	if to := a.header.Get("Location"); to != "/login?redirect=%2FQueries%2FDB_Class%3FTake%3D1" {
		t.Errorf("the redirect is to %s", to)
	}
}

// TestNoKeyInURLReachesALog sends keys in URLs, and searches all logs for their text.
func TestNoKeyInURLReachesALog(t *testing.T) {
	for _, on := range []string{"false", "true"} {
		i := daemontest.Start(t, "--demo", "--requestlog-bodies", "--debug", "--auth-key-in-url="+on)
		key, admin := i.Key(t, "reader"), i.Key(t, "admin")
		// Keys of the existing service have no prefix.
		const other = "Zm9yZWlnbi1rZXktd2l0aG91dC1hbnktcHJlZml4X18"
		c := anonymous(t, i)
		for _, secret := range []string{key, admin, other} {
			for _, line := range []string{
				"GET /json/reply/DB_ClassQuery?Take=1&apikey=KEY", "GET /json/reply/DB_ClassQuery?%41piKey=KEY&Take=x", "POST /json/reply/DB_ClassQuery?ApiKey=KEY", "GET /api/NoQuery?apikey=KEY", "GET /nothing?apikey=KEY",
				"GET /metadata?op=X&apikey=KEY", "GET /auth?apikey=KEY", "GET /auth/apikey?apikey=KEY", "POST /login?apikey=KEY", "GET /Logs?apikey=KEY", "GET /healthz?apikey=KEY", "DELETE /Queries/DB_Class?apikey=KEY",
				"GET /Queries/DB_Class?apikey=KEY&%zz", "GET /Queries/DB_Class?a=1;apikey=KEY", "POST /json/oneway/DB_ClassQuery?apikey=KEY", "GET /Webhooks/Stats?apikey=KEY",
			} {
				c.do(strings.ReplaceAll(line, "KEY", secret), "", "Referer: "+i.URL+"/Queries/DB_Class?apikey="+secret)
				c.do(strings.ReplaceAll(line, "KEY", secret), `{"apikey":"`+secret+`"}`, "Accept: text/html", "Authorization: Bearer "+admin)
			}
		}
		for _, entry := range c.with("Authorization: Bearer " + admin).logs("/Logs") {
			if strings.HasPrefix(entry.AbsoluteURI, i.URL+"/json/reply/DB_ClassQuery?Take=1&") && !strings.HasSuffix(entry.AbsoluteURI, "&apikey=***") {
				t.Errorf("the URL is logged as %s", entry.AbsoluteURI)
			}
		}
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}
		for name, log := range map[string]string{"log": i.Log.String(), "request log": logBytes(t, i.Dir)} {
			for _, secret := range []string{key, admin, other} {
				if at := strings.Index(log, secret); at >= 0 {
					t.Errorf("key_in_url=%s: the %s has a key: %q", on, name, log[max(0, at-200):at+60])
				}
			}
			if !strings.Contains(log, "apikey=***") {
				t.Errorf("the %s does not show that there was a key", name)
			}
		}
	}
}

func TestTokenExpired(t *testing.T) {
	i := daemontest.Start(t, "--auth-key-in-url")
	key := i.Key(t, "reader")
	c := asAdmin(t, i)
	var made wire.APIKey
	if err := json.Unmarshal([]byte(c.do("POST /ApiKeys", `{"Name":"desk","Role":"reader"}`).want(t, 201).body), &made); err != nil {
		t.Fatal(err)
	}
	revoked := made.Key
	anonymous(t, i).do("GET /KeepAlive", "", "Authorization: Bearer "+revoked).want(t, 204)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 204)
	c.do("GET /ApiKeys/"+made.KeyID, "").want(t, 404)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 404)
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	execute(t, i.Dir, "whd.db", "UPDATE WH_ApiKey SET ExpiryDateTime = '2020-01-02T03:04:05.0000000' WHERE Role = 'reader' AND ExpiryDateTime NOT LIKE '1970%'")
	i = daemontest.StartIn(t, i.Dir, "--auth-key-in-url")
	for secret, want := range map[string]string{key: "The API key expired on 2020-01-02T03:04:05Z", revoked: "The API key was revoked"} {
		for _, header := range []string{"Authorization: Bearer " + secret, basic(secret, ""), "Accept: application/json"} {
			path := "/KeepAlive"
			if strings.HasPrefix(header, "Accept") {
				path += "?apikey=" + secret
			}
			a := anonymous(t, i).do("GET "+path, "", header).want(t, 401).wantHeader(t, "WWW-Authenticate", `credentials realm="/auth/credentials", Basic realm="whd"`)
			if !strings.Contains(a.body, `"ErrorCode":"TokenExpired","Message":"`+want+`"`) {
				t.Errorf("%s: %s", header, a.body)
			}
		}
	}
	var unknown []string
	for _, secret := range []string{key[:len(key)-1] + "_", "whd_" + strings.Repeat("A", 43)} {
		a := anonymous(t, i).do("GET /KeepAlive", "", "Authorization: Bearer "+secret, "X-Request-Id: same").want(t, 401)
		unknown = append(unknown, a.body)
	}
	if unknown[0] != unknown[1] || !strings.Contains(unknown[0], `"Unauthorized"`) {
		t.Errorf("%q", unknown)
	}
}

// TestPostLogin checks that POST /login responds as POST /auth.
func TestPostLogin(t *testing.T) {
	c := anonymous(t, demo.start(t))
	const form = "Content-Type: application/x-www-form-urlencoded"
	cookie := c.do("POST /login", loginJSON()).want(t, 200).cookie(t)
	c.do("GET /auth", "", "Cookie: ss-id="+cookie.Value).want(t, 200)
	c.do("POST /login?"+loginForm(), "").want(t, 200).cookie(t)
	for _, body := range []string{"UserName=missing&Password=x", "UserName=x", "", "UserName=x&Password=y&RememberMe=maybe"} {
		login, auth := c.do("POST /login", body, form, "X-Request-Id: same"), c.do("POST /auth", body, form, "X-Request-Id: same")
		if login.status != auth.status || login.body != auth.body {
			t.Errorf("%s: %d %s, want %d %s", body, login.status, login.body, auth.status, auth.body)
		}
	}
	a := c.do("POST /login", loginForm("redirect", "/metadata"), form, "Accept: text/html").want(t, 303)
	if a.header.Get("Location") != "/metadata" || a.cookie(t).Value == "" {
		t.Errorf("%v", a.header)
	}
	if a := c.do("POST /login", "UserName=missing&Password=x", form, "Accept: text/html"); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "<form") {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, method := range []string{"PUT", "DELETE"} { // the existing service has one operation for all methods
		other := c.do(method+" /login", loginJSON()).want(t, 200).cookie(t)
		c.do(method+" /login", "", "Cookie: ss-id="+other.Value).want(t, 200).wantMessage(t, `"UserName":"admin"`)
		c.do(method+" /login", "").want(t, 401)
		c.do(method+" /login", loginJSON(), "Sec-Fetch-Site: cross-site").want(t, 403)
	}
	c.do("GET /login", "", "Accept: text/html").want(t, 200)
	c.do("POST /login", loginForm(), form, "Sec-Fetch-Site: cross-site").want(t, 403)
}

// TestLogOfToday moves an entry of the request log to yesterday, and queries the log with
// and without the setting.
func TestLogOfToday(t *testing.T) {
	i := daemontest.Start(t)
	today, before := utcDate(0), utcDate(-1)
	asAdmin(t, i).do("GET /yesterday", "").want(t, 404)
	asAdmin(t, i).logs("/Logs") // waits for writes
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	execute(t, i.Dir, "requestlog.db", "UPDATE WH_RequestLog SET DateTime = REPLACE(DateTime, ?, ?) WHERE PathInfo = '/yesterday'", today, before)
	i = daemontest.StartIn(t, i.Dir)
	c := asAdmin(t, i)
	for _, test := range []struct {
		path      string
		off, with bool // whether the entry is returned without and with the setting
	}{
		{"/Logs", true, false},
		{"/json/reply/QueryRequestLogsGETManyRequest", true, false},
		{"/Logs?Date=", true, false},
		{"/Logs?ViewErrors=true", true, false},
		{"/Logs?Date=" + before, true, true},
		{"/Logs/" + before, true, true},
		{"/Logs/Yesterday", true, true},
		{"/Logs/Today", false, false},
		{"/Logs?DateTimeLessThan=" + today, true, true},
		{"/Logs?DateTimeGreaterThan=" + before + "&Date=" + today, false, false},
	} {
		for setting, want := range map[string]bool{"false": test.off, "true": test.with} {
			i.Set(t, "requestlog.today", setting)
			found := false
			for _, entry := range c.logs(test.path) {
				found = found || entry.PathInfo == "/yesterday"
			}
			if found != want && utcDate(0) == today { // midnight has not passed
				t.Errorf("%s with requestlog.today = %s: found %t, want %t", test.path, setting, found, want)
			}
		}
	}
	i.Set(t, "requestlog.today", "true")
	c.do("GET /Logs?Date=x", "").want(t, 400)
}

// TestCompat starts a daemon with the setting, and checks the defaults that it changes.
func TestCompat(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--compat", "servicestack-5", "--requestlog-today=false")
	c := asAdmin(t, i)
	for _, s := range []string{`setting=auth.key_in_url value=true risk=`, `setting=webhooks.publish value=anonymous risk=`} {
		if log := i.Log.String(); strings.Count(log, s) != 1 {
			t.Errorf("the log does not have %s once:\n%s", s, log)
		}
	}
	if strings.Contains(i.Log.String(), "setting=requestlog.today") {
		t.Error("the log has the risk of a default that is not used")
	}
	var settings []wire.Setting
	if err := json.Unmarshal([]byte(c.do("GET /Settings.json", "").want(t, 200).body), &settings); err != nil {
		t.Fatal(err)
	}
	for _, s := range settings {
		want := map[string]string{"compat": "flag --compat", "requestlog.today": "flag --requestlog-today", "auth.key_in_url": "compat", "webhooks.publish": "compat"}[s.Name]
		if want != "" && s.Origin != want {
			t.Errorf("%+v, want the origin %s", s, want)
		}
	}
	anonymous(t, i).do("GET /Queries/DB_Class?apikey="+i.Key(t, "reader"), "").want(t, 200)
	if a := c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201); !strings.Contains(a.body, `/Date(`) {
		t.Errorf("no date of the existing form in %s", a.body)
	}
	// Publishing is closed until there is a network.
	event := func() answer {
		return anonymous(t, i).do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":"{}"}`)
	}
	event().want(t, 401)
	i.Set(t, "webhooks.publish_from", "10.0.0.0/8")
	event().want(t, 401)
	i.Set(t, "webhooks.publish_from", "127.0.0.0/8")
	event().want(t, 201)
	i.Set(t, "webhooks.publish", "required")
	event().want(t, 401)
}
