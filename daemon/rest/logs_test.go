package rest_test

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// logEntry is an entry of the request log in JSON.
type logEntry struct {
	ID                int64 `json:"Id"`
	DateTime          string
	StatusCode        int
	StatusDescription string
	HTTPMethod        string `json:"HttpMethod"`
	AbsoluteURI       string `json:"AbsoluteUri"`
	PathInfo          string
	RequestBody       string
	RequestDto        map[string]any
	UserAuthID        string `json:"UserAuthId"`
	SessionID         string `json:"SessionId"`
	IPAddress         string `json:"IpAddress"`
	ForwardedFor      string
	Referer           string
	Headers           map[string]string
	FormData          map[string]string
	Items             map[string]string
	Session           map[string]string
	ResponseDto       any
	ErrorResponse     *wire.Failure
	ExceptionSource   string
	ExceptionData     map[string]string
	RequestDuration   string
}

// logs returns the entries for a path of the log's routes.
func (c client) logs(path string) []logEntry {
	c.t.Helper()
	a := c.do("GET "+path, "").want(c.t, 200)
	var all []logEntry
	for _, row := range a.envelope(c.t).Results {
		var entry logEntry
		decoder := json.NewDecoder(strings.NewReader(string(row)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&entry); err != nil {
			c.t.Fatalf("%v in %s", err, row)
		}
		all = append(all, entry)
	}
	return all
}

// entry returns the entry of the request with the id, waiting until it has been written.
func (c client) entry(id string) logEntry {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		entries := c.logs("/Logs?ItemsContains=" + id)
		if len(entries) == 1 {
			return entries[0]
		}
		if len(entries) > 1 || time.Now().After(deadline) {
			c.t.Fatalf("/Logs has %d entries of the request %s, want 1", len(entries), id)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The subject of events, such as the number of a document, is no secret.
func TestKeysOfEventsAreLogged(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	for _, path := range []string{"/Webhooks/Why", "/json/reply/Why"} {
		id := c.do("GET "+path+"?Key=D1", "").want(t, 200).header.Get("X-Request-Id")
		e := c.entry(id)
		if !strings.HasSuffix(e.AbsoluteURI, path+"?Key=D1") || e.RequestDto["Key"] != "D1" {
			t.Errorf("%s?Key=D1 is logged as %s with the members %v", path, e.AbsoluteURI, e.RequestDto)
		}
	}
	key := i.Key(t, "reader")
	id := c.do("GET /Webhooks/Why?Key="+key, "").want(t, 200).header.Get("X-Request-Id")
	if e := c.entry(id); strings.Contains(e.AbsoluteURI, key) || e.RequestDto["Key"] != "***" {
		t.Errorf("an API key is logged as %s with the members %v", e.AbsoluteURI, e.RequestDto)
	}
}

func TestEveryRequestIsLogged(t *testing.T) {
	i := startWithView(t, "IN_Colours", broken)
	c := asAdmin(t, i)
	session := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	mark := sha256.Sum256([]byte(session))
	form := "Content-Type: application/x-www-form-urlencoded"
	for _, test := range []struct {
		line, body string
		client     client
		headers    []string
		want       logEntry
	}{
		{
			line:   "POST /json/reply/DB_ClassQuery?Take=1",
			body:   `{"Class":"x","ClassIn":["a","b"]}`,
			client: c,
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"Take": "1", "Class": "x", "ClassIn": []any{"a", "b"}},
			},
		},
		{
			line:   "GET /csv/reply/DB_ClassQuery?Class=a%20b&Skip=1",
			client: c,
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"Class": "a b", "Skip": "1"},
			},
		},
		{
			line:   "HEAD /Queries/DB_Class",
			client: c,
			want:   logEntry{StatusCode: 200, StatusDescription: "OK", UserAuthID: "admin"},
		},
		{
			line:    "POST /Queries/DB_Class?Take=2",
			body:    "Class=x&Skip=1",
			client:  c,
			headers: []string{form},
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"Take": "2", "Class": "x", "Skip": "1"},
				FormData:          map[string]string{"Class": "x", "Skip": "1"},
			},
		},
		{
			line:    "POST /Queries/DB_Class",
			body:    "ClassIn=x&ClassIn=y&Skip=",
			client:  c,
			headers: []string{form},
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"ClassIn": []any{"x", "y"}, "Skip": []any{}},
				FormData:          map[string]string{"ClassIn": "x,y", "Skip": ""},
			},
		},
		{
			line:    "POST /Queries/DB_Class",
			body:    multipartBody("ClassIn[]", "x", "Password", "s3cret"),
			client:  c,
			headers: []string{multipartType},
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"ClassIn": "x", "Password": "***"},
				FormData:          map[string]string{"ClassIn": "x", "Password": "***"},
			},
		},
		{
			line:   "POST /json/oneway/DB_ClassQuery",
			body:   "{}",
			client: c,
			want:   logEntry{StatusCode: 204, StatusDescription: "No Content", UserAuthID: "admin"},
		},
		{
			line:   "GET /json/reply/DB_ClassQuery?Take=x",
			client: c,
			want: logEntry{
				StatusCode:        400,
				StatusDescription: "Bad Request",
				UserAuthID:        "admin",
				RequestDto:        map[string]any{"Take": "x"},
			},
		},
		{
			line:   "GET /csv/reply/DB_ClassQuery",
			client: anonymous(t, i),
			want:   logEntry{StatusCode: 401, StatusDescription: "Unauthorized"},
		},
		{
			line:   "GET /json/reply/NopeQuery",
			client: c,
			want:   logEntry{StatusCode: 404, StatusDescription: "Not Found"},
		},
		{
			line:   "DELETE /auth",
			client: c,
			want:   logEntry{StatusCode: 405, StatusDescription: "Method Not Allowed"},
		},
		{
			line:   "GET /xml/reply/IN_ColoursQuery",
			client: c,
			want: logEntry{
				StatusCode:        500,
				StatusDescription: "Internal Server Error",
				UserAuthID:        "admin",
				ExceptionSource:   "InternalError",
			},
		},
		{
			line:   "GET /Queries/DB_Class",
			client: anonymous(t, i).with("Cookie: ss-id=" + session),
			headers: []string{
				"X-Forwarded-For: 192.0.2.1",
				"Referer: http://erp.example/page?Password=s3cret",
				"User-Agent: tests/1",
			},
			want: logEntry{
				StatusCode:        200,
				StatusDescription: "OK",
				UserAuthID:        "admin",
				SessionID:         hex.EncodeToString(mark[:])[:8],
				ForwardedFor:      "192.0.2.1",
				Referer:           "http://erp.example/page?Password=***",
			},
		},
		{
			line:   "GET /auth?UserName=missing&Password=wrong",
			client: anonymous(t, i),
			want:   logEntry{StatusCode: 401, StatusDescription: "Unauthorized"},
		},
	} {
		began := time.Now()
		reply := test.client.do(test.line, test.body, test.headers...)
		took := time.Since(began)
		got := c.entry(reply.header.Get("X-Request-Id"))
		checkCommon(t, i, test.line, got, began, took)
		isFailure := test.want.StatusCode >= 400
		hasError := got.ErrorResponse != nil && got.ErrorResponse.ResponseStatus.ErrorCode != ""
		if isFailure && !hasError {
			t.Errorf("%s: ErrorResponse is %+v, want an ErrorCode", test.line, got.ErrorResponse)
		}
		if !isFailure && got.ErrorResponse != nil {
			t.Errorf("%s: ErrorResponse is %+v, want none", test.line, got.ErrorResponse)
		}
		if test.want.ExceptionSource != "" && got.ExceptionData["RequestId"] == "" {
			t.Errorf("%s: ExceptionData %v", test.line, got.ExceptionData)
		}

		for _, name := range []string{"Authorization", "Cookie", "X-Ss-Id"} {
			if got.Headers[name] != "" {
				t.Errorf("%s: the header %s is logged", test.line, name)
			}
		}

		shown := logEntry{
			StatusCode:        got.StatusCode,
			StatusDescription: got.StatusDescription,
			UserAuthID:        got.UserAuthID,
			SessionID:         got.SessionID,
			RequestDto:        got.RequestDto,
			FormData:          got.FormData,
			ForwardedFor:      got.ForwardedFor,
			Referer:           got.Referer,
			ExceptionSource:   got.ExceptionSource,
		}
		if fmt.Sprint(shown) != fmt.Sprint(test.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", test.line, shown, test.want)
		}
	}
}

