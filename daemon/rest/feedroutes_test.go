package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestFeedRoutes: paths below /odata are compared as they were sent, errors have the form of
// OData, and a missing login is always a Basic challenge.
func TestFeedRoutes(t *testing.T) {
	for _, base := range []string{"", "/erp/whd"} {
		f := &feedRoutes{base: base, Instance: daemontest.Start(t, "--demo", "--http-base-path", base)}
		t.Run("statuses below "+base+"/", f.testStatuses)
		t.Run("challenge below "+base+"/", f.testChallenge)
		t.Run("tokens below "+base+"/", f.testTokens)
		t.Run("page below "+base+"/", f.testPage)
		t.Run("connection file below "+base+"/", f.testConnectionFile)
	}
	t.Run("anonymous", func(t *testing.T) {
		i := daemontest.Start(t, "--auth-queries", "anonymous")
		anonymous(t, i).do("GET /odata/SO_Totals?$top=1", "").want(t, 200)
	})
}

// feedRoutes is a daemon with feeds below a base path.
type feedRoutes struct {
	*daemontest.Instance
	base string
}

// testStatuses checks the statuses of paths and options, and the form of errors.
func (f *feedRoutes) testStatuses(t *testing.T) {
	c := asAdmin(t, f.Instance)
	for line, want := range map[string]int{
		"GET /odata":                                                       200,
		"GET /odata/":                                                      200,
		"HEAD /odata/SO_Totals":                                            200,
		"GET /odata/$metadata":                                             200,
		"GET /odata/%24metadata":                                           200,
		"GET /odata/SO_Totals":                                             200,
		"GET /odata/SO%5FTotals":                                           200,
		"GET /odata/SO_Totals/$count":                                      200,
		"GET /odata/SO_Totals('00120')":                                    200,
		"GET /odata/SO_Totals(InvoiceID='00120')":                          200,
		"GET /odata/SO_Totals%28%2700120%27%29":                            200,
		"GET /odata/SO_Totals('00%31%320')":                                200,
		"GET /odata/SO_Totals('a%2Fb')":                                    404,
		"GET /odata/SO_Totals('a//b')":                                     404,
		"GET /odata/SO_Totals('(''')')":                                    400,
		"GET /odata/SO_Totals('()')":                                       404,
		"GET /odata/SO_Totals()":                                           400,
		"GET /odata/SO_Totals(1)":                                          400,
		"GET /odata/so_totals":                                             404,
		"GET /odata/SO_Totals/":                                            200,
		"GET /odata/SO_Totals/?$top=1":                                     200,
		"GET /odata/$metadata/":                                            200,
		"GET /odata/SO_Totals/$count/":                                     200,
		"GET /odata/SO_Totals('00120')/":                                   200,
		"GET /odata/SO_Totals.pbids/":                                      200,
		"POST /odata/SO_Totals/":                                           501,
		"GET /odata/SO_Totals//":                                           404,
		"GET /odata//":                                                     404,
		"GET /odata//SO_Totals":                                            404,
		"GET /OData/SO_Totals":                                             404,
		"GET /odata/SO_Totals.json":                                        404,
		"GET /odata/Nope":                                                  404,
		"GET /odata/SO_Totals/InvoiceTotal":                                404,
		"GET /odata/SO_TotalsQuery":                                        404,
		"GET /odata/SO_Totals.pbids":                                       200,
		"GET /odata/RequestLog":                                            404,
		"POST /odata/SO_Totals":                                            501,
		"PATCH /odata/SO_Totals('00120')":                                  501,
		"DELETE /odata/SO_Totals('00120')":                                 501,
		"PUT /odata/$metadata":                                             501,
		"POST /odata/$batch":                                               501,
		"OPTIONS /odata/SO_Totals":                                         204,
		"GET /odata/SO_Totals?$top=1&format=csv&callback=f&x=1":            200,
		"GET /odata/SO_Totals?$top=1&$format=xml":                          415,
		"GET /odata/SO_Totals?$format=atom":                                415,
		"GET /odata/SO_Totals('00120')?$format=application/atom%2Bxml":     415,
		"GET /odata?$format=xml":                                           415,
		"GET /odata/SO_Totals/$count?$format=xml":                          415,
		"GET /odata/SO_Totals/$count?$format=json":                         200,
		"GET /odata/SO_Totals/$count?$format=text/plain":                   200,
		"GET /odata/$metadata?$format=xml":                                 200,
		"GET /odata/$metadata?$format=application/xml;charset=utf-8":       200,
		"GET /odata/$metadata?$format=json":                                415,
		"GET /odata/SO_Totals?$top=1&$format=json":                         200,
		"GET /odata/SO_Totals?$top=1&$format=":                             200,
		"GET /odata/SO_Totals?$orderby=-InvoiceTotal":                      501,
		"GET /odata/SO_Totals?$orderby=InvoiceTotal%20mul%202":             501,
		"GET /odata/SO_Totals?$select=$it":                                 501,
		"GET /odata/SO_Totals?$orderby=$it":                                501,
		"GET /odata/SO_Totals?$top=1&InvoiceID.op=Equal&InvoiceID.value=1": 200,
	} {
		a := c.do(line, "", "Accept: text/html").want(t, want)
		if a.status >= 400 && strings.Contains(line, " /odata") &&
			(!strings.HasPrefix(a.body, `{"error":{"code":"`) || a.header.Get("OData-Version") != "4.0") {
			t.Errorf("%s: got %s, want an error of OData 4.0", line, a.body)
		}
		if strings.HasSuffix(line, "&x=1") {
			a.wantHeader(t, wire.HeaderIgnoredMembers, "format, callback, x").
				wantHeader(t, "Content-Type", "application/json;odata.metadata=minimal;charset=utf-8")
		}
		if t.Failed() {
			t.Fatalf("%s%s returned %s", f.base, line, a.body)
		}
	}
}

