package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/daemontest"
)

// noTiming removes the headers that differ between any two responses.
func noTiming(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Date", "Server-Timing", "X-Request-Id"} {
		h.Del(name)
	}
	return h
}

func TestMethodsOfReplyRoutes(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, verb := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for _, format := range []string{"json", "csv", "xml", "jsv", "html", "ndjson"} {
			a := c.do(verb+" /"+format+"/reply/DB_ClassQuery?Take=3", "").want(t, 200)
			if !strings.Contains(a.header.Get("Content-Type"), format) || a.body == "" {
				t.Errorf("%s as %s: %s, %q", verb, format, a.header.Get("Content-Type"), a.body)
			}
			a = c.do(verb+" /"+format+"/oneway/DB_ClassQuery?Take=3", `{"Skip":1}`).want(t, 204)
			if a.body != "" {
				t.Errorf("oneway responds %q", a.body)
			}
		}
	}
	c.do("POST /json/oneway/DB_ClassQuery", `{"Take":-1}`).want(t, 400)
	c.do("GET /json/oneway/NopeQuery", "").want(t, 404)
	c.do("PUT /Queries/DB_Class", "").want(t, 405).wantHeader(t, "Allow", "GET, HEAD, POST, OPTIONS")
	c.do("DELETE /api/DB_ClassQuery", "").want(t, 405).wantHeader(t, "Allow", "GET, HEAD, POST, OPTIONS")
}

func TestEquivalentPaths(t *testing.T) {
	i := daemontest.Start(t, "--demo", "--http-base-path", "/erp/whd")
	c := asAdmin(t, i)
	c.url = strings.TrimSuffix(i.URL, "/erp/whd")
	want := c.do("GET /erp/whd/json/reply/SO_TotalsQuery?Take=3", "").want(t, 200)
	for _, path := range []string{
		"/erp/whd/json/reply/so_totalsquery",
		"/ERP/Whd/JSON/Reply/SO_TOTALSQUERY",
		"//erp///whd//json/reply//SO_TotalsQuery//",
		"/erp/whd/json/reply/SO_TotalsQuery/",
		"/erp/whd/json/reply/SO_TotalsQuery.json",
		"/erp/whd/json/reply/SO_TotalsQuery.csv", // the prefix decides
		"/erp/whd/json/reply/SO_TotalsQuery.HTML/",
		"/erp/whd/j%73on/reply/SO%5FTotalsQuery",
		"/erp/whd/Queries/SO_Totals",
		"/erp/whd/queries/so_totals/",
		"/erp/whd/queries//SO_TOTALS.json",
		"/erp/whd/queries//SO_TOTALS.JSON",
		"/erp/whd/api/SO_TotalsQuery",
		"/erp/whd/Api/so_totalsQUERY.json",
	} {
		a := c.do("GET "+path+"?Take=3", "").want(t, 200)
		if a.body != want.body {
			t.Errorf("%s: got %s, want the same rows as with other slashes and letter case", path, shortened(a.body))
		}
	}

	for _, path := range []string{
		"/json/reply/SO_TotalsQuery", // without the base path
		"/erp/json/reply/SO_TotalsQuery",
		"/erp/whd",
		"/erp/whd/",
		"/",
		"/erp/whd/json/reply/SO_Totals%2FQuery",
		"/erp/whd/json%2Freply/SO_TotalsQuery",
		"/erp/whd/json/reply/SO_TotalsQuery/more",
		"/erp/whd/json/reply",
		"/erp/whd/json/reply/..",
		"/erp/whd/../whd/json/reply/SO_TotalsQuery",
		"/erp/whd/./json/reply/SO_TotalsQuery",
		"/erp/whd/Queries/.json",
		"/erp/whd/healthz.json",
		"/erp/whd/%00",
	} {
		a := c.do("GET "+path, "")
		if a.status != 404 || !strings.Contains(a.body, "NotFound") {
			t.Errorf("%s: status %d, %s", path, a.status, shortened(a.body))
		}
	}

	for _, path := range []string{"/erp/whd/healthz", "/erp/whd/READYZ/", "/erp/whd//metrics"} {
		c.do("GET "+path, "").want(t, 200)
	}
}

func TestSuffixes(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for suffix, contentType := range map[string]string{
		".json":   "application/json; charset=utf-8",
		".csv":    "text/csv; charset=utf-8",
		".ndjson": "application/x-ndjson",
		".xml":    "application/xml; charset=utf-8",
		".jsv":    "text/jsv",
		".html":   "text/html; charset=utf-8",
	} {
		for _, kind := range record.Builtin().Kinds() {
			for _, path := range []string{"/Queries/" + kind.Name, "/api/" + kind.Operation()} {
				c.do("GET "+path+suffix+"?Take=2", "", "Accept: application/json").want(t, 200).
					wantHeader(t, "Content-Type", contentType)
			}
		}
	}
	c.do("GET /auth.xml", "").want(t, 200).wantHeader(t, "Content-Type", "application/xml; charset=utf-8")
	c.do("GET /Queries/SO_Totals.txt", "").want(t, 404)
}

