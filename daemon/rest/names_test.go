package rest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	business "github.com/bizhook/whd/daemon/demo"
)

const noID = "00000000-0000-4000-8000-000000000000"

// nameFixture is a daemon with a value for each path member: ids that exist for
// operations that read, and ids that do not exist for those that change something.
type nameFixture struct {
	client
	exists map[string]string
}

func newNameFixture(t *testing.T) nameFixture {
	c := asAdmin(t, daemontest.Start(t, "--demo", "--webhooks-allow-targets", "127.0.0.0/8"))
	f := nameFixture{c, map[string]string{"UserName": "admin", "Date": "2030-01-31", "MessageID": noID}}
	f.exists["Kind"] = "SO_Totals"
	f.exists["BillID"], f.exists["StageID"], f.exists["SettingID"] = business.BillExample()
	f.exists["SubscriberID"] = read[wire.Subscriber](t,
		c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201)).RecID
	path := "/Webhooks/Subscribers/" + f.exists["SubscriberID"] + "/Subscriptions"
	f.exists["SubscriptionID"] = read[wire.Subscription](t,
		c.do("POST "+path, `{"URL":"http://127.0.0.1:9/","EventName":"*"}`).want(t, 201)).RecID
	f.exists["KeyID"] = read[wire.APIKey](t,
		c.do("POST /ApiKeys", `{"Name":"one","Role":"reader"}`).want(t, 201)).KeyID
	return f
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// isNamed reports whether a path calls an operation by its name.
func isNamed(path string) bool {
	return strings.Contains(path, "/reply/") || strings.Contains(path, "/oneway/") || strings.HasPrefix(path, "/api/")
}

// TestMissingPathMembers checks that the path members of an operation are required
// when it is called by its name.
func TestMissingPathMembers(t *testing.T) {
	f := newNameFixture(t)
	for _, o := range metadataOf(t, f.client).Operations {
		at := slices.IndexFunc(o.Routes, func(r wire.OperationRoute) bool { return !isNamed(r.Path) })
		if strings.HasPrefix(o.Name, "OData") { // has paths only
			continue
		}
		for _, m := range pathParameter.FindAllStringSubmatch(o.Routes[at].Path, -1) {
			a := f.do("POST /json/reply/"+o.Name, `{"`+m[1]+`":""}`).want(t, 400)
			if !strings.Contains(a.body, `"FieldName":"`+m[1]+`"`) ||
				!strings.Contains(a.body, `"ErrorCode":"NotEmpty"`) {
				t.Errorf("%s without %s: %s", o.Name, m[1], a.body)
			}
			f.do("POST /json/reply/"+o.Name, `{"`+m[1]+`":["a","b"]}`).want(t, 400)
		}
	}
}

