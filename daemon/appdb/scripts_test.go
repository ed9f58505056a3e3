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
	script, err := os.ReadFile(storeScript)
	if err != nil {
		t.Fatal(err)
	}
	granted := make(map[string]bool)
	for _, grant := range regexp.MustCompile(`(?m)^GRANT (CREATE [A-Z, ]+) TO whd;`).FindAllStringSubmatch(string(script), -1) {
		for right := range strings.SplitSeq(grant[1], ", ") {
			granted[right] = true
		}
	}
	files, err := fs.Glob(schema, serverMigrations+"/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q %v", files, err)
	}
	needed := make(map[string]bool)
	for _, file := range files {
		text, err := schema.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, created := range regexp.MustCompile(`(?im)^\s*CREATE\s+(?:UNIQUE\s+)?(?:OR\s+ALTER\s+)?([A-Z]+)\s`).FindAllStringSubmatch(string(text), -1) {
			object := strings.ToUpper(created[1])
			if object == "INDEX" {
				continue // permitted by the ownership of the table
			}
			right := "CREATE " + object
			if needed[right] = true; !granted[right] {
				t.Errorf("%s needs %s, which %s does not grant", file, right, storeScript)
			}
		}
	}
	for right := range granted {
		if !needed[right] {
			t.Errorf("%s grants %s, which no migration needs", storeScript, right)
		}
	}
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
		t.Errorf("%d rows", n)
	}
}
