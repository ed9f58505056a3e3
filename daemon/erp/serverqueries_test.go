package erp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// selects starts a query on a kind, with members as name, value, name, value.
func selects(ctx context.Context, t *testing.T, s *storage.Store, kind string, members ...string) (*executor.Result, error) {
	t.Helper()
	k, ok := record.Builtin().Lookup(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	var parsed query.Members
	for pair := range slices.Chunk(members, 2) {
		parsed = append(parsed, query.Member{Name: pair[0], Texts: pair[1:]})
	}
	request, err := query.Parse(k, parsed, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(request, false)
	if err != nil {
		t.Fatal(err)
	}
	return s.Select(ctx, plan)
}

// firsts returns the first column of a query's rows, joined by commas.
func firsts(t *testing.T, s *storage.Store, kind string, members ...string) (string, error) {
	t.Helper()
	r, err := selects(t.Context(), t, s, kind, members...)
	if err != nil {
		return "", err
	}
	defer r.Close()
	k, _ := record.Builtin().Lookup(kind)
	var texts []string
	for {
		cells, err := r.Next()
		if err != nil || cells == nil {
			return strings.Join(texts, ","), err
		}
		texts = append(texts, cells[0].Text(k.Fields[0].Type))
	}
}

func expectFirsts(t *testing.T, s *storage.Store, want, kind string, members ...string) {
	t.Helper()
	if got, err := firsts(t, s, kind, members...); got != want || err != nil {
		t.Errorf("%s %q: got %q (%v), want %q", kind, members, got, err, want)
	}
}

// TestLiveTypes reads tables with column types that are usual in an ERP but differ from
// those that Seed chooses.
func TestLiveTypes(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE IN_KitStockTakeMain (KitStockTakeID char(4), KitStockTakeNo varchar(10),
			KitStockTakeNotes varchar(max), KitStockTakeStatus tinyint, KitStockTakeDate smalldatetime,
			StaffID nchar(6), IN_LogicalID uniqueidentifier, LastSavedDateTime datetime)`,
		`INSERT INTO IN_KitStockTakeMain VALUES ('a', 'Größe', 'x', 1, '2019-05-01T10:11:00', N'ab',
			'0f8fad5b-d9cb-469f-a165-70867728950e', '2019-05-01T10:11:12.123')`,
		`INSERT INTO IN_KitStockTakeMain VALUES ('b', 'Grosse', NULL, 0, '2019-05-02', NULL, NULL,
			'2019-05-01T10:11:12.127')`,
		`INSERT INTO IN_KitStockTakeMain VALUES ('c', '?', '', NULL, NULL, N'日本', NULL, '1753-01-01')`,
		`CREATE TABLE INMGT020POQty (INVENTORYID varchar(5), Qty money, Delivered float, UnactQty real,
			ActQty int, IN_LogicalID int)`,
		`INSERT INTO INMGT020POQty VALUES ('1', 12.5, 0.1, 0.1, 7, 3)`,
		`INSERT INTO INMGT020POQty VALUES ('2', -0.0001, 1e22, 16777216, -7, NULL)`,
	)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	// Each case has the expected first column, followed by the members of the request.
	for _, c := range [][]string{
		{"a   ,b   ,c   ", "OrderBy", "KitStockTakeID"},
		{"a   ", "KitStockTakeID", "A"},
		{"a   ", "KitStockTakeIDIn", "a,x"},
		{"a   ", "KitStockTakeNo", "grÖße"},
		{"a   ", "KitStockTakeNoStartsWith", "Grö"},
		{"a   ", "KitStockTakeNoContains", "öß"},
		{"", "KitStockTakeNo", "値"}, // converted to varchar it would be "?"
		{"c   ", "KitStockTakeNo", "?"},
		{"", "KitStockTakeNo", "Grosse is longer than the column"},
		{"b   ", "KitStockTakeNo", "grosse  "},
		{"a   ", "KitStockTakeStatus", "true"},
		{"c   ", "StaffID", "日本"},
		{"a   ", "KitStockTakeDate", "2019-05-01T10:11:00"},
		{"", "KitStockTakeDate", "2019-05-01T10:11:00.001"},
		{"a   ", "LastSavedDateTime", "2019-05-01T10:11:12.123"}, // as shown in results
		{"b   ", "LastSavedDateTimeGreaterThan", "2019-05-01T10:11:12.123"},
		{"b   ", "LastSavedDateTimeGreaterThan", "2019-05-01T10:11:12.125"},
		{"a   ,b   ", "LastSavedDateTimeGreaterThanOrEqualTo", "2019-05-01T10:11:12.123", "OrderBy", "KitStockTakeID"},
		{"a   ,c   ", "LastSavedDateTimeLessThan", "2019-05-01T10:11:12.127", "OrderBy", "KitStockTakeID"},
		{"b   ,c   ", "LastSavedDateTimeNotEqualTo", "2019-05-01T10:11:12.123", "OrderBy", "KitStockTakeID"},
		{"a   ,b   ,c   ", "LastSavedDateTimeNotEqualTo", "2019-05-01T10:11:12.124", "OrderBy", "KitStockTakeID"},
		{"a   ,b   ,c   ", "LastSavedDateTimeGreaterThan", "0001-01-01", "OrderBy", "KitStockTakeID"},
		{"", "LastSavedDateTimeLessThan", "0001-01-01"},
		{"a   ,b   ", "LastSavedDateTimeIn", "2019-05-01T10:11:12.123,2019-05-01T10:11:12.127,2019-05-01T10:11:12.125", "OrderBy", "KitStockTakeID"},
	} {
		expectFirsts(t, s, c[0], "IN_KitStockTakeMain", c[1:]...)
	}
	for _, c := range [][]string{
		{"1", "Qty", "12.50"},
		{"2", "QtyLessThan", "0"},
		{"1", "Delivered", "0.1"},
		{"2", "DeliveredGreaterThan", "999999999999999999999"},
		{"1", "ActQtyGreaterThan", "6.5"},
		{"2", "ActQty", "-7.000"},
	} {
		expectFirsts(t, s, c[0], "INMGT020POQty", c[1:]...)
	}
	if _, err := firsts(t, s, "INMGT020POQty", "IN_LogicalID", "x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("text compared with an int column: got error %v, want an invalid request", err)
	}
}

// TestMissingTables: a query on a kind without a table names the table, other kinds keep
// working, and the kind works as soon as the table exists.
func TestMissingTables(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE DB_Class (Class nvarchar(20))`,
		`INSERT INTO DB_Class VALUES (N'retail')`,
		`CREATE TABLE IN_Colours (RecID nvarchar(20))`,
	)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	for range 2 {
		expectFirsts(t, s, "retail", "DB_Class")
		for kind, table := range map[string]string{"SY_Filters": "dbo.SY_Filters", "IN_Colours": "dbo.IN_Colours"} {
			_, err := firsts(t, s, kind)
			expectUnavailable(t, kind, err, table)
		}
	}
	mssqltest.Exec(t, dsn, createFilters)
	expectFirsts(t, s, "", "SY_Filters")
}

const createFilters = `CREATE TABLE SY_Filters (RecID nvarchar(20), FilterNo int, FilterString nvarchar(20),
	Description nvarchar(20), ItemNo int, Name nvarchar(20))`

// TestChangedColumn: the column types are read again after a column has changed its type.
func TestChangedColumn(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class int)`, `INSERT INTO DB_Class VALUES (7)`)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	expectFirsts(t, s, "7", "DB_Class", "Class", "7")
	if _, err := firsts(t, s, "DB_Class", "Class", "x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("text compared with an int column: got error %v, want an invalid request", err)
	}
	mssqltest.Exec(t, dsn,
		`DROP TABLE DB_Class`,
		`CREATE TABLE DB_Class (Class varchar(9))`,
		`INSERT INTO DB_Class VALUES ('x')`,
	)
	expectFirsts(t, s, "x", "DB_Class", "Class", "x")
}

// TestSources reads a table of a schema, a view of another, and a table of another database.
func TestSources(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn,
		`CREATE SCHEMA [e r p]`,
		`CREATE TABLE [e r p].DB_Class (Class nvarchar(20))`,
		`INSERT INTO [e r p].DB_Class VALUES (N'schema')`,
		`CREATE TABLE dbo.[a.b] (InvoiceID varchar(9), InvoiceTotal decimal(9,2),
			Cartage1Total decimal(9,2), Cartage1TaxTotal decimal(9,2), Cartage2Total decimal(9,2),
			Cartage2TaxTotal decimal(9,2), Cartage3Total decimal(9,2), Cartage3TaxTotal decimal(9,2))`,
		`INSERT INTO dbo.[a.b] (InvoiceID) VALUES ('view')`,
		`CREATE VIEW dbo.v_Totals AS SELECT * FROM dbo.[a.b]`,
	)
	otherDSN := mssqltest.Database(t)
	mssqltest.Exec(t, otherDSN,
		`CREATE TABLE C (RecID varchar(9), Description varchar(9), ColourCode varchar(9), StyleID varchar(9),
			DisplayOrder int)`,
		`INSERT INTO C (RecID) VALUES ('other')`,
	)
	_, database, _ := strings.Cut(otherDSN, "database=")
	database, _, _ = strings.Cut(database, "&")
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{
		DSN: dsn, ReadDSN: dsn + "&ApplicationIntent=ReadOnly", Schema: "e r p",
		Sources: map[string]string{"SO_Totals": "dbo.v_Totals", "IN_Colours": database + ".dbo.C"},
	}})
	expectFirsts(t, s, "schema", "DB_Class")
	expectFirsts(t, s, "view", "SO_Totals", "InvoiceID", "VIEW")
	expectFirsts(t, s, "other", "IN_Colours", "RecID", "other")
	_, err := storage.Open(t.Context(), storage.Config{
		Dir:      t.TempDir(),
		Registry: record.Builtin(),
		ERP:      erp.Config{DSN: dsn, Sources: map[string]string{"DB_Class": "a..b"}},
	})
	if err == nil {
		t.Error("the source name a..b is accepted, want an error")
	}
}

// slowView returns a statement that creates a view of 10^8 rows, which takes about ten seconds to
// return its first row. It is not slower, because Babelfish continues after the query was cancelled.
func slowView() string {
	const ten = `(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS `
	var factors []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		factors = append(factors, ten+name+"(n)")
	}
	return `CREATE VIEW DB_Class AS SELECT CAST(COUNT(*) AS nvarchar(20)) AS Class FROM ` +
		strings.Join(factors, " CROSS JOIN ")
}

// TestTimeLimit reads a slow view beyond the time limit and until the request is cancelled, and a
// table within the limit.
func TestTimeLimit(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, slowView(), createFilters)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}, Limits: rowLimit(2 * time.Second)})
	if _, err := firsts(t, s, "DB_Class"); !fault.Is(err, fault.Timeout) {
		t.Errorf("beyond the limit: got error %v, want a timeout", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel) // before or after the statement starts
	r, err := selects(ctx, t, s, "DB_Class")
	if err == nil {
		_, err = r.Next()
		r.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled request: got error %v, want %v", err, context.Canceled)
	}

	// A busy server may need more than 2 s for a query of an empty table.
	s = storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}, Limits: rowLimit(time.Minute)})
	expectFirsts(t, s, "", "SY_Filters")
}

// TestLocked: a query that waits too long for a lock fails with "busy".
func TestLocked(t *testing.T) {
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`)
	s := storagetest.Open(t, storage.Config{
		ERP:    erp.Config{DSN: dsn, LockTimeout: 200 * time.Millisecond},
		Limits: rowLimit(time.Minute),
	})
	expectFirsts(t, s, "", "DB_Class")
	holder, err := mssql.Open(mssql.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), `ALTER TABLE DB_Class ADD More int`); err != nil {
		t.Fatal(err)
	}
	_, err = firsts(t, s, "DB_Class")
	expectUnavailable(t, "a query of a locked table", err, "busy")
}

