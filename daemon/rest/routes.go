package rest

import "github.com/bizhook/whd/daemon/account"

// route is one row of the route table. Everything that is true of a route
// stands here: the router, the checks and the documentation read it.
type route struct {
	methods   string // separated by spaces; GET includes HEAD
	pattern   string // literal segments in any letter case, {Name} for one segment
	role      account.Role
	serve     func(*Server, *exchange) error
	summary   string
	operation string // of documents about it
	kinds     bool   // {Kind} is a record kind
	always    bool   // served even when the service is full, and not counted
}

const anyMethod = "GET POST PUT PATCH DELETE"

// routes is the table, in the order of contract.md section 1.
func routes() []route {
	return []route{
		{methods: anyMethod, pattern: "/{Format}/reply/{Kind}Query", role: account.Reader, serve: (*Server).query, kinds: true,
			operation: "Query", summary: "Records of one kind, filtered, ordered and paged"},
		{methods: anyMethod, pattern: "/{Format}/oneway/{Kind}Query", role: account.Reader, serve: (*Server).queryOneway, kinds: true,
			operation: "Query", summary: "The same without an answer"},
		{methods: "GET POST", pattern: "/Queries/{Kind}", role: account.Reader, serve: (*Server).query, kinds: true,
			operation: "Query", summary: "The same, the format by negotiation"},
		{methods: "GET POST", pattern: "/api/{Kind}Query", role: account.Reader, serve: (*Server).query, kinds: true,
			operation: "Query", summary: "The same, the format by negotiation"},

		{methods: "GET POST", pattern: "/auth", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "Log in with UserName and Password; without them, the session"},
		{methods: "GET POST", pattern: "/auth/credentials", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "The same"},
		{methods: "GET POST", pattern: "/authenticate", serve: (*Server).authenticate,
			operation: "Authenticate", summary: "The same"},
		{methods: anyMethod, pattern: "/{Format}/reply/Authenticate", serve: (*Server).authenticate,
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
