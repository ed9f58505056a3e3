package record

import (
	"slices"
	"strings"
)

// Family is a set of filters that a field allows. The published interface denotes it by
// a letter in the column Filter.
type Family uint8

// Families, with their letters.
const (
	NoFilter      Family = iota
	TextFilter           // S
	OrderedFilter        // N
	EqualFilter          // E: equality only
	GuidFilter           // G
)

// Operator compares a field with its operands.
type Operator uint8

// Operators, named after the suffix of their request members.
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

	// Those of the implicit conventions only.
	IsNull
	IsNotNull
)

// Arity is the number of operands of an operator.
type Arity uint8

// Arities.
const (
	One Arity = iota
	Two
	Many // one or more; a filter without operands is ignored
	None // the value is ignored
)

// operators is the filter grammar. The families are a list of letters.
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
	IsNull:               {"IsNull", None, "SNEG"},
	IsNotNull:            {"IsNotNull", None, "SNEG"},
}

// Operators returns the operators of the published interface: all without those that
// only implicit conventions have.
func Operators() []Operator {
	list := make([]Operator, In+1)
	for i := range list {
		list[i] = Operator(i)
	}
	return list
}

// Suffix returns the suffix of a member's name after the field's name; empty for Equal.
func (o Operator) Suffix() string { return operators[o].suffix }

// Arity returns the number of operands.
func (o Operator) Arity() Arity { return operators[o].arity }

// String returns the suffix, or "Equal".
func (o Operator) String() string {
	if o == Equal {
		return "Equal"
	}
	return operators[o].suffix
}

var familyLetters = [...]string{
	NoFilter:      "-",
	TextFilter:    "S",
	OrderedFilter: "N",
	EqualFilter:   "E",
	GuidFilter:    "G",
}

// String returns the letter in the published interface; "-" for NoFilter.
func (f Family) String() string { return familyLetters[f] }

// Allows reports whether fields of the family can be filtered with o.
func (f Family) Allows(o Operator) bool {
	return f != NoFilter && strings.Contains(operators[o].families, f.String())
}

// Operators returns the operators of the family, Equal first.
func (f Family) Operators() []Operator {
	return slices.DeleteFunc(Operators(), func(o Operator) bool { return !f.Allows(o) })
}
