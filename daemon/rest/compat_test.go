package rest_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
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
	result, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := result.RowsAffected(); n == 0 {
		t.Fatalf("%s changed no row, want at least one", statement)
	}
}

// browserPage has the headers of a browser that opens a page.
var browserPage = []string{
	"Accept: text/html",
	"User-Agent: Mozilla/5.0 Firefox/140.0",
	"Sec-Fetch-Mode: navigate",
	"Sec-Fetch-Site: none",
}

func TestKeyInURL(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-key-in-url")
	c := anonymous(t, i)
	key := i.Key(t, "reader")
	for _, tt := range []struct {
		line   string
		status int
	}{
		{"GET /json/reply/DB_ClassQuery?Take=1&apikey=KEY", 200},
		{"GET /Queries/DB_Class.csv?aPIkey=KEY&Strict=true", 200},
		{"POST /api/DB_ClassQuery?ApiKey=KEY", 200},
		{"GET /Queries/DB_Class?%61pikey=KEY&callback=f", 200},
		{"HEAD /Queries/DB_Class?apikey=KEY", 200},
		{"GET /auth?apikey=KEY", 200},
		{"GET /KeepAlive?apikey=KEY", 204},
		{"GET /Sessions/Current?apikey=KEY&Strict=true", 200},
		{"GET /Queries/DB_Class?apikey=KEY&apikey=", 200},
	} {
		a := c.do(strings.ReplaceAll(tt.line, "KEY", key), "").wantHeader(t, "X-Ignored-Members", "")
		if a.status != tt.status {
			t.Errorf("%s returned %d %s, want %d", tt.line, a.status, a.body, tt.status)
		}
		if strings.Contains(a.body, key) {
			t.Errorf("the response to %s has the key, want none: %s", tt.line, a.body)
		}
	}
	c.do("POST /json/reply/DB_ClassQuery[]?apikey="+key, `[{"Take":1},{"Take":2}]`).want(t, 200)
}

func TestRoleOfKeyInURL(t *testing.T) {
	i := daemontest.Start(t, "--auth-key-in-url")
	c := anonymous(t, i)
	c.do("POST /ApiKeys?apikey="+i.Key(t, "admin"), `{"Name":"by URL","Role":"reader"}`).want(t, 201)
	c.do("GET /Logs?apikey="+i.Key(t, "reader"), "").want(t, 403)
}

// TestWrongKeyInURL sends wrong keys in URLs, each with a valid one in the body, where it has no
// effect.
func TestWrongKeyInURL(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-key-in-url")
	key := i.Key(t, "reader")
	for _, tt := range []struct{ name, query string }{
		{"unknown", "apikey=" + key[:len(key)-1] + "_"},
		{"part of a key", "apikey=" + key[:20]},
		{"two keys", "apikey=" + key + "&apikey=" + i.Key(t, "admin")},
		{"empty", "apikey="},
		{"in the body", ""},
	} {
		a := anonymous(t, i).do("POST /json/reply/DB_ClassQuery?"+tt.query, `{"apikey":"`+key+`"}`).want(t, 401)
		if !strings.Contains(a.body, `"ErrorCode":"Unauthorized"`) {
			t.Errorf("a query with a key (%s) returned %s, want the ErrorCode Unauthorized", tt.name, a.body)
		}
	}
}

// TestPrecedenceOfKeyInURL checks that a header takes precedence over the URL, and the URL over a
// session.
func TestPrecedenceOfKeyInURL(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-key-in-url")
	c := anonymous(t, i)
	key := i.Key(t, "reader")
	session := c.do("GET /auth?"+loginForm(), "").cookie(t).Value
	c.do("GET /Queries/DB_Class?apikey="+key, "", "Authorization: Bearer whd_wrong").want(t, 401)
	c.do("GET /Queries/DB_Class?apikey="+key, "", "Cookie: ss-id=old").want(t, 200)
	c.do("GET /Queries/DB_Class?apikey=wrong", "", "Cookie: ss-id="+session).want(t, 401)
}

