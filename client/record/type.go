package record

// Type is the type of a field's values. How each is written in JSON, CSV and
// so on is decided in package wire.
type Type uint8

// The types of the published interface, in the words that it uses for them.
const (
	Text       Type = iota // string
	Int                    // int: 32 bits, signed
	Short                  // short: 16 bits, signed
	Byte                   // byte: 8 bits, unsigned
	Long                   // long: 64 bits, signed
	Decimal                // decimal: up to 38 digits, never through a float
	Bool                   // bool
	DateTime               // DateTime: seven fraction digits, no zone
	Bytes                  // byte[]
	Guid                   // Guid
	TimeSpan               // TimeSpan: held as a number of 100 ns; request log only
	Dictionary             // Dictionary<string,string>, held as JSON text: request log only
	Object                 // object, held as JSON text: request log only
	Epoch                  // a DateTime that JSON writes as milliseconds: webhook resources only
)

// typeInfo is what is true of a type wherever it is used.
type typeInfo struct {
	name   string // as the published interface writes it
	number bool   // written as a JSON number, aligned right on a screen
	bits   uint8  // of an integer
	signed bool
}

var types = [...]typeInfo{
	Text:       {name: "string"},
	Int:        {name: "int", number: true, bits: 32, signed: true},
	Short:      {name: "short", number: true, bits: 16, signed: true},
	Byte:       {name: "byte", number: true, bits: 8},
	Long:       {name: "long", number: true, bits: 64, signed: true},
	Decimal:    {name: "decimal", number: true},
	Bool:       {name: "bool"},
	DateTime:   {name: "DateTime"},
	Bytes:      {name: "byte[]"},
	Guid:       {name: "Guid"},
	TimeSpan:   {name: "TimeSpan"},
	Dictionary: {name: "Dictionary<string,string>"},
	Object:     {name: "object"},
	Epoch:      {name: "date"},
}

// Types lists every type, for tests that want to see each of them handled.
func Types() []Type {
	all := make([]Type, len(types))
	for i := range all {
		all[i] = Type(i)
	}
	return all
}

// String is the type's name in the published interface.
func (t Type) String() string { return types[t].name }

// Number reports whether values are written as JSON numbers.
func (t Type) Number() bool { return types[t].number }

// Stored is the type whose columns and comparisons hold values of t: t itself for
// all but those that are only written in another way.
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

// Integer reports whether values are whole numbers of a fixed width.
func (t Type) Integer() bool { return types[t].bits != 0 }

// Range gives the smallest and largest value of an integer type.
func (t Type) Range() (lo, hi int64) {
	info := types[t]
	if !info.signed {
		return 0, int64(1)<<info.bits - 1
	}
	hi = int64(1)<<(info.bits-1) - 1
	return -hi - 1, hi
}
