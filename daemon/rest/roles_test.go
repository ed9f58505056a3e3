package rest_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/rest"
)

// roleOf has the minimum role of each operation by the contract, "" for no login.
// Queries of record kinds are missing; they require a reader.
var roleOf = map[string]string{
	"WH_AuditQuery":                  "admin",
	"QueryRequestLogsGETManyRequest": "admin",

	"UpdateBillStageCustomFieldValue": "writer",
	"GetBillStageCustomFieldValue":    "reader",
	"GetBillStageCustomFieldValues":   "reader",

	"Authenticate": "",
	"Logout":       "",
	"Login":        "",
	"KeepAlive":    "reader",
	"GetSession":   "reader",
	"EndSession":   "reader",
	"Users":        "admin",
	"AddUser":      "admin",
	"GetUser":      "reader",
	"ChangeUser":   "reader",
	"RemoveUser":   "admin", // own data only for the last two
	"ApiKeys":      "admin",
	"AddApiKey":    "admin",
	"GetApiKey":    "admin",
	"RemoveApiKey": "admin",

	"Events":                "",
	"RaiseEvent":            "publisher",
	"TestTarget":            "",
	"SubscriberQuery":       "admin",
	"AddSubscriber":         "admin",
	"GetSubscriber":         "admin",
	"ChangeSubscriber":      "admin",
	"RemoveSubscriber":      "admin",
	"Subscriptions":         "",
	"AddSubscription":       "",
	"GetSubscription":       "",
	"ChangeSubscription":    "",
	"RemoveSubscription":    "",
	"ReplaceRequestHeaders": "",
	"RemoveRequestHeaders":  "",
	"RemoveRequestHeader":   "",
	"SubscriberMessages":    "",
	"SubscriberResponses":   "",
	"MessageResponses":      "",
	"RemoveMessage":         "",
	"RetryMessage":          "",
	"TestSubscription":      "",
	"RotateSecret":          "",
	"RetryMessages":         "admin",
	"DeleteMessages":        "admin",
	"MessageQuery":          "admin",
	"AttemptQuery":          "admin",
	"SubscriptionQuery":     "admin",
	"Stream":                "admin",
	"Stats":                 "admin",
	"Why":                   "admin",
	"Changes":               "reader",
	"Captures":              "admin",
	"ResumeCapture":         "admin",

	"ODataService":  "reader",
	"ODataMetadata": "reader",
	"ODataFile":     "reader",
	"ODataCount":    "reader",
	"ODataEntity":   "reader",
	"ODataRows":     "reader",

	"Info":            "",
	"Settings":        "admin",
	"SystemInfo":      "reader",
	"RestPaths":       "",
	"Kinds":           "reader",
	rest.MCPOperation: "reader",

	"Home":                   "",
	"GetManual":              "",
	"GetMetadata":            "",
	"OpenAPI":                "",
	"Health":                 "",
	"Ready":                  "",
	"Metrics":                "",
	"Types":                  "",
	"TypeScript":             "",
	"TypeScriptDeclarations": "",
	"CSharp":                 "",
}

// TestRolesOfOperations compares the documented roles with roleOf.
func TestRolesOfOperations(t *testing.T) {
	said := make(map[string]string)
	for _, o := range metadataOf(t, anonymous(t, demo.start(t))).Operations {
		said[o.Name] = o.Role
		want, known := roleOf[o.Name]
		if _, isKind := record.Builtin().Lookup(o.Name); isKind {
			want, known = "reader", true
		}
		if o.Role != want || !known {
			t.Errorf("%s requires the role %q, want %q (listed: %v)", o.Name, o.Role, want, known)
		}
	}
	for name := range roleOf {
		if _, there := said[name]; !there {
			t.Errorf("unknown operation %s", name)
		}
	}
}

// roleClient is a client with a role, or without credentials.
type roleClient struct {
	client
	role string
}

// includes reports whether the client's role includes another.
func (a roleClient) includes(role string) bool {
	order := []string{"", "reader", "publisher", "writer", "admin"}
	return slices.Index(order, a.role) >= slices.Index(order, role)
}

// roleClients returns a client for each role, and one without credentials. Users are
// named like their role.
func roleClients(t *testing.T, i *daemontest.Instance) []roleClient {
	all := []roleClient{{anonymous(t, i), ""}, {asAdmin(t, i), "admin"}}
	for _, role := range []string{"reader", "publisher", "writer"} {
		asAdmin(t, i).do("POST /Users", `{"UserName":"`+role+`","Password":"`+annPassword+`","Role":"`+role+`"}`).want(t, 201)
		all = append(all, roleClient{anonymous(t, i).with(basic(role, annPassword)), role})
	}
	return all
}

// pathFor fills in the parameters of a path: ids that do not exist, except for the
// client's own user name, since users may read themselves.
func (a roleClient) pathFor(path, method string) string {
	name := a.role
	if name == "" || method == http.MethodDelete {
		name = "missing"
	}
	const none = "00000000-0000-4000-8000-000000000000"
	return strings.NewReplacer(
		"{Format}", "json",
		"{UserName}", name,
		"{Date}", "2030-01-31",
		"{Kind}", "SO_Totals",
		"{Key}", "'none'",
		"{KeyID}", none,
		"{BillID}", none,
		"{StageID}", none,
		"{SettingID}", none,
		"{SubscriberID}", none,
		"{SubscriptionID}", none,
		"{MessageID}", none,
		"{Page}", "query",
		"{Picture}", "excel.svg",
		"{SubscriptionRequestHeaderID}", none,
	).Replace(path)
}

