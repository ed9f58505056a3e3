package rest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// completed is the header with the number of requests of a list that have succeeded.
const completed = "X-AutoBatch-Completed"

// jsonItems returns the items of a response that is a JSON array.
func jsonItems(t *testing.T, a answer) []string {
	t.Helper()
	var items []string
	for _, item := range read[[]json.RawMessage](t, a) {
		items = append(items, string(item))
	}
	return items
}

// TestListsOfQueries checks that the response to a list has the responses to its queries, by each
// path to which a list can be sent.
func TestListsOfQueries(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	requests := []string{`{"Take":1,"OrderBy":"InvoiceID"}`, `{"InvoiceID":"00120"}`, `{"Take":0}`}
	var want []string
	for _, request := range requests {
		want = append(want, c.do("POST /json/reply/SO_TotalsQuery", request).want(t, 200).body)
	}

	list := "[" + strings.Join(requests, ",") + "]"
	for _, line := range []string{
		"POST /json/reply/SO_TotalsQuery[]",
		"PUT /json/reply/so_totalsquery%5B%5D",
		"POST /api/SO_TotalsQuery[]",
		"POST /api/SO_TotalsQuery%5b%5d.json",
	} {
		a := c.do(line, list, "Content-Type: application/json").want(t, 200)
		a.wantHeader(t, completed, "3")
		a.wantHeader(t, "Content-Type", "application/json; charset=utf-8")
		if got := jsonItems(t, a); !slices.Equal(got, want) {
			t.Errorf("%s: got the responses %s, want %s", line, got, want)
		}
	}
}

// TestCompletedRequestsOfLists checks how many requests of a list are reported as completed.
func TestCompletedRequestsOfLists(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, tt := range []struct {
		line      string
		body      string
		status    int
		completed string
		text      string // part of the response
	}{
		{"POST /json/reply/DB_ClassQuery[]", "[]", 200, "0", "[]"},
		{"POST /json/reply/DB_ClassQuery[]?Take=1", `[{"Take":5}]`, 200, "1", ""},
		{"POST /xml/reply/DB_ClassQuery[]", `[{"Take":1}]`, 200, "1", "<Results>"},
		{"POST /json/oneway/DB_ClassQuery[]", `[{"Take":1},{"Take":2}]`, 204, "2", ""},
		{"POST /json/oneway/DB_ClassQuery[]", `[{"Take":1},{"Take":-2}]`, 400, "1", ""},
		{"POST /json/reply/WebhooksEventsGETRequest[]", `[{},{}]`, 200, "2", ""},
		{"POST /json/reply/TypeScript[]", `[{}]`, 200, "1", `["/*`},
	} {
		t.Run(tt.line+" "+tt.body, func(t *testing.T) {
			a := c.do(tt.line, tt.body).want(t, tt.status)
			a.wantHeader(t, completed, tt.completed)
			a.wantText(t, tt.text)
		})
	}
}

// TestHeadersOfLists checks headers that depend on the requests of a list.
func TestHeadersOfLists(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	c.do("POST /xml/reply/DB_ClassQuery[]", `[{"Take":1}]`).
		wantHeader(t, "Content-Type", "application/xml; charset=utf-8")
	c.do("POST /json/reply/DB_ClassQuery[]", `[{"Nope":1}]`).want(t, 200).
		wantHeader(t, "X-Ignored-Members", "Nope")
}

// requestList returns a list of n empty requests.
func requestList(n int) string { return "[{}" + strings.Repeat(",{}", n-1) + "]" }

func TestInvalidLists(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, test := range []struct{ path, body, text string }{
		{"DB_ClassQuery", "", "JSON array"},
		{"DB_ClassQuery", `{"Take":1}`, "JSON array"},
		{"DB_ClassQuery", `[{"Take":1}`, "JSON array"},
		{"DB_ClassQuery", `null`, "JSON array"},
		{"DB_ClassQuery", `[{"Take":1},2]`, "item 1"},
		{"DB_ClassQuery", `[null]`, "item 0"},
		{"DB_ClassQuery", requestList(101), "the maximum is 100"},
		{"SO_TotalsQuery", requestList(20), "a smaller Take"},
		{"Stream", "[{}]", "Stream"},
		{"Health", "[{}]", "Health"},
	} {
		c.do("POST /json/reply/"+test.path+"[]", test.body).want(t, 400).wantText(t, test.text)
	}
	c.do("POST /json/reply/DB_ClassQuery[]", requestList(100)).want(t, 200).wantHeader(t, completed, "100")
	c.do("POST /json/reply/NoQuery[]", "[{}]").want(t, 404).wantText(t, "unknown operation NoQuery;")
}

// TestErrorInListHasItsFormat checks that a list with an invalid request is responded to by an error
// document in the format of the path.
func TestErrorInListHasItsFormat(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	a := c.do("POST /csv/reply/DB_ClassQuery[]", `[{"Take":1},{"Take":-1},{"Take":-2}]`).want(t, 400)
	a.wantHeader(t, completed, "1")
	if !strings.HasPrefix(a.body, "ErrorCode,") {
		t.Errorf("got the error %s, want CSV that starts with ErrorCode", a.body)
	}
}