func TestUnknownOperationSuggestions(t *testing.T) {
	for _, test := range []struct{ path, message string }{
		{"/json/reply/SO_TotalQuery", "unknown operation SO_TotalQuery; did you mean SO_TotalsQuery?"},
		{"/json/reply/SO_Totals", "unknown operation SO_Totals; did you mean SO_TotalsQuery?"},
		{"/json/oneway/IN_ColorsQuery", "did you mean IN_ColoursQuery?"},
		{"/api/in_colours", "did you mean IN_ColoursQuery?"},
		{"/Queries/SO_Total", "unknown record kind SO_Total; did you mean SO_Totals?"},
		{"/Queries/SO_TotalsQuery", "did you mean SO_Totals?"},
		{"/json/reply/Nothing", "known: CR_BatchTransDocumentsQuery, IN_KitStockTakeMainQuery,"},
		{"/Queries/x%0d%0ay%C3%A9", "unknown record kind x??y?; known: CR_BatchTransDocuments,"},
	} {
		// The names of operations are not secret.
		a := anonymous(t, demo.start(t)).do("GET "+test.path, "").want(t, 404)
		e := a.envelope(t).ResponseStatus
		if e.ErrorCode != "NotFound" || !strings.Contains(e.Message, test.message) {
			t.Errorf("%s: got %s, want NotFound with %q", test.path, a.body, test.message)
		}
	}
	c := anonymous(t, demo.start(t))
	c.do("GET /yaml/reply/SO_TotalsQuery", "").want(t, 404)
	c.do("GET /yaml/reply/SO_TotalsQuery?format=json", "").want(t, 404)
	a := c.do("GET /csv/reply/SO_TotalQuery", "").want(t, 404)
	if !strings.HasPrefix(a.body, "ErrorCode,Message,FieldName\r\nNotFound,") {
		t.Errorf("not CSV: %s", a.body)
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, path := range []string{
		"/json/reply/DB_ClassQuery",
		"/csv/reply/DB_ClassQuery",
		"/Queries/DB_Class.html",
		"/healthz",
		"/readyz",
		"/auth",
		"/json/reply/DB_ClassQuery?Take=-1",
		"/json/reply/NopeQuery",
		"/nothing",
		"/Queries/DB_Class?callback=f",
	} {
		get, head := c.do("GET "+path, "", "Want-Digest: sha-256"), c.do("HEAD "+path, "", "Want-Digest: sha-256")
		got, want := noTiming(head.header), noTiming(get.header)
		if head.status != get.status || head.body != "" {
			t.Errorf("HEAD %s: status %d, want %d; body %q", path, head.status, get.status, head.body)
		}
		for name := range want {
			if strings.Join(got[name], ", ") != strings.Join(want[name], ", ") {
				t.Errorf("HEAD %s: %s is %q, want %q", path, name, got[name], want[name])
			}
		}
	}
	a := c.do("HEAD /json/reply/SO_TotalsQuery", "").want(t, 200)
	if a.body != "" || a.header.Get("Content-Length") != "" {
		t.Errorf("HEAD of a large reply: %v, %q", a.header, a.body)
	}
}

func TestOptions(t *testing.T) {
	c := anonymous(t, demo.start(t))
	for path, allow := range map[string]string{
		"/json/reply/DB_ClassQuery":  "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS",
		"/Queries/DB_Class":          "GET, HEAD, POST, OPTIONS",
		"/auth":                      "GET, HEAD, POST, OPTIONS",
		"/healthz":                   "GET, HEAD, OPTIONS",
		"/json/reply/Authenticate":   "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS",
		"/Queries/DB_Class.csv?a=%z": "GET, HEAD, POST, OPTIONS",
	} {
		if a := c.do("OPTIONS "+path, "").want(t, 204).wantHeader(t, "Allow", allow); a.body != "" {
			t.Errorf("%s: body %q", path, a.body)
		}
	}
	c.do("OPTIONS /nothing", "").want(t, 404).wantHeader(t, "Allow", "")
	c.do("BREW /csv/reply/DB_ClassQuery", "").want(t, 405).wantHeader(t, "Content-Type", "text/csv; charset=utf-8")
	if a := c.do("BREW /healthz", "").want(t, 405); !strings.Contains(a.body, `"ErrorCode":"MethodNotAllowed"`) {
		t.Errorf("BREW: got %s, want MethodNotAllowed", a.body)
	}
}
