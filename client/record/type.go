package record

import (
	"slices"
	"strings"
)

// Type is the type of a field's values. Package wire parses and formats them.
type Type uint8

// Types, with their names in the published interface.
const (
	Text       Type = iota // string
	Int                    // int: 32 bits, signed
	Short                  // short: 16 bits, signed
	Byte                   // byte: 8 bits, unsigned
	Long                   // long: 64 bits, signed
	Decimal                // decimal: up to 38 digits, never converted to a float
	Bool                   // bool
	DateTime               // DateTime: seven fraction digits, without zone
	Bytes                  // byte[]
	Guid                   // Guid
	TimeSpan               // TimeSpan: stored in units of 100 ns, or a time of day
	Dictionary             // Dictionary<string,string>, stored as JSON text; request log only
	Object                 // object, stored as JSON text; not of the ERP
	Epoch                  // a DateTime that is milliseconds in JSON; webhook resources only
	Double                 // double: a binary number of 64 bits
)

// typeInfo has the properties of a type.
type typeInfo struct {
	name   string // in the published interface
	filter Family // operators of fields of the type
	number bool   // a JSON number
	bits   uint8  // width of an integer type
	signed bool
}

var types = [...]typeInfo{
	Text:       {name: "string", filter: TextFilter},
	Int:        {name: "int", filter: OrderedFilter, number: true, bits: 32, signed: true},
	Short:      {name: "short", filter: OrderedFilter, number: true, bits: 16, signed: true},
	Byte:       {name: "byte", filter: OrderedFilter, number: true, bits: 8},
	Long:       {name: "long", filter: OrderedFilter, number: true, bits: 64, signed: true},
	Decimal:    {name: "decimal", filter: OrderedFilter, number: true},
	Bool:       {name: "bool", filter: EqualFilter},
	DateTime:   {name: "DateTime", filter: OrderedFilter},
	Bytes:      {name: "byte[]", filter: EqualFilter},
	Guid:       {name: "Guid", filter: GuidFilter},
	TimeSpan:   {name: "TimeSpan", filter: OrderedFilter},
	Dictionary: {name: "Dictionary<string,string>", filter: TextFilter},
	Object:     {name: "object", filter: TextFilter},
	Epoch:      {name: "date", filter: OrderedFilter},
	Double:     {name: "double", filter: OrderedFilter, number: true},
}

// Types returns all types, for tests that cover each of them.
func Types() []Type {
	list := make([]Type, len(types))
	for i := range list {
		list[i] = Type(i)
	}
	return list
}

// ParseType parses a type as Field.TypeName returns it. Text and Bytes can always be null.
func ParseType(name string) (t Type, null Nullability, known bool) {
	name, question := strings.CutSuffix(name, "?")
	i := slices.IndexFunc(types[:], func(info typeInfo) bool { return info.name == name })
	t = Type(max(i, 0))
	return t, Nullability(question || t == Text || t == Bytes), i >= 0
}

// String returns the name in the published interface.
func (t Type) String() string { return types[t].name }

// Filter returns the family of the fields of the type.
func (t Type) Filter() Family { return types[t].filter }

// Number reports whether values are JSON numbers.
func (t Type) Number() bool { return types[t].number }

// Stored returns the type in which values of t are stored and compared. It differs from
// t if only the text form of t is special.
func (t Type) Stored() Type {
	switch t {
	case TimeSpan:
		return Long
	case Dictionary, Object:
		return Text
	case Epoch:
		return DateTime
	}
	return t
}

// Integer reports whether t is an integer type.
func (t Type) Integer() bool { return types[t].bits != 0 }

// Range returns the minimum and maximum of an integer type.
func (t Type) Range() (lo, hi int64) {
	info := types[t]
	if !info.signed {
		return 0, int64(1)<<info.bits - 1
	}
	hi = int64(1)<<(info.bits-1) - 1
	return -hi - 1, hi
}
