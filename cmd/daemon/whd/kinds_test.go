package whd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/sqlite"
)

func TestKinds(t *testing.T) {
	d := newDataDir(t)
	d.runSteps([]step{{"", "kinds discover", 2, "there is no database of records; set erp to the connection string of the ERP's database, or create the file"}})
	conn, err := sqlite.Open(filepath.Join(d.dir, "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(text string) {
		t.Helper()
		if err := conn.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE DB_Main (DebtorID varchar(36) PRIMARY KEY NOT NULL, "Phone No." varchar(20), Map geometry);
		CREATE TABLE DB_Class (Class text); CREATE TABLE IN_Main (ID int); CREATE VIEW DB_View AS SELECT DebtorID FROM DB_Main`)
	found := d.run(0, "", "kinds discover --table DB_*")
	const want = `# Record kinds of tables and views of the ERP, as printed by whd kinds discover.
# Left out: DB_Class: DB_Class is built in; declare its additional fields under this name, or the kind under another

[DB_Main]
source = "DB_Main"
key = ["DebtorID"]

[DB_Main.fields]
DebtorID = "string"
Phone_No = { type = "string", column = "Phone No." }
# Map = "geometry" # left out: the type is not supported
`
	if found.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", found.stdout, want)
	}
	if want := "whd: record kinds: 1; left out, with the reasons in comments: tables and views: 1, columns: 1\n"; !strings.HasSuffix(found.stderr, want) || !strings.HasPrefix(found.stderr, "whd: left out: DB_Class: ") {
		t.Errorf("standard error: %s", found.stderr)
	}
	file := filepath.Join(d.dir, "erp.toml")
	if err := os.WriteFile(file, []byte(found.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(0, "", "kinds diff "+quoted(file))
	d.run(0, "", "kinds diff --erp-kinds "+quoted(file))
	if all := d.run(0, "", "kinds discover --views"); !strings.Contains(all.stdout, "[DB_View]") || !strings.Contains(all.stdout, "[IN_Main]") {
		t.Errorf("got %s", all.stdout)
	}
	exec(`ALTER TABLE DB_Main DROP COLUMN "Phone No."; ALTER TABLE DB_Main ADD COLUMN Balance decimal(9, 2)`)
	const differences = "DB_Main.Phone_No: removed: DB_Main has no column Phone No.\nDB_Main.Balance: added: DB_Main has the column Balance, decimal?\n"
	if got := d.run(1, "", "kinds diff "+quoted(file)); got.stdout != differences || !strings.Contains(got.stderr, "differences between the record kinds and the database: 2") {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(file, []byte("[DB_Main.fields]\nDebtorID = \"strng\"\n# Balance = \"decimal?\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.run(1, "", "kinds diff "+quoted(d.dir)); !strings.Contains(got.stdout, "erp.toml:2: ") || strings.Contains(got.stdout, "Balance") {
		t.Errorf("%+v", got)
	}
	d.runSteps([]step{
		{"", "kinds diff", 2, "there are no files of record kinds; name them, or set erp.kinds"},
		{"", "kinds discover --table DB_[", 2, `--table: "DB_[" is not a name or pattern`},
	})
}
