package rest

import (
	"net/http"
	"slices"

	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/rest/edge"
)

const anyMethod = "GET POST PUT PATCH DELETE"

// routes is the table. The first row that fits a request counts.
func (s *Server) routes() []edge.Route {
	return slices.Concat(s.queryRoutes(), s.accountRoutes(), s.serviceRoutes(), s.webhookRoutes())
}

// queryRoutes is the part of the table that is about records, logs and bills.
func (s *Server) queryRoutes() []edge.Route {
	return []edge.Route{
		{Methods: "GET POST", Pattern: "/{Format}/reply/Authenticate", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "Log in with UserName and Password; without them, the session"},
		{Methods: "GET POST", Pattern: "/api/Authenticate", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "The same, the format by negotiation"},

		{Methods: anyMethod, Pattern: "/{Format}/reply/WH_AuditQuery", Role: account.Admin, Kind: "WH_Audit", Serve: s.handlers.queries.serve,
			Operation: "WH_AuditQuery", Summary: "The audit trail, newest first: who changed users, keys and settings"},
		{Methods: anyMethod, Pattern: "/{Format}/oneway/WH_AuditQuery", Role: account.Admin, Kind: "WH_Audit", Serve: s.handlers.queries.serveOneway,
			Status: http.StatusNoContent, Operation: "WH_AuditQuery", Summary: "The same without an answer"},
		{Methods: "GET POST", Pattern: "/Queries/WH_Audit", Role: account.Admin, Kind: "WH_Audit", Serve: s.handlers.queries.serve,
			Operation: "WH_AuditQuery", Summary: "The same, the format by negotiation"},
		{Methods: "GET POST", Pattern: "/api/WH_AuditQuery", Role: account.Admin, Kind: "WH_Audit", Serve: s.handlers.queries.serve,
			Operation: "WH_AuditQuery", Summary: "The same, the format by negotiation"},

		{Methods: anyMethod, Pattern: "/{Format}/reply/QueryRequestLogsGETManyRequest", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.list,
			Operation: logQuery, Summary: "Requests that the service has answered, newest first; of one Date, or with ViewErrors those that failed"},
		{Methods: anyMethod, Pattern: "/{Format}/oneway/QueryRequestLogsGETManyRequest", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.listOneway,
			Status: http.StatusNoContent, Operation: logQuery, Summary: "The same without an answer"},
		{Methods: "GET POST", Pattern: "/api/QueryRequestLogsGETManyRequest", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.list,
			Operation: logQuery, Summary: "The same, the format by negotiation"},
		{Methods: "GET", Pattern: "/Logs", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.list,
			Operation: logQuery, Summary: "The same, the format by negotiation"},
		{Methods: "GET", Pattern: "/Logs/Today", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.of(today, false),
			Operation: logQuery, Summary: "The requests of this day, of UTC"},
		{Methods: "GET", Pattern: "/Logs/Today/Errors", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.of(today, true),
			Operation: logQuery, Summary: "The requests of this day that failed"},
		{Methods: "GET", Pattern: "/Logs/Yesterday", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.of(yesterday, false),
			Operation: logQuery, Summary: "The requests of the day before, of UTC"},
		{Methods: "GET", Pattern: "/Logs/Yesterday/Errors", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.of(yesterday, true),
			Operation: logQuery, Summary: "The requests of the day before that failed"},
		{Methods: "GET", Pattern: "/Logs/{Date}", Role: account.Admin, Kind: "RequestLog", Serve: s.handlers.logs.list,
			Operation: logQuery, Summary: "The requests of one day, of UTC"},

		{Methods: anyMethod, Pattern: "/{Format}/reply/{Operation}", Role: account.Reader, Serve: s.handlers.queries.serve,
			Operation: anyQuery, Summary: "Records of one kind, filtered, ordered and paged"},
		{Methods: anyMethod, Pattern: "/{Format}/oneway/{Operation}", Role: account.Reader, Serve: s.handlers.queries.serveOneway,
			Status: http.StatusNoContent, Operation: anyQuery, Summary: "The same without an answer"},
		{Methods: "GET POST", Pattern: "/Queries/{Kind}", Role: account.Reader, Serve: s.handlers.queries.serve,
			Operation: anyQuery, Summary: "The same, the format by negotiation"},
		{Methods: "GET POST", Pattern: "/api/{Operation}", Role: account.Reader, Serve: s.handlers.queries.serve,
			Operation: anyQuery, Summary: "The same, the format by negotiation"},

		{Methods: "PATCH", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Role: account.Writer, Changes: true, Serve: s.handlers.bills.set,
			Operation: "UpdateBillStageCustomFieldValue", Summary: "Change what a custom field of a bill's stage holds"},
		{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}", Role: account.Reader, Serve: s.handlers.bills.value,
			Operation: "GetBillStageCustomFieldValue", Summary: "What a custom field of a bill's stage holds"},
		{Methods: "GET", Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues", Role: account.Reader, Serve: s.handlers.bills.values,
			Operation: "GetBillStageCustomFieldValues", Summary: "The custom fields of a bill's stage, with what they hold"},
	}
}

