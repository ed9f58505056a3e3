// Package metadata generates the descriptions of the service: metadata pages and
// documents, OpenAPI, and types of client libraries. They are derived from the table of
// routes and the registry of record kinds, so they always match what the
// service does.
package metadata

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// Service is the input of the descriptions.
type Service struct {
	Version    string
	HostURL    string // the service's public URL; empty if not configured
	ISODates   bool   // dates of webhooks are in ISO 8601
	Operations []Operation
	Events     []Event // nil without webhooks
}

// Operation is one operation of the service with all of its routes.
type Operation struct {
	Name     string
	Group    string
	Summary  string
	Kind     *record.Kind // kind of a query; its fields are request members
	Members  []Member     // in addition to the members of the kind and of every query
	Response any          // a value of the response type; nil for none
	Media    string       // media type of a response that is not a document
	Formats  []string     // formats of responses; nil for all
	Role     string       // the lowest role allowed; empty if no login is required
	Aliases  []string     // other names
	Routes   []Route

	// NameRoutes call the operation by its name. Only the metadata lists them.
	NameRoutes []Route

	// Compact means that the operation is one query among hundreds: OpenAPI has only its shortest
	// route, without headers, and one parameter for all members.
	Compact bool

	// Divided means that an alias has only some of the routes. Its class must not inherit all of
	// them from the class of the operation.
	Divided bool
}

// Member is a named value in a request.
type Member struct {
	Name     string
	Type     string // as in record.Type, with a [] suffix for a list
	Required bool
	Secret   bool // forms hide the value
	Help     string
}

// Route is one path of an operation.
type Route struct {
	Methods []string
	Path    string // with {Name} for each path parameter
	Summary string
	Status  int // on success
}

// formatMember is the path parameter that names a format.
const formatMember = "{Format}"

// Lookup finds an operation by one of its names or by the name of its record kind,
// ignoring letter case.
func (s *Service) Lookup(name string) (*Operation, bool) {
	isName := func(text string) bool { return strings.EqualFold(text, name) }
	index := slices.IndexFunc(s.Operations, func(o Operation) bool {
		return isName(o.Name) || slices.ContainsFunc(o.Aliases, isName)
	})
	if index < 0 {
		index = slices.IndexFunc(s.Operations, func(o Operation) bool {
			return o.Kind != nil && isName(o.Kind.Name)
		})
	}
	if index < 0 {
		return nil, false
	}
	return &s.Operations[index], true
}

// Names returns the names of all operations.
func (s *Service) Names() []string {
	names := make([]string, len(s.Operations))
	for i, o := range s.Operations {
		names[i] = o.Name
	}
	return names
}

// AllNames returns the names and the aliases of all operations.
func (s *Service) AllNames() []string {
	names := s.Names()
	for _, o := range s.Operations {
		names = append(names, o.Aliases...)
	}
	return names
}

// group is a named set of operations.
type group struct {
	Name       string
	Anchor     string
	Operations []*Operation
}

// groups returns the operations by group, in the order in which groups first appear.
func (s *Service) groups() []*group {
	var groups []*group
	for i := range s.Operations {
		o := &s.Operations[i]
		index := slices.IndexFunc(groups, func(g *group) bool { return g.Name == o.Group })
		if index < 0 {
			index = len(groups)
			groups = append(groups, &group{Name: o.Group, Anchor: Anchor(o.Group)})
		}
		groups[index].Operations = append(groups[index].Operations, o)
	}
	return groups
}

// Anchor returns the URL fragment of a group.
func Anchor(group string) string { return strings.ReplaceAll(strings.ToLower(group), " ", "-") }

