package erp_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

var liveField = erp.StageField{BillID: "B", StageID: "S", SettingID: "F"}

// liveBills creates a schema, erp, with bill tables and one custom field. id and contents are
// the types of the columns with ids and contents.
func liveBills(t *testing.T, dsn, id, contents string, field erp.StageField) storage.Config {
	t.Helper()
	types := strings.NewReplacer("ID_TYPE", id, "CONTENTS_TYPE", contents)
	for _, statement := range []string{
		"CREATE SCHEMA erp",
		"CREATE TABLE erp.BM_Main (RecID ID_TYPE)",
		"CREATE TABLE erp.BM_Stages (RecID ID_TYPE, BM_Main_RecID ID_TYPE)",
		`CREATE TABLE erp.BM_StageCustomFields
			(RecID ID_TYPE, SettingName varchar(20), SY_Plugin_RecID ID_TYPE, DisplayOrder int)`,
		`CREATE TABLE erp.BM_StageCustomValues
			(RecID ID_TYPE NOT NULL, BM_Stages_RecID ID_TYPE, BM_StageCustomFields_RecID ID_TYPE,
			Contents CONTENTS_TYPE, LastSavedDateTime datetime)`,
		"CREATE TABLE erp.SY_Plugin (RecID ID_TYPE, Name varchar(20))",
	} {
		mssqltest.Exec(t, dsn, types.Replace(statement))
	}
	mssqltest.Exec(t, dsn,
		"INSERT INTO erp.BM_Main VALUES ('"+field.BillID+"')",
		"INSERT INTO erp.BM_Stages VALUES ('"+field.StageID+"', '"+field.BillID+"')",
		"INSERT INTO erp.BM_StageCustomFields VALUES ('"+field.SettingID+"', 'Note', NULL, 1)",
	)
	return storage.Config{ERP: erp.Config{DSN: dsn, Schema: "erp"}, DSN: dsn, Migrate: true}
}

func setLive(t *testing.T, s *storage.Store, field erp.StageField, contents string) (wire.CustomFieldValue, error) {
	return s.Bills(time.UTC).Set(t.Context(), field, &contents)
}

// expectRows checks the number of stored values.
func expectRows(t *testing.T, dsn string, want int64) {
	t.Helper()
	if got := mssqltest.Count(t, dsn, "SELECT COUNT(*) FROM erp.BM_StageCustomValues"); got != want {
		t.Errorf("got %d rows of values, want %d", got, want)
	}
}

