package rest_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// asBrowser returns a client that sends the headers of a browser following a link.
func asBrowser(c client) client {
	return c.with("Accept: "+browserAccept, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate")
}

// signIn posts the login form and returns a client with the session.
func signIn(t testing.TB, i *daemontest.Instance) client {
	t.Helper()
	c := asBrowser(anonymous(t, i))
	form := url.Values{
		"UserName": {"admin"},
		"Password": {daemontest.AdminPassword},
		"redirect": {"/metadata"},
	}
	a := c.do("POST /auth/credentials", form.Encode(), "Content-Type: application/x-www-form-urlencoded").want(t, 303)
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	return c.with("Cookie: " + cookie)
}

// hrefs returns the links of a page.
func hrefs(a answer) []string {
	var all []string
	for _, m := range regexp.MustCompile(` (?:href|action)="([^"]*)"`).FindAllStringSubmatch(a.body, -1) {
		all = append(all, strings.ReplaceAll(m[1], "&amp;", "&"))
	}
	return all
}

// link returns the link with the text.
func (a answer) link(t testing.TB, text string) string {
	t.Helper()
	m := regexp.MustCompile(` href="([^"]*)"[^>]*>` + regexp.QuoteMeta(text) + `</a>`).FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("no link %q in %s", text, a.body[strings.Index(a.body, "<main"):])
	}
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// exports returns the links to all rows in a format, and to those of the page.
func (a answer) exports(t testing.TB, format string) (all, page string) {
	t.Helper()
	above, below, ok := strings.Cut(a.body, `aria-label="This page"`)
	if !ok {
		t.Fatalf("no formats in %s", a.body[strings.Index(a.body, "<main"):])
	}
	a.body = above
	all = a.link(t, format)
	a.body = below
	return all, a.link(t, format)
}

// wantText checks that a page contains the texts.
func (a answer) wantText(t testing.TB, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page lacks %q: %s", text, a.body[max(0, strings.Index(a.body, "<main")):])
		}
	}
	return a
}

func rowCount(a answer) int { return strings.Count(a.body, "<tr><td") }

// TestFilterSortAndPage follows the links and the form of the pages to filter, sort
// and page through the rows of a kind.
func TestFilterSortAndPage(t *testing.T) {
	c := signIn(t, demo.start(t))
	a := c.do("GET /Queries/SO_Totals", "").want(t, 200).
		wantText(t, "Rows 1 to 100 of 12,000.", "<b aria-current=\"true\">100</b>", "Sales invoice totals")
	if rowCount(a) != 100 {
		t.Errorf("%d rows", rowCount(a))
	}

	// The filter form as browsers send it: every field has its two members.
	form := "InvoiceID.op=Equal&InvoiceID.value=&InvoiceTotal.op=GreaterThan&InvoiceTotal.value=+90000+&Cartage1Total.op=Between&Cartage1Total.value=1%2C20"
	a = c.do("GET /Queries/SO_Totals?"+form, "").want(t, 303)
	plain := "/Queries/SO_Totals?InvoiceTotalGreaterThan=90000&Cartage1TotalBetween=1%2C20"
	a.wantHeader(t, "Location", plain)

	a = c.do("GET "+plain, "").want(t, 200).
		wantText(t, "InvoiceTotal is over <b>90000</b>", "Cartage1Total is between <b>1,20</b>",
			`<option value="GreaterThan" selected>`, `name="InvoiceTotal.value" value="90000"`)
	both := rowCount(a)
	a = c.do("GET "+a.link(t, "InvoiceTotal"), "").want(t, 200).wantText(t, `aria-sort="ascending"`)
	a = c.do("GET "+a.link(t, `InvoiceTotal <span class="dir" aria-hidden="true">&#x25B2;</span>`), "").want(t, 200).
		wantText(t, `aria-sort="descending"`)
	if rowCount(a) != both {
		t.Errorf("%d rows in order, %d without", rowCount(a), both)
	}

	a = c.do("GET "+a.link(t, "Remove all"), "").want(t, 200).wantText(t, "of 12,000.", `aria-sort="descending"`)
	a = c.do("GET "+a.link(t, "25"), "").want(t, 200).wantText(t, "Rows 1 to 25 of 12,000.")
	a = c.do("GET "+a.link(t, "Next"), "").want(t, 200).wantText(t, "Rows 26 to 50 of 12,000.")
	a = c.do("GET "+a.link(t, "Last"), "").want(t, 200).wantText(t, "Rows 11,976 to 12,000 of 12,000.")
	a = c.do("GET "+a.link(t, "First"), "").want(t, 200).wantText(t, "Rows 1 to 25 of 12,000.")
	all, page := a.exports(t, "NDJSON")
	for link, want := range map[string]int{all: 12000, page: 25} {
		rows := c.do("GET "+link, "").want(t, 200)
		if n := strings.Count(rows.body, "\n"); n != want {
			t.Errorf("%s: %d rows as NDJSON, want %d", link, n, want)
		}
	}
	if all := c.do("GET "+a.link(t, "All"), "").want(t, 200); rowCount(all) != 12000 {
		t.Errorf("%d rows of all", rowCount(all))
	}
}

