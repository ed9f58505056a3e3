package rest

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/accounts"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
	"github.com/bizhook/whd/daemon/rest/queries"
)

// memberOperation names the operation that /metadata describes.
const memberOperation = "op"

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

// documents has the handlers of the service's documentation.
type documents struct {
	access   *accounts.Access
	describe func(kinds *record.Registry, to audience) *metadata.Service

	mu    sync.Mutex
	of    *record.Registry // the kinds that the cached descriptions are of
	cache map[audience]*description
}

// audience is a group of callers with the same description of a service.
type audience struct {
	role account.Role // NoRole if no kind requires a role
	open bool         // queries need no login
	iso  bool         // dates of webhooks are in ISO 8601 by the settings
}

// description holds the documents about a service, each built on first use.
type description struct {
	service func() *metadata.Service
	openAPI func() []byte
	swagger func() []byte
	types   map[*metadata.Language]func() (*metadata.Types, error)
}

func newDescription(describe func() *metadata.Service) *description {
	service := sync.OnceValue(describe)
	d := &description{
		service: service,
		openAPI: sync.OnceValue(func() []byte { return service().OpenAPI() }),
		swagger: sync.OnceValue(func() []byte { return service().Swagger() }),
		types:   make(map[*metadata.Language]func() (*metadata.Types, error)),
	}
	for _, l := range metadata.Languages() {
		d.types[l] = sync.OnceValues(func() (*metadata.Types, error) { return l.Types(service()) })
	}
	return d
}

// description returns the documents for the settings and the user of a request: they
// have the kinds that the user may read.
func (h *documents) description(x *edge.Context) *description {
	all, to := x.Options.Kinds(), audience{open: x.Options.AnonymousQueries, iso: x.Options.ISODates}
	if slices.ContainsFunc(all.Kinds(), func(k *record.Kind) bool { return k.Role != "" }) {
		if !x.Identity.Known() {
			_, _ = h.access.IsAdmin(x) // identifies the user; the documents are public otherwise
		}
		to.role = x.Identity.Role
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of != all {
		h.of, h.cache = all, make(map[audience]*description)
	}
	d := h.cache[to]
	if d == nil {
		d = newDescription(func() *metadata.Service {
			return h.describe(all.Filter(func(k *record.Kind) bool { return to.role.Includes(edge.KindRole(k)) }), to)
		})
		h.cache[to] = d
	}
	return d
}

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

// home redirects browsers to the list of operations. Other clients get 404.
func (h *documents) home(x *edge.Context) error {
	if !x.HTML() {
		return edge.NotFound()
	}
	return x.Redirect(http.StatusFound, x.Base+"/metadata")
}

// metadata returns the list of operations, or the description of one. Browsers
// always get an HTML page.
func (h *documents) metadata(x *edge.Context) error {
	h.access.IdentifyFromSession(x)
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	page := x.HTML() || !x.Route.ByName && x.Params.Get(edge.ParamFormat) != "" && x.URLMembers.Text(query.Format) == "" && edge.AcceptedFormat(x.Request.Header.Get("Accept")).Name == "html"
	name, d := members.Text(memberOperation), h.description(x).service()
	if name == "" {
		if page {
			text, err := d.IndexPage(edge.SiteOf(x), edge.ServiceURL(x))
			return x.Send(edge.HTMLType, text, err)
		}
		return x.Document(http.StatusOK, "Metadata", d.Document(edge.ServiceURL(x)))
	}
	o, ok := d.Lookup(name)
	if !ok {
		names := d.Names()
		if near := record.Suggest(name, d.AllNames()); near != nil {
			names = near
		}
		return fault.New(fault.NotFound, "unknown operation %s; operations: %s", edge.Clean(name), queries.Listed(names))
	}
	if page {
		text, err := d.Page(o, edge.SiteOf(x), edge.ServiceURL(x))
		return x.Send(edge.HTMLType, text, err)
	}
	return x.Document(http.StatusOK, "Metadata", d.OperationDocument(o, edge.ServiceURL(x)))
}

// address returns webhooks.host_url, or else the address that the client used.
func (h *documents) address(x *edge.Context) string {
	return cmp.Or(h.description(x).service().HostURL, edge.ServiceURL(x))
}

func (h *documents) openAPI(x *edge.Context) error {
	return x.SendShared("application/json", metadata.Servers(h.address(x)), h.description(x).openAPI()[1:])
}

func (h *documents) swagger(x *edge.Context) error {
	return x.SendShared("application/json", metadata.Host(h.address(x)), h.description(x).swagger()[1:])
}

// languages returns the list of the languages of types.
func (h *documents) languages(x *edge.Context) error {
	return edge.List(x, "Types", metadata.Languages(), nil, func(l *metadata.Language) wire.TypesFile {
		return wire.TypesFile{Language: l.Name, Summary: l.Summary, URL: edge.ServiceURL(x) + typesPath + l.Name}
	})
}

// typesPath is the path of types without the name of the language.
const typesPath = "/types/"

// memberNamespace is the option of types that sets the namespace of the classes.
const memberNamespace = "GlobalNamespace"

// types returns the handler of a language's types.
func (h *documents) types(l *metadata.Language) func(*edge.Context) error {
	return func(x *edge.Context) error {
		f := form.Read(x)
		namespace := form.Or(form.Value(f, memberNamespace, parseNamespace), "")
		if err := f.Done(x); err != nil {
			return err
		}
		types, err := h.description(x).types[l]()
		if err != nil {
			return err
		}
		return x.Send("text/plain; charset=utf-8", types.File(edge.ServiceURL(x), namespace), nil)
	}
}

// parseNamespace checks a namespace, which becomes part of a program.
func parseNamespace(text string) (string, error) {
	for part := range strings.SplitSeq(text, ".") {
		if !metadata.IsIdentifier(part) {
			return "", errors.New("must be identifiers separated by dots")
		}
	}
	return text, nil
}

// kinds returns the record kinds that the user may read, with their fields. Clients store
// them with their tag and request them again only if they have changed.
func (h *documents) kinds(x *edge.Context) error {
	f := form.Read(x)
	if err := f.Done(x); err != nil {
		return err
	}
	all := metadata.Kinds(x.Options.Kinds(), func(k *record.Kind) bool { return queries.MayRead(x, k) })
	tag, err := metadata.ETag(all)
	if err != nil {
		return err
	}
	header := x.Response.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	if hasTag(x.Request.Header.Values("If-None-Match"), tag) {
		x.Response.WriteHeader(http.StatusNotModified)
		return nil
	}
	return edge.List(x, "Kinds", all, nil, func(k wire.RecordKind) wire.RecordKind { return k })
}

// hasTag reports whether a list of tags in headers has a tag. Strong and weak tags are
// equal.
func hasTag(headers []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// restPaths returns the routes other than those that call an operation by its name.
func (h *documents) restPaths(x *edge.Context) error {
	all := []wire.RestPath{}
	for _, o := range h.description(x).service().Operations {
		for _, r := range o.CustomRoutes() {
			all = append(all, wire.RestPath{Path: r.Path, RequestType: o.Name, Summary: r.Summary, AllowedVerbs: strings.Join(r.Methods, ",")})
		}
	}
	return edge.List(x, "RestPaths", all, nil, func(p wire.RestPath) wire.RestPath { return p })
}

// redirect returns a handler that redirects to a path of the service, with the query
// string of the request.
func redirect(path string) func(*edge.Context) error {
	return func(x *edge.Context) error {
		to := url.URL{Path: x.Base + path, RawQuery: x.Request.URL.RawQuery}
		return x.Redirect(http.StatusFound, to.String())
	}
}
