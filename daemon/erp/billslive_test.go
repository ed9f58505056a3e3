package erp_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

var liveField = erp.StageField{BillID: "B", StageID: "S", SettingID: "F"}

// liveBills creates a schema with bill tables and one custom field. id and contents are
// the types of the columns with ids and contents.
func liveBills(t *testing.T, dsn, schema, id, contents string, at erp.StageField) storage.Config {
	t.Helper()
	mssqltest.Exec(t, dsn, "CREATE SCHEMA "+schema,
		"CREATE TABLE "+schema+".BM_Main (RecID "+id+")", "CREATE TABLE "+schema+".BM_Stages (RecID "+id+", BM_Main_RecID "+id+")",
		"CREATE TABLE "+schema+".BM_StageCustomFields (RecID "+id+", SettingName varchar(20), SY_Plugin_RecID "+id+", DisplayOrder int)",
		"CREATE TABLE "+schema+".BM_StageCustomValues (RecID "+id+" NOT NULL, BM_Stages_RecID "+id+", BM_StageCustomFields_RecID "+id+", Contents "+contents+", LastSavedDateTime datetime)",
		"CREATE TABLE "+schema+".SY_Plugin (RecID "+id+", Name varchar(20))",
		"INSERT INTO "+schema+".BM_Main VALUES ('"+at.BillID+"')", "INSERT INTO "+schema+".BM_Stages VALUES ('"+at.StageID+"', '"+at.BillID+"')",
		"INSERT INTO "+schema+".BM_StageCustomFields VALUES ('"+at.SettingID+"', 'Note', NULL, 1)")
	return storage.Config{ERP: erp.Config{DSN: dsn, Schema: schema}, DSN: dsn, Migrate: true}
}

func setLive(t *testing.T, s *storage.Store, at erp.StageField, contents string) (wire.CustomFieldValue, error) {
	return s.Bills(time.UTC).Set(t.Context(), at, &contents)
}

// query1 returns the single text that a statement selects.
func query1(t *testing.T, dsn, statement string) string {
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
	config := liveBills(t, dsn, "erp", "char(20)", "int", liveField)
	for _, c := range []struct {
		column, contents string
		wantError        string // expected error; empty if the contents are stored
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
			mssqltest.Exec(t, dsn, "DELETE FROM erp.BM_StageCustomValues", "ALTER TABLE erp.BM_StageCustomValues DROP COLUMN Contents",
				"ALTER TABLE erp.BM_StageCustomValues ADD Contents "+c.column)
			s := openServer(t, config)
			for _, operation := range []string{"added", "changed"} {
				v, err := setLive(t, s, liveField, c.contents)
				if c.wantError == "" {
					if err != nil || *v.Contents != c.contents {
						t.Errorf("%s: %+v (%v)", operation, v, err)
					}
					continue
				}
				wantError, mayHold := strings.CutPrefix(c.wantError, perhaps)
				if mayHold && err == nil && *v.Contents == c.contents {
					continue
				}
				f := fault.From(err)
				if f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Name != "Contents" || !strings.Contains(f.Fields[0].Message, wantError) {
					t.Errorf("%s: %v", operation, err)
				}
				if n := query1(t, dsn, "SELECT CAST(COUNT(*) AS varchar(9)) FROM erp.BM_StageCustomValues WHERE Contents <> 'x'"); n != "0" {
					t.Errorf("%s: rejected contents were stored", operation)
				}
				if _, err := setLive(t, s, liveField, "x"); err != nil {
					t.Error(err)
				}
			}
			id := query1(t, dsn, "SELECT RecID FROM erp.BM_StageCustomValues")
			if !regexp.MustCompile(`^[0-9A-F]{12}4[0-9A-F]{3}[89AB][0-9A-F]{3}$`).MatchString(id) {
				t.Errorf("the new row's id is %q", id)
			}
		})
	}
}

