package mssql_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestDescribed checks that the description of a result set has the same columns as the
// catalogue.
func TestDescribed(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE T (
			a varchar(30) NOT NULL, b nvarchar(max) NULL, c char(5), d decimal(19,4), e datetime,
			f datetime2(7), g uniqueidentifier, h bit, i tinyint, j smallint, k int, l bigint,
			m varbinary(max), n money, o nvarchar(255), p float,
			q varchar(9) COLLATE Polish_CI_AS)`,
		`CREATE VIEW v AS SELECT a, o, k FROM T`)
	c := open(t, dsn)
	for _, name := range []string{"T", "v", "missing", "nowhere.missing"} {
		listColumns, err := c.Catalogue(t.Context(), table(t, name))
		if err != nil {
			t.Fatal(err)
		}
		describeColumns, err := mssql.Described(c, t.Context(), table(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(describeColumns) != len(listColumns) {
			t.Fatalf("%s: %+v, want %+v", name, describeColumns, listColumns)
		}
		for i, want := range listColumns {
			if got := describeColumns[i]; !sameColumn(got, want) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// sameColumn reports whether the description of a column agrees with the catalogue. The code page
// of parameters counts for columns with a collation only.
func sameColumn(described, listed mssql.Column) bool {
	sameType := described.Name == listed.Name &&
		described.Declared() == listed.Declared() &&
		described.Nullable == listed.Nullable
	sameText := strings.EqualFold(described.Collation, listed.Collation) &&
		described.CodePage == listed.CodePage
	sameParameters := listed.Collation == "" ||
		described.ParameterCodePage == listed.ParameterCodePage
	return sameType && sameText && sameParameters
}

// TestCatalogueDescribes checks that columns of objects that are not in INFORMATION_SCHEMA are
// found. Babelfish has system views of this kind, but no synonyms.
func TestCatalogueDescribes(t *testing.T) {
	c := open(t, mssqltest.Database(t))
	columns, err := c.Catalogue(t.Context(), table(t, "sys.databases"))
	if err != nil {
		t.Fatal(err)
	}
	types := make(map[string]string)
	for _, column := range columns {
		types[column.Name] = column.Type
	}
	for name, want := range map[string]string{"database_id": "int", "create_date": "datetime"} {
		if got := types[name]; got != want {
			t.Errorf("%s is of type %q, want %q", name, got, want)
		}
	}
}
