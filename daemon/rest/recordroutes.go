package rest

import (
	"net/http"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/feeds"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// recordOperations are the operations on records, logs and bills.
func recordOperations(h *handlers) []operation {
	return []operation{
		{
			name:     "Authenticate",
			group:    groupAccounts,
			summary:  "Log in, or get the current session",
			response: wire.AuthenticateResponse{},
			members: []metadata.Member{
				{Name: accounts.MemberUser, Type: "string", Help: "omit it and Password to get the current session"},
				{Name: accounts.MemberPassword, Type: "string", Secret: true, Help: "the user's password"},
				{Name: accounts.MemberRemember, Type: "bool", Help: "keep the session when the browser is closed"},
				{Name: accounts.MemberProvider, Type: "string", Help: "credentials, or logout"},
				{Name: accounts.MemberRedirect, Type: "string", Help: "page to show after a login in a browser"},
			},
			routes: []edge.Route{
				{
					Methods: anyMethod,
					Pattern: "/{Format}/reply/Authenticate",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "Log in with UserName and Password, or get the current session without them",
				},
				{
					Methods: anyMethod,
					Pattern: "/api/Authenticate",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "The same, with content negotiation",
				},
				{
					Methods: "GET POST",
					Pattern: "/auth",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "Log in, with content negotiation",
				},
				{
					Methods: "GET POST",
					Pattern: "/auth/credentials",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "The same",
				},
				{
					Methods: "GET POST",
					Pattern: "/authenticate",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "The same",
				},
				{
					Methods: "GET POST",
					Pattern: "/authenticate/credentials",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "The same",
				},
				{
					Methods: "POST PUT DELETE",
					Pattern: "/login",
					Changes: true,
					Serve:   h.accounts.Sessions.LogIn,
					Summary: "The same",
				},
			},
		},
		{
			name: "WH_AuditQuery",
			role: account.Admin,
			kind: "WH_Audit",
			routes: []edge.Route{
				{
					Methods: anyMethod,
					Pattern: "/{Format}/reply/WH_AuditQuery",
					Serve:   h.queries.Serve,
					Summary: "The audit trail of administrative changes, newest first",
				},
				{
					Methods: anyMethod,
					Pattern: "/{Format}/oneway/WH_AuditQuery",
					Serve:   h.queries.Serve,
					Summary: "The same without a response",
				},
				{
					Methods: "GET POST",
					Pattern: "/Queries/WH_Audit",
					Serve:   h.queries.Serve,
					Summary: "The same, with content negotiation",
				},
				{
					Methods: "GET POST",
					Pattern: "/api/WH_AuditQuery",
					Serve:   h.queries.Serve,
					Summary: "The same, with content negotiation",
				},
			},
		},
		{
			name: logQuery,
			role: account.Admin,
			kind: "RequestLog",
			members: []metadata.Member{
				{
					Name: memberDate,
					Type: "DateTime",
					Help: "one UTC day; if omitted, all days, or today if the setting requestlog.today is true",
				},
				{Name: memberViewErrors, Type: "bool", Help: "failed requests only"},
				{
					Name: memberWithoutOwn,
					Type: "bool",
					Help: "leave out requests with the same user or API key, session and User-Agent as this request",
				},
			},
			routes: []edge.Route{
				{
					Methods: anyMethod,
					Pattern: "/{Format}/reply/QueryRequestLogsGETManyRequest",
					Serve:   h.logs.list,
					Summary: "Logged requests, newest first; limited to a day by Date, or to failed requests by ViewErrors",
				},
				{
					Methods: anyMethod,
					Pattern: "/{Format}/oneway/QueryRequestLogsGETManyRequest",
					Serve:   h.logs.list,
					Summary: "The same without a response",
				},
				{
					Methods: "GET POST",
					Pattern: "/api/QueryRequestLogsGETManyRequest",
					Serve:   h.logs.list,
					Summary: "The same, with content negotiation",
				},
				{
					Methods: "GET",
					Pattern: "/Logs",
					Serve:   h.logs.list,
					Summary: "The same, with content negotiation",
				},
				{
					Methods: "GET",
					Pattern: "/Logs/Today",
					Serve:   h.logs.during(today, false),
					Summary: "The requests of today (UTC)",
				},
				{
					Methods: "GET",
					Pattern: "/Logs/Today/Errors",
					Serve:   h.logs.during(today, true),
					Summary: "The failed requests of today (UTC)",
				},
				{
					Methods: "GET",
					Pattern: "/Logs/Yesterday",
					Serve:   h.logs.during(yesterday, false),
					Summary: "The requests of yesterday (UTC)",
				},
				{
					Methods: "GET",
					Pattern: "/Logs/Yesterday/Errors",
					Serve:   h.logs.during(yesterday, true),
					Summary: "The failed requests of yesterday (UTC)",
				},
				{
					Methods: "GET",
					Pattern: "/Logs/{Date}",
					Serve:   h.logs.list,
					Summary: "The requests of one UTC day",
				},
			},
		},
		{
			name:     "Changes",
			group:    groupChanges,
			role:     account.Reader,
			summary:  "The changes of a record kind",
			response: wire.Changes{},
			formats:  queries.ChangeFormats,
			members: []metadata.Member{
				{Name: edge.ParamKind, Type: "string", Required: true, Help: "a captured record kind"},
				{
					Name: queries.MemberSince,
					Type: "string",
					Help: "the token of the previous page; without it, the response has no changes, only the current token",
				},
				{
					Name: queries.MemberTake,
					Type: "int",
					Help: "maximum number of changes, from 1 to 1000; default: 1000",
				},
				{
					Name: queries.MemberWait,
					Type: "int",
					Help: "seconds to wait for a change if there is none, from 0 to 60; default: 0",
				},
			},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Queries/{Kind}/Changes",
					Serve:   h.queries.Changes,
					Summary: "The changes of a record kind since a token, in order, as JSON or NDJSON; waits for the next one with Wait",
				},
			},
		},
		{
			name:     "Captures",
			group:    groupChanges,
			role:     account.Admin,
			summary:  "The state of the capture of changes, by record kind",
			response: []wire.Capture{},
			members:  form.PageMembers,
			routes: []edge.Route{
				{Methods: "GET", Pattern: "/Changes", Serve: h.captures.list},
			},
		},
		{
			name:    "ResumeCapture",
			group:   groupChanges,
			role:    account.Admin,
			summary: "Resume the capture of a record kind that has stopped",
			members: []metadata.Member{
				{Name: edge.ParamKind, Type: "string", Required: true},
				{
					Name:     memberMode,
					Type:     "string",
					Required: true,
					Help:     "raise: deliver all changes since the stop; silent: forget the rows known so far, so that followers must reload",
				},
			},
			routes: []edge.Route{
				{
					Methods: "POST",
					Pattern: "/Changes/{Kind}/Resume",
					Changes: true,
					Status:  http.StatusNoContent,
					Serve:   h.captures.resume,
				},
			},
		},
		{
			name: edge.AnyQuery,
			role: account.Reader,
			routes: []edge.Route{
				{
					Methods: anyMethod,
					Pattern: "/{Format}/reply/{Operation}",
					Serve:   h.queries.Serve,
					Summary: "Records of one kind, filtered, ordered and paged",
				},
				{
					Methods: anyMethod,
					Pattern: "/{Format}/oneway/{Operation}",
					Serve:   h.queries.Serve,
					Summary: "The same without a response",
				},
				{
					Methods: "GET POST",
					Pattern: "/Queries/{Kind}",
					Serve:   h.queries.Serve,
					Summary: "The same, with content negotiation",
				},
				{
					Methods: "GET POST",
					Pattern: "/api/{Operation}",
					Serve:   h.queries.Serve,
					Summary: "The same, with content negotiation",
				},
			},
		},
		{
			name:     "UpdateBillStageCustomFieldValue",
			group:    groupBills,
			role:     account.Writer,
			summary:  "Update a custom field value of a bill's stage",
			response: wire.CustomFieldValue{},
			members: []metadata.Member{
				{Name: "Contents", Type: "string", Required: true, Help: "an empty string clears the value"},
			},
			routes: []edge.Route{
				{
					Methods: "PATCH",
					Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}",
					Changes: true,
					Serve:   h.bills.set,
				},
			},
		},
		{
			name:     "GetBillStageCustomFieldValue",
			group:    groupBills,
			role:     account.Reader,
			summary:  "A custom field value of a bill's stage",
			response: wire.CustomFieldValue{},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues/{SettingID}",
					Serve:   h.bills.value,
				},
			},
		},
		{
			name:     "GetBillStageCustomFieldValues",
			group:    groupBills,
			role:     account.Reader,
			summary:  "The custom field values of a bill's stage",
			response: []wire.CustomFieldValue{},
			routes: []edge.Route{
				{
					Methods: "GET",
					Pattern: "/Bills/{BillID}/Stages/{StageID}/CustomFieldValues",
					Serve:   h.bills.values,
				},
			},
		},
	}
}