// checkCommon checks the members that all entries have.
func checkCommon(t *testing.T, i *daemontest.Instance, line string, got logEntry, began time.Time, took time.Duration) {
	t.Helper()
	method, path, _ := strings.Cut(line, " ")
	path, _, _ = strings.Cut(path, "?")
	at, err := time.Parse(wire.DateLayout, got.DateTime)
	if err != nil || at.Before(began.UTC().Add(-time.Second)) || at.After(time.Now().UTC().Add(time.Second)) {
		t.Errorf("%s: at %s (%v)", line, got.DateTime, err)
	}
	ticks, err := wire.ParseTimeSpan(got.RequestDuration)
	if err != nil || ticks <= 0 || time.Duration(ticks*100) > took {
		t.Errorf("%s: took %s (%v) of the %v that the client saw", line, got.RequestDuration, err, took)
	}
	if got.HTTPMethod != method || got.PathInfo != path || !strings.HasPrefix(got.AbsoluteURI, i.URL+path) ||
		got.IPAddress != "127.0.0.1" {
		t.Errorf("%s: %s %s %s of %s", line, got.HTTPMethod, got.PathInfo, got.AbsoluteURI, got.IPAddress)
	}
	if got.Headers["Host"] == "" || got.RequestBody != "" || got.Session != nil || got.ResponseDto != nil {
		t.Errorf("%s: headers %v, bodies %q %v %v", line, got.Headers, got.RequestBody, got.Session, got.ResponseDto)
	}
}

