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
		{page, pascal, ""},
		{page + "&jsconfig=eccn", camel, ""},
		{page + "&jsconfig=ECCN:true", camel, ""},
		{page + "&jsconfig={EmitCamelCaseNames:1}", camel, ""},
		{page + "&jsconfig=tc:cc", camel, ""},
		{page + "&jsconfig=TextCase:CamelCase", camel, ""},
		{page + "&jsconfig=eccn:false", pascal, ""},
		{page + "&jsconfig=eccn,tc:d", pascal, ""},
		{page + "&jsconfig=eccn,dh:iso8601", camel, ""},
		{page + "&jsconfig=eccn,edv,%20inv:true", camel, "jsconfig=edv, jsconfig=inv"},
		{page + "&jsconfig=elun,edv,edv", pascal, "jsconfig=elun, jsconfig=edv"},
		{page + "&jsconfig=tc:sc,dh:ut", pascal, "jsconfig=tc, jsconfig=dh"},
		{page + "&jsconfig=<b>", pascal, "jsconfig=***"},
		{page + "&jsconfig=edv&Nothing=1", pascal, "jsconfig=edv, Nothing"},
		{page + "&jsconfig=eccn&callback=f", `f(` + camel, ""},
		{page + "&jsconfig=eccn&nulls=include", camel, ""},
		{page + "&jsconfig=eccn&format=ndjson", `{"InvoiceID":`, "jsconfig=eccn"},
		{page + "&jsconfig=eccn&format=csv", "InvoiceID\r\n", "jsconfig=eccn"},
		{page + "&jsconfig=eccn&format=xml", "<InvoiceID>", "jsconfig=eccn"},
		{page + "&jsconfig=eccn&format=jsv", "{offset:0,results:[{invoiceID:", ""},
		{"/json/reply/SO_TotalsQuery?Take=1&jsconfig=eccn&GroupBy=InvoiceID&Include=SUM(InvoiceTotal)", `"sumInvoiceTotal":`, ""},
		{"/api/GetSession?jsconfig=eccn", `{"userName":"admin",`, ""},
		{"/api/GetSession.jsv?jsconfig=eccn", `{userName:admin,`, ""},
		{"/api/Users?jsconfig=eccn", `[{"userName":"admin",`, ""},
		{"/Logs?Take=1&Fields=Headers&jsconfig=eccn", `{"headers":{"`, ""},
	} {
		a := c.do("GET "+test.line, "").want(t, 200).wantHeader(t, "X-Ignored-Members", test.ignored)
		if !strings.Contains(a.body, test.want) {
			t.Errorf("%s: %s, want %s", test.line, a.body, test.want)
		}
	}
	c.do("GET "+page+"&OrderBy=Nothing&jsconfig=eccn", "").want(t, 400).wantMessage(t, `"responseStatus":{"errorCode":"ArgumentException","message":"OrderBy names`)
	c.do("GET /api/NoQuery?jsconfig=eccn", "").want(t, 404).wantMessage(t, `{"responseStatus":{"errorCode":"NotFound"`)
	c.do("GET "+page+"&jsconfig=edv&Strict=true", "").want(t, 400).wantMessage(t, `"FieldName":"jsconfig=edv"`)
	c.do("GET "+page+"&jsconfig=eccn&Strict=true", "").want(t, 200)
	c.do("POST /json/reply/DB_ClassQuery", `{"Take":1,"jsconfig":"eccn"}`).want(t, 200).wantHeader(t, "X-Ignored-Members", "jsconfig")
	for format, want := range map[string]string{"json": `[{"offset":0,"results":[{"invoiceID":`, "jsv": `[{offset:0,results:[{invoiceID:`} {
		a := c.do("POST /"+format+"/reply/SO_TotalsQuery[]?jsconfig=eccn,edv", `[{"Take":1,"Fields":"InvoiceID"},{"Take":0}]`)
		a.want(t, 200).wantHeader(t, "X-Ignored-Members", "jsconfig=edv").wantMessage(t, want)
	}
}

// TestJSConfigOfWebhooks checks both options together, on the resources of webhooks.
func TestJSConfigOfWebhooks(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	made := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	c.do("POST /Webhooks/Subscribers/"+made.RecID+"/Subscriptions", `{"URL":"https://shop.example/","EventName":"debtor.created","Headers":[{"Name":"X-A","Value":"b"}]}`).want(t, 201)
	for _, path := range []string{"/Webhooks/Subscribers", "/Webhooks/Subscribers/" + made.RecID, "/Webhooks/Subscribers/" + made.RecID + "/Subscriptions", "/Webhooks/Subscriptions"} {
		a := c.do("GET "+path+"?jsconfig=eccn,dh:iso8601", "").want(t, 200).wantHeader(t, "X-Ignored-Members", "")
		if !regexp.MustCompile(`"lastSavedDateTime":"\d{4}-[^"]*Z"`).MatchString(a.body) || regexp.MustCompile(`"[A-Z]\w*":`).MatchString(a.body) {
			t.Errorf("%s: %s", path, a.body)
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
	{"POST /api/Authenticate?jsconfig=eccn", `{"provider": "credentials", "userName": "admin", "password": "PASSWORD"}`, "application/json", 200,
		[]string{`"sessionId":"`, `"userName":"admin"`, `"responseStatus":{}`}},
	{"GET /api/SO_TotalsQuery?take=2&orderBy=InvoiceID&include=Total&fields=InvoiceID%2CInvoiceTotal&invoiceTotalGreaterThan=1000&jsconfig=eccn", "", "", 200,
		[]string{`"offset":0`, `"total":6402`, `"results":[{"invoiceID":"00120","invoiceTotal":3394.5450},{`, `"meta":{}`}},
	{"GET /api/SO_TotalsQuery?take=1&fields=InvoiceID&jsconfig=eccn", "", "", 200, []string{`"results":[{"invoiceID":"00120"}]`}},
	{"POST /api/SO_TotalsQuery[]?jsconfig=eccn", `[{"take": 1, "fields": "InvoiceID"}, {"take": 0}]`, "application/json", 200, []string{`[{"offset":0,"results":[{"invoiceID":"00120"}],`}},
	{"GET /api/SO_TotalsQuery?orderBy=Nothing&jsconfig=eccn", "", "", 400,
		[]string{`"responseStatus":{"errorCode":"ArgumentException","message":"orderBy names Nothing`, `"errors":[{"errorCode":"ArgumentException","fieldName":"orderBy",`}},
}

// TestRequestsOfPythonClient replays the recorded requests.
func TestRequestsOfPythonClient(t *testing.T) {
	c := asAdmin(t, demo.start(t)).with("User-Agent: python-requests/2.28.1", "Accept: application/json", "Accept-Encoding: gzip, deflate", "Connection: keep-alive")
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
