package rest

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// LimitChanges sets the rate limit of subscription changes by SubscriberID until the
// test ends.
func LimitChanges(t *testing.T, r edge.Rate) {
	before := changeRate
	changeRate = r
	t.Cleanup(func() { changeRate = before })
}

// testRoutes returns the table of routes.
func testRoutes() []edge.Route { return routesOf(newTable(new(handlers))) }

// NamedOperation is a name by which an operation can be called.
type NamedOperation struct {
	Name  string
	Query bool
	Plain []edge.Route // the routes that do not call it by the name
	Named []edge.Route // those that do
}

// NamedOperations returns all names of all operations, with the record kinds in the
// patterns.
func NamedOperations() (all []NamedOperation) {
	for _, o := range newTable(new(handlers)) {
		if o.name == edge.AnyQuery {
			for _, kind := range record.Builtin().Kinds() {
				n := NamedOperation{Name: kind.Operation(), Query: true}
				for _, r := range o.routes {
					r.Pattern = kindPath(kind)(r.Pattern)
					if r.ByName {
						n.Named = append(n.Named, r)
					} else {
						n.Plain = append(n.Plain, r)
					}
				}
				all = append(all, n)
			}
			continue
		}
		byName := slices.DeleteFunc(slices.Clone(o.routes), func(r edge.Route) bool { return !r.ByName })
		all = append(all, NamedOperation{o.name, o.kind != "", o.plain(), append(byName, o.named...)})
		names, plain := o.aliases()
		for _, name := range names {
			all = append(all, NamedOperation{name, o.kind != "", plain[name], o.byName(name, plain[name])})
		}
	}
	return all
}

// Routes returns all routes, with the names of their operations.
func Routes() []edge.Route { return testRoutes() }
