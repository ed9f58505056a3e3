package rest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// filterList is a list of the API, with the page that shows it.
type filterList struct{ operation, path, page string }

var filterLists = []filterList{
	{"MessageQuery", "/Webhooks/Messages", "/Pages/Messages"},
	{"SubscriptionQuery", "/Webhooks/Subscriptions", "/Pages/Subscriptions"},
	{"SubscriberQuery", "/Webhooks/Subscribers", "/Pages/Subscribers"},
}

// filtersOfList returns a query string for each filter that the description of an operation has.
// Each selects some rows but not all, if any value does.
func filtersOfList(t *testing.T, c client, list filterList) (queries []string) {
	t.Helper()
	all := c.do("GET "+list.path+"?format=json&nulls=include", "").want(t, 200).envelope(t).Results
	values := func(field string) (texts []string) {
		for _, row := range all {
			var columns map[string]any
			if err := json.Unmarshal(row, &columns); err != nil {
				t.Fatal(err)
			}
			if value := columns[field]; value != nil {
				texts = append(texts, fmt.Sprint(value))
			}
		}
		return append(texts, "1")
	}
	choose := func(name string, texts []string) string {
		var last string
		for _, text := range texts {
			if strings.HasSuffix(name, "Between") {
				text += "," + text
			}
			q := url.Values{name: {text}}.Encode()
			a := c.do("GET "+list.path+"?format=json&Strict=true&Include=Total&"+q, "")
			if a.status != 200 {
				continue
			}
			last = q
			if n := *a.envelope(t).Total; n > 0 && n < int64(len(all)) {
				return q
			}
		}
		return last
	}
	isOfEveryQuery := func(name string) bool {
		return slices.ContainsFunc(query.Parameters(), func(p query.Parameter) bool { return p.Name == name })
	}
	for _, p := range operationOf(t, c, list.operation).Parameters {
		if isOfEveryQuery(p.Name) {
			continue
		}
		field := p.Name
		if p.Family == "" {
			field = "AddedDateTime" // Since and Until
		}
		for _, suffix := range append([]string{""}, p.Suffixes...) {
			if q := choose(p.Name+suffix, values(field)); q != "" {
				queries = append(queries, q)
			} else if suffix != "" || p.Family == "" {
				t.Errorf("%s: no value of %s%s is accepted", list.operation, p.Name, suffix)
			}
		}
	}
	return queries
}

// TestPagesHaveAllFilters compares the rows of pages with those of the API, by every filter of the
// description, and the number of messages that an action offers.
func TestPagesHaveAllFilters(t *testing.T) {
	m := newKeyedMessages(t)
	m.admin.do("POST /Webhooks/Subscribers", `{"Name":"Other","IsEnabled":false}`).want(t, 201)
	m.admin.do("PATCH /Webhooks/Subscribers/"+m.shops[1].Subscriber+"/Subscriptions/"+m.shops[1].GUID,
		`{"EventName":"debtor.*","Ordered":true,"MaxPerMinute":5,"IsEnabled":false}`).want(t, 200)
	c := signIn(t, m.Instance)
	for _, list := range filterLists {
		filters := filtersOfList(t, m.admin, list)
		if len(filters) < 20 {
			t.Errorf("%s has only the filters %v", list.operation, filters)
		}
		for _, q := range filters {
			want := int(*m.admin.do("GET "+list.path+"?format=json&Include=Total&"+q, "").want(t, 200).envelope(t).Total)
			page := c.do("GET "+list.page+"?"+q, "").want(t, 200)
			if n := strings.Count(page.body, "<tr><t") - strings.Count(page.body, "<thead><tr><th"); n != want {
				t.Errorf("%s?%s shows %d rows, want %d", list.page, q, n, want)
			}
			if list.page == "/Pages/Messages" && want > 0 {
				wantBulkCount(t, c, page, q, want)
			}
			lower := strings.ToLower(q[:strings.Index(q, "=")]) + q[strings.Index(q, "="):]
			if n := c.do("GET "+list.page+"?"+lower, "").want(t, 200); rowCount(n) != rowCount(page) {
				t.Errorf("%s?%s shows %d rows, want %d", list.page, lower, rowCount(n), rowCount(page))
			}
		}
	}
}

// wantBulkCount follows the link to the page that deletes the messages of a list.
func wantBulkCount(t *testing.T, c client, list answer, q string, want int) {
	t.Helper()
	confirmation := c.do("GET "+list.link(t, "Delete…"), "").want(t, 200)
	counted := regexp.MustCompile(`<h1>Delete ([0-9,]+) message`).FindStringSubmatch(confirmation.body)
	if counted == nil || counted[1] != fmt.Sprint(want) {
		t.Errorf("with %s, the page offers to delete %q, want %d", q, counted, want)
	}
}

