package metadata

import (
	"cmp"
	"maps"
	"reflect"
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

func newSchemas(operations []Operation) *schemas {
	all := &schemas{all: object{}, taken: make(map[string]bool)}
	for _, o := range operations {
		if o.Kind != nil {
			all.taken[o.Kind.Name], all.taken[o.Name], all.taken[o.Name+"Response"] = true, true, true
		}
	}
	return all
}

// scalars are the JSON schemas of scalar types in responses.
var scalars = map[string]object{
	"string":   {"type": "string"},
	"int":      {"type": "integer", "format": "int32"},
	"short":    {"type": "integer", "minimum": -32768, "maximum": 32767},
	"byte":     {"type": "integer", "minimum": 0, "maximum": 255},
	"long":     {"type": "integer", "format": "int64"},
	"decimal":  {"type": "number"},
	"bool":     {"type": "boolean"},
	"DateTime": {"type": "string", "pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}$`, "description": "local time without a time zone"},
	"byte[]":   {"type": "string", "contentEncoding": "base64"},
	"Guid":     {"type": "string", "format": "uuid"},
	"TimeSpan": {"type": "string", "format": "duration"},
	"date":     {"type": "string", "pattern": `^/Date\(-?\d+[+-]\d{4}\)/$`, "description": "milliseconds since 1970-01-01, with a UTC offset"},
	"object":   {},
	"Dictionary<string,string>": {
		"type": "object", "additionalProperties": object{"type": "string"},
	},
}

// scalar returns the schema of a type by its name in the published interface.
func scalar(typeName string) object {
	if schema, ok := scalars[strings.TrimSuffix(typeName, "?")]; ok {
		return schema
	}
	return object{}
}

// memberSchema returns the schema of a request member, which may be a list.
func memberSchema(typeName string) object {
	if _, known := scalars[typeName]; known {
		return accepted(typeName)
	}
	if item, list := strings.CutSuffix(typeName, "[]"); list {
		return object{"type": "array", "items": accepted(item)}
	}
	return accepted(typeName)
}

// accepted returns the schema of a value in a request. Requests may write dates and
// GUIDs in more ways than responses do.
func accepted(typeName string) object {
	switch typeName = strings.TrimSuffix(typeName, "?"); typeName {
	case "DateTime", "date":
		return object{"type": "string", "description": "ISO 8601, or /Date(milliseconds)/"}
	case "Guid", "TimeSpan":
		return object{"type": "string"}
	}
	return scalar(typeName)
}

func membersSchema(members []Member) object {
	properties, required := object{}, []string{}
	for _, m := range members {
		properties[m.Name] = memberSchema(m.Type)
		if m.Help != "" {
			properties[m.Name] = object{"allOf": []object{memberSchema(m.Type)}, "description": m.Help}
		}
		if m.Required {
			required = append(required, m.Name)
		}
	}
	return objectSchema(properties, required)
}

func objectSchema(properties object, required []string) object {
	schema := object{"type": "object", "properties": properties}
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
	if _, known := s.all[name]; !known {
		s.all[name] = object{} // stops the recursion into recursive types
		properties, required := object{}, []string{}
		for _, f := range sh.fields {
			properties[f.name] = s.schemaOfShape(f.shape)
			if f.replacement != "" {
				member := maps.Clone(s.schemaOfShape(f.shape))
				member["deprecated"], member["description"] = true, "use "+f.replacement
				properties[f.name] = member
			}
			if !f.optional {
				required = append(required, f.name)
			}
		}
		s.all[name] = objectSchema(properties, required)
	}
	return ref("schemas", name)
}

// name returns the schema name of a shape, which differs from its own name if a
// record kind has that one.
func (s *schemas) name(sh *shape) string {
	if s.taken[sh.name] {
		return sh.name + "Document"
	}
	return sh.name
}

// kindResponse returns the schema of a query response with rows of the kind. No row
// member is required, since null and unselected members are left out.
func (s *schemas) kindResponse(k *record.Kind) object {
	properties := object{}
	for _, f := range k.Fields {
		properties[f.Name] = scalar(f.Type.String())
	}
	s.all[k.Name] = object{"type": "object", "description": k.Summary, "properties": properties}
	name := k.Operation() + "Response"
	s.all[name] = object{
		"type":     "object",
		"required": []string{"Offset", "Total", "Results"},
		"properties": object{
			"Offset": scalar("long"), "Total": scalar("long"),
			"Results":        object{"type": "array", "items": ref("schemas", k.Name)},
			"Meta":           scalar("Dictionary<string,string>"),
			"ResponseStatus": s.schemaOf(wire.ResponseStatus{}),
		},
	}
	return ref("schemas", name)
}

// kindRequest returns the schema of a query body: all filters, the members of every
// query, and those of the operation.
func (s *schemas) kindRequest(o *Operation) object {
	properties := object{}
	for _, f := range o.Kind.Fields {
		for _, op := range f.Filter.Operators() {
			properties[f.Name+op.Suffix()] = operand(f, op)
		}
	}
	for _, p := range query.Parameters() {
		properties[p.Name] = memberSchema(cmp.Or(p.Type, "string"))
	}
	for _, m := range o.Members {
		properties[m.Name] = memberSchema(m.Type)
	}
	s.all[o.Name] = object{"type": "object", "properties": properties}
	return ref("schemas", o.Name)
}

// operand returns the schema of an operator's operand. Lists of bytes are declared
// as byte[], which is base64 text; arrays of numbers are accepted as well.
func operand(f record.Field, op record.Operator) object {
	item := accepted(f.Type.String())
	list := object{"type": "array", "items": item}
	switch op.Arity() {
	case record.One:
		return item
	case record.Two:
		list["minItems"], list["maxItems"] = 2, 2
	case record.Many:
		list["maxItems"] = query.MaxIn
	}
	if f.Type == record.Byte {
		return object{"oneOf": []object{list, scalar("byte[]")}}
	}
	return list
}
