package metadata

import (
	_ "embed"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// preamble is the start of every file of types: the request interfaces of the client
// and the query response.
//
//go:embed templates/preamble.ts
var preamble string

// script builds a file of types, without its preamble.
type script struct {
	*schemas
	out  strings.Builder
	done map[string]bool

	notes []string // comments above the next class
}

func newScript(operations []Operation) *script {
	t := &script{schemas: newSchemas(operations), done: make(map[string]bool)}
	for _, o := range operations {
		t.taken[tsName(o.Name)] = true
	}
	t.responses(shapeOf(reflect.TypeFor[wire.ResponseStatus]()))
	t.out.WriteString(queryClasses)
	for i := range operations {
		o := &operations[i]
		if o.Kind != nil {
			t.kind(o)
		} else if o.Media == "" {
			t.request(o)
		} else {
			continue
		}
		t.aliases(o)
	}
	return t
}

// class writes a class with optional members.
func (t *script) class(name, extends, implements string, members []tsMember, methods ...string) {
	if t.done[name] {
		return
	}
	t.done[name] = true
	t.out.WriteString("\n")
	for _, note := range t.notes {
		fmt.Fprintf(&t.out, "// %s\n", note)
	}
	t.notes = nil
	fmt.Fprintf(&t.out, "export class %s%s%s {\n", name, extends, implements)
	written := make(map[string]bool)
	for _, m := range members {
		if !written[m.name] { // a path parameter may also be a filter
			if m.replacement != "" {
				fmt.Fprintf(&t.out, "    /** @deprecated use %s */\n", m.replacement)
			}
			fmt.Fprintf(&t.out, "    public %s?: %s;\n", tsMemberName(m.name), m.typ)
		}
		written[m.name] = true
	}
	super := ""
	if extends != "" {
		super = "super(init); "
	}
	plain, _, _ := strings.Cut(name, "<")
	fmt.Fprintf(&t.out, "\n    public constructor(init?: Partial<%s>) { %sObject.assign(this, init); }\n", plain, super)
	for _, m := range methods {
		fmt.Fprintf(&t.out, "    public %s\n", m)
	}
	t.out.WriteString("}\n")
}

type tsMember struct {
	name        string
	typ         string
	replacement string // of a deprecated member: the member to use instead
}

// tsMemberName quotes names that are not identifiers, such as log.level.
func tsMemberName(name string) string {
	if strings.Map(identifierRune, name) == name {
		return name
	}
	return strconv.Quote(name)
}

// queryClasses are the base class of queries, and their response.
const queryClasses = `
export class QueryBase {
    public Skip?: number;
    public Take?: number;
    public OrderBy?: string;
    public OrderByDesc?: string;
    public Include?: string;
    public Fields?: string;
    public Meta?: { [name: string]: string };

    public constructor(init?: Partial<QueryBase>) { Object.assign(this, init); }
}

export class QueryResponse<T> {
    public Offset!: number;
    public Total!: number;
    public Results!: T[];
    public Meta?: { [name: string]: string };
    public ResponseStatus?: ResponseStatus;

    public constructor(init?: Partial<QueryResponse<T>>) { Object.assign(this, init); }
}
`

// kind writes the class of a record kind, and that of its query.
func (t *script) kind(o *Operation) {
	var columns, filters []tsMember
	for _, f := range o.Kind.Fields {
		columns = append(columns, tsMember{name: f.Name, typ: tsType(f.Type.String())})
		for _, op := range f.Filter.Operators() {
			filters = append(filters, tsMember{name: f.Name + op.Suffix(), typ: tsOperand(f, op)})
		}
	}
	for _, m := range o.Members {
		filters = append(filters, tsMember{name: m.Name, typ: tsType(m.Type)})
	}
	t.class(o.Kind.Name, "", "", columns)
	t.note(o)
	response := "QueryResponse<" + o.Kind.Name + ">"
	t.class(o.Name, " extends QueryBase", " implements IReturn<"+response+">", filters, methods(o, "POST", "new "+response+"()", response)...)
}

func tsOperand(f record.Field, op record.Operator) string {
	typeName := tsType(f.Type.String())
	if op.Arity() == record.One {
		return typeName
	}
	if f.Type == record.Byte {
		return typeName + "[] | string"
	}
	return typeName + "[]"
}

// request writes an operation that is not a query, with the types of its response.
func (t *script) request(o *Operation) {
	var members []tsMember
	for _, m := range o.Members {
		members = append(members, tsMember{name: m.Name, typ: tsType(m.Type)})
	}
	name := tsName(o.Name)
	method := mainFirst(o.Routes[0].Methods)[0]
	response := o.response()
	if response == nil {
		t.note(o)
		t.class(name, "", " implements IReturnVoid", members, methods(o, method, "", "void")...)
		return
	}
	t.responses(response)
	typ, value := t.typeOf(response), "new "+t.typeOf(response)+"()"
	if response.item != nil {
		value = "new Array<" + t.typeOf(response.item) + ">()"
	} else if response.name == "" {
		value = "{} as " + typ
	}
	t.note(o)
	t.class(name, "", " implements IReturn<"+typ+">", members, methods(o, method, value, typ)...)
}

// aliases writes a class for each other name of an operation.
func (t *script) aliases(o *Operation) {
	for _, name := range o.Aliases {
		fmt.Fprintf(&t.out, "\nexport class %s extends %s {\n    public getTypeName(): string { return '%[1]s'; }\n}\n", name, tsName(o.Name))
	}
}

// note adds a comment with the summary and routes above a request class. The client
// sends requests to /api by their names; for other routes it has methods such as
// patchToUrl.
func (t *script) note(o *Operation) {
	t.notes = []string{o.Summary + "."}
	for _, r := range o.Routes {
		t.notes = append(t.notes, strings.Join(r.Methods, " ")+" "+r.Path)
	}
}

// tsName returns the class name of an operation.
func tsName(name string) string { return strings.Map(identifierRune, name) }

func methods(o *Operation, method, value, response string) []string {
	create := "createResponse(): " + response + " { return " + value + "; }"
	if value == "" {
		create = "createResponse(): void {}"
	}
	return []string{
		fmt.Sprintf("getTypeName(): string { return '%s'; }", o.Name),
		fmt.Sprintf("getMethod(): string { return '%s'; }", method),
		create,
	}
}

// responses writes the classes of a response.
func (t *script) responses(s *shape) {
	s.objects(func(s *shape) {
		var members []tsMember
		for _, f := range s.fields {
			members = append(members, tsMember{name: f.name, typ: t.typeOf(f.shape), replacement: f.replacement})
		}
		t.class(t.name(s), "", "", members)
	})
}

// typeOf returns the TypeScript type of a shape.
func (t *script) typeOf(s *shape) string {
	switch {
	case s.item != nil:
		return t.typeOf(s.item) + "[]"
	case s.value != nil:
		return "{ [name: string]: " + t.typeOf(s.value) + " }"
	case s.name != "":
		return t.name(s)
	}
	return tsType(s.scalar)
}

// tsType returns the TypeScript type for a type name of the published interface.
func tsType(typeName string) string {
	typeName = strings.TrimSuffix(typeName, "?")
	switch typeName {
	case "int", "short", "byte", "long", "decimal":
		return "number"
	case "bool":
		return "boolean"
	case "string", "DateTime", "date", "byte[]", "Guid", "TimeSpan":
		return "string"
	case "Dictionary<string,string>":
		return "{ [name: string]: string }"
	}
	if item, list := strings.CutSuffix(typeName, "[]"); list {
		return tsType(item) + "[]"
	}
	return "any"
}
