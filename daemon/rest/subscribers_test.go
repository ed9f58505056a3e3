package rest_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// The name of a subscriber must not be blank, neither when it is added nor changed.
func TestSubscriberNameIsRequired(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":" Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID
	for _, body := range []string{`{"Name":""}`, `{"Name":"  "}`, `{"Name":"\t\u00a0\n"}`} {
		for _, request := range []string{"POST /Webhooks/Subscribers", "PATCH " + path} {
			a := c.do(request, body).want(t, 400)
			if code := a.failure(t).ErrorCode; code != "NotEmpty" || a.fieldNames(t) != "Name" {
				t.Errorf("%s %s: %s for %s", request, body, code, a.fieldNames(t))
			}
		}
	}
	if got := read[wire.Subscriber](t, c.do("GET "+path, "").want(t, 200)); got.Name != " Shop" {
		t.Errorf("the name is %q", got.Name)
	}
	c.do("PATCH "+path, `{"IsEnabled":false}`).want(t, 200)
}

// hiddenNames are names that pages, files and logs would not show as they are.
var hiddenNames = []string{
	"a\x00b", "a\rb", "a\nb", "a\tb", "a\u0085b", "a\u2028b", "a\u202eb", "a\u2066b", "\u200b", "\u2060\u3164",
}

// TestHiddenNames checks that users, API keys and subscribers have one rule for names, on pages and in the
// API.
func TestHiddenNames(t *testing.T) {
	i := daemontest.Start(t)
	c, pages := asAdmin(t, i), signIn(t, i)
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	c.do("POST /Users", encoded(map[string]any{"UserName": "kim", "Role": "reader", "Password": annPassword})).want(t, 201)
	for _, name := range hiddenNames {
		for _, request := range []struct {
			line, member string
			body         map[string]any
		}{
			{"POST /Webhooks/Subscribers", "Name", map[string]any{"Name": name}},
			{"PATCH /Webhooks/Subscribers/" + shop.RecID, "Name", map[string]any{"Name": name}},
			{"POST /ApiKeys", "Name", map[string]any{"Name": name, "Role": "reader"}},
			{"POST /Users", "UserName", map[string]any{"UserName": name, "Role": "reader", "Password": annPassword}},
			{"PATCH /Users/kim", "DisplayName", map[string]any{"DisplayName": name}},
		} {
			a := c.do(request.line, encoded(request.body)).want(t, 400)
			if got := a.fieldNames(t); got != request.member {
				t.Errorf("%s with the name %q: the error is about %q", request.line, name, got)
			}
		}
		for page, input := range map[string]string{
			"Subscribers/New": "Name", "Subscribers/1/Do/Rename": "Name",
			"Users/Do/New": "UserName", "Users/kim/Edit": "DisplayName", "Keys/Do/New": "Name",
		} {
			form := pages.do("GET /Pages/"+page, "").want(t, 200)
			pages.send(t, form, "Password", annPassword, input, name).want(t, 400).wantText(t, `href="#in-`+input+`"`)
		}
	}
}

// TestHiddenNamesOfEarlierBuilds checks that users and subscribers with such names can be read, changed and
// renamed.
func TestHiddenNamesOfEarlierBuilds(t *testing.T) {
	dir := t.TempDir()
	daemontest.Prepare(t, dir)
	const name = "a\x00b\u202e"
	addNamed(t, dir, name)
	i := daemontest.StartIn(t, dir)
	c, pages := asAdmin(t, i), signIn(t, i)

	for format, shown := range map[string]string{"json": `a\u0000b`, "csv": "a\ufffdb", "xml": "a\ufffdb"} {
		list := c.do("GET /Webhooks/Subscribers?format="+format, "").want(t, 200)
		if !strings.Contains(list.body, shown) || strings.Contains(list.body, "\x00") {
			t.Errorf("the subscribers as %s: %q", format, list.body)
		}
	}
	var shop wire.Subscriber
	rows := c.do("GET /Webhooks/Subscribers?format=json", "").want(t, 200).envelope(t).Results
	if err := json.Unmarshal(rows[0], &shop); err != nil {
		t.Fatal(err)
	}
	path := "PATCH /Webhooks/Subscribers/" + shop.RecID
	c.do(path, encoded(map[string]any{"Name": name, "IsEnabled": false})).want(t, 200)
	c.do(path, encoded(map[string]any{"Name": name + "c"})).want(t, 400)
	pages.follow(t, pages.send(t, pages.do("GET /Pages/Subscribers/1/Do/Rename", "").want(t, 200), "Name", "Shop"))

	c.do("PATCH /Users/kim", encoded(map[string]any{"DisplayName": name, "Role": "writer"})).want(t, 200)
	c.do("PATCH /Users/kim", encoded(map[string]any{"DisplayName": name + "c"})).want(t, 400)
	pages.follow(t, pages.send(t, pages.do("GET /Pages/Users/kim/Edit", "").want(t, 200), "DisplayName", "Kim"))
}

// addNamed adds a subscriber and the user kim with a name to a store, as an earlier build did.
func addNamed(t *testing.T, dir, name string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: record.Builtin(), Connections: 2})
	check(err)
	defer func() { check(s.Close()) }()
	entry := audit.Entry{Actor: audit.System(), At: firstAdded}
	_, err = s.Webhooks.Admin.AddSubscriber(t.Context(), admin.Subscriber{Name: name, Enabled: true}, entry)
	check(err)
	check(s.AppDB.Accounts().AddUser(t.Context(), account.User{
		ID:          "kim",
		Name:        "kim",
		DisplayName: name,
		Role:        account.Reader,
		Added:       firstAdded,
		Saved:       firstAdded,
	}, entry))
}

// TestFormsInUTF8 checks that pages refuse forms that are not in UTF-8.
func TestFormsInUTF8(t *testing.T) {
	i := daemontest.Start(t)
	pages := signIn(t, i)
	for page, form := range map[string]string{
		"Subscribers/New": "Name=u%ff%fe",
		"Users/Do/New":    "UserName=u%c3&Role=reader&Password=" + url.QueryEscape(annPassword),
		"Keys/Do/New":     "Name=u&%ff=1",
	} {
		pages.do("POST /Pages/"+page, form, "Content-Type: application/x-www-form-urlencoded").want(t, 400).
			wantText(t, "is not name=value in UTF-8")
	}
}

// TestErrorsOfSubscriptionsAreTheirOwn checks that a condition is not blamed for a wrong event, and that
// a missing member is reported once.
func TestErrorsOfSubscriptionsAreTheirOwn(t *testing.T) {
	c := asAdmin(t, daemontest.Start(t))
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"

	wrong := `{"URL":"https://example.com/hook","EventName":"debtor.updatd","Where":{"Changed":["Name"]}}`
	a := c.do("POST "+path, wrong).want(t, 400).wantText(t, "not a published event")
	if strings.Contains(a.body, "Where") {
		t.Errorf("with a wrong event: the condition is blamed: %s", a.body)
	}
	a = c.do("POST "+path, `{"Ordered":"x","IsEnabled":"x","RetrySchedule":"x","URL":"ftp://x"}`).want(t, 400)
	if n := strings.Count(a.body, `"FieldName":"EventName"`); n != 1 {
		t.Errorf("the missing event is reported %d times, want once: %s", n, a.body)
	}
}