// TestQuietRequestsAreNotLogged checks that frequently polled routes and open
// streams are not logged.
func TestQuietRequestsAreNotLogged(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		c.do("GET "+path, "").want(t, 200)
	}
	c.do("GET /KeepAlive", "")
	if got := c.logs("/Logs"); len(got) != 1 || got[0].PathInfo != "/KeepAlive" {
		t.Errorf("unexpected entries: %+v", got)
	}
}

// utcDate returns the date that is the given number of days after today.
func utcDate(days int) string {
	return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly)
}

func TestLogRoutes(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	today, before := utcDate(0), utcDate(-1)
	c.do("GET /json/reply/DB_ClassQuery", "").want(t, 200)
	c.do("GET /json/reply/DB_ClassQuery?Take=x", "").want(t, 400)
	c.do("GET /nothing", "").want(t, 404)
	const (
		all    = "404 400 200"
		failed = "404 400"
		none   = ""
	)
	for path, want := range map[string]string{
		"/Logs":                                      all,
		"/logs/":                                     all,
		"/Logs.json":                                 all,
		"/Logs/Today":                                all,
		"/Logs/today.json":                           all,
		"/Logs/" + today:                             all,
		"/Logs/" + today + "T10:00:00.1234567":       all,
		"/Logs?Date=" + today:                        all,
		"/Logs?ViewErrors=false":                     all,
		"/Logs?Date=&ViewErrors=":                    all,
		"/Logs/Today/Errors":                         failed,
		"/Logs?ViewErrors=true":                      failed,
		"/Logs?viewerrors=1&date=" + today:           failed,
		"/Logs/Today?ViewErrors=True":                failed,
		"/Logs/Today/Errors?ViewErrors=false":        failed,
		"/Logs/Yesterday":                            none,
		"/Logs/Yesterday/Errors":                     none,
		"/Logs/" + before:                            none,
		"/Logs/" + before + "?Date=" + today:         none,
		"/Logs/Yesterday?Date=" + today:              none,
		"/Logs/9999-12-31":                           none,
		"/json/reply/QueryRequestLogsGETManyRequest": all,
		"/json/reply/queryrequestlogsgetmanyrequest?ViewErrors=1": failed,
		"/api/QueryRequestLogsGETManyRequest?Date=" + before:      none,
		"/Logs/Today?StatusCodeLessThan=404":                      "400 200",
		"/Logs/Today?OrderBy=StatusCode":                          "200 400 404",
		"/Logs/Today?Take=1":                                      "404",
		"/Logs/Today?StatusCode=200":                              "200",
	} {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		var got []string
		for _, entry := range c.logs(path + separator + "IdLessThan=4") {
			got = append(got, fmt.Sprint(entry.StatusCode))
		}
		skipAfterMidnight(t, today)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got entries of status %s, want %s", path, got, want)
		}
	}

	a := c.do("POST /json/reply/QueryRequestLogsGETManyRequest",
		`{"ViewErrors":true,"IdLessThan":4,"Take":1}`).want(t, 200)
	if len(a.envelope(t).Results) != 1 || *a.envelope(t).Total != 2 {
		t.Errorf("got %s, want one of two failed requests", a.body)
	}

	c.do("POST /json/oneway/QueryRequestLogsGETManyRequest", "{}").want(t, 204)
	c.do("POST /Logs", "{}").want(t, 405)
	if a := c.do("GET /Logs?Strict=true&Nope=1", "").want(t, 400); !strings.Contains(a.body, "Nope") {
		t.Errorf("got %s, want an error for Nope", a.body)
	}

	c.do("GET /Logs?Nope=1&Date="+today, "").want(t, 200).wantHeader(t, "X-Ignored-Members", "Nope")
	for _, path := range []string{"/Queries/RequestLog", "/json/reply/RequestLogQuery"} { // not a record kind
		c.do("GET "+path, "").want(t, 404)
	}
}

