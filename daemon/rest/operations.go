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
	group    string            // heading in the documentation; empty for a query, which has the area of its kind
	summary  string            // empty for the summary of the kind
	role     account.Role      // the minimum role
	kind     string            // the queried kind, of the service's own kinds
	members  []metadata.Member // in addition to path parameters and the members of every query
	response any               // a value of the response type
	media    string            // media type of a response that is not a document
	formats  []string          // formats of responses; nil for all
	routes   []edge.Route      // without the fields common to all routes; Summary if it differs
	named    []edge.Route      // the routes by name that routes lacks
	kindOf   kindResolver      // for calls by name
}

// kindResolver returns the record kind of a route or in its path, nil if there is none.
type kindResolver func(*edge.Options, *edge.CompiledRoute, edge.Params) (*record.Kind, error)

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
	for _, row := range table {
		op := describeRow(row, open)
		for _, kind := range row.kindsOf(kinds) {
			d.Operations = append(d.Operations, completeOperation(op, kind, row))
		}
	}
	slices.SortStableFunc(d.Operations, func(a, b metadata.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	return &d
}

// kindsOf returns the kinds that the operation queries, each of which has a description of the
// operation. nil stands for no kind.
func (o operation) kindsOf(kinds *record.Registry) []*record.Kind {
	if o.name == edge.AnyQuery {
		return kinds.Kinds()
	}
	kind, _ := record.System().Lookup(o.kind)
	return []*record.Kind{kind}
}

// describeRow describes an operation without its kind and routes.
func describeRow(row operation, open bool) metadata.Operation {
	names, plain := row.aliases()
	op := metadata.Operation{
		Name:     row.name,
		Aliases:  names,
		Divided:  row.isDivided(names, plain),
		Group:    row.group,
		Summary:  row.summary,
		Members:  row.members,
		Response: row.response,
		Media:    row.media,
		Formats:  row.formats,
	}
	if route := row.routes[0]; needsLogin(route, open) {
		op.Role = route.Role.String()
	}
	return op
}

// needsLogin reports whether a route needs a login. open reports whether queries need none.
func needsLogin(route edge.Route, open bool) bool {
	isQuery := route.Role == account.Reader && !route.SignedIn
	if open && isQuery {
		return false
	}
	return route.Role != account.NoRole
}

// isDivided reports whether one of the other names has only some of the operation's plain routes.
func (o operation) isDivided(names []string, plain map[string][]edge.Route) bool {
	routes := len(o.plain())
	return slices.ContainsFunc(names, func(name string) bool { return len(plain[name]) < routes })
}

// completeOperation completes an operation with its kind, nil for none, and its routes.
func completeOperation(op metadata.Operation, kind *record.Kind, row operation) metadata.Operation {
	if kind == nil {
		unchanged := func(pattern string) string { return pattern }
		op.Routes = documentRoutes(row.routes, unchanged)
		op.NameRoutes = documentRoutes(row.named, unchanged)
		return op
	}

	if op.Name == edge.AnyQuery {
		_, builtin := record.Builtin().Lookup(kind.Name)
		op.Name = kind.Operation()
		op.Compact = !builtin
	}
	op.Kind = kind
	op.Group = kind.Area
	op.Summary = cmp.Or(op.Summary, kind.Summary)
	op.Role = cmp.Or(kind.Role, op.Role)
	op.Routes = documentRoutes(row.routes, kindPath(kind))
	op.NameRoutes = documentRoutes(row.named, kindPath(kind))
	return op
}

// documentRoutes returns the description of routes. path turns a pattern into a path.
func documentRoutes(routes []edge.Route, path func(pattern string) string) []metadata.Route {
	var documented []metadata.Route
	for _, r := range routes {
		documented = append(documented, metadata.Route{
			Methods: strings.Fields(r.Methods),
			Path:    path(r.Pattern),
			Summary: r.Summary,
			Status:  r.Status,
		})
	}
	return documented
}

// kindPath inserts a record kind into path patterns.
func kindPath(kind *record.Kind) func(pattern string) string {
	return strings.NewReplacer(
		"{"+edge.ParamOperation+"}", kind.Operation(),
		"{"+edge.ParamKind+"}", kind.Name,
	).Replace
}

// rank sorts business records first and the service's own operations last.
func rank(o metadata.Operation) int {
	if o.Group == groupService {
		return 2
	}
	if o.Kind == nil || o.Kind.Database != record.RecordsDB {
		return 1
	}
	return 0
}