// TestBillGuids uses id columns of type uniqueidentifier.
func TestBillGuids(t *testing.T) {
	at := erp.StageField{BillID: "0f8fad5b-d9cb-469f-a165-70867728950e", StageID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", SettingID: "3f2504e0-4f89-41d3-9a0c-0305e82c3301"}
	dsn := mssqltest.Database(t)
	s := openServer(t, liveBills(t, dsn, "erp", "uniqueidentifier", "nvarchar(50)", at))
	for i, spelled := range []erp.StageField{at, {BillID: strings.ToUpper(at.BillID) + " ", StageID: "{" + at.StageID + "}", SettingID: strings.ReplaceAll(at.SettingID, "-", "")}} {
		want := fmt.Sprint("by ", i)
		if v, err := setLive(t, s, spelled, want); err != nil || *v.Contents != want || !strings.EqualFold(v.SettingID, at.SettingID) {
			t.Errorf("%v: %+v (%v)", spelled, v, err)
		}
	}
	if n := query1(t, dsn, "SELECT CAST(COUNT(*) AS varchar(9)) FROM erp.BM_StageCustomValues"); n != "1" {
		t.Errorf("%s rows", n)
	}
	at.StageID = "no guid"
	if _, err := setLive(t, s, at, "x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("no guid: %v", err)
	}
}

// TestBillTriggers: a trigger of the ERP changes other rows, which the server adds to the
// row count of the statement.
func TestBillTriggers(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := openServer(t, liveBills(t, dsn, "erp", "varchar(40)", "nvarchar(50)", liveField))
	mssqltest.Exec(t, dsn, "CREATE TABLE erp.noted (n int)", "INSERT INTO erp.noted VALUES (0), (0), (0)",
		"CREATE TRIGGER erp.notes ON erp.BM_StageCustomValues AFTER INSERT, UPDATE AS UPDATE erp.noted SET n = n + 1")
	for _, contents := range []string{"a", "b"} {
		if v, err := setLive(t, s, liveField, contents); err != nil || *v.Contents != contents {
			t.Errorf("%+v (%v)", v, err)
		}
	}
	if n := query1(t, dsn, "SELECT CAST(COUNT(*) AS varchar(9)) FROM erp.BM_StageCustomValues"); n != "1" {
		t.Errorf("%s rows", n)
	}
}

// TestBillFailures removes, one after the other, the objects that a change needs.
func TestBillFailures(t *testing.T) {
	dsn := mssqltest.Database(t)
	config := liveBills(t, dsn, "erp", "varchar(40)", "nvarchar(50)", liveField)
	config.LockTimeout = 300 * time.Millisecond
	config.ERP.LockTimeout = 300 * time.Millisecond
	config.Migrate = false
	s := openServer(t, config)
	expect := func(step, want string) {
		t.Helper()
		if _, err := setLive(t, s, liveField, "x"); !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.From(err).Message, want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
	expect("not migrated", "whd migrate")
	config.Migrate = true
	s = openServer(t, config)
	if _, err := setLive(t, s, liveField, "kept"); err != nil {
		t.Fatal(err)
	}
	func() {
		erp, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer erp.Close()
		tx, err := erp.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(t.Context(), "UPDATE erp.BM_StageCustomValues SET Contents = N'locked'"); err != nil {
			t.Fatal(err)
		}
		expect("the ERP holds the row", "busy")
		if v, err := s.Bills(time.UTC).Value(t.Context(), liveField); err == nil && *v.Contents != "kept" {
			t.Errorf("uncommitted contents were read: %+v", v)
		}
	}()
	if _, err := setLive(t, s, liveField, "kept"); err != nil {
		t.Errorf("after the lock: %v", err)
	}
	mssqltest.Exec(t, dsn, "DELETE FROM whd.WH_Lock")
	expect("no locks", "WH_Lock")
	mssqltest.Exec(t, dsn, "ALTER TABLE erp.BM_StageCustomFields DROP COLUMN DisplayOrder")
	if _, err := s.Bills(time.UTC).Values(t.Context(), "B", "S"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "erp.BM_StageCustomFields, column DisplayOrder") {
		t.Errorf("missing column: %v", err)
	}
	mssqltest.Exec(t, dsn, "DROP TABLE erp.SY_Plugin")
	expect("missing table", "erp.SY_Plugin: there is no such table")
	report, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		if strings.HasPrefix(f.Kind, "BM_Stage") || f.Kind == "SY_Plugin" {
			found = append(found, fmt.Sprintf("%s.%s %v", f.Kind, f.Field, f.Warning))
		}
	}
	want := "BM_StageCustomFields.SettingDescription true, BM_StageCustomFields.CellType true, BM_StageCustomFields.FieldParameter true, " +
		"BM_StageCustomFields.LastSavedDateTime true, BM_StageCustomFields.DisplayOrder false, SY_Plugin. false"
	if got := strings.Join(found, ", "); got != want {
		t.Errorf("whd check reports\n%s, want\n%s", got, want)
	}
}