// member finds a member by its name, ignoring letter case.
func (o *Operation) member(name string) (Member, bool) {
	i := slices.IndexFunc(o.Members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
	if i < 0 {
		return Member{}, false
	}
	return o.Members[i], true
}

// InPath returns the names of the parameters in a path.
func InPath(path string) []string {
	var names []string
	for _, match := range pathParameter.FindAllStringSubmatch(path, -1) {
		names = append(names, match[1])
	}
	return names
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// outsidePath returns the members that are not parameters of the path.
func (o *Operation) outsidePath(path string) []Member {
	inPath := InPath(path)
	return slices.DeleteFunc(slices.Clone(o.Members), func(m Member) bool {
		isName := func(name string) bool { return strings.EqualFold(name, m.Name) }
		return slices.ContainsFunc(inPath, isName)
	})
}

// response returns the shape of the response, nil if it has no document.
func (o *Operation) response() *shape {
	if o.Response == nil {
		return nil
	}
	return shapeOf(reflect.TypeOf(o.Response))
}

// Document returns the list of operations.
func (s *Service) Document(serviceURL string) wire.Metadata {
	doc := wire.Metadata{
		Service:         "whd",
		Version:         s.Version,
		URL:             serviceURL,
		WebhooksHostURL: s.HostURL,
		Operations:      make([]wire.Operation, len(s.Operations)),
	}
	for i := range s.Operations {
		doc.Operations[i] = s.Operations[i].outline()
	}
	return doc
}

// OperationDocument returns the full description of one operation.
func (s *Service) OperationDocument(o *Operation, serviceURL string) wire.Metadata {
	return wire.Metadata{
		Service:    "whd",
		Version:    s.Version,
		URL:        serviceURL,
		Operations: []wire.Operation{o.document(serviceURL)},
	}
}

// outline returns the operation as the list of operations shows it.
func (o *Operation) outline() wire.Operation {
	doc := wire.Operation{Name: o.Name, Aliases: o.Aliases, Group: o.Group, Summary: o.Summary, Role: o.Role}
	for _, r := range slices.Concat(o.Routes, o.NameRoutes) {
		doc.Routes = append(doc.Routes, wire.OperationRoute{Methods: r.Methods, Path: r.Path, Summary: r.Summary})
	}
	return doc
}

// document returns the full description of the operation.
func (o *Operation) document(serviceURL string) wire.Operation {
	doc := o.outline()
	doc.Parameters = o.parameters()
	doc.Samples = sampler{o, serviceURL}.all()
	if o.Kind != nil {
		doc.Answer = o.Kind.Name
		doc.Conventions = conventions()
		for _, f := range o.Kind.Fields {
			doc.Fields = append(doc.Fields, wire.OperationField{Name: f.Name, Type: f.TypeName()})
		}
		return doc
	}
	if response := o.response(); response != nil {
		doc.Answer = response.typeName()
		if response.item != nil {
			response = response.item
		}
		for _, f := range response.fields {
			doc.Fields = append(doc.Fields, wire.OperationField{
				Name:       f.name,
				Type:       f.shape.typeName(),
				Deprecated: f.replacement,
			})
		}
	}
	return doc
}

// conventions returns the implicit conventions, which apply to all fields of all kinds.
func conventions() []wire.OperationConvention {
	var list []wire.OperationConvention
	for _, c := range record.Conventions() {
		list = append(list, wire.OperationConvention{Suffix: c.Operator.Suffix(), Names: c.Names})
	}
	return list
}

// parameters returns all request members: those of the operation, the fields of its
// kind with their suffixes, and those of every query.
func (o *Operation) parameters() []wire.OperationParameter {
	var parameters []wire.OperationParameter
	for _, m := range o.Members {
		parameters = append(parameters, wire.OperationParameter{
			Name:     m.Name,
			Type:     m.Type,
			Required: m.Required,
			Summary:  m.Help,
		})
	}
	if o.Kind == nil {
		return parameters
	}
	for _, f := range o.Kind.Fields {
		p := wire.OperationParameter{Name: f.Name, Type: f.TypeName(), Family: f.Filter.String()}
		for _, op := range f.Filter.Operators() {
			if op.Suffix() != "" {
				p.Suffixes = append(p.Suffixes, op.Suffix())
			}
		}
		parameters = append(parameters, p)
	}
	for _, p := range query.Parameters() {
		parameters = append(parameters, wire.OperationParameter{
			Name:    p.Name,
			Type:    cmp.Or(p.Type, "string"), // parameters outside of the published interface have no type
			Summary: p.Summary,
		})
	}
	return parameters
}