// userJSON returns the request to add user n.
func userJSON(n int, role string) string {
	return fmt.Sprintf(`{"UserName":"user%d","Password":"%s","Role":"%s"}`, n, annPassword, role)
}

// TestListsWithoutDocument checks formats that cannot hold the responses.
func TestListsWithoutDocument(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	list := "[" + userJSON(1, "reader") + "]"
	for _, line := range []string{"POST /api/AddUser[]?format=xlsx", "POST /api/AddUser[].xlsx"} {
		c.do(line, list).want(t, 400).wantHeader(t, completed, "").wantMessage(t, "json, ndjson, csv")
	}
	c.do("POST /api/AddUser[]", list, "Accept: "+xlsxType).want(t, 400)
	c.do("POST /api/AddUser[]?format=csv&bom=maybe", list).want(t, 400).wantText(t, "bom")
	c.do("POST /json/oneway/AddUser[]?format=xlsx", list).want(t, 204)
}

// TestListsWithTooManyColumns sends 100 requests with 500 members of their own each. Together the
// responses have more columns than a table can.
func TestListsWithTooManyColumns(t *testing.T) {
	var requests []string
	for i := range 100 {
		var members []string
		for n := range 500 {
			members = append(members, fmt.Sprintf(`"%d":0`, 500*i+n))
		}
		requests = append(requests, "{"+strings.Join(members, ",")+"}")
	}
	list := "[" + strings.Join(requests, ",") + "]"

	c := anonymous(t, daemontest.Start(t))
	for _, format := range []string{"csv", "html"} {
		c.do("POST /api/TestTarget[]?format="+format, list).want(t, 400).wantText(t, "columns")
	}
	c.do("POST /api/TestTarget[]", list).want(t, 200).wantHeader(t, completed, "100")
}

// wantUsers checks the number of users.
func wantUsers(t *testing.T, c client, want int) {
	t.Helper()
	users := read[[]wire.User](t, c.do("GET /Users", "").want(t, 200))
	if len(users) != want {
		t.Errorf("got the users %+v, want %d", users, want)
	}
}

// TestListsOfChanges checks that a list adds and removes users. The first one is admin.
func TestListsOfChanges(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	a := c.do("POST /api/AddUser[]", "["+userJSON(1, "reader")+","+userJSON(2, "writer")+"]").want(t, 200)
	a.wantHeader(t, completed, "2").wantHeader(t, "Location", "")
	added := read[[]wire.User](t, a)
	if len(added) != 2 || added[1].UserName != "user2" || added[1].Role != "writer" {
		t.Errorf("got %+v, want two users, the second one user2 with the role writer", added)
	}
	wantUsers(t, c, 3)

	c.do("POST /json/reply/RemoveUser[]", `[{"UserName":"user1"},{"UserName":"user2"}]`).want(t, 200).
		wantText(t, "[null,null]")
	wantUsers(t, c, 1)
	c.do("POST /json/oneway/AddUser[]", "["+userJSON(3, "reader")+"]").want(t, 204)
	wantUsers(t, c, 2)
}

// TestListStopsAtFirstError checks that a list stops at the first error and does not undo earlier
// requests.
func TestListStopsAtFirstError(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	list := "[" + userJSON(1, "reader") + "," + userJSON(2, "king") + "," + userJSON(3, "reader") + "]"
	a := c.do("POST /json/reply/AddUser[]", list).want(t, 400).wantHeader(t, completed, "1")
	failure := a.failure(t)
	if failure.Meta["AutoBatchIndex"] != "1" || len(failure.Errors) != 1 || failure.Errors[0].FieldName != "Role" {
		t.Errorf("got %+v, want an error for Role in the item 1", failure)
	}
	wantUsers(t, c, 2)
}

// TestListsRequireRights checks that a list requires the rights of its operation, and a request that
// is not forged.
func TestListsRequireRights(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	reader := addUser(t, i, "reader")
	for _, line := range []string{
		"POST /json/reply/AddUser[]",
		"POST /json/oneway/AddUser[]",
		"POST /api/AddUser[]",
	} {
		anonymous(t, i).do(line, "["+userJSON(1, "reader")+"]").want(t, 401)
		reader.do(line, "["+userJSON(1, "admin")+"]").want(t, 403)
		c.do(line, "["+userJSON(1, "reader")+"]", "Origin: http://evil.example").want(t, 403)
	}
	wantUsers(t, c, 2)
}

// TestListOfLogins checks that a login in a list sets the cookie of its session.
func TestListOfLogins(t *testing.T) {
	i := daemontest.Start(t)
	login := asAdmin(t, i).do("POST /json/reply/Authenticate[]", "["+loginJSON()+"]").want(t, 200)
	anonymous(t, i).do("GET /Sessions/Current", "", "Cookie: ss-id="+login.cookie(t).Value).want(t, 200)
}

// TestListsCountInRateLimits checks that each request of a list counts.
func TestListsCountInRateLimits(t *testing.T) {
	i := daemontest.Start(t, "--http-rate", "1/h+4")
	c := asAdmin(t, i)
	c.do("POST /json/reply/Users[]", "[{},{},{},{},{},{}]").want(t, 429).wantHeader(t, completed, "4")
}
