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
	s := &Server{config: Config{Registry: record.Builtin()}, handlers: newHandlers(Config{}, new(metrics.Metrics))}
	s.router = edge.NewRouter(s.routes(), "")
	return s.describe(false)
}

// documents are what the service says of itself, each made when it is first
// asked for.
type documents struct {
	description func() *metadata.Service
	openAPI     func() ([]byte, error)
	typeScript  func() []byte
}

func (s *Server) newDocuments(open bool) *documents {
	d := &documents{description: sync.OnceValue(func() *metadata.Service { return s.describe(open) })}
	d.openAPI = sync.OnceValues(func() ([]byte, error) { return d.description().OpenAPI() })
	d.typeScript = sync.OnceValue(func() []byte { return d.description().TypeScript() })
	return d
}

// documentsFor are the documents by the settings that the request goes by.
func (s *Server) documentsFor(x *edge.Context) *documents {
	if x.Options.AnonymousQueries {
		return s.openDocuments
	}
	return s.documents
}

// describe puts together what the documents tell of: each route's operation,
// with all routes that lead to it. Queries are open where they need no login.
func (s *Server) describe(open bool) *metadata.Service {
	d := &metadata.Service{Version: s.config.Version, Base: s.router.BasePath(), HostURL: s.config.HostURL}
	facts := operations()
	for _, r := range s.routes() {
		for _, o := range s.operationsOf(r, roleName(r, open), facts) {
			at := slices.IndexFunc(d.Operations, func(known metadata.Operation) bool { return known.Name == o.Name })
			if at < 0 {
				at = len(d.Operations)
				o.Routes = nil
				d.Operations = append(d.Operations, o)
			}
			d.Operations[at].Routes = append(d.Operations[at].Routes, describedRoute(r, o))
		}
	}
	slices.SortStableFunc(d.Operations, func(a, b metadata.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	return d
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

// operationsOf are the operations that a route leads to: one, or the query of
// each record kind.
func (s *Server) operationsOf(r edge.Route, role string, facts []metadata.Operation) []metadata.Operation {
	if r.Operation != anyQuery {
		o := fact(facts, r.Operation)
		o.Role = role
		if kind, ok := s.handlers.queries.system.Lookup(r.Kind); ok {
			o.Group, o.Summary, o.Kind = kind.Area, cmp.Or(o.Summary, kind.Summary), kind
		}
		return []metadata.Operation{o}
	}
	var all []metadata.Operation
	for _, kind := range s.config.Registry.Kinds() {
		all = append(all, metadata.Operation{Name: kind.Operation(), Group: kind.Area, Summary: kind.Summary, Kind: kind, Role: role})
	}
	return all
}

func fact(facts []metadata.Operation, name string) metadata.Operation {
	for _, o := range facts {
		if o.Name == name {
			return o
		}
	}
	return metadata.Operation{Name: name, Group: groupService}
}

func roleName(r edge.Route, open bool) string {
	if r.Role == account.NoRole || open && r.Role == account.Reader && !r.SignedIn {
		return ""
	}
	return r.Role.String()
}

// describedRoute is a route as the documents show it: to one operation.
func describedRoute(r edge.Route, o metadata.Operation) metadata.Route {
	path := r.Pattern
	if o.Kind != nil {
		path = strings.NewReplacer("{"+edge.ParamOperation+"}", o.Kind.Operation(), "{"+edge.ParamKind+"}", o.Kind.Name).Replace(path)
	}
	return metadata.Route{Methods: strings.Fields(r.Methods), Path: path, Summary: r.Summary, Status: r.Status}
}

// home sends browsers to the list of operations. Programs have no business at
// the root.
func (s *Server) home(x *edge.Context) error {
	if !x.HTML() {
		return edge.NotFound()
	}
	return x.Redirect(http.StatusFound, x.Base+"/metadata")
}

// metadata tells what the service can be asked, or all about one operation: as
// a page to browsers, also where the path names another format.
func (s *Server) metadata(x *edge.Context) error {
	s.handlers.access.recognise(x)
	page := x.HTML() || x.Params.Get(edge.ParamFormat) != "" && x.URLMembers.Text(query.Format) == "" && edge.AcceptedFormat(x.Request.Header.Get("Accept")).Name == "html"
	name, d := x.URLMembers.Text(memberOperation), s.documentsFor(x).description()
	if name == "" {
		if page {
			text, err := d.IndexPage(siteOf(x), urlOf(x))
			return x.Send(htmlType, text, err)
		}
		return x.Document(http.StatusOK, "Metadata", d.Document(urlOf(x)))
	}
	o, ok := d.Lookup(name)
	if !ok {
		return noOperation(name, d.Names())
	}
	if page {
		text, err := d.Page(o, siteOf(x), urlOf(x))
		return x.Send(htmlType, text, err)
	}
	return x.Document(http.StatusOK, "Metadata", d.About(o, urlOf(x)))
}

func noOperation(name string, names []string) error {
	if near := record.Near(name, names); near != nil {
		names = near
	}
	return fault.New(fault.NotFound, "there is no operation %s; there are: %s", edge.Clean(name), strings.Join(names, ", "))
}

// url is the service's address as the asker reached it.
func urlOf(x *edge.Context) string {
	scheme := "http"
	if x.Origin.Secure {
		scheme = "https"
	}
	return scheme + "://" + x.Origin.Host + x.Base
}

const htmlType = "text/html; charset=utf-8"

func (s *Server) openAPI(x *edge.Context) error {
	text, err := s.documentsFor(x).openAPI()
	return x.Send("application/json", text, err)
}

func (s *Server) typeScript(x *edge.Context) error {
	return x.Send("text/plain; charset=utf-8", s.documentsFor(x).typeScript(), nil)
}