// TestKeyInURLOfOtherOrigins checks that a key in a URL is no proof that the sender is not a page
// of another origin.
func TestKeyInURLOfOtherOrigins(t *testing.T) {
	i := daemontest.Start(t, "--auth-key-in-url")
	c := anonymous(t, i)
	c.do("POST /auth?apikey="+i.Key(t, "reader"), loginForm(), formType, "Sec-Fetch-Site: cross-site").want(t, 403)
	c.do("GET /json/reply/AddApiKey?Name=two&Role=reader&apikey="+i.Key(t, "admin"), "", browserPage...).want(t, 403)
}

// TestKeyInURLOfPages checks that pages and redirects do not repeat the key.
func TestKeyInURLOfPages(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--auth-key-in-url")
	c := anonymous(t, i)
	key := i.Key(t, "reader")
	for _, tt := range []struct {
		line   string
		status int
	}{
		{"GET /Queries/DB_Class?Take=1&apikey=KEY", 200},
		{"GET /Queries/DB_Class?apikey=KEY&Description.op=Contains&Description.value=a", 303},
		{"GET /metadata?op=DB_ClassQuery&apikey=KEY", 200},
	} {
		a := c.do(strings.ReplaceAll(tt.line, "KEY", key), "", browserPage...).want(t, tt.status)
		text := a.body + a.header.Get("Location")
		if strings.Contains(text, key) || strings.Contains(strings.ToLower(text), "apikey=") {
			t.Errorf("the response to %s has the key, want none: %v %s", tt.line, a.header, a.body)
		}
	}
	c.do("GET /Queries/DB_Class?apikey=wrong", "", browserPage...).want(t, 401) // not the login page
}

func TestKeyInURLIsOffByDefault(t *testing.T) {
	i := demo.start(t)
	anonymous(t, i).do("GET /Queries/DB_Class?apikey="+i.Key(t, "reader"), "").want(t, 401)
}

// wantNoKey checks that a response does not repeat the key of its request.
func (a answer) wantNoKey(t *testing.T, line, key string) {
	t.Helper()
	if strings.Contains(a.body, key) {
		t.Errorf("the response to %s has the key, want none: %d %s", line, a.status, a.body)
	}
}

// TestKeyInURLIsOffByDefaultAndIgnored checks that the key is an ignored member, and that only its
// name is reported.
func TestKeyInURLIsOffByDefaultAndIgnored(t *testing.T) {
	i := demo.start(t)
	c := asAdmin(t, i)
	key := i.Key(t, "reader")
	c.do("GET /Queries/DB_Class.json?apikey="+key, "").want(t, 200).wantHeader(t, "X-Ignored-Members", "apikey")
	strict := "GET /Queries/DB_Class?Strict=true&apikey=" + key
	c.do(strict, "").want(t, 400).wantNoKey(t, strict, key)
}

// TestKeyInURLIsOffByDefaultInPages checks that pages do not repeat the key.
func TestKeyInURLIsOffByDefaultInPages(t *testing.T) {
	i := demo.start(t)
	key := i.Key(t, "reader")
	for _, line := range []string{
		"GET /Queries/DB_Class?Take=1&apikey=" + key,
		"POST /Queries/DB_Class.html?Take=1",
	} {
		a := asAdmin(t, i).do(line, `{"apikey":"`+key+`"}`, browserPage[0]).want(t, 200)
		a.wantNoKey(t, line, key)
	}
}

// TestKeyInURLIsOffByDefaultInInvalidQueries checks that no error repeats the key.
func TestKeyInURLIsOffByDefaultInInvalidQueries(t *testing.T) {
	i := demo.start(t)
	key := i.Key(t, "reader")
	for _, query := range []string{
		"apikey=KEY&%zz",
		"%zz=1&ApiKey=KEY",
		"apikey=KEY&apikey[]=KEY",
		"apikey=KEY%zz",
		"apikey[]=KEY",
	} {
		line := "GET /Queries/DB_Class?" + strings.ReplaceAll(query, "KEY", key)
		asAdmin(t, i).do(line, "", browserPage...).wantNoKey(t, line, key)
	}
}

