package executor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// mixedRowsVariable sets the number of rows of TestMixedPagesDuringWrites.
const mixedRowsVariable = "WHD_TEST_ROWS"

// movingRow reports whether the writer changes the values by which a row is sorted.
func movingRow(id, rows int64) bool { return id%10 == 0 || id > rows }

// newWideMixedTable returns a table of a column for each declared type and of columns that have
// equal values in many rows. The columns with even numbers have an index.
func newWideMixedTable(t *testing.T, rows int64) (m *mixedTable, columns int, pool *sqlite.Pool) {
	t.Helper()
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{Pragmas: []string{"synchronous = OFF"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Put(conn)
	kind := record.Kind{Name: "T", Key: []string{"ID"}, Fields: []record.Field{{Name: "ID", Type: record.Long, Filter: record.OrderedFilter}}}
	declarations := "ID INTEGER PRIMARY KEY NOT NULL, Note TEXT"
	statements := []string{}
	declare := func(declared string, fieldType record.Type) {
		name := fmt.Sprintf("V%d", columns)
		declarations += ", " + name + " " + declared
		kind.Fields = append(kind.Fields, record.Field{Name: name, Type: fieldType, Filter: fieldType.Filter(), Null: record.Nullable})
		if columns%2 == 0 {
			statements = append(statements, "CREATE INDEX T"+name+" ON T ("+name+", ID)")
		}
		columns++
	}
	for i, declared := range executortest.MixedColumns {
		fieldType := executortest.MixedTypes[i]
		if strings.HasSuffix(declared, "DEC") {
			fieldType = record.Decimal
		}
		declare(declared, fieldType)
	}
	declare("NUMERIC", record.Double)
	declare("TEXT", record.DateTime)
	declare("INTEGER", record.Int)
	statements = slices.Insert(statements, 0, "CREATE TABLE T ("+declarations+")", "CREATE TEMP TABLE Held (N INTEGER PRIMARY KEY, V)")
	for i, v := range executortest.MixedValues {
		statements = append(statements, fmt.Sprintf("INSERT INTO Held VALUES (%d, %s)", i, v))
	}
	var values strings.Builder
	for i := range columns {
		fmt.Fprintf(&values, ", (SELECT V FROM Held WHERE N = (ID * %d + ID / %d) %% %d)", 2*i+1, 7+i, len(executortest.MixedValues))
	}
	statements = append(statements, fmt.Sprintf("INSERT INTO T WITH RECURSIVE Numbers(ID) AS (SELECT 1 UNION ALL SELECT ID + 1 FROM Numbers WHERE ID < %d) SELECT ID, 'new'%s FROM Numbers", rows, values.String()))
	for _, statement := range statements {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%.80s: %v", statement, err)
		}
	}
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	return &mixedTable{kind: registry.Kinds()[0], file: executor.NewFile(pool, (*record.Kind).Source, nil, nil)}, columns, pool
}

// writeRows inserts, changes and deletes rows until ctx ends: it moves rows in every order, and
// changes only the note of the others. It returns the number of statements.
func writeRows(ctx context.Context, conn *sqlite.Conn, columns int, rows int64) (n int64, err error) {
	for ; ctx.Err() == nil; n++ {
		value := executortest.MixedValues[n%int64(len(executortest.MixedValues))]
		column := fmt.Sprintf("V%d", n%int64(columns))
		statement := fmt.Sprintf("UPDATE T SET %s = %s, Note = 'moved' WHERE ID = %d", column, value, n%(rows/10)*10+10)
		switch n % 4 {
		case 1:
			statement = fmt.Sprintf("INSERT INTO T (ID, %s) VALUES (%d, %s)", column, rows+n, value)
		case 2:
			statement = fmt.Sprintf("UPDATE T SET Note = 'changed %d' WHERE ID = %d", n, n*7%rows+1)
		case 3:
			statement = fmt.Sprintf("DELETE FROM T WHERE ID = %d AND ID > %d", rows+n-22, rows)
		}
		if err := conn.Exec(statement); err != nil {
			return n, fmt.Errorf("%s: %w", statement, err)
		}
	}
	return n, nil
}

// TestMixedPagesDuringWrites reads a table with values of every class by cursor, in 15 orders and
// both directions, while another connection writes. Each reading has every row that is not moved
// exactly once, in the order of one read. WHD_TEST_ROWS sets the number of rows.
func TestMixedPagesDuringWrites(t *testing.T) {
	rows := int64(2000)
	if text := os.Getenv(mixedRowsVariable); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		rows = n
	}
	m, columns, pool := newWideMixedTable(t, rows)
	orders := [][]int{{4, 1, 0}} // fields of the kind
	for field := 1; field <= columns; field++ {
		orders = append(orders, []int{field})
	}
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var written int64
	done := make(chan error)
	go func() {
		var err error
		written, err = writeRows(ctx, conn, columns, rows)
		done <- err
	}()
	standing := func(ids []int64) []int64 {
		return slices.DeleteFunc(ids, func(id int64) bool { return movingRow(id, rows) })
	}
	for _, fields := range orders {
		for _, desc := range []bool{false, true} {
			r := query.Request{Take: query.NoTake}
			for i, field := range fields {
				r.Order = append(r.Order, query.Order{Field: field, Desc: desc != (i == 1)})
			}
			r.Cursor = new(string)
			whole, _, _ := m.read(t, r)
			r.Take = rows/10 + 7
			var paged []int64
			pages := int64(0)
			for next := ""; next != "" || pages == 0; pages++ {
				r.Cursor = &next
				ids, _, following := m.read(t, r)
				paged = append(paged, ids...)
				next = following
				if pages > 3*rows {
					t.Fatalf("order %v, descending %v: the pages do not end", fields, desc)
				}
			}
			want, got := standing(whole), standing(paged)
			if int64(len(want)) != rows-rows/10 || !slices.Equal(got, want) {
				t.Errorf("order %v, descending %v: %d pages have %d rows that stay, %v the order of one read, which has %d of %d", fields, desc, pages, len(got), slices.Equal(got, want), len(want), rows-rows/10)
			}
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	pool.Put(conn)
	t.Logf("%d orders of %d rows in both directions during %d statements", len(orders), rows, written)
}
