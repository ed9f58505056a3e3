package executor

import (
	"errors"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// TestResumable checks that a read can only be resumed if its rows are sorted by the first field, an
// ID of our own tables.
func TestResumable(t *testing.T) {
	number := record.Field{Name: "ID", Type: record.Long}
	text := record.Field{Name: "Name", Type: record.Text}
	kind := func(database record.Database, fields ...record.Field) *record.Kind {
		return &record.Kind{Name: "K", Database: database, Fields: fields}
	}
	ownKind := kind(record.AppDB, number, text)
	first := []query.Order{{Field: 0}}
	second := []query.Order{{Field: 1}, {Field: 0}}
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
			t.Errorf("a plan %s can be resumed: got %v, want %v", name, got, c.want)
		}
	}
}

// TestResumesWithCursor checks that a request with a cursor for all rows is resumed like one without
// a cursor, and that a page is not.
func TestResumesWithCursor(t *testing.T) {
	pool := newTable(t, "CREATE TABLE K (ID integer PRIMARY KEY)")
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
			t.Errorf("a request with a cursor and Take %d is resumed: got %v, want %v", take, resumes, want)
		}
		result.Close()
	}
}

// TestResumingThatDoesNotStart checks that the rows do not start over after an error.
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
	drained := make(chan struct{})
	close(drained)
	err = rows.resume(1, drained)
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
