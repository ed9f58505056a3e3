package compat

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// operations are the names of served operations in these tests, by method and path.
var operations = map[string]string{
	"POST /json/reply/DB_ClassQuery": "DB_ClassQuery",
	"GET /Queries/DB_Class":          "DB_ClassQuery",
	"GET /auth":                      "Authenticate",
	"GET /":                          "Home",
}

// served returns the name of a served operation.
func served(method, path string) (string, bool) {
	name, ok := operations[method+" "+path]
	return name, ok
}

// reportOf returns the text of a report on logs.
func reportOf(t *testing.T, basePath string, logs ...string) (string, error) {
	t.Helper()
	c := NewCounter(basePath, served)
	for _, log := range logs {
		if err := c.Read(strings.NewReader(log)); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	if err := c.Report().Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), nil
}

// oneOfEach is the report on logs with one request that is served, and one that is not.
const oneOfEach = `requests served: 1, operations: 1
         1  DB_ClassQuery
requests not served: 1, operations: 1
         1  DB_MainQuery
requests that the .NET service did not find either: 0, operations: 0
`

// Logs of the existing service with a request for DB_ClassQuery and one for DB_MainQuery.
const (
	csvHead = "Id,DateTime,StatusCode,StatusDescription,HttpMethod,AbsoluteUri,PathInfo,RequestBody,RequestDto\r\n"
	csvRow1 = `1,2026-10-01T00:00:01.0000000Z,200,OK,POST,http://erp:5050/json/reply/DB_ClassQuery,` +
		`/json/reply/DB_ClassQuery,,"{ClassIn:[""a"",b]}"` + "\r\n"
	csvRow2 = "2,2026-10-01T00:00:02.0000000Z,200,OK,GET,http://erp:5050/csv/reply/DB_MainQuery?Take=1," +
		"/csv/reply/DB_MainQuery,\"two\nlines\",{}\r\n"
	csvURLs = "HttpMethod,AbsoluteUri\n" +
		"POST,http://erp/json/reply/DB_ClassQuery\n" +
		"GET,http://erp/json/reply/DB_MainQuery?x=1\n"

	classEntry = `{"Id":1,"StatusCode":200,"HttpMethod":"POST",` +
		`"AbsoluteUri":"http://erp:5050/json/reply/DB_ClassQuery",` +
		`"PathInfo":"/json/reply/DB_ClassQuery","Headers":{"Accept":"*/*"}}`
	mainEntry = `{"id":2,"statusCode":200,"httpMethod":"GET",` +
		`"pathInfo":"/csv/reply/DB_MainQuery","items":{}}`
	withoutPath = `{"StatusCode":200,"HttpMethod":"GET",` +
		`"AbsoluteUri":"http://erp:5050/xml/reply/DB_MainQuery?PathInfo=x"}`

	w3c = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n" +
		"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip" +
		" cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\r\n" +
		"2026-10-01 00:00:01 10.1.2.3 POST /json/reply/DB_ClassQuery - 5050 - 10.1.2.9" +
		" python-requests/2.31.0 - 200 0 0 15\r\n" +
		"#Fields: cs-uri-stem cs-method\r\n/jsv/oneway/DB_MainQuery[] PUT\r\n"
)

// TestFormatsOfLogs reads the same requests in each format.
func TestFormatsOfLogs(t *testing.T) {
	response := func(entries string) string {
		return `{"Offset":0,"Results":[` + entries + `],"Total":2,"Meta":{},"ResponseStatus":{}}`
	}
	for name, logs := range map[string][]string{
		"CSV":                       {csvHead + csvRow1 + csvRow2},
		"CSV with a mark":           {"\ufeff" + csvHead + csvRow1 + csvRow2},
		"CSV with a second header":  {csvHead + csvRow1 + csvHead + csvRow2},
		"CSV without PathInfo":      {csvURLs},
		"a response":                {response(classEntry + "," + mainEntry)},
		"a response in camelCase":   {`{"offset":0,"results":[` + classEntry + "," + mainEntry + `]}`},
		"a list":                    {"[" + classEntry + ", " + withoutPath + "]"},
		"lines":                     {classEntry + "\n" + mainEntry + "\n"},
		"one entry in each file":    {classEntry, " \r\n" + withoutPath},
		"two responses in one file": {`{"Results":[` + classEntry + `]} {"Results":[` + mainEntry + `]}`},
		"IIS":                       {w3c},
		"CSV, IIS and JSON":         {csvHead, w3c, "[]"},
	} {
		if got, err := reportOf(t, "", logs...); err != nil || got != oneOfEach {
			t.Errorf("%s: got\n%s(%v), want\n%s", name, got, err, oneOfEach)
		}
	}
}

