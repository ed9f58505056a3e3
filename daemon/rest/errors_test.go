package rest_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// failingRequest is a request that fails for one of the causes in contract.md, section 6.
type failingRequest struct {
	name    string
	line    string
	body    string
	headers []string
	as      func(testing.TB, *daemontest.Instance) client

	status  int
	code    string
	fields  []string // FieldName of each row of Errors
	message string
	also    string // a header of the response
	bare    bool   // without the query envelope
}

var failures = []failingRequest{
	{name: "a value that is no number", line: "POST /json/reply/SY_FiltersQuery", body: `{"ItemNo":"x"}`,
		status: 400, code: "ArgumentException", fields: []string{"ItemNo"}, message: "ItemNo "},
	{name: "a number too large for its type", line: "GET /json/reply/BM_InputsQuery?SubAssemblyExplodePolicy=256",
		status: 400, code: "ArgumentException", fields: []string{"SubAssemblyExplodePolicy"}},
	{name: "one value for Between", line: "POST /json/reply/SY_FiltersQuery", body: `{"ItemNoBetween":[1]}`,
		status: 400, code: "ArgumentException", fields: []string{"ItemNoBetween"}, message: "takes two values, not 1"},
	{name: "a suffix of another family", line: "GET /json/reply/SY_FiltersQuery?ItemNoContains=1",
		status: 400, code: "ArgumentException", fields: []string{"ItemNoContains"}, message: "ItemNoGreaterThan"},
	{name: "an unknown order field", line: "GET /json/reply/SY_FiltersQuery?OrderBy=Nam",
		status: 400, code: "ArgumentException", fields: []string{"OrderBy"}, message: "Name"},
	{name: "a negative page", line: "GET /json/reply/SY_FiltersQuery?Skip=-1&Take=-1",
		status: 400, code: "ArgumentException", fields: []string{"Skip", "Take"}},
	{name: "an unknown member of a strict request", line: "GET /json/reply/SY_FiltersQuery?Nam=x&Strict=true",
		status: 400, code: "ArgumentException", fields: []string{"Nam"}, message: "did you mean Name"},
	{name: "several at once", line: "POST /json/reply/SY_FiltersQuery", body: `{"ItemNo":1.5,"FilterNo":"x","Take":"y","OrderBy":"z"}`,
		status: 400, code: "ArgumentException", fields: []string{"ItemNo", "FilterNo", "Take", "OrderBy"}, message: "(and 3 more)"},
	{name: "a malformed body", line: "POST /json/reply/SY_FiltersQuery", body: `{"ItemNo":`, status: 400, code: "SerializationException"},
	{name: "a login without a password", line: "POST /json/reply/Authenticate", body: `{"UserName":"x"}`, bare: true,
		status: 400, code: "NotEmpty", fields: []string{"Password"}},
	{name: "no credentials", line: "GET /json/reply/SY_FiltersQuery", as: anonymous,
		status: 401, code: "Unauthorized", also: `Www-Authenticate: credentials realm="/auth/credentials"`},
	{name: "a wrong key", line: "GET /json/reply/SY_FiltersQuery", as: anonymous, headers: []string{"Authorization: Bearer whd_wrong"},
		status: 401, code: "Unauthorized", also: `Www-Authenticate: credentials realm="/auth/credentials"`},
	{name: "a wrong login", line: "GET /auth?UserName=mallory&Password=x", as: anonymous, bare: true,
		status: 401, code: "Unauthorized", message: "Invalid Username or Password"},
	{name: "a callback for a foreign page", line: "GET /json/reply/SY_FiltersQuery?callback=f", headers: []string{"Sec-Fetch-Site: cross-site"},
		status: 403, code: "Forbidden"},
	{name: "an unknown operation", line: "GET /json/reply/SY_FilterQuery", bare: true, status: 404, code: "NotFound", message: "SY_FiltersQuery"},
	{name: "an unknown path", line: "GET /nothing", bare: true, status: 404, code: "NotFound"},
	{name: "a wrong method", line: "DELETE /Queries/SY_Filters", status: 405, code: "MethodNotAllowed", also: "Allow: GET, HEAD, POST, OPTIONS"},
	{name: "a large body", line: "POST /json/reply/SY_FiltersQuery", body: strings.Repeat(" ", 1<<20+1), status: 413, code: "RequestTooLarge"},
	{name: "a large URL", line: "GET /json/reply/SY_FiltersQuery?Name=" + strings.Repeat("x", 64<<10), status: 431, code: "RequestTooLarge"},
	{name: "large headers", line: "GET /json/reply/SY_FiltersQuery", headers: []string{"X-Large: " + strings.Repeat("x", 66<<10)},
		status: 431, code: "RequestTooLarge"},
	{name: "a body of a wrong type", line: "POST /json/reply/SY_FiltersQuery", body: "x", headers: []string{"Content-Type: image/png"},
		status: 415, code: "UnsupportedMediaType"},
	{name: "a source that is missing", line: "GET /json/reply/SO_TotalsQuery", status: 503, code: "ServiceUnavailable",
		message: "no matching table for this record kind", also: "Retry-After: 2"},
	{name: "anything else", line: "GET /json/reply/IN_ColoursQuery", status: 500, code: "InternalError", message: "internal error"},
}

