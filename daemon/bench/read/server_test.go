package read

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/storage"
)

// onServer runs the measurements that differ if the records are on a server: the
// memory of exports, and their first bytes. Exports take much longer there, so there
// are fewer rounds.
func onServer(s *stage, b *testing.B) {
	if os.Getenv(mssqltest.Variable) == "" {
		s.table.Skip(b, mssqltest.Variable+" names no server")
		return
	}
	server := &stage{dir: b.TempDir(), minRounds: 1}
	server.small, server.large = server.filledServer(b, small), server.filledServer(b, large)
	b.Run("memory", func(b *testing.B) { memory(server, b) })
	b.Run("first-byte", func(b *testing.B) { firstByteOfServer(server, b) })
	s.table.Append(&server.table.Table)
}

// filledServer returns a function that fills a database on its first call.
func (s *stage) filledServer(b *testing.B, count int) func() (data, error) {
	return sync.OnceValues(func() (data, error) {
		d := data{dir: filepath.Join(s.dir, strconv.Itoa(count)), rows: count, server: mssqltest.Database(b)}
		mssqltest.Exec(b, d.server, createTotals, insertTotals(count))
		ctx := context.Background()
		store, err := storage.Open(ctx, storage.Config{Dir: d.dir, DSN: d.server, Registry: record.Builtin(), Migrate: true})
		if err != nil {
			return data{}, err
		}
		d.key, err = addKey(ctx, store)
		return d, errors.Join(err, store.Close())
	})
}

const createTotals = `CREATE TABLE SO_Totals (InvoiceID nvarchar(20), InvoiceTotal decimal(19,4), Cartage1Total decimal(19,4), Cartage1TaxTotal decimal(19,4),
	Cartage2Total decimal(19,4), Cartage2TaxTotal decimal(19,4), Cartage3Total decimal(19,4), Cartage3TaxTotal decimal(19,4))`

// insertTotals returns SQL that creates rows on the server: numbered like invoices,
// with sums derived from the number.
func insertTotals(count int) string {
	number, from := "0", ""
	for i := range len(strconv.Itoa(count)) - 1 {
		name := string(rune('a' + i))
		number += " + " + name + ".n * 1" + strings.Repeat("0", i)
		if i > 0 {
			from += " CROSS JOIN "
		}
		from += "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS " + name + "(n)"
	}
	amounts := strings.Repeat(", CAST(("+number+") * 0.2513 AS decimal(19,4))", 7)
	return "INSERT INTO SO_Totals SELECT N'D' + RIGHT('000000' + CAST(" + number + " AS varchar(7)), 7)" + amounts + " FROM " + from
}

// firstByteOfServer measures the time to the first byte of an export, compared with
// the driver's time to the first row of the same statement.
func firstByteOfServer(s *stage, b *testing.B) {
	for _, size := range []struct {
		name string
		fill func() (data, error)
	}{{"100k", s.small}, {"1M", s.large}} {
		b.Run(size.name, func(b *testing.B) {
			d, err := size.fill()
			if err != nil {
				b.Fatal(err)
			}
			c, err := start(roleDaemon, d)
			if err != nil {
				b.Fatal(err)
			}
			got := samples{metric: "wait", unit: "ms", digits: 2, named: "first row"}
			const many = 11 // many short rounds, to average out the load of the machine
			rounds(b, many, func(n int) {
				var whd, row time.Duration
				var failed, failedRow error
				benchtest.InTurns(n, func() { whd, failed = d.waitWarm(c) }, func() { row, failedRow = firstRow(d.server) })
				if err := errors.Join(failed, failedRow); err != nil {
					b.Fatal(errors.Join(err, c.Stop()))
				}
				got.add(whd.Seconds()*1000, row.Seconds()*1000)
			})
			if err := c.Stop(); err != nil {
				b.Fatal(err)
			}
			s.table.above(b, "first byte of "+size.name+" rows", got, 2)
		})
	}
}

// waitWarm is wait with an open connection to the server: the previous disconnect
// has closed one.
func (d data) waitWarm(c *child) (time.Duration, error) {
	err := read(c, d, func(conn *connection, d data) error {
		_, err := conn.send(d.request(c, question{body: `{"Take":1,"Fields":"InvoiceID"}`}, 0), io.Discard)
		return err
	})
	if err != nil {
		return 0, err
	}
	return d.wait(c, export)
}

// firstRow returns the driver's time to the first row of an export.
func firstRow(dsn string) (time.Duration, error) {
	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	conn, err := s.Get(context.Background())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	few := mssql.Query{SQL: "SELECT TOP 1 [InvoiceID] FROM [dbo].[SO_Totals]", Types: []record.Type{record.Text}}
	if err := first(conn, few); err != nil { // opens the connection
		return 0, err
	}
	return lasted(func() error { return first(conn, exportQuery()) })
}

// first runs a query up to its first row.
func first(conn *mssql.Conn, q mssql.Query) error {
	rows, err := conn.Query(context.Background(), q)
	if err == nil {
		_, err = rows.Next()
	}
	return err
}

func exportQuery() mssql.Query {
	var names []string
	var q mssql.Query
	for _, f := range totals(record.Builtin()).Fields {
		names = append(names, mssql.Quote(f.Name))
		q.Types = append(q.Types, f.Type)
	}
	q.SQL = "SELECT " + strings.Join(names, ", ") + " FROM [dbo].[SO_Totals]"
	return q
}
