package metadata

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/query"
)

//go:embed templates/*.html
var templates embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(encode.Layout().Funcs(functions).ParseFS(templates, "templates/*.html"))
})

// functions are the functions of the templates, in addition to those of the layout.
var functions = template.FuncMap{
	"join":  strings.Join,
	"verbs": verbs,
}

// indexPage is the data of the list of operations.
type indexPage struct {
	encode.Page
	Version string
	URL     string
	Groups  []*group
}

// IndexPage returns the HTML page that lists all operations.
func (s *Service) IndexPage(site encode.Site, serviceURL string) ([]byte, error) {
	return execute("index", indexPage{
		Page:    encode.Page{Title: "Operations", Site: site},
		Version: s.Version,
		URL:     serviceURL,
		Groups:  s.groups(),
	})
}

// operationPage is the data of the page of one operation.
type operationPage struct {
	encode.Page
	wire.Operation
	Kind   *record.Kind
	Filter []wire.OperationParameter // the parameters that are filters
	Common []wire.OperationParameter // all other parameters
	Form   *form
	Rows   string // URL of the page with the kind's rows
}

// allMethods is the number of methods of a route that accepts all: GET, POST, PUT, PATCH and DELETE.
const allMethods = 5

// verbs joins methods for display.
func verbs(methods []string) string {
	if len(methods) == allMethods {
		return "ANY"
	}
	return strings.Join(methods, " ")
}

// form is the HTML form that sends the operation. Browsers send forms with GET and
// POST only, and cannot fill in path parameters.
type form struct {
	Method  string
	Action  string
	Filters []encode.Filter
	Inputs  []input
	Formats []string
	Orders  []string

	// Rows for Where and for Headers, nil for none. Only a page can read them.
	Conditions []encode.ConditionRow
	Headers    []wire.Header
}

// input is one input of a form.
type input struct {
	Member
	Long bool // the value is a document
}

// Page returns the HTML page of an operation.
func (s *Service) Page(o *Operation, site encode.Site, serviceURL string) ([]byte, error) {
	p := operationPage{Operation: o.document(serviceURL), Kind: o.Kind, Form: newForm(o, site.Base)}
	if rows := o.Rows(); rows != "" {
		p.Rows = site.Base + rows
	}
	p.Page = encode.Page{
		Title: o.Name,
		Site:  site,
		Breadcrumbs: []encode.Link{
			{Name: "Operations", URL: site.Base + "/metadata"},
			{Name: o.Group, URL: site.Base + "/metadata#" + Anchor(o.Group)},
			{Name: o.Name},
		},
	}
	for _, parameter := range p.Parameters {
		if parameter.Family == "" {
			p.Common = append(p.Common, parameter)
		} else {
			p.Filter = append(p.Filter, parameter)
		}
	}
	return execute("operation", p)
}

// acceptsForm reports whether a form can send a request to a route with a method.
func (r Route) acceptsForm(method string) bool {
	return !strings.Contains(r.Path, "{") && slices.Contains(r.Methods, method)
}

// formPath returns the path of the first route to which a form can send a request with a method,
// empty if there is none.
func formPath(routes []Route, method string) string {
	i := slices.IndexFunc(routes, func(r Route) bool { return r.acceptsForm(method) })
	if i < 0 {
		return ""
	}
	return routes[i].Path
}

// Rows returns the path of the page with the kind's rows, empty if there is none.
func (o *Operation) Rows() string {
	if o.Kind == nil {
		return ""
	}
	return formPath(o.Routes, http.MethodGet)
}

// formTarget returns the method and the path of the form of an operation, empty if no form can send
// it. A query is sent with GET if possible, so that its URL can be kept, other operations to their
// first route, with POST if possible, so that their values are not in a URL.
func (o *Operation) formTarget() (method, path string) {
	routes := slices.Concat(o.Routes, o.NameRoutes)
	if o.Kind != nil {
		path = formPath(routes, http.MethodGet)
		if path != "" {
			return http.MethodGet, path
		}
	}
	for _, r := range routes {
		if r.acceptsForm(http.MethodPost) {
			return http.MethodPost, r.Path
		}
		if r.acceptsForm(http.MethodGet) {
			return http.MethodGet, r.Path
		}
	}
	return "", ""
}

// Members with rows of inputs instead of a single one.
const (
	typeHeaders = "Header[]"
	memberWhere = "Where"
	freeRows    = 3
)

// hasRows reports whether a member has rows of inputs.
func (m Member) hasRows() bool { return m.Type == typeHeaders || m.Name == memberWhere }

// TriedByPage reports whether the form of the operation is sent to a page, which calls the operation
// and shows its response: the operation cannot read rows of inputs, and browsers show nothing for a
// response without a document.
func (o *Operation) TriedByPage() bool {
	hasOtherMedia := o.Response == nil && o.Media != ""
	if o.Kind != nil || hasOtherMedia {
		return false
	}
	isEmpty := func(r Route) bool { return r.Status == http.StatusNoContent }
	return slices.ContainsFunc(o.Members, Member.hasRows) || slices.ContainsFunc(o.Routes, isEmpty)
}

// pathTry is the path of that page, without the name of the operation.
const pathTry = "/Pages/Try/"

// MainRoute returns the route for new programs: the first one that does not start with the name of a
// format.
func (o *Operation) MainRoute() Route {
	i := slices.IndexFunc(o.Routes, func(r Route) bool { return !strings.Contains(r.Path, formatMember) })
	return o.Routes[max(i, 0)]
}

// newForm returns the form of an operation, nil if no form can send it.
func newForm(o *Operation, base string) *form {
	method, path := o.formTarget()
	if path == "" {
		return nil
	}
	f := &form{Method: strings.ToLower(method), Action: base + path}
	if o.TriedByPage() {
		f.Method = "post"
		f.Action = base + pathTry + o.Name
	}
	for _, m := range o.Members {
		f.addMember(m)
	}
	if o.Kind == nil {
		return f
	}
	for _, field := range o.Kind.Fields {
		if field.Filter != record.NoFilter {
			f.Filters = append(f.Filters, encode.NewFilter(field, record.Equal, ""))
		}
	}
	f.Orders = o.Kind.FieldNames()
	f.Formats = encode.Names()
	for _, p := range query.Parameters() {
		switch p.Name {
		case query.Skip, query.Take, query.Fields, query.Include:
			f.Inputs = append(f.Inputs, input{Member: Member{Name: p.Name, Type: p.Type, Help: p.Summary}})
		}
	}
	return f
}

// addMember adds the input or the rows of a member.
func (f *form) addMember(m Member) {
	switch {
	case m.Name == memberWhere:
		f.Conditions = slices.Repeat([]encode.ConditionRow{encode.EmptyCondition()}, freeRows)
	case m.Type == typeHeaders:
		f.Headers = make([]wire.Header, freeRows) // once, also if Headers has another name
	default:
		f.Inputs = append(f.Inputs, input{Member: m, Long: m.Type == "object"})
	}
}

// execute returns a page.
func execute(name string, data any) ([]byte, error) {
	var page bytes.Buffer
	err := pages().ExecuteTemplate(&page, name, data)
	return page.Bytes(), err
}
