package rest

import (
	"net/http"
	"net/url"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// Catalogue finds the operations of requests without serving them.
type Catalogue struct {
	router  *edge.Router
	queries *queries.Handler
	kinds   *record.Registry
}

// NewCatalogue returns the catalogue of a service with these record kinds.
func NewCatalogue(kinds *record.Registry) *Catalogue {
	described := describedTable()
	return &Catalogue{
		router:  edge.NewRouter(edge.Compile(routesOf(described)), ""),
		queries: &queries.Handler{System: record.System(), Names: names(described)},
		kinds:   kinds,
	}
}

// Operation returns the name of the operation for a request, and false if there is none. The
// path may be escaped.
func (c *Catalogue) Operation(method, path string) (name string, ok bool) {
	m, allow, err := c.router.Find(method, path)
	if fault.Is(err, fault.Malformed) {
		m, allow, err = c.router.Find(method, (&url.URL{Path: path}).EscapedPath())
	}
	if method == http.MethodOptions && allow != nil {
		return http.MethodOptions, true
	}
	if err != nil {
		return "", false
	}
	kind, err := c.queries.Kind(&edge.Options{Registry: c.kinds}, m.Route, m.Params)
	if err != nil {
		return "", false
	}
	if m.Route.Operation == edge.AnyQuery {
		return kind.Operation(), true
	}
	return m.Route.Operation, true
}