// testChallenge checks the responses without a valid login.
func (f *feedRoutes) testChallenge(t *testing.T) {
	for _, headers := range [][]string{
		nil,
		{"Accept: text/html", "User-Agent: Mozilla/5.0"},
		{"Origin: http://other.example"},
		{"Authorization: Bearer wrong"},
	} {
		for _, path := range []string{"", "/$metadata", "/SO_Totals", "/SO_Totals.pbids"} {
			a := anonymous(t, f.Instance).do("GET /odata"+path, "", headers...).want(t, 401).
				wantHeader(t, "WWW-Authenticate", `Basic realm="whd"`)
			if !strings.HasPrefix(a.body, `{"error":{"code":"Unauthorized"`) {
				t.Error(a.body)
			}
		}
	}
}

// testTokens checks that tokens of other pages are refused.
func (f *feedRoutes) testTokens(t *testing.T) {
	c := asAdmin(t, f.Instance)
	for _, token := range []string{"abc", "-1.-1.abc"} {
		if a := c.do("GET /odata/SO_Totals?$skiptoken="+token, "").want(t, 400); !strings.Contains(a.body, `"message":"$skiptoken is not one of these records`) {
			t.Errorf("the token %s: got %s, want an error for $skiptoken", token, a.body)
		}
	}
}

// testPage checks that a key can be a user name, and that the page of a kind links to its feed.
func (f *feedRoutes) testPage(t *testing.T) {
	c := asAdmin(t, f.Instance)
	key := anonymous(t, f.Instance).with(basic(f.Key(t, "reader"), ""))
	key.do("GET /odata/SO_Totals?$top=1", "").want(t, 200)
	page := c.do("GET /Queries/SO_Totals?Take=1", "", "Accept: text/html").want(t, 200).body
	for _, want := range []string{
		"<code>" + f.URL + "/odata/SO_Totals</code>",
		`href="` + f.base + `/odata/SO_Totals.pbids"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// testConnectionFile checks the file that opens a feed in Power BI.
func (f *feedRoutes) testConnectionFile(t *testing.T) {
	c := asAdmin(t, f.Instance)
	file := c.do("GET /odata/SO_Totals.pbids", "").want(t, 200).
		wantHeader(t, "Content-Disposition", "attachment; filename=SO_Totals.pbids")
	if want := `{"version":"0.1","connections":[{"details":{"protocol":"odata","address":{"url":"` + f.URL + `/odata/SO_Totals"}},"options":{},"mode":"Import"}]}` + "\n"; file.body != want {
		t.Errorf("%s, want %s", file.body, want)
	}
}
