package source_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/erp/source"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/storage"
)

// TestSelectIsEnough captures with a login that has the right SELECT on some columns, and no
// other right. Its sessions have a name of their own, and do not follow erp.read_dsn.
func TestSelectIsEnough(t *testing.T) {
	dsn := mssqltest.Database(t)
	login := "whd_test_" + strings.ToLower(rand.Text()[:8])
	mssqltest.CreateLogin(t, login, "Abcdef12345")
	mssqltest.Exec(t, dsn,
		"CREATE USER "+login+" FOR LOGIN "+login,
		`IF SERVERPROPERTY('BabelfishVersion') IS NOT NULL
			EXEC sp_babelfish_configure 'babelfishpg_tsql.escape_hatch_rowversion', 'ignore';
		EXEC('CREATE TABLE Stamped (K1 int NOT NULL PRIMARY KEY, Name nvarchar(20), Secret nvarchar(20),
			RowHash rowversion)')`,
		"CREATE INDEX I ON Stamped (RowHash)",
		"INSERT INTO Stamped (K1, Name) VALUES (1, N'a'), (2, N'b'), (3, N'c')",
		"CREATE TABLE Staff (K1 int NOT NULL, Name nvarchar(20), Secret nvarchar(20))",
		"INSERT INTO Staff VALUES (1, N'a', N'x')",
		"GRANT SELECT ON Stamped TO "+login,
		"GRANT SELECT ON Staff (K1, Name) TO "+login,
	)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	fields := []record.Field{
		{Name: "K1", Type: record.Int, Filter: record.OrderedFilter},
		{Name: "Name", Type: record.Text, Filter: record.TextFilter},
		{Name: "Secret", Type: record.Text, Filter: record.TextFilter},
	}
	stampedFields := append(slices.Clip(fields), record.Field{Name: "RowHash", Type: record.Bytes})
	registry, err := record.NewRegistry(
		record.Kind{Name: "Stamped", Stamp: "RowHash", Fields: stampedFields},
		record.Kind{Name: "Staff", Key: []string{"K1"}, Fields: fields},
	)
	if err != nil {
		t.Fatal(err)
	}
	staff, _ := registry.Lookup("Staff")
	stamped, _ := registry.Lookup("Stamped")
	unreachable := "sqlserver://replica:canary@127.0.0.1:1?database=x"
	s := openSource(t, openStore(t, storage.Config{
		Dir:      t.TempDir(),
		ERP:      erp.Config{DSN: u.String(), ReadDSN: unreachable},
		Registry: registry,
	}))
	// Babelfish has no MIN_ACTIVE_ROWVERSION, and refuses @@DBTS in sessions that are not configured for it.
	onBabelfish := mssqltest.Count(t, dsn,
		"SELECT CASE WHEN SERVERPROPERTY('BabelfishVersion') IS NULL THEN 0 ELSE 1 END") == 1

	readSomeColumns(t, s, staff)
	pollVersions(t, s, stamped, dsn, !onBabelfish)

	d, err := s.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantIdentity := u.Query().Get("database") + " created 20"
	if !strings.HasPrefix(d.Identity, wantIdentity) {
		t.Errorf("got identity %q, want %s and a date", d.Identity, wantIdentity)
	}
	wantLength := 8
	if onBabelfish {
		wantLength = 0
	}
	if len(d.Latest) != wantLength || len(d.Active) != wantLength {
		t.Errorf("got row versions %x and %x, want %d bytes", d.Latest, d.Active, wantLength)
	}
	if difference := time.Since(d.Now).Abs(); difference > 25*time.Hour { // the server may be in another time zone
		t.Errorf("the time of the server differs by %v", difference)
	}
	t.Logf("%s; the latest rowversion is %x, the lowest active one %x", d.Identity, d.Latest, d.Active)

	sessions := func(program string) int64 {
		return mssqltest.Count(t, dsn, fmt.Sprintf(`SELECT COUNT(*) FROM sys.dm_exec_sessions
			WHERE program_name = '%s' AND login_name = '%s'`, program, login))
	}
	captures := sessions("whd-capture")
	others := sessions("whd")
	if captures == 0 || captures > 2 || others > 0 {
		t.Errorf("got %d sessions of capture and %d others, want one or two and none", captures, others)
	}
}

// readSomeColumns reads a table of which the login may not read the last column.
func readSomeColumns(t *testing.T, s *source.Source, kind *record.Kind) {
	t.Helper()
	table, err := s.Table(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1}; !slices.Equal(table.Fields, want) {
		t.Errorf("%s: got fields %v, want %v", kind.Name, table.Fields, want)
	}
	if len(table.Omitted) != 1 || !strings.Contains(table.Omitted[0], "may not read it") {
		t.Errorf("%s: omitted %q, want one field that whd may not read", kind.Name, table.Omitted)
	}
	r := changes.Read{Kind: kind, Key: table.Key, Fields: table.Fields, Limit: changes.MaxRows}
	page, err := s.Read(t.Context(), r)
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("%s: read %+v (%v), want one row", kind.Name, page, err)
	}
}

// pollVersions changes a row of three, and reads the rows from and after a row version.
func pollVersions(t *testing.T, s *source.Source, kind *record.Kind, dsn string, isPollable bool) {
	t.Helper()
	table, err := s.Table(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Key, []int{0}) || !slices.Equal(table.Fields, []int{0, 1, 2}) {
		t.Fatalf("got key %v and fields %v, want the first, and the first three", table.Key, table.Fields)
	}
	if want := []string{"RowHash: it is byte[]"}; !slices.Equal(table.Omitted, want) {
		t.Errorf("omitted %q, want %q", table.Omitted, want)
	}
	if table.Stamp != 3 || !table.Version || table.Pollable != isPollable || table.Content != "" {
		t.Fatalf("got table %+v, want a row version in field 3, pollable: %v", table, isPollable)
	}

	read := func(since *changes.Since) (rows [][]row.Cell) {
		t.Helper()
		page, err := s.Read(t.Context(), changes.Read{
			Kind:   kind,
			Key:    table.Key,
			Fields: []int{0, 3},
			Since:  since,
			Limit:  changes.MaxPoll,
		})
		if err != nil || page.More {
			t.Fatalf("reading since %v: got %+v (%v), want all rows", since, page, err)
		}
		return page.Rows
	}
	rows := read(nil)
	isNoVersion := func(cells []row.Cell) bool { return len(cells[1].Data) != 8 }
	if len(rows) != 3 || slices.ContainsFunc(rows, isNoVersion) {
		t.Fatalf("got rows %v, want three with row versions of 8 bytes", rows)
	}
	second := rows[1]
	from := row.Cell{Data: bytes.Clone(second[1].Data)}
	mssqltest.Exec(t, dsn, "UPDATE Stamped SET Name = N'x' WHERE K1 = 1")
	changed := read(&changes.Since{From: from})
	isLast := len(changed) == 3 && changed[2][0].Int == 1 && bytes.Compare(changed[2][1].Data, changed[1][1].Data) > 0
	if !isLast {
		t.Errorf("from version %x: got rows %v, want three, the changed row last", from.Data, changed)
	}
	following := read(&changes.Since{From: from, Key: second[:1]})
	if len(following) != 2 {
		t.Errorf("after the row of version %x: got rows %v, want two", from.Data, following)
	}
}
