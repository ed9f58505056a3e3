package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/sqlite"
)

// discovered is the file of record kinds for the table DB_Main of newERP.
const discovered = `# Record kinds of tables and views of the ERP, as printed by whd kinds discover.
# Left out: DB_Class: DB_Class is built in; declare its additional fields under this name, or the kind under another

[DB_Main]
source = "DB_Main"
key = ["DebtorID"]

[DB_Main.fields]
DebtorID = "string"
Phone_No = { type = "string", column = "Phone No." }
# Map = "geometry" # left out: the type is not supported
`

// newERP returns a data directory with a database of records, and a connection to it.
func newERP(t *testing.T) (dataDir, *sqlite.Conn) {
	t.Helper()
	d := newDataDir(t)
	conn, err := sqlite.Open(filepath.Join(d.dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, statement := range []string{
		`CREATE TABLE DB_Main (DebtorID varchar(36) PRIMARY KEY NOT NULL, "Phone No." varchar(20), Map geometry)`,
		`CREATE TABLE DB_Class (Class text)`,
		`CREATE TABLE IN_Main (ID int)`,
		`CREATE VIEW DB_View AS SELECT DebtorID FROM DB_Main`,
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return d, conn
}

// TestKinds discovers the kinds of a database.
func TestKinds(t *testing.T) {
	d, _ := newERP(t)
	const args = "kinds discover --table DB_*"
	got := d.run(0, "", args)
	if got.stdout != discovered {
		t.Errorf("whd %s printed\n%s\nwant\n%s", args, got.stdout, discovered)
	}
	const start = "whd: left out: DB_Class: "
	const end = "whd: record kinds: 1; left out, with the reasons in comments: tables and views: 1, columns: 1\n"
	if !strings.HasPrefix(got.stderr, start) || !strings.HasSuffix(got.stderr, end) {
		t.Errorf("whd %s reported\n%s\nwant\n%s...\n%s", args, got.stderr, start, end)
	}

	withViews := d.run(0, "", "kinds discover --views").stdout
	wantText(t, "kinds discover --views", withViews, "[DB_View]")
	wantText(t, "kinds discover --views", withViews, "[IN_Main]")

	d.runSteps([]step{
		{args: "kinds discover --table DB_[", status: 2, stderr: `--table: "DB_[" is not a name or pattern`},
	})
}

// TestKindsDiff compares files of kinds with a database that changes.
func TestKindsDiff(t *testing.T) {
	d, conn := newERP(t)
	file := filepath.Join(d.dir, "erp.toml")
	if err := os.WriteFile(file, []byte(discovered), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(0, "", "kinds diff "+quoted(file))
	d.run(0, "", "kinds diff --erp-kinds "+quoted(file))

	for _, statement := range []string{
		`ALTER TABLE DB_Main DROP COLUMN "Phone No."`,
		`ALTER TABLE DB_Main ADD COLUMN Balance decimal(9, 2)`,
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	got := d.run(1, "", "kinds diff "+quoted(file))
	const differences = "DB_Main.Phone_No: removed: DB_Main has no column Phone No.\n" +
		"DB_Main.Balance: added: DB_Main has the column Balance, decimal?\n"
	if got.stdout != differences {
		t.Errorf("kinds diff printed\n%s\nwant\n%s", got.stdout, differences)
	}
	wantText(t, "kinds diff", got.stderr, "differences between the record kinds and the database: 2")

	// An invalid file: fields in comments are not reported as added.
	const invalid = "[DB_Main.fields]\nDebtorID = \"strng\"\n# Balance = \"decimal?\"\n"
	if err := os.WriteFile(file, []byte(invalid), 0o600); err != nil {
		t.Fatal(err)
	}
	got = d.run(1, "", "kinds diff "+quoted(d.dir))
	wantText(t, "kinds diff", got.stdout, "erp.toml:2: ")
	if strings.Contains(got.stdout, "Balance") {
		t.Errorf("kinds diff of an invalid file printed\n%s\nwant nothing about Balance", got.stdout)
	}
}

func TestKindsWithoutDatabaseOrFiles(t *testing.T) {
	newDataDir(t).runSteps([]step{{
		args:   "kinds discover",
		status: 2,
		stderr: "there is no database of records; set erp to the connection string of the ERP's database, or create the file",
	}})
	d, _ := newERP(t)
	d.runSteps([]step{{
		args:   "kinds diff",
		status: 2,
		stderr: "there are no files of record kinds; name them, or set erp.kinds",
	}})
}