// TestKeyInURLIsOffByDefaultInLogin checks that the redirect to the login page has neither keys
// nor passwords.
func TestKeyInURLIsOffByDefaultInLogin(t *testing.T) {
	i := demo.start(t)
	line := "GET /Queries/DB_Class?Take=1&apikey=" + i.Key(t, "reader") + "&P%61ssword=x&key=y"
	anonymous(t, i).do(line, "", browserPage...).want(t, 302).
		wantHeader(t, "Location", "/login?redirect=%2FQueries%2FDB_Class%3FTake%3D1")
}

// TestLoginLinkHasNoSecrets checks that the link "Log in" of a page, which leads back to it, repeats
// neither keys nor passwords.
func TestLoginLinkHasNoSecrets(t *testing.T) {
	i := demo.start(t)
	const secret = "n0t-to-be-repeated"
	for _, line := range []string{
		"GET /auth?UserName=x&Password=" + secret,
		"GET /metadata?op=DB_ClassQuery&P%61ssword=" + secret,
		"GET /metadata?apikey=" + secret,
	} {
		a := anonymous(t, i).do(line, "", browserPage...)
		a.wantNoKey(t, line, secret)
		if !strings.Contains(a.body, "/login?redirect=") {
			t.Errorf("the response to %s has no link to the login page: %d %s", line, a.status, a.body)
		}
	}
}

// TestNoKeyInURLReachesALog sends keys in URLs, and searches all logs for their text.
func TestNoKeyInURLReachesALog(t *testing.T) {
	for _, setting := range []string{"false", "true"} {
		t.Run("auth.key_in_url="+setting, func(t *testing.T) {
			i := daemontest.Start(t, "--demo", "--requestlog-bodies", "--debug", "--auth-key-in-url="+setting)
			admin := i.Key(t, "admin")
			keys := []string{
				i.Key(t, "reader"),
				admin,
				"Zm9yZWlnbi1rZXktd2l0aG91dC1hbnktcHJlZml4X18", // those of the existing service have no prefix
			}
			sendKeysInURLs(t, i, admin, keys)
			checkLoggedURLs(t, i, admin)
			if err := i.Stop(); err != nil {
				t.Fatal(err)
			}
			checkLogHasNoKey(t, "log", i.Log.String(), keys)
			checkLogHasNoKey(t, "request log", logBytes(t, i.Dir), keys)
		})
	}
}

// sendKeysInURLs sends each of the keys in the URLs of requests, without and with a login.
func sendKeysInURLs(t *testing.T, i *daemontest.Instance, admin string, keys []string) {
	t.Helper()
	c := anonymous(t, i)
	for _, key := range keys {
		for _, line := range []string{
			"GET /json/reply/DB_ClassQuery?Take=1&apikey=KEY",
			"GET /json/reply/DB_ClassQuery?%41piKey=KEY&Take=x",
			"POST /json/reply/DB_ClassQuery?ApiKey=KEY",
			"GET /api/NoQuery?apikey=KEY",
			"GET /nothing?apikey=KEY",
			"GET /metadata?op=X&apikey=KEY",
			"GET /auth?apikey=KEY",
			"GET /auth/apikey?apikey=KEY",
			"POST /login?apikey=KEY",
			"GET /Logs?apikey=KEY",
			"GET /healthz?apikey=KEY",
			"DELETE /Queries/DB_Class?apikey=KEY",
			"GET /Queries/DB_Class?apikey=KEY&%zz",
			"GET /Queries/DB_Class?a=1;apikey=KEY",
			"POST /json/oneway/DB_ClassQuery?apikey=KEY",
			"GET /Webhooks/Stats?apikey=KEY",
		} {
			line = strings.ReplaceAll(line, "KEY", key)
			c.do(line, "", "Referer: "+i.URL+"/Queries/DB_Class?apikey="+key)
			c.do(line, `{"apikey":"`+key+`"}`, "Accept: text/html", "Authorization: Bearer "+admin)
		}
	}
}