// selectText returns the single text that a statement selects.
func selectText(t *testing.T, dsn, statement string) string {
	t.Helper()
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var text string
	if err := server.DB().QueryRowContext(t.Context(), statement).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// perhaps prefixes an error that not every server returns: Babelfish stores any text in
// a varchar column.
const perhaps = "perhaps: "

// TestBillColumns writes contents to columns that cannot hold all texts, and rows to a
// table with ids shorter than a GUID.
func TestBillColumns(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := liveBills(t, dsn, "char(20)", "int", liveField)
	newID := regexp.MustCompile(`^[0-9A-F]{12}4[0-9A-F]{3}[89AB][0-9A-F]{3}$`)
	for _, c := range []struct {
		column    string
		contents  string
		wantError string // expected error; empty if the contents are stored
	}{
		{"nvarchar(10)", "日本日本日本日本日本", ""},
		{"nvarchar(10)", "0123456789a", "is longer than the column of the database, which is nvarchar(10)"},
		{"nvarchar(10)", "😀😀😀😀😀😀", "nvarchar(10)"}, // twelve UTF-16 code units
		{"varchar(10)", "Größe", ""},
		{"varchar(10)", "12 €", ""},
		{"varchar(10)", "日本", perhaps + "has a character that the column of the database, which is varchar(10), cannot hold"},
		{"varchar(10)", "0123456789 ", "varchar(10)"},
		{"varchar(max)", strings.Repeat("long", 5000), ""},
	} {
		t.Run(c.column+" "+c.contents[:min(4, len(c.contents))], func(t *testing.T) {
			mssqltest.Exec(t, dsn,
				"DELETE FROM erp.BM_StageCustomValues",
				"ALTER TABLE erp.BM_StageCustomValues DROP COLUMN Contents",
				"ALTER TABLE erp.BM_StageCustomValues ADD Contents "+c.column,
			)
			s := storagetest.Open(t, config)
			for _, operation := range []string{"added", "changed"} {
				v, err := setLive(t, s, liveField, c.contents)
				wantError, mayHold := strings.CutPrefix(c.wantError, perhaps)
				isStored := err == nil && *v.Contents == c.contents
				if c.wantError == "" && !isStored {
					t.Errorf("%s: got %+v (%v), want the contents", operation, v, err)
				}
				if c.wantError == "" || (mayHold && isStored) {
					continue
				}
				expectRejectedContents(t, operation, err, wantError)
				stored := mssqltest.Count(t, dsn, "SELECT COUNT(*) FROM erp.BM_StageCustomValues WHERE Contents <> 'x'")
				if stored != 0 {
					t.Errorf("%s: rejected contents were stored", operation)
				}
				if _, err := setLive(t, s, liveField, "x"); err != nil {
					t.Errorf("%s: contents that fit are rejected: %v", operation, err)
				}
			}
			id := selectText(t, dsn, "SELECT RecID FROM erp.BM_StageCustomValues")
			if !newID.MatchString(id) {
				t.Errorf("the new row's id is %q, want the digits of a GUID", id)
			}
		})
	}
}

// expectRejectedContents checks that an error names the contents as invalid, and why.
func expectRejectedContents(t *testing.T, operation string, err error, want string) {
	t.Helper()
	f := fault.From(err)
	if f.Kind != fault.Invalid || len(f.Fields) != 1 {
		t.Errorf("%s: got %v, want one invalid field", operation, err)
		return
	}
	if field := f.Fields[0]; field.Name != "Contents" || !strings.Contains(field.Message, want) {
		t.Errorf("%s: got %+v, want Contents with %q", operation, field, want)
	}
}

// TestBillGuids uses id columns of type uniqueidentifier.
func TestBillGuids(t *testing.T) {
	field := erp.StageField{
		BillID:    "0f8fad5b-d9cb-469f-a165-70867728950e",
		StageID:   "7c9e6679-7425-40de-944b-e07fc1f90ae7",
		SettingID: "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
	}
	otherNotation := erp.StageField{
		BillID:    strings.ToUpper(field.BillID) + " ",
		StageID:   "{" + field.StageID + "}",
		SettingID: strings.ReplaceAll(field.SettingID, "-", ""),
	}
	dsn := mssqltest.Database(t)
	s := storagetest.Open(t, liveBills(t, dsn, "uniqueidentifier", "nvarchar(50)", field))
	for i, spelled := range []erp.StageField{field, otherNotation} {
		want := fmt.Sprint("by ", i)
		v, err := setLive(t, s, spelled, want)
		if err != nil {
			t.Errorf("%v: %v", spelled, err)
			continue
		}
		if *v.Contents != want || !strings.EqualFold(v.SettingID, field.SettingID) {
			t.Errorf("%v: got %+v, want %q of the field %s", spelled, v, want, field.SettingID)
		}
	}
	expectRows(t, dsn, 1)
	field.StageID = "no guid"
	if _, err := setLive(t, s, field, "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stage id that is no GUID: got error %v, want not found", err)
	}
}

// TestBillTriggers: a trigger of the ERP changes other rows, which the server adds to the
// row count of the statement.
func TestBillTriggers(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := storagetest.Open(t, liveBills(t, dsn, "varchar(40)", "nvarchar(50)", liveField))
	mssqltest.Exec(t, dsn,
		"CREATE TABLE erp.noted (n int)",
		"INSERT INTO erp.noted VALUES (0), (0), (0)",
		"CREATE TRIGGER erp.notes ON erp.BM_StageCustomValues AFTER INSERT, UPDATE AS UPDATE erp.noted SET n = n + 1",
	)
	for _, contents := range []string{"a", "b"} {
		if v, err := setLive(t, s, liveField, contents); err != nil || *v.Contents != contents {
			t.Errorf("setting %q: got %+v (%v)", contents, v, err)
		}
	}
	expectRows(t, dsn, 1)
}

