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
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "records.db"),
		sqlite.Options{Pragmas: []string{"synchronous = OFF"}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Put(conn)

	declared := wideColumns()
	for _, statement := range wideTable(declared, rows) {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%.80s: %v", statement, err)
		}
	}
	fields := []record.Field{{Name: "ID", Type: record.Long, Filter: record.OrderedFilter}}
	for i, c := range declared {
		fields = append(fields, nullable(wideColumn(i), c.fieldType))
	}
	m = &mixedTable{
		kind: registered(t, record.Kind{Name: "T", Key: []string{"ID"}, Fields: fields}),
		file: executor.NewFile(pool, (*record.Kind).Source, nil, nil),
	}
	return m, len(declared), pool
}

// declaredColumn is the declared type of a column, and the type of its field.
type declaredColumn struct {
	declared  string
	fieldType record.Type
}

// wideColumn returns the name of a column of the wide table.
func wideColumn(i int) string { return fmt.Sprintf("V%d", i) }

// wideColumns returns the columns of the wide table.
func wideColumns() []declaredColumn {
	var columns []declaredColumn
	for i, declared := range executortest.MixedColumns {
		fieldType := executortest.MixedTypes[i]
		if strings.HasSuffix(declared, "DEC") {
			fieldType = record.Decimal
		}
		columns = append(columns, declaredColumn{declared, fieldType})
	}
	return append(columns,
		declaredColumn{"NUMERIC", record.Double},
		declaredColumn{"TEXT", record.DateTime},
		declaredColumn{"INTEGER", record.Int})
}

// wideTable returns the statements that create the wide table with its rows.
func wideTable(columns []declaredColumn, rows int64) []string {
	var declarations, indexes []string
	var values strings.Builder
	for i, c := range columns {
		name := wideColumn(i)
		declarations = append(declarations, name+" "+c.declared)
		if i%2 == 0 {
			indexes = append(indexes, "CREATE INDEX T"+name+" ON T ("+name+", ID)")
		}
		// Each column has the values in another sequence, and equal ones in many rows.
		fmt.Fprintf(&values, ", (SELECT V FROM Held WHERE N = (ID * %d + ID / %d) %% %d)",
			2*i+1, 7+i, len(executortest.MixedValues))
	}
	statements := []string{
		"CREATE TABLE T (ID INTEGER PRIMARY KEY NOT NULL, Note TEXT, " + strings.Join(declarations, ", ") + ")",
		"CREATE TEMP TABLE Held (N INTEGER PRIMARY KEY, V)",
	}
	statements = append(statements, indexes...)
	for i, v := range executortest.MixedValues {
		statements = append(statements, fmt.Sprintf("INSERT INTO Held VALUES (%d, %s)", i, v))
	}
	numbers := fmt.Sprintf("WITH RECURSIVE Numbers(ID) AS "+
		"(SELECT 1 UNION ALL SELECT ID + 1 FROM Numbers WHERE ID < %d)", rows)
	return append(statements, "INSERT INTO T "+numbers+" SELECT ID, 'new'"+values.String()+" FROM Numbers")
}

// writeRows inserts, changes and deletes rows until ctx ends: it moves rows in every order, and
// changes only the note of the others. It returns the number of statements.
func writeRows(ctx context.Context, conn *sqlite.Conn, columns int, rows int64) (n int64, err error) {
	for ctx.Err() == nil {
		statement := writeStatement(n, columns, rows)
		if err := conn.Exec(statement); err != nil {
			return n, fmt.Errorf("%s: %w", statement, err)
		}
		n++
	}
	return n, nil
}

// writeStatement returns the nth statement of the writer.
func writeStatement(n int64, columns int, rows int64) string {
	value := executortest.MixedValues[n%int64(len(executortest.MixedValues))]
	column := wideColumn(int(n % int64(columns)))
	switch n % 4 {
	case 1:
		return fmt.Sprintf("INSERT INTO T (ID, %s) VALUES (%d, %s)", column, rows+n, value)
	case 2:
		return fmt.Sprintf("UPDATE T SET Note = 'changed %d' WHERE ID = %d", n, n*7%rows+1)
	case 3: // a row that was inserted before
		return fmt.Sprintf("DELETE FROM T WHERE ID = %d AND ID > %d", rows+n-22, rows)
	}
	moving := n%(rows/10)*10 + 10
	return fmt.Sprintf("UPDATE T SET %s = %s, Note = 'moved' WHERE ID = %d", column, value, moving)
}

// TestMixedPagesDuringWrites reads a table with values of every class by cursor, in 15 orders and
// both directions, while another connection writes. Each reading has every row that is not moved
// exactly once, in the order of one read. WHD_TEST_ROWS sets the number of rows.
func TestMixedPagesDuringWrites(t *testing.T) {
	rows := mixedRows(t)
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

	for _, fields := range orders {
		for _, desc := range []bool{false, true} {
			var order []query.Order
			for i, field := range fields {
				isReversed := i == 1 // so that one order has both directions
				order = append(order, query.Order{Field: field, Desc: desc != isReversed})
			}
			m.checkPagesDuringWrites(t, order, rows)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	pool.Put(conn)
	t.Logf("%d orders of %d rows in both directions during %d statements", len(orders), rows, written)
}

// mixedRows returns the number of rows of TestMixedPagesDuringWrites.
func mixedRows(t *testing.T) int64 {
	t.Helper()
	text := os.Getenv(mixedRowsVariable)
	if text == "" {
		return 2000
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkPagesDuringWrites compares the rows that are not moved in an order by pages with those of one
// read.
func (m *mixedTable) checkPagesDuringWrites(t *testing.T, order []query.Order, rows int64) {
	t.Helper()
	cursor := ""
	r := query.Request{Take: query.NoTake, Order: order, Cursor: &cursor}
	whole, _, _ := m.read(t, r)

	r.Take = rows/10 + 7
	var paged []int64
	for pages := range 3 * rows {
		ids, _, next := m.read(t, r)
		paged = append(paged, ids...)
		if next == "" {
			break
		}
		if pages == 3*rows-1 {
			t.Fatalf("order %v: the pages do not end", order)
		}
		cursor = next
	}

	isMoving := func(id int64) bool { return movingRow(id, rows) }
	want := slices.DeleteFunc(whole, isMoving)
	got := slices.DeleteFunc(paged, isMoving)
	if n := rows - rows/10; int64(len(want)) != n {
		t.Errorf("order %v: one read has %d rows that stay, want %d", order, len(want), n)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order %v: the pages have %d rows that stay, want the %d of one read in their order",
			order, len(got), len(want))
	}
}
