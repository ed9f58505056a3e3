package rest_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// Lists that are not queries have pages, too, and say how many items there are in all.
func TestPagesOfLists(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8"))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	subscriptions := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	for i := range 3 {
		name := strconv.Itoa(i)
		c.do("POST /Users", `{"UserName":"u`+name+`","Role":"reader","Password":"a long password"}`).want(t, 201)
		c.do("POST /ApiKeys", `{"Name":"k`+name+`","Role":"reader"}`).want(t, 201)
		c.do("POST "+subscriptions, `{"EventName":"*","URL":"http://127.0.0.1/`+name+`"}`).want(t, 201)
	}

	for _, path := range []string{"/Users", "/ApiKeys", subscriptions} {
		whole := c.do("GET "+path, "").want(t, 200)
		all := read[[]json.RawMessage](t, whole)
		for _, test := range []struct {
			query    string
			from, to int
		}{
			{query: "Skip=0", from: 0, to: len(all)},
			{query: "Skip=1", from: 1, to: len(all)},
			{query: "Take=2", from: 0, to: 2},
			{query: "skip=1&take=1", from: 1, to: 2},
			{query: "Take=0", from: 0, to: 0},
			{query: "Take=", from: 0, to: len(all)},
			{query: "Skip=2&Take=2147483647", from: 2, to: len(all)},
			{query: "Skip=9", from: len(all), to: len(all)},
		} {
			a := c.do("GET "+path+"?"+test.query, "").want(t, 200).wantHeader(t, "X-Total", strconv.Itoa(len(all)))
			got := read[[]json.RawMessage](t, a)
			if !slices.EqualFunc(got, all[test.from:test.to],
				func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("%s?%s: %s of %s", path, test.query, a.body, whole.body)
			}
		}
		for _, wrong := range []string{"Take=-1", "Skip=x", "Skip=2147483648", "Take=1&Take=2"} {
			name, _, _ := strings.Cut(wrong, "=")
			if got := c.do("GET "+path+"?"+wrong, "").want(t, 400).fieldNames(t); got != name {
				t.Errorf("%s?%s: members %s", path, wrong, got)
			}
		}
	}

	c.do("POST /json/reply/Subscriptions", `{"SubscriberID":"`+shop.RecID+`","Skip":1,"Take":1}`).want(t, 200).
		wantHeader(t, "X-Total", "3")
	c.do("GET /Webhooks/Subscribers/00000000-0000-4000-8000-000000000000/Subscriptions?Take=1", "").want(t, 404).
		wantHeader(t, "X-Total", "")
}

const completed = "X-AutoBatch-Completed"

func TestListsOfQueries(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	const requests = `[{"Take":1,"OrderBy":"InvoiceID"},{"InvoiceID":"00120"},{"Take":0}]`
	for _, line := range []string{
		"POST /json/reply/SO_TotalsQuery[]",
		"PUT /json/reply/so_totalsquery%5B%5D",
		"POST /api/SO_TotalsQuery[]",
		"POST /api/SO_TotalsQuery%5b%5d.json",
	} {
		a := c.do(line, requests, "Content-Type: application/json").want(t, 200).wantHeader(t, completed, "3").
			wantHeader(t, "Content-Type", "application/json; charset=utf-8")
		all := read[[]json.RawMessage](t, a)
		for i, request := range []string{
			`{"Take":1,"OrderBy":"InvoiceID"}`,
			`{"InvoiceID":"00120"}`,
			`{"Take":0}`,
		} {
			want := c.do("POST /json/reply/SO_TotalsQuery", request).want(t, 200).body
			if len(all) != 3 || string(all[i]) != want {
				t.Errorf("%s: item %d is %s, want %s", line, i, all, want)
			}
		}
	}

	c.do("POST /json/reply/DB_ClassQuery[]", "[]").want(t, 200).wantHeader(t, completed, "0").wantText(t, "[]")
	c.do("POST /json/reply/DB_ClassQuery[]?Take=1", `[{"Take":5}]`).want(t, 200).wantHeader(t, completed, "1")
	c.do("POST /xml/reply/DB_ClassQuery[]", `[{"Take":1}]`).want(t, 200).
		wantHeader(t, "Content-Type", "application/xml; charset=utf-8").
		wantText(t, "<Results>")
	c.do("POST /json/oneway/DB_ClassQuery[]", `[{"Take":1},{"Take":2}]`).want(t, 204).wantHeader(t, completed, "2")
	c.do("POST /json/oneway/DB_ClassQuery[]", `[{"Take":1},{"Take":-2}]`).want(t, 400).wantHeader(t, completed, "1")
	c.do("POST /json/reply/DB_ClassQuery[]", `[{"Nope":1}]`).want(t, 200).wantHeader(t, "X-Ignored-Members", "Nope")
	c.do("POST /json/reply/WebhooksEventsGETRequest[]", `[{},{}]`).want(t, 200).wantHeader(t, completed, "2")
	c.do("POST /json/reply/TypeScript[]", `[{}]`).want(t, 200).wantText(t, `["/*`)
}