// TestBillFailures removes, one after the other, the objects that a change needs.
func TestBillFailures(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := liveBills(t, dsn, "varchar(40)", "nvarchar(50)", liveField)
	config.Migrate = false
	_, err := setLive(t, storagetest.Open(t, config), liveField, "x")
	expectUnavailable(t, "a change without whd's tables", err, "whd migrate")

	config.Migrate = true
	s := storagetest.Open(t, config)
	if _, err := setLive(t, s, liveField, "kept"); err != nil {
		t.Fatal(err)
	}
	mssqltest.Exec(t, dsn, "DELETE FROM whd.WH_Lock")
	_, err = setLive(t, s, liveField, "x")
	expectUnavailable(t, "a change without locks", err, "WH_Lock")

	mssqltest.Exec(t, dsn, "ALTER TABLE erp.BM_StageCustomFields DROP COLUMN DisplayOrder")
	_, err = s.Bills(time.UTC).Values(t.Context(), "B", "S")
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "erp.BM_StageCustomFields, column DisplayOrder") {
		t.Errorf("reading without a column: got error %v, want that it names the column", err)
	}

	mssqltest.Exec(t, dsn, "DROP TABLE erp.SY_Plugin")
	_, err = setLive(t, s, liveField, "x")
	expectUnavailable(t, "a change without a table", err, "erp.SY_Plugin: there is no such table")
	expectBillFindings(t, s, []string{
		"BM_StageCustomFields.SettingDescription warning",
		"BM_StageCustomFields.CellType warning",
		"BM_StageCustomFields.FieldParameter warning",
		"BM_StageCustomFields.LastSavedDateTime warning",
		"BM_StageCustomFields.DisplayOrder failure",
		"SY_Plugin. failure",
	})
}

// expectBillFindings compares the findings of whd check on the tables of custom fields.
func expectBillFindings(t *testing.T, s *storage.Store, want []string) {
	t.Helper()
	report, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range report.Findings {
		if !strings.HasPrefix(f.Kind, "BM_Stage") && f.Kind != "SY_Plugin" {
			continue
		}
		severity := "failure"
		if f.Warning {
			severity = "warning"
		}
		got = append(got, fmt.Sprintf("%s.%s %s", f.Kind, f.Field, severity))
	}
	if !slices.Equal(got, want) {
		t.Errorf("whd check reports\n%q, want\n%q", got, want)
	}
}

// TestBillChangeWaitsForERP checks that a change fails while the ERP holds the row for long, and that
// uncommitted contents are not read.
func TestBillChangeWaitsForERP(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := liveBills(t, dsn, "varchar(40)", "nvarchar(50)", liveField)
	config.LockTimeout = 300 * time.Millisecond
	config.ERP.LockTimeout = 300 * time.Millisecond
	s := storagetest.Open(t, config)
	if _, err := setLive(t, s, liveField, "kept"); err != nil {
		t.Fatal(err)
	}

	program, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	tx, err := program.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "UPDATE erp.BM_StageCustomValues SET Contents = N'locked'"); err != nil {
		t.Fatal(err)
	}
	_, err = setLive(t, s, liveField, "x")
	expectUnavailable(t, "a change while the ERP holds the row", err, "busy")
	v, err := s.Bills(time.UTC).Value(t.Context(), liveField)
	if err == nil && *v.Contents != "kept" {
		t.Errorf("uncommitted contents were read: %+v", v)
	}

	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := setLive(t, s, liveField, "kept"); err != nil {
		t.Errorf("a change after the lock: %v", err)
	}
}
