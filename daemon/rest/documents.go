package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/metrics"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// memberOperation names the operation that /metadata is to tell about.
const memberOperation = "op"

// Describe is what a service with the standard settings says of itself, for
// documents that are written before one runs.
func Describe() *metadata.Service {
	c := Config{Registry: record.Builtin()}
	return describe(newHandlers(c, new(metrics.Metrics)), c, false)
}

// documents are the handlers of what the service says of itself.
type documents struct {
	access *access
	closed description
	open   description // the same where queries need no login
}

// description is the documents about a service, each made when it is first asked
// for.
type description struct {
	service    func() *metadata.Service
	openAPI    func() ([]byte, error)
	typeScript func() []byte
}

func newDescription(h *handlers, c Config, open bool) description {
	service := sync.OnceValue(func() *metadata.Service { return describe(h, c, open) })
	return description{
		service:    service,
		openAPI:    sync.OnceValues(func() ([]byte, error) { return service().OpenAPI() }),
		typeScript: sync.OnceValue(func() []byte { return service().TypeScript() }),
	}
}

// of are the documents by the settings that the request goes by.
func (h *documents) of(x *edge.Context) *description {
	if x.Options.AnonymousQueries {
		return &h.open
	}
	return &h.closed
}

// describe puts together what the documents tell of: the operations of the table,
// and the query of each record kind. Queries are open where they need no login.
func describe(h *handlers, c Config, open bool) *metadata.Service {
	d := &metadata.Service{Version: c.Version, Base: c.Edge.BasePath, HostURL: c.Edge.HostURL}
	for _, o := range h.table {
		one := metadata.Operation{Name: o.name, Group: o.group, Summary: o.summary, Members: o.members, Answer: o.answer, Media: o.media}
		if r := o.routes[0]; r.Role != account.NoRole && !(open && r.Role == account.Reader && !r.SignedIn) {
			one.Role = r.Role.String()
		}
		kinds := []*record.Kind{nil}
		if o.name == anyQuery {
			kinds = h.queries.registry.Kinds()
		} else if kind, ok := h.queries.system.Lookup(o.kind); ok {
			kinds[0] = kind
		}
		for _, kind := range kinds {
			d.Operations = append(d.Operations, described(one, kind, o.routes))
		}
	}
	slices.SortStableFunc(d.Operations, func(a, b metadata.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	return d
}

// described is an operation as the documents show it, with its kind and routes.
func described(o metadata.Operation, kind *record.Kind, routes []edge.Route) metadata.Operation {
	path := func(pattern string) string { return pattern }
	if kind != nil {
		if o.Name == anyQuery {
			o.Name = kind.Operation()
		}
		o.Group, o.Summary, o.Kind = kind.Area, cmp.Or(o.Summary, kind.Summary), kind
		path = kindPath(kind)
	}
	for _, r := range routes {
		o.Routes = append(o.Routes, metadata.Route{Methods: strings.Fields(r.Methods), Path: path(r.Pattern), Summary: r.Summary, Status: r.Status})
	}
	return o
}

// kindPath puts a record kind into the patterns of paths that name any.
func kindPath(kind *record.Kind) func(pattern string) string {
	return strings.NewReplacer("{"+edge.ParamOperation+"}", kind.Operation(), "{"+edge.ParamKind+"}", kind.Name).Replace
}

// rank puts the records of the business first, and what the service tells of
// itself last.
func rank(o metadata.Operation) int {
	switch {
	case o.Group == groupService:
		return 2
	case o.Kind == nil || o.Kind.Database != record.InRecords:
		return 1
	}
	return 0
}

// home sends browsers to the list of operations. Programs have no business at
// the root.
func (h *documents) home(x *edge.Context) error {
	if !x.HTML() {
		return edge.NotFound()
	}
	return x.Redirect(http.StatusFound, x.Base+"/metadata")
}

// metadata tells what the service can be asked, or all about one operation: as
// a page to browsers, also where the path names another format.
func (h *documents) metadata(x *edge.Context) error {
	h.access.recognise(x)
	page := x.HTML() || x.Params.Get(edge.ParamFormat) != "" && x.URLMembers.Text(query.Format) == "" && edge.AcceptedFormat(x.Request.Header.Get("Accept")).Name == "html"
	name, d := x.URLMembers.Text(memberOperation), h.of(x).service()
	if name == "" {
		if page {
			text, err := d.IndexPage(siteOf(x), urlOf(x))
			return x.Send(htmlType, text, err)
		}
		return x.Document(http.StatusOK, "Metadata", d.Document(urlOf(x)))
	}
	o, ok := d.Lookup(name)
	if !ok {
		names := d.Names()
		if near := record.Near(name, names); near != nil {
			names = near
		}
		return fault.New(fault.NotFound, "there is no operation %s; there are: %s", edge.Clean(name), strings.Join(names, ", "))
	}
	if page {
		text, err := d.Page(o, siteOf(x), urlOf(x))
		return x.Send(htmlType, text, err)
	}
	return x.Document(http.StatusOK, "Metadata", d.About(o, urlOf(x)))
}

// urlOf is the service's address as the asker reached it.
func urlOf(x *edge.Context) string {
	scheme := "http"
	if x.Origin.Secure {
		scheme = "https"
	}
	return scheme + "://" + x.Origin.Host + x.Base
}

const htmlType = "text/html; charset=utf-8"

func (h *documents) openAPI(x *edge.Context) error {
	text, err := h.of(x).openAPI()
	return x.Send("application/json", text, err)
}

func (h *documents) typeScript(x *edge.Context) error {
	return x.Send("text/plain; charset=utf-8", h.of(x).typeScript(), nil)
}
