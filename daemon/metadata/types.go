package metadata

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Types are the requests and responses of a service as classes of one language.
type Types struct {
	language *Language
	version  string
	made     time.Time
	classes  []byte
}

// Types generates the classes of a service.
func (l *Language) Types(s *Service) (*Types, error) {
	isProvided := func(c class) bool { return slices.Contains(l.provided, c.Name) }
	classes := slices.DeleteFunc(newClasses(s.Operations).all, isProvided)
	var text bytes.Buffer
	err := l.text.Execute(&text, classes)
	if err == nil && l.receivers && len(s.Events) > 0 {
		err = l.text.ExecuteTemplate(&text, receiversFile, s.Events)
	}
	return &Types{
		language: l,
		version:  cmp.Or(s.Version, "0"),
		made:     time.Now(),
		classes:  text.Bytes(),
	}, err
}

// typesHeader is the comment by which ServiceStack's command line tools recognize a file
// of types. To update it they request it from BaseUrl with the options that follow,
// unless // precedes them.
const typesHeader = `/* Options:
Date: %s
Version: %s
Tip: An option without // before it applies when this file is updated
BaseUrl: %s

%sGlobalNamespace: %s
*/

`

// File returns a file with the classes. baseURL is the address of the service, namespace
// the option GlobalNamespace, empty for the language's default.
func (t *Types) File(baseURL, namespace string) []byte {
	disabled := ""
	if namespace == "" {
		disabled = "//"
		namespace = t.language.namespace
	}
	date := t.made.UTC().Format(time.DateTime)
	file := fmt.Appendf(nil, typesHeader, date, t.version, baseURL, disabled, namespace)
	if namespace == "" {
		return append(file, t.classes...)
	}
	file = fmt.Appendf(file, t.language.block, namespace)
	file = append(file, t.classes...)
	return append(file, "}\n"...)
}

// class is the input of the templates: a request, a row of a query, or a part of a
// response.
type class struct {
	Name    string
	Base    string // for an alias of a request: the class of its name
	Members []classMember

	Operation *Operation // operation of a request
	Method    string     // method of a request
	Row       string     // for a query: the class of the rows
	Returns   string     // for a request: the type of the response, empty for none
	Item      string     // for a request that returns a list: the type of the items
}

type classMember struct {
	Name        string
	Type        string // in the notation of the published interface, with List<T> for lists of objects
	Replacement string // for a deprecated member: the member to use instead
}

// classes collects the classes of all operations, each after those that it uses.
type classes struct {
	*schemas
	all  []class
	done map[string]bool
}

// newClasses collects the classes of operations.
func newClasses(operations []Operation) *classes {
	t := &classes{schemas: newSchemas(operations), done: make(map[string]bool)}
	for _, o := range operations {
		t.taken[className(o.Name)] = true
	}
	t.responses(shapeOf(reflect.TypeFor[wire.ResponseStatus]()))
	for i := range operations {
		o := &operations[i]
		if o.Media != "" {
			continue
		}
		t.request(o)
		for _, name := range o.Aliases {
			t.add(class{Name: name, Base: className(o.Name)})
		}
	}
	return t
}

// add adds a class, unless it is known. Members that have the same name as an earlier
// one are left out: a path parameter may also be a filter.
func (t *classes) add(c class) {
	if t.done[c.Name] {
		return
	}
	t.done[c.Name] = true
	names := make(map[string]bool)
	c.Members = slices.DeleteFunc(c.Members, func(m classMember) bool {
		isKnown := names[m.Name]
		names[m.Name] = true
		return isKnown
	})
	t.all = append(t.all, c)
}

// request adds the class of an operation, and those of its rows or of its response.
func (t *classes) request(o *Operation) {
	c := class{Name: className(o.Name), Operation: o, Method: mainFirst(o.Routes[0].Methods)[0]}
	if o.Kind != nil {
		c.Method = "POST"
		c.Row = o.Kind.Name
		c.Returns = "QueryResponse<" + c.Row + ">"
		var columns []classMember
		for _, f := range o.Kind.Fields {
			columns = append(columns, classMember{Name: f.Name, Type: f.TypeName()})
			for _, op := range f.Filter.Operators() {
				c.Members = append(c.Members, classMember{Name: f.Name + op.Suffix(), Type: operandType(f, op)})
			}
		}
		t.add(class{Name: c.Row, Members: columns})
	} else if response := o.response(); response != nil {
		t.responses(response)
		c.Returns = t.typeOf(response)
		if response.item != nil {
			c.Item = t.typeOf(response.item)
		}
	}
	for _, m := range o.Members {
		c.Members = append(c.Members, classMember{Name: m.Name, Type: m.Type + "?"})
	}
	t.add(c)
}

// operandType returns the type of a filter. Dictionaries are compared as texts.
func operandType(f record.Field, op record.Operator) string {
	name := f.Type.String()
	if f.Type == record.Dictionary || f.Type == record.Object {
		name = record.Text.String()
	}
	if op.Arity() == record.One {
		return name + "?"
	}
	if f.Type == record.Byte {
		return byteList
	}
	return name + "[]"
}

// responses adds the classes of a response.
func (t *classes) responses(s *shape) {
	s.objects(func(s *shape) {
		c := class{Name: t.name(s)}
		for _, f := range s.fields {
			m := classMember{Name: f.name, Type: t.typeOf(f.shape), Replacement: f.replacement}
			if f.optional {
				m.Type += "?"
			}
			c.Members = append(c.Members, m)
		}
		t.add(c)
	})
}

// typeOf returns the type of a shape in the notation of classMember.
func (t *classes) typeOf(s *shape) string {
	switch {
	case s.item != nil:
		return "List<" + t.typeOf(s.item) + ">"
	case s.value != nil:
		return "Dictionary<string," + t.typeOf(s.value) + ">"
	case s.name != "":
		return t.name(s)
	}
	return s.scalar
}

// className returns the class name of an operation.
func className(name string) string { return strings.Map(identifierRune, name) }

// CustomRoutes returns the routes that do not have the name of a format in their path.
func (o *Operation) CustomRoutes() []Route {
	return slices.DeleteFunc(slices.Clone(o.Routes), func(r Route) bool {
		return strings.Contains(r.Path, formatMember)
	})
}
