package rest

import "github.com/bizhook/whd/daemon/account"

// route is one row of the route table. Everything that is true of a route
// stands here: the router, the checks and the documentation read it.
type route struct {
	methods   string // separated by spaces; GET includes HEAD
	pattern   string // literal segments in any letter case, {Name} for any one segment
	role      account.Role
	serve     func(*Server, *exchange) error
	summary   string
	operation string // of documents about it
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
func routes() []route {
	return []route{
		{methods: "GET POST", pattern: "/{Format}/reply/Authenticate", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "Log in with UserName and Password; without them, the session"},

		{methods: anyMethod, pattern: "/{Format}/reply/{Operation}", role: account.Reader, serve: (*Server).query,
			operation: "Query", summary: "Records of one kind, filtered, ordered and paged"},
		{methods: anyMethod, pattern: "/{Format}/oneway/{Operation}", role: account.Reader, serve: (*Server).queryOneway,
			operation: "Query", summary: "The same without an answer"},
		{methods: "GET POST", pattern: "/Queries/{Kind}", role: account.Reader, serve: (*Server).query,
			operation: "Query", summary: "The same, the format by negotiation"},
		{methods: "GET POST", pattern: "/api/{Operation}", role: account.Reader, serve: (*Server).query,
			operation: "Query", summary: "The same, the format by negotiation"},

		{methods: "GET POST", pattern: "/auth", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "Log in, in a format by negotiation"},
		{methods: "GET POST", pattern: "/auth/credentials", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/authenticate", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/auth/logout", serve: (*Server).logout,
			operation: "Logout", summary: "End the session"},

		{methods: "GET", pattern: "/healthz", serve: (*Server).health, always: true,
			operation: "Health", summary: "Whether the process answers"},
		{methods: "GET", pattern: "/readyz", serve: (*Server).ready, always: true,
			operation: "Ready", summary: "Whether the service can do its work"},
		{methods: "GET", pattern: "/metrics", serve: (*Server).metricsPage, always: true,
			operation: "Metrics", summary: "Figures for Prometheus"},
	}
}
