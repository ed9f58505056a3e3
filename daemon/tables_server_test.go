package daemon_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestOtherTables runs a daemon on an ERP with one built-in table and ten others: the scripts,
// the check, discovery, queries and capture work. Then tables vanish, which is an error until it
// is accepted.
func TestOtherTables(t *testing.T) {
	o := newOnServer(t)
	mssqltest.Exec(t, o.dsn, "CREATE TABLE dbo.DB_Class (Class nvarchar(20) NOT NULL)",
		"INSERT INTO dbo.DB_Class VALUES (N'retail')")
	login, dsn := o.scriptLogin("login.sql", "login.sql") // it can be run again
	for n := range 10 {
		table := fmt.Sprintf("dbo.AB_T%d", n)
		mssqltest.Exec(t, o.dsn,
			"CREATE TABLE "+table+" (ID int NOT NULL PRIMARY KEY, Name nvarchar(50) NULL)",
			"INSERT INTO "+table+" VALUES (1, N'one'), (2, N'two')",
			"GRANT SELECT ON "+table+" TO "+login)
	}

	var text strings.Builder
	run := func(status int, args ...string) string {
		t.Helper()
		text.Reset()
		p := whd.Process{
			Args:   append(args, "--data-dir", o.dir),
			Env:    []string{"WHD_ERP=" + dsn},
			Stdin:  strings.NewReader(""),
			Stdout: &text,
			Stderr: t.Output(),
		}
		if got := whd.Main(p); got != status {
			t.Fatalf("whd %s: status %d, want %d: %s", strings.Join(args, " "), got, status, &text)
		}
		return text.String()
	}
	run(0, "migrate")
	kinds := filepath.Join(t.TempDir(), "kinds")
	discovered := run(0, "kinds", "discover")
	writeKinds(t, kinds, "erp", strings.Replace(discovered, "[AB_T1]\n",
		"[AB_T1]\ncapture = 'always'\nevents = 'tone'\n", 1))
	check := func(status int, wantFailed ...string) {
		t.Helper()
		r := o.checks("sqlite", status, "WHD_ERP="+dsn, "WHD_ERP_KINDS="+kinds)
		var failed []string
		for _, f := range r.Findings {
			if !f.Warning {
				failed = append(failed, f.Record)
			}
		}
		if !slices.Equal(failed, wantFailed) {
			t.Errorf("whd check reports failures of %q, want %q: %+v", failed, wantFailed, r.Findings)
		}
	}
	check(0)

	u := newUse(o, "--erp", dsn, "--erp-kinds", kinds, "--changes-sweep", "1s", "--changes-share", "1")
	u.expectAs("GET /Queries/DB_Class", "", 200, "retail")
	u.expectAs("GET /Queries/AB_T0", "", 200, "two")

	// A reload looks at once, but does not wait for a slow server.
	look := func(line string, status int, want string) {
		t.Helper()
		deadline := time.Now().Add(2 * time.Minute)
		for time.Now().Before(deadline) {
			u.Set(t, "erp.kinds", kinds)
			got, text := u.as(line, "")
			if got == status && strings.Contains(text, want) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		u.expectAs(line, "", status, want)
	}
	look("GET /Queries/SO_Totals", 404, "SO_Totals is not served: its table or view is not seen in the ERP's database")
	u.expectAs("GET /json/reply/"+operation(t, "SO_Totals"), "", 404, "is not seen in the ERP's database")
	if _, text := u.as("GET /openapi.json", ""); strings.Contains(text, "/SO_Totals") {
		t.Error("the OpenAPI document has the kind SO_Totals, which is not served")
	}

	u.expectAs("GET /readyz", "", 200, "ready\n")
	token := u.token("AB_T1")
	mssqltest.Exec(t, o.dsn, "INSERT INTO dbo.AB_T1 VALUES (3, N'three')")
	u.expectAs("GET /Queries/AB_T1/Changes?Wait=60&Since="+token, "", 200, `"Name":"three"`)
	check(0)

	rename := func(from, to string) {
		t.Helper()
		for _, table := range []string{"DB_Class", "AB_T2"} {
			mssqltest.Exec(t, o.dsn, "EXEC sp_rename 'dbo."+table+from+"', '"+table+to+"', 'OBJECT'")
		}
	}
	rename("", "_old")
	const missing = "warning: tables that were served are missing in the ERP's database: DB_Class, AB_T2"
	look("GET /readyz", 200, missing)
	u.expectAs("GET /Queries/DB_Class", "", 503, "DB_Class")
	u.expectAs("GET /Queries/AB_T2", "", 503, "AB_T2")
	check(1, "DB_Class", "AB_T2")
	u.restart("--erp", dsn, "--erp-kinds", kinds) // the served tables are stored
	u.expectAs("GET /Queries/DB_Class", "", 503, "DB_Class")
	look("GET /readyz", 200, missing)

	got, want := run(0, "kinds", "accept",
		"--erp-kinds", kinds), "DB_Class is no longer served\nAB_T2 is no longer served\n"
	if got != want {
		t.Errorf("whd kinds accept printed %q, want %q", got, want)
	}

	look("GET /Queries/DB_Class", 404, "DB_Class is not served")
	u.expectAs("GET /Queries/AB_T2", "", 404, "AB_T2 is not served")
	if _, text := u.as("GET /readyz", ""); strings.Contains(text, "missing") {
		t.Errorf("after the acceptance, /readyz has %s", text)
	}

	check(0)
	if got := run(0, "kinds", "accept", "--erp-kinds", kinds); got != "" {
		t.Errorf("again, whd kinds accept printed %q", got)
	}

	rename("_old", "") // tables that are seen again are served
	look("GET /Queries/DB_Class", 200, "retail")
	u.expectAs("GET /Queries/AB_T2", "", 200, "two")
}

// TestNoTables checks that whd check fails if a login sees no table at all, and only warns if it
// sees others than those of record kinds.
func TestNoTables(t *testing.T) {
	o := newOnServer(t)
	login, dsn := o.scriptLogin("login.sql")
	o.do(0, "", "migrate", "--store", "sqlite")
	mssqltest.Exec(t, o.dsn, "CREATE TABLE dbo.Parcels (ID int)")
	expect := func(status int, want string) {
		t.Helper()
		r := o.checks("sqlite", status, "WHD_ERP="+dsn)
		for _, c := range r.Checks {
			if c.Name == "erp" && !strings.Contains(c.Status+" "+c.Detail, want) {
				t.Errorf("the check of erp: %+v, want %s", c, want)
			}
		}
	}
	expect(1, "no table at all is seen")
	mssqltest.Exec(t, o.dsn, "GRANT SELECT ON dbo.Parcels TO "+login)
	expect(0, "no table of a record kind is seen")
}