// accountRoutes is the part of the table that is about sessions, users and keys.
func (s *Server) accountRoutes() []edge.Route {
	return []edge.Route{
		{Methods: "GET POST", Pattern: "/auth", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "Log in, in a format by negotiation"},
		{Methods: "GET POST", Pattern: "/auth/credentials", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "The same"},
		{Methods: "GET POST", Pattern: "/authenticate", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "The same"},
		{Methods: "GET POST", Pattern: "/auth/logout", Changes: true, Serve: s.handlers.sessions.logout,
			Operation: "Logout", Summary: "End the session"},
		{Methods: "GET POST", Pattern: "/authenticate/credentials", Changes: true, Serve: s.handlers.sessions.logIn,
			Operation: "Authenticate", Summary: "The same"},
		{Methods: "GET POST", Pattern: "/authenticate/logout", Changes: true, Serve: s.handlers.sessions.logout,
			Operation: "Logout", Summary: "The same"},
		{Methods: "GET", Pattern: "/KeepAlive", Role: account.Reader, SignedIn: true, Serve: s.handlers.sessions.keepAlive,
			Status: http.StatusNoContent, Operation: "KeepAlive", Summary: "Let the session go on"},
		{Methods: "GET", Pattern: "/Sessions/Current", Role: account.Reader, SignedIn: true, Serve: s.handlers.sessions.current,
			Operation: "GetSession", Summary: "Who asks, and how they are known"},
		{Methods: "DELETE", Pattern: "/Sessions/Current", Role: account.Reader, SignedIn: true, Changes: true, Serve: s.handlers.sessions.endSession,
			Status: http.StatusNoContent, Operation: "EndSession", Summary: "End the session"},

		{Methods: "GET", Pattern: "/Users", Role: account.Admin, Serve: s.handlers.users.list,
			Operation: "Users", Summary: "The users by name"},
		{Methods: "POST", Pattern: "/Users", Role: account.Admin, Changes: true, Serve: s.handlers.users.add,
			Status: http.StatusCreated, Operation: "AddUser", Summary: "Add a user with UserName, Password, Role and DisplayName"},
		{Methods: "GET", Pattern: "/Users/{UserName}", Role: account.Reader, SignedIn: true, Serve: s.handlers.users.show,
			Operation: "GetUser", Summary: "One user; those who are no admin, themselves only"},
		{Methods: "PATCH", Pattern: "/Users/{UserName}", Role: account.Reader, SignedIn: true, Changes: true, Serve: s.handlers.users.change,
			Operation: "ChangeUser", Summary: "Change DisplayName, Role or Password; those who are no admin, their own, with CurrentPassword and without Role"},
		{Methods: "DELETE", Pattern: "/Users/{UserName}", Role: account.Admin, Changes: true, Serve: s.handlers.users.remove,
			Status: http.StatusNoContent, Operation: "RemoveUser", Summary: "Remove a user and end their sessions"},
		{Methods: "GET", Pattern: "/ApiKeys", Role: account.Admin, Serve: s.handlers.keys.list,
			Operation: "ApiKeys", Summary: "The API keys by name, without the keys themselves"},
		{Methods: "POST", Pattern: "/ApiKeys", Role: account.Admin, Changes: true, Serve: s.handlers.keys.add,
			Status: http.StatusCreated, Operation: "AddApiKey", Summary: "Make an API key with Name, Role and ExpiryDateTime; it is shown this once"},
		{Methods: "GET", Pattern: "/ApiKeys/{KeyID}", Role: account.Admin, Serve: s.handlers.keys.show,
			Operation: "GetApiKey", Summary: "One API key, without the key itself"},
		{Methods: "DELETE", Pattern: "/ApiKeys/{KeyID}", Role: account.Admin, Changes: true, Serve: s.handlers.keys.remove,
			Status: http.StatusNoContent, Operation: "RemoveApiKey", Summary: "End an API key"},
	}
}

// serviceRoutes is the part of the table that is about the service itself.
func (s *Server) serviceRoutes() []edge.Route {
	return []edge.Route{
		{Methods: "GET", Pattern: "/Info", Serve: s.info,
			Operation: "Info", Summary: "Version, time, features and limits of the service"},
		{Methods: "GET", Pattern: "/Settings", Role: account.Admin, Serve: s.settings,
			Operation: "Settings", Summary: "The settings that may change while the service runs"},

		{Methods: "GET", Pattern: "/", Serve: s.home,
			Operation: "Home", Summary: "Sends browsers to the list of operations"},
		{Methods: "GET", Pattern: "/login", Serve: s.handlers.sessions.loginPage,
			Operation: "Login", Summary: "The page to log in on"},
		{Methods: "GET", Pattern: "/metadata", Serve: s.metadata,
			Operation: "GetMetadata", Summary: "What the service can be asked; with op, all about one operation"},
		{Methods: "GET", Pattern: "/{Format}/metadata", Serve: s.metadata,
			Operation: "GetMetadata", Summary: "The same; browsers get a page all the same"},
		{Methods: "GET", Pattern: "/openapi.json", Serve: s.openAPI,
			Operation: "OpenAPI", Summary: "The service's description by OpenAPI 3.1"},
		{Methods: "GET", Pattern: "/types/typescript", Serve: s.typeScript,
			Operation: "TypeScript", Summary: "Types for the TypeScript client of ServiceStack"},

		{Methods: "GET", Pattern: "/healthz", Serve: s.health, Always: true,
			Operation: "Health", Summary: "Whether the process answers"},
		{Methods: "GET", Pattern: "/readyz", Serve: s.ready, Always: true,
			Operation: "Ready", Summary: "Whether the service can do its work"},
		{Methods: "GET", Pattern: "/metrics", Serve: s.metricsPage, Always: true,
			Operation: "Metrics", Summary: "Figures for Prometheus"},
	}
}
