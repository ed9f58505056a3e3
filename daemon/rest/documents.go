package rest

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

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

// documents has the handlers of the service's documentation.
type documents struct {
	access       *accounts.Access
	descriptions *descriptions
}

// description returns the documents for the settings and the user of a request.
func (h *documents) description(x *edge.Context) *description {
	return h.descriptions.forAudience(x.Options.Kinds(), x.Options.Events, h.audienceOf(x))
}

// audienceOf returns the audience that the user of a request belongs to. The user matters only if
// a kind requires a role.
func (h *documents) audienceOf(x *edge.Context) audience {
	to := audience{open: x.Options.AnonymousQueries, iso: x.Options.ISODates}
	requiresRole := func(k *record.Kind) bool { return !account.RoleOf(k).Allows(account.NoRole) }
	if !slices.ContainsFunc(x.Options.Kinds().Kinds(), requiresRole) {
		return to
	}
	if !x.Identity.Known() {
		h.access.Identify(x)
	}
	to.role = x.Identity.Role
	return to
}

// home redirects browsers to the start page. Other clients get 404.
func (h *documents) home(x *edge.Context) error {
	if !x.HTML() {
		return edge.NotFound()
	}
	return x.Redirect(http.StatusFound, x.Base+edge.StartPath)
}

// metadata returns the list of operations, or the description of one. Browsers
// always get an HTML page.
func (h *documents) metadata(x *edge.Context) error {
	h.access.IdentifyFromSession(x)
	members, err := form.Members(x)
	if err != nil {
		return err
	}
	service := h.description(x).service()
	name := members.Text(memberOperation)
	if name == "" {
		return sendIndex(x, service)
	}
	op, ok := service.Lookup(name)
	if !ok {
		return unknownOperation(name, service)
	}
	return sendOperation(x, service, op)
}

// sendIndex sends the list of operations.
func sendIndex(x *edge.Context, service *metadata.Service) error {
	if !showsPage(x) {
		return x.Document(http.StatusOK, "Metadata", service.Document(edge.ServiceURL(x)))
	}
	page, err := service.IndexPage(edge.SiteOf(x), edge.ServiceURL(x))
	return x.Send(edge.HTMLType, page, err)
}

// sendOperation sends the description of an operation.
func sendOperation(x *edge.Context, service *metadata.Service, op *metadata.Operation) error {
	if !showsPage(x) {
		return x.Document(http.StatusOK, "Metadata", service.OperationDocument(op, edge.ServiceURL(x)))
	}
	page, err := service.Page(op, edge.SiteOf(x), edge.ServiceURL(x))
	return x.Send(edge.HTMLType, page, err)
}

// showsPage reports whether the response is an HTML page. A browser gets one even if the path
// names another format, as in /json/metadata, but not if the member format does.
func showsPage(x *edge.Context) bool {
	if x.HTML() {
		return true
	}
	formatInPath := !x.Route.ByName && x.Params.Get(edge.ParamFormat) != ""
	formatInQuery := x.URLMembers.Text(query.Format) != ""
	if !formatInPath || formatInQuery {
		return false
	}
	return edge.AcceptedFormat(x.Request.Header.Get("Accept")).Name == "html"
}

// unknownOperation returns the error for a name that no operation has. It lists those with similar
// names, or else all.
func unknownOperation(name string, service *metadata.Service) error {
	names := record.Suggest(name, service.AllNames())
	if names == nil {
		names = service.Names()
	}
	return fault.New(fault.NotFound, "unknown operation %s; operations: %s", edge.Clean(name), queries.Listed(names))
}

// address returns webhooks.host_url, or else the address that the client used.
func (h *documents) address(x *edge.Context) string {
	return cmp.Or(h.description(x).service().HostURL, edge.ServiceURL(x))
}

// openAPI returns the OpenAPI document.
func (h *documents) openAPI(x *edge.Context) error {
	return x.SendShared("application/json", metadata.Servers(h.address(x)),
		metadata.Continuation(h.description(x).openAPI()))
}

// swagger returns the same in the older form.
func (h *documents) swagger(x *edge.Context) error {
	return x.SendShared("application/json", metadata.Host(h.address(x)),
		metadata.Continuation(h.description(x).swagger()))
}

// languages returns the list of the languages of types.
func (h *documents) languages(x *edge.Context) error {
	return edge.List(x, "Types", metadata.Languages(), nil, func(l *metadata.Language) wire.TypesFile {
		return wire.TypesFile{
			Language: l.Name,
			Summary:  l.Summary,
			URL:      edge.ServiceURL(x) + typesPath + l.Name,
		}
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
		namespace := form.Or(form.Value(f, memberNamespace, namespaceOf(l)), "")
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

// namespaceOf returns a function that checks a namespace, which becomes part of a program in a
// language.
func namespaceOf(l *metadata.Language) func(text string) (string, error) {
	return func(text string) (string, error) {
		if problem := l.CheckNamespace(text); problem != "" {
			return "", errors.New(problem)
		}
		return text, nil
	}
}

// kinds returns the record kinds that the user may read, with their fields. Clients store
// them with their tag and request them again only if they have changed.
func (h *documents) kinds(x *edge.Context) error {
	f := form.Read(x)
	if err := f.Done(x); err != nil {
		return err
	}
	kinds := metadata.Kinds(x.Options.Kinds(), func(k *record.Kind) bool { return queries.MayRead(x, k) })
	tag, err := metadata.ETag(kinds)
	if err != nil {
		return err
	}
	if sendUnchanged(x, tag) {
		return nil
	}
	return edge.List(x, "Kinds", kinds, nil, func(k wire.RecordKind) wire.RecordKind { return k })
}

// sendUnchanged sets the tag of a response, and sends status 304 if the client has it already.
func sendUnchanged(x *edge.Context, tag string) bool {
	header := x.Response.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	isUnchanged := hasTag(x.Request.Header.Values("If-None-Match"), tag)
	if isUnchanged {
		x.Response.WriteHeader(http.StatusNotModified)
	}
	return isUnchanged
}

// hasTag reports whether a list of tags in headers has a tag. Strong and weak tags are
// equal.
func hasTag(headers []string, tag string) bool {
	strong := strings.TrimPrefix(tag, "W/")
	for listed := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		listed = strings.TrimSpace(listed)
		if listed == "*" || strings.TrimPrefix(listed, "W/") == strong {
			return true
		}
	}
	return false
}

// restPaths returns the routes other than those that call an operation by its name.
func (h *documents) restPaths(x *edge.Context) error {
	paths := []wire.RestPath{}
	for _, o := range h.description(x).service().Operations {
		for _, r := range o.CustomRoutes() {
			paths = append(paths, wire.RestPath{
				Path:         r.Path,
				RequestType:  o.Name,
				Summary:      r.Summary,
				AllowedVerbs: strings.Join(r.Methods, ","),
			})
		}
	}
	return edge.List(x, "RestPaths", paths, nil, func(p wire.RestPath) wire.RestPath { return p })
}

// redirect returns a handler that redirects to a path of the service, with the query
// string of the request.
func redirect(path string) func(*edge.Context) error {
	return func(x *edge.Context) error {
		to := url.URL{Path: x.Base + path, RawQuery: x.Request.URL.RawQuery}
		return x.Redirect(http.StatusFound, to.String())
	}
}
