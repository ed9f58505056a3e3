// Package query turns a request into a statement: Parse reads its members,
// NewPlan decides what is to be done, Compile writes it in a database's
// dialect. All three are pure functions.
package query

import (
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// Request is what a request asks for, read and typed.
type Request struct {
	Kind        *record.Kind
	Where       []Condition // AND-ed
	Order       []Order
	OrderMember string // the member that gave Order
	Fields      []int  // columns in the order asked; nil for all
	Distinct    bool
	Skip        int64
	Take        int64 // NoTake where it is not given
	SkipSet     bool
	Include     []Aggregate
	Total       Wish
	Clamped     bool     // Take was cut down to the largest one allowed
	Ignored     []string // what means nothing here, fit for a header
}

// NoTake is the Take of a request that wants all rows.
const NoTake = -1

// Condition compares one field with its operands.
type Condition struct {
	Field    int
	Operator record.Operator
	Operands []wire.Value
}

// Order is one term of an order.
type Order struct {
	Field int
	Desc  bool
}

// Wish says what a request wants to know of the number of all matches.
type Wish uint8

// A request may leave the total to the settings, ask for it, or refuse it: the
// later of these wins where it says several.
const (
	TotalAsSet Wish = iota
	TotalWanted
	TotalRefused
)

// Function is what an aggregate computes.
type Function uint8

// The functions of Include.
const (
	Count Function = iota
	Sum
	Min
	Max
	Avg
)

var functions = [...]string{Count: "COUNT", Sum: "SUM", Min: "MIN", Max: "MAX", Avg: "AVG"}

// String is the function's name in SQL.
func (f Function) String() string { return functions[f] }

// Aggregate is one value about all matches, which goes to Meta under its Name.
type Aggregate struct {
	Function Function
	Distinct bool
	Field    int // AllRows for COUNT(*)
	Name     string
}

// AllRows is the Field of COUNT(*).
const AllRows = -1

// Type is the type of the aggregate's value.
func (a Aggregate) Type(kind *record.Kind) record.Type {
	switch a.Function {
	case Count:
		return record.Long
	case Sum, Avg:
		return record.Decimal
	default:
		return kind.Fields[a.Field].Type
	}
}

// The names that mean something on every query.
const (
	Skip        = "Skip"
	Take        = "Take"
	OrderBy     = "OrderBy"
	OrderByDesc = "OrderByDesc"
	Include     = "Include"
	Fields      = "Fields"
	Meta        = "Meta"
	Strict      = "Strict"
	Cursor      = "Cursor"
	Format      = "format"
	Callback    = "callback"
	Nulls       = "nulls"
)

// Parameter is a member that every query takes, whatever its record kind.
type Parameter struct {
	Name    string
	Type    string // as the published interface writes it; empty for what the published interface does not name
	Summary string
}

// Parameters lists the members that every query takes: the first seven of
// the published interface, then ours and those that are accepted without effect.
func Parameters() []Parameter {
	return []Parameter{
		{Skip, "int?", "number of records to skip"},
		{Take, "int?", "number of records to return"},
		{OrderBy, "string", "fields to order ascending; a leading - reverses one"},
		{OrderByDesc, "string", "fields to order descending"},
		{Include, "string", "Total, NoTotal, COUNT(*), COUNT(DISTINCT f), SUM(f), MIN(f), MAX(f), AVG(f)"},
		{Fields, "string", "comma-separated list of fields to return; a leading DISTINCT makes rows distinct"},
		{Meta, "Dictionary<string,string>", "accepted, without effect"},
		{Strict, "", "true: members that mean nothing are an error"},
		{Cursor, "", "not offered yet"},
		{Format, "", "json, ndjson, csv, xml, jsv or html"},
		{Callback, "", "wraps the JSON reply in a call of this function"},
		{Nulls, "", "include: null members are written"},
		{"v", "", "accepted, without effect"},
		{"jsconfig", "", "accepted, without effect"},
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (f Function) takes(t record.Type) bool {
	switch f {
	case Count:
		return true
	case Sum, Avg:
		return t.Number()
	default:
		return t != record.Bytes && t != record.Bool && t != record.Guid
	}
}