func TestInvalidLists(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	for _, test := range []struct{ path, body, text string }{
		{"DB_ClassQuery", "", "JSON array"},
		{"DB_ClassQuery", `{"Take":1}`, "JSON array"},
		{"DB_ClassQuery", `[{"Take":1}`, "JSON array"},
		{"DB_ClassQuery", `null`, "JSON array"},
		{"DB_ClassQuery", `[{"Take":1},2]`, "item 1"},
		{"DB_ClassQuery", `[null]`, "item 0"},
		{"DB_ClassQuery", "[{}" + strings.Repeat(",{}", 100) + "]", "the maximum is 100"},
		{"SO_TotalsQuery", "[{}" + strings.Repeat(",{}", 19) + "]", "a smaller Take"},
		{"Stream", "[{}]", "Stream"},
		{"Health", "[{}]", "Health"},
	} {
		c.do("POST /json/reply/"+test.path+"[]", test.body).want(t, 400).wantText(t, test.text)
	}
	c.do("POST /json/reply/DB_ClassQuery[]", "[{}"+strings.Repeat(",{}", 99)+"]").want(t, 200).
		wantHeader(t, completed, "100")
	c.do("POST /json/reply/NoQuery[]", "[{}]").want(t, 404).wantText(t, "unknown operation NoQuery;")
	a := c.do("POST /csv/reply/DB_ClassQuery[]", `[{"Take":1},{"Take":-1},{"Take":-2}]`).want(t, 400)
	a.wantHeader(t, completed, "1")
	if !strings.HasPrefix(a.body, "ErrorCode,") {
		t.Error(a.body)
	}
}

// TestListsWithoutDocument checks formats that cannot hold the responses.
func TestListsWithoutDocument(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	const user = `[{"UserName":"ann","Password":"` + annPassword + `","Role":"reader"}]`
	for _, line := range []string{"POST /api/AddUser[]?format=xlsx", "POST /api/AddUser[].xlsx"} {
		c.do(line, user).want(t, 400).wantHeader(t, completed, "").wantMessage(t, "json, ndjson, csv")
	}
	c.do("POST /api/AddUser[]", user, "Accept: "+xlsxType).want(t, 400)
	c.do("POST /api/AddUser[]?format=csv&bom=maybe", user).want(t, 400).wantText(t, "bom")
	c.do("POST /json/oneway/AddUser[]?format=xlsx", user).want(t, 204)
	var list strings.Builder
	for n := range 50_000 {
		separator := ","
		if n%500 == 0 {
			separator = "},{"
		}
		list.WriteString(separator + `"` + strconv.Itoa(n) + `":0`)
	}
	wide := "[" + list.String()[2:] + "}]"
	for _, format := range []string{"csv", "html"} {
		anonymous(t, i).do("POST /api/TestTarget[]?format="+format, wide).want(t, 400).wantText(t, "columns")
	}
	anonymous(t, i).do("POST /api/TestTarget[]", wide).want(t, 200).wantHeader(t, completed, "100")
}

// TestListsOfChanges checks that a list stops at the first error and does not undo
// earlier requests.
func TestListsOfChanges(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	user := func(n int, role string) string {
		return `{"UserName":"user` + strconv.Itoa(n) + `","Password":"` + annPassword + `","Role":"` + role + `"}`
	}
	a := c.do("POST /api/AddUser[]", "["+user(1, "reader")+","+user(2, "writer")+"]").want(t, 200).
		wantHeader(t, completed, "2").
		wantHeader(t, "Location", "")
	made := read[[]wire.User](t, a)
	if len(made) != 2 || made[1].UserName != "user2" || made[1].Role != "writer" {
		t.Errorf("got %+v, want two users, the second one user2 with the role writer", made)
	}

	a = c.do("POST /json/reply/AddUser[]",
		"["+user(3, "reader")+","+user(4, "king")+","+user(5, "reader")+"]").want(t, 400).
		wantHeader(t, completed, "1")
	s := a.failure(t)
	if s.Meta["AutoBatchIndex"] != "1" || len(s.Errors) != 1 || s.Errors[0].FieldName != "Role" {
		t.Errorf("got %+v, want an error for Role in the item 1", s)
	}

	users := func(want int) {
		t.Helper()
		if all := read[[]wire.User](t, c.do("GET /Users", "").want(t, 200)); len(all) != want {
			t.Errorf("got the users %+v, want %d", all, want)
		}
	}
	users(4)
	c.do("POST /json/reply/RemoveUser[]", `[{"UserName":"user1"},{"UserName":"user2"}]`).want(t, 200).
		wantText(t, "[null,null]")
	users(2)
	for _, line := range []string{
		"POST /json/reply/AddUser[]",
		"POST /json/oneway/AddUser[]",
		"POST /api/AddUser[]",
	} {
		anonymous(t, i).do(line, "["+user(6, "reader")+"]").want(t, 401)
		anonymous(t, i).with(basic("user3", annPassword)).do(line, "["+user(6, "admin")+"]").want(t, 403)
		c.do(line, "["+user(6, "reader")+"]", "Origin: http://evil.example").want(t, 403)
	}

	users(2)
	c.do("POST /json/oneway/AddUser[]", "["+user(7, "reader")+"]").want(t, 204)
	users(3)
	login := c.do("POST /json/reply/Authenticate[]", "["+loginJSON()+"]").want(t, 200)
	anonymous(t, i).do("GET /Sessions/Current", "", "Cookie: ss-id="+login.cookie(t).Value).want(t, 200)
}

// TestListsCountInRateLimits checks that each request of a list counts.
func TestListsCountInRateLimits(t *testing.T) {
	i := daemontest.Start(t, "--http-rate", "1/h+4")
	c := asAdmin(t, i)
	c.do("POST /json/reply/Users[]", "[{},{},{},{},{},{}]").want(t, 429).wantHeader(t, completed, "4")
}