// TestFilterFormKeepsOtherMembers has two conditions on a field, an order and a
// page.
func TestFilterFormKeepsOtherMembers(t *testing.T) {
	c := signIn(t, demo.start(t))
	a := c.do("GET /api/SO_TotalsQuery.html?InvoiceTotalGreaterThan=10&InvoiceTotalLessThan=20&OrderBy=InvoiceID&Take=7&Skip=7&Fields=InvoiceID", "").want(t, 200)
	a.wantText(t, `<input type="hidden" name="InvoiceTotalLessThan" value="20">`, `<input type="hidden" name="OrderBy" value="InvoiceID">`,
		`<input type="hidden" name="Take" value="7">`, `action="/api/SO_TotalsQuery.html"`, "Fields = <b>InvoiceID</b>")
	if strings.Contains(a.body, `name="Skip"`) {
		t.Error("the form keeps Skip")
	}
	_, got := a.exports(t, "CSV")
	if !strings.HasPrefix(got, "/api/SO_TotalsQuery?") || !strings.HasSuffix(got, "&format=csv") {
		t.Errorf("CSV is at %s", got)
	}
}

// TestPagesOfPostedQueries sends members in a body: the links of the page repeat
// them in a query string, or the page has a note that they cannot.
func TestPagesOfPostedQueries(t *testing.T) {
	c := signIn(t, demo.start(t))
	a := c.do("POST /Queries/IN_Colours", `{"DescriptionIn": ["Red", "a,b", "[x]"], "Take": 5}`).want(t, 200)
	_, want := a.exports(t, "JSON")
	if want != "/Queries/IN_Colours?DescriptionIn=Red%2C%22a%2Cb%22%2C%22%5Bx%5D%22&Take=5&format=json" {
		t.Errorf("JSON is at %s", want)
	}
	same := c.do("POST /Queries/IN_Colours?format=json", `{"DescriptionIn": ["Red", "a,b", "[x]"], "Take": 5}`)
	if got := c.do("GET "+want, ""); got.body != same.body || len(same.envelope(t).Results) == 0 {
		t.Errorf("the link leads to %s, not %s", got.body, same.body)
	}
	a = c.do("POST /Queries/IN_Colours", `{"Description": ""}`).want(t, 200).
		wantText(t, "This request was sent in a body")
	if strings.Contains(a.body, "format=json") {
		t.Error("a link leads to other rows")
	}
}

// TestLinksStayBelowTheBasePath follows every link of the main pages.
func TestLinksStayBelowTheBasePath(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-base-path", "/erp/whd")
	c := asBrowser(asAdmin(t, i))
	c.url = strings.TrimSuffix(i.URL, "/erp/whd")
	seen := make(map[string]bool)
	for _, page := range []string{
		"/metadata",
		"/metadata?op=SO_TotalsQuery",
		"/metadata?op=AddUser",
		"/Queries/SO_Totals?InvoiceTotalGreaterThan=5&OrderBy=InvoiceID",
		"/login",
		"/nothing",
		"/Users",
		"/Pages",
		"/Pages/Messages",
		"/Pages/Subscribers",
		"/Pages/Keys",
		"/Pages/Users/Do/New",
	} {
		for _, to := range hrefs(c.do("GET /erp/whd"+page, "")) {
			path, _, _ := strings.Cut(to, "#")
			if path == "" || seen[path] {
				continue
			}
			seen[path] = true
			if !strings.HasPrefix(path, "/erp/whd/") {
				t.Errorf("%s leads to %s", page, to)
			}
			got := c.do("OPTIONS "+strings.SplitN(path, "?", 2)[0], "")
			if got.status != 204 && !strings.HasSuffix(path, "nothing") {
				t.Errorf("%s leads to %s: status %d", page, to, got.status)
			}
		}
	}

	c.do("GET /erp/whd", "").want(t, 302).wantHeader(t, "Location", "/erp/whd/Pages")
	c.do("GET /erp/whd/nothing", "").want(t, 404).wantText(t, "path not found", `href="/erp/whd/metadata"`)
}