// checkLoggedURLs checks that entries of the request log show that the URL had a key.
func checkLoggedURLs(t *testing.T, i *daemontest.Instance, admin string) {
	t.Helper()
	entries := 0
	for _, entry := range anonymous(t, i).with("Authorization: Bearer " + admin).logs("/Logs") {
		if !strings.HasPrefix(entry.AbsoluteURI, i.URL+"/json/reply/DB_ClassQuery?Take=1&") {
			continue
		}
		entries++
		if !strings.HasSuffix(entry.AbsoluteURI, "&apikey=***") {
			t.Errorf("the URL is logged as %s, want &apikey=*** at its end", entry.AbsoluteURI)
		}
	}
	if entries == 0 {
		t.Error("the request log has no entry of the query, want some")
	}
}

// checkLogHasNoKey searches a log for keys, and for the mark in their place.
func checkLogHasNoKey(t *testing.T, name, log string, keys []string) {
	t.Helper()
	for _, key := range keys {
		before, after, ok := strings.Cut(log, key)
		if ok {
			around := before[max(0, len(before)-200):] + key + after[:min(60, len(after))]
			t.Errorf("the %s has the key %s, want none: %q", name, key, around)
		}
	}
	if !strings.Contains(log, "apikey=***") {
		t.Errorf("the %s does not have apikey=***, want it in place of keys", name)
	}
}

// expiredKeys starts a daemon with a key that has expired and a key that was revoked.
func expiredKeys(t *testing.T) (i *daemontest.Instance, expired, revoked string) {
	t.Helper()
	i = daemontest.Start(t, "--auth-key-in-url")
	expired = i.Key(t, "reader")
	c := asAdmin(t, i)
	made := read[wire.APIKey](t, c.do("POST /ApiKeys", `{"Name":"desk","Role":"reader"}`).want(t, 201))
	anonymous(t, i).do("GET /KeepAlive", "", "Authorization: Bearer "+made.Key).want(t, 204)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 204)
	c.do("GET /ApiKeys/"+made.KeyID, "").want(t, 404)
	c.do("DELETE /ApiKeys/"+made.KeyID, "").want(t, 404)
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	// A revoked key expired in 1970, which this must not change.
	execute(t, i.Dir, "whd.db", "UPDATE WH_ApiKey SET ExpiryDateTime = '2020-01-02T03:04:05.0000000' WHERE Role = 'reader' AND ExpiryDateTime NOT LIKE '1970%'")
	return daemontest.StartIn(t, i.Dir, "--auth-key-in-url"), expired, made.Key
}

func TestTokenExpired(t *testing.T) {
	i, expired, revoked := expiredKeys(t)
	for _, key := range []struct{ text, message string }{
		{expired, "The API key expired on 2020-01-02T03:04:05Z"},
		{revoked, "The API key was revoked"},
	} {
		for _, tt := range []struct{ path, header string }{
			{"/KeepAlive", "Authorization: Bearer " + key.text},
			{"/KeepAlive", basic(key.text, "")},
			{"/KeepAlive?apikey=" + key.text, "Accept: application/json"},
		} {
			a := anonymous(t, i).do("GET "+tt.path, "", tt.header).want(t, 401)
			a.wantHeader(t, "WWW-Authenticate", `credentials realm="/auth/credentials", Basic realm="whd"`)
			want := `"ErrorCode":"TokenExpired","Message":"` + key.message + `"`
			if !strings.Contains(a.body, want) {
				t.Errorf("GET %s with %s returned %s, want %s", tt.path, tt.header, a.body, want)
			}
		}
	}
}

// TestUnknownTokens checks that a key of which only the start is right is as unknown as any other.
func TestUnknownTokens(t *testing.T) {
	i, expired, _ := expiredKeys(t)
	unknown := func(key string) string {
		return anonymous(t, i).do("GET /KeepAlive", "", "Authorization: Bearer "+key,
			"X-Request-Id: same").want(t, 401).body
	}
	similar := unknown(expired[:len(expired)-1] + "_")
	different := unknown("whd_" + strings.Repeat("A", 43))
	if similar != different || !strings.Contains(similar, `"Unauthorized"`) {
		t.Errorf("a key with another end returned %s, and another key %s; want the same, with Unauthorized",
			similar, different)
	}
}

