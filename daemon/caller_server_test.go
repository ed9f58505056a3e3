package daemon_test

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql"
)

// TestSessionsShowCallers: an administrator of the server sees the request and the user that
// a session works for, in queries and in the update of bills.
func TestSessionsShowCallers(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "version", "migrate")
	o.do(0, " demo records", "demo")
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn)
	o.readiness(i, 200, "ready")
	server, err := mssql.Open(mssql.Config{DSN: o.dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range []struct{ id, method, path, body string }{
		{"query-1", "GET", "/Queries/SO_Totals?Take=1", ""},
		{"query-2", "GET", "/Queries/SO_Totals", ""},
		{"bill-1", "GET", "/Bills/B1/Stages/S1/CustomFieldValues", ""},
	} {
		r := o.request(c.method, i.URL+c.path, c.body)
		r.SetBasicAuth("admin", daemontest.AdminPassword)
		r.Header.Set(wire.HeaderRequestID, c.id)
		if status, body := o.send(r); status >= 500 {
			t.Fatalf("%s: status %d, %s", c.path, status, body)
		}
		rows, err := server.DB().QueryContext(t.Context(),
			`SELECT CAST(context_info AS varchar(128)) FROM sys.dm_exec_sessions WHERE program_name = 'whd' AND database_id = DB_ID() AND context_info IS NOT NULL`)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.TrimRight(text, "\x00 "))
		}
		rows.Close()
		if !strings.Contains(strings.Join(all, "\n")+"\n", "request="+c.id+" user=admin\n") {
			t.Errorf("%s: the sessions show %q", c.id, all)
		}
	}
}