// TestSeedServer adds the demo records to a server; a second time is rejected.
func TestSeedServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}})
	kinds := record.Builtin().Kinds()
	if empty, err := s.Empty(t.Context()); !empty || err != nil {
		t.Fatalf("before: got empty %v (%v), want true", empty, err)
	}
	start := time.Now()
	seeded, err := s.Seed(t.Context(), kinds, demo.Rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows in %v, %d values changed", seeded.Rows, time.Since(start).Round(time.Millisecond), seeded.Changed)
	for _, kind := range kinds {
		expectSeeded(t, s, kind)
	}

	if empty, err := s.Empty(t.Context()); empty || err != nil {
		t.Errorf("after: got empty %v (%v), want false", empty, err)
	}
	if _, err := s.Seed(t.Context(), kinds, demo.Rows); !fault.Is(err, fault.Conflict) {
		t.Errorf("seeding again: got error %v, want a conflict", err)
	}
	if _, err := s.Load(t.Context(), kinds, demo.Rows); !fault.Is(err, fault.Unavailable) {
		t.Errorf("loading: got error %v, want that it is unavailable", err)
	}
}

// expectSeeded checks the number of records of a kind, and that it has a key unless its records are
// not unique.
func expectSeeded(t *testing.T, s *storage.Store, kind *record.Kind) {
	t.Helper()
	r, err := selects(t.Context(), t, s, kind.Name, "Take", "0", "Include", "Total")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := int64(demo.Count(kind.Name))
	if tail, err := r.Tail(0); err != nil || tail.Total != want {
		t.Errorf("%s: got %+v (%v), want %d rows", kind.Name, tail, err, want)
	}
	hasKey := kind.Name != "INMGT020POQty" && kind.Name != "DB_Class"
	if key, err := s.Key(t.Context(), kind); err != nil || (key != nil) != hasKey {
		t.Errorf("%s: got key %v (%v), want one: %v", kind.Name, key, err, hasKey)
	}
}

// rowLimit returns limits with a timeout for each row.
func rowLimit(d time.Duration) func() executor.Limits {
	return func() executor.Limits { return executor.Limits{Row: d} }
}