// TestLogPathsOverrideMembers checks that members which differ from the path of the log are validated,
// and named in the response. Strict requests are refused.
func TestLogPathsOverrideMembers(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for path, ignored := range map[string]string{
		"/Logs/Yesterday?Date=2020-01-01":                         "Date",
		"/Logs/2020-01-02?date=2020-01-01":                        "Date",
		"/Logs/Today/Errors?ViewErrors=false":                     "ViewErrors",
		"/Logs/Today/Errors?ViewErrors=0&Date=2020-01-01&Nope=1":  "Date, ViewErrors, Nope",
		"/Logs/2020-01-02?Date=2020-01-02":                        "",
		"/Logs/2020-01-02?Date=":                                  "",
		"/Logs/Today/Errors?ViewErrors=true":                      "",
		"/Logs/Today?ViewErrors=false":                            "",
		"/Logs?Date=2020-01-01&ViewErrors=false&WithoutOwn=false": "",
	} {
		c.do("GET "+path, "").want(t, 200).wantHeader(t, "X-Ignored-Members", ignored)
		status := 200
		if ignored != "" {
			status = 400
		}
		c.do("GET "+path+"&Strict=true", "").want(t, status)
	}
	strict := c.do("GET /Logs/Yesterday?Date=2020-01-01&Strict=true", "").want(t, 400)
	if !strings.Contains(strict.body, "Date has no effect") {
		t.Errorf("got %s, want that Date has no effect", strict.body)
	}
}

// aDuration matches a time span of any length.
var aDuration = regexp.MustCompile(`^PT([0-9]+M)?[0-9]+(\.[0-9]+)?S$`)

func TestLogFormats(t *testing.T) {
	i := daemontest.Start(t)
	c, today := asAdmin(t, i), utcDate(0)
	c.do("GET /nothing", "", "User-Agent: tests/1").want(t, 404)
	a := c.do("GET /csv/reply/QueryRequestLogsGETManyRequest?Id=1", "").want(t, 200).
		wantHeader(t, "Content-Disposition", "attachment; filename=QueryRequestLogsGETManyRequest.csv")
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) != 23 || rows[0][0] != "Id" ||
		rows[0][22] != "RequestDuration" || !aDuration.MatchString(rows[1][22]) {
		t.Errorf("got %s (%v), want a header and one row with 23 columns", a.body, err)
	}
	for path, part := range map[string]string{
		"/Logs.csv?Id=1&Fields=Headers":                   `"{""Host"":""`,
		"/Logs.xml?Id=1":                                  "<QueryRequestLogsGETManyRequestResponse><Offset>0</Offset><Results><RequestLog><Id>1</Id>",
		"/Logs.jsv?Id=1":                                  "StatusCode:404,",
		"/Logs.ndjson?Id=1":                               `"Headers":{"Host":"`,
		"/Logs/Today.html":                                "/nothing",
		"/Logs?callback=f&Id=1":                           `f({"Offset":0,`,
		"/Logs?Id=1&nulls=include&Fields=Referer":         `{"Referer":null}`,
		"/Logs?Include=Total,MAX(RequestDuration)&Take=0": `"MAX(RequestDuration)":"PT`,
		"/json/reply/QueryRequestLogsGETManyRequest?format=csv&Id=1&Fields=Items": `RequestId`,
	} {
		a := c.do("GET "+path, "").want(t, 200)
		if !strings.Contains(a.body, part) &&
			utcDate(0) == today { // midnight has not passed
			t.Errorf("%s: no %s in %s", path, part, shortened(a.body))
		}
	}
}

