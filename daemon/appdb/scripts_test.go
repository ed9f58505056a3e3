package appdb

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// storeScript is run by an administrator before the first migration.
const storeScript = "../../cmd/daemon/deploy/store.sql"

// The script must grant the CREATE permissions that the migrations need, and no others.
func TestStoreScriptGrantsCreatePermissions(t *testing.T) {
	granted := grantedRights(t)
	needed := neededRights(t)
	for right, migration := range needed {
		if !granted[right] {
			t.Errorf("%s needs %s, which %s does not grant", migration, right, storeScript)
		}
	}
	for right := range granted {
		if needed[right] == "" {
			t.Errorf("%s grants %s, which no migration needs", storeScript, right)
		}
	}
}

// grantedRights returns the CREATE permissions that the script grants.
func grantedRights(t *testing.T) map[string]bool {
	t.Helper()
	script, err := os.ReadFile(storeScript)
	if err != nil {
		t.Fatal(err)
	}
	granted := make(map[string]bool)
	grants := regexp.MustCompile(`\bGRANT (CREATE [A-Z, ]+) TO whd\b`)
	for _, grant := range grants.FindAllStringSubmatch(string(script), -1) {
		for right := range strings.SplitSeq(grant[1], ", ") {
			granted[right] = true
		}
	}
	return granted
}

// neededRights returns the CREATE permissions that migrations need, each with one of them.
func neededRights(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(schema, serverMigrations+"/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no migrations", serverMigrations)
	}
	needed := make(map[string]string)
	statements := regexp.MustCompile(`(?im)^\s*CREATE\s+(?:UNIQUE\s+)?(?:OR\s+ALTER\s+)?([A-Z]+)\s`)
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements.FindAllStringSubmatch(string(text), -1) {
			object := strings.ToUpper(statement[1])
			if object == "INDEX" {
				continue // permitted by the ownership of the table
			}
			needed["CREATE "+object] = file
		}
	}
	return needed
}

// TestMigrationKeepsOutbox migrates a schema in which outbox.sql has created the outbox:
// rows that were inserted before stay.
func TestMigrationKeepsOutbox(t *testing.T) {
	dsn := mssqltest.Database(t)
	db := onServer(t, dsn)()
	if err := db.CreateSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, batch := range mssqltest.Batches(t, "../../cmd/daemon/deploy/outbox.sql") {
		if strings.Contains(batch, "WH_Outbox") && !strings.Contains(batch, "GRANT") {
			mssqltest.Exec(t, dsn, strings.ReplaceAll(batch, "whd.", db.Schema+"."))
		}
	}
	mssqltest.Exec(t, dsn, `INSERT INTO `+db.Schema+`.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'a')`)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := mssqltest.Count(t, dsn, `SELECT COUNT(EventGUID) FROM `+db.Schema+`.WH_Outbox`); n != 1 {
		t.Errorf("the outbox has %d rows after the migration, want the 1 inserted before", n)
	}
}