// TestHostileTextsAreEscaped puts markup where a page repeats text of the request.
func TestHostileTextsAreEscaped(t *testing.T) {
	c := signIn(t, demo.start(t))
	const script, quote = "%3Cscript%3Ealert(1)%3C/script%3E", "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"
	for _, request := range []string{
		"GET /Queries/DB_Class?Class=" + script,
		"GET /Queries/DB_Class?Class=" + quote + "&OrderBy=Class",
		"GET /Queries/DB_Class?" + quote + "=" + script,
		"GET /Queries/DB_Class?Fields=Class," + script + "&Include=COUNT(*)%20" + "x",
		"GET /Queries/DB_Class?Take=" + quote,
		"GET /Queries/DB_Class?OrderBy=" + script,
		"GET /Queries/" + script + "?format=html",
		"GET /metadata?op=" + quote,
		"GET /" + script,
		"GET /login?redirect=javascript:alert(1)",
		"GET /login?redirect=" + quote,
		"GET /Queries/DB_Class?jsconfig=" + script + "&v=" + quote,
		"GET //evil.example/Queries/DB_Class",
		"GET /metadata?" + quote,
	} {
		a := c.do(request, "", "Host: 127.0.0.1")
		for _, bad := range []string{"<script", "<img", `href="javascript`, `value="javascript`, `"//evil`} {
			if strings.Contains(strings.ToLower(a.body), bad) {
				t.Errorf("%s: the page has %s: %s", request, bad, a.body)
			}
		}
		checkPolicy(t, request, a.header)
	}
}

// TestPagesNeedNoScript checks every page against its Content-Security-Policy.
func TestPagesNeedNoScript(t *testing.T) {
	c := signIn(t, demo.start(t))
	for _, page := range []string{
		"/metadata",
		"/metadata?op=SO_TotalsQuery",
		"/Queries/SO_Totals",
		"/login",
		"/nothing",
		"/Users",
		"/Sessions/Current",
		"/Logs",
		"/Pages",
		"/Pages/Messages?Refresh=10",
		"/Pages/Subscribers/New",
		"/Pages/Settings",
	} {
		a := c.do("GET "+page, "")
		a.body = strings.Replace(a.body, `<link rel="icon" href="/favicon.ico">`, "", 1)
		for _, bad := range []string{
			"<script", " style=", " onclick", "<link", "<img", "@import", "url(",
			`="http://www`, `="https://`,
		} {
			if strings.Contains(a.body, bad) {
				t.Errorf("%s has %s", page, bad)
			}
		}
		a.wantText(t, `<html lang="en">`, `name="viewport"`, `<a class="skip" href="#main">`,
			`<main id="main"`, "<h1>", "Log out")
	}
}

func TestLoginPage(t *testing.T) {
	c := asBrowser(anonymous(t, demo.start(t)))
	post := func(form url.Values) answer {
		return c.do("POST /auth/credentials", form.Encode(), "Content-Type: application/x-www-form-urlencoded")
	}
	c.do("GET /login?redirect=/Queries/SO_Totals%3FTake%3D5", "").want(t, 200).
		wantText(t, `action="/auth/credentials"`, `name="redirect" value="/Queries/SO_Totals?Take=5"`,
			`<label for="user">`, `<label for="password">`)

	a := post(url.Values{
		"UserName": {"kim <b>"},
		"Password": {"a wrong secret"},
		"redirect": {"/Queries/SO_Totals"},
	}).want(t, 401)
	a.wantText(t, "Invalid Username or Password", `value="kim &lt;b&gt;"`,
		`value="/Queries/SO_Totals"`, `role="alert"`)
	if strings.Contains(a.body, "a wrong secret") {
		t.Error("the page repeats the password")
	}

	for to, want := range map[string]string{
		"/Queries/SO_Totals?Take=5": "/Queries/SO_Totals?Take=5",
		"/Logs/Today":               "/Logs/Today",
		"https://evil.example/":     "/Pages",
		"//evil.example/":           "/Pages",
		`/\evil.example`:            "/Pages",
		"javascript:alert(1)":       "/Pages",
		"/\t/evil.example":          "/Pages",
		"evil.example":              "/Pages",
		"http:/evil.example":        "/Pages",
	} {
		a := post(url.Values{
			"UserName": {"admin"},
			"Password": {daemontest.AdminPassword},
			"redirect": {to},
		}).want(t, 303).wantHeader(t, "Location", want)
		if !strings.HasPrefix(a.header.Get("Set-Cookie"), "ss-id=") {
			t.Errorf("cookie %q", a.header.Get("Set-Cookie"))
		}
	}
}

func TestLogoutButton(t *testing.T) {
	c := signIn(t, demo.start(t))
	c.do("GET /metadata", "").want(t, 200).
		wantText(t, `<form method="post" action="/auth/logout"><button class="quiet">Log out</button></form>`, "<span>admin</span>")
	c.do("POST /auth/logout", "").want(t, 303).wantHeader(t, "Location", "/login")
	a := c.do("GET /metadata", "").want(t, 200).wantText(t, `href="/login?redirect=%2fmetadata"`)
	if strings.Contains(a.body, "Log out") {
		t.Error("the page still offers to log out")
	}
	c.do("GET /Queries/SO_Totals", "").want(t, 302)
}
