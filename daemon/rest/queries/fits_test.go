package queries

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/sqlite"
)

// fileStore runs plans on a file.
type fileStore struct {
	Store
	file *executor.File
}

func (s fileStore) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	return executor.Select(ctx, s.file, func() executor.Limits { return executor.Limits{} }, plan)
}

// TestRowsAfterCursorFit checks that of a page by cursor without Take, only the rows after the cursor
// must fit into a workbook, although its total is that of all rows.
func TestRowsAfterCursorFit(t *testing.T) {
	pool, err := sqlite.NewPool(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec("CREATE TABLE T (ID int NOT NULL PRIMARY KEY, Qty int);" +
		"INSERT INTO T VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 2)")
	pool.Put(conn)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := record.NewRegistry(record.Kind{
		Name: "T",
		Key:  []string{"ID"},
		Fields: []record.Field{
			{Name: "ID", Type: record.Int, Filter: record.OrderedFilter},
			{Name: "Qty", Type: record.Int, Filter: record.OrderedFilter, Null: record.Nullable},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	kind := registry.Kinds()[0]
	h := &Handler{Store: fileStore{file: executor.NewFile(pool, (*record.Kind).Source, nil, nil)}}

	for name, c := range map[string]struct {
		after []query.Position // of Qty and ID
		want  string           // start of the error; empty if the rows fit
	}{
		"all rows":       {nil, "7 rows match, but a sheet of a workbook holds at most 3"},
		"four rows left": {[]query.Position{{Int: 1}, {Int: 3}}, "4 rows follow the cursor, but a sheet"},
		"three":          {[]query.Position{{Int: 1}, {Int: 4}}, ""},
		"none":           {[]query.Position{{Int: 2}, {Int: 7}}, ""},
	} {
		cursor := ""
		r := query.Request{
			Kind:   kind,
			Order:  []query.Order{{Field: 1}},
			Take:   query.NoTake,
			Total:  query.TotalOn,
			Cursor: &cursor,
		}
		err := query.NewCursors([32]byte{}).Start(&r, nil, kind.KeyFields())
		if err != nil {
			t.Fatal(err)
		}
		r.Place.After = c.after
		plan, err := query.NewPlan(&r, false)
		if err != nil {
			t.Fatal(err)
		}
		x := &edge.Context{Request: httptest.NewRequest("GET", "/Queries/T.xlsx", nil)}
		x.Format.MaxRows = 3
		err = h.fits(x, plan)
		isWanted := err == nil
		if c.want != "" {
			isWanted = err != nil && strings.HasPrefix(err.Error(), c.want)
		}
		if !isWanted {
			t.Errorf("%s: got the error %v, want %q", name, err, c.want)
		}
	}
}
