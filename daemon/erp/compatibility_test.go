package erp

import (
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/sqlite"
)

func TestCompatibility(t *testing.T) {
	cases := []struct {
		types  compatibilities
		field  record.Type
		column string
		want   compatibility
	}{
		{serverTypes, record.Text, "nvarchar", compatible},
		{serverTypes, record.Text, "uniqueidentifier", partial},
		{serverTypes, record.Text, "varbinary", incompatible},
		{serverTypes, record.Int, "smallint", compatible},
		{serverTypes, record.Int, "bigint", partial},
		{serverTypes, record.Int, "datetime", incompatible},
		{serverTypes, record.Short, "int", partial},
		{serverTypes, record.Byte, "smallint", partial},
		{serverTypes, record.Long, "bigint", compatible},
		{serverTypes, record.Decimal, "money", compatible},
		{serverTypes, record.Decimal, "float", partial},
		{serverTypes, record.Double, "real", compatible},
		{serverTypes, record.Double, "money", partial},
		{serverTypes, record.TimeSpan, "time", compatible},
		{serverTypes, record.TimeSpan, "datetime", incompatible},
		{serverTypes, record.Bool, "bit", compatible},
		{serverTypes, record.DateTime, "datetime2", compatible},
		{serverTypes, record.DateTime, "time", incompatible},
		{serverTypes, record.Bytes, "varbinary", compatible},
		{serverTypes, record.Bytes, "nvarchar", incompatible},
		{serverTypes, record.Guid, "uniqueidentifier", compatible},
		{serverTypes, record.Guid, "char", partial},
		{serverTypes, record.Text, "sql_variant", incompatible},
		{fileTypes, record.Decimal, sqlite.Affinity("TEXT_DECIMAL"), compatible},
		{fileTypes, record.Decimal, sqlite.Affinity("DECIMAL(19,4)"), partial},
		{fileTypes, record.Double, sqlite.Affinity("DOUBLE PRECISION"), compatible},
		{fileTypes, record.Text, sqlite.Affinity(""), compatible},
		{fileTypes, record.Bytes, sqlite.Affinity("TEXT"), incompatible},
		{fileTypes, record.Int, sqlite.Affinity("BIGINT"), compatible},
	}
	for _, c := range cases {
		if got := c.types.of(c.field, c.column); got != c.want {
			t.Errorf("%s in %q: got %d, want %d", c.field, c.column, got, c.want)
		}
	}
}

// TestEveryFieldHasAColumn: the column types of the embedded file hold their fields, and a
// server has a column type for each type of field.
func TestEveryFieldHasAColumn(t *testing.T) {
	for _, kind := range record.Builtin().Kinds() {
		for _, f := range kind.Fields {
			declared := declaredTypes[f.Type]
			affinity := sqlite.Affinity(strings.Fields(declared)[0])
			if got := fileTypes.of(f.Type, affinity); got != compatible {
				t.Errorf("%s in a column %s of a file: got %d, want %d", f.Type, declared, got, compatible)
			}
			if strings.TrimSpace(serverTypes[f.Type].holds) == "" {
				t.Errorf("no column of a server holds %s", f.Type)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	kind := &record.Kind{Name: "K", Fields: []record.Field{
		{Name: "ID", Type: record.Text},
		{Name: "Count", Type: record.Int},
		{Name: "Stamp", Type: record.Bytes},
		{Name: "At", Type: record.DateTime},
	}}
	got := compare(kind, "dbo.K", []Column{
		{Name: "id", Type: "ntext", Declared: "ntext", Unordered: true},
		{Name: "COUNT", Type: "bigint", Declared: "bigint"},
		{Name: "Stamp", Type: "xml", Declared: "xml", Unordered: true},
		{Name: "Other", Type: "int", Declared: "int"},
	}, serverTypes)
	want := []Finding{
		{"K", "dbo.K", "ID", "the column is ntext, which cannot be compared or sorted", true, ""},
		{"K", "dbo.K", "Count", "the column is bigint, which may have values that cannot be read as int", true, ""},
		{"K", "dbo.K", "Stamp", "the column is xml, which cannot be read as byte[]", false, ""},
		{"K", "dbo.K", "At", "there is no such column", false, ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got findings\n%+v, want\n%+v", got, want)
	}
	if got := compare(kind, "dbo.K", nil, serverTypes); len(got) != 1 || got[0].Field != "" || got[0].Warning {
		t.Errorf("without a table: got %+v, want one failure of the whole table", got)
	}
}

// TestCompareGUIDsInBlobs checks that a GUID can be stored as a blob only if its field has the order
// of the bytes.
func TestCompareGUIDsInBlobs(t *testing.T) {
	kind := &record.Kind{Name: "K", Fields: []record.Field{
		{Name: "Net", Type: record.Guid, Blob: record.BlobNet},
		{Name: "RFC", Type: record.Guid, Blob: record.BlobRFC},
		{Name: "Text", Type: record.Guid, Blob: record.BlobNet},
		{Name: "None", Type: record.Guid},
	}}
	got := compare(kind, "K", []Column{
		{Name: "Net", Type: "blob", Declared: "BLOB"},
		{Name: "RFC", Type: "blob", Declared: "BLOB"},
		{Name: "Text", Type: "text", Declared: "TEXT"},
		{Name: "None", Type: "blob", Declared: "BLOB"},
	}, fileTypes)
	want := Finding{Kind: "K", Table: "K", Field: "None", Problem: "the column is BLOB, which cannot be read as Guid"}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want only %+v", got, want)
	}
}

// TestProposeView: one finding of a kind has the view for all missing columns.
func TestProposeView(t *testing.T) {
	findings := []Finding{
		{Kind: "K", Table: "dbo.T", Field: "A", Problem: "other"},
		{Kind: "K", Table: "dbo.T", Field: "B", Problem: noColumn},
		{Kind: "K", Table: "dbo.T", Field: "C", Problem: noColumn},
	}
	proposeView("[own].[whd_K]", "[dbo].[T]", findings)
	want := []string{
		"other",
		noColumn + "; if it has another name, create a view, CREATE VIEW [own].[whd_K] AS " +
			"SELECT *, THEIR_NAME AS [B], THEIR_NAME AS [C] FROM [dbo].[T], " +
			"let the service read it, and set erp.sources to K=[own].[whd_K]",
		noColumn,
	}
	for i, f := range findings {
		if f.Problem != want[i] {
			t.Errorf("%s: got %s, want %s", f.Field, f.Problem, want[i])
		}
	}
}
