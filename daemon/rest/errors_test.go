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
	header  string // of the response

	noEnvelope bool // without the query envelope
}

var failures = []failingRequest{
	{
		name:    "a value that is no number",
		line:    "POST /json/reply/SY_FiltersQuery",
		body:    `{"ItemNo":"x"}`,
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"ItemNo"},
		message: "ItemNo ",
	},
	{
		name:   "a number too large for its type",
		line:   "GET /json/reply/BM_InputsQuery?SubAssemblyExplodePolicy=256",
		status: 400,
		code:   "ArgumentException",
		fields: []string{"SubAssemblyExplodePolicy"},
	},
	{
		name:    "one value for Between",
		line:    "POST /json/reply/SY_FiltersQuery",
		body:    `{"ItemNoBetween":[1]}`,
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"ItemNoBetween"},
		message: "takes two values, not 1",
	},
	{
		name:    "a suffix of another family",
		line:    "GET /json/reply/SY_FiltersQuery?ItemNoContains=1",
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"ItemNoContains"},
		message: "ItemNoGreaterThan",
	},
	{
		name:    "an unknown order field",
		line:    "GET /json/reply/SY_FiltersQuery?OrderBy=Nam",
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"OrderBy"},
		message: "Name",
	},
	{
		name:   "a negative page",
		line:   "GET /json/reply/SY_FiltersQuery?Skip=-1&Take=-1",
		status: 400,
		code:   "ArgumentException",
		fields: []string{"Skip", "Take"},
	},
	{
		name:    "an unknown member of a strict request",
		line:    "GET /json/reply/SY_FiltersQuery?Nam=x&Strict=true",
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"Nam"},
		message: "did you mean Name",
	},
	{
		name:    "several at once",
		line:    "POST /json/reply/SY_FiltersQuery",
		body:    `{"ItemNo":1.5,"FilterNo":"x","Take":"y","OrderBy":"z"}`,
		status:  400,
		code:    "ArgumentException",
		fields:  []string{"ItemNo", "FilterNo", "Take", "OrderBy"},
		message: "(and 3 more)",
	},
	{
		name:   "a malformed body",
		line:   "POST /json/reply/SY_FiltersQuery",
		body:   `{"ItemNo":`,
		status: 400,
		code:   "SerializationException",
	},
	{
		name:       "a login without a password",
		line:       "POST /json/reply/Authenticate",
		body:       `{"UserName":"x"}`,
		noEnvelope: true,
		status:     400,
		code:       "NotEmpty",
		fields:     []string{"Password"},
	},
	{
		name:   "no credentials",
		line:   "GET /json/reply/SY_FiltersQuery",
		as:     anonymous,
		status: 401,
		code:   "Unauthorized",
		header: `Www-Authenticate: credentials realm="/auth/credentials"`,
	},
	{
		name:    "a wrong key",
		line:    "GET /json/reply/SY_FiltersQuery",
		as:      anonymous,
		headers: []string{"Authorization: Bearer whd_wrong"},
		status:  401,
		code:    "Unauthorized",
		header:  `Www-Authenticate: credentials realm="/auth/credentials"`,
	},
	{
		name:       "a wrong login",
		line:       "GET /auth?UserName=mallory&Password=x",
		as:         anonymous,
		noEnvelope: true,
		status:     401,
		code:       "Unauthorized",
		message:    "Invalid Username or Password",
	},
	{
		name:       "an unknown operation",
		line:       "GET /json/reply/SY_FilterQuery",
		noEnvelope: true,
		status:     404,
		code:       "NotFound",
		message:    "SY_FiltersQuery",
	},
	{name: "an unknown path", line: "GET /nothing", noEnvelope: true, status: 404, code: "NotFound"},
	{
		name:   "a wrong method",
		line:   "DELETE /Queries/SY_Filters",
		status: 405,
		code:   "MethodNotAllowed",
		header: "Allow: GET, HEAD, POST, OPTIONS",
	},
	{
		name:   "a large body",
		line:   "POST /json/reply/SY_FiltersQuery",
		body:   strings.Repeat(" ", 1<<20+1),
		status: 413,
		code:   "RequestTooLarge",
	},
	{
		name:   "a large URL",
		line:   "GET /json/reply/SY_FiltersQuery?Name=" + strings.Repeat("x", 64<<10),
		status: 431,
		code:   "RequestTooLarge",
	},
	{
		name:    "large headers",
		line:    "GET /json/reply/SY_FiltersQuery",
		headers: []string{"X-Large: " + strings.Repeat("x", 66<<10)},
		status:  431,
		code:    "RequestTooLarge",
	},
	{
		name:    "a body of a wrong type",
		line:    "POST /json/reply/SY_FiltersQuery",
		body:    "x",
		headers: []string{"Content-Type: image/png"},
		status:  415,
		code:    "UnsupportedMediaType",
	},
	{
		name:    "a source that is missing",
		line:    "GET /json/reply/SO_TotalsQuery",
		status:  503,
		code:    "ServiceUnavailable",
		message: "no matching table for this record kind",
		header:  "Retry-After: 2",
	},
	{
		name:    "anything else",
		line:    "GET /json/reply/IN_ColoursQuery",
		status:  500,
		code:    "InternalError",
		message: "internal error",
	},
}

