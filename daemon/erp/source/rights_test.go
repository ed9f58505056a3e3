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
	mssqltest.Exec(t, dsn, "CREATE USER "+login+" FOR LOGIN "+login,
		"IF SERVERPROPERTY('BabelfishVersion') IS NOT NULL EXEC sp_babelfish_configure 'babelfishpg_tsql.escape_hatch_rowversion', 'ignore'; "+
			"EXEC('CREATE TABLE Stamped (K1 int NOT NULL PRIMARY KEY, Name nvarchar(20), Secret nvarchar(20), RowHash rowversion)')",
		"CREATE INDEX I ON Stamped (RowHash)",
		"INSERT INTO Stamped (K1, Name) VALUES (1, N'a'), (2, N'b'), (3, N'c')",
		"CREATE TABLE Staff (K1 int NOT NULL, Name nvarchar(20), Secret nvarchar(20))", "INSERT INTO Staff VALUES (1, N'a', N'x')",
		"GRANT SELECT ON Stamped TO "+login, "GRANT SELECT ON Staff (K1, Name) TO "+login)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(login, "Abcdef12345")
	fields := []record.Field{{Name: "K1", Type: record.Int, Filter: record.OrderedFilter}, {Name: "Name", Type: record.Text, Filter: record.TextFilter}, {Name: "Secret", Type: record.Text, Filter: record.TextFilter}}
	registry, err := record.NewRegistry(record.Kind{Name: "Stamped", Stamp: "RowHash", Fields: append(slices.Clip(fields), record.Field{Name: "RowHash", Type: record.Bytes})}, record.Kind{Name: "Staff", Key: []string{"K1"}, Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	unreachable := "sqlserver://replica:canary@127.0.0.1:1?database=x"
	s := openSource(t, openStore(t, storage.Config{Dir: t.TempDir(), ERP: erp.Config{DSN: u.String(), ReadDSN: unreachable}, Registry: registry}))
	kind, _ := registry.Lookup("Staff")
	table, err := s.Table(t.Context(), kind)
	if err != nil || !slices.Equal(table.Fields, []int{0, 1}) || len(table.Omitted) != 1 || !strings.Contains(table.Omitted[0], "may not read it") {
		t.Errorf("%+v (%v)", table, err)
	}
	if page, err := s.Read(t.Context(), changes.Read{Kind: kind, Key: table.Key, Fields: table.Fields, Limit: changes.MaxRows}); err != nil || len(page.Rows) != 1 {
		t.Errorf("%+v (%v)", page, err)
	}
	// It has no MIN_ACTIVE_ROWVERSION, and refuses @@DBTS in sessions that are not configured for it.
	onBabelfish := mssqltest.Count(t, dsn, "SELECT CASE WHEN SERVERPROPERTY('BabelfishVersion') IS NULL THEN 0 ELSE 1 END") == 1
	kind, _ = registry.Lookup("Stamped")
	table, err = s.Table(t.Context(), kind)
	if err != nil || !slices.Equal(table.Key, []int{0}) || !slices.Equal(table.Fields, []int{0, 1, 2}) || !slices.Equal(table.Omitted, []string{"RowHash: it is byte[]"}) || table.Stamp != 3 || !table.Version || table.Pollable == onBabelfish || table.Content != "" {
		t.Fatalf("%+v (%v)", table, err)
	}
	read := func(r changes.Read) (rows [][]row.Cell) {
		t.Helper()
		r.Kind = kind
		r.Key = table.Key
		r.Fields = []int{0, 3}
		r.Limit = changes.MaxPoll
		page, err := s.Read(t.Context(), r)
		if err != nil || page.More {
			t.Fatal(err)
		}
		return page.Rows
	}
	rows := read(changes.Read{})
	if len(rows) != 3 || slices.ContainsFunc(rows, func(cells []row.Cell) bool { return len(cells[1].Data) != 8 }) {
		t.Fatalf("%v", rows)
	}
	stamp := bytes.Clone(rows[1][1].Data)
	mssqltest.Exec(t, dsn, "UPDATE Stamped SET Name = N'x' WHERE K1 = 1")
	if changed := read(changes.Read{Since: &changes.Since{From: row.Cell{Data: stamp}}}); len(changed) != 3 || changed[2][0].Int != 1 || bytes.Compare(changed[2][1].Data, changed[1][1].Data) <= 0 {
		t.Errorf("since %x: %v", stamp, changed)
	}
	if following := read(changes.Read{Since: &changes.Since{From: row.Cell{Data: stamp}, Key: rows[1][:1]}}); len(following) != 2 {
		t.Errorf("after %x: %v", stamp, following)
	}
	d, err := s.Database(t.Context())
	database, stamps := u.Query().Get("database"), 8
	if onBabelfish {
		stamps = 0
	}
	if err != nil || !strings.HasPrefix(d.Identity, database+" created 20") || len(d.Latest) != stamps || len(d.Active) != stamps || time.Since(d.Now).Abs() > 25*time.Hour {
		t.Errorf("%+v (%v)", d, err)
	}
	t.Logf("%s; the latest rowversion is %x, the lowest active one %x", d.Identity, d.Latest, d.Active)
	sessions := func(name string) int64 {
		return mssqltest.Count(t, dsn, fmt.Sprintf("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = '%s' AND login_name = '%s'", name, login))
	}
	captures, others := sessions("whd-capture"), sessions("whd")
	if captures == 0 || captures > 2 || others > 0 {
		t.Errorf("%d sessions of capture, and %d others", captures, others)
	}
}
