package rest_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// TestIgnoredMembersOfWebhooks checks that members of subscriptions and events that have no effect
// are accepted, as clients of the reference service expect, and named in the response. Strict
// requests are refused, with a suggestion.
func TestIgnoredMembersOfWebhooks(t *testing.T) {
	i := daemontest.Start(t)
	c := asAdmin(t, i)
	shop := read[wire.Subscriber](t, c.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID + "/Subscriptions"
	const subscription = `"URL":"https://shop.example/","EventName":"debtor.updated"`
	created := read[wire.Subscription](t, c.do("POST "+path, "{"+subscription+"}").want(t, 201))
	for _, test := range []struct {
		line, body string
		status     int
		ignored    string
		suggestion string // for a strict request
	}{
		{
			line:       "POST " + path,
			body:       "{" + subscription + `,"Wher":{"Total":1}}`,
			status:     201,
			ignored:    "Wher",
			suggestion: "is unknown; did you mean Where?",
		},
		{
			line:       "PATCH " + path + "/" + created.RecID,
			body:       `{"Wher":{"Total":1}}`,
			status:     200,
			ignored:    "Wher",
			suggestion: "is unknown; did you mean Where?",
		},
		{
			line:       "POST " + path,
			body:       "{" + subscription + `,"Where":[]}`,
			status:     201,
			ignored:    "Where",
			suggestion: "has no effect",
		},
		{
			line:       "PATCH " + path + "/" + created.RecID,
			body:       `{"Where":[]}`,
			status:     200,
			ignored:    "Where",
			suggestion: "has no effect",
		},
		{
			line:   "POST " + path,
			body:   "{" + subscription + `,"Where":null}`,
			status: 201,
		},
		{
			line:       "POST /Webhooks/Events",
			body:       `{"EventName":"debtor.updated","Body":{},"Keys":"D1"}`,
			status:     201,
			ignored:    "Keys",
			suggestion: "is unknown; did you mean Key?",
		},
	} {
		c.do(test.line, test.body).want(t, test.status).wantHeader(t, wire.HeaderIgnoredMembers, test.ignored)
		if test.suggestion == "" {
			continue
		}
		a := c.do(test.line+"?Strict=true", test.body).want(t, 400)
		if !strings.Contains(a.body, test.suggestion) {
			t.Errorf("%s %s with Strict: got %s, want %q", test.line, test.body, a.body, test.suggestion)
		}
	}
}

// TestManyUnknownMembers checks that the number of reported unknown members is
// limited.
func TestManyUnknownMembers(t *testing.T) {
	c := anonymous(t, daemontest.Start(t))
	body := strings.Repeat("x", 1)
	for n := range 5000 {
		body += "&y" + strings.Repeat("z", n%7) + string(rune('a'+n%26)) + strings.Repeat("q", n/182) + "=1"
	}
	a := c.do("POST /auth?Strict=true", body, "Content-Type: application/x-www-form-urlencoded").want(t, 400)
	if len(a.body) > 8<<10 {
		t.Errorf("the reply has %d bytes", len(a.body))
	}
}

// TestIgnoredMembersOnPages checks that the page of a query names the members that it ignores: users do not
// see the header.
func TestIgnoredMembersOnPages(t *testing.T) {
	c := signIn(t, daemontest.Start(t))
	for _, tt := range []struct{ page, names string }{
		{"/Logs?Since=2026-11-30&Nope=1", "Since, Nope"},
		{"/Logs/Today?Nope=1", "Nope"},
		{"/Queries/WH_Audit?Fields=Action,nope", "nope"},
		{"/Queries/DB_Class?Clas=1", "Clas"},
	} {
		a := c.do("GET "+tt.page, "").want(t, 200).
			wantText(t, "These parts of the request have no effect: "+tt.names+". Check their names.")
		if got := a.header.Get("X-Ignored-Members"); got != tt.names {
			t.Errorf("%s: the header has %s", tt.page, got)
		}
	}
	a := c.do("GET /Logs?Strict=false", "").want(t, 200)
	if strings.Contains(a.main(), "no effect") {
		t.Errorf("the page of a request without such members has a note: %s", a.main())
	}
}
