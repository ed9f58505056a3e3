// Package metadata writes what the service says of itself: pages and documents
// about its operations, OpenAPI, and types for TypeScript. All of it is made
// from the table of routes and the registry of record kinds, so that none of it
// can say something else than the service does.
package metadata

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// Service is what is described.
type Service struct {
	Version    string
	Base       string // path that stands before every path
	HostURL    string // by which the company reaches the service, empty where nobody said
	Operations []Operation
}

// Operation is one thing that the service does, however it is reached.
type Operation struct {
	Name    string
	Group   string
	Summary string
	Kind    *record.Kind // of a query; its fields are members of the request
	Members []Member     // beside those of the kind and those of every query
	Answer  any          // a value of the type of the reply; nil for none
	Media   string       // of a reply that is no document
	Role    string       // the least that it takes; empty for everybody
	Routes  []Route
}

// Member is a named value of a request.
type Member struct {
	Name     string
	Type     string // in the words of record.Type, [] behind it for a list
	Required bool
	Help     string
}

// Route is a way to an operation.
type Route struct {
	Methods []string
	Path    string // with {Name} for a member in it
	Summary string
	Status  int // of success
}

// formatMember is the member of a path that names a format.
const formatMember = "{Format}"

// Lookup finds an operation by its name, or that of its record kind, in any
// letter case.
func (s *Service) Lookup(name string) (*Operation, bool) {
	at := slices.IndexFunc(s.Operations, func(o Operation) bool { return strings.EqualFold(o.Name, name) })
	if at < 0 {
		at = slices.IndexFunc(s.Operations, func(o Operation) bool { return o.Kind != nil && strings.EqualFold(o.Kind.Name, name) })
	}
	if at < 0 {
		return nil, false
	}
	return &s.Operations[at], true
}

// Names lists the names of all operations.
func (s *Service) Names() []string {
	names := make([]string, len(s.Operations))
	for i, o := range s.Operations {
		names[i] = o.Name
	}
	return names
}

// OpenAPI is the service's description by OpenAPI 3.1.
func (s *Service) OpenAPI() ([]byte, error) {
	var tags []object
	for _, g := range s.groups() {
		tags = append(tags, object{"name": g.Name})
	}
	d := newDescription(s.Operations)
	return json.Marshal(object{
		"openapi":    "3.1.0",
		"info":       object{"title": "whd", "version": cmp.Or(s.Version, "0"), "summary": "Queries over business records, and webhooks"},
		"servers":    []object{{"url": cmp.Or(s.Base, "/")}},
		"tags":       tags,
		"paths":      d.paths,
		"security":   []object{{"session": []string{}}, {"sessionHeader": []string{}}, {"basic": []string{}}, {"key": []string{}}},
		"components": d.components(),
	})
}

// TypeScript is the service's requests and answers as classes for the
// TypeScript client of ServiceStack.
func (s *Service) TypeScript() []byte {
	return append(fmt.Appendf(nil, preamble, s.Version), newScript(s.Operations).out.String()...)
}

// group is a part of the operations that belong together.
type group struct {
	Name       string
	Anchor     string
	Operations []*Operation
}

// groups are the operations by group, each group where its first one stands.
func (s *Service) groups() []*group {
	var all []*group
	for i := range s.Operations {
		o := &s.Operations[i]
		at := slices.IndexFunc(all, func(g *group) bool { return g.Name == o.Group })
		if at < 0 {
			at = len(all)
			all = append(all, &group{Name: o.Group, Anchor: Anchor(o.Group)})
		}
		all[at].Operations = append(all[at].Operations, o)
	}
	return all
}

// Anchor is a group's name as the end of an address.
func Anchor(group string) string { return strings.ReplaceAll(strings.ToLower(group), " ", "-") }

// member finds a member of the operation by its name.
func (o *Operation) member(name string) (Member, bool) {
	i := slices.IndexFunc(o.Members, func(m Member) bool { return strings.EqualFold(m.Name, name) })
	if i < 0 {
		return Member{}, false
	}
	return o.Members[i], true
}

// InPath lists the names of the members in a path.
func InPath(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// outsidePath are the operation's members that a path does not hold.
func (o *Operation) outsidePath(path string) []Member {
	names := InPath(path)
	var rest []Member
	for _, m := range o.Members {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, m.Name) }) {
			rest = append(rest, m)
		}
	}
	return rest
}

// answer is the shape of the operation's reply, nil where it has no document.
func (o *Operation) answer() *shape {
	if o.Answer == nil {
		return nil
	}
	return shapeOf(reflect.TypeOf(o.Answer))
}

// Document is the list of operations.
func (s *Service) Document(serviceURL string) wire.Metadata {
	doc := wire.Metadata{Service: "whd", Version: s.Version, URL: serviceURL, WebhooksHostURL: s.HostURL, Operations: make([]wire.Operation, len(s.Operations))}
	for i := range s.Operations {
		doc.Operations[i] = s.Operations[i].outline()
	}
	return doc
}

// About is the document with one operation, and everything about it.
func (s *Service) About(o *Operation, serviceURL string) wire.Metadata {
	return wire.Metadata{Service: "whd", Version: s.Version, URL: serviceURL, Operations: []wire.Operation{o.document(serviceURL)}}
}

func (o *Operation) outline() wire.Operation {
	doc := wire.Operation{Name: o.Name, Group: o.Group, Summary: o.Summary, Role: o.Role}
	for _, r := range o.Routes {
		doc.Routes = append(doc.Routes, wire.OperationRoute{Methods: r.Methods, Path: r.Path, Summary: r.Summary})
	}
	return doc
}

// document is everything about the operation.
func (o *Operation) document(serviceURL string) wire.Operation {
	doc := o.outline()
	doc.Parameters = o.parameters()
	doc.Samples = sampler{o, serviceURL}.all()
	if o.Kind != nil {
		doc.Answer = o.Kind.Name
		for _, f := range o.Kind.Fields {
			doc.Fields = append(doc.Fields, wire.OperationField{Name: f.Name, Type: f.TypeName()})
		}
		return doc
	}
	if answer := o.answer(); answer != nil {
		doc.Answer = answer.words()
		if answer.item != nil {
			answer = answer.item
		}
		for _, f := range answer.fields {
			doc.Fields = append(doc.Fields, wire.OperationField{Name: f.name, Type: f.shape.words()})
		}
	}
	return doc
}

// parameters are all members that a request may have: those of the operation,
// the fields of its kind with their suffixes, those of every query.
func (o *Operation) parameters() []wire.OperationParameter {
	var all []wire.OperationParameter
	for _, m := range o.Members {
		all = append(all, wire.OperationParameter{Name: m.Name, Type: m.Type, Required: m.Required, Summary: m.Help})
	}
	if o.Kind == nil {
		return all
	}
	for _, f := range o.Kind.Fields {
		p := wire.OperationParameter{Name: f.Name, Type: f.TypeName(), Family: f.Filter.String()}
		for _, op := range f.Filter.Operators() {
			if op.Suffix() != "" {
				p.Suffixes = append(p.Suffixes, op.Suffix())
			}
		}
		all = append(all, p)
	}
	for _, p := range query.Parameters() { // those that the published interface does not name are texts
		all = append(all, wire.OperationParameter{Name: p.Name, Type: cmp.Or(p.Type, "string"), Summary: p.Summary})
	}
	return all
}
