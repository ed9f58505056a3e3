package rest

import (
	"cmp"
	"slices"

	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// anyMethod lists the methods of routes that accept all members in any way.
const anyMethod = "GET POST PUT PATCH DELETE"

// newTable returns the table of operations. The first matching route is used.
func newTable(h *handlers) []operation {
	table := slices.Concat(
		recordOperations(h),
		feedOperations(h),
		accountOperations(h),
		serviceOperations(h),
		typesOperations(h),
		webhookOperations(h),
		messageOperations(h),
	)
	for i := range table {
		o := &table[i]
		o.kindOf = h.queries.Kind
		o.members = append(pathMembers(o), o.members...)
		o.completeRoutes()
		if o.isNamed() {
			o.named = o.byName(o.name, o.plain())
		}
	}
	return table
}

// describedTable returns the table of all operations with their names, members and routes,
// which do not depend on handlers: handlers that need only these are built with it.
func describedTable() []operation { return newTable(new(handlers)) }

// completeRoutes sets the fields that the routes of an operation have in common.
func (o *operation) completeRoutes() {
	for i := range o.routes {
		r := &o.routes[i]
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
}

// routesOf returns the routes of all operations. Those for any query come last, since
// their paths match any name.
func routesOf(table []operation) []edge.Route {
	var routes, queryRoutes []edge.Route
	for i := range table {
		o := &table[i]
		if o.name == edge.AnyQuery {
			queryRoutes = append(queryRoutes, o.routes...)
			continue
		}
		routes = append(routes, o.routes...)
		routes = append(routes, o.named...)
		names, plain := o.aliases()
		for _, name := range names {
			routes = append(routes, o.byName(name, plain[name])...)
		}
	}
	routes = append(routes, queryRoutes...)
	return append(routes, icon)
}

// icon is the path that browsers request with the first page of a host. Without a route, each
// of them would add an error to the request log. It is not an operation.
var icon = edge.Route{
	Methods:   "GET",
	Pattern:   "/favicon.ico",
	Operation: "Icon",
	Always:    true,
	Serve:     sendIcon,
}

// sendIcon sends the icon, which browsers keep for a week.
func sendIcon(x *edge.Context) error {
	x.Response.Header().Set("Cache-Control", "public, max-age=604800")
	return x.Send("image/png", encode.Icon, nil)
}

// pathMembers returns the path parameters that an operation does not document itself.
func pathMembers(o *operation) []metadata.Member {
	if o.name == edge.AnyQuery {
		return nil
	}
	var members []metadata.Member
	for _, r := range o.routes {
		for _, name := range pathNames(r) {
			hasName := func(m metadata.Member) bool { return m.Name == name }
			if !slices.ContainsFunc(o.members, hasName) && !slices.ContainsFunc(members, hasName) {
				members = append(members, metadata.Member{Name: name, Type: "string", Required: true})
			}
		}
	}
	return members
}
