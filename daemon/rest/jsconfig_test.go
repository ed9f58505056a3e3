package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestJSConfig checks the options of ServiceStack's parameter, in all places where a response
// has names of members, and that options without effect are reported.
func TestJSConfig(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const (
		page   = "/json/reply/SO_TotalsQuery?Take=1&Fields=InvoiceID&Include=Total"
		pascal = `{"Offset":0,"Results":[{"InvoiceID":"`
		camel  = `{"offset":0,"results":[{"invoiceID":"`
	)
	for _, test := range []struct{ line, want, ignored string }{
		{line: page, want: pascal, ignored: ""},
		{line: page + "&jsconfig=eccn", want: camel, ignored: ""},
		{line: page + "&jsconfig=ECCN:true", want: camel, ignored: ""},
		{line: page + "&jsconfig={EmitCamelCaseNames:1}", want: camel, ignored: ""},
		{line: page + "&jsconfig=tc:cc", want: camel, ignored: ""},
		{line: page + "&jsconfig=TextCase:CamelCase", want: camel, ignored: ""},
		{line: page + "&jsconfig=eccn:false", want: pascal, ignored: ""},
		{line: page + "&jsconfig=eccn,tc:d", want: pascal, ignored: ""},
		{line: page + "&jsconfig=eccn,dh:iso8601", want: camel, ignored: ""},
		{line: page + "&jsconfig=eccn,edv,%20inv:true", want: camel, ignored: "jsconfig=edv, jsconfig=inv"},
		{line: page + "&jsconfig=elun,edv,edv", want: pascal, ignored: "jsconfig=elun, jsconfig=edv"},
		{line: page + "&jsconfig=tc:sc,dh:ut", want: pascal, ignored: "jsconfig=tc, jsconfig=dh"},
		{line: page + "&jsconfig=<b>", want: pascal, ignored: "jsconfig=***"},
		{line: page + "&jsconfig=edv&Nothing=1", want: pascal, ignored: "jsconfig=edv, Nothing"},
		{line: page + "&jsconfig=eccn&callback=f", want: `f(` + camel, ignored: ""},
		{line: page + "&jsconfig=eccn&nulls=include", want: camel, ignored: ""},
		{line: page + "&jsconfig=eccn&format=ndjson", want: `{"InvoiceID":`, ignored: "jsconfig=eccn"},
		{line: page + "&jsconfig=eccn&format=csv", want: "InvoiceID\r\n", ignored: "jsconfig=eccn"},
		{line: page + "&jsconfig=eccn&format=xml", want: "<InvoiceID>", ignored: "jsconfig=eccn"},
		{line: page + "&jsconfig=eccn&format=jsv", want: "{offset:0,results:[{invoiceID:", ignored: ""},
		{
			line: "/json/reply/SO_TotalsQuery?Take=1&jsconfig=eccn&GroupBy=InvoiceID&Include=SUM(InvoiceTotal)",
			want: `"sumInvoiceTotal":`,
		},
		{line: "/api/GetSession?jsconfig=eccn", want: `{"userName":"admin",`, ignored: ""},
		{line: "/api/GetSession.jsv?jsconfig=eccn", want: `{userName:admin,`, ignored: ""},
		{line: "/api/Users?jsconfig=eccn", want: `[{"userName":"admin",`, ignored: ""},
		{line: "/Logs?Take=1&Fields=Headers&jsconfig=eccn", want: `{"headers":{"`, ignored: ""},
	} {
		a := c.do("GET "+test.line, "").want(t, 200).wantHeader(t, "X-Ignored-Members", test.ignored)
		if !strings.Contains(a.body, test.want) {
			t.Errorf("%s: %s, want %s", test.line, a.body, test.want)
		}
	}

	c.do("GET "+page+"&OrderBy=Nothing&jsconfig=eccn", "").want(t, 400).
		wantMessage(t, `"responseStatus":{"errorCode":"ArgumentException","message":"OrderBy refers to`)
	c.do("GET /api/NoQuery?jsconfig=eccn", "").want(t, 404).
		wantMessage(t, `{"responseStatus":{"errorCode":"NotFound"`)
	c.do("GET "+page+"&jsconfig=edv&Strict=true", "").want(t, 400).wantMessage(t, `"FieldName":"jsconfig=edv"`)
	c.do("GET "+page+"&jsconfig=eccn&Strict=true", "").want(t, 200)
	c.do("POST /json/reply/DB_ClassQuery", `{"Take":1,"jsconfig":"eccn"}`).want(t, 200).
		wantHeader(t, "X-Ignored-Members", "jsconfig")
	for format, want := range map[string]string{
		"json": `[{"offset":0,"results":[{"invoiceID":`,
		"jsv":  `[{offset:0,results:[{invoiceID:`,
	} {
		a := c.do("POST /"+format+"/reply/SO_TotalsQuery[]?jsconfig=eccn,edv",
			`[{"Take":1,"Fields":"InvoiceID"},{"Take":0}]`)
		a.want(t, 200).wantHeader(t, "X-Ignored-Members", "jsconfig=edv").wantMessage(t, want)
	}
}