// startFailing runs a daemon over sources that fail.
func startFailing(t *testing.T, args ...string) *daemontest.Instance {
	return startWithView(t, "IN_Colours", broken, append(args, "--erp-sources", "SO_Totals=gone")...)
}

// lineFor returns the request line for another format, if it names one.
func (f failingRequest) lineFor(format string) string {
	line := strings.Replace(f.line, "/json/", "/"+format+"/", 1)
	if line != f.line || strings.Contains(line, "?callback=") {
		return line
	}
	if strings.Contains(line, "?") {
		return line + "&format=" + format
	}
	return line + "?format=" + format
}

func (f failingRequest) send(t testing.TB, i *daemontest.Instance, format string) answer {
	t.Helper()
	as := f.as
	if as == nil {
		as = asAdmin
	}
	c := as(t, i).with("Sec-Fetch-Mode: cors") // a browser would be redirected to the login page
	a := c.do(f.lineFor(format), f.body, f.headers...).want(t, f.status)
	if name, value, some := strings.Cut(f.also, ": "); some {
		a.wantHeader(t, name, value)
	}
	checkNoInternals(t, a)
	return a
}

// checkNoInternals checks that a response contains no internal information.
func checkNoInternals(t testing.TB, a answer) {
	t.Helper()
	text := strings.ToLower(strings.ReplaceAll(a.body, "<select ", "") + fmt.Sprint(a.header)) // of a form
	for _, secret := range []string{"select ", "sqlite", "the_view", "gone", "integer overflow", "/tmp", ".go:", "goroutine", strings.ToLower(daemontest.AdminPassword)} {
		if strings.Contains(text, secret) {
			t.Errorf("the response contains %q: %s", secret, a.body)
		}
	}
}

func TestErrorsInJSON(t *testing.T) {
	i := startFailing(t)
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			a := f.send(t, i, "json")
			if a.header.Get("Content-Type") == "text/javascript; charset=utf-8" {
				a.body = strings.TrimSuffix(strings.TrimPrefix(a.body, "f("), ")")
			}
			e := a.envelope(t)
			s := e.ResponseStatus
			var fields []string
			for _, one := range s.Errors {
				fields = append(fields, one.FieldName)
				if one.ErrorCode != f.code || one.Message == "" {
					t.Errorf("Errors row %+v", one)
				}
			}
			if s.ErrorCode != f.code || s.Message == "" || !slices.Equal(fields, f.fields) || s.StackTrace != "" {
				t.Errorf("%s", a.body)
			}
			if !strings.Contains(a.body, f.message) {
				t.Errorf("%s does not contain %q", a.body, f.message)
			}
			if s.Meta["RequestId"] != a.header.Get("X-Request-Id") || s.Meta["RequestId"] == "" {
				t.Errorf("RequestId %q, X-Request-Id %q", s.Meta["RequestId"], a.header.Get("X-Request-Id"))
			}
			if whole := e.Offset != nil && e.Total != nil && e.Results != nil; whole == f.bare {
				t.Errorf("whole envelope: %v: %s", whole, a.body)
			}
		})
	}
}

