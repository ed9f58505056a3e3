package daemon_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// TestSlowClientHoldsNoLocks changes a table while a client pauses in the middle of its
// rows, more of which are left than sockets hold, and then reads the rest.
func TestSlowClientHoldsNoLocks(t *testing.T) {
	o := newOnServer(t)
	o.do(0, "schema whd: version 0 -> ", "migrate")
	o.do(0, " demo records", "demo")
	const double = "INSERT INTO dbo.Large SELECT * FROM dbo.Large"
	mssqltest.Exec(t, o.dsn, "SELECT * INTO dbo.Large FROM dbo.SO_Totals", double, double, double, double)
	want := mssqltest.Count(t, o.dsn, "SELECT COUNT(*) FROM dbo.Large")
	i := daemontest.StartIn(t, o.dir, "--store", o.dsn, "--erp-sources", "SO_Totals=dbo.Large",
		"--http-write-stall", "10m")

	r := o.request("GET", i.URL+"/Queries/SO_Totals.ndjson", "")
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	rows := bufio.NewReader(reply.Body)
	if line, err := rows.ReadString('\n'); err != nil || reply.StatusCode != 200 {
		t.Fatalf("status %d, %s, %v", reply.StatusCode, line, err)
	}

	server, err := mssql.Open(mssql.Config{DSN: o.dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	limited, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := server.DB().ExecContext(limited, "ALTER TABLE dbo.Large ADD Another int"); err != nil {
		t.Fatalf("the table is still locked: %v", err)
	}

	lines := int64(1)
	for {
		_, err := rows.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lines++
	}

	if count := reply.Trailer.Get("X-Row-Count"); lines != want || count != strconv.FormatInt(want, 10) {
		t.Errorf("%d rows, X-Row-Count %s, want %d", lines, count, want)
	}
}
