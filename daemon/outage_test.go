package daemon_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const (
	totals    = "/json/reply/SO_TotalsQuery" // whose answer is long
	classes   = "/json/reply/DB_ClassQuery"
	readiness = "/readyz"
)

// bigTotals makes 20,000 rows of SO_Totals, which as JSON are several MB: more
// than sockets take up before they are read.
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

// overLine runs a daemon on a server over a line that the test can break.
func overLine(t *testing.T, args ...string) (*daemontest.Instance, *mssqltest.Proxy, string) {
	t.Helper()
	dsn := mssqltest.Database(t)
	bigTotals(t, dsn)
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `INSERT INTO DB_Class VALUES (N'retail')`)
	line := mssqltest.NewProxy(t, dsn)
	i := daemontest.Start(t, append([]string{"--store", line.DSN, "--migrate", "--auth-queries", "anonymous"}, args...)...)
	return i, line, dsn
}

// answers asks something that must be answered by a status and words. Where a
// busy machine may need longer than it is allowed to, it is asked again for a
// while: readiness allows little, and so do some of the tests.
func answers(t *testing.T, i *daemontest.Instance, path string, status int, words string) {
	t.Helper()
	for enough := time.Now().Add(time.Minute); ; {
		reply, body := get(t, i.URL+path)
		if again := reply.Header.Get("Retry-After"); (again != "") != (reply.StatusCode == http.StatusServiceUnavailable) {
			t.Errorf("%s: %s with Retry-After %q", path, reply.Status, again)
		}
		if reply.StatusCode == status && strings.Contains(body, words) {
			return
		}
		slow := path == readiness || reply.StatusCode == http.StatusGatewayTimeout
		if !slow || time.Now().After(enough) {
			t.Fatalf("%s: %s %s, want %d and %q", path, reply.Status, body, status, words)
		}
	}
}

// works asks a query and readiness, which must both be well.
func works(t *testing.T, i *daemontest.Instance) {
	t.Helper()
	answers(t, i, classes, 200, `"Class":"retail"`)
	answers(t, i, readiness, 200, "ready")
}

const (
	unreachable = "the database server cannot be reached at the moment"
	notLetIn    = "database login failed"
)

// TestServerAway: while the server is away queries and readiness say so, and
// all is well as soon as it is back. Connections that broke in the pool are
// replaced unnoticed.
func TestServerAway(t *testing.T) {
	i, line, _ := overLine(t)
	for range 2 {
		works(t, i)
		line.Reset()
		works(t, i)
		line.Down()
		answers(t, i, classes, 503, unreachable)
		answers(t, i, readiness, 503, unreachable)
		line.Up()
	}
	works(t, i)
}

// TestLineCutInMidStream: no client can take what it got for the whole.
func TestLineCutInMidStream(t *testing.T) {
	i, line, _ := overLine(t)
	works(t, i)
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
	works(t, i)
}

// TestServerFallsSilent: a server that says nothing, before the first row and
// amid the rows. What waits for it ends by its time limit and is not begun
// again.
func TestServerFallsSilent(t *testing.T) {
	// Webhooks and the request log have connections of their own.
	i, line, _ := overLine(t, "--query-timeout", "2s", "--webhooks-enabled=false", "--requestlog-enabled=false")
	works(t, i)
	before := line.Made()
	line.Freeze()
	answers(t, i, classes, 504, "exceeded its time limit")
	if line.Made() != before {
		t.Errorf("%d connections were made for it", line.Made()-before)
	}
	answers(t, i, readiness, 503, "did not respond in time")
	line.Thaw()
	works(t, i)

	body := longResponse(t, i)
	line.Freeze()
	if _, err := io.Copy(io.Discard, body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("silent amid the rows: %v", err)
	}
	i.Log.Await(t, "response aborted", "without a row")
	line.Thaw()
	works(t, i)
}

// TestAllConnectionsTaken: clients that read nothing hold all connections.
// The others get an error in time, and the service is ready all the same.
func TestAllConnectionsTaken(t *testing.T) {
	i, _, _ := overLine(t, "--store-max-connections", "2", "--query-timeout", "10s")
	works(t, i)
	first, second := longResponse(t, i), longResponse(t, i)
	answers(t, i, classes, 503, "all connections to the database are in use")
	answers(t, i, readiness, 200, "ready")
	first.Close()
	second.Close()
	// The daemon may need a while to notice that the clients are gone.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if reply, _ := get(t, i.URL+classes); reply.StatusCode != http.StatusServiceUnavailable {
			break
		}
	}
	works(t, i)
}

// longResponse sends a query with a long response and returns its body, of which
// nothing was read. It retries while a busy machine exceeds the query timeout.
func longResponse(t *testing.T, i *daemontest.Instance) io.ReadCloser {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
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

// begin asks for a long answer, under an id.
func begin(t *testing.T, i *daemontest.Instance, id string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", i.D.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Request-Id: %s\r\n\r\n", totals, id)
	return conn.(*net.TCPConn)
}

// TestLoginChanges: a login that no longer works is reported as such,
// and works again as soon as it is put back.
func TestLoginChanges(t *testing.T) {
	dsn := mssqltest.Database(t)
	name := "login_" + strings.ToLower(t.Name())
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	mssqltest.Exec(t, dsn, `CREATE TABLE DB_Class (Class nvarchar(20))`, `INSERT INTO DB_Class VALUES (N'retail')`,
		`IF SUSER_ID(N'`+name+`') IS NOT NULL DROP LOGIN `+name, // of a test that was cut off
		`CREATE LOGIN `+name+` WITH PASSWORD = 'The first of 2'`, `ALTER SERVER ROLE sysadmin ADD MEMBER `+name)
	mssqltest.DropLogin(t, name)
	u.User = url.UserPassword(name, "The first of 2")
	line := mssqltest.NewProxy(t, u.String())
	i := daemontest.Start(t, "--store", line.DSN, "--migrate", "--auth-queries", "anonymous")
	works(t, i)
	for change, back := range map[string]string{
		`ALTER LOGIN ` + name + ` WITH PASSWORD = 'The second of 2'`: `ALTER LOGIN ` + name + ` WITH PASSWORD = 'The first of 2'`,
		`ALTER LOGIN ` + name + ` DISABLE`:                           `ALTER LOGIN ` + name + ` ENABLE`,
	} {
		mssqltest.Exec(t, dsn, change)
		works(t, i) // the connections there are go on
		line.Reset()
		answers(t, i, classes, 503, notLetIn)
		answers(t, i, readiness, 503, notLetIn)
		mssqltest.Exec(t, dsn, back)
		works(t, i)
	}
}

// TestServerThatCannotBe: what keeps a daemon from starting says that the store
// cannot be reached, which has an exit status of its own.
func TestServerThatCannotBe(t *testing.T) {
	dsn := mssqltest.Database(t)
	for what, change := range map[string]func(u *url.URL, options url.Values){
		"no such database": func(_ *url.URL, options url.Values) { options.Set("database", "whd_test_nosuch") },
		"wrong password":   func(u *url.URL, _ url.Values) { u.User = url.UserPassword(u.User.Username(), "wrong") },
		"no such login":    func(u *url.URL, _ url.Values) { u.User = url.UserPassword("whd_test_nobody", "wrong") },
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
			t.Errorf("%s: %v", what, err)
		}
	}
}
