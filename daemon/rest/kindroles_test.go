package rest_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/sqlite"
)

// guardedKind requires the role writer. Each of guardedWords is in one part of it only.
const guardedKind = `[Zebra]
source = "GnuRows"
summary = "Lions at rest"
area = "Okapi house"
key = ["StripeID"]
role = "writer"
capture = "always"
events = "giraffe"
[Zebra.fields]
StripeID = "int"
StripeNote = "string"
`

var guardedRows = []string{
	`CREATE TABLE GnuRows (StripeID INTEGER PRIMARY KEY, StripeNote TEXT)`,
	`INSERT INTO GnuRows VALUES (1, 'canary')`,
}

// guardedWords are in the name, the fields, the rows, the events, and the description of the kind.
var guardedWords = []string{"zebra", "stripe", "canary", "giraffe", "lions", "okapi", "gnurows"}

// guarded is how an operation could reveal the kind.
type guarded struct {
	members string // of requests about the kind, in addition to those in the path; spaces separate requests
	reveals bool   // to a writer, with or without these members
}

// guardedOperations has a row for each operation: one without a row fails the test. A new
// operation that names kinds, or shows their fields, rows, events or changes, must check
// the role of the kind.
var guardedOperations = map[string]guarded{
	edge.AnyQuery: {
		members: "Take=1 ForCopy={Token}&Take=1 ForCopy=00000000000000aa-0",
		reveals: true,
	},
	"Kinds":                  {reveals: true},
	"RestPaths":              {reveals: true},
	"GetMetadata":            {members: "op=ZebraQuery", reveals: true},
	"OpenAPI":                {reveals: true},
	"TypeScript":             {reveals: true},
	"TypeScriptDeclarations": {reveals: true},
	"CSharp":                 {reveals: true},
	"Changes":                {members: "Since={Token} Since=00000000000000aa-0", reveals: true},
	"ODataService":           {reveals: true},
	"ODataMetadata":          {reveals: true},
	"ODataFile":              {},
	"ODataCount":             {members: "$filter=StripeNot+eq+null", reveals: false},
	"ODataEntity":            {reveals: true},
	"ODataRows":              {members: "$filter=StripeID+ge+0 $orderby=StripeNot", reveals: true},
	"Events":                 {reveals: true},
	"RaiseEvent":             {members: "EventName=giraffe.created&Body=x", reveals: true},
	"AddSubscription":        {members: "URL=https://example.com/&EventName=giraffe.created", reveals: false},
	"ChangeSubscription":     {members: "EventName=giraffe.created&Ordered=true", reveals: false},
	"TestSubscription":       {members: "EventName=giraffe.created", reveals: false},
	"SubscriberMessages":     {members: "Take=1", reveals: true},
	"SubscriberResponses":    {members: "Take=1", reveals: true},
	"MessageResponses":       {members: "Take=1", reveals: true},

	// These have nothing of kinds, or require the role admin, which may read them all.
	"WH_AuditQuery":                   {},
	"QueryRequestLogsGETManyRequest":  {},
	"Authenticate":                    {},
	"Logout":                          {},
	"Login":                           {},
	"KeepAlive":                       {},
	"GetSession":                      {},
	"EndSession":                      {},
	"Users":                           {},
	"AddUser":                         {},
	"GetUser":                         {},
	"ChangeUser":                      {},
	"RemoveUser":                      {},
	"ApiKeys":                         {},
	"AddApiKey":                       {},
	"GetApiKey":                       {},
	"RemoveApiKey":                    {},
	"UpdateBillStageCustomFieldValue": {},
	"GetBillStageCustomFieldValue":    {},
	"GetBillStageCustomFieldValues":   {},
	"TestTarget":                      {},
	"SubscriberQuery":                 {},
	"AddSubscriber":                   {},
	"GetSubscriber":                   {},
	"ChangeSubscriber":                {},
	"RemoveSubscriber":                {},
	"Subscriptions":                   {},
	"GetSubscription":                 {},
	"RemoveSubscription":              {},
	"ReplaceRequestHeaders":           {},
	"RemoveRequestHeaders":            {},
	"RemoveRequestHeader":             {},
	"RemoveMessage":                   {},
	"RetryMessage":                    {},
	"RotateSecret":                    {},
	"RetryMessages":                   {members: "EventName=giraffe.created", reveals: false},
	"DeleteMessages":                  {members: "EventName=giraffe.created", reveals: false},
	"MessageQuery":                    {},
	"AttemptQuery":                    {},
	"SubscriptionQuery":               {},
	"Stream":                          {},
	"Stats":                           {},
	"Why":                             {members: "Key=1", reveals: false},
	"Captures":                        {},
	"ResumeCapture":                   {members: "Mode=raise", reveals: false},
	"Info":                            {},
	rest.MCPOperation:                 {},
	"Settings":                        {},
	"SystemInfo":                      {},
	"Home":                            {},
	"GetManual":                       {},
	"Types":                           {},
	"Health":                          {},
	"Ready":                           {},
	"Metrics":                         {},
	"Icon":                            {},
}

