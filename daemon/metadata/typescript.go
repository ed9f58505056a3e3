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

// preamble is what every file of types begins with: the interfaces by which
// the client knows requests, and the envelope of queries.
//
//go:embed templates/preamble.ts
var preamble string

// script is a file of types in the making, but for its preamble.
type script struct {
	*schemas
	out  strings.Builder
	done map[string]bool

	notes []string // to stand above the next class
}

func newScript(operations []Operation) *script {
	t := &script{schemas: newSchemas(operations), done: make(map[string]bool)}
	for _, o := range operations {
		t.taken[tsName(o.Name)] = true
	}
	t.answers(shapeOf(reflect.TypeFor[wire.ResponseStatus]()))
	t.out.WriteString(queryClasses)
	for i := range operations {
		o := &operations[i]
		if o.Kind != nil {
			t.kind(o)
		} else if o.Media == "" {
			t.request(o)
		}
	}
	return t
}

// class writes a class whose members all may be left out.
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
		if !written[m.name] { // what a path holds may be a filter too
			fmt.Fprintf(&t.out, "    public %s?: %s;\n", tsMemberName(m.name), m.word)
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

type tsMember struct{ name, word string }

// tsMemberName quotes a name that is no identifier, such as log.level.
func tsMemberName(name string) string {
	if strings.Map(word, name) == name {
		return name
	}
	return strconv.Quote(name)
}

// queryClasses are the base of all queries, and their envelope.
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

// kind writes a record kind, and the query for it.
func (t *script) kind(o *Operation) {
	var columns, filters []tsMember
	for _, f := range o.Kind.Fields {
		columns = append(columns, tsMember{f.Name, tsWord(f.Type.String())})
		for _, op := range f.Filter.Operators() {
			filters = append(filters, tsMember{f.Name + op.Suffix(), tsOperand(f, op)})
		}
	}
	for _, m := range o.Members {
		filters = append(filters, tsMember{m.Name, tsWord(m.Type)})
	}
	t.class(o.Kind.Name, "", "", columns)
	t.note(o)
	answer := "QueryResponse<" + o.Kind.Name + ">"
	t.class(o.Name, " extends QueryBase", " implements IReturn<"+answer+">", filters, methods(o, "POST", "new "+answer+"()", answer)...)
}

func tsOperand(f record.Field, op record.Operator) string {
	word := tsWord(f.Type.String())
	if op.Arity() == record.One {
		return word
	}
	if f.Type == record.Byte {
		return word + "[] | string"
	}
	return word + "[]"
}

// request writes an operation that is no query, with the types of its answer.
func (t *script) request(o *Operation) {
	var members []tsMember
	for _, m := range o.Members {
		members = append(members, tsMember{m.Name, tsWord(m.Type)})
	}
	name := tsName(o.Name)
	method := mainFirst(o.Routes[0].Methods)[0]
	answer := o.answer()
	if answer == nil {
		t.note(o)
		t.class(name, "", " implements IReturnVoid", members, methods(o, method, "", "void")...)
		return
	}
	t.answers(answer)
	word, value := t.word(answer), "new "+t.word(answer)+"()"
	if answer.item != nil {
		value = "new Array<" + t.word(answer.item) + ">()"
	} else if answer.name == "" {
		value = "{} as " + word
	}
	t.note(o)
	t.class(name, "", " implements IReturn<"+word+">", members, methods(o, method, value, word)...)
}

// note says above a request's class what it is and where it goes. The client
// sends requests to /api by their names; those that are not there go to a path
// by its methods such as patchToUrl.
func (t *script) note(o *Operation) {
	t.notes = []string{o.Summary + "."}
	for _, r := range o.Routes {
		t.notes = append(t.notes, strings.Join(r.Methods, " ")+" "+r.Path)
	}
}

// tsName is an operation's name as a class.
func tsName(name string) string { return strings.Map(word, name) }

func methods(o *Operation, method, value, answer string) []string {
	create := "createResponse(): " + answer + " { return " + value + "; }"
	if value == "" {
		create = "createResponse(): void {}"
	}
	return []string{
		fmt.Sprintf("getTypeName(): string { return '%s'; }", o.Name),
		fmt.Sprintf("getMethod(): string { return '%s'; }", method),
		create,
	}
}

// answers writes the types that an answer is made of.
func (t *script) answers(s *shape) {
	s.objects(func(s *shape) {
		var members []tsMember
		for _, f := range s.fields {
			members = append(members, tsMember{f.name, t.word(f.shape)})
		}
		t.class(t.name(s), "", "", members)
	})
}

// word is a shape as a type.
func (t *script) word(s *shape) string {
	switch {
	case s.item != nil:
		return t.word(s.item) + "[]"
	case s.value != nil:
		return "{ [name: string]: " + t.word(s.value) + " }"
	case s.name != "":
		return t.name(s)
	}
	return tsWord(s.word)
}

// tsWord is a type by its word in the published interface.
func tsWord(word string) string {
	word = strings.TrimSuffix(word, "?")
	switch word {
	case "int", "short", "byte", "long", "decimal":
		return "number"
	case "bool":
		return "boolean"
	case "string", "DateTime", "date", "byte[]", "Guid", "TimeSpan":
		return "string"
	case "Dictionary<string,string>":
		return "{ [name: string]: string }"
	}
	if item, list := strings.CutSuffix(word, "[]"); list {
		return tsWord(item) + "[]"
	}
	return "any"
}
