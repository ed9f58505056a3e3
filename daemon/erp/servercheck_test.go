package erp_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// problems returns the problems and warnings that a check reports for a kind.
func problems(t *testing.T, s *storage.Store, kind string) (failures, warnings []string) {
	t.Helper()
	r, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Kind != kind {
			continue
		}
		if f.Warning {
			warnings = append(warnings, f.Problem)
		} else {
			failures = append(failures, f.Problem)
		}
	}
	return failures, warnings
}

// TestCheckReads: if the login may change a table but not read it, both a check and a
// query report the missing permission.
func TestCheckReads(t *testing.T) {
	dsn := mssqltest.Database(t)
	login := "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`)
	mssqltest.CreateLogin(t, login, "Abcdef12345")
	mssqltest.Exec(t, dsn, `CREATE USER `+login+` FOR LOGIN `+login, `GRANT INSERT, UPDATE ON dbo.DB_Class TO `+login)
	t.Cleanup(func() {
		mssqltest.Exec(t, dsn, `REVOKE INSERT, UPDATE ON dbo.DB_Class FROM `+login, `DROP USER `+login)
	})
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn, ReadDSN: u.String()}})
	const want = "no permission to read"
	failures, _ := problems(t, s, "DB_Class")
	if len(failures) != 1 || !strings.Contains(failures[0], want) {
		t.Errorf("the check reports %q, want %q", failures, want)
	}
	_, err = firsts(t, s, "DB_Class")
	expectUnavailable(t, "the query", err, want)
}

// TestRenamedColumn: the errors for a renamed column name it, and the view that the check
// proposes solves the problem.
func TestRenamedColumn(t *testing.T) {
	dsn := mssqltest.Database(t)
	const schema = "own schema"
	mssqltest.Exec(t, dsn,
		`CREATE SCHEMA [`+schema+`]`,
		`CREATE TABLE [`+schema+`].IN_Colours (RecID nvarchar(20), Description nvarchar(20),
			Code nvarchar(20), StyleID nvarchar(20), DisplayOrder int)`,
		`INSERT INTO [`+schema+`].IN_Colours VALUES (N'1', N'red', N'R', N'S', 1)`,
	)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn, Schema: schema}})
	_, err := firsts(t, s, "IN_Colours")
	expectUnavailable(t, "the query", err, schema+".IN_Colours lacks the column ColourCode of this record kind; "+
		"an administrator can map IN_Colours in erp.sources to a view")

	failures, _ := problems(t, s, "IN_Colours")
	if len(failures) != 1 {
		t.Fatalf("the check reports %q, want one failure", failures)
	}
	_, view, _ := strings.Cut(failures[0], "create a view, ")
	view, setting, ok := strings.Cut(view, ", let the service read it, and set erp.sources to ")
	kind, source, _ := strings.Cut(setting, "=")
	if !ok || !strings.Contains(view, " AS [ColourCode]") || kind != "IN_Colours" {
		t.Fatalf("the check proposes %q, want a view with ColourCode for IN_Colours", failures[0])
	}

	mssqltest.Exec(t, dsn, strings.ReplaceAll(view, "THEIR_NAME", "Code"))
	sources := map[string]string{kind: source}
	s = storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn, Schema: schema, Sources: sources}})
	expectFirsts(t, s, "1", "IN_Colours", "ColourCode", "r")
	if failures, _ := problems(t, s, "IN_Colours"); len(failures) != 0 {
		t.Errorf("with the view the check reports %q, want no failure", failures)
	}
}

// TestWiderColumn: a value of a wider column that its field cannot hold is refused, with an
// error that names it.
func TestWiderColumn(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE IN_KitStockTakeMain (KitStockTakeID char(4), KitStockTakeNo varchar(10),
			KitStockTakeNotes varchar(max), KitStockTakeStatus int, KitStockTakeDate smalldatetime,
			StaffID nchar(6), IN_LogicalID uniqueidentifier, LastSavedDateTime datetime)`,
		`INSERT INTO IN_KitStockTakeMain (KitStockTakeID, KitStockTakeStatus) VALUES ('a', 1), ('b', 2)`,
	)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	expectFirsts(t, s, "a   ", "IN_KitStockTakeMain", "KitStockTakeStatus", "true")
	_, err := firsts(t, s, "IN_KitStockTakeMain", "OrderBy", "KitStockTakeID")
	const want = `dbo.IN_KitStockTakeMain: column KitStockTakeStatus is INT in the database and ` +
		`contains "2", which does not fit bool; an administrator can map IN_KitStockTakeMain in erp.sources`
	if got := fault.From(err); got.Kind != fault.Unavailable || !strings.HasPrefix(got.Message, want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestCheckUnordered: a check warns of columns that cannot be compared or sorted, and
// a query that does so is rejected.
func TestCheckUnordered(t *testing.T) {
	dsn := mssqltest.Database(t)
	onBabelfish := isBabelfish(t, dsn)
	for _, declared := range []string{"xml", "ntext", "text"} {
		// Babelfish compares text and ntext, SQL Server does not.
		isComparable := onBabelfish && declared != "xml"
		mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class `+declared+`)`, `INSERT INTO DB_Class VALUES ('<a/>')`)
		s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
		failures, warnings := problems(t, s, "DB_Class")
		if len(failures) != 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "cannot be compared") {
			t.Errorf("%s: the check reports %q and warns of %q, want one warning", declared, failures, warnings)
		}
		expectFirsts(t, s, "<a/>", "DB_Class")
		for _, members := range [][]string{{"Class", "a"}, {"OrderBy", "Class"}, {"Fields", "DISTINCT Class"}} {
			_, err := firsts(t, s, "DB_Class", members...)
			if isComparable && err == nil {
				continue
			}
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%s %q: got error %v, want an invalid request", declared, members, err)
			}
		}
		mssqltest.Exec(t, dsn, `DROP TABLE DB_Class`)
	}
}

// TestFailingView: errors caused by a view's own expressions are not reported as invalid
// requests.
func TestFailingView(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	for _, query := range []string{
		`CAST(1/(n-1) AS nvarchar(20)) AS Class FROM (VALUES (1)) AS q(n)`,
		`CAST(CAST(n AS int) AS nvarchar(20)) AS Class FROM (VALUES ('1'), ('x')) AS q(n)`,
		`CAST(CAST(n AS datetime) AS nvarchar(20)) AS Class FROM (VALUES ('2019-01-01'), ('x')) AS q(n)`,
		`CAST(CAST(n AS tinyint) AS nvarchar(20)) AS Class FROM (VALUES (1), (70000)) AS q(n)`,
		`CAST(SUBSTRING('abc', 1, n) AS nvarchar(20)) AS Class FROM (VALUES (1), (-5)) AS q(n)`,
		`CAST((SELECT x FROM (VALUES (1), (2)) AS p(x)) AS nvarchar(20)) AS Class`,
		`CAST(LOG(n) AS nvarchar(20)) AS Class FROM (VALUES (1), (-5)) AS q(n)`,
	} {
		mssqltest.Exec(t, dsn, `CREATE VIEW DB_Class AS SELECT `+query)
		_, err := firsts(t, s, "DB_Class")
		expectUnavailable(t, query, err, "dbo.DB_Class")
		mssqltest.Exec(t, dsn, `DROP VIEW DB_Class`)
	}
}

// TestTextComparedWithMoney: a filter of a text field by a text that a column of the type money cannot
// be compared with is an invalid request.
func TestTextComparedWithMoney(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class money)`)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	if _, err := firsts(t, s, "DB_Class", "Class", "x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("got error %v, want an invalid request", err)
	}
}
