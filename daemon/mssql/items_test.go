package mssql

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

// TestItems: the items of a list have the column's type where that holds all of
// them, and a longer or wider one of the same nature where it does not.
func TestItems(t *testing.T) {
	long := Column{Type: "varchar", Length: -1, CodePage: latin1, Spoken: latin1}
	for _, c := range []struct {
		column Column
		of     record.Type
		texts  []string
		want   string
	}{
		{narrow, record.Text, []string{"a", "Größe"}, "varchar(30)"},
		{narrow, record.Text, []string{strings.Repeat("x", 31), "a"}, "varchar(8000)"},
		{narrow, record.Text, []string{"a", strings.Repeat("x", 8001)}, "varchar(max)"},
		{narrow, record.Text, []string{"a", "日"}, "nvarchar(4000)"},
		{long, record.Text, []string{"a"}, "varchar(8000)"},
		{wide, record.Text, []string{"a", "日"}, "nvarchar(30)"},
		{wide, record.Text, []string{"a", strings.Repeat("日", 31)}, "nvarchar(4000)"},
		{wide, record.Text, []string{strings.Repeat("日", 4001)}, "nvarchar(max)"},
		{Column{Type: "char", Length: 36}, record.Guid, []string{aGuid}, "varchar(36)"},
		{Column{Type: "uniqueidentifier"}, record.Guid, []string{aGuid}, ""},
		{Column{Type: "smallint"}, record.Int, []string{"1", "-32768"}, "smallint"},
		{Column{Type: "tinyint"}, record.Int, []string{"1", "-1"}, "smallint"},
		{Column{Type: "smallint"}, record.Long, []string{"40000", "1"}, "int"},
		{Column{Type: "bigint"}, record.Int, []string{"1"}, "bigint"},
		{narrow, record.Int, []string{"1"}, ""}, // as numbers: 05 is 5
		{Column{Type: "int"}, record.Text, []string{"1"}, ""},
		{Column{Type: "decimal", Precision: 9}, record.Int, []string{"1"}, ""},
		{Column{}, record.Text, []string{"a"}, ""},
	} {
		if got := c.column.Items(c.of, c.texts); got != c.want {
			t.Errorf("%s, %s of %.10q: %q, want %q", c.column.Declared(), c.of, c.texts, got, c.want)
		}
	}
}
