package erp_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/erp/erptest"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

func TestBillsSQLite(t *testing.T) {
	erptest.Bills(t, func(t *testing.T) func() *storage.Store {
		dir := t.TempDir()
		return func() *storage.Store {
			return storagetest.Open(t, storage.Config{Dir: dir})
		}
	})
}

// billTables returns CREATE statements with the column types of an ERP: padded ids,
// times of type datetime, and no unique index on values.
func billTables(schema string) []string {
	return []string{
		"CREATE SCHEMA [" + schema + "]",
		"CREATE TABLE [" + schema + "].BM_Main (RecID char(20) NOT NULL PRIMARY KEY)",
		"CREATE TABLE [" + schema + "].BM_Stages (RecID char(20) NOT NULL PRIMARY KEY, BM_Main_RecID char(20) NOT NULL)",
		"CREATE TABLE [" + schema + `].BM_StageCustomFields
			(RecID char(36) NOT NULL PRIMARY KEY, SettingName varchar(50), SettingDescription varchar(255),
			CellType int, FieldParameter nvarchar(max), SY_Plugin_RecID char(36), LastSavedDateTime datetime,
			DisplayOrder int)`,
		"CREATE TABLE [" + schema + `].BM_StageCustomValues
			(RecID char(38) NOT NULL PRIMARY KEY, BM_Stages_RecID char(20) NOT NULL,
			BM_StageCustomFields_RecID char(36) NOT NULL, Contents nvarchar(max), LastSavedDateTime datetime)`,
		"CREATE TABLE [" + schema + "].SY_Plugin (RecID char(36) NOT NULL PRIMARY KEY, Name nvarchar(50))",
	}
}

// TestBillsSQLServer uses one schema for all tests and empties it before each.
func TestBillsSQLServer(t *testing.T) {
	const schema = "the bills"
	dsn := mssqltest.Database(t)
	mssqltest.Exec(t, dsn, billTables(schema)...)
	erptest.Bills(t, func(t *testing.T) func() *storage.Store {
		for _, table := range erp.BillTables().Kinds() {
			mssqltest.Exec(t, dsn, "DELETE FROM ["+schema+"]."+table.Name)
		}
		return func() *storage.Store {
			return storagetest.Open(t, storage.Config{
				ERP:     erp.Config{DSN: dsn, Schema: schema},
				DSN:     dsn,
				Schema:  "own tables",
				Migrate: true,
			})
		}
	})
}

// othersBills creates bill tables with a binary collation, additional columns and
// names that differ from the defaults.
const othersBills = `
CREATE TABLE erp_bills (RecID VARCHAR(20), Name TEXT);
INSERT INTO erp_bills VALUES ('B', 'Chair');

CREATE TABLE erp_stages (RecID VARCHAR(20), BM_Main_RecID VARCHAR(20));
INSERT INTO erp_stages VALUES ('s  ', 'b');

CREATE TABLE erp_fields (
	RecID INTEGER, SettingName VARCHAR(20), SY_Plugin_RecID INTEGER, DisplayOrder INTEGER
);
INSERT INTO erp_fields VALUES (7, 'Note', NULL, 1);

CREATE TABLE erp_values (
	RecID TEXT, BM_Stages_RecID TEXT, BM_StageCustomFields_RecID INTEGER,
	Contents TEXT, LastSavedDateTime TEXT, Checked TEXT DEFAULT 'no'
);
CREATE VIEW erp_view AS SELECT * FROM erp_values`

// openOthersBills creates a file with the bill tables of another program, and returns a function
// that opens it with a table of values.
func openOthersBills(t *testing.T) (open func(valuesTable string) *storage.Store) {
	t.Helper()
	dir := t.TempDir()
	conn, err := sqlite.Open(filepath.Join(dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(othersBills), conn.Close()); err != nil {
		t.Fatal(err)
	}
	return func(valuesTable string) *storage.Store {
		s, err := storage.Open(t.Context(), storage.Config{
			Dir:         dir,
			Registry:    record.Builtin(),
			Connections: 2,
			ERP: erp.Config{Sources: map[string]string{
				erp.BillsTable:  "erp_bills",
				erp.StagesTable: "erp_stages",
				erp.FieldsTable: "erp_fields",
				erp.ValuesTable: valuesTable,
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// TestBillsOfOthers writes to the tables of another program. The ids of the request differ from
// those of the tables in case and in trailing spaces.
func TestBillsOfOthers(t *testing.T) {
	s := openOthersBills(t)("erp_values")
	for _, contents := range []string{"added", "changed"} {
		field := erp.StageField{BillID: "b ", StageID: "S", SettingID: "7"}
		v, err := s.Bills(time.UTC).Set(t.Context(), field, &contents)
		if err != nil {
			t.Errorf("setting %q: %v", contents, err)
			continue
		}
		if *v.Contents != contents || v.SettingID != "7" || *v.SettingName != "Note" || v.PluginID != nil {
			t.Errorf("setting %q returned %+v, want field 7, Note, without a plugin", contents, v)
		}
	}
	values, err := s.Bills(time.UTC).Values(t.Context(), "B", "s")
	if err != nil {
		t.Fatal(err)
	}
	if len(values) != 1 || *values[0].Contents != "changed" {
		t.Errorf("got values %+v, want one, changed", values)
	}
}

// TestUnusableBillTables checks that a change and whd check report a table of values that cannot be
// written.
func TestUnusableBillTables(t *testing.T) {
	open := openOthersBills(t)
	for table, want := range map[string]string{
		"erp_view":  "erp_view: it is a view, and values can only be written to a table",
		"erp_gone":  "erp_gone: there is no such table",
		"erp_bills": "erp_bills, column BM_Stages_RecID: there is no such column",
	} {
		s := open(table)
		field := erp.StageField{BillID: "B", StageID: "s", SettingID: "7"}
		_, err := s.Bills(time.UTC).Set(t.Context(), field, new("x"))
		expectUnavailable(t, "a change of "+table, err, want)

		report, err := s.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		isWanted := func(f erp.Finding) bool { return strings.Contains(f.String(), want) }
		if !report.Failed() || !slices.ContainsFunc(report.Findings, isWanted) {
			t.Errorf("whd check with %s reports %+v, want %q", table, report.Findings, want)
		}
	}
}
