package rest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// operation is a row of the operation table: its role, request members, response and
// routes. The router, the checks and the documentation use it.
type operation struct {
	name     string
	group    string            // heading in the documentation; that of the kind for a query
	summary  string            // empty for that of the kind
	role     account.Role      // the minimum role
	kind     string            // the queried kind, of the service's own kinds
	members  []metadata.Member // in addition to path parameters and the members of every query
	response any               // a value of the response type
	media    string            // media type of a response that is not a document
	formats  []string          // of responses; nil for all
	routes   []edge.Route      // without the fields common to all routes; Summary if it differs
	named    []edge.Route      // the routes by name that routes lacks
}

// The groups of operations, in addition to the areas of the record kinds.
const (
	groupBills    = "Bills of materials"
	groupAccounts = "Accounts"
	groupService  = "Administration"
	groupWebhooks = "Webhooks"
	groupChanges  = "Changes"
	groupFeeds    = "Excel and Power BI"
)

// describe builds the description of the operations in the table and of the queries
// of all record kinds. open reports whether queries need no login.
func describe(d metadata.Service, table []operation, kinds *record.Registry, open bool) *metadata.Service {
	for _, o := range table {
		one := metadata.Operation{Name: o.name, Group: o.group, Summary: o.summary, Members: o.members, Response: o.response, Media: o.media, Formats: o.formats}
		names, plain := o.aliases()
		one.Aliases, one.Divided = names, slices.ContainsFunc(names, func(name string) bool { return len(plain[name]) < len(o.plain()) })
		if r := o.routes[0]; r.Role != account.NoRole && !(open && r.Role == account.Reader && !r.SignedIn) {
			one.Role = r.Role.String()
		}
		of := []*record.Kind{nil}
		if o.name == edge.AnyQuery {
			of = kinds.Kinds()
		} else if kind, ok := record.System().Lookup(o.kind); ok {
			of[0] = kind
		}
		for _, kind := range of {
			d.Operations = append(d.Operations, completeOperation(one, kind, o))
		}
	}
	slices.SortStableFunc(d.Operations, func(a, b metadata.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	return &d
}

// completeOperation completes an operation with its kind and routes.
func completeOperation(o metadata.Operation, kind *record.Kind, row operation) metadata.Operation {
	path := func(pattern string) string { return pattern }
	if kind != nil {
		if o.Name == edge.AnyQuery {
			_, builtin := record.Builtin().Lookup(kind.Name)
			o.Name, o.Compact = kind.Operation(), !builtin
		}
		o.Group, o.Summary, o.Kind, o.Role = kind.Area, cmp.Or(o.Summary, kind.Summary), kind, cmp.Or(kind.Role, o.Role)
		path = kindPath(kind)
	}
	document := func(routes []edge.Route) (all []metadata.Route) {
		for _, r := range routes {
			all = append(all, metadata.Route{Methods: strings.Fields(r.Methods), Path: path(r.Pattern), Summary: r.Summary, Status: r.Status})
		}
		return all
	}
	o.Routes, o.NameRoutes = document(row.routes), document(row.named)
	return o
}

// kindPath inserts a record kind into path patterns.
func kindPath(kind *record.Kind) func(pattern string) string {
	return strings.NewReplacer("{"+edge.ParamOperation+"}", kind.Operation(), "{"+edge.ParamKind+"}", kind.Name).Replace
}

// rank sorts business records first and the service's own operations last.
func rank(o metadata.Operation) int {
	switch {
	case o.Group == groupService:
		return 2
	case o.Kind == nil || o.Kind.Database != record.RecordsDB:
		return 1
	}
	return 0
}
