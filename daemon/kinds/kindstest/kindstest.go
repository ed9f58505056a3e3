// Package kindstest makes the tables and views of an ERP for tests: 480 objects in three
// schemas, with the names and columns that make their discovery difficult. They are the
// same on every call.
package kindstest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Schemas are the schemas of the objects on a server.
var Schemas = []string{"dbo", "Sales", "Archive"}

// Numbers of objects and of the columns of the widest table.
const (
	Tables      = 400
	Views       = 80
	WideColumns = 900
)

// Object is a table, or a view of one.
type Object struct {
	Schema, Name string
	Of           string // table of a view, in the same schema
	Columns      []Column
	Primary      []string
	Unique       [][]string
	Rows         int
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string // on SQL Server, with an expression for a computed column
	Null bool
}

// columns are those that most tables have after their key. Each table has a part of them.
var columns = []Column{
	{"Description", "nvarchar(100)", true},
	{"Code", "varchar(40)", false},
	{"Phone No.", "varchar(30)", true},
	{"Quantity", "decimal(19,4)", false},
	{"Price", "money", true},
	{"Weight", "float", true},
	{"Ratio", "real", true},
	{"IsActive", "bit", false},
	{"ItemNo", "int", false},
	{"DisplayOrder", "smallint", true},
	{"Level", "tinyint", true},
	{"Counter", "bigint", true},
	{"OpensAt", "time(7)", true},
	{"Date", "date", true},
	{"LastSavedDateTime", "datetime", false},
	{"Exact", "datetime2(7)", true},
	{"Owner ID", "uniqueidentifier", true},
	{"Notes", "nvarchar(max)", true},
	{"Picture", "varbinary(max)", true},
	{"Take", "int", true},
	{"order", "varchar(10)", true},
	{"Select", "int", true},
	{"Über%Größe", "nvarchar(20)", true},
	{"Odd[Column", "int", true},
	{"2ndName", "varchar(20)", true},
	{"a b", "int", true},
	{"a.b", "int", true},
	{"format", "varchar(10)", true},
}

// every has a column of each type of SQL Server that Babelfish has too.
var every = []Column{
	{"ID", "int IDENTITY", false},
	{"BigInt", "bigint", true},
	{"Int", "int", true},
	{"SmallInt", "smallint", true},
	{"TinyInt", "tinyint", true},
	{"Bit", "bit", true},
	{"Decimal", "decimal(38,10)", true},
	{"Numeric", "numeric(9)", true},
	{"Money", "money", true},
	{"SmallMoney", "smallmoney", true},
	{"Float", "float", true},
	{"Real", "real", true},
	{"Date", "date", true},
	{"Time", "time(7)", true},
	{"DateTime", "datetime", true},
	{"DateTime2", "datetime2(7)", true},
	{"SmallDateTime", "smalldatetime", true},
	{"DateTimeOffset", "datetimeoffset(7)", true},
	{"Char", "char(10)", true},
	{"VarChar", "varchar(50)", true},
	{"VarCharMax", "varchar(max)", true},
	{"Text", "text", true},
	{"NChar", "nchar(10)", true},
	{"NVarChar", "nvarchar(50)", true},
	{"NVarCharMax", "nvarchar(max)", true},
	{"NText", "ntext", true},
	{"Binary", "binary(8)", true},
	{"VarBinary", "varbinary(50)", true},
	{"VarBinaryMax", "varbinary(max)", true},
	{"Image", "image", true},
	{"Guid", "uniqueidentifier", true},
	{"XML", "xml", true},
	{"Variant", "sql_variant", true},
	{"SysName", "sysname", false},
	{"Total", "AS ([Int] * 2)", true},
	{"RowHash", "rowversion", false},
}

var (
	areas = []string{"DB", "CR", "IN", "SO", "PO", "JB", "GL", "BM", "SM", "HR"}
	nouns = []string{
		"Main", "Lines", "Totals", "Documents", "CustomFields", "CustomValues", "History",
		"Notes", "Contacts", "Addresses", "Prices", "Batches", "Serials",
	}
	odd = []string{
		"Order", "Select", "User", "Group", "Index", "Price List 1", "Price-List-1",
		"Odd[Name", "O'Brien's", "2ndTable", "Größe", "a.b", "Totals  by  month",
		"Metadata",
	}
)

// Objects returns the tables, then the views.
func Objects() []Object {
	all := []Object{
		{Schema: "dbo", Name: "SY_EveryType", Columns: every, Primary: []string{"ID"}, Rows: 3},
		wide(),
	}
	for _, name := range odd {
		all = append(all, table(len(all), "dbo", name))
	}
	for _, schema := range Schemas[1:] {
		for _, name := range []string{"Orders", "Order Lines", "Customers"} {
			all = append(all, table(len(all), schema, name))
		}
	}
	for n := 0; len(all) < Tables; n++ {
		name := areas[n%len(areas)] + "_" + nouns[n/len(areas)%len(nouns)]
		if round := n / len(areas) / len(nouns); round > 0 {
			name += strconv.Itoa(round)
		}
		schema := "dbo"
		if n%11 == 0 {
			schema = Schemas[1+n/11%2]
		}
		all = append(all, table(len(all), schema, name))
	}
	for _, t := range slices.Clone(all[Tables-Views:]) {
		all = append(all, Object{Schema: t.Schema, Name: "V " + t.Name, Of: t.Name, Columns: t.Columns})
	}
	return all
}

