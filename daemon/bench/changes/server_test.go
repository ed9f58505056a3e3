package changes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// counter is a proxy to a server that counts the statements. The connection is not
// encrypted.
type counter struct {
	dsn        string
	statements atomic.Int64
}

// count starts a proxy to the server of a connection string.
func count(b *testing.B, dsn string) *counter {
	b.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		b.Fatal("the connection string is not a URL")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	server := u.Host
	values := u.Query()
	values.Set("encrypt", "disable")
	u.Host = l.Addr().String()
	u.RawQuery = values.Encode()
	c := &counter{dsn: u.String()}
	go c.serve(l, server)
	return c
}

// serve passes connections on to the server until the listener is closed.
func (c *counter) serve(l net.Listener, address string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			client.Close()
			return
		}
		go func() {
			defer server.Close()
			c.requests(server, client)
		}()
		go func() {
			defer client.Close()
			_, _ = io.Copy(client, server) // ends with the connection
		}()
	}
}

// requests passes packets on to the server. The statements are messages of the types batch
// and RPC; the status of their last packets marks the end.
func (c *counter) requests(server io.Writer, client io.Reader) {
	const (
		head  = 8
		batch = 1
		rpc   = 3
		last  = 1
	)
	in := bufio.NewReader(client)
	packet := make([]byte, 1<<16)
	for {
		_, err := io.ReadFull(in, packet[:head])
		if err != nil {
			return
		}
		size := int(packet[2])<<8 | int(packet[3])
		if size < head {
			return
		}
		_, err = io.ReadFull(in, packet[head:size])
		if err != nil {
			return
		}
		isStatement := packet[0] == batch || packet[0] == rpc
		isLast := packet[1]&last != 0
		if isStatement && isLast {
			c.statements.Add(1)
		}
		_, err = server.Write(packet[:size])
		if err != nil {
			return
		}
	}
}

const createOnServer = `CREATE TABLE OnServer (
	DebtorID nvarchar(20) NOT NULL PRIMARY KEY,
	Name nvarchar(60),
	City nvarchar(60),
	CreditLimit decimal(19,4),
	Rating float,
	IsActive bit,
	LastSaved datetime,
	RowID uniqueidentifier
)`

// insertOnServer returns the statement that inserts rows, a power of ten of them.
func insertOnServer(rows int) string {
	number := "0" // the digits a, b, ... together
	var digits []string
	for i := range len(strconv.Itoa(rows)) - 1 {
		name := string(rune('a' + i))
		number += " + " + name + ".n * 1" + strings.Repeat("0", i)
		digits = append(digits, "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS "+name+"(n)")
	}
	return fmt.Sprintf(`INSERT INTO OnServer
SELECT N'D' + RIGHT('000000' + CAST(%[1]s AS varchar(7)), 7), N'Debtor', N'City', CAST(%[1]s AS decimal(19,4)), 0, 1,
	'20260101', NEWID()
FROM %[2]s`, number, strings.Join(digits, " CROSS JOIN "))
}

// serverID returns the key of a row.
func serverID(n int) string { return fmt.Sprintf("D%07d", n) }

// writers is the number of concurrent writers.
const writers = 8

// writing is the work of concurrent writers.
type writing struct {
	count int64
	p99   float64 // of a statement, in ms
}

// write lets writers change rows, each on its own connection, while during runs.
func write(b *testing.B, dsn string, during func()) writing {
	b.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	var waits []time.Duration
	var running sync.WaitGroup
	for writer := range writers {
		running.Go(func() {
			waited, err := writeUntil(ctx, dsn, writer)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, waited...)
		})
	}
	during()
	stop()
	running.Wait()
	return writing{count: int64(len(waits)), p99: percentile(waits, 99)}
}

