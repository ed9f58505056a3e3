package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// roleOf is the least role that each operation takes, as the contract has it,
// "" for everybody. The record kinds' queries, which it lacks, take a reader.
var roleOf = map[string]string{
	"WH_AuditQuery": "admin", "QueryRequestLogsGETManyRequest": "admin",

	"UpdateBillStageCustomFieldValue": "writer", "GetBillStageCustomFieldValue": "reader", "GetBillStageCustomFieldValues": "reader",

	"Authenticate": "", "Logout": "", "Login": "", "KeepAlive": "reader", "GetSession": "reader", "EndSession": "reader",
	"Users": "admin", "AddUser": "admin", "GetUser": "reader", "ChangeUser": "reader", "RemoveUser": "admin", // one's own, by the first two
	"ApiKeys": "admin", "AddApiKey": "admin", "GetApiKey": "admin", "RemoveApiKey": "admin",

	"Events": "", "RaiseEvent": "publisher", "TestTarget": "",
	"SubscriberQuery": "admin", "AddSubscriber": "admin", "GetSubscriber": "admin", "ChangeSubscriber": "admin", "RemoveSubscriber": "admin",
	"Subscriptions": "", "AddSubscription": "", "GetSubscription": "", "ChangeSubscription": "", "RemoveSubscription": "",
	"SubscriberMessages": "", "SubscriberResponses": "", "MessageResponses": "", "RemoveMessage": "", "RetryMessage": "", "TestSubscription": "",
	"RotateSecret": "", "RetryMessages": "admin", "DeleteMessages": "admin",
	"MessageQuery": "admin", "AttemptQuery": "admin", "SubscriptionQuery": "admin", "Stream": "admin", "Stats": "admin",

	"Info": "", "Settings": "admin",

	"Home": "", "GetMetadata": "", "OpenAPI": "", "TypeScript": "", "Health": "", "Ready": "", "Metrics": "",
}

// TestRolesOfOperations holds what the service says of itself against that.
func TestRolesOfOperations(t *testing.T) {
	said := make(map[string]string)
	for _, o := range metadataOf(t, stranger(t, demo.start(t))).Operations {
		said[o.Name] = o.Role
		want, known := roleOf[o.Name]
		if _, isKind := record.Builtin().Lookup(o.Name); isKind {
			want, known = "reader", true
		}
		if o.Role != want || !known {
			t.Errorf("%s takes the role %q, want %q (listed: %v)", o.Name, o.Role, want, known)
		}
	}
	for name := range roleOf {
		if _, there := said[name]; !there {
			t.Errorf("there is no operation %s", name)
		}
	}
}

// asker is somebody with a role, by name, or nobody.
type asker struct {
	client
	role string
}

// may reports whether the asker's role includes another.
func (a asker) may(role string) bool {
	order := []string{"", "reader", "publisher", "writer", "admin"}
	return slices.Index(order, a.role) >= slices.Index(order, role)
}

// askers are one of each role, and a stranger. Each user is named like its role.
func askers(t *testing.T, i *daemontest.Instance) []asker {
	all := []asker{{stranger(t, i), ""}, {asAdmin(t, i), "admin"}}
	for _, role := range []string{"reader", "publisher", "writer"} {
		asAdmin(t, i).do("POST /Users", `{"UserName":"`+role+`","Password":"`+annPassword+`","Role":"`+role+`"}`).want(t, 201)
		all = append(all, asker{stranger(t, i).with(basic(role, annPassword)), role})
	}
	return all
}

// pathFor puts values into a route's path: of things that are not there, but
// for the user who asks, since everybody may see themselves.
func (a asker) pathFor(path, method string) string {
	name := a.role
	if name == "" || method == http.MethodDelete {
		name = "nobody"
	}
	const none = "00000000-0000-4000-8000-000000000000"
	return strings.NewReplacer("{Format}", "json", "{UserName}", name, "{Date}", "2030-01-31",
		"{KeyID}", none, "{BillID}", none, "{StageID}", none, "{SettingID}", none,
		"{SubscriberID}", none, "{SubscriptionID}", none, "{MessageID}", none).Replace(path)
}

// TestEveryRouteForEveryRole sends each method of each route, as each role, and
// looks at nothing but whether the asker is let in. No request says enough to
// change anything.
func TestEveryRouteForEveryRole(t *testing.T) {
	i := daemontest.Start(t)
	for _, a := range askers(t, i) {
		for _, o := range metadataOf(t, stranger(t, i)).Operations {
			for _, r := range o.Routes {
				for _, method := range r.Methods {
					a.knock(t, o, method, r.Path)
				}
			}
		}
	}
	users := read[[]wire.User](t, asAdmin(t, i).do("GET /Users", "").want(t, 200))
	if len(users) != 4 {
		t.Errorf("the requests have changed who there is: %+v", users)
	}
}

// knock sends one request.
func (a asker) knock(t *testing.T, o wire.Operation, method, path string) {
	t.Helper()
	line := method + " " + a.pathFor(path, method)
	if strings.ContainsAny(line, "{}") {
		t.Fatalf("%s %s: the test has no value for a parameter", method, path)
	}
	status := a.glance(line)
	want := 0 // any that lets the asker in
	switch {
	case o.Name == "Authenticate" && a.role == "": // asks whose session it is
		want = http.StatusUnauthorized
	case a.may(o.Role):
	case a.role == "":
		want = http.StatusUnauthorized
	default:
		want = http.StatusForbidden
	}
	refused := status == http.StatusUnauthorized || status == http.StatusForbidden
	if want != 0 && status != want || want == 0 && (refused || status >= 500 || status == http.StatusMethodNotAllowed) {
		t.Errorf("%s (%s) as %q: status %d, want %d", line, o.Name, a.role, status, want)
	}
}

// glance leaves a reply unread: that of a live stream has no end.
func (c client) glance(line string) (status int) {
	c.t.Helper()
	reply, err := transport.RoundTrip(c.request(line, ""))
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

// TestNobodySeesOtherUsers: that everybody may ask for a user does not mean for
// any user.
func TestNobodySeesOtherUsers(t *testing.T) {
	i := daemontest.Start(t)
	for _, a := range askers(t, i) {
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

// TestWhatAnonymousSettingsOpen: auth.queries opens what readers may ask, but
// not what is about who asks; webhooks.publish opens nothing but events.
func TestWhatAnonymousSettingsOpen(t *testing.T) {
	personal := []string{"KeepAlive", "GetSession", "EndSession", "GetUser", "ChangeUser"}
	for flag, opens := range map[string]func(wire.Operation) bool{
		"--auth-queries":     func(o wire.Operation) bool { return o.Role == "reader" && !slices.Contains(personal, o.Name) },
		"--webhooks-publish": func(o wire.Operation) bool { return o.Name == "RaiseEvent" },
	} {
		i := daemontest.Start(t, flag, "anonymous", "--webhooks-publish-from", "127.0.0.0/8")
		for _, o := range metadataOf(t, stranger(t, demo.start(t))).Operations { // as they are without the setting
			if opens(o) {
				o.Role = ""
			}
			for _, r := range o.Routes {
				for _, method := range r.Methods {
					asker{stranger(t, i), ""}.knock(t, o, method, r.Path)
				}
			}
		}
	}
}
