package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	{Name: "K1", Type: record.Text, Filter: record.TextFilter},
	{Name: "K2", Type: record.Int, Filter: record.OrderedFilter},
	{Name: "Name", Type: record.Text, Filter: record.TextFilter},
	{Name: "Price", Type: record.Decimal, Filter: record.OrderedFilter},
	{Name: "Stock", Type: record.Double, Filter: record.OrderedFilter},
	{Name: "Active", Type: record.Bool},
	{Name: "LastSaved", Type: record.DateTime, Filter: record.OrderedFilter},
	{Name: "RowID", Type: record.Guid},
}

// insertSingle inserts rows 0 to %d.
const insertSingle = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO Single SELECT
	printf('D%%07d', i), i %% 100, 'Debtor number ' || i, printf('%%d.%%02d', i, i %% 100), i / 7.0, i %% 2,
	printf('2026-01-%%02dT10:%%02d:00.0000000', 1 + i %% 28, i %% 60),
	printf('%%08x-0000-4000-8000-%%012x', i, i)
FROM n`

// bigFile returns a source of n rows in a table with the index of its first field, and one
// with an index of K2 and K1.
func bigFile(tb testing.TB, n int) (*Source, *record.Registry) {
	tb.Helper()
	registry, err := record.NewRegistry(
		record.Kind{Name: "Single", Fields: eightFields, Stamp: "LastSaved"},
		record.Kind{Name: "Pair", Fields: eightFields, Key: []string{"K2", "K1"}, Stamp: "LastSaved"},
	)
	if err != nil {
		tb.Fatal(err)
	}
	c := erp.Config{
		Path:        filepath.Join(tb.TempDir(), "records.db"),
		Registry:    registry,
		Connections: 1,
		Limits:      func() executor.Limits { return executor.Limits{} },
	}
	r, err := erp.Open(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	conn, err := sqlite.Open(c.Path, sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	for _, statement := range []string{
		"DROP INDEX Single_K1",
		"BEGIN",
		fmt.Sprintf(insertSingle, n-1),
		"CREATE UNIQUE INDEX Single_K1 ON Single (K1)",
		"COMMIT",
	} {
		if err := conn.Exec(statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
	s, err := New(r, time.UTC)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s, registry
}

func textCell(s string) row.Cell { return row.Cell{Data: []byte(s)} }

// indexed adds indexes of the stamp, and rows of Pair.
var indexed = []string{
	"INSERT INTO Pair SELECT * FROM Single LIMIT 1000",
	"CREATE INDEX Single_LastSaved ON Single (LastSaved, K1)",
	"CREATE INDEX Pair_LastSaved ON Pair (LastSaved, K2, K1)",
}

// exec executes statements in the file.
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
func statementsOf(t *testing.T, r changes.Read, d *dialect.Dialect) (statements []query.Statement) {
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
		statements = append(statements, st)
	}
	return statements
}

// TestSourceUsesIndexes: no statement of capture scans or sorts a table of the embedded file.
func TestSourceUsesIndexes(t *testing.T) {
	s, registry := bigFile(t, 2000)
	s.exec(t, indexed...)
	for name, key := range map[string][]int{"Single": {0}, "Pair": {1, 0}} {
		kind, _ := registry.Lookup(name)
		for label, r := range reads(kind, key) {
			if page, err := s.Read(t.Context(), r); err != nil || len(page.Rows) == 0 {
				t.Errorf("%s, %s: got %d rows (%v), want some", name, label, len(page.Rows), err)
			}
			for _, st := range statementsOf(t, r, dialect.SQLite()) {
				plan := s.explain(t, st.SQL)
				isIndexScan := strings.HasPrefix(plan, "SCAN "+name+" USING")
				mayScan := label == "first" && isIndexScan
				if strings.Contains(plan, "SCAN") && !mayScan {
					t.Errorf("%s, %s: %s\nscans the table:\n%s", name, label, st.SQL, plan)
				}
				if strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "INDEX") {
					t.Errorf("%s, %s: %s\nsorts, or uses no index:\n%s", name, label, st.SQL, plan)
				}
			}
		}
	}
}

// explain returns SQLite's plan for a statement.
func (s *Source) explain(t *testing.T, statement string) (plan string) {
	t.Helper()
	err := s.database.(*file).with(t.Context(), func(conn *sqlite.Conn) error {
		return conn.Query("EXPLAIN QUERY PLAN "+statement, func(r *sqlite.Stmt) error {
			plan += r.Text(3) + "\n"
			return nil
		})
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return plan
}

// TestSourceStatements shows the statements for SQL Server, where a page is planned as a
// small one.
func TestSourceStatements(t *testing.T) {
	_, registry := bigFile(t, 1)
	pair, _ := registry.Lookup("Pair")
	wantStatements := map[string][]string{
		"first": {
			"SELECT [K1], [K2], [Price] FROM [Pair] ORDER BY [K2], [K1] OFFSET @p1 ROWS FETCH NEXT @p2 ROWS ONLY" +
				" OPTION (MAXDOP 1, OPTIMIZE FOR (@p1 = 0, @p2 = 100))",
		},
		"after": {
			"SELECT [K1], [K2], [Price] FROM [Pair] WHERE [K2] = @p1 AND [K1] > @p2" +
				" ORDER BY [K2], [K1] OFFSET @p3 ROWS FETCH NEXT @p4 ROWS ONLY" +
				" OPTION (MAXDOP 1, OPTIMIZE FOR (@p3 = 0, @p4 = 100))",
			"SELECT [K1], [K2], [Price] FROM [Pair] WHERE [K2] > @p1" +
				" ORDER BY [K2], [K1] OFFSET @p2 ROWS FETCH NEXT @p3 ROWS ONLY" +
				" OPTION (MAXDOP 1, OPTIMIZE FOR (@p2 = 0, @p3 = 100))",
		},
		"keys": {
			"SELECT [K1], [K2], [Price] FROM [Pair]" +
				" WHERE (([K2] = @p1 AND [K1] = @p2) OR ([K2] = @p3 AND [K1] = @p4)) OPTION (MAXDOP 1)",
		},
		"since": {
			"SELECT [K1], [K2], [Price], [LastSaved] FROM [Pair] WHERE [LastSaved] >= CAST(@p1 AS datetime2(7))" +
				" ORDER BY [LastSaved], [K2], [K1] OFFSET @p2 ROWS FETCH NEXT @p3 ROWS ONLY" +
				" OPTION (MAXDOP 1, OPTIMIZE FOR (@p2 = 0, @p3 = 100))",
		},
	}
	for label, r := range reads(pair, []int{1, 0}) {
		var got []string
		for _, st := range statementsOf(t, r, dialect.TSQL()) {
			got = append(got, executor.WithOption(st.SQL, "MAXDOP 1"))
		}
		want, isListed := wantStatements[label]
		if isListed && !slices.Equal(got, want) {
			t.Errorf("%s: got\n%q, want\n%q", label, got, want)
		}
		if len(got) > 3 {
			t.Errorf("%s: got %d statements, want at most 3: %q", label, len(got), got)
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
			t.Fatalf("got table %+v (%v), want one row that can be polled, and a content", table, err)
		}
		return table.Content
	}
	before := content()
	if reread := content(); reread != before {
		t.Errorf("without a change: the content is %s, then %s", before, reread)
	}
	s.exec(t, "UPDATE Single SET Name = 'x'")
	if after := content(); after == before {
		t.Errorf("after a change: the content is still %s", after)
	}
}

// TestSourceDatabase: a file has an identity, which it keeps, and no row versions.
func TestSourceDatabase(t *testing.T) {
	s, _ := bigFile(t, 1)
	d, err := s.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Identity == "" || d.Identity == "file 00000000" {
		t.Errorf("got identity %q, want one of a file", d.Identity)
	}
	if d.Latest != nil || d.Active != nil {
		t.Errorf("got row versions %x and %x, want none", d.Latest, d.Active)
	}
	if difference := time.Since(d.Now).Abs(); difference > time.Hour {
		t.Errorf("the time of the database differs by %v", difference)
	}
	reread, err := s.Database(t.Context())
	if err != nil || reread.Identity != d.Identity {
		t.Errorf("read again: got identity %q (%v), want %q", reread.Identity, err, d.Identity)
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
			b.Fatalf("read %d rows, want 1,000,000", rows)
		}
	}
}
