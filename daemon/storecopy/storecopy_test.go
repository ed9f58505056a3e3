package storecopy

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// serverOnly lists the tables that only a server has. The rows of the outbox stay there, and
// a copied store looks at all records again, since it has no shadow.
var serverOnly = []string{"WH_Lock", "WH_Migration", "WH_MigrationLease", "WH_Outbox", "WH_Shadow"}

// source is a migrated schema on a server.
type source struct {
	*appdb.DB
	t   *testing.T
	dsn string
}

func newSource(t *testing.T) source {
	t.Helper()
	dsn := mssqltest.Database(t)
	db, err := appdb.Open(t.Context(), appdb.Config{DSN: dsn, Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return source{db, t, dsn}
}

func (s source) exec(statements ...string) {
	s.t.Helper()
	for _, statement := range statements {
		if _, err := s.Exec(s.t.Context(), statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// copyTo copies the schema into a directory and expects the error, none if it is empty.
func (s source) copyTo(dir, want string, adjust ...func(*Config)) Result {
	s.t.Helper()
	c := Config{DSN: s.dsn, Schema: appdb.DefaultSchema, Dir: dir}
	for _, a := range adjust {
		a(&c)
	}
	r, err := Copy(s.t.Context(), c)
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		s.t.Errorf("got error %v, want %q", err, want)
	}
	return r
}

func replacing(c *Config) { c.Replace = true }

// openFile opens a copied file.
func openFile(t *testing.T, dir, name string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(dir, name), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestEveryTable checks that each table of the files exists on the server with the same
// columns, and the other way round, and copies two rows of each with values of all types:
// the second row has NULL where it can.
func TestEveryTable(t *testing.T) {
	s := newSource(t)
	server, nullable := make(map[string]map[string]string), make(map[string]bool)
	type column struct{ table, name, kind, null string }
	all, err := appdb.QueryAll(t.Context(), s.DB, func(row appdb.Row) (c column, err error) { return c, row.Scan(&c.table, &c.name, &c.kind, &c.null) },
		`SELECT TABLE_NAME, COLUMN_NAME, LOWER(DATA_TYPE), IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = N'whd'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if server[c.table] == nil {
			server[c.table] = make(map[string]string)
		}
		server[c.table][c.name], nullable[c.table+"."+c.name] = c.kind, c.null == "YES"
	}
	dir := t.TempDir()
	s.copyTo(dir, "") // of empty tables, to learn the names
	known := slices.Clone(serverOnly)
	tables := make(map[string][]string)
	for _, name := range []string{appdb.FileName, appdb.LogFileName} {
		file, err := appdb.OpenFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all, err := tablesOf(t.Context(), file)
		err = errors.Join(err, file.Close())
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range all {
			tables[stored.name] = stored.columns
			known = append(known, stored.name)
			inFile, onServer := slices.Sorted(slices.Values(stored.columns)), slices.Sorted(maps.Keys(server[stored.name]))
			onServer = slices.DeleteFunc(onServer, func(c string) bool { return stored.name == "WH_RequestLog" && c == "Bytes" })
			if !slices.Equal(inFile, onServer) {
				t.Errorf("the file has the columns %q in the table %s, the server %q", inFile, stored.name, onServer)
			}
		}
	}
	base, err := appdb.QueryAll(t.Context(), s.DB, func(row appdb.Row) (name string, err error) { return name, row.Scan(&name) },
		`SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = N'whd' AND TABLE_TYPE = 'BASE TABLE'`)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(base)
	slices.Sort(known)
	if !slices.Equal(base, known) {
		t.Errorf("tables on the server: %q\nin the files, and known to be on the server only: %q", base, known)
	}
	s.exec("DELETE FROM whd.WH_Number WHERE Name <> 'Probe'", "DELETE FROM whd.WH_Partition")
	for name := range tables {
		columns := tables[name]
		for row := range 2 {
			if name == "WH_RequestLog" {
				columns = append(slices.Clone(tables[name]), "Bytes")
			}
			s.insert(name, columns, server[name], func(column string) bool { return row == 1 && nullable[name+"."+column] }, row)
		}
	}
	r := s.copyTo(dir, "")
	if len(r.Tables) != len(tables) || r.ReplacedDir == "" || r.OutboxRows != 0 {
		t.Errorf("%d tables were copied, want %d; %+v", len(r.Tables), len(tables), r)
	}
	for name, columns := range tables {
		file := appdb.FileName
		if name == "WH_RequestLog" {
			file = appdb.LogFileName
		}
		compare(t, openFile(t, dir, file), name, columns, server[name], func(column string, row int) bool { return row == 1 && nullable[name+"."+column] })
	}
}

// literal returns a value of a column's type as T-SQL, and as a file stores it.
func literal(table, column, kind string, row int) (tsql, file string) {
	if table == "WH_Nudge" && column == "Kind" {
		return "4", "4"
	}
	switch kind {
	case "nvarchar":
		text := fmt.Sprintf("Ü😀 'r%d", row)
		return "N'" + strings.ReplaceAll(text, "'", "''") + "'", text
	case "datetime2":
		return fmt.Sprintf("'2021-02-0%d 04:05:06.123456'", row+1), fmt.Sprintf("2021-02-0%dT04:05:06.1234560", row+1)
	case "varbinary":
		return fmt.Sprintf("0x00FF0%d", row), fmt.Sprintf("\x00\xff%c", row)
	case "uniqueidentifier":
		text := fmt.Sprintf("0123456a-89ab-cdef-0123-456789abcde%d", row)
		return "'" + strings.ToUpper(text) + "'", text
	case "bit":
		return "1", "1"
	case "tinyint", "int", "bigint":
		return fmt.Sprint(row + 1), fmt.Sprint(row + 1)
	}
	return "a type without a value: " + kind, ""
}

func (s source) insert(table string, columns []string, kinds map[string]string, null func(string) bool, row int) {
	s.t.Helper()
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i], _ = literal(table, column, kinds[column], row)
		if null(column) {
			values[i] = "NULL"
		}
	}
	statement := "INSERT INTO whd." + mssql.Quote(table) + " ([" + strings.Join(columns, "], [") + "]) VALUES (" + strings.Join(values, ", ") + ")"
	if table == "WH_Audit" || table == "WH_RequestLog" || table == "WH_Recheck" {
		statement = "SET IDENTITY_INSERT whd." + table + " ON; " + statement + "; SET IDENTITY_INSERT whd." + table + " OFF"
	}
	s.exec(statement)
}

// compare expects the inserted rows in a table of a file.
func compare(t *testing.T, conn *sqlite.Conn, table string, columns []string, kinds map[string]string, null func(string, int) bool) {
	t.Helper()
	var got, want []string
	where := ""
	rows := 2
	switch table {
	case "WH_Number":
		where = " WHERE Name LIKE 'Ü%'"
	case "WH_Partition":
		rows = 1
	case "WH_Change":
		rows = 0
	}
	for row := range rows {
		line := ""
		for _, column := range columns {
			_, text := literal(table, column, kinds[column], row)
			switch key := table + "." + column; {
			case null(column, row):
				text = "NULL"
			case key == "WH_Partition.LeaseUntil":
				text = "0001-01-01T00:00:00.0000000"
			case key == "SY_WebhookMessage.PartitionID":
				text = "1"
			}
			line += column + " = " + text + "; "
		}
		want = append(want, line)
	}
	err := conn.Query(`SELECT COALESCE("`+strings.Join(columns, `", 'NULL'), COALESCE("`)+`", 'NULL') FROM `+table+where+``, func(s *sqlite.Stmt) error {
		text := ""
		for i, column := range columns {
			text += column + " = " + s.Text(i) + "; "
		}
		got = append(got, text)
		return nil
	})
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s has %q (%v)\nwant %q", table, got, err, want)
	}
}

// TestRefusals checks when nothing is copied, and that the directory stays as it was.
func TestRefusals(t *testing.T) {
	s, dir := newSource(t), t.TempDir()
	s.copyTo(dir, "contains no tables of whd", func(c *Config) { c.Schema = "other" })
	s.exec("UPDATE whd.WH_Migration SET is_applied = 0 WHERE version_id = (SELECT MAX(version_id) FROM whd.WH_Migration)")
	s.copyTo(dir, "run whd migrate --store")
	s.exec("UPDATE whd.WH_Migration SET is_applied = 1", "INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)")
	s.copyTo(dir, "or use the latest whd")
	s.exec("DELETE FROM whd.WH_Migration WHERE version_id = 999",
		"INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil) VALUES (1, 1, DATEADD(second, 1000, SYSUTCDATETIME()))")
	s.copyTo(dir, "its leases end in ")
	s.exec("UPDATE whd.WH_Partition SET LeaseUntil = SYSUTCDATETIME()")
	for _, e := range entries(t, dir) {
		if !strings.HasSuffix(e, ".lock") {
			t.Errorf("%s was left behind", e)
		}
	}
	const subscriber = "INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES "
	s.exec(subscriber + "(1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)")
	s.copyTo(dir, "")
	s.copyTo(dir, "contains the data of an earlier copy; --replace moves it")
	s.exec(subscriber + "(2, 'b', 'Other', 1, 2, SYSUTCDATETIME(), 0x02)")
	r := s.copyTo(dir, "", replacing)
	if n, _, err := openFile(t, dir, appdb.FileName).QueryInt("SELECT COUNT(*) FROM SY_WebhookSubscriber"); err != nil || n != 2 {
		t.Errorf("%d subscribers after the second copy (%v)", n, err)
	}
	if n, _, err := openFile(t, r.ReplacedDir, appdb.FileName).QueryInt("SELECT COUNT(*) FROM SY_WebhookSubscriber"); err != nil || n != 1 {
		t.Errorf("%d subscribers in the previous files (%v)", n, err)
	}

	other := t.TempDir()
	db, err := appdb.Open(t.Context(), appdb.Config{Path: filepath.Join(other, appdb.FileName), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), "INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES (7, 'x', 'X', 1, 1, '', x'')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.copyTo(other, "that were not copied from a server", replacing)
	if n, _, err := openFile(t, other, appdb.FileName).QueryInt("SELECT MAX(ID) FROM SY_WebhookSubscriber"); err != nil || n != 7 {
		t.Errorf("the file was changed: %d (%v)", n, err)
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestMissing checks when the data on a server is missing in a file store.
func TestMissing(t *testing.T) {
	s := newSource(t)
	store, err := appdb.Open(t.Context(), appdb.Config{Path: filepath.Join(t.TempDir(), appdb.FileName), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	expect := func(schema string, want bool) {
		t.Helper()
		got, err := IsNew(t.Context(), store)
		if err == nil && got {
			got, err = HasSubscribers(t.Context(), s.dsn, schema)
		}
		if got != want || err != nil {
			t.Errorf("schema %s: %v (%v), want %v", schema, got, err, want)
		}
	}
	expect("other", false)
	expect("whd", false)
	s.exec("INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES (1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)")
	expect("whd", true)
	for range 2 {
		if err := Skip(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		expect("whd", false)
	}
	if _, err := store.Exec(t.Context(), "DELETE FROM whd.WH_Number WHERE Name = @Name", sql.Named("Name", originRow)); err != nil {
		t.Fatal(err)
	}
	expect("whd", true)
	if _, err := store.Exec(t.Context(), "INSERT INTO whd.SY_WebhookSubscriber (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES (7, 'x', 'X', 1, 1, '', x'')"); err != nil {
		t.Fatal(err)
	}
	expect("whd", false)
	line := mssqltest.NewProxy(t, s.dsn)
	line.Down()
	if got, err := HasSubscribers(t.Context(), line.DSN, "whd"); err == nil {
		t.Errorf("without a server: %v and no error", got)
	}
}
