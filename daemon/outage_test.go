package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const (
	totals    = "/json/reply/SO_TotalsQuery" // has a long response
	classes   = "/json/reply/DB_ClassQuery"
	readiness = "/readyz"
)

// bigTotals inserts 20,000 rows of SO_Totals, several MB of JSON: more than socket
// buffers hold.
func bigTotals(t *testing.T, dsn string) {
	t.Helper()
	ten := func(name string) string {
		return " (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS " + name + "(n)"
	}
	amounts := strings.Repeat(", CAST(a.n * 1000 + b.n * 100 + c.n AS decimal(19,4))", 7)
	mssqltest.Exec(t, dsn,
		`CREATE TABLE SO_Totals (InvoiceID nvarchar(100), InvoiceTotal decimal(19,4), Cartage1Total decimal(19,4), Cartage1TaxTotal decimal(19,4),
			Cartage2Total decimal(19,4), Cartage2TaxTotal decimal(19,4), Cartage3Total decimal(19,4), Cartage3TaxTotal decimal(19,4))`,
		`INSERT INTO SO_Totals SELECT N'an invoice with a number that is as long as those of some companies are: ' + CAST(a.n AS nvarchar(1)) + CAST(b.n AS nvarchar(1)) + CAST(c.n AS nvarchar(1)) + CAST(d.n AS nvarchar(1))`+
			amounts+` FROM`+ten("a")+` CROSS JOIN`+ten("b")+` CROSS JOIN`+ten("c")+` CROSS JOIN`+ten("d")+` CROSS JOIN (VALUES (0), (1)) AS e(n)`)
}

// overProxy runs a daemon that reaches the database server through a proxy, which the
// test can interrupt. It returns both, and the DSN without the proxy.
func overProxy(t *testing.T, args ...string) (*daemontest.Instance, *mssqltest.Proxy, string) {
	t.Helper()
	dsn := mssqltest.Database(t)
	bigTotals(t, dsn)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `INSERT INTO DB_Class VALUES (N'retail')`)
	line := mssqltest.NewProxy(t, dsn)
	i := daemontest.Start(t, append([]string{
		"--store", line.DSN,
		"--migrate",
		"--auth-queries", "anonymous",
	}, args...)...)
	return i, line, dsn
}

// expectResponse expects the status and text in the response of a path. It retries for a
// while: readiness and some of the tests set time limits that a busy machine may exceed.
func expectResponse(t *testing.T, i *daemontest.Instance, path string, status int, words string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		reply, body := get(t, i.URL+path)
		retryAfter := reply.Header.Get("Retry-After")
		if (retryAfter != "") != (reply.StatusCode == http.StatusServiceUnavailable) {
			t.Errorf("%s: %s with Retry-After %q", path, reply.Status, retryAfter)
		}
		if reply.StatusCode == status && strings.Contains(body, words) {
			return
		}
		slow := path == readiness || reply.StatusCode == http.StatusGatewayTimeout
		if !slow || time.Now().After(deadline) {
			t.Fatalf("%s: %s %s, want %d and %q", path, reply.Status, body, status, words)
		}
	}
}

// expectWorking expects that a query and /readyz succeed.
func expectWorking(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	expectResponse(t, i, classes, 200, `"Class":"retail"`)
	expectResponse(t, i, readiness, 200, "ready")
}

const (
	unreachable = "the database server cannot be reached at the moment"
	loginFailed = "database login failed"
)

// TestUnreachableServer checks that queries and readiness fail while the database server
// is unreachable and succeed as soon as it is back, with the broken connections of the
// pool replaced.
func TestUnreachableServer(t *testing.T) {
	i, line, _ := overProxy(t)
	for range 2 {
		expectWorking(t, i)
		line.Reset()
		expectWorking(t, i)
		line.Down()
		expectResponse(t, i, classes, 503, unreachable)
		expectResponse(t, i, readiness, 503, unreachable)
		line.Up()
	}
	expectWorking(t, i)
}

// TestConnectionLostInMidStream checks that clients can recognize a truncated response in
// every format.
func TestConnectionLostInMidStream(t *testing.T) {
	i, line, _ := overProxy(t)
	expectWorking(t, i)
	line.CutAfter(500_000)
	for _, format := range []string{"json", "ndjson", "csv", "xml", "jsv"} {
		reply, err := http.Get(i.URL + strings.Replace(totals, "json", format, 1))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || reply.Trailer.Get("X-Row-Count") != "" {
			t.Errorf("%s: %s, %d bytes, %v, %q rows", format, reply.Status, n, err, reply.Trailer.Get("X-Row-Count"))
		}
	}
	i.Log.Await(t, "response aborted", unreachable)
	line.CutAfter(0)
	expectWorking(t, i)
}