func TestInvalidLogQueries(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for path, field := range map[string]string{
		"/Logs/2026-02-30":                      "Date",
		"/Logs/Tomorrow":                        "Date",
		"/Logs/Today?Date=x":                    "Date",
		"/Logs/2026-01-01?Date=x":               "Date",
		"/Logs/Today/Errors?ViewErrors=maybe":   "ViewErrors",
		"/Logs?Date=x":                          "Date",
		"/Logs?Date=2026-01-01&Date=2026-01-02": "Date",
		"/Logs?ViewErrors=maybe":                "ViewErrors",
		"/Logs?Date=x&ViewErrors=x":             "Date",
		"/Logs?RequestDuration=5":               "RequestDuration",
		"/Logs?StatusCode=x":                    "StatusCode",
		"/Logs?OrderBy=Nope":                    "OrderBy",
		"/Logs?RequestDurationContains=x":       "RequestDurationContains",
	} {
		a := c.do("GET "+path, "").want(t, 400)
		if e := a.envelope(t).ResponseStatus; len(e.Errors) == 0 || e.Errors[0].FieldName != field {
			t.Errorf("%s: got %s, want an error for %s", path, a.body, field)
		}
	}
}

// TestLogRoles checks that only admins can read the log.
func TestLogRoles(t *testing.T) {
	i := daemontest.Start(t, "--auth-queries", "anonymous")
	writer := anonymous(t, i).with("Authorization: Bearer " + i.Key(t, "writer"))
	for _, path := range []string{
		"/Logs",
		"/Logs/Today",
		"/Logs/2026-01-01",
		"/json/reply/QueryRequestLogsGETManyRequest",
		"/api/QueryRequestLogsGETManyRequest",
	} {
		anonymous(t, i).do("GET "+path, "").want(t, 401)
		writer.do("GET "+path, "").want(t, 403)
		asAdmin(t, i).do("GET "+path, "").want(t, 200)
	}
}

// TestAbortedRequestsAreLogged checks that disconnected clients are logged: before a
// response with status 499, during a response with the status that was sent.
func TestAbortedRequestsAreLogged(t *testing.T) {
	for view, status := range map[string]int{noRows: 499, endless: 200} {
		i := startWithView(t, "SY_Filters", view)
		c := asAdmin(t, i)
		ctx, leave := context.WithCancel(t.Context())
		r := c.request("GET /csv/reply/SY_FiltersQuery", "", "X-Request-Id: leaves").WithContext(ctx)
		left := make(chan struct{})
		go func() {
			defer close(left)
			if reply, err := transport.RoundTrip(r); err == nil {
				_, _ = reply.Body.Read(make([]byte, 1000))
				leave()
				reply.Body.Close()
			}
		}()

		if view == noRows {
			for concurrentRequests(c) < 2 { // this request and the aborted one
			}
			leave()
		}

		<-left
		leave()
		i.Log.Await(t, "msg=request", "id=leaves", "aborted=true", fmt.Sprintf("status=%d", status))
		got := c.entry("leaves")
		if got.StatusCode != status || !strings.HasPrefix(got.Items["Aborted"], "after ") ||
			(status == 499) != (got.StatusDescription == "Client Closed Request") {
			t.Errorf("got the entry %+v, want status %d and the bytes before the end", got, status)
		}
		if (got.Items["Aborted"] == "after 0 bytes") != (status == 499) {
			t.Errorf("aborted %s", got.Items["Aborted"])
		}
	}
}

// concurrentRequests returns the number of concurrent requests from the metrics.
func concurrentRequests(c client) (n int) {
	_, number, _ := strings.Cut(c.do("GET /metrics", "").body, "\nwhd_http_requests_in_work ")
	_, _ = fmt.Sscan(number, &n)
	return n
}

// TestLoggedBodies checks that requestlog.bodies records requests and responses.
func TestLoggedBodies(t *testing.T) {
	i := daemontest.Start(t, "--requestlog-bodies")
	c := asAdmin(t, i)
	id := c.do("POST /json/reply/DB_ClassQuery", `{"Class": "x"}`).want(t, 200).header.Get("X-Request-Id")
	got := c.entry(id)
	answer, ok := got.ResponseDto.(map[string]any)
	if got.RequestBody != `{"Class": "x"}` || !ok || answer["Total"] != 0.0 || got.Session["Name"] != "admin" ||
		got.Session["Role"] != "admin" {
		t.Errorf("got the entry %+v, want both bodies and the session of admin", got)
	}
	id = c.do("GET /auth?"+loginForm(), "").want(t, 200).header.Get("X-Request-Id")
	got = c.entry(id)
	if got.RequestBody != "" || got.ResponseDto != nil || got.RequestDto != nil || got.Session != nil {
		t.Errorf("got the entry %+v, want neither bodies nor a session", got)
	}
}

