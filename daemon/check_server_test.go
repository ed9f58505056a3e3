package daemon_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"os"
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
	Findings []struct{ Record, Table, Field, Problem string }
	Checks   []struct{ Name, Status, Detail string }
}

// checks runs whd check with a login and expects the exit status.
func (o onServer) checks(dsn string, status int) (r checkReport) {
	o.t.Helper()
	var out, stderr bytes.Buffer
	got := whd.Main(whd.Process{Args: []string{"check", "--format", "json", "--data-dir", o.dir}, Env: []string{"WHD_STORE=" + dsn}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr})
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || got != status {
		o.t.Fatalf("status %d, want %d, %v: %s%s", got, status, err, &out, &stderr)
	}
	o.secret(out.String() + stderr.String())
	return r
}

// scriptLogin runs deploy/login.sql for a login of this test. It returns the login and
// its connection string.
func (o onServer) scriptLogin() (login, dsn string) {
	o.t.Helper()
	script, err := os.ReadFile("../cmd/daemon/deploy/login.sql")
	if err != nil {
		o.t.Fatal(err)
	}
	u, err := url.Parse(o.dsn)
	if err != nil {
		o.t.Fatal(err)
	}
	login = "whd_test_" + strings.ToLower(rand.Text()[:8])
	_, statements, _ := strings.Cut(string(script), "\nGO\n") // after the statements that select the database
	text := strings.NewReplacer("LOGIN whd", "LOGIN "+login, "USER whd", "USER "+login, "TO whd;", "TO "+login+";", "AUTHORIZATION whd", "AUTHORIZATION "+login,
		"$(WHDPassword)", "Abcdef12345", "$(ERPDatabase)", u.Query().Get("database")).Replace(statements)
	babelfish := mssqltest.Count(o.t, o.dsn, "SELECT CASE WHEN SERVERPROPERTY('BabelfishVersion') IS NULL THEN 0 ELSE 1 END") == 1
	for batch := range strings.SplitSeq(text, "\nGO\n") {
		for statement := range strings.SplitSeq(batch, ";") {
			statement = strings.TrimSpace(statement)
			if babelfish && strings.Contains(statement, "GRANT CREATE ") {
				continue // Babelfish lacks these rights: the owner of a schema may create objects in it
			}
			if statement != "" {
				mssqltest.Exec(o.t, o.dsn, statement)
			}
		}
	}
	mssqltest.DropLogin(o.t, login)
	u.User = url.UserPassword(login, "Abcdef12345")
	return login, u.String()
}

// TestCheckWithMinimalRights checks that the rights of login.sql suffice, and that
// whd check reports each right that is revoked.
func TestCheckWithMinimalRights(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "demo records", "demo")
	login, dsn := o.scriptLogin()
	var out bytes.Buffer
	if status := whd.Main(whd.Process{Args: []string{"migrate", "--data-dir", o.dir}, Env: []string{"WHD_STORE=" + dsn}, Stdout: &out, Stderr: &out}); status != 0 {
		t.Fatalf("status %d, %s", status, &out)
	}
	r := o.checks(dsn, 0)
	if !r.Complete || r.Own.Version != r.Own.Needed || len(r.Own.Problems)+len(r.Findings) > 0 {
		t.Errorf("got %+v", r)
	}
	for _, c := range r.Checks {
		if c.Status == "failed" || c.Name == "clock" && c.Status == "skipped" {
			t.Errorf("got %+v", c)
		}
	}
	for _, revoked := range []struct{ right, table, want string }{
		{"SELECT", "dbo.DB_Class", "DB_Class"},
		{"UPDATE", "dbo.BM_StageCustomValues", "UPDATE"},
	} {
		mssqltest.Exec(t, o.dsn, "REVOKE "+revoked.right+" ON "+revoked.table+" FROM "+login)
		r := o.checks(dsn, 1)
		if r.Complete || !slices.ContainsFunc(r.Findings, func(f struct{ Record, Table, Field, Problem string }) bool {
			return strings.Contains(f.Table+f.Problem, revoked.want)
		}) {
			t.Errorf("without %s on %s: %+v", revoked.right, revoked.table, r)
		}
		mssqltest.Exec(t, o.dsn, "GRANT "+revoked.right+" ON "+revoked.table+" TO "+login)
	}
	mssqltest.Exec(t, o.dsn, "DROP TABLE whd.WH_Lock")
	if r := o.checks(dsn, 1); len(r.Own.Problems) != 1 || !strings.Contains(r.Own.Problems[0], "WH_Lock: the table does not exist") {
		t.Errorf("without a table of its own: %+v", r)
	}
}
