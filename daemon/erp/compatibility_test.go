package erp

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
)

func TestFits(t *testing.T) {
	cases := []struct {
		types  typeFits
		field  record.Type
		column string
		want   fit
	}{
		{serverFits, record.Text, "nvarchar", fits},
		{serverFits, record.Text, "uniqueidentifier", doubtful},
		{serverFits, record.Text, "varbinary", unfit},
		{serverFits, record.Int, "smallint", fits},
		{serverFits, record.Int, "bigint", doubtful},
		{serverFits, record.Int, "datetime", unfit},
		{serverFits, record.Short, "int", doubtful},
		{serverFits, record.Byte, "smallint", doubtful},
		{serverFits, record.Long, "bigint", fits},
		{serverFits, record.Decimal, "money", fits},
		{serverFits, record.Decimal, "float", doubtful},
		{serverFits, record.Bool, "bit", fits},
		{serverFits, record.DateTime, "datetime2", fits},
		{serverFits, record.DateTime, "time", unfit},
		{serverFits, record.Bytes, "varbinary", fits},
		{serverFits, record.Bytes, "nvarchar", unfit},
		{serverFits, record.Guid, "uniqueidentifier", fits},
		{serverFits, record.Guid, "char", doubtful},
		{serverFits, record.Text, "sql_variant", unfit},
		{fileFits, record.Decimal, affinity("TEXT_DECIMAL"), fits},
		{fileFits, record.Decimal, affinity("DECIMAL(19,4)"), doubtful},
		{fileFits, record.Text, affinity(""), fits},
		{fileFits, record.Bytes, affinity("TEXT"), unfit},
		{fileFits, record.Int, affinity("BIGINT"), fits},
	}
	for _, c := range cases {
		if got := c.types.of(c.field, c.column); got != c.want {
			t.Errorf("%s in %q: got %d, want %d", c.field, c.column, got, c.want)
		}
	}
}

// The embedded store's own columns hold what they are made for, and each type
// of a record's field has a column on a server.
func TestEveryFieldHasAColumn(t *testing.T) {
	for _, kind := range record.Builtin().Kinds() {
		for _, f := range kind.Fields {
			if declared := columnTypes[f.Type]; fileFits.of(f.Type, affinity(strings.Fields(declared)[0])) != fits {
				t.Errorf("%s does not hold %s", declared, f.Type)
			}
			if strings.TrimSpace(serverFits[f.Type].holds) == "" {
				t.Errorf("no column of a server holds %s", f.Type)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	kind := &record.Kind{Name: "K", Fields: []record.Field{
		{Name: "ID", Type: record.Text}, {Name: "Count", Type: record.Int}, {Name: "Stamp", Type: record.Bytes}, {Name: "At", Type: record.DateTime},
	}}
	got := compare(kind, "dbo.K", []Column{
		{Name: "id", Type: "ntext", Declared: "ntext", Unordered: true}, {Name: "COUNT", Type: "bigint", Declared: "bigint"},
		{Name: "Stamp", Type: "xml", Declared: "xml", Unordered: true}, {Name: "Other", Type: "int", Declared: "int"},
	}, serverFits)
	want := []Finding{
		{"K", "dbo.K", "ID", "the column is ntext, which can be shown, but neither be compared nor put in order", true},
		{"K", "dbo.K", "Count", "the column is bigint, of which not every value is one of int", true},
		{"K", "dbo.K", "Stamp", "the column is xml, which cannot be read as byte[]", false},
		{"K", "dbo.K", "At", "there is no such column", false},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if got := compare(kind, "dbo.K", nil, serverFits); len(got) != 1 || got[0].Field != "" || got[0].Warning {
		t.Errorf("no table: %+v", got)
	}
}
