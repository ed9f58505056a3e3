package executor

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// TestResumable: a read can only be resumed if its rows are sorted by the first field, an
// ID of our own tables.
func TestResumable(t *testing.T) {
	number, text := record.Field{Name: "ID", Type: record.Long}, record.Field{Name: "Name", Type: record.Text}
	kind := func(database record.Database, fields ...record.Field) *record.Kind {
		return &record.Kind{Name: "K", Database: database, Fields: fields}
	}
	ownKind := kind(record.AppDB, number, text)
	first, second := []query.Order{{Field: 0}}, []query.Order{{Field: 1}, {Field: 0}}
	for name, c := range map[string]struct {
		plan    query.Plan
		several bool
		want    bool
	}{
		"sorted":                  {query.Plan{Kind: ownKind, Order: first}, false, true},
		"ERP kind":                {query.Plan{Kind: kind(0, number, text), Order: first}, false, false},
		"text key":                {query.Plan{Kind: kind(record.AppDB, text, number), Order: first}, false, false},
		"sorted by another field": {query.Plan{Kind: ownKind, Order: second}, false, false},
		"not sorted":              {query.Plan{Kind: ownKind}, false, false},
		"distinct":                {query.Plan{Kind: ownKind, Order: first, Distinct: true}, false, false},
		"with aggregates":         {query.Plan{Kind: ownKind, Order: first}, true, false},
	} {
		if got := resumable(&c.plan, c.several); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestResumesWithCursor: a request with a cursor for all rows needs no place, and is read as
// another one for them.
func TestResumesWithCursor(t *testing.T) {
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "app.db"), sqlite.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Get(t.Context())
	if err == nil {
		err = conn.Exec("CREATE TABLE K (ID integer PRIMARY KEY)")
	}
	if err != nil {
		t.Fatal(err)
	}
	pool.Put(conn)
	kind := &record.Kind{Name: "K", Database: record.AppDB, Fields: []record.Field{{Name: "ID", Type: record.Long}}}
	file := NewFile(pool, (*record.Kind).Source, nil, new(Drain))
	for take, want := range map[int64]bool{query.NoTake: true, 5: false} {
		r := &query.Request{Kind: kind, Take: take, Order: []query.Order{{Field: 0}}}
		if err := query.NewCursors([32]byte{}).Start(r, nil, []int{0}); err != nil {
			t.Fatal(err)
		}
		plan, err := query.NewPlan(r, false)
		if err != nil {
			t.Fatal(err)
		}
		result, err := Select(t.Context(), file, func() Limits { return Limits{} }, plan)
		if err != nil {
			t.Fatal(err)
		}
		if _, resumes := result.rows.(*resumingRows); resumes != want {
			t.Errorf("take %d: resumes %v", take, resumes)
		}
		result.Close()
	}
}

// TestResumingThatDoesNotStart: after the error, the rows do not start over.
func TestResumingThatDoesNotStart(t *testing.T) {
	pool := newTable(t, "CREATE TABLE K (ID integer PRIMARY KEY); INSERT INTO K VALUES (1), (2)")
	kind := &record.Kind{Name: "K", Database: record.AppDB, Fields: []record.Field{{Name: "ID", Type: record.Long}}}
	drain := new(Drain)
	file := failingFile{NewFile(pool, (*record.Kind).Source, nil, drain)}
	session, err := file.Session(t.Context(), kind, false)
	if err != nil {
		t.Fatal(err)
	}
	defer session.close()
	result := &Result{
		limits:  func() Limits { return Limits{} },
		plan:    &query.Plan{Kind: kind, Columns: []int{0}, Order: []query.Order{{Field: 0}}, Take: query.NoTake},
		session: session,
	}
	rows, err := newResumingRows(result, drain)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	close(over)
	err = rows.resume(1, over)
	if !errors.Is(err, errSecondStatement) {
		t.Fatalf("resuming: got %v, want the error %q", err, errSecondStatement)
	}

	for range 2 {
		cells, err := rows.Next()
		if cells != nil || !errors.Is(err, errSecondStatement) {
			t.Errorf("a row after the error: got %v, %v, want the error %q", cells, err, errSecondStatement)
		}
	}
}
