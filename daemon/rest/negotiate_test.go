package rest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// browserAccept is the Accept header of browsers.
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

func TestFormatNegotiation(t *testing.T) {
	const (
		json   = "application/json; charset=utf-8"
		ndjson = "application/x-ndjson"
		csv    = "text/csv; charset=utf-8"
		xml    = "application/xml; charset=utf-8"
		jsv    = "text/jsv"
		html   = "text/html; charset=utf-8"
		script = "text/javascript; charset=utf-8"
	)
	c := asAdmin(t, demo.start(t))
	for _, test := range []struct{ path, accept, want string }{
		// The prefix of a reply route, regardless of Accept, and its overrides.
		{"/csv/reply/DB_ClassQuery?", "application/json", csv},
		{"/json/reply/DB_ClassQuery?", browserAccept, json},
		{"/CSV/reply/DB_ClassQuery?", "", csv},
		{"/csv/reply/DB_ClassQuery?format=json", "", json},
		{"/csv/reply/DB_ClassQuery?FORMAT=Xml", "", xml},
		{"/csv/reply/DB_ClassQuery?format=", "", csv},
		{"/csv/reply/DB_ClassQuery?callback=f", "", script},
		{"/csv/reply/DB_ClassQuery?callback=f&format=csv", "", script},
		{"/csv/reply/DB_ClassQuery.json?", "", csv},
		{"/html/reply/DB_ClassQuery?", "application/json", html},

		// Other routes: suffix, callback, format, Accept, JSON.
		{"/Queries/DB_Class.xml?format=csv", "application/json", xml},
		{"/Queries/DB_Class.xml?callback=f", "", xml},
		{"/Queries/DB_Class.json?callback=f", "", script},
		{"/Queries/DB_Class?callback=f&format=csv", "text/csv", script},
		{"/Queries/DB_Class?callback=", "text/csv", csv},
		{"/Queries/DB_Class?format=jsv", "text/csv", jsv},
		{"/Queries/DB_Class?", "", json},
		{"/Queries/DB_Class?", "*/*", json},
		{"/Queries/DB_Class?", "application/*", json},
		{"/Queries/DB_Class?", "text/*", json},
		{"/Queries/DB_Class?", "text/csv", csv},
		{"/Queries/DB_Class?", "TEXT/CSV; charset=utf-8", csv},
		{"/Queries/DB_Class?", "text/xml", xml},
		{"/Queries/DB_Class?", "application/x-ndjson", ndjson},
		{"/Queries/DB_Class?", "application/json;q=0.5, text/csv;q=0.9", csv},
		{"/Queries/DB_Class?", "text/csv;q=0.5,application/xml;q=0.5", csv},
		{"/Queries/DB_Class?", "text/csv;q=0, */*;q=0.1", json},
		{"/Queries/DB_Class?", "text/csv;q=0", json},
		{"/Queries/DB_Class?", "text/csv;q=x, application/xml;q=0.1", xml},
		{"/Queries/DB_Class?", "text/csv;level=1;Q=0.2, application/xml;q=0.1", csv},
		{"/Queries/DB_Class?", "image/png", json}, // never 406
		{"/Queries/DB_Class?", ",;q=,;;/,", json},
		{"/Queries/DB_Class?", "application/json, text/javascript, */*; q=0.01", json},

		// HTML only for clients that list text/html.
		{"/Queries/DB_Class?", browserAccept, html},
		{"/Queries/DB_Class?", "application/xhtml+xml, */*", json},
		{"/Queries/DB_Class?", "text/html;q=0.1, application/json;q=0.2", json},
		{"/Queries/DB_Class?format=json", browserAccept, json},
		{"/Queries/DB_Class.csv?", browserAccept, csv},
		{"/api/DB_ClassQuery?", browserAccept, html},
	} {
		var headers []string
		if test.accept != "" {
			headers = []string{"Accept: " + test.accept}
		}
		a := c.do("GET "+test.path, "", headers...).want(t, 200)
		if got := a.header.Get("Content-Type"); got != test.want {
			t.Errorf("%s with Accept %q: got %s, want %s", test.path, test.accept, got, test.want)
		}
		a.wantHeader(t, "Vary", "Accept").wantHeader(t, "X-Content-Type-Options", "nosniff")
	}
}

func TestUnknownFormat(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for path, contentType := range map[string]string{
		"/Queries/DB_Class?format=yaml":        "application/json; charset=utf-8",
		"/json/reply/DB_ClassQuery?format=htm": "application/json; charset=utf-8",
		"/csv/reply/DB_ClassQuery?format=yaml": "text/csv; charset=utf-8",
		"/auth?format=yaml":                    "application/json; charset=utf-8",
	} {
		a := c.do("GET "+path, "").want(t, 400).wantHeader(t, "Content-Type", contentType)
		if !strings.Contains(a.body, "ArgumentException") ||
			!strings.Contains(a.body, "must be one of json, ndjson, csv, xml, jsv, html") ||
			!strings.Contains(a.body, "format") {
			t.Errorf("%s: got %s, want an ArgumentException that lists the formats", path, a.body)
		}
	}
}

