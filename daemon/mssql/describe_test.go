package mssql_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestDescribed: the description of a result set has the same columns as the catalogue.
func TestDescribed(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE T (a varchar(30) NOT NULL, b nvarchar(max) NULL, c char(5), d decimal(19,4), e datetime, f datetime2(7), g uniqueidentifier,
			h bit, i tinyint, j smallint, k int, l bigint, m varbinary(max), n money, o nvarchar(255), p float, q varchar(9) COLLATE Polish_CI_AS)`,
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
			got := describeColumns[i]
			if got.Name != want.Name || got.Declared() != want.Declared() || got.Nullable != want.Nullable || !strings.EqualFold(got.Collation, want.Collation) ||
				got.CodePage != want.CodePage || want.Collation != "" && got.ParameterCodePage != want.ParameterCodePage {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// TestCatalogueDescribes: columns of objects that are not in INFORMATION_SCHEMA are found.
// Babelfish has system views of this kind, but no synonyms.
func TestCatalogueDescribes(t *testing.T) {
	columns, err := open(t, mssqltest.Database(t)).Catalogue(t.Context(), table(t, "sys.databases"))
	if err != nil {
		t.Fatal(err)
	}
	types := make(map[string]string)
	for _, c := range columns {
		types[c.Name] = c.Type
	}
	if types["database_id"] != "int" || types["create_date"] != "datetime" {
		t.Errorf("%v", types)
	}
}
