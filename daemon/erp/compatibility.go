package erp

import (
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// Column is a column of a live table or view.
type Column struct {
	Name      string
	Type      string // lower case, without what is in brackets
	Declared  string // for people
	Unordered bool   // the database shows it, but neither compares it nor orders by it
}

// Finding is one difference between a record kind and what it is read from.
type Finding struct {
	Kind    string `json:"Record"`
	Table   string
	Field   string `json:",omitempty"` // empty: the whole table
	Problem string
	Warning bool // queries work as long as the values do
}

// compatibility is how well a column's type holds a field.
type compatibility uint8

const (
	incompatible compatibility = iota
	partial                    // as long as its values happen to be those of the field
	compatible
)

// compatibilities lists the types of columns that hold a field, and those that do so
// as long as their values are right, by the field's type.
type compatibilities map[record.Type]struct{ holds, mayHold string }

const (
	serverTexts    = " char varchar nchar nvarchar text ntext "
	serverWholes   = " tinyint smallint int bigint "
	serverDecimals = " decimal numeric money smallmoney "
	serverFloats   = " float real "
	serverDates    = " date smalldatetime datetime datetime2 "
)

// serverTypes are the types of SQL Server. Floats hold a decimal, but not its
// digits.
var serverTypes = compatibilities{
	record.Text:     {serverTexts, serverWholes + serverDecimals + serverFloats + serverDates + " xml uniqueidentifier bit time datetimeoffset"},
	record.Int:      {"tinyint smallint int bit", "bigint" + serverDecimals + serverTexts},
	record.Short:    {"tinyint smallint bit", "int bigint" + serverDecimals + serverTexts},
	record.Byte:     {"tinyint bit", "smallint int bigint" + serverDecimals + serverTexts},
	record.Long:     {serverWholes + "bit", serverDecimals + serverTexts},
	record.Decimal:  {serverDecimals + serverWholes, serverFloats + serverTexts},
	record.Bool:     {"bit", serverWholes + serverTexts},
	record.DateTime: {serverDates, "datetimeoffset" + serverTexts},
	record.Bytes:    {"binary varbinary image timestamp rowversion", ""},
	record.Guid:     {"uniqueidentifier", serverTexts},
}

// fileTypes are the affinities of SQLite's declared types, as affinity names
// them. What a view computes has none, and is taken as it comes.
var fileTypes = compatibilities{
	record.Text:     {"none text", "integer real numeric"},
	record.Int:      {"none integer", "text real numeric"},
	record.Short:    {"none integer", "text real numeric"},
	record.Byte:     {"none integer", "text real numeric"},
	record.Long:     {"none integer", "text real numeric"},
	record.Decimal:  {"none text integer", "real numeric"},
	record.Bool:     {"none integer", "text numeric"},
	record.DateTime: {"none text", "numeric"},
	record.Bytes:    {"none blob", ""},
	record.Guid:     {"none text", "numeric"},
}

func (f compatibilities) of(t record.Type, column string) compatibility {
	switch lists := f[t.Held()]; {
	case slices.Contains(strings.Fields(lists.holds), column):
		return compatible
	case slices.Contains(strings.Fields(lists.mayHold), column):
		return partial
	}
	return incompatible
}

// affinity is what SQLite makes of a declared type, by its own rules.
func affinity(declared string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToLower(declared), part) })
	}
	switch {
	case declared == "":
		return "none"
	case has("int"):
		return "integer"
	case has("char", "clob", "text"):
		return "text"
	case has("blob"):
		return "blob"
	case has("real", "floa", "doub"):
		return "real"
	}
	return "numeric"
}

// compare finds what a table or view lacks of a record kind. No columns mean no
// table.
func compare(kind *record.Kind, table string, columns []Column, types compatibilities) []Finding {
	if len(columns) == 0 {
		return []Finding{{Kind: kind.Name, Table: table, Problem: "there is no such table or view, or no right to read it"}}
	}
	have := make(map[string]Column)
	for _, c := range columns {
		have[strings.ToLower(c.Name)] = c
	}
	var found []Finding
	for _, f := range kind.Fields {
		finding := Finding{Kind: kind.Name, Table: table, Field: f.Name}
		column, is := have[strings.ToLower(f.Name)]
		switch how := types.of(f.Type, column.Type); {
		case !is:
			finding.Problem = "there is no such column"
		case how == incompatible:
			finding.Problem = "the column is " + column.Declared + ", which cannot be read as " + f.Type.String()
		case column.Unordered:
			finding.Problem = "the column is " + column.Declared + ", which can be shown, but neither be compared nor put in order"
			finding.Warning = true
		case how == partial:
			finding.Problem = "the column is " + column.Declared + ", of which not every value is one of " + f.Type.String()
			finding.Warning = true
		default:
			continue
		}
		found = append(found, finding)
	}
	return found
}

// String is the finding in words.
func (f Finding) String() string {
	if f.Field != "" {
		return f.Table + ", column " + f.Field + ": " + f.Problem
	}
	return f.Table + ": " + f.Problem
}