// writeUntil changes every eighth row until ctx is done, and returns how long each statement took.
func writeUntil(ctx context.Context, dsn string, first int) ([]time.Duration, error) {
	server, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	var waits []time.Duration
	for n := first; ctx.Err() == nil; n += writers {
		start := time.Now()
		statement := "UPDATE OnServer SET Rating = Rating + 1 WHERE DebtorID = N'" + serverID(n) + "'"
		_, err := server.DB().ExecContext(context.Background(), statement)
		if err != nil {
			return waits, err
		}
		waits = append(waits, time.Since(start))
		time.Sleep(100 * time.Millisecond)
	}
	return waits, nil
}

// sweepOfServer measures the statements that capture runs on the server for one table
// while others write, and the time of its reads; their cost to the writers; and the memory
// and the store of the daemon.
func sweepOfServer(s *suite, b *testing.B) {
	if os.Getenv(mssqltest.Variable) == "" {
		s.table.Skip(b, mssqltest.Variable+" names no server")
		return
	}
	if !s.table.UsageAvailable(b) {
		return
	}
	h := prepare(b, kindText("OnServer", always))
	dsn := mssqltest.Database(b)
	mssqltest.Exec(b, dsn, createOnServer, insertOnServer(*rowCount))
	alone := write(b, dsn, func() { time.Sleep(*span) })
	c := count(b, dsn)
	h.args = append(h.args, "--erp", c.dsn)
	h.launch(b)
	empty := h.size(b, "whd.db", "shadow.db")
	h.awaitFirstLook(b, 1)
	filled := h.size(b, "whd.db", "shadow.db")
	var sweep sweptWindow
	var during writing
	_, peak := h.peak(b, func() {
		during = write(b, dsn, func() { sweep = h.awaitSweep(b, c) })
	})

	for _, r := range []result{
		{
			title:  "statements on the server a minute, with 8 writers",
			metric: "statements/min",
			unit:   "/min",
			values: []float64{float64(sweep.statements) / sweep.took.Minutes()},
		},
		{
			title:  "rows read by sweeps a minute",
			metric: "rows/min",
			unit:   "/min",
			values: []float64{float64(sweep.rows) / sweep.took.Minutes()},
		},
		{
			title:  "time of the reads of a sweep",
			metric: "reading-s",
			unit:   "s",
			digits: 1,
			values: []float64{sweep.reading.Seconds()},
		},
		{
			title:    "the writers' changes a minute",
			metric:   "written/min",
			unit:     "/min",
			values:   []float64{float64(during.count) / sweep.took.Minutes()},
			baseline: "without capture",
			base:     []float64{float64(alone.count) / span.Minutes()},
		},
		{
			title:    "p99 of a writer's statement",
			metric:   "written-ms",
			unit:     "ms",
			digits:   1,
			values:   []float64{during.p99},
			baseline: "without capture",
			base:     []float64{alone.p99},
		},
		{
			title:  "peak memory",
			metric: "peak-MB",
			unit:   "MB",
			values: []float64{peak},
		},
		{
			title:    "whd.db and shadow.db",
			metric:   "store-MB",
			unit:     "MB",
			digits:   1,
			values:   []float64{filled},
			baseline: "before the first look",
			base:     []float64{empty},
		},
	} {
		s.table.add(b, r)
	}
}

// sweptWindow is a window of time in which sweeps have read the table.
type sweptWindow struct {
	took       time.Duration
	statements int64         // on the server
	rows       int64         // read
	reading    time.Duration // of the last sweep
}

// awaitSweep waits for the end of a sweep, for at least the span of the measurement.
func (h *benchDaemon) awaitSweep(b *testing.B, c *counter) sweptWindow {
	b.Helper()
	start := time.Now()
	statements := c.statements.Load()
	before := h.captures(b)["OnServer"]
	h.await(b, "no sweep ends", func(now map[string]wire.Capture) bool {
		hasEnded := time.Time(now["OnServer"].Swept).After(time.Time(before.Swept))
		return hasEnded && time.Since(start) >= *span
	})
	took := time.Since(start)
	after := h.captures(b)["OnServer"]
	return sweptWindow{
		took:       took,
		statements: c.statements.Load() - statements,
		rows:       after.SweptRows - before.SweptRows,
		reading:    time.Duration(after.Sweep),
	}
}