// oneInSome returns all operations except most of the queries of record kinds, which differ in
// their kind only: of these it returns every third, from n on. If the test is exhaustive, it
// returns all operations.
func oneInSome(all []wire.Operation, n int) []wire.Operation {
	if daemontest.Exhaustive() {
		return all
	}
	var some []wire.Operation
	for _, o := range all {
		_, isKind := record.Builtin().Lookup(o.Name)
		if isKind {
			n++
		}
		if !isKind || n%3 == 0 {
			some = append(some, o)
		}
	}
	return some
}

// TestEveryRouteForEveryRole sends each method of each route with each role and
// checks only whether access is granted. No request is complete enough to change
// anything.
func TestEveryRouteForEveryRole(t *testing.T) {
	i := daemontest.Start(t, "--mcp-enabled")
	operations := metadataOf(t, anonymous(t, i)).Operations
	for n, a := range roleClients(t, i) {
		for _, o := range oneInSome(operations, n) {
			for _, r := range o.Routes {
				for _, method := range r.Methods {
					a.checkAccess(t, o, method, r.Path)
				}
			}
			for _, name := range o.Aliases {
				a.checkAccess(t, o, "GET", "/api/"+name)
			}
			// Lists of these are rejected, or empty, before access is checked. OData has no names.
			hasNoLists := o.Name == "Stream" || o.Name == "Authenticate" || o.Name == rest.MCPOperation || o.Name == "GetManual" ||
				strings.HasPrefix(o.Name, "OData")
			if hasNoLists {
				continue
			}
			for _, path := range []string{"/json/reply/", "/xml/oneway/", "/api/"} {
				a.checkAccess(t, o, "POST", path+o.Name+"[]") // without a list
			}
		}
	}
	users := read[[]wire.User](t, asAdmin(t, i).do("GET /Users", "").want(t, 200))
	if len(users) != 4 {
		t.Errorf("the requests have changed the users: %+v", users)
	}
}

// checkAccess sends one request.
func (a roleClient) checkAccess(t *testing.T, o wire.Operation, method, path string) {
	t.Helper()
	line := method + " " + a.pathFor(path, method)
	if strings.ContainsAny(line, "{}") {
		t.Fatalf("%s %s: the test has no value for a parameter", method, path)
	}
	status := a.statusOf(line)
	want := 0 // any status that is not a refusal
	switch {
	case o.Name == "Authenticate" && a.role == "": // returns the current session
		want = http.StatusUnauthorized
	case a.includes(o.Role):
	case a.role == "":
		want = http.StatusUnauthorized
	default:
		want = http.StatusForbidden
	}
	if want != 0 {
		if status != want {
			t.Errorf("%s (%s) as %q: status %d, want %d", line, o.Name, a.role, status, want)
		}
		return
	}
	isRefused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if isRefused || status >= 500 || status == http.StatusMethodNotAllowed {
		t.Errorf("%s (%s) as %q: status %d, want one of the handler", line, o.Name, a.role, status)
	}
}

// statusOf returns the status. It does not wait for the end of the body, since live streams do
// not end, but reads short ones, so that the connection is used again.
func (c client) statusOf(line string) (status int) {
	c.t.Helper()
	reply, err := transport.RoundTrip(c.request(line, ""))
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	defer reply.Body.Close()
	if !strings.HasPrefix(reply.Header.Get("Content-Type"), "text/event-stream") {
		_, _ = io.CopyN(io.Discard, reply.Body, 4<<10)
	}
	return reply.StatusCode
}

// TestUsersSeeOnlyThemselves checks that users other than admins cannot read other
// users.
func TestUsersSeeOnlyThemselves(t *testing.T) {
	i := daemontest.Start(t)
	for _, a := range roleClients(t, i) {
		for _, method := range []string{"GET", "HEAD", "PATCH"} {
			for _, name := range []string{"admin", "reader", "no such user"} {
				status := a.do(method+" /Users/"+strings.ReplaceAll(name, " ", "%20"), "").status
				refused := status == http.StatusUnauthorized || status == http.StatusForbidden
				if want := a.role != "admin" && a.role != name; refused != want {
					t.Errorf("%s /Users/%s as %q: status %d", method, name, a.role, status)
				}
			}
		}
	}
}

// TestAnonymousSettings checks that auth.queries allows anonymous queries but no
// account operations, and that webhooks.publish allows only events.
func TestAnonymousSettings(t *testing.T) {
	personal := []string{"KeepAlive", "GetSession", "EndSession", "GetUser", "ChangeUser"}
	for flag, opens := range map[string]func(wire.Operation) bool{
		"--auth-queries": func(o wire.Operation) bool {
			return o.Role == "reader" &&
				!slices.Contains(personal, o.Name)
		},
		"--webhooks-publish": func(o wire.Operation) bool { return o.Name == "RaiseEvent" },
	} {
		i := daemontest.Start(t, flag, "anonymous", "--webhooks-publish-from", "127.0.0.0/8", "--mcp-enabled")
		operations := metadataOf(t, anonymous(t, demo.start(t))).Operations // as without the setting
		for _, o := range oneInSome(operations, 0) {
			if opens(o) {
				o.Role = ""
			}
			for _, r := range o.Routes {
				for _, method := range r.Methods {
					roleClient{anonymous(t, i), ""}.checkAccess(t, o, method, r.Path)
				}
			}
		}
	}
}
