package rest

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/feeds"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/rest/webhooks"
	"github.com/bizhook/whd/daemon/webhook"
)

const anyMethod = "GET POST PUT PATCH DELETE"

// newTable returns the table of operations. The first matching route is used.
func newTable(h *handlers) []operation {
	table := slices.Concat(recordOperations(h), feedOperations(h), accountOperations(h),
		serviceOperations(h), typesOperations(h), webhookOperations(h), messageOperations(h))
	for i := range table {
		o := &table[i]
		o.members = append(pathMembers(o), o.members...)
		for j := range o.routes {
			r := &o.routes[j]
			r.Operation = o.name
			r.Role = o.role
			r.Kind = o.kind
			r.Webhooks = o.group == groupWebhooks
			r.Summary = cmp.Or(r.Summary, o.summary)
			if form, ok := formOf(*r); ok {
				r.ByName = true
				r.Oneway = form.Oneway
				r.Status = form.Status
				r.Redacted = slices.ContainsFunc(o.routes, edge.Route.Redacts)
			}
		}
		if o.isNamed() {
			o.named = o.byName(o.name, o.plain())
		}
	}
	return table
}

// routesOf returns the routes of all operations. Those for any query come last, since
// their paths match any name.
func routesOf(table []operation) (all []edge.Route) {
	for i := range table {
		o := &table[i]
		if o.name == edge.AnyQuery {
			continue
		}
		all = append(append(all, o.routes...), o.named...)
		names, plain := o.aliases()
		for _, name := range names {
			all = append(all, o.byName(name, plain[name])...)
		}
	}
	for _, o := range table {
		if o.name == edge.AnyQuery {
			all = append(all, o.routes...)
		}
	}
	return append(all, icon)
}

// icon is the path that browsers request with the first page of a host. Without a route, each
// of them would add an error to the request log. It is not an operation.
var icon = edge.Route{
	Methods:   "GET",
	Pattern:   "/favicon.ico",
	Operation: "Icon",
	Always:    true,
	Status:    http.StatusNoContent,
	Serve:     noIcon,
}

// noIcon responds that there is no icon, which browsers remember for a week.
func noIcon(x *edge.Context) error {
	x.Response.Header().Set("Cache-Control", "public, max-age=604800")
	return x.NoContent(nil)
}

// pathMembers returns the path parameters that an operation does not document itself.
func pathMembers(o *operation) []metadata.Member {
	var all []metadata.Member
	for _, r := range o.routes {
		for _, name := range metadata.InPath(r.Pattern) {
			if o.name == edge.AnyQuery || slices.Contains(edge.CommonParams, name) {
				continue
			}
			hasName := func(m metadata.Member) bool { return m.Name == name }
			if !slices.ContainsFunc(o.members, hasName) && !slices.ContainsFunc(all, hasName) {
				all = append(all, metadata.Member{Name: name, Type: "string", Required: true})
			}
		}
	}
	return all
}

