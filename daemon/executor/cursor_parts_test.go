package executor

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
	"github.com/bizhook/whd/daemon/sqlite"
)

// failingFile is a file that cannot run a second statement in a session.
type failingFile struct{ *File }

func (f failingFile) Session(ctx context.Context, kind *record.Kind, several bool) (Session, error) {
	s, err := f.File.Session(ctx, kind, several)
	return &failingSession{Session: s}, err
}

type failingSession struct {
	Session
	statements int
}

var errSecondStatement = errors.New("the second statement fails")

func (s *failingSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	s.statements++
	if s.statements > 1 {
		return nil, errSecondStatement
	}
	return s.Session.run(st, limit)
}

// newTable runs statements in a new file.
func newTable(t *testing.T, statements string) *sqlite.Pool {
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
	defer pool.Put(conn)
	err = conn.Exec(statements)
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// TestPartThatDoesNotStart reads a page of two parts, of which only the first one starts, and
// goes on after the error.
func TestPartThatDoesNotStart(t *testing.T) {
	pool := newTable(t, "CREATE TABLE T (ID int, Qty int); INSERT INTO T VALUES (1, 1), (2, 1), (3, 2)")
	fields := []record.Field{{Name: "ID", Type: record.Int}, {Name: "Qty", Type: record.Int}}
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: fields, Key: []string{"ID"}})
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Kinds()[0]

	cursor := ""
	r := query.Request{Kind: kind, Order: []query.Order{{Field: 1}}, Take: 10, Cursor: &cursor}
	err = query.NewCursors([32]byte{}).Start(&r, nil, kind.KeyFields())
	if err != nil {
		t.Fatal(err)
	}
	r.Place.After = []query.Position{{Int: 1}, {Int: 1}}
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	file := failingFile{NewFile(pool, (*record.Kind).Source, nil, nil)}
	result, err := Select(t.Context(), file, func() Limits { return Limits{} }, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()

	cells, err := result.Next()
	if err != nil || len(cells) == 0 || cells[0].Int != 2 {
		t.Fatalf("the first row: got %v, %v, want that of ID 2", cells, err)
	}
	for range 2 {
		cells, err = result.Next()
		if cells != nil || !errors.Is(err, errSecondStatement) {
			t.Errorf("a row of the second part: got %v, %v, want the error %q", cells, err, errSecondStatement)
		}
	}
	tail, err := result.Tail(1)
	if err != nil || tail.Next != "" {
		t.Errorf("the tail after the error: got %+v, %v, want no next page", tail, err)
	}
}