// startFailing runs a daemon over sources that fail.
func startFailing(t *testing.T, args ...string) *daemontest.Instance {
	return startWithView(t, "IN_Colours", broken, append(args, "--erp-sources", "SO_Totals=gone")...)
}

// lineFor returns the request line for another format, if it names one.
func (f failingRequest) lineFor(format string) string {
	line := strings.Replace(f.line, "/json/", "/"+format+"/", 1)
	if line != f.line {
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
	if name, value, ok := strings.Cut(f.header, ": "); ok {
		a.wantHeader(t, name, value)
	}
	checkNoInternals(t, a)
	return a
}

// checkNoInternals checks that a response contains no internal information.
func checkNoInternals(t testing.TB, a answer) {
	t.Helper()
	text := strings.ToLower(strings.ReplaceAll(a.body, "<select ", "") + fmt.Sprint(a.header)) // of a form
	for _, secret := range []string{
		"select ", "sqlite", "the_view", "gone", "integer overflow", "/tmp", ".go:", "goroutine",
		strings.ToLower(daemontest.AdminPassword),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("the response contains %q, want nothing of the kind: %s", secret, a.body)
		}
	}
}

// checkStatus checks the ResponseStatus of a failed request in any format.
func checkStatus(t testing.TB, got wire.ResponseStatus, want failingRequest) {
	t.Helper()
	if got.ErrorCode != want.code {
		t.Errorf("ErrorCode is %q, want %q", got.ErrorCode, want.code)
	}
	if got.Message == "" {
		t.Error("Message is empty, want a text")
	}
	if got.StackTrace != "" {
		t.Errorf("StackTrace is %q, want none", got.StackTrace)
	}
}

// checkRows checks the rows of Errors.
func checkRows(t testing.TB, got wire.ResponseStatus, want failingRequest) {
	t.Helper()
	var fields []string
	for n, row := range got.Errors {
		fields = append(fields, row.FieldName)
		if row.ErrorCode != want.code {
			t.Errorf("row %d of Errors has ErrorCode %q, want %q", n, row.ErrorCode, want.code)
		}
		if row.Message == "" {
			t.Errorf("row %d of Errors has no message, want a text", n)
		}
	}
	if !slices.Equal(fields, want.fields) {
		t.Errorf("the rows of Errors are for %q, want %q", fields, want.fields)
	}
}

func TestErrorsInJSON(t *testing.T) {
	i := startFailing(t)
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			a := f.send(t, i, "json")
			e := a.envelope(t)
			checkStatus(t, e.ResponseStatus, f)
			checkRows(t, e.ResponseStatus, f)
			if !strings.Contains(a.body, f.message) {
				t.Errorf("the response is %s, want %q in it", a.body, f.message)
			}

			id := a.header.Get("X-Request-Id")
			if id == "" {
				t.Error("X-Request-Id is empty, want an id")
			}
			if got := e.ResponseStatus.Meta["RequestId"]; got != id {
				t.Errorf("RequestId is %q, want %q as in X-Request-Id", got, id)
			}
			hasEnvelope := e.Offset != nil && e.Total != nil && e.Results != nil
			if hasEnvelope == f.noEnvelope {
				t.Errorf("the response has the query envelope: %v, want %v: %s", hasEnvelope, !f.noEnvelope, a.body)
			}
		})
	}
}

