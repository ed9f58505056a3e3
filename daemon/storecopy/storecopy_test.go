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
	return source{DB: db, t: t, dsn: dsn}
}

func (s source) exec(statements ...string) {
	s.t.Helper()
	for _, statement := range statements {
		if _, err := s.Exec(s.t.Context(), statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// copyTo copies the schema into a directory and expects an error with a text, none if the text is
// empty.
func (s source) copyTo(dir, want string, adjust ...func(*Config)) Result {
	s.t.Helper()
	config := Config{DSN: s.dsn, Schema: appdb.DefaultSchema, Dir: dir}
	for _, change := range adjust {
		change(&config)
	}
	result, err := Copy(s.t.Context(), config)
	if want == "" && err != nil {
		s.t.Errorf("copying the schema %s: got error %v, want none", config.Schema, err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		s.t.Errorf("copying the schema %s: got error %v, want one with %q",
			config.Schema, err, want)
	}
	return result
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

// column is a column of a table on the server.
type column struct {
	table, name, kind string
	isNullable        bool
}

// columns returns the columns on the server, by table and name.
func (s source) columns() map[string]map[string]column {
	s.t.Helper()
	scan := func(row appdb.Row) (column, error) {
		var c column
		var nullable string
		err := row.Scan(&c.table, &c.name, &c.kind, &nullable)
		c.isNullable = nullable == "YES"
		return c, err
	}
	columns, err := appdb.QueryAll(s.t.Context(), s.DB, scan,
		`SELECT TABLE_NAME, COLUMN_NAME, LOWER(DATA_TYPE), IS_NULLABLE
FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = N'whd'`)
	if err != nil {
		s.t.Fatal(err)
	}
	byTable := make(map[string]map[string]column)
	for _, c := range columns {
		if byTable[c.table] == nil {
			byTable[c.table] = make(map[string]column)
		}
		byTable[c.table][c.name] = c
	}
	return byTable
}

// tables returns the names of the tables on the server, in order.
func (s source) tables() []string {
	s.t.Helper()
	scan := func(row appdb.Row) (string, error) {
		var name string
		err := row.Scan(&name)
		return name, err
	}
	names, err := appdb.QueryAll(s.t.Context(), s.DB, scan,
		`SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES
WHERE TABLE_SCHEMA = N'whd' AND TABLE_TYPE = 'BASE TABLE'`)
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// fileTables returns the tables of the files in a directory.
func fileTables(t *testing.T, dir string) []table {
	t.Helper()
	var tables []table
	for _, name := range []string{appdb.FileName, appdb.LogFileName} {
		file, err := appdb.OpenFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		inFile, err := tablesOf(t.Context(), file)
		err = errors.Join(err, file.Close())
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, inFile...)
	}
	return tables
}

const (
	logTable = "WH_RequestLog"
	// logSize is a column of the log that only a server has.
	logSize = "Bytes"
)

// TestEveryTable checks that each table of the files exists on the server with the same
// columns, and the other way round, and copies two rows of each with values of all types:
// the second row has NULL where it can.
func TestEveryTable(t *testing.T) {
	s := newSource(t)
	columns := s.columns()
	dir := t.TempDir()
	s.copyTo(dir, "") // of empty tables, to learn the names
	tables := fileTables(t, dir)
	s.compareNames(tables, columns)

	s.exec("DELETE FROM whd.WH_Number WHERE Name <> 'Probe'", "DELETE FROM whd.WH_Partition")
	for _, stored := range tables {
		names := slices.Clone(stored.columns)
		if stored.name == logTable {
			names = append(names, logSize)
		}
		for row := range 2 {
			s.insert(stored.name, names, columns[stored.name], row)
		}
	}
	result := s.copyTo(dir, "")
	if len(result.Tables) != len(tables) {
		t.Errorf("copying all tables: got %d in the result, want %d: %+v",
			len(result.Tables), len(tables), result.Tables)
	}
	if result.ReplacedDir == "" {
		t.Error("copying again: got no directory of the previous files, want one")
	}
	if result.OutboxRows != 0 {
		t.Errorf("copying without events in the outbox: got %d, want 0", result.OutboxRows)
	}
	for _, stored := range tables {
		file := appdb.FileName
		if stored.name == logTable {
			file = appdb.LogFileName
		}
		compareRows(t, openFile(t, dir, file), stored, columns[stored.name])
	}
}

// TestCopiedLogIsFoundByTime copies requests of which a later one has an earlier time: the copy
// describes their order, so that lists by time find them.
func TestCopiedLogIsFoundByTime(t *testing.T) {
	s := newSource(t)
	columns := s.columns()
	names := slices.Sorted(maps.Keys(columns[logTable]))
	for row := range 2 {
		s.insert(logTable, names, columns[logTable], row)
	}
	s.exec("UPDATE whd.WH_RequestLog SET DateTime = '2021-02-01' WHERE Id = 2",
		"UPDATE whd.WH_RequestLog SET DateTime = '2021-02-03' WHERE Id = 1")
	dir := t.TempDir()
	s.copyTo(dir, "")
	log := openFile(t, dir, appdb.LogFileName)
	for _, statement := range []string{
		"SELECT COUNT(*) FROM WH_RequestLogLag WHERE Lag >= 2 * 86400000 AND LastId = 2",
		"SELECT COUNT(*) FROM WH_RequestLogLatest WHERE DateTime LIKE '2021-02-03%' AND LastId = 2",
		"SELECT COUNT(*) FROM WH_RequestLogMissing WHERE Number = 0",
	} {
		rows, _, err := log.QueryInt(statement)
		if err != nil || rows != 1 {
			t.Errorf("%s: got %d and error %v, want 1", statement, rows, err)
		}
	}
}

// compareNames expects that the files have the tables and columns of the server, apart from those
// that only a server has.
func (s source) compareNames(tables []table, columns map[string]map[string]column) {
	s.t.Helper()
	known := slices.Clone(serverOnly)
	for _, stored := range tables {
		known = append(known, stored.name)
		inFile := slices.Sorted(slices.Values(stored.columns))
		onServer := slices.Sorted(maps.Keys(columns[stored.name]))
		if stored.name == logTable {
			onServer = slices.DeleteFunc(onServer, func(c string) bool { return c == logSize })
		}
		if !slices.Equal(inFile, onServer) {
			s.t.Errorf("the table %s: the file has the columns %q, the server %q",
				stored.name, inFile, onServer)
		}
	}
	slices.Sort(known)
	if onServer := s.tables(); !slices.Equal(onServer, known) {
		s.t.Errorf("tables on the server: %q\nin the files, and known to be on the server only: %q",
			onServer, known)
	}
}

// value returns the value of the column in a row as T-SQL, and as a file stores it.
func (c column) value(row int) (tsql, file string) {
	if row == 1 && c.isNullable {
		return "NULL", "NULL"
	}
	if c.table == "WH_Nudge" && c.name == "Kind" {
		return "4", "4"
	}
	switch c.kind {
	case "nvarchar":
		text := fmt.Sprintf("Ü😀 'r%d", row)
		return "N'" + strings.ReplaceAll(text, "'", "''") + "'", text
	case "datetime2":
		return fmt.Sprintf("'2021-02-0%d 04:05:06.123456'", row+1),
			fmt.Sprintf("2021-02-0%dT04:05:06.1234560", row+1)
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
	return "a type without a value: " + c.kind, ""
}

// copiedValue returns the value of the column in a row after the copy. An embedded store has one
// partition, which is not leased.
func (c column) copiedValue(row int) string {
	_, file := c.value(row)
	if file == "NULL" {
		return file
	}
	switch c.table + "." + c.name {
	case "WH_Partition.LeaseUntil":
		return "0001-01-01T00:00:00.0000000"
	case "SY_WebhookMessage.PartitionID":
		return "1"
	}
	return file
}

// identityTables have keys that are inserted only on request.
var identityTables = []string{"WH_Audit", logTable, "WH_Recheck"}

// insert inserts a row into a table of the server.
func (s source) insert(table string, names []string, columns map[string]column, row int) {
	s.t.Helper()
	values := make([]string, len(names))
	for i, name := range names {
		values[i], _ = columns[name].value(row)
	}
	statement := "INSERT INTO whd." + mssql.Quote(table) +
		" ([" + strings.Join(names, "], [") + "]) VALUES (" + strings.Join(values, ", ") + ")"
	if slices.Contains(identityTables, table) {
		statement = "SET IDENTITY_INSERT whd." + table + " ON; " + statement +
			"; SET IDENTITY_INSERT whd." + table + " OFF"
	}
	s.exec(statement)
}

// copiedRows returns how many of the two inserted rows of a table are copied, and the condition of
// the file's query that leaves out the rows of the store itself.
func copiedRows(table string) (rows int, where string) {
	switch table {
	case "WH_Number":
		return 2, " WHERE Name LIKE 'Ü%'"
	case "WH_Partition":
		return 1, ""
	case "WH_Change":
		return 0, ""
	}
	return 2, ""
}

// compareRows expects the inserted rows in a table of a file.
func compareRows(t *testing.T, conn *sqlite.Conn, stored table, columns map[string]column) {
	t.Helper()
	rows, where := copiedRows(stored.name)
	var want []string
	for row := range rows {
		text := ""
		for _, name := range stored.columns {
			text += name + " = " + columns[name].copiedValue(row) + "; "
		}
		want = append(want, text)
	}

	var got []string
	names := strings.Join(stored.columns, `", 'NULL'), COALESCE("`)
	query := `SELECT COALESCE("` + names + `", 'NULL') FROM ` + stored.name + where
	err := conn.Query(query, func(s *sqlite.Stmt) error {
		text := ""
		for i, name := range stored.columns {
			text += name + " = " + s.Text(i) + "; "
		}
		got = append(got, text)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the copied rows of %s:\n got %q\nwant %q", stored.name, got, want)
	}
}

// insertSubscriber is followed by the values of rows.
const insertSubscriber = "INSERT INTO whd.SY_WebhookSubscriber" +
	" (ID, RecID, Name, IsEnabled, ItemNo, LastSavedDateTime, RowHash) VALUES "

// fileSubscriber is a row of a subscriber that is not on the server.
const fileSubscriber = "(7, 'x', 'X', 1, 1, '', x'')"

// wantNumber expects the number that a query selects from the copied file in a directory.
func wantNumber(t *testing.T, did, dir, query string, want int64) {
	t.Helper()
	got, _, err := openFile(t, dir, appdb.FileName).QueryInt(query)
	if err != nil {
		t.Errorf("%s: %s: %v", did, query, err)
	} else if got != want {
		t.Errorf("%s: %s: got %d, want %d", did, query, got, want)
	}
}

// TestRefusals checks when nothing is copied, and that the directory stays as it was.
func TestRefusals(t *testing.T) {
	s := newSource(t)
	dir := t.TempDir()
	s.refuseSource(dir)
	s.refuseCopied(dir)
	s.refuseUsed(t.TempDir())
}

// refuseSource does not copy data of another version or in use, and leaves no files.
func (s source) refuseSource(dir string) {
	s.t.Helper()
	s.copyTo(dir, "contains no tables of whd", func(c *Config) { c.Schema = "other" })

	s.exec(`UPDATE whd.WH_Migration SET is_applied = 0
WHERE version_id = (SELECT MAX(version_id) FROM whd.WH_Migration)`)
	s.copyTo(dir, "run whd migrate --store")

	s.exec("UPDATE whd.WH_Migration SET is_applied = 1",
		"INSERT INTO whd.WH_Migration (version_id, is_applied) VALUES (999, 1)")
	s.copyTo(dir, "a later one, or a backup of before")

	s.exec("DELETE FROM whd.WH_Migration WHERE version_id = 999",
		`INSERT INTO whd.WH_Partition (PartitionID, Fence, LeaseUntil)
VALUES (1, 1, DATEADD(second, 1000, SYSUTCDATETIME()))`)
	s.copyTo(dir, "its leases end in ")
	s.exec("UPDATE whd.WH_Partition SET LeaseUntil = SYSUTCDATETIME()")

	for _, name := range fileNames(s.t, dir) {
		if !strings.HasSuffix(name, ".lock") {
			s.t.Errorf("after the refused copies: got the file %s, want locks only", name)
		}
	}
}

// refuseCopied replaces an earlier copy only on request, and keeps its files.
func (s source) refuseCopied(dir string) {
	s.t.Helper()
	const count = "SELECT COUNT(*) FROM SY_WebhookSubscriber"
	s.exec(insertSubscriber + "(1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)")
	s.copyTo(dir, "")
	s.copyTo(dir, "contains the data of an earlier copy; --replace moves it")

	s.exec(insertSubscriber + "(2, 'b', 'Other', 1, 2, SYSUTCDATETIME(), 0x02)")
	result := s.copyTo(dir, "", replacing)
	wantNumber(s.t, "the files of the second copy", dir, count, 2)
	wantNumber(s.t, "the previous files", result.ReplacedDir, count, 1)
}

// refuseUsed does not replace a store that was not copied.
func (s source) refuseUsed(dir string) {
	s.t.Helper()
	store, err := appdb.Open(s.t.Context(), appdb.Config{
		Path:        filepath.Join(dir, appdb.FileName),
		Connections: 1,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = store.Exec(s.t.Context(), insertSubscriber+fileSubscriber)
	err = errors.Join(err, store.Close())
	if err != nil {
		s.t.Fatal(err)
	}
	s.copyTo(dir, "that were not copied from a server", replacing)
	wantNumber(s.t, "the files of the refused copy", dir,
		"SELECT MAX(ID) FROM SY_WebhookSubscriber", 7)
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// TestMissing checks when the data on a server is missing in a file store.
func TestMissing(t *testing.T) {
	s := newSource(t)
	store, err := appdb.Open(t.Context(), appdb.Config{
		Path:        filepath.Join(t.TempDir(), appdb.FileName),
		Connections: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s.wantMissing("before there are subscribers", store, "other", false)
	s.wantMissing("before there are subscribers", store, "whd", false)

	s.exec(insertSubscriber + "(1, 'a', 'Shop', 1, 1, SYSUTCDATETIME(), 0x01)")
	s.wantMissing("with a subscriber on the server", store, "whd", true)

	for range 2 {
		if err := Skip(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		s.wantMissing("after Skip", store, "whd", false)
	}

	_, err = store.Exec(t.Context(), "DELETE FROM whd.WH_Number WHERE Name = @Name",
		sql.Named("Name", originRow))
	if err != nil {
		t.Fatal(err)
	}
	s.wantMissing("after Skip is forgotten", store, "whd", true)

	if _, err := store.Exec(t.Context(), insertSubscriber+fileSubscriber); err != nil {
		t.Fatal(err)
	}
	s.wantMissing("with a subscriber in the file", store, "whd", false)

	line := mssqltest.NewProxy(t, s.dsn)
	line.Down()
	got, err := HasSubscribers(t.Context(), line.DSN, "whd")
	if err == nil {
		t.Errorf("HasSubscribers without a server: got %v and no error, want one", got)
	}
}

// wantMissing expects whether a new store lacks the subscribers of a schema on the server.
func (s source) wantMissing(when string, store *appdb.DB, schema string, want bool) {
	s.t.Helper()
	got, err := IsNew(s.t.Context(), store)
	if err == nil && got {
		got, err = HasSubscribers(s.t.Context(), s.dsn, schema)
	}
	if err != nil {
		s.t.Errorf("%s, schema %s: %v", when, schema, err)
		return
	}
	if got != want {
		s.t.Errorf("%s, schema %s: got missing %v, want %v", when, schema, got, want)
	}
}
