package feeds

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/dialect"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/odata"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/queries"
	"github.com/bizhook/whd/daemon/sqlite"
)

// indexed is a store with the key ID and an index of Stamp.
type indexed struct{}

func (indexed) Key(context.Context, *record.Kind) ([]int, error) { return []int{0}, nil }

func (indexed) Columns(context.Context, *record.Kind) ([]dialect.Column, error) { return nil, nil }

func (indexed) Leads(_ context.Context, kind *record.Kind, field int) (bool, error) {
	return kind.Fields[field].Name == "Stamp", nil
}

func (indexed) SetPlace(_ context.Context, r *query.Request, path []query.Condition) error {
	return query.NewCursors([32]byte{}).Start(r, path, []int{0})
}

func (indexed) Select(context.Context, *query.Plan) (*executor.Result, error) { return nil, nil }

// TestPartitionsSeek: a page of a partition is one range of the index of its date, the first
// page and a later one. Without an index, or with another order, it is in the order of the key.
func TestPartitionsSeek(t *testing.T) {
	times := record.Kind{Name: "Times", Key: []string{"ID"}, Database: record.RecordsDB}
	for _, f := range []struct {
		name string
		of   record.Type
	}{{"ID", record.Int}, {"Stamp", record.DateTime}, {"Other", record.DateTime}} {
		times.Fields = append(times.Fields, record.Field{Name: f.name, Type: f.of, Filter: f.of.Filter()})
	}

	registry, err := record.NewRegistry(times)
	if err != nil {
		t.Fatal(err)
	}

	kind, _ := registry.Lookup(times.Name)
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "records.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		"CREATE TABLE Times (ID int NOT NULL PRIMARY KEY, Stamp datetime2, Other datetime2)",
		"CREATE INDEX Times_Stamp ON Times (Stamp)",
	} {
		if err := conn.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}

	const (
		seek  = "SEARCH Times USING INDEX Times_Stamp (Stamp>? AND Stamp<?)"
		same  = "SEARCH Times USING INDEX Times_Stamp (Stamp=?)"
		byKey = "SCAN Times USING INDEX sqlite_autoindex_Times_1"
	)
	for filter, want := range map[string][2]string{
		"Stamp ge 2024-01-01T00:00:00Z and Stamp lt 2024-02-01T00:00:00Z": {
			seek,
			same + "; USE TEMP B-TREE FOR ORDER BY; " + seek,
		},
		"Other ge 2024-01-01T00:00:00Z and Other lt 2024-02-01T00:00:00Z":             {byKey, ""},
		"Stamp ge 2024-01-01T00:00:00Z":                                               {byKey, ""},
		"Stamp ge 2024-01-01T00:00:00Z or Stamp lt 2024-02-01T00:00:00Z":              {byKey, ""},
		"Stamp ge 2024-01-01T00:00:00Z and not (Stamp ge 2024-02-01T00:00:00Z)":       {byKey, ""},
		"Stamp ge 2024-01-01T00:00:00Z and Stamp lt 2024-02-01T00:00:00Z&$orderby=ID": {byKey, ""},
	} {
		store := indexed{}
		h := Handlers{Queries: &queries.Handler{Store: store}, Store: store}
		path := "/odata/Times?$filter=" + strings.ReplaceAll(filter, " ", "%20")
		x := &edge.Context{
			Request:  httptest.NewRequest("GET", path, nil),
			Response: edge.NewResponse(new(edge.Kept), 0),
			Call:     edge.Call{Kind: kind},
			Options:  &edge.Options{FeedPage: 10_000, Query: query.Options{Zone: time.UTC}},
		}
		x.URLMembers, err = query.ReadForm(x.Request.URL.RawQuery)
		if err != nil {
			t.Fatal(err)
		}

		r, err := h.read(x, odata.Rows)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}

		req, err := h.request(r)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}

		req.Take = r.pageSize(r.Top)
		plan, err := query.NewPlan(req, false)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}

		plans := [2]string{explainPage(t, conn, plan)}
		if want[1] != "" {
			plan.Place.After = []query.Position{
				{Data: []byte("2024-01-02T00:00:00.0000000")},
				{Data: []byte("7")},
			}
			plans[1] = explainPage(t, conn, plan)
		}

		for i := range plans {
			if !strings.HasPrefix(plans[i], want[i]) {
				t.Errorf("%s, page %d: %s, want %s", filter, i+1, plans[i], want[i])
			}
		}
	}
}

// explainPage returns SQLite's plans for the parts of a page.
func explainPage(t *testing.T, conn *sqlite.Conn, plan *query.Plan) string {
	t.Helper()
	d := dialect.SQLite()
	d.File.HideFields = true
	var steps []string
	parts, _ := plan.Place.Parts(*plan)
	for _, part := range parts {
		st, err := query.Compile(&part, d, "Times")
		if err == nil {
			err = conn.Query("EXPLAIN QUERY PLAN "+st.SQL,
				func(s *sqlite.Stmt) error { steps = append(steps, s.Text(3)); return nil })
		}
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", st.SQL, err))
		}
	}
	return strings.Join(steps, "; ")
}