// table returns table n. Each third has no primary key: a unique index, with or without
// nulls, or none.
func table(n int, schema, name string) Object {
	recID := Column{"RecID", "varchar(36)", n%6 == 0}
	t := Object{Schema: schema, Name: name, Columns: []Column{recID}, Rows: 3}
	for i := range columns {
		if (n+i)%3 != 0 || i < 4 {
			t.Columns = append(t.Columns, columns[(n+i)%len(columns)])
		}
	}
	t.Columns = slices.CompactFunc(t.Columns, func(a, b Column) bool { return a.Name == b.Name })
	switch {
	case n%3 != 0:
		t.Primary = []string{"RecID"}
	case n%6 == 3:
		t.Unique = [][]string{{"RecID"}}
	case n%12 == 0:
		t.Unique = [][]string{{"RecID"}} // may be null
	}
	return t
}

// wideTypes are the types of the columns of IN_Wide, in turns.
var wideTypes = []string{"int", "varchar(20)", "float", "date"}

// wide returns a table with WideColumns columns.
func wide() Object {
	t := Object{
		Schema:  "dbo",
		Name:    "IN_Wide",
		Columns: []Column{{"No", "int", false}, {"Part", "varchar(10)", false}},
		Primary: []string{"No", "Part"},
		Rows:    3,
	}
	for i := len(t.Columns); i < WideColumns; i++ {
		t.Columns = append(t.Columns, Column{fmt.Sprintf("Column %d", i), wideTypes[i%len(wideTypes)], true})
	}
	return t
}

// base returns the name of a type without its length.
func (c Column) base() string {
	name, _, _ := strings.Cut(strings.TrimSuffix(c.Type, " IDENTITY"), "(")
	return name
}

// assigned reports whether the database sets the column.
func (c Column) assigned() bool {
	return strings.HasSuffix(c.Type, "IDENTITY") || strings.HasPrefix(c.Type, "AS ") || c.Type == "rowversion"
}

// value returns a literal for a row.
func (c Column) value(row int) string {
	if c.Null && (row+len(c.Name))%3 == 0 {
		return "NULL"
	}
	n := strconv.Itoa(row)
	switch c.base() {
	case "bit":
		return strconv.Itoa(row % 2)
	case "int", "bigint", "smallint", "tinyint", "sql_variant":
		return n
	case "decimal", "numeric", "money", "smallmoney", "float", "real":
		return n + ".5"
	case "date":
		return "'2024-01-0" + n + "'"
	case "datetime", "datetime2", "smalldatetime":
		return "'2024-01-0" + n + "T10:11:00'"
	case "datetimeoffset":
		return "'2024-01-0" + n + "T10:11:00+10:00'"
	case "time":
		return "'0" + n + ":11:12.5'"
	case "uniqueidentifier":
		return "'0f8fad5b-d9cb-469f-a165-70867728950" + n + "'"
	case "binary", "varbinary", "image":
		return "0x0" + n
	case "xml":
		return "'<a>" + n + "</a>'"
	}
	return "'value " + n + "'"
}

// Statements returns the T-SQL that creates and fills an object.
func (o Object) Statements() (all []string) {
	name := bracket(o.Schema) + "." + bracket(o.Name)
	if o.Of != "" {
		return []string{"CREATE VIEW " + name + " AS SELECT * FROM " + bracket(o.Schema) + "." + bracket(o.Of)}
	}
	return o.create(name, bracket, func(c Column) string { return c.Type })
}

func nullability(null bool) string {
	if null {
		return " NULL"
	}
	return " NOT NULL"
}

// create returns the statements for a table.
func (o Object) create(name string, quote func(string) string, declared func(Column) string) (all []string) {
	var parts, names []string
	for _, c := range o.Columns {
		part := quote(c.Name) + " " + declared(c)
		if !strings.Contains(part, " AS (") {
			part += nullability(c.Null)
		}
		parts = append(parts, part)
		if !c.assigned() {
			names = append(names, quote(c.Name))
		}
	}
	quoted := func(columns []string) string {
		var list []string
		for _, column := range columns {
			list = append(list, quote(column))
		}
		return strings.Join(list, ", ")
	}
	if o.Primary != nil {
		parts = append(parts, "PRIMARY KEY ("+quoted(o.Primary)+")")
	}
	all = append(all, "CREATE TABLE "+name+" ("+strings.Join(parts, ", ")+")")
	for i, columns := range o.Unique {
		all = append(all,
			fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)",
				quote(fmt.Sprintf("UQ_%s_%d", o.Name, i)), name, quoted(columns)))
	}
	for row := 1; row <= o.Rows; row++ {
		var values []string
		for _, c := range o.Columns {
			if !c.assigned() {
				values = append(values, c.value(row))
			}
		}
		insert := "INSERT INTO " + name + " (" + strings.Join(names, ", ") + ")" +
			" VALUES (" + strings.Join(values, ", ") + ")"
		all = append(all, insert)
	}
	return all
}

func bracket(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }
