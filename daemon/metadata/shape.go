package metadata

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// shape is the JSON form of a Go type.
type shape struct {
	scalar string // type of a scalar, as in record.Type; "object" for any value
	name   string // name of an object with members
	item   *shape // shape of the items of a list
	value  *shape // shape of the values of a dictionary
	fields []shapeField
}

// shapeField is a member of an object.
type shapeField struct {
	name        string
	optional    bool   // the member may be missing or null
	replacement string // for a deprecated member: the member to use instead
	help        string
	shape       *shape
}

// shapeOf returns the shape of a type as encoding/json writes it. The struct tag
// deprecated:"NAME" marks a member as deprecated in favour of NAME, and help:"TEXT" describes it.
func shapeOf(t reflect.Type) *shape {
	switch t {
	case reflect.TypeFor[wire.TimeSpan]():
		return &shape{scalar: "TimeSpan"}
	case reflect.TypeFor[wire.DateTime]():
		return &shape{scalar: "DateTime"}
	case reflect.TypeFor[time.Time]():
		return &shape{scalar: "time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice, reflect.Array:
		if t == reflect.TypeFor[json.RawMessage]() {
			return &shape{scalar: "object"}
		}
		if t.Elem().Kind() == reflect.Uint8 {
			return &shape{scalar: "byte[]"}
		}
		return &shape{item: shapeOf(t.Elem())}
	case reflect.Map:
		return &shape{value: shapeOf(t.Elem())}
	case reflect.Struct:
		return shapeOfStruct(t)
	case reflect.Interface:
		return &shape{scalar: "object"}
	}
	return &shape{scalar: scalarType(t.Kind())}
}

// scalarType returns the type of a scalar. Other kinds are texts.
func scalarType(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "long"
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return "int"
	case reflect.Float32, reflect.Float64:
		return "decimal"
	}
	return "string"
}

// shapeOfStruct is shapeOf for a struct.
func shapeOfStruct(t reflect.Type) *shape {
	if t == reflect.TypeFor[wire.Timestamp]() {
		return &shape{scalar: "date"}
	}
	// Types with their own MarshalJSON are strings in the documents of the service.
	marshaler := reflect.TypeFor[json.Marshaler]()
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return &shape{scalar: "string"}
	}
	s := &shape{name: t.Name()}
	for _, f := range reflect.VisibleFields(t) {
		tag, hasTag := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		isEmbedded := f.Anonymous && !hasTag // its fields are visited by themselves
		if isEmbedded || !f.IsExported() || tag == "-" || hidden(t, f) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		omits := func(option string) bool { return option == "omitempty" || option == "omitzero" }
		mayBeOmitted := slices.ContainsFunc(strings.Split(options, ","), omits)
		field := shapeField{
			name:        name,
			optional:    mayBeOmitted || f.Type.Kind() == reflect.Pointer,
			replacement: f.Tag.Get("deprecated"),
			help:        f.Tag.Get("help"),
			shape:       shapeOf(f.Type),
		}
		if !mayBeOmitted && field.shape.scalar == "TimeSpan" {
			field.shape.scalar = "TimeSpan?" // zero is null
		}
		s.fields = append(s.fields, field)
	}
	return s
}

// hidden reports whether a promoted field belongs to an embedded struct that is
// itself a named JSON member.
func hidden(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		if _, ok := t.FieldByIndex(f.Index[:i]).Tag.Lookup("json"); ok {
			return true
		}
	}
	return false
}

// typeName returns the name of the type in the notation of the published interface.
func (s *shape) typeName() string {
	switch {
	case s.item != nil:
		return s.item.typeName() + "[]"
	case s.value != nil:
		return "Dictionary<string," + s.value.typeName() + ">"
	case s.name != "":
		return s.name
	}
	return s.scalar
}

// objects calls do for each named object in the shape, inner ones first, each name
// once.
func (s *shape) objects(do func(*shape)) {
	seen := make(map[string]bool)
	var visit func(*shape)
	visit = func(s *shape) {
		if s == nil || seen[s.name] {
			return
		}
		if s.name != "" {
			seen[s.name] = true
		}
		visit(s.item)
		visit(s.value)
		for _, f := range s.fields {
			visit(f.shape)
		}
		if s.name != "" {
			do(s)
		}
	}
	visit(s)
}