// TestPostLogin checks that POST /login responds as POST /auth.
func TestPostLogin(t *testing.T) {
	c := anonymous(t, demo.start(t))
	cookie := c.do("POST /login", loginJSON()).want(t, 200).cookie(t)
	c.do("GET /auth", "", "Cookie: ss-id="+cookie.Value).want(t, 200)
	c.do("POST /login?"+loginForm(), "").want(t, 200).cookie(t)
	for _, body := range []string{
		"UserName=missing&Password=x",
		"UserName=x",
		"",
		"UserName=x&Password=y&RememberMe=maybe",
	} {
		login := c.do("POST /login", body, formType, "X-Request-Id: same")
		auth := c.do("POST /auth", body, formType, "X-Request-Id: same")
		if login.status != auth.status || login.body != auth.body {
			t.Errorf("POST /login with %q returned %d %s, want as POST /auth %d %s",
				body, login.status, login.body, auth.status, auth.body)
		}
	}
	c.do("POST /login", loginForm(), formType, "Sec-Fetch-Site: cross-site").want(t, 403)
}

// TestPostLoginOfPages checks that a browser gets pages and redirects.
func TestPostLoginOfPages(t *testing.T) {
	c := anonymous(t, demo.start(t))
	const page = "Accept: text/html"
	c.do("GET /login", "", page).want(t, 200)
	a := c.do("POST /login", loginForm("redirect", "/metadata"), formType, page).want(t, 303)
	a.wantHeader(t, "Location", "/metadata")
	if a.cookie(t).Value == "" {
		t.Errorf("a login returned the headers %v, want a cookie", a.header)
	}
	a = c.do("POST /login", "UserName=missing&Password=x", formType, page).want(t, 401)
	if !strings.Contains(a.body, "<form") {
		t.Errorf("a failed login returned %s, want the form", a.body)
	}
}

// TestLoginByOtherMethods checks PUT and DELETE: the existing service has one operation for all
// methods.
func TestLoginByOtherMethods(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for _, method := range []string{"PUT", "DELETE"} {
		cookie := c.do(method+" /login", loginJSON()).want(t, 200).cookie(t)
		c.do(method+" /login", "", "Cookie: ss-id="+cookie.Value).want(t, 200).wantMessage(t, `"UserName":"admin"`)
		c.do(method+" /login", "").want(t, 401)
		c.do(method+" /login", loginJSON(), "Sec-Fetch-Site: cross-site").want(t, 403)
	}
}

// startWithEntryOfYesterday starts a daemon that has an entry of the path /yesterday in its
// request log, of the day before today.
func startWithEntryOfYesterday(t *testing.T, today, yesterday string) *daemontest.Instance {
	t.Helper()
	i := daemontest.Start(t)
	asAdmin(t, i).do("GET /yesterday", "").want(t, 404)
	asAdmin(t, i).logs("/Logs") // waits for writes
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	execute(t, i.Dir, "requestlog.db",
		"UPDATE WH_RequestLog SET DateTime = REPLACE(DateTime, ?, ?) WHERE PathInfo = '/yesterday'", today, yesterday)
	return daemontest.StartIn(t, i.Dir)
}

// skipAfterMidnight skips the rest of a test that expects the dates of today, if it is over.
func skipAfterMidnight(t *testing.T, today string) {
	t.Helper()
	if utcDate(0) != today {
		t.Skipf("the test began on %s, and it is %s now", today, utcDate(0))
	}
}

