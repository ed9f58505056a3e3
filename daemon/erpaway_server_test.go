package daemon_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestERPAway checks that a daemon with its own data in files starts and delivers events
// while the ERP's database is away, and queries it as soon as it is back.
func TestERPAway(t *testing.T) {
	o := newOnServer(t)
	mssqltest.Exec(t, o.dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `INSERT INTO DB_Class VALUES (N'retail')`)
	line := mssqltest.NewProxy(t, o.dsn)
	settings := []string{"--erp", line.DSN, "--auth-queries", "anonymous"}
	expectAway := func(u *use, reason string) {
		t.Helper()
		expectResponse(t, u.Instance, readiness, 200, "ready\nerp: away: "+reason)
		u.publish("while the ERP is away: " + reason)
	}
	expectBack := func(u *use) {
		t.Helper()
		expectResponse(t, u.Instance, classes, 200, `"Class":"retail"`)
		deadline := time.Now().Add(time.Minute) // the limit of /readyz is short for a busy machine
		for {
			_, body := get(t, u.URL+readiness)
			if !strings.Contains(body, "erp:") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("/readyz returned %s, want no problem of the ERP", body)
			}
		}
		u.publish("while the ERP is there")
	}
	line.Down()
	u := newUse(o, settings...)
	u.subscribe()
	for start := range 2 {
		expectAway(u, unreachable)
		expectResponse(t, u.Instance, classes, 503, unreachable)
		u.expectAs("GET /Bills/B/Stages/S/CustomFieldValues/F", "", 503, unreachable)
		u.expectAs("PATCH /Bills/B/Stages/S/CustomFieldValues/F", `{"Contents":"x"}`, 503, unreachable)
		u.expectAs("GET /Logs?Take=1", "", 200, "Results") // own data
		line.Up()
		expectBack(u)
		line.Freeze()
		expectAway(u, "")
		line.Thaw()
		expectBack(u)
		line.Down()
		if start == 0 {
			u.restart(settings...) // with existing files
		}
	}

	o.commandsWithoutERP(u.Instance, line)
}

// commandsWithoutERP runs the commands that use only the store, while the ERP's database is
// away. They do not connect to it.
func (o onServer) commandsWithoutERP(i *daemontest.Instance, line *mssqltest.Proxy) {
	o.t.Helper()
	command := func(status int, want string, args ...string) {
		o.t.Helper()
		var out bytes.Buffer
		got := whd.Main(whd.Process{
			Args:   append(args, "--data-dir", o.dir),
			Env:    []string{"WHD_ERP=" + line.DSN},
			Stdin:  strings.NewReader("a password of a user\n"),
			Stdout: &out,
			Stderr: &out,
		})
		if got != status || !strings.Contains(out.String(), want) {
			o.t.Errorf("whd %s: status %d, %s\nwant status %d, %q", strings.Join(args, " "), got, &out, status, want)
		}
		o.secret(out.String())
	}

	if err := i.Stop(); err != nil {
		o.t.Fatal(err)
	}

	before := line.Made()
	command(0, "up to date", "migrate")
	command(0, "", "user", "create", "ann", "--role", "reader", "--password-stdin")
	command(0, "ann", "user", "list")
	command(0, "whd_", "key", "create", "till", "--role", "reader")
	command(0, "", "backup", o.t.TempDir()+"/backup")
	if n := line.Made() - before; n != 0 {
		o.t.Errorf("commands that need only the store made %d connections to the ERP's database", n)
	}

	command(3, "fail  erp", "check")
	command(3, "ok    store", "check")
	if line.Made() == before {
		o.t.Error("whd check did not connect to the ERP's database")
	}
}