// TestErrorInJSONP checks that the page of another site gets no data with a callback, and that
// the error calls it.
func TestErrorInJSONP(t *testing.T) {
	forbidden := failingRequest{status: 403, code: "Forbidden"}
	c := asAdmin(t, startFailing(t))
	a := c.do("GET /json/reply/SY_FiltersQuery?callback=f", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors")
	a.want(t, forbidden.status).wantHeader(t, "Content-Type", "text/javascript; charset=utf-8")
	checkNoInternals(t, a)

	text, isCall := strings.CutPrefix(a.body, "f(")
	text, isClosed := strings.CutSuffix(text, ")")
	if !isCall || !isClosed {
		t.Fatalf("the response is %s, want a call of f", a.body)
	}
	var failure wire.Failure
	if err := json.Unmarshal([]byte(text), &failure); err != nil {
		t.Fatalf("the argument is %s: %v", text, err)
	}
	checkStatus(t, failure.ResponseStatus, forbidden)
}

func TestErrorsInOtherFormats(t *testing.T) {
	i := startFailing(t)
	for _, format := range []struct {
		name, contentType string
		check             func(*testing.T, failingRequest, answer)
	}{
		{"csv", "text/csv; charset=utf-8", checkCSVFailure},
		{"xml", "application/xml; charset=utf-8", checkXMLFailure},
		{"html", "text/html; charset=utf-8", checkHTMLFailure},
		{"ndjson", "application/x-ndjson", checkNDJSONFailure},
	} {
		t.Run(format.name, func(t *testing.T) {
			for _, f := range failures {
				t.Run(f.name, func(t *testing.T) {
					a := f.send(t, i, format.name)
					a.wantHeader(t, "Content-Type", format.contentType)
					format.check(t, f, a)
				})
			}
		})
	}
}

func checkCSVFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	a.wantHeader(t, "Content-Disposition", "")
	lines := strings.Split(strings.TrimSuffix(a.body, "\r\n"), "\r\n")
	if want := "ErrorCode,Message,FieldName"; lines[0] != want {
		t.Errorf("the first line is %q, want %q", lines[0], want)
	}
	fields := f.fields
	if fields == nil {
		fields = []string{""}
	}
	if got := len(lines) - 1; got != len(fields) {
		t.Fatalf("%d lines follow the first, want %d: %q", got, len(fields), a.body)
	}
	for n, field := range fields {
		line := lines[1+n]
		if !strings.HasPrefix(line, f.code+",") {
			t.Errorf("line %d is %q, want %s at its start", n+1, line, f.code)
		}
		if !strings.HasSuffix(line, ","+field) {
			t.Errorf("line %d is %q, want %q at its end", n+1, line, field)
		}
	}
}

func checkXMLFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	var root struct {
		XMLName        xml.Name
		ResponseStatus struct{ ErrorCode, Message string }
	}
	if err := xml.Unmarshal([]byte(a.body), &root); err != nil {
		t.Fatalf("the response is %s: %v", a.body, err)
	}
	checkStatus(t, wire.ResponseStatus{
		ErrorCode: root.ResponseStatus.ErrorCode,
		Message:   root.ResponseStatus.Message,
	}, f)
	isErrorResponse := root.XMLName.Local == "ErrorResponse"
	if isErrorResponse != f.noEnvelope {
		t.Errorf("the root element is %s; want ErrorResponse: %v", root.XMLName.Local, f.noEnvelope)
	}
}

func checkHTMLFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	if !strings.Contains(a.body, f.code) {
		t.Errorf("the page is %s, want %s in it", a.body, f.code)
	}
	if want := "</html>\n"; !strings.HasSuffix(a.body, want) {
		t.Errorf("the page is %s, want %q at its end", a.body, want)
	}
}

func checkNDJSONFailure(t *testing.T, f failingRequest, a answer) {
	t.Helper()
	if !strings.HasSuffix(a.body, "}\n") {
		t.Errorf("the response ends with %q, want an object and a line feed", a.body[max(0, len(a.body)-10):])
	}
	var line wire.Failure
	if err := json.Unmarshal([]byte(a.body), &line); err != nil {
		t.Fatalf("the response is %q: %v", a.body, err)
	}
	checkStatus(t, line.ResponseStatus, f)
}

func TestStackTraceRequiresDebug(t *testing.T) {
	c := asAdmin(t, startFailing(t, "--debug"))
	e := c.do("GET /json/reply/IN_ColoursQuery", "").want(t, 500).envelope(t)
	if got := e.ResponseStatus.StackTrace; !strings.Contains(got, "overflow") {
		t.Errorf("StackTrace with --debug is %q, want the cause in it: overflow", got)
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
	got := a.header.Get("X-Ignored-Members")
	if strings.ContainsAny(got, "\r\n\x00é,") {
		t.Errorf("X-Ignored-Members is %q, want no special characters", got)
	}
	if len(got) > 600 {
		t.Errorf("X-Ignored-Members has %d bytes, want 600 at most", len(got))
	}
	if want := "Na??Set-Cookie"; !strings.HasPrefix(got, want) {
		t.Errorf("X-Ignored-Members is %q, want %q at its start", got, want)
	}
	if cookie := a.header.Get("Set-Cookie"); cookie != "" {
		t.Errorf("a member's name set the cookie %q, want none", cookie)
	}
}
