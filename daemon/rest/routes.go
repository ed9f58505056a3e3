package rest

import (
	"net/http"

	"github.com/bizhook/whd/daemon/account"
)

// route is one row of the route table. Everything that is true of a route
// stands here: the router, the checks and the documentation read it.
type route struct {
	methods   string // separated by spaces; GET includes HEAD
	pattern   string // literal segments in any letter case, {Name} for any one segment
	role      account.Role
	serve     func(*exchange) error
	summary   string
	operation string // of documents about it
	kind      string // the kind that it queries, of those that the service itself keeps
	changes   bool   // a page of somebody else must not make a browser send it; see guard
	status    int    // of success, where it is not 200
	signedIn  bool   // of the role Reader, but not open to strangers where queries are
	large     bool   // its body may be as large as that of an event
	webhooks  bool   // belongs to webhooks, which may be turned off
	lasting   bool   // goes on until one side ends it, and takes no place among the requests in work
	always    bool   // served even when the service is full or stopping
}

const anyMethod = "GET POST PUT PATCH DELETE"

// The parameters of patterns that mean something to every route.
const (
	inFormat    = "Format"    // the name of a format
	inOperation = "Operation" // a record kind, by its operation's name
	inKind      = "Kind"      // a record kind, by its own name
)

// routes is the table. The first row that fits a request counts.
func (s *Server) routes() []route {
	return append([]route{
		{methods: "GET POST", pattern: "/{Format}/reply/Authenticate", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "Log in with UserName and Password; without them, the session"},
		{methods: "GET POST", pattern: "/api/Authenticate", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "The same, the format by negotiation"},

		{methods: anyMethod, pattern: "/{Format}/reply/WH_AuditQuery", role: account.Admin, kind: "WH_Audit", serve: s.query,
			operation: "WH_AuditQuery", summary: "The audit trail, newest first: who changed users, keys and settings"},
		{methods: anyMethod, pattern: "/{Format}/oneway/WH_AuditQuery", role: account.Admin, kind: "WH_Audit", serve: s.queryOneway,
			status: http.StatusNoContent, operation: "WH_AuditQuery", summary: "The same without an answer"},
		{methods: "GET POST", pattern: "/Queries/WH_Audit", role: account.Admin, kind: "WH_Audit", serve: s.query,
			operation: "WH_AuditQuery", summary: "The same, the format by negotiation"},
		{methods: "GET POST", pattern: "/api/WH_AuditQuery", role: account.Admin, kind: "WH_Audit", serve: s.query,
			operation: "WH_AuditQuery", summary: "The same, the format by negotiation"},

		{methods: anyMethod, pattern: "/{Format}/reply/QueryRequestLogsGETManyRequest", role: account.Admin, kind: "RequestLog", serve: s.logs,
			operation: logQuery, summary: "Requests that the service has answered, newest first; of one Date, or with ViewErrors those that failed"},
		{methods: anyMethod, pattern: "/{Format}/oneway/QueryRequestLogsGETManyRequest", role: account.Admin, kind: "RequestLog", serve: s.logsOneway,
			status: http.StatusNoContent, operation: logQuery, summary: "The same without an answer"},
		{methods: "GET POST", pattern: "/api/QueryRequestLogsGETManyRequest", role: account.Admin, kind: "RequestLog", serve: s.logs,
			operation: logQuery, summary: "The same, the format by negotiation"},
		{methods: "GET", pattern: "/Logs", role: account.Admin, kind: "RequestLog", serve: s.logs,
			operation: logQuery, summary: "The same, the format by negotiation"},
		{methods: "GET", pattern: "/Logs/Today", role: account.Admin, kind: "RequestLog", serve: s.logsOf(today, false),
			operation: logQuery, summary: "The requests of this day, of UTC"},
		{methods: "GET", pattern: "/Logs/Today/Errors", role: account.Admin, kind: "RequestLog", serve: s.logsOf(today, true),
			operation: logQuery, summary: "The requests of this day that failed"},
		{methods: "GET", pattern: "/Logs/Yesterday", role: account.Admin, kind: "RequestLog", serve: s.logsOf(yesterday, false),
			operation: logQuery, summary: "The requests of the day before, of UTC"},
		{methods: "GET", pattern: "/Logs/Yesterday/Errors", role: account.Admin, kind: "RequestLog", serve: s.logsOf(yesterday, true),
			operation: logQuery, summary: "The requests of the day before that failed"},
		{methods: "GET", pattern: "/Logs/{Date}", role: account.Admin, kind: "RequestLog", serve: s.logs,
			operation: logQuery, summary: "The requests of one day, of UTC"},

		{methods: anyMethod, pattern: "/{Format}/reply/{Operation}", role: account.Reader, serve: s.query,
			operation: anyQuery, summary: "Records of one kind, filtered, ordered and paged"},
		{methods: anyMethod, pattern: "/{Format}/oneway/{Operation}", role: account.Reader, serve: s.queryOneway,
			status: http.StatusNoContent, operation: anyQuery, summary: "The same without an answer"},
		{methods: "GET POST", pattern: "/Queries/{Kind}", role: account.Reader, serve: s.query,
			operation: anyQuery, summary: "The same, the format by negotiation"},
		{methods: "GET POST", pattern: "/api/{Operation}", role: account.Reader, serve: s.query,
			operation: anyQuery, summary: "The same, the format by negotiation"},

		{methods: "PATCH", pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", role: account.Writer, changes: true, serve: s.setBillValue,
			operation: "UpdateBillStageCustomFieldValue", summary: "Change what a custom field of a bill's stage holds"},
		{methods: "GET", pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", role: account.Reader, serve: s.billValue,
			operation: "GetBillStageCustomFieldValue", summary: "What a custom field of a bill's stage holds"},
		{methods: "GET", pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues", role: account.Reader, serve: s.billValues,
			operation: "GetBillStageCustomFieldValues", summary: "The custom fields of a bill's stage, with what they hold"},

		{methods: "GET POST", pattern: "/auth", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "Log in, in a format by negotiation"},
		{methods: "GET POST", pattern: "/auth/credentials", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/authenticate", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/auth/logout", changes: true, serve: s.logout,
			operation: "Logout", summary: "End the session"},
		{methods: "GET POST", pattern: "/authenticate/credentials", changes: true, serve: s.logIn,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/authenticate/logout", changes: true, serve: s.logout,
			operation: "Logout", summary: "The same"},
		{methods: "GET", pattern: "/KeepAlive", role: account.Reader, signedIn: true, serve: s.keepAlive,
			status: http.StatusNoContent, operation: "KeepAlive", summary: "Let the session go on"},
		{methods: "GET", pattern: "/Sessions/Current", role: account.Reader, signedIn: true, serve: s.currentSession,
			operation: "GetSession", summary: "Who asks, and how they are known"},
		{methods: "DELETE", pattern: "/Sessions/Current", role: account.Reader, signedIn: true, changes: true, serve: s.endSession,
			status: http.StatusNoContent, operation: "EndSession", summary: "End the session"},

		{methods: "GET", pattern: "/Users", role: account.Admin, serve: s.users,
			operation: "Users", summary: "The users by name"},
		{methods: "POST", pattern: "/Users", role: account.Admin, changes: true, serve: s.addUser,
			status: http.StatusCreated, operation: "AddUser", summary: "Add a user with UserName, Password, Role and DisplayName"},
		{methods: "GET", pattern: "/Users/{UserName}", role: account.Reader, signedIn: true, serve: s.user,
			operation: "GetUser", summary: "One user; those who are no admin, themselves only"},
		{methods: "PATCH", pattern: "/Users/{UserName}", role: account.Reader, signedIn: true, changes: true, serve: s.changeUser,
			operation: "ChangeUser", summary: "Change DisplayName, Role or Password; those who are no admin, their own, with CurrentPassword and without Role"},
		{methods: "DELETE", pattern: "/Users/{UserName}", role: account.Admin, changes: true, serve: s.removeUser,
			status: http.StatusNoContent, operation: "RemoveUser", summary: "Remove a user and end their sessions"},
		{methods: "GET", pattern: "/ApiKeys", role: account.Admin, serve: s.keys,
			operation: "ApiKeys", summary: "The API keys by name, without the keys themselves"},
		{methods: "POST", pattern: "/ApiKeys", role: account.Admin, changes: true, serve: s.addKey,
			status: http.StatusCreated, operation: "AddApiKey", summary: "Make an API key with Name, Role and ExpiryDateTime; it is shown this once"},
		{methods: "GET", pattern: "/ApiKeys/{KeyID}", role: account.Admin, serve: s.key,
			operation: "GetApiKey", summary: "One API key, without the key itself"},
		{methods: "DELETE", pattern: "/ApiKeys/{KeyID}", role: account.Admin, changes: true, serve: s.removeKey,
			status: http.StatusNoContent, operation: "RemoveApiKey", summary: "End an API key"},

		{methods: "GET", pattern: "/Info", serve: s.info,
			operation: "Info", summary: "Version, time, features and limits of the service"},
		{methods: "GET", pattern: "/Settings", role: account.Admin, serve: s.settings,
			operation: "Settings", summary: "The settings that may change while the service runs"},

		{methods: "GET", pattern: "/", serve: s.home,
			operation: "Home", summary: "Sends browsers to the list of operations"},
		{methods: "GET", pattern: "/login", serve: s.loginPage,
			operation: "Login", summary: "The page to log in on"},
		{methods: "GET", pattern: "/metadata", serve: s.metadata,
			operation: "GetMetadata", summary: "What the service can be asked; with op, all about one operation"},
		{methods: "GET", pattern: "/{Format}/metadata", serve: s.metadata,
			operation: "GetMetadata", summary: "The same; browsers get a page all the same"},
		{methods: "GET", pattern: "/openapi.json", serve: s.openAPI,
			operation: "OpenAPI", summary: "The service's description by OpenAPI 3.1"},
		{methods: "GET", pattern: "/types/typescript", serve: s.typeScript,
			operation: "TypeScript", summary: "Types for the TypeScript client of ServiceStack"},

		{methods: "GET", pattern: "/healthz", serve: s.health, always: true,
			operation: "Health", summary: "Whether the process answers"},
		{methods: "GET", pattern: "/readyz", serve: s.ready, always: true,
			operation: "Ready", summary: "Whether the service can do its work"},
		{methods: "GET", pattern: "/metrics", serve: s.metricsPage, always: true,
			operation: "Metrics", summary: "Figures for Prometheus"},
	}, s.webhookRoutes()...)
}
