package rest_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// maskFixture is a daemon with two messages of a captured event of a kind without a role: one was
// delivered, one is open. Both have canary in the body.
type maskFixture struct {
	*daemontest.Instance
	path string // of the subscriber
}

func newMaskFixture(t *testing.T, args ...string) maskFixture {
	t.Helper()
	i := daemontest.Start(t, append(args,
		"--webhooks-events", "giraffe.created", "--webhooks-allow-targets", "127.0.0.0/8")...)
	admin := asAdmin(t, i)
	shop := read[wire.Subscriber](t, admin.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID
	for _, target := range []string{"http://127.0.0.1:9/", i.URL + "/Webhooks/Test"} {
		admin.do("POST "+path+"/Subscriptions", `{"EventName":"*","URL":"`+target+`"}`).want(t, 201)
	}
	admin.do("POST /Webhooks/Events", `{"EventName":"giraffe.created","Body":{"Note":"canary"}}`).want(t, 201)
	for _, status := range []string{"1", "2"} {
		admin.await("GET "+path+"/Messages?Status="+status, "canary")
	}

	file := filepath.Join(t.TempDir(), "kinds.toml")
	const kind = "[CR_Classification]\nevents = \"giraffe\"\ncapture = \"always\"\n"
	if err := os.WriteFile(file, []byte(kind), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Set(t, "erp.kinds", file)
	return maskFixture{i, path}
}

// TestBodiesOfOpenMessages checks that the SubscriberID alone does not show the record in an open
// message of a captured event, neither in a row nor by a condition, an order or a total. Everything
// else of the message is shown, and so is a body that was delivered.
func TestBodiesOfOpenMessages(t *testing.T) {
	f := newMaskFixture(t)
	c := anonymous(t, f.Instance)
	reader := c.with("Authorization: Bearer " + f.Key(t, "reader"))
	for _, list := range []string{f.path + "/Messages", f.path + "/Messages/Responses"} {
		for _, members := range []string{
			"",
			"&Fields=Body",
			"&Fields=!DISTINCT,Body",
			"&GroupBy=Body",
			"&Include=MAX(Body)",
			"&OrderBy=-Body&Take=1&Include=Total",
			"&OrderBy=Body&Cursor=",
		} {
			for _, format := range []string{"json", "ndjson", "csv", "xml", "jsv", "html", "xlsx"} {
				line := "GET " + list + "." + format + "?Status=2" + members
				a := c.do(line, "").want(t, 200)
				if strings.Contains(a.body, "canary") {
					t.Errorf("%s with the SubscriberID shows the body: %s", line, shortened(a.body))
				}
			}
		}

		rows := func(c client, members string) []map[string]any {
			t.Helper()
			a := c.do("GET "+list+"?"+members, "").want(t, 200)
			return read[wire.Page[map[string]any]](t, a).Results
		}
		open := rows(c, "Status=2")
		if len(open) == 0 || open[0]["EventName"] != "giraffe.created" || open[0]["Body"] != "" {
			t.Errorf("%s: %v, want open rows without a body", list, open)
		}
		for _, guess := range []string{
			"BodyContains=canary",
			"BodyLike=%25canary%25",
			"Body=" + url.QueryEscape(`{"Note":"canary"}`),
		} {
			if matches := rows(c, "Status=2&"+guess); len(matches) > 0 {
				t.Errorf("%s: the condition %s finds %d rows", list, guess, len(matches))
			}
			if matches := rows(reader, "Status=2&"+guess); len(matches) != len(open) {
				t.Errorf("%s: %s as a reader finds %d rows, want %d", list, guess, len(matches), len(open))
			}
		}

		for name, shown := range map[string][]map[string]any{
			"delivered, with the SubscriberID": rows(c, "Status=1"),
			"open, as a reader":                rows(reader, "Status=2"),
			"open, as an admin":                rows(asAdmin(t, f.Instance), "Status=2"),
		} {
			if len(shown) == 0 || shown[0]["Body"] != `{"Note":"canary"}` {
				t.Errorf("%s: %s: %v, want the body", list, name, shown)
			}
		}
	}
}

// TestBodiesWithAnonymousQueries checks that the body is shown if everyone may query the kind.
func TestBodiesWithAnonymousQueries(t *testing.T) {
	f := newMaskFixture(t, "--auth-queries", "anonymous")
	a := anonymous(t, f.Instance).do("GET "+f.path+"/Messages?Status=2", "").want(t, 200)
	if !strings.Contains(a.body, "canary") {
		t.Errorf("an open message is shown without its body: %s", shortened(a.body))
	}
}

// TestReasonsOfHeldMessages checks that the reason why a message is held is shown only for one that
// meets the conditions as far as the caller sees it: otherwise it would confirm a guess of the body.
func TestReasonsOfHeldMessages(t *testing.T) {
	f := newMaskFixture(t)
	c := anonymous(t, f.Instance)
	subscriptions := read[[]wire.Subscription](t, c.do("GET "+f.path+"/Subscriptions", "").want(t, 200))
	for _, s := range subscriptions { // which removes the owner
		c.do("PATCH "+f.path+"/Subscriptions/"+s.RecID, `{"OrderBy":"key"}`).want(t, 200)
	}
	open := read[wire.Page[wire.Message]](t, c.do("GET "+f.path+"/Messages?Status=2", "").want(t, 200))
	if len(open.Results) != 1 {
		t.Fatalf("%d open messages, want 1", len(open.Results))
	}

	list := "GET " + f.path + "/Messages?MessageID=" + open.Results[0].MessageID
	c.await(list, wire.MetaHeld)
	for _, guess := range []string{"&BodyContains=canary", "&BodyLike=%25canary%25"} {
		a := c.do(list+guess, "").want(t, 200)
		if strings.Contains(a.body, wire.MetaHeld) {
			t.Errorf("%s shows that the guess is right: %s", guess, shortened(a.body))
		}
	}
	asAdmin(t, f.Instance).await(list+"&BodyContains=canary", wire.MetaHeld)
}
