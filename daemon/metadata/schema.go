package metadata

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
)

// schemas are the named schemas of the document.
type schemas struct {
	all   object
	taken map[string]bool // names of record kinds, which take precedence over Go types
}

// newSchemas returns schemas without any, and the names that are taken by queries.
func newSchemas(operations []Operation) *schemas {
	s := &schemas{all: object{}, taken: make(map[string]bool)}
	for _, o := range operations {
		if o.Kind != nil {
			s.taken[o.Kind.Name] = true
			s.taken[o.Name] = true
		}
	}
	return s
}

// timeSpan is the pattern of durations. The format duration of JSON Schema has no
// fractions.
const timeSpan = `^-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d{1,7})?S)?)?$`

// The schema of a date of webhooks, unless it is in ISO 8601.
const (
	legacyPattern = `^/Date\(-?\d+[+-]\d{4}\)/$`
	legacyHelp    = "milliseconds since 1970-01-01, with a UTC offset"
)

// scalars are the JSON schemas of scalar types in responses.
var scalars = map[string]object{
	"string":  {"type": "string"},
	"int":     {"type": "integer", "format": "int32"},
	"short":   {"type": "integer", "minimum": -32768, "maximum": 32767},
	"byte":    {"type": "integer", "minimum": 0, "maximum": 255},
	"long":    {"type": "integer", "format": "int64"},
	"decimal": {"type": "number"},
	"double":  {"type": "number", "format": "double"},
	"bool":    {"type": "boolean"},
	"byte[]":  {"type": "string", "contentEncoding": "base64"},
	"Guid":    {"type": "string", "format": "uuid"},
	"date":    {"type": "string", "pattern": legacyPattern, "description": legacyHelp},
	"object":  {},
	"time":    {"type": "string", "format": "date-time"},
	"DateTime": {
		"type":        "string",
		"pattern":     `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$`,
		"description": "local time without a time zone",
	},
	"TimeSpan": {
		"type":        "string",
		"pattern":     timeSpan,
		"description": "ISO 8601 duration such as PT0.0123S, with days as the largest unit",
	},
	"TimeSpan?": {
		"type":        []any{"string", "null"},
		"pattern":     timeSpan,
		"description": "ISO 8601 duration such as PT0.0123S; null for zero",
	},
	"Dictionary<string,string>": {
		"type":                 "object",
		"additionalProperties": object{"type": "string"},
	},
	"Header": objectSchema(properties{
		{"Name", object{"type": "string"}},
		{"Value", object{"type": "string"}},
	}, []string{"Name", "Value"}),
}

// properties is a JSON object that keeps the order of its members. The first of several
// with the same name is used.
type properties []property

type property struct {
	name   string
	schema any
}

// MarshalJSON writes the members in their order.
func (p properties) MarshalJSON() ([]byte, error) {
	var members []string
	for i, member := range p {
		hasSameName := func(earlier property) bool { return earlier.name == member.name }
		if slices.ContainsFunc(p[:i], hasSameName) {
			continue
		}
		members = append(members, jsonText(member.name)+": "+jsonText(member.schema))
	}
	return []byte("{" + strings.Join(members, ", ") + "}"), nil
}

// scalar returns the schema of a type by its name in the published interface, which may have a ? at
// its end. The schema is empty for an unknown type.
func scalar(typeName string) object {
	if schema, ok := scalars[typeName]; ok {
		return schema
	}
	if schema, ok := scalars[strings.TrimSuffix(typeName, "?")]; ok {
		return schema
	}
	return object{}
}

// memberSchema returns the schema of a request member, which may be a list.
func memberSchema(typeName string) object {
	if _, ok := scalars[typeName]; ok {
		return accepted(typeName)
	}
	if item, isList := strings.CutSuffix(typeName, "[]"); isList {
		return object{"type": "array", "items": accepted(item)}
	}
	return accepted(typeName)
}

// accepted returns the schema of a value in a request. Requests may write dates and
// GUIDs in more ways than responses do.
func accepted(typeName string) object {
	typeName = strings.TrimSuffix(typeName, "?")
	switch typeName {
	case "DateTime", "date":
		return object{"type": "string", "description": "ISO 8601, or /Date(milliseconds)/"}
	case "Guid", "TimeSpan":
		return object{"type": "string"}
	}
	return scalar(typeName)
}

