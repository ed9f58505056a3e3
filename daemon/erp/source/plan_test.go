package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/changes"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// eightFields are the fields of a table as this package creates it.
var eightFields = []record.Field{
	{Name: "K1", Type: record.Text, Filter: record.TextFilter}, {Name: "K2", Type: record.Int, Filter: record.OrderedFilter},
	{Name: "Name", Type: record.Text, Filter: record.TextFilter}, {Name: "Price", Type: record.Decimal, Filter: record.OrderedFilter},
	{Name: "Stock", Type: record.Double, Filter: record.OrderedFilter}, {Name: "Active", Type: record.Bool},
	{Name: "LastSaved", Type: record.DateTime, Filter: record.OrderedFilter}, {Name: "RowID", Type: record.Guid},
}

// bigFile returns a source of n rows in a table with the index of its first field, and one
// with an index of K2 and K1.
func bigFile(tb testing.TB, n int) (*Source, *record.Registry) {
	tb.Helper()
	registry, err := record.NewRegistry(record.Kind{Name: "Single", Fields: eightFields, Stamp: "LastSaved"}, record.Kind{Name: "Pair", Fields: eightFields, Key: []string{"K2", "K1"}, Stamp: "LastSaved"})
	if err != nil {
		tb.Fatal(err)
	}
	c := erp.Config{Path: filepath.Join(tb.TempDir(), "records.db"), Registry: registry, Connections: 1, Limits: func() executor.Limits { return executor.Limits{} }}
	r, err := erp.Open(c)
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := sqlite.Open(c.Path, sqlite.Options{BusyTimeout: time.Minute})
	for _, statement := range []string{
		"DROP INDEX Single_K1", "BEGIN",
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO Single SELECT printf('D%%07d', i), i %% 100, 'Debtor number ' || i, printf('%%d.%%02d', i, i %% 100), i / 7.0, i %% 2, printf('2026-01-%%02dT10:%%02d:00.0000000', 1 + i %% 28, i %% 60), printf('%%08x-0000-4000-8000-%%012x', i, i) FROM n`, n-1),
		"CREATE UNIQUE INDEX Single_K1 ON Single (K1)", "COMMIT",
	} {
		if err == nil {
			err = conn.Exec(statement)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	s, err := New(r, time.UTC)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(); s.Close(); r.Close() })
	return s, registry
}

func textCell(s string) row.Cell { return row.Cell{Data: []byte(s)} }

// indexed adds indexes of the stamp, and rows of Pair.
var indexed = []string{"INSERT INTO Pair SELECT * FROM Single LIMIT 1000", "CREATE INDEX Single_LastSaved ON Single (LastSaved, K1)", "CREATE INDEX Pair_LastSaved ON Pair (LastSaved, K2, K1)"}

func (s *Source) exec(tb testing.TB, statements ...string) {
	tb.Helper()
	err := s.database.(*file).with(tb.Context(), func(conn *sqlite.Conn) (err error) {
		for _, statement := range statements {
			err = errors.Join(err, conn.Exec(statement))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// reads are a read of each sort.
func reads(kind *record.Kind, key []int) map[string]changes.Read {
	lastKey := []row.Cell{textCell("D0000005")}
	if len(key) == 2 {
		lastKey = []row.Cell{{Int: 5}, textCell("D0000005")}
	}
	completed := func(r changes.Read) changes.Read {
		r.Kind = kind
		r.Key = key
		r.Fields = []int{0, 1, 3}
		r.Limit = changes.MaxRows
		return r
	}
	stamp := textCell("2026-01-05T10:00:00.0000000")
	return map[string]changes.Read{
		"first":       completed(changes.Read{}),
		"after":       completed(changes.Read{After: lastKey}),
		"keys":        completed(changes.Read{Keys: [][]row.Cell{lastKey, lastKey}}),
		"since":       completed(changes.Read{Since: &changes.Since{From: stamp}}),
		"since after": completed(changes.Read{Since: &changes.Since{From: stamp, Key: lastKey}}),
	}
}

// statementsOf returns the statements of a read.
func statementsOf(t *testing.T, r changes.Read, d *dialect.Dialect) (all []query.Statement) {
	t.Helper()
	var parts []query.Plan
	if r.Keys != nil {
		parts = []query.Plan{*lookUp(r, r.Keys)}
	} else {
		plan := pageOf(r)
		parts, _ = plan.Place.Parts(*plan)
	}
	for _, part := range parts {
		st, err := query.Compile(&part, d, string(d.Quote(nil, r.Kind.Name)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, st)
	}
	return all
}

// TestSourceUsesIndexes: no statement of capture scans or sorts a table of the embedded file.
func TestSourceUsesIndexes(t *testing.T) {
	s, registry := bigFile(t, 2000)
	s.exec(t, indexed...)
	for name, key := range map[string][]int{"Single": {0}, "Pair": {1, 0}} {
		kind, _ := registry.Lookup(name)
		for label, r := range reads(kind, key) {
			if page, err := s.Read(t.Context(), r); err != nil || len(page.Rows) == 0 {
				t.Errorf("%s, %s: %d rows, %v", name, label, len(page.Rows), err)
			}
			for _, st := range statementsOf(t, r, dialect.SQLite()) {
				var plan string
				err := s.database.(*file).with(t.Context(), func(conn *sqlite.Conn) error {
					return conn.Query("EXPLAIN QUERY PLAN "+st.SQL, func(r *sqlite.Stmt) error { plan += r.Text(3) + "\n"; return nil })
				})
				scans := strings.Contains(plan, "SCAN") && !(label == "first" && strings.HasPrefix(plan, "SCAN "+name+" USING"))
				if err != nil || scans || strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "INDEX") {
					t.Errorf("%s, %s: %s\n%s%v", name, label, st.SQL, plan, err)
				}
			}
		}
	}
}

// TestSourceStatements shows the statements for SQL Server, where a page is planned as a
// small one.
func TestSourceStatements(t *testing.T) {
	_, registry := bigFile(t, 1)
	pair, _ := registry.Lookup("Pair")
	want := map[string]string{
		"first": "SELECT [K1], [K2], [Price] FROM [Pair] ORDER BY [K2], [K1] OFFSET @p1 ROWS FETCH NEXT @p2 ROWS ONLY OPTION (MAXDOP 1, OPTIMIZE FOR (@p1 = 0, @p2 = 100))",
		"after": "SELECT [K1], [K2], [Price] FROM [Pair] WHERE [K2] = @p1 AND [K1] > @p2 ORDER BY [K2], [K1] OFFSET @p3 ROWS FETCH NEXT @p4 ROWS ONLY OPTION (MAXDOP 1, OPTIMIZE FOR (@p3 = 0, @p4 = 100))\n" +
			"SELECT [K1], [K2], [Price] FROM [Pair] WHERE [K2] > @p1 ORDER BY [K2], [K1] OFFSET @p2 ROWS FETCH NEXT @p3 ROWS ONLY OPTION (MAXDOP 1, OPTIMIZE FOR (@p2 = 0, @p3 = 100))",
		"keys": "SELECT [K1], [K2], [Price] FROM [Pair] WHERE (([K2] = @p1 AND [K1] = @p2) OR ([K2] = @p3 AND [K1] = @p4)) OPTION (MAXDOP 1)",
		"since": "SELECT [K1], [K2], [Price], [LastSaved] FROM [Pair] WHERE [LastSaved] >= CAST(@p1 AS datetime2(7)) ORDER BY [LastSaved], [K2], [K1] OFFSET @p2 ROWS FETCH NEXT @p3 ROWS ONLY" +
			" OPTION (MAXDOP 1, OPTIMIZE FOR (@p2 = 0, @p3 = 100))",
	}
	for label, r := range reads(pair, []int{1, 0}) {
		var got []string
		for _, st := range statementsOf(t, r, dialect.TSQL()) {
			got = append(got, executor.WithOption(st.SQL, "MAXDOP 1"))
		}
		if text := strings.Join(got, "\n"); want[label] != "" && text != want[label] || len(got) > 3 {
			t.Errorf("%s:\n%s, want\n%s", label, text, want[label])
		}
	}
}

// TestSourceContent: the content of a table is known to be the same until a row of the file
// changes, and the file keeps its identity.
func TestSourceContent(t *testing.T) {
	s, registry := bigFile(t, 1)
	s.exec(t, indexed...)
	kind, _ := registry.Lookup("Single")
	content := func() string {
		table, err := s.Table(t.Context(), kind)
		if err != nil || table.Content == "" || !table.Pollable || table.Rows != 1 {
			t.Fatalf("%+v (%v)", table, err)
		}
		return table.Content
	}
	before := content()
	if reread := content(); reread != before {
		t.Errorf("without changes: %s, then %s", before, reread)
	}
	s.exec(t, "UPDATE Single SET Name = 'x'")
	if after := content(); after == before {
		t.Errorf("the content is still %s", after)
	}
	d, err := s.Database(t.Context())
	if err != nil || d.Identity == "file 00000000" || d.Latest != nil || d.Active != nil || time.Since(d.Now).Abs() > time.Hour {
		t.Errorf("%+v (%v)", d, err)
	}
	if reread, err := s.Database(t.Context()); err != nil || reread.Identity != d.Identity {
		t.Errorf("%+v (%v), then %+v", d, err, reread)
	}
}

func BenchmarkSourceSweep(b *testing.B) {
	s, registry := bigFile(b, 1_000_000)
	kind, _ := registry.Lookup("Single")
	b.ReportAllocs()
	for b.Loop() {
		r := changes.Read{Kind: kind, Key: []int{0}, Fields: []int{0, 1, 2, 3, 4, 5, 6, 7}, Limit: changes.MaxRows}
		rows := 0
		for hasMore := true; hasMore; {
			page, err := s.Read(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			rows += len(page.Rows)
			hasMore = page.More
			r.After = page.Rows[len(page.Rows)-1][:1]
		}
		if rows != 1_000_000 {
			b.Fatal(rows)
		}
	}
}