// TestUnreadableLogs checks that a log which cannot be read is an error, and never a short
// report.
func TestUnreadableLogs(t *testing.T) {
	for log, want := range map[string]string{
		"":           "the file is empty",
		" \n":        "the file is empty",
		"\xff\xfea":  "UTF-16",
		"a,b\n1,2\n": "not a request log",
		`127.0.0.1 - - [01/Oct/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 1`: "not a request log",
		"HttpMethod,PathInfo\nGET\n":                                        "line 2: an entry has no HttpMethod",
		`{"Results":[{"HttpMethod":"GET","PathInfo":"/auth"},{"Htt`:         "unexpected EOF",
		`{"Results":[{"HttpMethod":"GET"}]}`:                                "neither PathInfo nor AbsoluteUri",
		`[1]`:                                                               "cannot unmarshal",
		`{"HttpMethod":"GET","PathInfo":"/auth"} 7`:                         "not an entry of a request log",
		`{"ResponseStatus":{"ErrorCode":"Unauthorized"}}`:                   "an entry has no HttpMethod",
		"#Software: IIS\nGET /auth\n":                                       "line 2 comes before a line with #Fields",
		"#Fields: date cs-method\n2026-10-01 GET\n":                         "line 1: the log lacks cs-method or cs-uri-stem",
	} {
		if got, err := reportOf(t, "", log); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v and report %q, want error %q", log, err, got, want)
		}
	}
}

// TestDamagedLines checks that lines of IIS that cannot be read are counted and named, and that all
// others are read.
func TestDamagedLines(t *testing.T) {
	const head = "#Fields: cs-method cs-uri-stem sc-status\n"
	const request = "GET /auth 200\n"
	long := strings.Repeat("x", 3*maxLine)
	for _, test := range []struct {
		name  string
		log   string
		lines int    // number of damaged lines
		first string // problem of the first one
	}{
		{"a line that is being written", request + "GET /au", 1, "line 3 has 2 values, but #Fields before it lists 3"},
		{"zeros", "\x00\x00\x00\x00\n" + request, 1, "line 2 has 1 values"},
		{"a long line", "GET /" + long + " 200\n" + request, 1, "line 2 has more than 1048576 bytes"},
		{"a long line at the end", request + long[:maxLine+1], 1, "line 3 has more than 1048576 bytes"},
		{"two lines", "GET\n" + request + "GET\n", 2, "line 2 has 1 values"},
	} {
		c := NewCounter("", served)
		err := c.Read(strings.NewReader(head + test.log))
		damaged, ok := errors.AsType[*Damaged](err)
		if !ok || damaged.Lines != test.lines || !strings.Contains(err.Error(), test.first) {
			t.Errorf("%s: got error %v, want one for %d lines with %q",
				test.name, err, test.lines, test.first)
		}
		if n := Total(c.Report().Served); n != 1 {
			t.Errorf("%s: %d requests are counted, want 1", test.name, n)
		}
	}
}

// TestReport checks names, order and groups.
func TestReport(t *testing.T) {
	const log = `#Fields: cs-method cs-uri-stem sc-status
GET /api/ 200
get /API/auth 401
GET /api/Debtors/0000000061000000001V/Notes 200
GET /api/debtors/ZZZZZZZZZZ0000000002/Notes 404
GET /api/Debtors/4f8b2c1a-0000-4000-8000-00000000beef/Notes/17 404
GET /api/Inventory/%20AB%201%2023/x 200
POST /api/json/reply/SalesOrderPOSTRequest 500
POST /api/xml/reply/salesorderpostrequest 200
GET /api/Queries/INMGT020POQty 200
GET /api/robots.txt 404
DELETE /api/auth 405
GET /apis/auth 200
GET /default.htm 200
`
	const want = `requests served: 2, operations: 2
         1  Authenticate
         1  Home
requests not served: 6, operations: 4
         2  GET /Debtors/{}/Notes
         2  SalesOrderPOSTRequest
         1  GET /Inventory/{}/x
         1  GET /Queries/INMGT020POQty
requests that the .NET service did not find either: 3, operations: 3
         1  DELETE /auth
         1  GET /Debtors/{}/Notes/{}
         1  GET /robots.txt
requests not below the path of the service: 2
`
	for _, basePath := range []string{"/api", "api/", "/API/"} {
		if got, err := reportOf(t, basePath, log); err != nil || got != want {
			t.Errorf("below %s: got\n%s(%v), want\n%s", basePath, got, err, want)
		}
	}
}

// TestReportIsBounded checks that a log full of different paths needs little memory: further
// ones are counted together.
func TestReportIsBounded(t *testing.T) {
	const further = 100
	c := NewCounter("", served)
	for i := range maxNames + further {
		path := "/x" + strings.Repeat("a", i%150) + "/" + strings.Repeat("b", i/150)
		c.add(Entry{Method: "GET", Path: path})
	}
	r := c.Report()
	if n := len(r.NotServed); n != maxNames+1 {
		t.Errorf("got %d names, want %d", n, maxNames+1)
	}
	if got, want := r.NotServed[0], (Count{Operation: otherNames, Requests: further}); got != want {
		t.Errorf("the most frequent requests: got %+v, want %+v", got, want)
	}
	if n := Total(r.NotServed); n != maxNames+further {
		t.Errorf("got %d requests, want %d", n, maxNames+further)
	}
}

// TestPrintable checks that no text of a log reaches a terminal as a command.
func TestPrintable(t *testing.T) {
	got := printable("a\x1b[2J\u009b" + strings.Repeat("y", 300))
	if strings.ContainsAny(got, "\x1b\u009b") || len(got) > 210 {
		t.Errorf("got %q, want a short text without control characters", got)
	}
}
