package mssql_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"iter"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
	driverpkg "github.com/microsoft/go-mssqldb"
)

// benchRows is the number of rows read from each table.
const benchRows = 50_000

// BenchmarkQueryToBytes reads whole tables like the service, from the request to JSON,
// alternating with a minimal loop over the driver's rows. It reports the CPU time
// relative to that of the loop, as the median of all rounds, and the number of additional
// allocations per row.
func BenchmarkQueryToBytes(b *testing.B) {
	dsn := mssqltest.Database(b)
	s, err := storage.Open(b.Context(), storage.Config{
		Dir:         b.TempDir(),
		DSN:         dsn,
		Registry:    record.Builtin(),
		Connections: 1,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{
		"SO_Totals",
		"IN_ProductAvailability",
		"JB_EstimateResourceLines",
		"CR_Classification",
		"DB_Class",
	} {
		kind, _ := record.Builtin().Lookup(name)
		if _, err := s.Seed(b.Context(), []*record.Kind{kind}, repeated); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { compare(b, dsn, s, kind) })
	}
}

// repeated returns the ordinary demo rows of a kind, repeated as often as needed.
func repeated(kind *record.Kind) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for n := 0; n < benchRows; {
			for row := range demo.Rows(kind) {
				n++
				if n > benchRows || !yield(row) {
					return
				}
			}
		}
	}
}

// cost is the cost of a round per row.
type cost struct {
	cpu    float64 // in seconds
	allocs float64
}

// compare alternates the service with the minimal loop, and reports the metrics.
func compare(b *testing.B, dsn string, s *storage.Store, kind *record.Kind) {
	request, err := query.Parse(kind, nil, query.Options{Zone: time.UTC})
	if err != nil {
		b.Fatal(err)
	}
	bare := newBareLoop(b, dsn, kind)
	var times, allocs []float64
	for range max(b.N, 5) {
		floor := measure(b, bare)
		service := measure(b, func() (int, error) { return toBytes(b.Context(), s, request) })
		times = append(times, service.cpu/floor.cpu)
		allocs = append(allocs, service.allocs-floor.allocs)
	}
	b.ReportMetric(median(times), "xCPU")
	b.ReportMetric(median(allocs), "allocs/row")
	b.ReportMetric(0, "ns/op") // not meaningful
}

func median(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)/2]
}

// measure returns the cost of reading all rows once.
func measure(b *testing.B, read func() (int, error)) cost {
	b.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	rows, err := read()
	spent := cpuTime() - start
	runtime.ReadMemStats(&after)
	if err != nil || rows != benchRows {
		b.Fatalf("read %d rows, %v, want %d", rows, err, benchRows)
	}
	allocs := float64(after.Mallocs - before.Mallocs)
	return cost{cpu: spent.Seconds() / benchRows, allocs: allocs / benchRows}
}

// newBareLoop returns a function that reads a table through the driver and ignores the
// values.
func newBareLoop(b *testing.B, dsn string, kind *record.Kind) func() (int, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		b.Fatal(err)
	}
	u.RawQuery += "&packet+size=32767"
	connector, err := driverpkg.NewConnector(u.String())
	if err != nil {
		b.Fatal(err)
	}
	conn, err := connector.Connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	columns := strings.Join(kind.FieldNames(), "], [")
	text := "SELECT [" + columns + "] FROM [dbo].[" + kind.Name + "]"
	return func() (int, error) {
		stmt, err := conn.Prepare(text)
		if err != nil {
			return 0, err
		}
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		dest := make([]driver.Value, len(rows.Columns()))
		for n := 0; ; n++ {
			err := rows.Next(dest)
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, err
			}
		}
	}
}

// toBytes executes a request like the service, but does not write to a socket.
func toBytes(ctx context.Context, s *storage.Store, request *query.Request) (int, error) {
	plan, err := query.NewPlan(request, false)
	if err != nil {
		return 0, err
	}
	result, err := s.Select(ctx, plan)
	if err != nil {
		return 0, err
	}
	defer result.Close()
	encoder := json(plan)
	buffer := encoder.Begin(make([]byte, 0, 64<<10), encode.Head{})
	for n := 0; ; n++ {
		cells, err := result.Next()
		if err != nil {
			return n, err
		}
		if cells == nil {
			tail, err := result.Tail(int64(n))
			encoder.End(buffer, encode.Tail{Total: tail.Total})
			return n, err
		}
		buffer = encoder.Row(buffer, cells)
		if len(buffer) > 32<<10 {
			buffer = buffer[:0]
		}
	}
}

// json returns the encoder of the service's JSON.
func json(plan *query.Plan) encode.Encoder {
	shape := encode.Shape{Operation: plan.Kind.Operation(), Record: plan.Kind.Name}
	for _, c := range plan.Columns {
		field := plan.Kind.Fields[c]
		shape.Columns = append(shape.Columns, encode.Column{Name: field.Name, Type: field.Type})
	}
	for _, f := range encode.Formats() {
		if f.Name == "json" {
			return f.New(shape)
		}
	}
	panic(fmt.Sprintf("no JSON among %v", encode.Formats()))
}