// membersSchema returns the schema of an object with request members.
func membersSchema(members []Member) object {
	described := properties{}
	var required []string
	for _, m := range members {
		schema := maps.Clone(memberSchema(m.Type))
		if m.Help != "" {
			forms, _ := schema["description"].(string) // the forms of a value of the type
			schema["description"] = strings.TrimSuffix(m.Help+"; "+forms, "; ")
		}
		described = append(described, property{m.Name, schema})
		if m.Required {
			required = append(required, m.Name)
		}
	}
	return objectSchema(described, required)
}

// objectSchema returns the schema of an object.
func objectSchema(members properties, required []string) object {
	schema := object{"type": "object", "properties": members}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// schemaOf returns the schema of a Go value's type.
func (s *schemas) schemaOf(v any) object { return s.schemaOfShape(shapeOf(reflect.TypeOf(v))) }

// schemaOfShape returns the schema of a shape; objects are added to the named schemas.
func (s *schemas) schemaOfShape(sh *shape) object {
	switch {
	case sh.item != nil:
		return object{"type": "array", "items": s.schemaOfShape(sh.item)}
	case sh.value != nil:
		return object{"type": "object", "additionalProperties": s.schemaOfShape(sh.value)}
	case sh.name == "":
		return scalar(sh.scalar)
	}
	name := s.name(sh)
	if _, ok := s.all[name]; !ok {
		s.all[name] = object{} // stops the recursion into recursive types
		s.all[name] = s.structSchema(sh)
	}
	return ref("schemas", name)
}

// structSchema returns the schema of a shape with fields.
func (s *schemas) structSchema(sh *shape) object {
	members := properties{}
	var required []string
	for _, f := range sh.fields {
		member := s.schemaOfShape(f.shape)
		if f.replacement != "" {
			member = maps.Clone(member)
			member["deprecated"] = true
			member["description"] = "use " + f.replacement
		}
		if f.help != "" {
			member = maps.Clone(member)
			member["description"] = f.help
		}
		members = append(members, property{f.name, member})
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return objectSchema(members, required)
}

// name returns the schema name of a shape, which differs from its own name if a
// record kind has that one.
func (s *schemas) name(sh *shape) string { return s.free(sh.name) }

// free returns a schema name that no record kind has.
func (s *schemas) free(name string) string {
	for s.taken[name] {
		name += "Document"
	}
	return name
}

// queryResponse is the start of the schema names of query responses. Names such as
// SO_TotalsQueryResponse would collide with those that generators derive from operations.
const queryResponse = "QueryResponse_"

// kindResponse returns the schema of a query response with rows of the kind. No row
// member is required, since null and unselected members are left out.
func (s *schemas) kindResponse(k *record.Kind) object {
	row := properties{}
	for _, f := range k.Fields {
		row = append(row, property{f.Name, scalar(f.Type.String())})
	}
	s.all[k.Name] = object{"type": "object", "description": k.Summary, "properties": row}
	name := s.free(queryResponse + k.Name)
	s.all[name] = objectSchema(properties{
		{"Offset", scalar("long")},
		{"Total", scalar("long")},
		{"Results", object{"type": "array", "items": ref("schemas", k.Name)}},
		{"Meta", scalar("Dictionary<string,string>")},
		{"ResponseStatus", s.schemaOf(wire.ResponseStatus{})},
	}, []string{"Offset", "Total", "Results"})
	return ref("schemas", name)
}

// formSchema is membersSchema of a form: its values are texts and lists of texts, and
// deeper values are JSON as text. Generators of clients refuse anything else.
func formSchema(members []Member) object {
	inForm := slices.Clone(members)
	for i, m := range members {
		schema := memberSchema(m.Type)
		if item, isList := schema["items"].(object); isList {
			schema = item
		}
		if schema["type"] == nil || schema["type"] == "object" {
			inForm[i].Type = "string"
		}
	}
	return membersSchema(inForm)
}

// operand returns the schema of an operator's operand. Lists of bytes are declared as byte[],
// as in the published interface: many generators of clients refuse a value with two types.
func operand(f record.Field, op record.Operator) object {
	if f.Type == record.Byte && op.Arity() != record.One {
		schema := maps.Clone(scalar("byte[]"))
		schema["description"] = "base64 text of the bytes; a list of numbers is accepted as well"
		return schema
	}
	item := accepted(f.Type.String())
	if item["type"] == nil || item["type"] == "object" { // compared as the text of its JSON
		item = scalar("string")
	}
	list := object{"type": "array", "items": item}
	switch op.Arity() {
	case record.One:
		return item
	case record.Two:
		list["minItems"] = 2
		list["maxItems"] = 2
	case record.Many:
		list["maxItems"] = query.MaxIn
	}
	return list
}