// Errors of CSV are JSON for clients that accept both by name.
func TestErrorsOfCSV(t *testing.T) {
	const csv = "text/csv; charset=utf-8"
	c := asAdmin(t, demo.start(t))
	for accept, want := range map[string]string{
		"":                                csv,
		"text/csv":                        csv,
		"application/json, */*":           csv,
		"text/csv, application/json":      "application/json; charset=utf-8",
		"Application/JSON;q=0.1,Text/CSV": "application/json; charset=utf-8",
	} {
		c.do("GET /Queries/DB_Class?format=csv&Take=1", "", "Accept: "+accept).want(t, 200).
			wantHeader(t, "Content-Type", csv)
		c.do("GET /Queries/DB_Class?format=csv&Take=x", "", "Accept: "+accept).want(t, 400).
			wantHeader(t, "Content-Type", want).
			wantText(t, "ArgumentException")
	}
}

const javascript = "text/javascript; charset=utf-8"

// TestCallback calls the function of a request, without the characters of its name that could be
// code.
func TestCallback(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	plain := c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	for callback, function := range map[string]string{
		"f":                           "f",
		"jQuery.cb_1$":                "jQuery.cb_1$",
		"alert(1)//":                  "alert_1___",
		"%3Cscript%3E":                "_script_",
		"a%0Ab":                       "a_b",
		"%C3%A9":                      "_",
		strings.Repeat("x", 1000):     strings.Repeat("x", 1000),
		"f&CallBack=g":                "f",
		"window%5B%27alert%27%5D":     "window__alert__",
		"f;document.cookie%3D%22a%22": "f_document.cookie__a_",
	} {
		a := c.do("GET /json/reply/DB_ClassQuery?callback="+callback, "").want(t, 200).
			wantHeader(t, "Content-Type", javascript).
			wantHeader(t, "X-Content-Type-Options", "nosniff")
		want := function + "(" + plain.body + ")"
		if a.body != want {
			t.Errorf("callback=%s: got %s, want %s", callback, shortened(a.body), shortened(want))
		}
	}
}

// wantCall checks that a body is the call of a function f with one argument.
func wantCall(t *testing.T, path, body, argumentStart, argumentEnd string) {
	t.Helper()
	start, end := "f("+argumentStart, argumentEnd+")"
	if !strings.HasPrefix(body, start) || !strings.HasSuffix(body, end) {
		t.Errorf("%s: got %s ... %s, want %s ... %s",
			path, body[:min(len(body), 80)], body[max(0, len(body)-20):], start, end)
	}
}

func TestCallbackOfErrors(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	call := regexp.MustCompile(`^f\(\{.*"ResponseStatus":\{"ErrorCode":.*\}\)$`)
	for path, status := range map[string]int{
		"/json/reply/DB_ClassQuery?Take=-1&callback=f": 400,
		"/json/reply/NopeQuery?callback=f":             404,
		"/nothing?callback=f":                          404,
		"/csv/reply/DB_ClassQuery?Take=x&callback=f":   400,
	} {
		a := c.do("GET "+path, "").want(t, status).wantHeader(t, "Content-Type", javascript)
		if !call.MatchString(a.body) {
			t.Errorf("%s: got %s, want a call of f with an error", path, a.body)
		}
	}
}

func TestCallbackOfSession(t *testing.T) {
	const path = "/auth?callback=f"
	a := asAdmin(t, demo.start(t)).do("GET "+path, "").want(t, 200)
	wantCall(t, path, a.body, `{"SessionId":"","UserName":"admin"`, "}")
}

func TestCallbackOfLargeResponse(t *testing.T) {
	const path = "/json/reply/SO_TotalsQuery?callback=f"
	a := asAdmin(t, demo.start(t)).do("GET "+path, "").want(t, 200)
	wantCall(t, path, a.body, `{"Offset":0`, "}}")
}

func TestNulls(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	query := `{"Take":200,"Fields":"InvoiceID,Cartage3Total"`
	if a := c.do("POST /json/reply/SO_TotalsQuery", query+"}").want(t, 200); strings.Contains(a.body, "null") {
		t.Errorf("unexpected nulls: %s", shortened(a.body))
	}
	for _, a := range []answer{
		c.do("POST /json/reply/SO_TotalsQuery?nulls=include", query+"}"),
		c.do("POST /json/reply/SO_TotalsQuery", query+`,"Nulls":"Include"}`),
	} {
		if !strings.Contains(a.want(t, 200).body, `"Cartage3Total":null`) {
			t.Errorf("no nulls: %s", shortened(a.body))
		}
	}
}

func TestPagesLinkToTheOtherFormats(t *testing.T) {
	a := asAdmin(t, demo.start(t)).do("GET /Queries/DB_Class?Take=2&format=html&Class=%22%3E%3Cscript%3E", "").want(t, 200)
	for _, want := range []string{
		`href="/Queries/DB_Class?Take=2&amp;Class=%22%3E%3Cscript%3E&amp;format=csv"`,
		`href="/Queries/DB_Class?Take=2&amp;Class=%22%3E%3Cscript%3E&amp;format=json"`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(a.body, "<script") {
		t.Error("the page contains a script from the request")
	}
	checkPolicy(t, "the page", a.header)
}

// checkPolicy checks that a page may load nothing but its own style.
func checkPolicy(t *testing.T, page string, header http.Header) {
	t.Helper()
	policy := header.Get("Content-Security-Policy")
	hasOwnStyle := strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-")
	if !hasOwnStyle || strings.Contains(policy, "unsafe") {
		t.Errorf("%s: policy %q", page, policy)
	}
}
