package daemon

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/erp"
)

// TestLoginScriptNamesEveryKind checks that deploy/login.sql grants SELECT on exactly the
// tables that the daemon reads, where they exist, and nothing else, and that the right for
// the bill update is a comment.
func TestLoginScriptNamesEveryKind(t *testing.T) {
	var want []string
	for _, kinds := range [][]*record.Kind{record.Builtin().Kinds(), erp.BillTables().Kinds()} {
		for _, kind := range kinds {
			want = append(want, "IF OBJECT_ID(N'dbo."+kind.Name+"') IS NOT NULL GRANT SELECT ON dbo."+kind.Name+" TO whd;")
		}
	}
	script := deployedScript(t, "login.sql")
	got := regexp.MustCompile(`(?m)^.*\bGRANT [A-Z].*;$`).FindAllString(script, -1)
	want = append(want, "-- GRANT INSERT, UPDATE ON dbo."+erp.ValuesTable+" TO whd;") // the only ERP table that the daemon writes
	slices.Sort(want)
	slices.Sort(got)
	want = slices.Compact(want)
	if !slices.Equal(got, want) {
		t.Errorf("login.sql has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(script, "CREATE SCHEMA") {
		t.Error("login.sql creates a schema in the ERP's database")
	}
}

// TestScriptsStopAfterErrors checks that a wrong name of the database ends the scripts.
func TestScriptsStopAfterErrors(t *testing.T) {
	for _, name := range []string{"login.sql", "store.sql", "outbox.sql"} {
		before, _, found := strings.Cut(deployedScript(t, name), "\nUSE ")
		if !found || !strings.Contains(before, "\n:on error exit\n") {
			t.Errorf("%s does not stop after an error, so it could run in another database", name)
		}
	}
}

func deployedScript(t *testing.T, name string) string {
	t.Helper()
	script, err := os.ReadFile("../cmd/daemon/deploy/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// TestDeployedSettingsExist checks that the images use only existing settings.
func TestDeployedSettingsExist(t *testing.T) {
	known := []string{
		"WHD_DB_PASSWORD",        // used by the compose file itself
		"WHD_TEST_SQLSERVER_DSN", // used by tests
	}
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

// TestOwnOutbox checks in which databases the outbox is that of the store.
func TestOwnOutbox(t *testing.T) {
	if want := appdb.DefaultSchema + "." + appdb.OutboxTable; erp.DefaultOutbox != want {
		t.Errorf("outbox.sql creates %s, whd migrate %s", erp.DefaultOutbox, want)
	}

	const server, other = "sqlserver://whd:a@db?database=ERP", "sqlserver://whd:a@db?database=whd"
	for _, c := range []struct {
		erp, store, outbox string
		want               bool
	}{
		{"demo", "sqlite", "", false},
		{server, "sqlite", "", false},
		{server, "sqlite", "whd.WH_Outbox", false},
		{"demo", server, "", true},
		{server, server, "", true},
		{server, "sqlserver://reader:b@DB:1433?database=erp", "", true},
		{server, server, "[WHD].wh_outbox", true},
		{server, server, "dbo.Events", false},
		{server, server, "WH_Outbox", false},                          // in the schema dbo
		{server, "sqlserver://whd:a@10.0.0.1?database=ERP", "", true}, // may be the same server
		{server, other, "", true},
		{server, other, "whd.WH_Outbox", false},
	} {
		var conf config.Config
		conf.ERP = config.ERPConfig{DSN: config.DSN(c.erp), Schema: erp.DefaultSchema, Outbox: c.outbox}
		conf.Store, conf.Server.Schema = config.DSN(c.store), "whd"
		if got := ownOutbox(conf); got != c.want {
			t.Errorf("ownOutbox for %+v is %v", c, got)
		}
		if got := StoreConfig(conf, 1).ERP.Outbox; (got != "") != (c.outbox != "" && !c.want && c.erp == server) {
			t.Errorf("%+v: the outbox of the ERP is %q", c, got)
		}
	}
}
