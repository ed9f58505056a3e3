package executor_test

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

func noLimits() executor.Limits { return executor.Limits{} }

// newFile returns a pool of a new SQLite file, closed when the test ends, and a connection.
func newFile(t *testing.T) (*sqlite.Pool, *sqlite.Conn) {
	t.Helper()
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pool, conn
}

// fileOf returns a new file after some statements.
func fileOf(t *testing.T, statements string) *executor.File {
	t.Helper()
	pool, conn := newFile(t)
	defer pool.Put(conn)
	if err := conn.Exec(statements); err != nil {
		t.Fatal(err)
	}
	return executor.NewFile(pool, (*record.Kind).Source, nil, nil)
}

// registered returns a kind as a registry has it.
func registered(t *testing.T, kind record.Kind) *record.Kind {
	t.Helper()
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()[0]
}

// nullable returns a field with the filters of its type.
func nullable(name string, fieldType record.Type) record.Field {
	return record.Field{Name: name, Type: fieldType, Filter: fieldType.Filter(), Null: record.Nullable}
}

// setPlace sets the place of a request to that of its cursor; key are the fields of the kind's key.
func setPlace(r *query.Request, key []int) error {
	cursors := query.NewCursors([32]byte{})
	if *r.Cursor == "" {
		return cursors.Start(r, nil, key)
	}
	return cursors.Continue(r, nil)
}

// eachRow executes a request, calls visit for each row, and returns the tail. The cells are valid
// during the call.
func eachRow(
	t *testing.T, db executor.Database, r query.Request, visit func(cells []row.Cell),
) (executor.Tail, error) {
	t.Helper()
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := executor.Select(t.Context(), db, noLimits, plan)
	if err != nil {
		return executor.Tail{}, err
	}
	defer result.Close()
	rows := int64(0)
	for {
		cells, err := result.Next()
		if err != nil {
			return executor.Tail{}, err
		}
		if cells == nil {
			return result.Tail(rows)
		}
		visit(cells)
		rows++
	}
}
