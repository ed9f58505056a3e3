package mssql

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestItems checks that list items have the column's type if that holds all of them, else a
// longer or larger type of the same kind.
func TestItems(t *testing.T) {
	long := Column{Type: "varchar", Length: -1, CodePage: latin1, ParameterCodePage: latin1}
	for _, c := range []struct {
		column Column
		kind   record.Type
		texts  []string
		want   string
	}{
		{usesCodePage, record.Text, []string{"a", "Größe"}, "varchar(30)"},
		{usesCodePage, record.Text, []string{strings.Repeat("x", 31), "a"}, "varchar(8000)"},
		{usesCodePage, record.Text, []string{"a", strings.Repeat("x", 8001)}, "varchar(max)"},
		{usesCodePage, record.Text, []string{"a", "日"}, "nvarchar(4000)"},
		{long, record.Text, []string{"a"}, "varchar(8000)"},
		{wide, record.Text, []string{"a", "日"}, "nvarchar(30)"},
		{wide, record.Text, []string{"a", strings.Repeat("日", 31)}, "nvarchar(4000)"},
		{wide, record.Text, []string{strings.Repeat("日", 4001)}, "nvarchar(max)"},
		{Column{Type: "char", Length: 36}, record.Guid, []string{aGuid}, "varchar(36)"},
		{Column{Type: "uniqueidentifier"}, record.Guid, []string{aGuid}, ""},
		{Column{Type: "smallint"}, record.Int, []string{"1", "-32768"}, "smallint"},
		{Column{Type: "tinyint"}, record.Int, []string{"1", "-1"}, "smallint"},
		{Column{Type: "real"}, record.Double, []string{"0.1", "1e-7"}, "real"},
		{Column{Type: "real"}, record.Double, []string{"0.1", "1e300"}, ""},
		{Column{Type: "smallint"}, record.Long, []string{"40000", "1"}, "int"},
		{Column{Type: "bigint"}, record.Int, []string{"1"}, "bigint"},
		{usesCodePage, record.Int, []string{"1"}, ""}, // compared as numbers: 05 equals 5
		{Column{Type: "int"}, record.Text, []string{"1"}, ""},
		{Column{Type: "decimal", Precision: 9}, record.Int, []string{"1"}, ""},
		{Column{}, record.Text, []string{"a"}, ""},
	} {
		if got := c.column.Items(c.kind, c.texts); got != c.want {
			t.Errorf("%s, %s of %.10q: %q, want %q", c.column.Declared(), c.kind, c.texts, got, c.want)
		}
	}
}