func TestLogDisabled(t *testing.T) {
	i := daemontest.Start(t, "--requestlog-enabled=false")
	c := asAdmin(t, i)
	c.do("GET /nothing", "").want(t, 404)
	if got := c.logs("/Logs"); len(got) != 0 {
		t.Errorf("unexpected entries: %+v", got)
	}
}

// TestLogSurvivesARestart checks that ids continue after a restart.
func TestLogSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	first := daemontest.StartIn(t, dir)
	asAdmin(t, first).do("GET /nothing", "").want(t, 404)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	c := asAdmin(t, daemontest.StartIn(t, dir))
	c.do("GET /nothing/else", "").want(t, 404)
	got := c.logs("/Logs")
	if len(got) != 2 || got[0].PathInfo != "/nothing/else" || got[1].PathInfo != "/nothing" ||
		got[0].ID <= got[1].ID {
		t.Errorf("unexpected entries: %+v", got)
	}
}

// TestIconIsNotLogged checks that the request that each browser sends is not an error, and
// that other paths that do not exist are still logged.
func TestIconIsNotLogged(t *testing.T) {
	i := daemontest.Start(t, "--http-base-path", "/erp")
	c := asAdmin(t, i)
	for _, method := range []string{"GET", "HEAD"} {
		c.do(method+" /favicon.ico", "").want(t, 200).wantHeader(t, "Cache-Control", "public, max-age=604800").
			wantHeader(t, "Content-Type", "image/png")
	}
	c.do("GET /favicon.png", "").want(t, 404)
	logged := c.logs("/Logs?PathInfoContains=favicon")
	if len(logged) != 1 || logged[0].PathInfo != "/erp/favicon.png" {
		t.Errorf("the log has %+v, want /erp/favicon.png", logged)
	}
}

// TestLogsWithoutOwnRequests checks that WithoutOwn leaves out the requests of the same user and
// session with the same User-Agent, and no others.
func TestLogsWithoutOwnRequests(t *testing.T) {
	i := daemontest.Start(t)
	terminal := asAdmin(t, i).with("User-Agent: whctl/1 \"tui\"")
	program := asAdmin(t, i).with("User-Agent: whctl/1")
	byKey := anonymous(t, i).with("Authorization: Bearer "+i.Key(t, "admin"), "User-Agent: whctl/1 \"tui\"")
	terminal.do("GET /json/reply/DB_ClassQuery?Take=1", "").want(t, 200)
	program.do("GET /json/reply/DB_ClassQuery?Take=2", "").want(t, 200)
	byKey.do("GET /json/reply/DB_ClassQuery?Take=3", "").want(t, 200)

	const query = "/Logs?PathInfo=/json/reply/DB_ClassQuery&Fields=AbsoluteUri"
	for suffix, want := range map[string]string{
		"":                  "3 2 1",
		"&WithoutOwn=false": "3 2 1",
		"&WithoutOwn=true":  "3 2",
	} {
		var takes []string
		for _, entry := range terminal.logs(query + suffix) {
			_, take, _ := strings.Cut(entry.AbsoluteURI, "Take=")
			takes = append(takes, take)
		}
		if got := strings.Join(takes, " "); got != want {
			t.Errorf("%s%s has the requests with Take %q, want %q", query, suffix, got, want)
		}
	}
	terminal.do("GET /Logs?WithoutOwn=maybe", "").want(t, 400)
}

// TestLogsWithoutOwnRequestsOfOddAgents checks WithoutOwn for programs that send no User-Agent: they
// see those with one, and not their own requests.
func TestLogsWithoutOwnRequestsOfOddAgents(t *testing.T) {
	i := daemontest.Start(t)
	silent := asAdmin(t, i).with("User-Agent: ") // the client omits it
	program := asAdmin(t, i).with("User-Agent: whctl/1")
	silent.do("GET /json/reply/DB_ClassQuery?Take=1", "").want(t, 200)
	program.do("GET /json/reply/DB_ClassQuery?Take=2", "").want(t, 200)

	const path = "/Logs?PathInfo=/json/reply/DB_ClassQuery&Fields=AbsoluteUri&WithoutOwn=true"
	logged := silent.logs(path)
	if len(logged) != 1 || !strings.HasSuffix(logged[0].AbsoluteURI, "Take=2") {
		t.Errorf("%s without a User-Agent returned %+v, want the request of the other program", path, logged)
	}
}
