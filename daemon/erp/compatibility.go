package erp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

// Column is a column of a table or view in the database.
type Column struct {
	Name      string
	Type      string // lower case, without length or precision
	Declared  string // type to display
	Unordered bool   // values can be read but not compared or sorted
	Misfit    string // the problem of its values, if they have been checked
}

// Finding is a difference between a record kind and its table or view.
type Finding struct {
	Kind    string `json:"Record"`
	Table   string
	Field   string `json:",omitempty"` // empty if it concerns the whole table
	Problem string
	Warning bool   // queries work unless a value cannot be converted, or bills can only be read
	Grant   string `json:"-"` // statement that grants missing rights, for an administrator
}

// compatibility is how well the type of a column matches a field.
type compatibility uint8

const (
	incompatible compatibility = iota
	partial                    // some values may not convert
	compatible
)

// compatibilities lists column types by field type: those that hold every value of the
// field, and those that may also hold other values.
type compatibilities map[record.Type]struct{ holds, mayHold string }

const (
	serverTexts    = " char varchar nchar nvarchar text ntext "
	serverWholes   = " tinyint smallint int bigint "
	serverDecimals = " decimal numeric money smallmoney "
	serverFloats   = " float real "
	serverDates    = " date smalldatetime datetime datetime2 "
)

// serverTypes lists the types of SQL Server. Floats may hold a decimal, but without its
// exact digits.
var serverTypes = compatibilities{
	record.Text: {
		serverTexts,
		serverWholes + serverDecimals + serverFloats + serverDates + " xml uniqueidentifier bit time datetimeoffset",
	},
	record.Int:      {"tinyint smallint int bit", "bigint" + serverDecimals + serverTexts},
	record.Short:    {"tinyint smallint bit", "int bigint" + serverDecimals + serverTexts},
	record.Byte:     {"tinyint bit", "smallint int bigint" + serverDecimals + serverTexts},
	record.Long:     {serverWholes + "bit", serverDecimals + serverTexts},
	record.Double:   {serverFloats, serverDecimals + serverWholes + serverTexts},
	record.TimeSpan: {"time", "bigint"},
	record.Decimal:  {serverDecimals + serverWholes, serverFloats + serverTexts},
	record.Bool:     {"bit", serverWholes + serverTexts},
	record.DateTime: {serverDates, "datetimeoffset" + serverTexts},
	record.Bytes:    {"binary varbinary image timestamp rowversion", ""},
	record.Guid:     {"uniqueidentifier", serverTexts},
}

// fileTypes lists the type affinities of SQLite, as named by sqlite.Affinity. Computed columns
// of a view have none and match every type.
var fileTypes = compatibilities{
	record.Text:     {"none text integer real numeric", "blob"},
	record.Int:      {"none integer", "text real numeric"},
	record.Short:    {"none integer", "text real numeric"},
	record.Byte:     {"none integer", "text real numeric"},
	record.Long:     {"none integer", "text real numeric"},
	record.Double:   {"none real", "integer numeric text"},
	record.TimeSpan: {"none integer", "text real numeric"},
	record.Decimal:  {"none text integer", "real numeric"},
	record.Bool:     {"none integer", "text numeric"},
	record.DateTime: {"none text", "numeric"},
	record.Bytes:    {"none blob", "numeric"},
	record.Guid:     {"none text", "numeric"},
}

// ofField returns the compatibility of a field with a column. A GUID may also be stored as a blob
// if the field has the order of its bytes.
func (f compatibilities) ofField(field record.Field, column string) compatibility {
	match := f.of(field.Type, column)
	if field.Blob == "" {
		return match
	}
	return max(match, f.of(record.Bytes, column))
}

// of returns the compatibility of a type of fields with a type of columns.
func (f compatibilities) of(t record.Type, column string) compatibility {
	lists, ok := f[t]
	if !ok {
		lists = f[t.Stored()]
	}
	if slices.Contains(strings.Fields(lists.holds), column) {
		return compatible
	}
	if slices.Contains(strings.Fields(lists.mayHold), column) {
		return partial
	}
	return incompatible
}

// Holds reports whether a field holds all values of a column of a type, of a server or of an
// embedded file.
func Holds(f record.Field, column string, server bool) bool {
	if server {
		return serverTypes.ofField(f, column) == compatible
	}
	return fileTypes.ofField(f, sqlite.Affinity(column)) == compatible
}

const (
	noTable = "there is no such table or view, or no permission to read it; " +
		"if it has another name, set that in erp.sources"
	noColumn = "there is no such column"
)

// proposeView adds to the first missing column of a record kind how a view can provide all
// that are missing.
func proposeView(view, table string, findings []Finding) {
	first := slices.IndexFunc(findings, func(f Finding) bool { return f.Problem == noColumn })
	if first < 0 {
		return
	}
	columns := ""
	for _, f := range findings {
		if f.Problem == noColumn {
			columns += ", THEIR_NAME AS [" + f.Field + "]"
		}
	}
	f := &findings[first]
	f.Problem += fmt.Sprintf("; if it has another name, create a view, CREATE VIEW %s AS SELECT *%s FROM %s, "+
		"let the service read it, and set erp.sources to %s=%s", view, columns, table, f.Kind, view)
}

// proposeColumns adds to each missing table or column of a kind of a file how to correct the file.
func proposeColumns(kind *record.Kind, findings []Finding) {
	for i := range findings {
		f := &findings[i]
		switch f.Problem {
		case noTable:
			f.Problem += " or as source in its file"
		case noColumn:
			index, _ := kind.Column(f.Field)
			field := kind.Fields[index]
			f.Problem += fmt.Sprintf(" %s; correct the field in its file, %s = { type = %q, column = \"THEIR_NAME\" }, or remove it",
				field.ColumnName(), field.Name, field.TypeName())
		}
	}
}

// compare returns the differences between a record kind and the columns of its table
// or view. No columns mean that the table does not exist.
func compare(kind *record.Kind, table string, columns []Column, types compatibilities) []Finding {
	if len(columns) == 0 {
		return []Finding{{Kind: kind.Name, Table: table, Problem: noTable}}
	}
	byName := make(map[string]Column)
	for _, c := range columns {
		byName[strings.ToLower(c.Name)] = c
	}
	var findings []Finding
	for _, f := range kind.Fields {
		finding := Finding{Kind: kind.Name, Table: table, Field: f.Name}
		column, ok := byName[strings.ToLower(f.ColumnName())]
		match := types.ofField(f, column.Type)
		switch {
		case !ok:
			finding.Problem = noColumn
		case match == incompatible:
			finding.Problem = "the column is " + column.Declared + ", which cannot be read as " + f.Type.String()
		case column.Misfit != "":
			finding.Problem = "the column is " + column.Declared + ", and " + column.Misfit
			finding.Warning = true
		case column.Unordered:
			finding.Problem = "the column is " + column.Declared + ", which cannot be compared or sorted"
			finding.Warning = true
		case match == partial:
			finding.Problem = "the column is " + column.Declared +
				", which may have values that cannot be read as " + f.Type.String()
			finding.Warning = true
		default:
			continue
		}
		findings = append(findings, finding)
	}
	return findings
}

// String returns the table, the column and the problem.
func (f Finding) String() string {
	if f.Field != "" {
		return f.Table + ", column " + f.Field + ": " + f.Problem
	}
	return f.Table + ": " + f.Problem
}
