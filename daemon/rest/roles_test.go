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
	"GetUser":      "reader", // only their own user, as in ChangeUser
	"ChangeUser":   "reader",
	"RemoveUser":   "admin",
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
	documented := make(map[string]bool)
	for _, o := range metadataOf(t, anonymous(t, demo.start(t))).Operations {
		documented[o.Name] = true
		want, ok := roleOf[o.Name]
		if _, isKind := record.Builtin().Lookup(o.Name); isKind {
			want, ok = "reader", true
		}
		if !ok {
			t.Errorf("%s requires the role %q and is not listed in roleOf", o.Name, o.Role)
		} else if o.Role != want {
			t.Errorf("%s requires the role %q, want %q", o.Name, o.Role, want)
		}
	}
	for name := range roleOf {
		if !documented[name] {
			t.Errorf("%s is listed in roleOf, but is not an operation", name)
		}
	}
}

// roleClient is a client with a role, or without credentials.
type roleClient struct {
	client
	role string
}

// includes reports whether the client's role includes the rights of another.
func (a roleClient) includes(role string) bool {
	order := []string{"", "reader", "publisher", "writer", "admin"}
	return slices.Index(order, a.role) >= slices.Index(order, role)
}

// roleClients adds a user for each role but admin, named like it, and returns a client for each
// role and one without credentials.
func roleClients(t *testing.T, i *daemontest.Instance) []roleClient {
	t.Helper()
	admin := asAdmin(t, i)
	clients := []roleClient{{anonymous(t, i), ""}, {admin, "admin"}}
	for _, role := range []string{"reader", "publisher", "writer"} {
		user := `{"UserName":"` + role + `","Password":"` + annPassword + `","Role":"` + role + `"}`
		admin.do("POST /Users", user).want(t, 201)
		clients = append(clients, roleClient{anonymous(t, i).with(basic(role, annPassword)), role})
	}
	return clients
}

// pathFor fills in the parameters of a path. The records that they name do not exist, except for
// the client's user: users may read themselves, but a request must not delete one.
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

// sampleOf returns the operations without two thirds of the queries of record kinds, which differ
// only in their kinds. Offsets 0 to 2 select different thirds. An exhaustive test gets all.
func sampleOf(operations []wire.Operation, offset int) []wire.Operation {
	if daemontest.Exhaustive() {
		return operations
	}
	var sample []wire.Operation
	index := offset
	for _, o := range operations {
		_, isKind := record.Builtin().Lookup(o.Name)
		if !isKind {
			sample = append(sample, o)
			continue
		}
		index++
		if index%3 == 0 {
			sample = append(sample, o)
		}
	}
	return sample
}

// takesList reports whether a list of requests of an operation reaches the check of access: those
// of some are rejected before it, or are empty, and OData has no paths for lists.
func takesList(operation string) bool {
	exceptions := []string{"Stream", "Authenticate", "GetManual", rest.MCPOperation}
	return !slices.Contains(exceptions, operation) && !strings.HasPrefix(operation, "OData")
}

// TestEveryRouteForEveryRole sends each method of each route with each role and
// checks only whether access is granted. No request is complete enough to change
// anything.
func TestEveryRouteForEveryRole(t *testing.T) {
	i := daemontest.Start(t, "--mcp-enabled")
	operations := metadataOf(t, anonymous(t, i)).Operations
	for n, a := range roleClients(t, i) {
		for _, o := range sampleOf(operations, n) {
			a.checkRoutes(t, o)
			for _, name := range o.Aliases {
				a.checkAccess(t, o, "GET", "/api/"+name)
			}
			if !takesList(o.Name) {
				continue
			}
			for _, path := range []string{"/json/reply/", "/xml/oneway/", "/api/"} {
				a.checkAccess(t, o, "POST", path+o.Name+"[]") // the body, which would be the list, is empty
			}
		}
	}
	users := read[[]wire.User](t, asAdmin(t, i).do("GET /Users", "").want(t, 200))
	if len(users) != 4 {
		t.Errorf("after the requests the users are %+v, want the admin and the three of roleClients", users)
	}
}

// checkRoutes checks the access to all routes of an operation.
func (a roleClient) checkRoutes(t *testing.T, o wire.Operation) {
	t.Helper()
	for _, r := range o.Routes {
		for _, method := range r.Methods {
			a.checkAccess(t, o, method, r.Path)
		}
	}
}

// checkAccess sends a request and checks that it is refused if, and only if, the client lacks the
// role of the operation.
func (a roleClient) checkAccess(t *testing.T, o wire.Operation, method, path string) {
	t.Helper()
	line := method + " " + a.pathFor(path, method)
	if strings.ContainsAny(line, "{}") {
		t.Fatalf("%s %s: the test has no value for a parameter", method, path)
	}
	status := a.statusOf(line)
	if refusal := a.refusalOf(o); refusal != 0 {
		if status != refusal {
			t.Errorf("%s (%s) as %q: status %d, want %d", line, o.Name, a.role, status, refusal)
		}
		return
	}
	if isRefusal(status) || status >= 500 || status == http.StatusMethodNotAllowed {
		t.Errorf("%s (%s) as %q: status %d, want one of the handler", line, o.Name, a.role, status)
	}
}

// refusalOf returns the status with which an operation is refused to the client, 0 if it is not.
func (a roleClient) refusalOf(o wire.Operation) int {
	returnsSession := o.Name == "Authenticate" && a.role == "" // there is none, which is status 401
	if a.includes(o.Role) && !returnsSession {
		return 0
	}
	if a.role == "" {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// isRefusal reports whether a status is that of a request without the necessary role.
func isRefusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// statusOf returns the status of a response. It reads at most a short body, so that the connection
// can be used again, and none of a live stream, which does not end.
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
				want := a.role != "admin" && a.role != name
				if isRefusal(status) != want {
					t.Errorf("%s /Users/%s as %q: status %d, want it refused: %v", method, name, a.role, status, want)
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
			return o.Role == "reader" && !slices.Contains(personal, o.Name)
		},
		"--webhooks-publish": func(o wire.Operation) bool { return o.Name == "RaiseEvent" },
	} {
		i := daemontest.Start(t, flag, "anonymous", "--webhooks-publish-from", "127.0.0.0/8", "--mcp-enabled")
		// The demo instance has the roles without the setting; those that it opens are changed here.
		operations := metadataOf(t, anonymous(t, demo.start(t))).Operations
		for _, o := range sampleOf(operations, 0) {
			if opens(o) {
				o.Role = ""
			}
			roleClient{anonymous(t, i), ""}.checkRoutes(t, o)
		}
	}
}
