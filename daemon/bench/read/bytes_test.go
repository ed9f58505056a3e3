package read

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/bench/benchtest"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
)

// library runs the daemon's path from a query to bytes in this process, and the
// engine alone for comparison.
type library struct {
	kind  *record.Kind
	store *storage.Store
	raw   *sqlite.Conn
	out   []byte
}

func open(b *testing.B, d data) *library {
	registry := record.Builtin()
	s, err := storage.Open(b.Context(), storage.Config{
		Dir:         d.dir,
		Registry:    registry,
		Connections: 1,
		Limits:      func() executor.Limits { return executor.Limits{Row: 30 * time.Second} },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	pool, err := openRecords(d.dir, 1)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := pool.Get(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		pool.Put(raw)
		pool.Close()
	})
	return &library{
		kind:  totals(registry),
		store: s,
		raw:   raw,
		out:   make([]byte, 0, piece+4096),
	}
}

// answer runs a query like the daemon and discards the bytes.
func (l *library) answer(body string, format encode.Format) (encode.Tail, error) {
	plan, err := planned(l.kind, []byte(body))
	if err != nil {
		return encode.Tail{}, err
	}
	rows, err := l.store.Select(context.Background(), plan)
	if err != nil {
		return encode.Tail{}, err
	}
	defer rows.Close()
	enc := format.New(shape(plan))
	out := enc.Begin(l.out[:0], encode.Head{})
	count := int64(0)
	cells, err := rows.Next()
	for ; err == nil && cells != nil; cells, err = rows.Next() {
		count++
		out = enc.Row(out, cells)
		if len(out) >= piece {
			out = out[:0]
		}
	}
	if err != nil {
		return encode.Tail{}, err
	}
	known, err := rows.Tail(count)
	tail := encode.Tail{Total: known.Total}
	for _, m := range known.Meta {
		tail.Meta = append(tail.Meta, encode.Pair{Name: m.Name, Value: m.Value})
	}
	enc.End(out, tail)
	return tail, err
}

func shape(plan *query.Plan) encode.Shape {
	s := encode.Shape{Operation: plan.Kind.Operation(), Record: plan.Kind.Name}
	for _, c := range plan.Columns {
		field := plan.Kind.Fields[c]
		s.Columns = append(s.Columns, encode.Column{Name: field.Name, Type: field.Type})
	}
	return s
}

// step runs a statement and discards its rows.
func (l *library) step(sql string) error {
	stmt, err := l.raw.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	for {
		if hasRow, err := stmt.Step(); err != nil || !hasRow {
			return err
		}
	}
}

// queryToBytes measures the path from a query to bytes against the raw loop.
func queryToBytes(s *stage, b *testing.B) {
	for _, name := range []string{"json", "ndjson", "csv", "xml"} {
		format, _ := encode.ByName(name) // one of the service's formats
		b.Run(name, func(b *testing.B) { s.queryToBytes(b, format) })
	}
}

func (s *stage) queryToBytes(b *testing.B, format encode.Format) {
	d, err := s.small()
	if err != nil {
		b.Fatal(err)
	}
	l := open(b, d)
	raw, err := prepare(export)
	if err != nil {
		b.Fatal(err)
	}
	answer := func() error {
		_, err := l.answer(export.body, format)
		return err
	}
	got := d.perRow(b, answer, func() error { return l.step(raw.SQL) })
	name := "query to bytes, " + format.Name
	s.table.times(b, name, got, 1.8)
	per1000 := allocations(b, answer) / float64(d.rows/1000)
	b.ReportMetric(per1000, "allocs/1000rows")
	s.table.checked(b, name+", allocations per 1,000 rows", fmt.Sprintf("%.2f", per1000), "1", per1000 <= 1)
}

// perRow measures both functions per row that they read.
func (d data) perRow(b *testing.B, whd, raw func() error) samples {
	measure := func(f func() error) float64 {
		took, err := spent(f)
		if err != nil {
			b.Fatal(err)
		}
		return float64(took.Nanoseconds()) / float64(d.rows)
	}
	got := samples{metric: "whd", unit: "ns/row", named: "raw loop"}
	rounds(b, minRounds, func(n int) {
		var o, r float64
		benchtest.InTurns(n, func() { o = measure(whd) }, func() { r = measure(raw) })
		got.add(o, r)
	})
	return got
}

// allocations returns the number of allocations that f makes.
func allocations(b *testing.B, f func() error) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := f(); err != nil {
		b.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// likeWithSets measures a LIKE with character sets over all rows, against a scan of
// the rows.
func likeWithSets(s *stage, b *testing.B) {
	d, err := s.small()
	if err != nil {
		b.Fatal(err)
	}
	l := open(b, d)
	json, _ := encode.ByName("json")
	const body = `{"InvoiceIDLike":"D%[13579][^a-f]_[0-4]","Include":"COUNT(*),NoTotal","Take":0}`
	want := fmt.Sprint(d.rows / 4)
	like := func() error {
		tail, err := l.answer(body, json)
		if err != nil {
			return err
		}
		if len(tail.Meta) != 1 || tail.Meta[0].Value != want {
			return fmt.Errorf("LIKE matches %v, want %s", tail.Meta, want)
		}
		return nil
	}
	pass := func() error { return l.step(`SELECT COUNT(*) FROM SO_Totals WHERE length("InvoiceID") > 99`) }
	s.table.below(b, "LIKE with sets", d.perRow(b, like, pass), 300)
}
