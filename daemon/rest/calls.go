package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/pages"
)

// pagesOf returns the routes of the pages, which call the operations with the given routes.
func pagesOf(c Config, h *handlers, access *accounts.Access, operations []*edge.CompiledRoute) []edge.Route {
	api := calls{
		resolver:    resolver{edge.NewRouter(operations, c.Edge.BasePath), h.queries},
		access:      access,
		hasWebhooks: c.Engine != nil,
	}
	shown := pages.Config{
		API:           api,
		Webhooks:      c.Engine != nil,
		HasRequestLog: c.RequestLog != nil,
		HasDocs:       c.Manual != nil,
		Version:       c.Version,
		Tries:         triedOperations(h.table),
		Portal:        c.Portal,
	}
	return slices.Concat(pages.Routes(shown), pages.PortalRoutes(shown))
}

// triedOperations returns the operations that the API reference tries by a page.
func triedOperations(table []operation) []string {
	var names []string
	for _, row := range table {
		if !row.isNamed() {
			continue
		}
		op := completeOperation(describeRow(row, false), nil, row)
		if row.kind == "" && op.TriedByPage() {
			names = append(names, op.Name)
		}
	}
	return names
}

// calls calls operations for pages, as the user of the page.
type calls struct {
	resolver    resolver // of the operations
	access      *accounts.Access
	hasWebhooks bool
}

// maxCall is the maximum size of a response, in bytes.
const maxCall = 8 << 20

// Do calls an operation. It has the checks of a request from the network, except those that x has
// passed for both: rate, origin and size.
func (c calls) Do(x *edge.Context, call pages.Call) (pages.Response, error) {
	target, err := url.Parse(x.Base + call.Path)
	if err != nil {
		return pages.Response{}, err
	}
	target.RawQuery = call.Query.Encode()

	r := x.Request.Clone(x.Request.Context())
	r.Method = call.Method
	r.URL = target
	r.Body = http.NoBody
	r.ContentLength = 0
	r.Header = http.Header{"Accept": {"application/json"}}
	for _, name := range edge.Proofs {
		if values := x.Request.Header.Values(name); len(values) > 0 {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	var body []byte
	if call.Body != nil {
		body, err = json.Marshal(call.Body)
		if err != nil {
			return pages.Response{}, err
		}
		r.Header.Set("Content-Type", "application/json")
	}
	return c.serve(x, r, body, call.DryRun)
}

// serve runs the handler of a request that serves x.
func (c calls) serve(x *edge.Context, r *http.Request, body []byte, isDryRun bool) (pages.Response, error) {
	resolved, _, err := c.resolver.resolve(r, x.Options)
	if err != nil {
		return pages.Response{}, err
	}
	if resolved.Route.Webhooks && !c.hasWebhooks {
		return pages.Response{}, errNoWebhooks
	}
	if resolved.Route.Changes && !x.Route.Changes && !isDryRun {
		return pages.Response{}, fmt.Errorf("the page %s must not call %s: it only shows", x.Route.Pattern, r.URL.Path)
	}

	// The path may end with an ID of the page's address, and so like the suffix of a format.
	resolved.Format = edge.ResponseFormat{Format: edge.JSONFormat()}
	kept := &edge.Kept{Room: maxCall}
	inner := x.Inner(r, resolved, body, kept)
	options := *x.Options
	options.CountPages = false // pages request the totals that they show
	inner.Options = &options
	if err := c.access.Authorize(inner); err != nil {
		return pages.Response{}, err
	}
	err = inner.Route.Serve(inner)
	if errors.Is(err, edge.ErrNoRoom) {
		return pages.Response{}, fault.Wrap(err, fault.Invalid,
			"a page shows at most %d bytes of an operation, and %s has more: call the operation with a program",
			maxCall, edge.OperationOf(inner))
	}
	if err != nil {
		return pages.Response{}, err
	}
	if !x.Identity.Known() { // the page needs no login, but the operation has one
		x.Identity = inner.Identity
	}
	for _, cookie := range kept.Header().Values("Set-Cookie") {
		x.Response.Header().Add("Set-Cookie", cookie)
	}
	return pages.Response{Body: kept.Body, Header: kept.Header()}, nil
}
