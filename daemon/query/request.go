// Package query turns a request into SQL: Parse reads its members, NewPlan plans it,
// Compile writes the statement in the dialect of a database. All three are pure
// functions.
package query

import (
	"fmt"
	"strconv"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// Request is a request with its members read and typed.
type Request struct {
	Kind        *record.Kind
	Where       []Condition // joined by AND
	Order       []Order
	OrderMember string // the member that Order was read from
	Fields      []int  // indexes in the requested order; nil for all
	Distinct    bool
	Skip        int64
	Take        int64 // NoTake if it is not given
	SkipSet     bool
	Cursor      *string // nil if it is not given, empty for the first page
	Place       *Place  // place of a request with a cursor, set by Cursors
	ForCopy     string  // the token of a copy that the rows are for; empty for none
	Include     []Aggregate
	Group       *Group // nil for rows of the kind; Where refers to its Source
	Total       TotalMode
	Clamped     bool     // Take was reduced to the maximum
	Ignored     []string // unknown members, safe for a header
}

// checkCopy rejects a copy of a part of the rows or fields. It could not be exact: a row that
// was gone while its page was read, and then returned unchanged, is found only at the end of one
// reply with all rows.
func (r *Request) checkCopy() error {
	if r.ForCopy == "" {
		return nil
	}
	var wrong []fault.Field
	refuse := func(isSet bool, member string) {
		if isSet {
			wrong = append(wrong, fault.Field{
				Name: member,
				Message: "cannot be combined with " + ForCopy +
					", which is for all rows and fields of a kind in one response",
			})
		}
	}
	refuse(r.Group != nil, GroupBy)
	refuse(r.Fields != nil || r.Distinct, Fields)
	refuse(r.SkipSet, Skip)
	refuse(r.Take != NoTake, Take)
	refuse(r.Cursor != nil, Cursor)
	for _, c := range r.Where {
		refuse(true, r.Kind.Fields[c.Field].Name+c.Operator.Suffix())
	}
	if wrong == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: summary(wrong), Fields: wrong}
}

// NoTake is the Take of a request for all rows.
const NoTake = -1

// Order is one term of an order.
type Order struct {
	Field int  `json:",omitzero"`
	Desc  bool `json:",omitzero"`
}

// TotalMode determines whether the number of all matches is returned.
type TotalMode uint8

// The total may be left to the settings, requested or refused. If a request has
// several of these, refusing overrides requesting.
const (
	TotalDefault TotalMode = iota
	TotalOn
	TotalOff
)

// Function is the function of an aggregate.
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

// String returns the function's name in SQL.
func (f Function) String() string { return functions[f] }

// Aggregate is one value computed over all matches, returned in Meta under its Name.
type Aggregate struct {
	Function Function
	Distinct bool
	Field    int // AllRows for COUNT(*)
	Name     string
	Alias    bool // Name is given, not the text of the function
}

// AllRows is the Field of COUNT(*).
const AllRows = -1

// Type returns the type of the aggregate's value.
func (a Aggregate) Type(kind *record.Kind) record.Type {
	switch a.Function {
	case Count:
		return record.Long
	case Sum, Avg:
		if kind.Fields[a.Field].Type == record.Double {
			return record.Double
		}
		return record.Decimal
	default:
		return kind.Fields[a.Field].Type
	}
}

// column returns the name of an aggregate in the rows of groups.
func (a Aggregate) column(kind *record.Kind) string {
	field := ""
	if a.Distinct {
		field = "Distinct"
	}
	if a.Field != AllRows {
		field += kind.Fields[a.Field].Name
	}
	if a.Alias {
		return a.Name
	}
	return record.GroupColumn(a.Function.String(), field)
}

// The names of members of every query.
const (
	Skip        = "Skip"
	Take        = "Take"
	OrderBy     = "OrderBy"
	OrderByDesc = "OrderByDesc"
	Include     = "Include"
	Fields      = "Fields"
	GroupBy     = "GroupBy"
	Meta        = "Meta"
	Strict      = "Strict"
	Cursor      = "Cursor"
	ForCopy     = "ForCopy"
	Format      = "format"
	Callback    = "callback"
	Nulls       = "nulls"
	BOM         = "bom"
	JSConfig    = "jsconfig"
)

// The names of members of Meta. Those of package wire and the functions of Include are others.
const (
	Next       = "Next"     // the cursor of the next page
	NotCounted = "Total"    // the notice that the rows were not counted, since it would take too long
	TotalAge   = "TotalAge" // the age of a total that is returned again, in seconds
)

// NoCursor is the value of Cursor that stands for none, for tools that send every parameter of
// a description: an empty one requests the first page.
const NoCursor = "none"

// Parameter is a member of every query, for all record kinds.
type Parameter struct {
	Name    string
	Type    string // as in the published interface; empty for members that it does not have
	Summary string
}

// Parameters returns the members of every query: the first seven are in the published interface;
// the rest are additions, or accepted without effect.
func Parameters() []Parameter {
	return []Parameter{
		{Skip, "int?", "number of records to skip"},
		{Take, "int?", "number of records to return"},
		{OrderBy, "string", "fields to order ascending; a leading - reverses one"},
		{OrderByDesc, "string", "fields to order descending"},
		{Include, "string", "Total, NoTotal, COUNT(*), COUNT(DISTINCT f), SUM(f), MIN(f), MAX(f), AVG(f)"},
		{Fields, "string", "comma-separated list of fields to return; a leading DISTINCT makes rows distinct"},
		{Meta, "Dictionary<string,string>", "accepted, without effect"},
		{GroupBy, "", "one row for each value of a field, or of a date followed by :day, :month or :year, with the functions of Include"},
		{Strict, "", "true: unknown members are errors"},
		{Cursor, "", "empty: Meta has the cursor of the next page as Next; Next of a page: the page after it; none: as if it was not given"},
		{ForCopy, "", "a token of Changes: all rows for an exact copy, with the changes since the token; Meta, or in ndjson the trailer X-Next-Token, has the token at which it is exact"},
		{Format, "", "json, ndjson, csv, xml, jsv, html or xlsx"},
		{Callback, "", "JSONP: wraps the JSON response in a call of this function"},
		{Nulls, "", "include: null members are included"},
		{BOM, "", "true: CSV starts with a byte order mark, which Excel needs to detect UTF-8"},
		{"v", "", "accepted, without effect"},
		{JSConfig, "", "dh:iso8601: dates of webhooks in ISO 8601; eccn: names of members in camelCase, in JSON and JSV; other options are ignored"},
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func summary(wrong []fault.Field) string {
	text := wrong[0].Name + " " + wrong[0].Message
	if others := len(wrong) - 1; others > 0 {
		text += fmt.Sprintf(" (and %d more)", others)
	}
	return text
}

func (f Function) accepts(t record.Type) bool {
	switch f {
	case Count:
		return true
	case Sum, Avg:
		return t.Number()
	default:
		return t != record.Bytes && t != record.Bool && t != record.Guid
	}
}