func TestErrorsInOtherFormats(t *testing.T) {
	i := startFailing(t)
	for _, f := range failures {
		if strings.Contains(f.line, "callback=") {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			checkCSVFailure(t, f, f.send(t, i, "csv").wantHeader(t, "Content-Type", "text/csv; charset=utf-8").wantHeader(t, "Content-Disposition", ""))
			checkXMLFailure(t, f, f.send(t, i, "xml").wantHeader(t, "Content-Type", "application/xml; charset=utf-8"))
			a := f.send(t, i, "html").wantHeader(t, "Content-Type", "text/html; charset=utf-8")
			if !strings.Contains(a.body, f.code) || !strings.HasSuffix(a.body, "</html>\n") {
				t.Errorf("%s", a.body)
			}
			a = f.send(t, i, "ndjson").wantHeader(t, "Content-Type", "application/x-ndjson")
			var line struct{ ResponseStatus wire.ResponseStatus }
			if err := json.Unmarshal([]byte(a.body), &line); err != nil || line.ResponseStatus.ErrorCode != f.code || !strings.HasSuffix(a.body, "}\n") {
				t.Errorf("%v: %q", err, a.body)
			}
		})
	}
}

func checkCSVFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(a.body, "\r\n"), "\r\n")
	if lines[0] != "ErrorCode,Message,FieldName" || len(lines) != 1+max(1, len(f.fields)) {
		t.Errorf("%q", a.body)
		return
	}
	for n, line := range lines[1:] {
		field := ""
		if f.fields != nil {
			field = f.fields[n]
		}
		if !strings.HasPrefix(line, f.code+",") || !strings.HasSuffix(line, ","+field) {
			t.Errorf("line %q", line)
		}
	}
}

func checkXMLFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	var root struct {
		XMLName        xml.Name
		ResponseStatus struct{ ErrorCode, Message string }
	}
	if err := xml.Unmarshal([]byte(a.body), &root); err != nil || root.ResponseStatus.ErrorCode != f.code || root.ResponseStatus.Message == "" {
		t.Errorf("%v: %s", err, a.body)
	}
	if want := "ErrorResponse"; (root.XMLName.Local == want) != f.bare {
		t.Errorf("root element %s", root.XMLName.Local)
	}
}

func TestStackTraceRequiresDebug(t *testing.T) {
	i := startFailing(t, "--debug")
	c := asAdmin(t, i)
	if s := c.do("GET /json/reply/IN_ColoursQuery", "").want(t, 500).envelope(t).ResponseStatus; !strings.Contains(s.StackTrace, "overflow") {
		t.Errorf("%+v", s)
	}
}

func TestErrorDetailsAreLogged(t *testing.T) {
	i := startFailing(t)
	id := asAdmin(t, i).do("GET /json/reply/IN_ColoursQuery", "").header.Get("X-Request-Id")
	i.Log.Await(t, "level=ERROR", "internal error", id, "overflow")
	id = asAdmin(t, i).do("GET /json/reply/SO_TotalsQuery", "").header.Get("X-Request-Id")
	i.Log.Await(t, "level=WARN", "request failed", id, "no such table")
}

func TestMissingSourceAffectsOnlyItsKind(t *testing.T) {
	c := asAdmin(t, startFailing(t))
	c.do("GET /json/reply/SO_TotalsQuery", "").want(t, 503)
	c.do("GET /json/reply/SY_FiltersQuery", "").want(t, 200)
	c.do("GET /readyz", "").want(t, 200)
}

func TestMemberNameWithHeaderInjection(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	name := url.QueryEscape("Na\r\nSet-Cookie: ss-id=x,\x00é" + strings.Repeat("x", 1000))
	a := c.do("GET /json/reply/SY_FiltersQuery?Take=0&"+name+"=1", "").want(t, 200)
	if got := a.header.Get("X-Ignored-Members"); strings.ContainsAny(got, "\r\n\x00é,") || len(got) > 600 || !strings.HasPrefix(got, "Na??Set-Cookie") {
		t.Errorf("X-Ignored-Members is %q", got)
	}
	if a.header.Get("Set-Cookie") != "" {
		t.Error("a cookie was set by a member's name")
	}
}