// guardedMessages are bodies of further requests, by operation. They reveal the kind to no
// role.
var guardedMessages = map[string][]string{
	rest.MCPOperation: {
		toolCall(`find_kinds`, `{}`),
		toolCall(`find_kinds`, `{"words":"zebra okapi"}`),
		toolCall(`describe_kind`, `{"kind":"Zebra"}`),
		toolCall(`describe_kind`, `{"kind":"Zebr"}`),
		toolCall(`query`, `{"kind":"Zebra"}`),
		toolCall(`totals`, `{"kind":"Zebra","min":["StripeNote"]}`),
		toolCall(`why`, `{"key":"1"}`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
	},
}

// toolCall returns the message that calls a tool for assistants.
func toolCall(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// guardedDaemon is a daemon with the guarded kind, and a subscription with a message of one
// of its events.
type guardedDaemon struct {
	*daemontest.Instance
	ids *strings.Replacer // replaces the parameters of paths
}

func startGuarded(t *testing.T) guardedDaemon {
	t.Helper()
	dir := t.TempDir()
	i := daemontest.StartIn(t, dir, "--auth-queries", "anonymous", "--webhooks-events",
		"giraffe.created", "--changes-sweep", "1s", "--webhooks-allow-targets", "127.0.0.0/8")
	admin := asAdmin(t, i)
	shop := read[wire.Subscriber](t, admin.do("POST /Webhooks/Subscribers", `{"Name":"Shop"}`).want(t, 201))
	path := "/Webhooks/Subscribers/" + shop.RecID
	sub := read[wire.Subscription](t, admin.do("POST "+path+"/Subscriptions",
		`{"URL":"http://127.0.0.1:9/","EventName":"*"}`).want(t, 201))
	admin.do("POST /Webhooks/Events", `{"EventName":"giraffe.created","Body":{"StripeNote":"canary"}}`).want(t, 201)
	message := read[wire.Page[wire.Message]](t, admin.do("GET "+path+"/Messages", "").want(t, 200)).Results[0]
	admin.await("GET "+path+"/Messages/Responses", "canary")

	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if err := conn.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec(guardedRows...)
	file := filepath.Join(t.TempDir(), "kinds.toml")
	if err := os.WriteFile(file, []byte(guardedKind), 0o600); err != nil {
		t.Fatal(err)
	}

	i.Set(t, "erp.kinds", file)
	admin.await("GET /Queries/Zebra/Changes", `"Next":"`)
	token := read[wire.Changes](t, admin.do("GET /Queries/Zebra/Changes", "").want(t, 200)).Meta.Next
	exec(`UPDATE GnuRows SET StripeNote = 'canary 2'`)
	admin.await("GET /Queries/Zebra/Changes?Since="+token, "canary 2")
	ids := strings.NewReplacer(
		"{Operation}", "ZebraQuery",
		"{Kind}", "Zebra",
		"{Date}", "2030-01-31",
		"{Token}", token,
		"{Key}", "1",
		"{SubscriberID}", shop.RecID,
		"{SubscriptionID}", sub.RecID,
		"{MessageID}", message.MessageID,
	)
	return guardedDaemon{i, ids}
}

// await repeats a request until the response contains a text.
func (c client) await(line, text string) {
	c.t.Helper()
	for !strings.Contains(c.do(line, "").body, text) {
		if c.t.Context().Err() != nil {
			c.t.Fatalf("%s: no %s", line, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

var anyParameter = regexp.MustCompile(`\{\w+\}`)

// requests returns the requests of a route, for a format: without and with each of the members
// of the row, and with a name that is similar to that of the kind.
func (d guardedDaemon) requests(r edge.Route, format string) (lines []string) {
	method, _, _ := strings.Cut(r.Methods, " ")
	for _, members := range append([]string{""}, strings.Fields(guardedOperations[r.Operation].members)...) {
		ids := d.ids
		if strings.HasPrefix(r.Operation, "Remove") { // so that the others find them
			ids = strings.NewReplacer()
		}
		query, _ := url.ParseQuery(d.ids.Replace(members))
		path := strings.ReplaceAll(r.Pattern, "{Format}", format)
		if path == r.Pattern {
			query.Set("format", format)
		}
		if r.ByName { // all members are in the query string
			for _, name := range []string{"SubscriberID", "SubscriptionID", "MessageID"} {
				query.Set(name, ids.Replace("{"+name+"}"))
			}
		}
		path = anyParameter.ReplaceAllString(ids.Replace(path), noID)
		lines = append(lines, method+" "+path+"?"+query.Encode())
	}
	if near := strings.ReplaceAll(lines[len(lines)-1], "Zebra", "Zebr"); near != lines[len(lines)-1] {
		lines = append(lines, near)
	}
	return lines
}

// revealed returns the guarded words in a response that are not in its request.
func revealed(line string, a answer) (words []string) {
	header := new(strings.Builder)
	_ = a.header.Write(header)
	text := strings.ToLower(header.String() + a.body)
	for _, word := range guardedWords {
		if strings.Contains(text, word) && !strings.Contains(strings.ToLower(line), word) {
			words = append(words, word)
		}
	}
	return words
}

// rolesOfLine returns the roles that send the request n, and must not see the kind. A publisher
// may read all that readers and anonymous callers may, so these send only some of the requests,
// unless the test is exhaustive.
func rolesOfLine(n int) []string {
	if daemontest.Exhaustive() {
		return []string{"publisher", "reader", "anonymous"}
	}
	switch n % 6 {
	case 0:
		return []string{"publisher", "reader"}
	case 3:
		return []string{"publisher", "anonymous"}
	}
	return []string{"publisher"}
}

// TestRolesOfKinds checks on every way out that a kind that requires the role writer is
// revealed to writers only: every operation in every format, every route, for each role.
// Tools for assistants do not reveal it to writers and admins either.
func TestRolesOfKinds(t *testing.T) {
	d := startGuarded(t)
	writer := anonymous(t, d.Instance).with("Authorization: Bearer " + d.Key(t, "writer"))
	others := map[string]client{"anonymous": anonymous(t, d.Instance)}
	for _, role := range []string{"reader", "publisher"} {
		others[role] = anonymous(t, d.Instance).with("Authorization: Bearer " + d.Key(t, role))
	}

	all := maps.Clone(others)
	all["writer"], all["admin"] = writer, asAdmin(t, d.Instance)
	d.Set(t, "mcp.enabled", "true")
	shown, known := make(map[string]bool), make(map[string]bool) // by operation
	requests := 0
	for n, r := range rest.Routes() {
		if _, known := guardedOperations[r.Operation]; !known {
			t.Errorf("%s %s: no row for the operation %s", r.Methods, r.Pattern, r.Operation)
		}

		known[r.Operation] = true
		if r.Streaming {
			continue // the role is checked before the stream starts, see TestEveryRouteForEveryRole
		}

		formats := []string{"json", "ndjson", "csv", "xml", "jsv", "html", "xlsx"}
		if r.ByName { // one is enough: see TestEveryOperationByEveryName
			i := n % len(formats)
			formats = formats[i : i+1]
		}

		for _, format := range formats {
			for _, line := range d.requests(r, format) {
				for _, role := range rolesOfLine(requests) {
					c := others[role]
					if words := revealed(line, c.do(line, "")); words != nil {
						t.Errorf("%s as %s reveals %q", line, role, words)
					}
				}
				requests++
				for _, body := range guardedMessages[r.Operation] {
					for role, c := range all {
						a := c.do(line, body, messageHeaders...).want(t, 200)
						if words := revealed(line+body, a); words != nil {
							t.Errorf("%s %s as %s reveals %q", line, body, role, words)
						}
					}
				}
				if !shown[r.Operation] && guardedOperations[r.Operation].reveals {
					shown[r.Operation] = revealed(line, writer.do(line, "")) != nil
				}
			}
		}
	}

	for name, row := range guardedOperations {
		if row.reveals != shown[name] || !known[name] {
			t.Errorf("%s: revealed to a writer: %v, want %v; is an operation: %v",
				name, shown[name], row.reveals, known[name])
		}
	}
}

// TestCapturedEvents checks the list of events, which callers may subscribe to a captured
// one, and that it cannot be posted.
func TestCapturedEvents(t *testing.T) {
	d := startGuarded(t)
	reader := anonymous(t, d.Instance).with("Authorization: Bearer " + d.Key(t, "reader"))
	writer := anonymous(t, d.Instance).with("Authorization: Bearer " + d.Key(t, "writer"))
	events := make(map[string]wire.Event)
	for _, e := range read[[]wire.Event](t, writer.do("GET /Webhooks/Events", "").want(t, 200)) {
		events[e.Name] = e
	}

	for _, name := range []string{"giraffe.created", "giraffe.updated", "giraffe.deleted"} {
		want := wire.Event{
			Name:        name,
			Description: events[name].Description,
			Source:      wire.SourceCaptured,
			Kind:        "Zebra",
			Deletes:     true,
			Coalesced:   true,
		}
		if events[name] != want {
			t.Errorf("%+v, want %+v", events[name], want)
		}
	}

	list := writer.do("GET /Webhooks/Events", "").body
	if !strings.Contains(list,
		`{"Name":"debtor.created","Description":"Occurs when a record of the kind debtor (customer) is created"}`) {
		t.Errorf("a posted event has other members: %s", shortened(list))
	}

	n := len(read[[]wire.Event](t, reader.do("GET /Webhooks/Events", "").want(t, 200)))
	if n != len(events)-3 {
		t.Errorf("%d events for a reader, %d for a writer", n, len(events))
	}

	subscriptions := d.ids.Replace("/Webhooks/Subscribers/{SubscriberID}/Subscriptions")
	const body = `{"URL":"https://example.com/","EventName":"giraffe.updated"}`
	anonymous(t, d.Instance).do("POST "+subscriptions, body).want(t, 401)
	reader.do("POST "+subscriptions, body).want(t, 403)
	exact := read[wire.Subscription](t, writer.do("POST "+subscriptions, body).want(t, 201))
	for pattern := range map[string]bool{"giraffe.*": true, "*": true} {
		anonymous(t, d.Instance).do("POST "+subscriptions,
			strings.Replace(body, "giraffe.updated", pattern, 1)).want(t, 201)
	}

	for _, change := range []string{
		`{"URL":"https://example.com/x"}`,
		`{"IsEnabled":false}`,
		`{"EventName":"*"}`,
	} {
		want := 401
		if strings.Contains(change, "EventName") {
			want = 200
		}
		anonymous(t, d.Instance).do("PATCH "+subscriptions+"/"+exact.RecID, change).want(t, want)
	}

	for role, sees := range map[string]bool{"publisher": false, "writer": true} {
		c := anonymous(t, d.Instance).with("Authorization: Bearer " + d.Key(t, role))
		a := c.do("POST /Webhooks/Events", `{"EventName":"giraffe.created","Body":"x"}`).want(t, 409)
		if strings.Contains(a.body, "Zebra") != sees {
			t.Errorf("as %s: %s", role, a.body)
		}
		c.do("POST /Webhooks/Events", `{"EventName":"debtor.created","Body":"x"}`).want(t, 201)
	}

	test := d.ids.Replace("/Webhooks/Subscribers/{SubscriberID}/Subscriptions/{SubscriptionID}/Test")
	writer.do("POST "+test, `{"EventName":"giraffe.created"}`).want(t, 202)

	const withCondition = `{"URL":"https://example.com/","EventName":"giraffe.updated","Where":{"StripeNote":"canary"}}`
	writer.do("POST "+subscriptions, withCondition).want(t, 201)
	d.Set(t, "erp.kinds", "")
	writer.do("POST /Webhooks/Events", `{"EventName":"giraffe.created","Body":"x"}`).want(t, 201)
	listed := anonymous(t, d.Instance).do("GET "+subscriptions, "").want(t, 200).body
	if strings.Contains(listed, "canary") {
		t.Errorf("the condition on a kind that is gone is shown: %s", listed)
	}
}