// TestLifeOfASubscriptionByName sends the requests of typed clients of both
// generations of the reference service.
func TestLifeOfASubscriptionByName(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-allow-targets", "127.0.0.0/8")
	boss, c := asAdmin(t, i), anonymous(t, i)
	for _, n := range []struct{ base, add, show, list, change, remove, subscribe, one, all, update, cancel, messages string }{
		{
			base:      "/json/reply/",
			add:       "WebhooksSubscribersPOSTRequest",
			show:      "WebhooksSubscribersGETRequest",
			list:      "WebhooksSubscribersGETManyRequest",
			change:    "WebhooksSubscribersPATCHRequest",
			remove:    "WebhooksSubscribersDELETERequest",
			subscribe: "WebhooksSubscriptionsPOSTRequest",
			one:       "GetSubscription",
			all:       "WebhooksSubscriptionsGETRequest",
			update:    "WebhooksSubscriptionsPATCHRequest",
			cancel:    "WebhooksSubscriptionsDELETERequest",
			messages:  "WebhooksMessagesGETRequest",
		},
		{
			base:      "/api/",
			add:       "WebhooksSubscriberPOSTRequest",
			show:      "WebhooksSubscriberGETRequest",
			list:      "WebhooksSubscribersGETManyRequest",
			change:    "WebhooksSubscriberPATCHRequest",
			remove:    "WebhooksSubscriberDELETERequest",
			subscribe: "WebhooksSubscriptionPOSTRequest",
			one:       "WebhooksSubscriptionGETRequest",
			all:       "WebhooksSubscriptionsGETManyRequest",
			update:    "WebhooksSubscriptionPATCHRequest",
			cancel:    "WebhooksSubscriptionDELETERequest",
			messages:  "WebhooksMessagesGETManyRequest",
		},
	} {
		made := read[wire.Subscriber](t, boss.do("POST "+n.base+n.add, `{"Name":"Shop"}`).want(t, 201))
		changed := read[wire.Subscriber](t,
			boss.do("PATCH "+n.base+n.change, `{"SubscriberID":"`+made.RecID+`","Name":"Store"}`).want(t, 200))
		if changed.Name != "Store" {
			t.Errorf("the renamed subscriber is %+v, want the name Store", changed)
		}

		listed := boss.do("GET "+n.base+n.list+"?Name=store", "").want(t, 200).envelope(t)
		if len(listed.Results) != 1 {
			t.Errorf("%d subscribers", len(listed.Results))
		}

		subscriber := `"SubscriberID":"` + made.RecID + `"`
		s := read[wire.Subscription](t, c.do("POST "+n.base+n.subscribe,
			`{`+subscriber+`,"URL":"http://127.0.0.1:9/","EventName":"debtor.created","Headers":[{"Name":"X-Key","Value":"1"}]}`).want(t, 201).
			wantHeader(t, "X-Ignored-Members", ""))
		ids := `{` + subscriber + `,"SubscriptionID":"` + s.RecID + `"`
		updated := read[wire.Subscription](t,
			c.do("PATCH "+n.base+n.update, ids+`,"EventName":"debtor.*"}`).want(t, 200))
		shown := read[wire.Subscription](t, c.do("POST "+n.base+n.one, ids+`}`).want(t, 200))
		if shown.EventName != "debtor.*" || shown.RecID != updated.RecID || len(shown.Headers) != 1 {
			t.Errorf("got %+v, want the subscription to debtor.* with one header", shown)
		}
		all := read[[]wire.Subscription](t,
			c.do("GET "+n.base+n.all+"?SubscriberID="+made.RecID, "").want(t, 200))
		if len(all) != 1 {
			t.Errorf("%d subscriptions", len(all))
		}

		c.do("POST "+n.base+"TestSubscription", ids+`}`).want(t, 202)
		sent := c.do("GET "+n.base+n.messages+"?Take=1&SubscriberID="+made.RecID, "").want(t, 200).envelope(t)
		if len(sent.Results) != 1 {
			t.Errorf("%d messages", len(sent.Results))
		}

		c.do("DELETE "+n.base+n.cancel+"?SubscriberID="+made.RecID+"&subscriptionid="+s.RecID, "").want(t, 204)
		c.do("POST "+n.base+n.one, ids+`}`).want(t, 404)
		boss.do("DELETE "+n.base+n.remove, `{`+subscriber+`}`).want(t, 204)
		boss.do("GET "+n.base+n.show+"?SubscriberID="+made.RecID, "").want(t, 404)
	}
}