// TestLogOfToday moves an entry of the request log to yesterday, and queries the log with
// and without the setting.
func TestLogOfToday(t *testing.T) {
	today := utcDate(0)
	yesterday := utcDate(-1)
	i := startWithEntryOfYesterday(t, today, yesterday)
	c := asAdmin(t, i)
	paths := []struct {
		path          string
		without, with bool // whether the entry is returned without and with the setting
	}{
		{"/Logs", true, false},
		{"/json/reply/QueryRequestLogsGETManyRequest", true, false},
		{"/Logs?Date=", true, false},
		{"/Logs?ViewErrors=true", true, false},
		{"/Logs?Date=" + yesterday, true, true},
		{"/Logs/" + yesterday, true, true},
		{"/Logs/Yesterday", true, true},
		{"/Logs/Today", false, false},
		{"/Logs?DateTimeLessThan=" + today, true, true},
		{"/Logs?DateTimeGreaterThan=" + yesterday + "&Date=" + today, false, false},
	}
	isOfYesterday := func(e logEntry) bool { return e.PathInfo == "/yesterday" }
	for _, setting := range []bool{false, true} {
		i.Set(t, "requestlog.today", strconv.FormatBool(setting))
		for _, tt := range paths {
			want := tt.without
			if setting {
				want = tt.with
			}
			got := slices.ContainsFunc(c.logs(tt.path), isOfYesterday)
			skipAfterMidnight(t, today)
			if got != want {
				t.Errorf("%s with requestlog.today = %t returned the entry of yesterday: got %t, want %t",
					tt.path, setting, got, want)
			}
		}
	}

	c.do("GET /Logs?Date=x", "").want(t, 400)
}

// TestCompat starts a daemon with the setting, and checks the defaults that it changes.
func TestCompat(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--compat", "servicestack-5", "--requestlog-today=false")
	c := asAdmin(t, i)
	anonymous(t, i).do("GET /Queries/DB_Class?apikey="+i.Key(t, "reader"), "").want(t, 200)
	a := c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)
	if !strings.Contains(a.body, `/Date(`) {
		t.Errorf("a new subscriber is %s, want a date of the existing form", a.body)
	}
}

// TestRisksOfCompat checks that the log warns of the defaults that the setting changes.
func TestRisksOfCompat(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--compat", "servicestack-5", "--requestlog-today=false")
	log := i.Log.String()
	for _, risk := range []string{
		"setting=auth.key_in_url value=true risk=",
		"setting=webhooks.publish value=anonymous risk=",
	} {
		if n := strings.Count(log, risk); n != 1 {
			t.Errorf("the log has %s %d times, want once:\n%s", risk, n, log)
		}
	}
	if strings.Contains(log, "setting=requestlog.today") {
		t.Errorf("the log has the risk of requestlog.today, a default that is not used; want none:\n%s", log)
	}
}

// TestOriginsOfCompat checks where the values of settings are from.
func TestOriginsOfCompat(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--compat", "servicestack-5", "--requestlog-today=false")
	settings := read[[]wire.Setting](t, asAdmin(t, i).do("GET /Settings.json", "").want(t, 200))
	origins := make(map[string]string)
	for _, s := range settings {
		origins[s.Name] = s.Origin
	}
	for _, tt := range []struct{ setting, want string }{
		{"compat", "flag --compat"},
		{"requestlog.today", "flag --requestlog-today"},
		{"auth.key_in_url", "compat"},
		{"webhooks.publish", "compat"},
	} {
		if got := origins[tt.setting]; got != tt.want {
			t.Errorf("the setting %s has the origin %q, want %q", tt.setting, got, tt.want)
		}
	}
}

// TestPublishingOfCompat checks that publishing without a login is closed until there is a network.
func TestPublishingOfCompat(t *testing.T) {
	i := daemontest.Start(t, "--compat", "servicestack-5")
	publish := func() answer {
		return anonymous(t, i).do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":"{}"}`)
	}
	publish().want(t, 401)
	i.Set(t, "webhooks.publish_from", "10.0.0.0/8")
	publish().want(t, 401)
	i.Set(t, "webhooks.publish_from", "127.0.0.0/8")
	publish().want(t, 201)
	i.Set(t, "webhooks.publish", "required")
	publish().want(t, 401)
}