// TestFiltersThatLookSecret checks that a value such as token is a filter as others are, and that the
// link that ends the refreshing keeps it.
func TestFiltersThatLookSecret(t *testing.T) {
	m := newKeyedMessages(t)
	c := signIn(t, m.Instance)
	for _, q := range []string{"URLContains=token", "Key=C99", "EventName=user.password.created"} {
		c.do("GET /Pages/Messages?"+q, "").want(t, 200).wantText(t, "No message matches these filters")
		c.do("GET /Pages/AllMessages/Delete?"+q, "").want(t, 200).wantText(t, "nothing would change")
		stop := c.do("GET /Pages/Messages?Refresh=10&"+q, "").want(t, 200).link(t, "Stop")
		if !strings.Contains(stop, q) {
			t.Errorf("with %s, the link that ends the refreshing leads to %s", q, stop)
		}
		asBrowser(anonymous(t, m.Instance)).do("GET /Pages/Messages?"+q, "").want(t, 302).
			wantHeader(t, "Location", "/login?redirect="+url.QueryEscape("/Pages/Messages?"+q))
	}
}

// TestFiltersOfSubscribersAreShown checks that a filter of the address that the form has no input for is shown,
// and is kept by the form.
func TestFiltersOfSubscribersAreShown(t *testing.T) {
	c := signIn(t, newMessagesFixture(t).Instance)
	list := c.do("GET /Pages/Subscribers?ItemNo=1", "").want(t, 200).wantText(t, "ItemNo is <b>1</b>", "Remove: ItemNo")
	forms := list.forms()
	if len(forms) != 1 || forms[0].values.Get("ItemNo") != "1" {
		t.Errorf("the forms %v lack the filter", forms)
	}
	c.do("GET /Pages/Subscribers?ItemNo=9&NameContains=Shop", "").want(t, 200).
		wantText(t, "No subscriber matches these filters")
}

// TestUnknownFiltersOfPages checks that pages refuse unknown filters, with a suggestion.
func TestUnknownFiltersOfPages(t *testing.T) {
	m := newKeyedMessages(t)
	c := signIn(t, m.Instance)
	for path, suggestion := range map[string]string{
		"/Pages/Messages?Bogus=1":              "Bogus is no filter",
		"/Pages/Messages?Statuss=3":            "did you mean Status",
		"/Pages/Messages?Take=5":               "Take is no filter",
		"/Pages/Messages?KeyIsNull=false":      "KeyIsNotNull",
		"/Pages/AllMessages/Delete?Keys=1":     "did you mean Key",
		"/Pages/AllMessages/Delete?DryRun=1":   "DryRun is no filter",
		"/Pages/AllMessages/Delete?All=true":   "All is no filter",
		"/Pages/Subscriptions?EventNam=1":      "did you mean EventName",
		"/Pages/Subscribers?NameContain=1":     "did you mean NameContains",
		"/Pages/Why?Kee=1":                     "did you mean Key",
		"/Pages/Requests?Id=1&Ids=2":           "Ids is no filter",
		"/Pages/Records/SO_Totals?InvoiceNo=1": "InvoiceNo is no filter",
	} {
		c.do("GET "+path, "").want(t, 400).wantText(t, suggestion)
	}
}

// TestBulkPagesKeepUntil checks that a bound of the user stays after an action, and that of the page
// does not.
func TestBulkPagesKeepUntil(t *testing.T) {
	m := newKeyedMessages(t)
	for _, shop := range m.shops { // attempts would change messages that have been counted
		path := "/Webhooks/Subscribers/" + shop.Subscriber + "/Subscriptions/" + shop.GUID
		m.admin.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
	}
	c := signIn(t, m.Instance)
	until := "Until=" + hoursLater(5, "2006-01-02T15:04")
	retried := c.send(t, c.do("GET /Pages/AllMessages/Retry?"+until, "").want(t, 200)).want(t, 303)
	if to := retried.header.Get("Location"); !strings.Contains(to, until) {
		t.Errorf("leads to %s, want %s in it", to, until)
	}
	retried = c.send(t, c.do("GET /Pages/AllMessages/Retry?Key=C1", "").want(t, 200)).want(t, 303)
	if to := retried.header.Get("Location"); strings.Contains(to, "Until") || !strings.Contains(to, "Key=C1") {
		t.Errorf("leads to %s, want Key=C1 and no Until in it", to)
	}
	c.do("GET /Pages/AllMessages/SendAgain?Key=C1", "").want(t, 200).wantText(t, "Send 1 message again")
	c.do("GET /Pages/AllMessages/Retry?StatusIn=1,3", "").want(t, 200).wantText(t, "Delivered ones are sent once more")
}

// TestPortalFilters checks that the pages of subscribers have the filters of the API, without the
// SubscriberID.
func TestPortalFilters(t *testing.T) {
	p := newPortal(t)
	c := p.open()
	list := edge.PortalPath + "/Messages"
	c.do("GET "+list+"?Key=C1&SubscriptionID="+noID, "").want(t, 200).wantText(t, "Key is <b>C1</b>")
	stop := c.do("GET "+list+"?Key=C1&Refresh=10", "").want(t, 200).link(t, "Stop")
	if !strings.Contains(stop, "Key=C1") {
		t.Errorf("the link that ends the refreshing leads to %s", stop)
	}
	c.do("GET "+list+"?Bogus=1", "").want(t, 400).wantText(t, "Bogus is no filter")
	c.do("GET "+list+"?SubscriberID="+p.shop.RecID, "").want(t, 400).wantText(t, "SubscriberID is no filter")
}