// recordOperations are the operations on records, logs and bills.
func recordOperations(h *handlers) []operation {
	return []operation{
		{name: "Authenticate", group: groupAccounts, summary: "Log in, or get the current session", response: wire.AuthenticateResponse{}, members: []metadata.Member{
			{Name: accounts.MemberUser, Type: "string", Help: "omit it and Password to get the current session"},
			{Name: accounts.MemberPassword, Type: "string", Help: "the user's password"},
			{Name: accounts.MemberRemember, Type: "bool", Help: "keep the session when the browser is closed"},
			{Name: accounts.MemberProvider, Type: "string", Help: "credentials, or logout"},
			{Name: accounts.MemberRedirect, Type: "string", Help: "page to show after a login in a browser"},
		}, routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/Authenticate", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "Log in with UserName and Password, or get the current session without them"},
			{Methods: anyMethod, Pattern: "/api/Authenticate", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "The same, with content negotiation"},
			{Methods: "GET POST", Pattern: "/auth", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "Log in, with content negotiation"},
			{Methods: "GET POST", Pattern: "/auth/credentials", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "The same"},
			{Methods: "GET POST", Pattern: "/authenticate", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "The same"},
			{Methods: "GET POST", Pattern: "/authenticate/credentials", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "The same"},
			{Methods: "POST PUT DELETE", Pattern: "/login", Changes: true, Serve: h.accounts.Sessions.LogIn, Summary: "The same"}}},
		{name: "WH_AuditQuery", role: account.Admin, kind: "WH_Audit", routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/WH_AuditQuery", Serve: h.queries.Serve, Summary: "The audit trail of administrative changes, newest first"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/WH_AuditQuery", Serve: h.queries.Serve, Summary: "The same without a response"},
			{Methods: "GET POST", Pattern: "/Queries/WH_Audit", Serve: h.queries.Serve, Summary: "The same, with content negotiation"},
			{Methods: "GET POST", Pattern: "/api/WH_AuditQuery", Serve: h.queries.Serve, Summary: "The same, with content negotiation"}}},
		{name: logQuery, role: account.Admin, kind: "RequestLog", members: []metadata.Member{
			{Name: memberDate, Type: "DateTime", Help: "one UTC day; if omitted, all entries, or those of today by the setting requestlog.today"},
			{Name: memberViewErrors, Type: "bool", Help: "failed requests only"},
		}, routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/QueryRequestLogsGETManyRequest", Serve: h.logs.list, Summary: "Logged requests, newest first; limited to a day by Date, or to failed requests by ViewErrors"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/QueryRequestLogsGETManyRequest", Serve: h.logs.list, Summary: "The same without a response"},
			{Methods: "GET POST", Pattern: "/api/QueryRequestLogsGETManyRequest", Serve: h.logs.list, Summary: "The same, with content negotiation"},
			{Methods: "GET", Pattern: "/Logs", Serve: h.logs.list, Summary: "The same, with content negotiation"},
			{Methods: "GET", Pattern: "/Logs/Today", Serve: h.logs.of(today, false), Summary: "The requests of today (UTC)"},
			{Methods: "GET", Pattern: "/Logs/Today/Errors", Serve: h.logs.of(today, true), Summary: "The failed requests of today (UTC)"},
			{Methods: "GET", Pattern: "/Logs/Yesterday", Serve: h.logs.of(yesterday, false), Summary: "The requests of yesterday (UTC)"},
			{Methods: "GET", Pattern: "/Logs/Yesterday/Errors", Serve: h.logs.of(yesterday, true), Summary: "The failed requests of yesterday (UTC)"},
			{Methods: "GET", Pattern: "/Logs/{Date}", Serve: h.logs.list, Summary: "The requests of one UTC day"}}},
		{name: "Changes", group: groupChanges, role: account.Reader, summary: "The changes of a record kind", response: wire.Changes{}, formats: queries.ChangeFormats, members: []metadata.Member{
			{Name: edge.ParamKind, Type: "string", Required: true, Help: "a captured record kind"},
			{Name: queries.MemberSince, Type: "string", Help: "the token of the previous page; without it, the response has no changes and the token of the present"},
			{Name: queries.MemberTake, Type: "int", Help: "maximum number of changes, from 1 to 1000; default: 1000"},
			{Name: queries.MemberWait, Type: "int", Help: "seconds to wait for a change if there is none, from 0 to 60; default: 0"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Queries/{Kind}/Changes", Serve: h.queries.Changes, Summary: "The changes of a record kind since a token, in order, as JSON or NDJSON; waits for the next one with Wait"}}},
		{name: "Captures", group: groupChanges, role: account.Admin, summary: "The state of the capture of changes, by record kind", response: []wire.Capture{}, members: form.PageMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Changes", Serve: h.captures.list}}},
		{name: "ResumeCapture", group: groupChanges, role: account.Admin, summary: "Resume the capture of a record kind that has stopped", members: []metadata.Member{
			{Name: edge.ParamKind, Type: "string", Required: true},
			{Name: memberMode, Type: "string", Required: true, Help: "raise: deliver all changes since the stop; silent: forget the rows known so far, so that followers must reload"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Changes/{Kind}/Resume", Changes: true, Status: http.StatusNoContent, Serve: h.captures.resume}}},
		{name: edge.AnyQuery, role: account.Reader, routes: []edge.Route{
			{Methods: anyMethod, Pattern: "/{Format}/reply/{Operation}", Serve: h.queries.Serve, Summary: "Records of one kind, filtered, ordered and paged"},
			{Methods: anyMethod, Pattern: "/{Format}/oneway/{Operation}", Serve: h.queries.Serve, Summary: "The same without a response"},
			{Methods: "GET POST", Pattern: "/Queries/{Kind}", Serve: h.queries.Serve, Summary: "The same, with content negotiation"},
			{Methods: "GET POST", Pattern: "/api/{Operation}", Serve: h.queries.Serve, Summary: "The same, with content negotiation"}}},
		{name: "UpdateBillStageCustomFieldValue", group: groupBills, role: account.Writer, summary: "Update a custom field value of a bill's stage", response: wire.CustomFieldValue{}, members: []metadata.Member{
			{Name: "Contents", Type: "string", Required: true, Help: "an empty string clears the value"},
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Changes: true, Serve: h.bills.set}}},
		{name: "GetBillStageCustomFieldValue", group: groupBills, role: account.Reader, summary: "A custom field value of a bill's stage", response: wire.CustomFieldValue{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Serve: h.bills.value}}},
		{name: "GetBillStageCustomFieldValues", group: groupBills, role: account.Reader, summary: "The custom field values of a bill's stage", response: []wire.CustomFieldValue{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues", Serve: h.bills.values}}},
	}
}

// feedOperations are those of OData. Their paths are exact, and they have no other names.
func feedOperations(h *handlers) []operation {
	route := func(pattern string, serve func(*edge.Context) error) []edge.Route {
		return []edge.Route{{Methods: "GET", Pattern: pattern, Serve: serve}}
	}
	return []operation{
		{name: "ODataService", group: groupFeeds, role: account.Reader, summary: "The record kinds as entity sets of OData 4.0, read only", media: "application/json", routes: route(feeds.PathService, h.feeds.Service)},
		{name: "ODataMetadata", group: groupFeeds, role: account.Reader, summary: "The types of the entity sets, as CSDL", media: "application/xml", routes: route(feeds.PathMetadata, h.feeds.Metadata)},
		{name: "ODataFile", group: groupFeeds, role: account.Reader, summary: "A file with which Power BI Desktop connects to a record kind", media: "application/json", routes: route(feeds.PathFile, h.feeds.File)},
		{name: "ODataCount", group: groupFeeds, role: account.Reader, summary: "The number of records that match $filter", media: "text/plain", routes: route(feeds.PathCount, h.feeds.Count)},
		{name: "ODataEntity", group: groupFeeds, role: account.Reader, summary: "The record with a key", media: "application/json", members: []metadata.Member{
			{Name: feeds.ParamKey, Type: "string", Required: true, Help: "the value of the key, or Name=value for each of its fields"},
		}, routes: route(feeds.PathEntity, h.feeds.Entity)},
		{name: "ODataRows", group: groupFeeds, role: account.Reader, summary: "Records with $select, $filter, $orderby, $top, $skip and $count", media: "application/json", routes: route(feeds.PathRows, h.feeds.Rows)},
	}
}

const roleHelp = "reader, publisher, writer or admin"

// accountOperations are the operations on sessions, users and API keys.
func accountOperations(h *handlers) []operation {
	return []operation{
		{name: "Logout", group: groupAccounts, summary: "End the session", response: wire.Failure{}, routes: []edge.Route{
			{Methods: "GET POST", Pattern: "/auth/logout", Changes: true, Serve: h.accounts.Sessions.Logout},
			{Methods: "GET POST", Pattern: "/authenticate/logout", Changes: true, Serve: h.accounts.Sessions.Logout, Summary: "The same"}}},
		{name: "KeepAlive", group: groupAccounts, role: account.Reader, summary: "Extend the session", routes: []edge.Route{
			{Methods: "GET", Pattern: "/KeepAlive", SignedIn: true, Status: http.StatusNoContent, Serve: h.accounts.Sessions.KeepAlive}}},
		{name: "GetSession", group: groupAccounts, role: account.Reader, summary: "The current user and authentication method", response: wire.CurrentSession{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Sessions/Current", SignedIn: true, Serve: h.accounts.Sessions.Current}}},
		{name: "EndSession", group: groupAccounts, role: account.Reader, summary: "End the session", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/Sessions/Current", SignedIn: true, Changes: true, Status: http.StatusNoContent, Serve: h.accounts.Sessions.EndSession}}},
		{name: "Users", group: groupAccounts, role: account.Admin, summary: "The users by name", response: []wire.User{}, members: form.PageMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Users", Serve: h.accounts.Users.List}}},
		{name: "AddUser", group: groupAccounts, role: account.Admin, summary: "Add a user", response: wire.User{}, members: []metadata.Member{
			{Name: accounts.MemberUser, Type: "string", Required: true},
			{Name: accounts.MemberPassword, Type: "string", Required: true},
			{Name: accounts.MemberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: accounts.MemberDisplayName, Type: "string"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Users", Changes: true, Status: http.StatusCreated, Serve: h.accounts.Users.Add, Summary: "Add a user with UserName, Password, Role and DisplayName"}}},
		{name: "GetUser", group: groupAccounts, role: account.Reader, summary: "One user", response: wire.User{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Users/{UserName}", SignedIn: true, Serve: h.accounts.Users.Show, Summary: "One user; users other than admins can only get themselves"}}},
		{name: "ChangeUser", group: groupAccounts, role: account.Reader, summary: "Change a user", response: wire.User{}, members: []metadata.Member{
			{Name: accounts.MemberDisplayName, Type: "string"},
			{Name: accounts.MemberRole, Type: "string", Help: roleHelp},
			{Name: accounts.MemberPassword, Type: "string", Help: "the new password"},
			{Name: accounts.MemberCurrentPassword, Type: "string", Help: "the current password; required from users other than admins"},
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: "/Users/{UserName}", SignedIn: true, Changes: true, Serve: h.accounts.Users.Change, Summary: "Change DisplayName, Role or Password; users other than admins can only change their own DisplayName, and their Password with CurrentPassword"}}},
		{name: "RemoveUser", group: groupAccounts, role: account.Admin, summary: "Remove a user and end their sessions", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/Users/{UserName}", Changes: true, Status: http.StatusNoContent, Serve: h.accounts.Users.Remove}}},
		{name: "ApiKeys", group: groupAccounts, role: account.Admin, summary: "The API keys by name, without their secrets", response: []wire.APIKey{}, members: form.PageMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: "/ApiKeys", Serve: h.accounts.Keys.List}}},
		{name: "AddApiKey", group: groupAccounts, role: account.Admin, summary: "Create an API key; the key is shown only once", response: wire.APIKey{}, members: []metadata.Member{
			{Name: accounts.MemberName, Type: "string", Required: true},
			{Name: accounts.MemberRole, Type: "string", Required: true, Help: roleHelp},
			{Name: accounts.MemberExpiry, Type: "DateTime", Help: "a date, or never; 90 days from now if omitted"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/ApiKeys", Changes: true, Status: http.StatusCreated, Serve: h.accounts.Keys.Add, Summary: "Create an API key with Name, Role and ExpiryDateTime; the key is shown only once"}}},
		{name: "GetApiKey", group: groupAccounts, role: account.Admin, summary: "One API key, without its secret", response: wire.APIKey{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/ApiKeys/{KeyID}", Serve: h.accounts.Keys.Show}}},
		{name: "RemoveApiKey", group: groupAccounts, role: account.Admin, summary: "Revoke an API key", routes: []edge.Route{
			{Methods: "DELETE", Pattern: "/ApiKeys/{KeyID}", Changes: true, Status: http.StatusNoContent, Serve: h.accounts.Keys.Remove}}},
		{name: "Login", group: groupAccounts, summary: "The login page", media: "text/html", members: []metadata.Member{
			{Name: accounts.MemberRedirect, Type: "string", Help: "page to show after the login"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/login", Serve: h.accounts.Sessions.LoginPage}}},
	}
}

// serviceOperations are the operations on the service itself.
func serviceOperations(h *handlers) []operation {
	return []operation{
		{name: "Info", group: groupService, summary: "Version, time, features and limits of the service", response: wire.Info{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Info", Serve: h.info.show}}},
		{name: "Settings", group: groupService, role: account.Admin, summary: "The settings that may change while the service runs", response: []wire.Setting{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Settings", Serve: h.info.listSettings}}},
		{name: "SystemInfo", group: groupService, role: account.Reader, summary: "The version of the ERP's interface, and the time of the service", response: wire.SystemInfo{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/SystemInfo", Serve: h.info.system}}},
		{name: "RestPaths", group: groupService, summary: "The paths of the operations", response: []wire.RestPath{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/RestPaths", Serve: h.documents.restPaths}}},
		{name: "Home", group: groupService, summary: "Redirect browsers to the list of operations", media: "text/html", routes: []edge.Route{
			{Methods: "GET", Pattern: "/", Status: http.StatusFound, Serve: h.documents.home},
			{Methods: "GET", Pattern: "/swagger-ui", Status: http.StatusFound, Serve: redirect("/metadata"), Summary: "Redirect to the list of operations"},
			{Methods: "GET", Pattern: "/requestlogs", Status: http.StatusFound, Serve: redirect("/Logs"), Summary: "Redirect to the request log"}}},
		{name: "GetMetadata", group: groupService, summary: "The operations of the service", response: wire.Metadata{}, members: []metadata.Member{
			{Name: memberOperation, Type: "string", Help: "name of an operation to describe in full"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/metadata", Serve: h.documents.metadata, Summary: "The operations of the service; with op, the full description of one operation"},
			{Methods: "GET", Pattern: "/{Format}/metadata", Serve: h.documents.metadata, Summary: "The same; browsers always get an HTML page"}}},
		{name: "OpenAPI", group: groupService, summary: "The OpenAPI 3.1 document of the service", media: "application/json", routes: []edge.Route{
			{Methods: "GET", Pattern: "/openapi.json", Serve: h.documents.openAPI},
			{Methods: "GET", Pattern: "/openapi", Serve: h.documents.swagger, Summary: "The same in OpenAPI 2.0 (Swagger)"}}},
		{name: "Kinds", group: groupService, role: account.Reader, summary: "The record kinds that the caller may read, with their fields", response: []wire.RecordKind{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Kinds", Serve: h.documents.kinds}}},
		{name: MCPOperation, group: groupService, role: account.Reader, summary: "Tools for assistants: the Model Context Protocol", media: "application/json", routes: []edge.Route{
			{Methods: "POST", Pattern: "/mcp", Changes: true, Serve: h.assistant.serve, Summary: "Tools for assistants: the Model Context Protocol, if mcp.enabled is set"}}},
		{name: "Types", group: groupService, summary: "The languages of types for client programs", response: []wire.TypesFile{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/types", Serve: h.documents.languages}}},
		{name: "Health", group: groupService, summary: "Liveness check: whether the process responds", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/healthz", Always: true, Serve: h.health.alive}}},
		{name: "Ready", group: groupService, summary: "Readiness check: whether the service can handle requests", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/readyz", Always: true, Serve: h.health.ready}}},
		{name: "Metrics", group: groupService, summary: "Metrics for Prometheus", media: "text/plain", routes: []edge.Route{
			{Methods: "GET", Pattern: "/metrics", Always: true, Serve: h.health.metricsPage}}},
	}
}

// typesOperations are the operations that return the types of one language.
func typesOperations(h *handlers) (all []operation) {
	for _, l := range metadata.Languages() {
		all = append(all, operation{
			name:    l.Operation,
			group:   groupService,
			summary: l.Summary,
			media:   "text/plain",
			members: []metadata.Member{
				{Name: memberNamespace, Type: "string", Help: "namespace of the classes"},
			},
			routes: []edge.Route{
				{Methods: "GET", Pattern: typesPath + l.Name, Serve: h.documents.types(l)},
			},
		})
	}
	return all
}

// The paths of webhooks.
const (
	pathSubscribers   = "/Webhooks/Subscribers"
	pathSubscriber    = pathSubscribers + "/{SubscriberID}"
	pathSubscriptions = pathSubscriber + "/Subscriptions"
	pathSubscription  = pathSubscriptions + "/{SubscriptionID}"
	pathHeaders       = pathSubscription + "/RequestHeaders"
	pathMessages      = pathSubscriber + "/Messages"
	pathMessage       = pathSubscription + "/Messages/{MessageID}"
)

// webhookOperations are the operations on webhooks. Those without a role are
// authorized by the SubscriberID.
func webhookOperations(h *handlers) []operation {
	return []operation{
		{name: "Events", group: groupWebhooks, summary: "The published events", response: []wire.Event{}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Events", Serve: h.webhooks.Events.List}}},
		{name: "RaiseEvent", group: groupWebhooks, role: account.Publisher, summary: "Publish an event", response: wire.EventReceipt{}, members: []metadata.Member{
			{Name: webhooks.MemberEvent, Type: "string", Required: true, Help: "a published event"},
			{Name: webhooks.MemberBody, Type: "object", Required: true, Help: "the payload: a string, or any JSON value, delivered byte for byte"},
			{Name: webhooks.MemberKey, Type: "string", Help: "the subject of the event, such as the number of a document, up to 128 characters: its messages are found by it"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Events", Changes: true, Large: true, Status: http.StatusCreated, Serve: h.webhooks.Events.Add, Summary: "Publish an event: creates one message for each matching subscription"}}},
		{name: "TestTarget", group: groupWebhooks, summary: "A target for testing subscriptions", media: "application/json", members: []metadata.Member{{Name: webhooks.MemberBody, Type: "object", Help: "any body is accepted"}}, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Test", Large: true, Status: http.StatusCreated, Serve: h.webhooks.Events.Echo, Summary: "A target for testing subscriptions: it returns the body of the request"}}},
		{name: "SubscriberQuery", group: groupWebhooks, role: account.Admin, kind: "Subscriber", routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscribers, Serve: h.queries.Serve, Summary: "The subscribers"}}},
		{name: "AddSubscriber", group: groupWebhooks, role: account.Admin, summary: "Add a subscriber", response: wire.Subscriber{}, members: []metadata.Member{
			{Name: webhooks.MemberName, Type: "string", Required: true},
			{Name: webhooks.MemberEnabled, Type: "bool", Help: "default: true"},
			recIDMember,
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscribers, Changes: true, Status: http.StatusCreated, Serve: h.webhooks.Subscribers.Add, Summary: "Add a subscriber; its RecID is the SubscriberID"}}},
		{name: "GetSubscriber", group: groupWebhooks, role: account.Admin, summary: "One subscriber with its subscriptions", response: wire.Subscriber{}, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscriber, Serve: h.webhooks.Subscribers.Show}}},
		{name: "ChangeSubscriber", group: groupWebhooks, role: account.Admin, summary: "Rename, disable or enable a subscriber", response: wire.Subscriber{}, members: []metadata.Member{
			{Name: webhooks.MemberName, Type: "string"},
			{Name: webhooks.MemberEnabled, Type: "bool"},
			rowHashMember,
		}, routes: []edge.Route{
			{Methods: "PATCH", Pattern: pathSubscriber, Changes: true, Serve: h.webhooks.Subscribers.Change}}},
		{name: "RemoveSubscriber", group: groupWebhooks, role: account.Admin, summary: "Remove a subscriber", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathSubscriber, Changes: true, Status: http.StatusNoContent, Serve: h.webhooks.Subscribers.Remove, Summary: "Remove a subscriber with its subscriptions and messages"}}},
		{name: "Subscriptions", group: groupWebhooks, summary: "The subscriptions of a subscriber", response: []wire.Subscription{}, members: form.PageMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscriptions, Serve: h.webhooks.Subscriptions.List}}},
		{name: "AddSubscription", group: groupWebhooks, summary: "Add a subscription", response: wire.Subscription{}, members: append([]metadata.Member{
			{Name: webhook.MemberURL, Type: "string", Required: true, Help: "the address that receives the messages"},
			{Name: webhook.MemberEvent, Type: "string", Required: true, Help: "a published event, a pattern such as debtor.*, or *"},
			{Name: webhooks.MemberEnabled, Type: "bool", Help: "default: true"},
			recIDMember,
			{Name: webhook.MemberSecret, Type: "string", Help: "whsec_ and 24 to 64 bytes in base64; generated if omitted; requires the role admin"},
		}, subscriptionMembers...), routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscriptions, Changes: true, Status: http.StatusCreated, Serve: h.webhooks.Subscriptions.Add, Summary: "Add a subscription; its secret is shown only once"}}},
		{name: "ChangeSubscription", group: groupWebhooks, summary: "Change a subscription", response: wire.Subscription{}, members: append([]metadata.Member{
			{Name: webhook.MemberURL, Type: "string"},
			{Name: webhook.MemberEvent, Type: "string"},
			{Name: webhooks.MemberEnabled, Type: "bool"},
			rowHashMember,
		}, subscriptionMembers...), routes: []edge.Route{
			{Methods: "PATCH", Pattern: pathSubscriptions, Changes: true, Serve: h.webhooks.Subscriptions.Change, Summary: "Change the subscription named in the body"},
			{Methods: "PATCH", Pattern: pathSubscription, Changes: true, Serve: h.webhooks.Subscriptions.Change}}},
		{name: "GetSubscription", group: groupWebhooks, summary: "One subscription", response: wire.Subscription{}, routes: []edge.Route{
			{Methods: "GET", Pattern: pathSubscription, Serve: h.webhooks.Subscriptions.Show}}},
		{name: "RemoveSubscription", group: groupWebhooks, summary: "Remove a subscription", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathSubscription, Changes: true, Status: http.StatusNoContent, Serve: h.webhooks.Subscriptions.Remove, Summary: "Remove a subscription and cancel its pending messages"}}},
		{name: "ReplaceRequestHeaders", group: groupWebhooks, summary: "Replace the headers of a subscription", response: []wire.Header{}, members: []metadata.Member{
			{Name: webhook.MemberRequestHeaders, Type: "Header[]", Required: true, Help: subscriptionMembers[0].Help + "; empty to remove all"},
		}, routes: []edge.Route{
			{Methods: "PUT", Pattern: pathHeaders, Changes: true, Serve: h.webhooks.Subscriptions.ReplaceHeaders}}},
		{name: "RemoveRequestHeaders", group: groupWebhooks, summary: "Remove all headers of a subscription", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathHeaders, Changes: true, Status: http.StatusNoContent, Serve: h.webhooks.Subscriptions.RemoveHeaders}}},
		{name: "RemoveRequestHeader", group: groupWebhooks, summary: "Remove one header of a subscription", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathHeaders + "/{SubscriptionRequestHeaderID}", Changes: true, Status: http.StatusNoContent, Serve: h.webhooks.Subscriptions.RemoveHeaders}}},
		{name: "TestSubscription", group: groupWebhooks, summary: "Send a test message to a subscription", response: wire.MessageState{}, members: []metadata.Member{
			{Name: webhooks.MemberEvent, Type: "string", Help: "a published event that the subscription matches, used as the event of the message; requires the role publisher"},
			{Name: webhooks.MemberBody, Type: "object", Help: "the payload, as in RaiseEvent; a sample if omitted; requires the role publisher"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscription + "/Test", Changes: true, Large: true, Status: http.StatusAccepted, Serve: h.webhooks.Messages.SendTest, Summary: "Send a test message to a subscription"}}},
		{name: "RotateSecret", group: groupWebhooks, summary: "Replace the secret of a subscription", response: wire.RotatedSecret{}, members: []metadata.Member{
			{Name: webhook.MemberSecret, Type: "string", Help: "whsec_ and 24 to 64 bytes in base64; generated if omitted"},
			{Name: webhook.MemberKeepFor, Type: "string", Help: "how long the replaced secret also signs: a duration from 0 to 720h, such as 12h, 7d or PT12H; 0 ends all earlier ones at once; default: 24h"},
		}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathSubscription + "/Secret", Changes: true, Serve: h.webhooks.Subscriptions.RotateSecret, Summary: "Replace the secret of a subscription; the new one is shown only once"}}},
		{name: "SubscriberMessages", group: groupWebhooks, kind: "Message", summary: "The messages of a subscriber", members: append(webhooks.PeriodMembers[:2:2], subscriberMember), routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages, Serve: h.webhooks.Messages.List, Summary: "The messages of a subscriber, newest first"}}},
		{name: "SubscriberResponses", group: groupWebhooks, kind: "MessageResponse", summary: "The delivery attempts of a subscriber's messages", routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages + "/Responses", Serve: h.webhooks.Messages.List, Summary: "The delivery attempts of a subscriber's messages, newest first"}}},
		{name: "MessageResponses", group: groupWebhooks, kind: "MessageResponse", summary: "The delivery attempts of one message", routes: []edge.Route{
			{Methods: "GET", Pattern: pathMessages + "/{MessageID}/Responses", Serve: h.webhooks.Messages.List}}},
		{name: "RemoveMessage", group: groupWebhooks, summary: "Remove a message", routes: []edge.Route{
			{Methods: "DELETE", Pattern: pathMessage, Changes: true, Status: http.StatusNoContent, Serve: h.webhooks.Messages.Remove, Summary: "Remove a message and cancel its pending attempt"}}},
		{name: "RetryMessage", group: groupWebhooks, summary: "Retry a failed message", response: wire.MessageState{}, routes: []edge.Route{
			{Methods: "POST", Pattern: pathMessage + "/Retry", Changes: true, Status: http.StatusAccepted, Serve: h.webhooks.Messages.Retry}}},
		{name: "Stream", group: groupWebhooks, role: account.Admin, summary: "Live stream of message events and statistics", media: wire.MediaEventStream, members: []metadata.Member{
			{Name: webhooks.MemberTopics, Type: "string", Help: "messages, stats or requests, separated by commas; default: messages,stats"},
			{Name: webhooks.MemberLastEventID, Type: "string", Help: "id of the last event received, for clients that cannot send the header Last-Event-ID"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Stream", Streaming: true, Serve: h.webhooks.Streams.Serve, Summary: "Live stream of message events and statistics, as server-sent events"}}},
		{name: "Stats", group: groupWebhooks, role: account.Admin, summary: "Statistics of webhook delivery", response: wire.Stats{}, members: []metadata.Member{
			{Name: webhooks.MemberWindow, Type: "string", Help: "the period of the statistics, from 1m to 24h; default: 60m"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Stats", Serve: h.webhooks.Stats.Show}}},
		{name: "SubscriptionQuery", group: groupWebhooks, role: account.Admin, kind: "Subscription", routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Subscriptions", Serve: h.queries.Serve, Summary: "The subscriptions of all subscribers"}}},
	}
}

// messageOperations are the operations on the messages of all subscribers.
func messageOperations(h *handlers) []operation {
	return []operation{
		{name: "MessageQuery", group: groupWebhooks, role: account.Admin, kind: "Message", members: webhooks.PeriodMembers, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Messages", Serve: h.queries.Serve, Summary: "The messages of all subscribers, newest first"}}},
		{name: "AttemptQuery", group: groupWebhooks, role: account.Admin, kind: "Attempt", routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Messages/Responses", Serve: h.queries.Serve, Summary: "The delivery attempts of all messages, newest first, with the response texts"}}},
		{name: "Why", group: groupWebhooks, role: account.Admin, summary: "The history of a key or of a message", response: wire.Why{}, members: []metadata.Member{
			{Name: webhooks.MemberKey, Type: "string", Help: "the key of events, or of a captured record"},
			{Name: webhooks.MemberMessage, Type: "string", Help: "instead of a key: the ID of a message, to see only its event and its attempts"},
		}, routes: []edge.Route{
			{Methods: "GET", Pattern: "/Webhooks/Why", Serve: h.webhooks.Why.Show, Summary: "The history of a key, or of a message, in the order of time: changes of records, events, messages and attempts, and the reasons for those that are missing"},
			{Methods: "GET", Pattern: "/Webhooks/Why/{Key}", Serve: h.webhooks.Why.Show, Summary: "The same"}}},
		{name: "RetryMessages", group: groupWebhooks, role: account.Admin, summary: "Retry all messages that match a filter", response: wire.MessagesRetried{}, members: webhooks.SelectionMembers, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Messages/Retry", Changes: true, Serve: h.webhooks.Bulk.Retry, Summary: "Retry all failed messages that match a filter, and send delivered ones again if it has Status=1"}}},
		{name: "DeleteMessages", group: groupWebhooks, role: account.Admin, summary: "Delete all messages that match a filter", response: wire.MessagesDeleted{}, members: webhooks.SelectionMembers, routes: []edge.Route{
			{Methods: "POST", Pattern: "/Webhooks/Messages/Delete", Changes: true, Serve: h.webhooks.Bulk.Remove, Summary: "Delete all messages that match a filter and cancel their pending attempts"}}},
	}
}

// Members of several operations.
var (
	subscriberMember = metadata.Member{Name: webhooks.InSubscriber, Type: "string", Required: true}
	rowHashMember    = metadata.Member{
		Name: webhooks.MemberRowHash,
		Type: "string",
		Help: "the RowHash that the change is based on; a different current value is a conflict",
	}

	recIDMember = metadata.Member{
		Name: webhook.MemberRecID,
		Type: "string",
		Help: "a GUID that is not in use; generated if omitted; requires the role admin",
	}

	subscriptionMembers = []metadata.Member{
		{Name: webhook.MemberHeaders, Type: "Header[]", Help: "headers to send: a list of objects with Name and Value"},
		{Name: webhook.MemberRequestHeaders, Type: "Header[]", Help: "another name of Headers"},
		{Name: webhooks.MemberOrdered, Type: "bool", Help: "deliver messages in order: each one waits for the previous one"},
		{Name: webhooks.MemberOrderBy, Type: "string", Help: "none, subscription (the same as Ordered), or key: each message waits for the previous one with the same Key"},
		{Name: webhook.MemberSchedule, Type: "string", Help: "delays between attempts, such as 5s,30s,2m; empty for the default of the settings"},
		{Name: webhook.MemberWhere, Type: "object", Help: "condition on the events: members of queries over the Record of a change, Changed and Before.MEMBER, or over the members of a posted body; {} for all events"},
	}
)
