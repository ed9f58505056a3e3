package record

import "strings"

// Family says which filters a field takes: the letter in the Filter column of
// the published interface.
type Family uint8

// The families.
const (
	NoFilter      Family = iota
	TextFilter           // S
	OrderedFilter        // N
	EqualFilter          // E: equality only
	GuidFilter           // G
)

// Operator is one comparison of a field with one, two or many operands.
type Operator uint8

// The operators, each named by the suffix that a member of a request carries.
const (
	Equal Operator = iota
	StartsWith
	EndsWith
	Contains
	Like
	GreaterThanOrEqualTo
	GreaterThan
	LessThan
	LessThanOrEqualTo
	NotEqualTo
	Between
	In
)

// Arity is the number of operands that an operator takes.
type Arity uint8

// The arities.
const (
	One  Arity = iota // exactly one
	Two               // exactly two
	Many              // one or more; none at all means "not given"
)

// operators is the filter grammar: suffix, arity, and whose it is.
var operators = [...]struct {
	suffix   string
	arity    Arity
	families string
}{
	Equal:                {"", One, "SNEG"},
	StartsWith:           {"StartsWith", One, "S"},
	EndsWith:             {"EndsWith", One, "S"},
	Contains:             {"Contains", One, "S"},
	Like:                 {"Like", One, "S"},
	GreaterThanOrEqualTo: {"GreaterThanOrEqualTo", One, "N"},
	GreaterThan:          {"GreaterThan", One, "N"},
	LessThan:             {"LessThan", One, "N"},
	LessThanOrEqualTo:    {"LessThanOrEqualTo", One, "N"},
	NotEqualTo:           {"NotEqualTo", One, "N"},
	Between:              {"Between", Two, "SN"},
	In:                   {"In", Many, "SNG"},
}

// Operators lists every operator.
func Operators() []Operator {
	all := make([]Operator, len(operators))
	for i := range all {
		all[i] = Operator(i)
	}
	return all
}

// Suffix is what a member's name carries behind the field's name: empty for
// equality.
func (o Operator) Suffix() string { return operators[o].suffix }

// Arity is the number of operands that the operator takes.
func (o Operator) Arity() Arity { return operators[o].arity }

// String is the suffix, and "Equal" for equality.
func (o Operator) String() string {
	if o == Equal {
		return "Equal"
	}
	return operators[o].suffix
}

// String is the family's letter in the published interface, "-" for no filter.
func (f Family) String() string { return [...]string{"-", "S", "N", "E", "G"}[f] }

// Allows reports whether fields of the family can be filtered with o.
func (f Family) Allows(o Operator) bool {
	return f != NoFilter && strings.Contains(operators[o].families, f.String())
}

// Operators lists the operators of the family, equality first.
func (f Family) Operators() []Operator {
	var all []Operator
	for _, o := range Operators() {
		if f.Allows(o) {
			all = append(all, o)
		}
	}
	return all
}