// TestJSConfigOfWebhooks checks both options together, on the resources of webhooks.
func TestJSConfigOfWebhooks(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	made := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	c.do("POST /Webhooks/Subscribers/"+made.RecID+"/Subscriptions",
		`{"URL":"https://shop.example/","EventName":"debtor.created","Headers":[{"Name":"X-A","Value":"b"}]}`).want(t, 201)
	for _, path := range []string{
		"/Webhooks/Subscribers",
		"/Webhooks/Subscribers/" + made.RecID,
		"/Webhooks/Subscribers/" + made.RecID + "/Subscriptions",
		"/Webhooks/Subscriptions",
	} {
		a := c.do("GET "+path+"?jsconfig=eccn,dh:iso8601", "").want(t, 200).wantHeader(t, "X-Ignored-Members", "")
		if !regexp.MustCompile(`"lastSavedDateTime":"\d{4}-[^"]*Z"`).MatchString(a.body) ||
			regexp.MustCompile(`"[A-Z]\w*":`).MatchString(a.body) {
			t.Errorf("%s: got %s, want names in camelCase and dates in ISO 8601", path, a.body)
		}
	}
}

// pythonRequests are requests that JsonServiceClient of ServiceStack's Python library sent, with
// the parts of the response that its classes read.
var pythonRequests = []struct {
	line, body, contentType string
	status                  int
	want                    []string
}{
	{
		line:        "POST /api/Authenticate?jsconfig=eccn",
		body:        `{"provider": "credentials", "userName": "admin", "password": "PASSWORD"}`,
		contentType: "application/json",
		status:      200,
		want:        []string{`"sessionId":"`, `"userName":"admin"`, `"responseStatus":{}`},
	},
	{
		line:   "GET /api/SO_TotalsQuery?take=2&orderBy=InvoiceID&include=Total&fields=InvoiceID%2CInvoiceTotal&invoiceTotalGreaterThan=1000&jsconfig=eccn",
		status: 200,
		want: []string{
			`"offset":0`,
			`"total":6402`,
			`"results":[{"invoiceID":"00120","invoiceTotal":3394.5450},{`,
			`"meta":{}`,
		},
	},
	{
		line:   "GET /api/SO_TotalsQuery?take=1&fields=InvoiceID&jsconfig=eccn",
		status: 200,
		want:   []string{`"results":[{"invoiceID":"00120"}]`},
	},
	{
		line:        "POST /api/SO_TotalsQuery[]?jsconfig=eccn",
		body:        `[{"take": 1, "fields": "InvoiceID"}, {"take": 0}]`,
		contentType: "application/json",
		status:      200,
		want:        []string{`[{"offset":0,"results":[{"invoiceID":"00120"}],`},
	},
	{
		line:        "GET /api/SO_TotalsQuery?orderBy=Nothing&jsconfig=eccn",
		body:        "",
		contentType: "",
		status:      400,
		want: []string{
			`"responseStatus":{"errorCode":"ArgumentException","message":"orderBy refers to Nothing`,
			`"errors":[{"errorCode":"ArgumentException","fieldName":"orderBy",`,
		},
	},
}

// TestRequestsOfPythonClient replays the recorded requests.
func TestRequestsOfPythonClient(t *testing.T) {
	c := asAdmin(t, demo.start(t)).with("User-Agent: python-requests/2.28.1",
		"Accept: application/json", "Accept-Encoding: gzip, deflate", "Connection: keep-alive")
	for _, r := range pythonRequests {
		var headers []string
		if r.contentType != "" {
			headers = append(headers, "Content-Type: "+r.contentType)
		}
		a := c.do(r.line, strings.ReplaceAll(r.body, "PASSWORD", daemontest.AdminPassword), headers...)
		a.want(t, r.status).wantHeader(t, "X-Ignored-Members", "")
		for _, part := range r.want {
			a.wantMessage(t, part)
		}
	}
}
