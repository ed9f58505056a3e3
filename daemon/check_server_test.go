package daemon_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// checkReport is the output of whd check --format json.
type checkReport struct {
	Complete bool
	Own      struct {
		Version, Needed int64
		Problems        []string
	}
	Findings []struct {
		Record, Table, Field, Problem string
		Warning                       bool
	}
	Grants []string
	Checks []struct{ Name, Status, Detail string }
}

// checks runs whd check with a login and expects the exit status.
func (o onServer) checks(dsn string, status int, env ...string) (r checkReport) {
	o.t.Helper()
	var out, stderr bytes.Buffer
	got := whd.Main(whd.Process{
		Args:   []string{"check", "--format", "json", "--data-dir", o.dir},
		Env:    append(env, "WHD_STORE="+dsn),
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &stderr,
	})
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || got != status {
		o.t.Fatalf("status %d, want %d, %v: %s%s", got, status, err, &out, &stderr)
	}
	o.secret(out.String() + stderr.String())
	return r
}

// scriptLogin creates a login for this test with scripts of deploy. It returns the login and
// its connection string.
func (o onServer) scriptLogin(scripts ...string) (login, dsn string) {
	o.t.Helper()
	u, err := url.Parse(o.dsn)
	if err != nil {
		o.t.Fatal(err)
	}
	login = "whd_test_" + strings.ToLower(rand.Text()[:8])
	database := u.Query().Get("database")
	replace := strings.NewReplacer(
		"LOGIN whd", "LOGIN "+login,
		"USER whd", "USER "+login,
		"TO whd;", "TO "+login+";",
		"AUTHORIZATION whd", "AUTHORIZATION "+login,
		"USER_ID(N'whd')", "USER_ID(N'"+login+"')",
		"SUSER_ID(N'whd')", "SUSER_ID(N'"+login+"')",
		"TO whd'", "TO "+login+"'",
		"$(WHDPassword)", "Abcdef12345",
		"$(ERPDatabase)", database,
		"$(StoreDatabase)", database,
	)
	for _, name := range scripts {
		statements := strings.Join(mssqltest.Batches(o.t, "../cmd/daemon/deploy/"+name), ";")
		statements = regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(statements, "")
		for statement := range strings.FieldsFuncSeq(replace.Replace(statements),
			func(r rune) bool { return r == ';' }) {
			if strings.TrimSpace(statement) != "" {
				mssqltest.Exec(o.t, o.dsn, statement)
			}
		}
	}
	mssqltest.DropLogin(o.t, login)
	u.User = url.UserPassword(login, "Abcdef12345")
	return login, u.String()
}

// TestCheckWithMinimalRights checks that the rights of login.sql and store.sql suffice, and
// that whd check reports each right that is missing, with the statement that grants it.
func TestCheckWithMinimalRights(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "demo records", "demo")
	login, dsn := o.scriptLogin("login.sql", "store.sql")
	var out bytes.Buffer
	if status := whd.Main(whd.Process{
		Args:   []string{"migrate", "--data-dir", o.dir},
		Env:    []string{"WHD_STORE=" + dsn},
		Stdout: &out,
		Stderr: &out,
	}); status != 0 {
		t.Fatalf("status %d, %s", status, &out)
	}

	user := " TO [" + login + "];"
	expect := func(status int, wantGrant string, env ...string) (r checkReport) {
		t.Helper()
		r = o.checks(dsn, status, env...)
		if r.Complete != (status == 0) || r.Own.Version != r.Own.Needed ||
			!slices.Equal(r.Grants, []string{wantGrant + user}) {
			t.Errorf("got %+v, want the statement %s", r, wantGrant+user)
		}
		for _, c := range r.Checks {
			isSkippedClock := c.Name == "clock" && c.Status == "skipped"
			if isSkippedClock || c.Status == "failed" {
				t.Errorf("the check %s has the result %+v", c.Name, c)
			}
		}
		return r
	}
	const update = "GRANT INSERT, UPDATE ON [dbo].[BM_StageCustomValues]"
	if r := expect(0, update); len(r.Findings) != 1 || !r.Findings[0].Warning || len(r.Own.Problems) > 0 {
		t.Errorf("with the rights of the scripts: %+v", r)
	}

	mssqltest.Exec(t, o.dsn, update+user) // from the report
	if r := o.checks(dsn, 0); len(r.Findings)+len(r.Grants) > 0 {
		t.Errorf("with the right for the bill update: %+v", r)
	}

	for _, revoked := range []struct {
		right, table, builtin string
		status                int
	}{
		{"SELECT", "[dbo].[DB_Class]", "present", 0}, // has not been served
		{"SELECT", "[dbo].[DB_Class]", "all", 1},
		{"SELECT", "[dbo].[BM_Stages]", "all", 1},
		{"UPDATE", "[dbo].[BM_StageCustomValues]", "all", 0},
	} {
		mssqltest.Exec(t, o.dsn, "REVOKE "+revoked.right+" ON "+revoked.table+" FROM "+login)
		r := expect(revoked.status, "GRANT "+revoked.right+" ON "+revoked.table, "WHD_ERP_BUILTIN="+revoked.builtin)
		if len(r.Findings)+len(r.Own.Problems) != 1 || r.Findings[0].Warning != (revoked.status == 0) {
			t.Errorf("without %s on %s: %+v", revoked.right, revoked.table, r)
		}
		mssqltest.Exec(t, o.dsn, "GRANT "+revoked.right+" ON "+revoked.table+user)
	}

	mssqltest.Exec(t, o.dsn, "DROP TABLE whd.WH_Lock")
	r := o.checks(dsn, 1)
	if len(r.Own.Problems) != 1 ||
		!strings.Contains(r.Own.Problems[0], "WH_Lock: the table does not exist") ||
		!slices.Equal(r.Grants, []string{"GRANT SELECT, INSERT, UPDATE, DELETE ON [whd].[WH_Lock]" + user}) {
		t.Errorf("without a table of its own: %+v", r)
	}
}

// TestCheckDoesNotMigrate checks that whd check changes neither a database without whd's
// tables nor outdated ones, even if whd serve would migrate them.
func TestCheckDoesNotMigrate(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "demo records", "demo")
	if r := o.checks(o.dsn, 1, "WHD_MIGRATE=true"); r.Own.Version != 0 || r.Own.Needed == 0 {
		t.Errorf("without tables: %+v", r.Own)
	}
	if n := mssqltest.Count(t, o.dsn, "SELECT COUNT(*) FROM sys.schemas WHERE name = N'whd'"); n != 0 {
		t.Error("the check created the schema")
	}
	o.do(0, "", "migrate")
	mssqltest.Exec(t, o.dsn, "DELETE FROM whd.WH_Migration WHERE version_id = (SELECT MAX(version_id) FROM whd.WH_Migration)")
	if r := o.checks(o.dsn, 1, "WHD_MIGRATE=true"); r.Own.Version >= r.Own.Needed {
		t.Errorf("with outdated tables: %+v", r.Own)
	}
	if n := mssqltest.Count(t, o.dsn, "SELECT MAX(version_id) FROM whd.WH_Migration"); n >= o.checks(o.dsn, 1).Own.Needed {
		t.Errorf("the tables now have version %d", n)
	}
}
