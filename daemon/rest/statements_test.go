package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
)

// statementCounter counts the statements that the plans of queries on the ERP's records need.
type statementCounter struct {
	rest.Store
	statements int
}

func (s *statementCounter) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	if plan.Source().Database == record.RecordsDB {
		s.statements += statementsOf(plan)
	}
	return s.Store.Select(ctx, plan)
}

// statementsOf returns the number of statements of a plan with a full page: for the rows, for the
// number of all, and for aggregates.
func statementsOf(plan *query.Plan) int {
	n := 0
	if plan.Take != 0 {
		n++
	}
	if plan.Count && plan.Paged() {
		n++
	}
	if len(plan.Aggregates) > 0 {
		n++
	}
	return n
}

// TestStatementsOfPages counts the statements that pages of records send to the ERP, with and without
// the number of all rows.
func TestStatementsOfPages(t *testing.T) {
	counter := new(statementCounter)
	server := newDemoServer(t, func(c *rest.Config) {
		counter.Store = c.Store
		c.Store = counter
	})
	get := func(path string, want int) *httptest.ResponseRecorder {
		t.Helper()
		counter.statements = 0
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", browserAccept)
		server.ServeHTTP(w, r)
		if w.Code != http.StatusOK || counter.statements != want {
			t.Errorf("%s: status %d after %d statements, want %d", path, w.Code, counter.statements, want)
		}
		return w
	}

	get("/Pages", 0)
	get("/metadata?op=SY_FiltersQuery", 0)
	for path, want := range map[string]int{
		"/Queries/SY_Filters":                                  2, // the rows and their number
		"/Queries/SY_Filters?Include=NoTotal":                  1,
		"/Queries/SY_Filters?Include=Total":                    2,
		"/Queries/SY_Filters?Take=5&Skip=5":                    2,
		"/Queries/SY_Filters?Take=5&Include=NoTotal":           1,
		"/Queries/SY_Filters?Fields=RecID&OrderBy=ItemNo":      2,
		"/Queries/SY_Filters?Take=5&Include=COUNT(*)":          3, // and the aggregate
		"/Queries/SY_Filters?Take=5&Include=Total,MAX(ItemNo)": 3,
	} {
		get(path, want)
	}
	rows := get("/Queries/SY_Filters?Take=5", 2)
	_, link, _ := strings.Cut(rows.Body.String(), `<a href="/Pages/Records/SY_Filters?`)
	key, _, _ := strings.Cut(link, `"`)
	get("/Pages/Records/SY_Filters?"+key, 1)
}

// TestOtherPagesNeedNoERP opens all pages again after the records are gone: only those of records
// read them.
func TestOtherPagesNeedNoERP(t *testing.T) {
	i := storeHostile(t)
	c := signIn(t, i)
	waitFor(t, "a failure", func() bool { return rowCount(c.do("GET /Pages/Messages?Status=2", "")) > 0 })
	seen := crawl(t, c, "/Pages", "/Queries/DB_Class", "/Logs", "/Pages/Captures/SO_Totals/Resume")

	conn, err := sqlite.Open(filepath.Join(i.Dir, storage.RecordsFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Exec("DROP VIEW the_view")
	if err != nil {
		t.Fatal(err)
	}
	for path := range seen {
		hasRecords := path == "/Queries/DB_Class" || strings.HasPrefix(path, "/Pages/Records/")
		status := c.do("GET "+path, "").status
		if (status == http.StatusOK) == hasRecords {
			t.Errorf("%s without the records: status %d", path, status)
		}
	}
}
