package daemon

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
)

// TestLoginScriptNamesEveryKind checks that deploy/login.sql grants rights on exactly
// the tables that the daemon uses.
func TestLoginScriptNamesEveryKind(t *testing.T) {
	script, err := os.ReadFile("../cmd/daemon/deploy/login.sql")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(script), "\nUSE ")
	if !strings.Contains(before, "\n:on error exit\n") {
		t.Error("the script does not stop after an error, so it could run in another database")
	}
	grants := strings.Count(string(script), "\nGRANT SELECT ON dbo.")
	for _, kind := range record.Builtin().Kinds() {
		if !strings.Contains(string(script), "GRANT SELECT ON dbo."+kind.Name+" TO whd;") {
			t.Errorf("no grant to read %s", kind.Name)
		}
	}
	tables := erp.BillTables().Kinds()
	for _, table := range tables {
		right := "SELECT"
		if table.Name == erp.ValuesTable {
			right = "SELECT, INSERT, UPDATE" // the only ERP table that the daemon writes
		}
		if !strings.Contains(string(script), "\nGRANT "+right+" ON dbo."+table.Name+" TO whd;") {
			t.Errorf("no grant of %s on %s", right, table.Name)
		}
	}
	if n := strings.Count(string(script), "INSERT"); n != 1 {
		t.Errorf("%d grants to write, want 1", n)
	}
	if want := len(record.Builtin().Kinds()) + len(tables) - 1; grants != want {
		t.Errorf("%d tables are readable, want %d: those of the kinds and of bills", grants, want)
	}
}

// TestDeployedSettingsExist checks that the images use only existing settings.
func TestDeployedSettingsExist(t *testing.T) {
	known := []string{"WHD_DB_PASSWORD", "WHD_TEST_SQLSERVER_DSN"} // used by the compose file itself, and by tests
	for _, s := range config.Settings() {
		known = append(known, s.Variable())
	}
	for _, name := range []string{"compose.yaml", "Containerfile"} {
		text, err := os.ReadFile("../cmd/daemon/deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`WHD_[A-Z_]+`).FindAllString(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s contains no setting", name)
		}
		for _, variable := range found {
			if !slices.Contains(known, variable) {
				t.Errorf("%s sets %s, which is not a setting", name, variable)
			}
		}
	}
}
