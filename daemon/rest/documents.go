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
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// memberOperation names the operation that /metadata is to tell about.
const memberOperation = "op"

// operation is a row of the table of routes: one thing that the service does, who
// may ask for it, what a request and its reply hold, and the routes that lead to
// it. The router, the checks and the documents read it.
type operation struct {
	name    string
	group   string            // of operations that belong together; a query has that of its kind
	summary string            // a query has that of its kind where it is empty
	role    account.Role      // the least that it takes
	kind    string            // that it queries, of those that the service itself keeps
	members []metadata.Member // beside those in paths, and those of every query
	answer  any               // a value of the type of the reply
	media   string            // of a reply that is no document
	routes  []edge.Route      // without what is the same for all of them; Summary where it differs
}

// The groups of operations beside those of the record kinds, which are the
// parts of the business.
const (
	groupBills    = "Bills of materials"
	groupAccounts = "Accounts"
	groupService  = "Administration"
	groupWebhooks = "Webhooks"
)

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

func newDescription(describe func() *metadata.Service) description {
	service := sync.OnceValue(describe)
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
func describe(d metadata.Service, table []operation, q *queries, open bool) *metadata.Service {
	for _, o := range table {
		one := metadata.Operation{Name: o.name, Group: o.group, Summary: o.summary, Members: o.members, Response: o.answer, Media: o.media}
		if r := o.routes[0]; r.Role != account.NoRole && !(open && r.Role == account.Reader && !r.SignedIn) {
			one.Role = r.Role.String()
		}
		kinds := []*record.Kind{nil}
		if o.name == anyQuery {
			kinds = q.registry.Kinds()
		} else if kind, ok := q.system.Lookup(o.kind); ok {
			kinds[0] = kind
		}
		for _, kind := range kinds {
			d.Operations = append(d.Operations, described(one, kind, o.routes))
		}
	}
	slices.SortStableFunc(d.Operations, func(a, b metadata.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	return &d
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
		if near := record.Suggest(name, names); near != nil {
			names = near
		}
		return fault.New(fault.NotFound, "there is no operation %s; there are: %s", edge.Clean(name), strings.Join(names, ", "))
	}
	if page {
		text, err := d.Page(o, siteOf(x), urlOf(x))
		return x.Send(htmlType, text, err)
	}
	return x.Document(http.StatusOK, "Metadata", d.OperationDocument(o, urlOf(x)))
}

// urlOf is the service's address as the asker reached it.
func urlOf(x *edge.Context) string {
	scheme := "http"
	if x.Origin.Secure {
		scheme = "https"
	}
	return scheme + "://" + x.Origin.Host + x.Base
}

func (h *documents) openAPI(x *edge.Context) error {
	text, err := h.of(x).openAPI()
	return x.Send("application/json", text, err)
}

func (h *documents) typeScript(x *edge.Context) error {
	return x.Send("text/plain; charset=utf-8", h.of(x).typeScript(), nil)
}
