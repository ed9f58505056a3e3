package erp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// TestLongerColumn: after a column has been made longer while the daemon runs, a list
// filter finds values of the new length.
func TestLongerColumn(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class varchar(10))`)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	const long = "longer than ten characters"
	items := []string{long}
	for i := range manyItems {
		items = append(items, fmt.Sprint("v", i))
	}
	expectFirsts(t, s, "", "DB_Class", "ClassIn", strings.Join(items, ","))
	mssqltest.Exec(t, dsn,
		`DROP TABLE DB_Class`,
		`CREATE TABLE DB_Class (Class varchar(30))`,
		`INSERT INTO DB_Class VALUES ('`+long+`')`,
	)
	expectFirsts(t, s, long, "DB_Class", "Class", long)
	expectFirsts(t, s, long, "DB_Class", "ClassIn", strings.Join(items, ","))
}

// manyItems is a number of items that is sent as one parameter.
const manyItems = 60

// TestListsByColumn filters by lists sent as one parameter, on columns of types that differ
// from those of the fields.
func TestListsByColumn(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE SY_Filters (RecID char(5), FilterNo smallint, FilterString nvarchar(max),
			Description varchar(max), ItemNo varchar(9), Name nvarchar(4))`,
		`INSERT INTO SY_Filters VALUES ('a', 7, N'日本', 'x', '07', N'n')`)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	for member, item := range map[string]string{
		"RecIDIn":        "a",
		"FilterNoIn":     "7",
		"FilterStringIn": "日本",
		"DescriptionIn":  "X",
		"ItemNoIn":       "7",
		"NameIn":         "N",
	} {
		items := []string{item}
		for i := range manyItems {
			items = append(items, fmt.Sprint(100_000+i))
		}
		expectFirsts(t, s, "a    ", "SY_Filters", member, strings.Join(items, ","))
	}
}

// TestListsWithEscapes filters by lists with texts that package json escapes. Babelfish does not decode
// those escapes that JSON requires.
func TestListsWithEscapes(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE DB_Class (Class nvarchar(30))`,
		"INSERT INTO DB_Class VALUES (N'R&D'), (N'<b>'), (N'a\u2028b'), (N'a\u2029b'), (N'say \"x\"'), (N'a\\b')",
	)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	for _, item := range []string{"R&D", "<b>", "a\u2028b", "a\u2029b", `say "x"`, `a\b`} {
		items := []string{item}
		for i := range manyItems {
			items = append(items, fmt.Sprint("v", i))
		}
		expectFirsts(t, s, item, "DB_Class", "Class", item)
		expectFirsts(t, s, item, "DB_Class", "ClassIn", strings.Join(items, ","))
	}
}