// feedOperations are those of OData. Their paths are exact, and they have no other names.
func feedOperations(h *handlers) []operation {
	route := func(pattern string, serve func(*edge.Context) error) []edge.Route {
		return []edge.Route{{Methods: "GET", Pattern: pattern, Serve: serve}}
	}
	return []operation{
		{
			name:    "ODataService",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "The record kinds as entity sets of OData 4.0, read only",
			media:   "application/json",
			routes:  route(feeds.PathService, h.feeds.Service),
		},
		{
			name:    "ODataMetadata",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "The types of the entity sets, as CSDL",
			media:   "application/xml",
			routes:  route(feeds.PathMetadata, h.feeds.Metadata),
		},
		{
			name:    "ODataFile",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "A file with which Power BI Desktop connects to a record kind",
			media:   "application/json",
			routes:  route(feeds.PathFile, h.feeds.File),
		},
		{
			name:    "ODataCount",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "The number of records that match $filter",
			media:   "text/plain",
			routes:  route(feeds.PathCount, h.feeds.Count),
		},
		{
			name:    "ODataEntity",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "The record with a key",
			media:   "application/json",
			members: []metadata.Member{
				{
					Name:     feeds.ParamKey,
					Type:     "string",
					Required: true,
					Help:     "the value of the key, or Name=value for each of its fields",
				},
			},
			routes: route(feeds.PathEntity, h.feeds.Entity),
		},
		{
			name:    "ODataRows",
			group:   groupFeeds,
			role:    account.Reader,
			summary: "Records with $select, $filter, $orderby, $top, $skip and $count",
			media:   "application/json",
			routes:  route(feeds.PathRows, h.feeds.Rows),
		},
	}
}