// TestSecondGroupOfNames checks names with a path of their own, and names in the
// metadata, in suggestions and in the lists of methods.
func TestSecondGroupOfNames(t *testing.T) {
	c := asAdmin(t, demo.start(t))
	c.do("GET /nothing/at/all", "").want(t, 404)
	for _, name := range []string{"TodayErrorLogsGETManyRequest", "TodayLogsGETManyRequest"} {
		rows := c.logs("/api/" + name)
		if len(rows) == 0 ||
			strings.Contains(name, "Error") &&
				slices.ContainsFunc(rows, func(e logEntry) bool { return e.StatusCode < 400 }) {
			t.Errorf("%s: %d rows", name, len(rows))
		}
	}

	// The daemon may have been started before midnight.
	before := utcDate(-1)
	rows := c.logs("/json/reply/YesterdayLogsGETManyRequest")
	after := utcDate(-1)
	for _, row := range rows {
		if day, _, _ := strings.Cut(row.DateTime, "T"); day != before && day != after {
			t.Errorf("a row of %s, requested after %s", row.DateTime, before)
		}
	}

	o := operationOf(t, c, "AddSubscriber")
	if !slices.Equal(o.Aliases, []string{"WebhooksSubscribersPOSTRequest", "WebhooksSubscriberPOSTRequest"}) {
		t.Errorf("the other names of AddSubscriber are %q", o.Aliases)
	}

	asBrowser(c).do("GET /metadata?op=webhookssubscriberpostrequest", "").want(t, 200).
		wantText(t, "<h1>AddSubscriber</h1>").
		wantText(t, "WebhooksSubscribersPOSTRequest")
	c.do("POST /json/reply/GetMetadata", `{"op":"LoginPOSTRequest"}`).want(t, 200).
		wantText(t, `"Name":"Authenticate"`)
	for path, near := range map[string]string{
		"/json/reply/WebhooksSubscribePOSTRequest": "did you mean WebhooksSubscriberPOSTRequest",
		"/api/AddUsers":                  "did you mean AddUser",
		"/json/reply/DB_ClasQuery[]":     "did you mean DB_ClassQuery",
		"/metadata?op=LoginPOSTReques":   "LoginPOSTRequest",
		"/json/reply/NothingLikeIt":      "AddUser, ",
		"/json/reply/Query":              "unknown operation Query",
		"/Queries/AddUsers":              "unknown record kind",
		"/json/reply/Subscriptions/more": "path not found",
		"/json/reply/Users%5B%5D%5B%5D":  "unknown operation",
		"/Users/missing%5B%5D":           "user",
	} {
		c.do("GET "+path, "").want(t, 404).wantText(t, near)
	}

	for line, allow := range map[string]string{
		"OPTIONS /json/reply/AddUser":   "DELETE, GET, PATCH, POST, PUT, OPTIONS",
		"OPTIONS /json/reply/Users":     "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS",
		"OPTIONS /api/LogoutGetRequest": "DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS",
	} {
		c.do(line, "").want(t, 204).wantHeader(t, "Allow", allow)
	}

	c.do("HEAD /json/reply/RemoveUser?UserName=missing", "").want(t, 405)
	c.do("HEAD /api/Users", "").want(t, 200)
}

// TestNamesUnderABasePath checks routes by name below http.base_path.
func TestNamesUnderABasePath(t *testing.T) {
	i := daemontest.Start(t, "--http-base-path", "/erp")
	c := asAdmin(t, i)
	c.do("POST /json/reply/AddSubscriber", `{"Name":"Shop"}`).want(t, 201)
	c.url = strings.TrimSuffix(i.URL, "/erp")
	c.do("GET /erp/api/Users", "").want(t, 200)
	c.do("GET /api/Users", "").want(t, 404)
	c.do("GET /erp/odata", "").want(t, 200)
	c.do("GET /erpx/odata", "").want(t, 404)
}

func TestMethodOverride(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	c := asAdmin(t, i)
	bill, stage, setting := business.BillExample()
	path := billPath(bill, stage, setting)
	c.do("POST "+path, `{"Contents":"blue"}`).want(t, 405)
	c.do("POST "+path, `{"Contents":"blue"}`, "X-HTTP-Method-Override: PATCH").want(t, 200).wantText(t, "blue")
	c.do("POST "+path, "", "X-Http-Method-Override: get").want(t, 200).wantText(t, "blue")
	c.do("GET "+path, "", "X-HTTP-Method-Override: DELETE").want(t, 200)
	c.do("POST /Users/missing", "", "X-HTTP-Method-Override: DELETE").want(t, 404)
	c.do("POST /Users", `{}`, "X-HTTP-Method-Override: POST").want(t, 400)
	for _, method := range []string{"HEAD", "OPTIONS", "BREW", "PATCH PUT"} {
		c.do("POST "+path, `{"Contents":"red"}`, "X-HTTP-Method-Override: "+method).want(t, 400).
			wantText(t, "X-HTTP-Method-Override")
	}
	session := c.do("GET /auth?"+loginForm(), "").want(t, 200).cookie(t).Value
	anonymous(t, i).do("POST /Users/missing", "", "X-HTTP-Method-Override: DELETE",
		"Cookie: ss-id="+session, "Origin: http://evil.example").want(t, 403)
	if !slices.ContainsFunc(c.logs("/Logs"), func(e logEntry) bool {
		return e.HTTPMethod == "DELETE" &&
			e.PathInfo == "/Users/missing"
	}) {
		t.Error("the request log does not have the effective method")
	}
}