// TestUnresponsiveServer has the database server stop responding, before the first row
// and between rows. Queries end at their time limit and are not retried.
func TestUnresponsiveServer(t *testing.T) {
	// Webhooks and the request log have connections of their own.
	i, line, _ := overProxy(t, "--query-timeout", "2s", "--webhooks-enabled=false", "--requestlog-enabled=false")
	expectWorking(t, i)
	before := line.Made()
	line.Freeze()
	expectResponse(t, i, classes, 504, "exceeded its time limit query.timeout")
	if line.Made() != before {
		t.Errorf("%d new connections: the query was retried", line.Made()-before)
	}
	expectResponse(t, i, readiness, 503, "did not respond in time")
	line.Thaw()
	expectWorking(t, i)

	body := longResponse(t, i)
	line.Freeze()
	if _, err := io.Copy(io.Discard, body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("no response between rows: %v", err)
	}
	i.Log.Await(t, "response aborted", "without a row")
	line.Thaw()
	expectWorking(t, i)
}

// TestConnectionPoolExhausted has queries that wait for a table hold all connections.
// Other requests get an error in time, and the daemon stays ready.
func TestConnectionPoolExhausted(t *testing.T) {
	i, _, dsn := overProxy(t, "--erp-max-connections", "2", "--query-timeout", "5s")
	expectWorking(t, i)
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	change, err := server.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer change.Rollback()
	if _, err := change.ExecContext(t.Context(), "ALTER TABLE SO_Totals ADD Added int"); err != nil {
		t.Fatal(err)
	}

	ctx, end := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 8 { // more than the connections serve within the time limit
		waiting.Go(func() {
			for ctx.Err() == nil {
				get(t, i.URL+totals)
			}
		})
	}

	// The first of them may need a while to take the connections.
	deadline := time.Now().Add(time.Minute)
	for {
		reply, body := get(t, i.URL+classes)
		if reply.StatusCode == http.StatusServiceUnavailable &&
			strings.Contains(body, "all connections to the database are in use") {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("got %s, %s; want that all connections are in use", reply.Status, body)
			break
		}
	}

	expectResponse(t, i, readiness, 200, "ready")
	end()
	if err := change.Rollback(); err != nil {
		t.Error(err)
	}

	waiting.Wait()
	expectWorking(t, i)
}

// longResponse sends a query with a long response and returns its body, of which
// nothing was read. It retries while a busy machine exceeds the query timeout.
func longResponse(t *testing.T, i *daemontest.Instance) io.ReadCloser {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
		reply, err := client.Get(i.URL + totals)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { reply.Body.Close() })
		if reply.StatusCode == http.StatusOK {
			return reply.Body
		}
		if time.Now().After(deadline) {
			t.Fatal(reply.Status)
		}
	}
}

// begin requests a long response, with a request ID.
func begin(t *testing.T, i *daemontest.Instance, id string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", i.Daemon.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: %s\r\n\r\n", totals, id)
	return conn.(*net.TCPConn)
}

// TestLoginChanges checks that a database login that is disabled or has a new password is
// reported, and that queries succeed as soon as it is restored.
func TestLoginChanges(t *testing.T) {
	dsn := mssqltest.Database(t)
	name := "login_" + strings.ToLower(t.Name())
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `INSERT INTO DB_Class VALUES (N'retail')`,
		`IF SUSER_ID(N'`+name+`') IS NOT NULL DROP LOGIN `+name, // left by an interrupted test
		`CREATE LOGIN `+name+` WITH PASSWORD = 'The first of 2'`, `ALTER SERVER ROLE sysadmin ADD MEMBER `+name)
	mssqltest.DropLogin(t, name)
	u.User = url.UserPassword(name, "The first of 2")
	line := mssqltest.NewProxy(t, u.String())
	i := daemontest.Start(t, "--store", line.DSN, "--migrate", "--auth-queries", "anonymous")
	expectWorking(t, i)
	for change, back := range map[string]string{
		`ALTER LOGIN ` + name + ` WITH PASSWORD = 'The second of 2'`: `ALTER LOGIN ` + name + ` WITH PASSWORD = 'The first of 2'`,
		`ALTER LOGIN ` + name + ` DISABLE`:                           `ALTER LOGIN ` + name + ` ENABLE`,
	} {
		mssqltest.Exec(t, dsn, change)
		expectWorking(t, i) // existing connections stay valid
		line.Reset()
		expectResponse(t, i, classes, 503, loginFailed)
		expectResponse(t, i, readiness, 503, loginFailed)
		mssqltest.Exec(t, dsn, back)
		expectWorking(t, i)
	}
}

// TestStartFailsWithoutServer checks that an unusable server or login fails the start
// with fault.Unavailable, which has an exit status of its own.
func TestStartFailsWithoutServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	for name, change := range map[string]func(u *url.URL, options url.Values){
		"no such database": func(_ *url.URL, options url.Values) { options.Set("database", "whd_test_nosuch") },
		"wrong password":   func(u *url.URL, _ url.Values) { u.User = url.UserPassword(u.User.Username(), "wrong") },
		"no such login":    func(u *url.URL, _ url.Values) { u.User = url.UserPassword("whd_test_nosuchlogin", "wrong") },
		"no such host":     func(u *url.URL, _ url.Values) { u.Host = "whd.invalid" },
	} {
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		options := u.Query()
		change(u, options)
		u.RawQuery = options.Encode()
		if _, err := daemontest.Open(t.TempDir(), "--store", u.String()); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: got the error %v, want that the server is unavailable", name, err)
		}
	}
}
