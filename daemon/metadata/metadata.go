// Package metadata writes what the service says of itself: pages and documents
// about its operations, OpenAPI, and types for TypeScript. All of it is made
// from the table of routes and the registry of record kinds, so that none of it
// can say something else than the service does.
package metadata

import (
	"reflect"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
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
