package erp

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
)

// tiesKind has rows that are equal in all fields but the last one.
var tiesKind = record.Kind{
	Name: "Ties",
	Fields: []record.Field{
		{Name: "Code", Type: record.Text, Filter: record.TextFilter},
		{Name: "Amount", Type: record.Decimal, Filter: record.OrderedFilter},
		{Name: "Note", Type: record.Text},
	},
}

// numberOfTies is the number of rows of tiesKind.
const numberOfTies = 90

func tiedRows(*record.Kind) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for n := range numberOfTies {
			amount := strconv.Itoa(n / 30)
			if !yield([]any{"A", amount, fmt.Sprintf("note %02d", n)}) {
				return
			}
		}
	}
}

// selector executes plans in a file.
type selector struct{ *fileRecords }

func (s selector) Select(ctx context.Context, plan *query.Plan) (*executor.Result, error) {
	limits := func() executor.Limits { return executor.Limits{} }
	return executor.Select(ctx, s.fileRecords, limits, plan)
}

// openTies opens a file with rows of tiesKind, in the table that statements create or, if they are
// empty, in our own.
func openTies(t *testing.T, statements string) (*fileRecords, *record.Kind) {
	t.Helper()
	registry, err := record.NewRegistry(tiesKind)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "records.db")
	if statements != "" {
		execFile(t, path, statements)
	}
	b, err := newFileRecords(Config{Path: path, Registry: registry, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	kind := registry.Kinds()[0]
	if statements == "" {
		if _, err := b.Load(t.Context(), registry.Kinds(), tiedRows); err != nil {
			t.Fatal(err)
		}
	}
	return b, kind
}

// insertTies inserts the rows of tiesKind in a table.
const insertTies = `; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 89)
INSERT INTO %s (Code, Amount, Note) SELECT 'A', i / 30, printf('note %%02d', i) FROM n;`

// TestPagesOfTies reads rows in pages that are equal in the fields of the order. Each row must be on
// one page, in whichever way SQLite reads that.
func TestPagesOfTies(t *testing.T) {
	for name, statements := range map[string]string{
		"our own":           "",
		"another program's": "CREATE TABLE Ties (Code, Amount NUMERIC, Note)" + fmt.Sprintf(insertTies, "Ties"),
		"with a column of the name of the row ID": "CREATE TABLE Ties (Code, Amount NUMERIC, Note, _ROWID_)" +
			fmt.Sprintf(insertTies, "Ties"),
	} {
		t.Run(name, func(t *testing.T) {
			b, kind := openTies(t, statements)
			for _, order := range []query.Members{
				nil,
				{executortest.Member(query.OrderBy, "Amount")},
				{executortest.Member(query.OrderByDesc, "Amount")},
				{executortest.Member(query.OrderByDesc, "Amount,Code")},
			} {
				checkPages(t, b, kind, order)
			}
		})
	}
}

// checkPages reads all rows in pages, in an order.
func checkPages(t *testing.T, b *fileRecords, kind *record.Kind, order query.Members) {
	t.Helper()
	const take = 20
	var rows []string
	for skip := 0; skip < numberOfTies; skip += take {
		members := append(slices.Clone(order),
			executortest.Member(query.Skip, strconv.Itoa(skip)),
			executortest.Member(query.Take, strconv.Itoa(take)))
		page, _ := executortest.Run(t, selector{b}, kind, members)
		rows = append(rows, page...)
	}
	slices.Sort(rows)
	distinct := len(slices.Compact(slices.Clone(rows)))
	if len(rows) != numberOfTies || distinct != numberOfTies {
		t.Errorf("%v: got %d rows, %d of them different, want each of %d once", order, len(rows), distinct, numberOfTies)
	}
}

// TestPagesWithoutRowID reads tables and views without row IDs, in a page of all rows: smaller ones may
// repeat ties.
func TestPagesWithoutRowID(t *testing.T) {
	for name, statements := range map[string]string{
		"table without row IDs": "CREATE TABLE Ties (Code, Amount NUMERIC, Note PRIMARY KEY) WITHOUT ROWID" +
			fmt.Sprintf(insertTies, "Ties"),
		"view": "CREATE TABLE Stored (Code, Amount NUMERIC, Note)" + fmt.Sprintf(insertTies, "Stored") +
			"CREATE VIEW Ties AS SELECT Code, Amount, Note FROM Stored",
		"view with the columns of our own": "CREATE TABLE Stored (Code TEXT, Amount TEXT, Note TEXT)" +
			fmt.Sprintf(insertTies, "Stored") + "CREATE VIEW Ties AS SELECT Code, Amount, Note FROM Stored",
	} {
		t.Run(name, func(t *testing.T) {
			b, kind := openTies(t, statements)
			page, _ := executortest.Run(t, selector{b}, kind, query.Members{
				executortest.Member(query.OrderByDesc, "Amount"),
				executortest.Member(query.Take, strconv.Itoa(numberOfTies)),
			})
			if len(page) != numberOfTies {
				t.Errorf("got %d rows, want %d", len(page), numberOfTies)
			}
		})
	}
}

// TestPlansWithRowID checks that no page is sorted for the row ID: either an index has it, or the
// page is sorted without it, too.
func TestPlansWithRowID(t *testing.T) {
	b, kind := openTies(t, "")
	for _, body := range []string{
		`{"Take":20}`,
		`{"Skip":20,"Take":20}`,
		`{"Skip":20}`,
		`{"OrderByDesc":"Code","Take":20}`,
		`{"OrderBy":"Amount","Take":20}`,
		`{"OrderBy":"Amount","Skip":20,"Take":20}`,
		`{"OrderByDesc":"Amount","Take":20}`,
		`{"OrderByDesc":"Amount,Code","Take":20}`,
		`{"OrderByDesc":"Amount,Code","Skip":20,"Take":20}`,
		`{"OrderBy":"Note","Take":20}`,
		`{"Amount":1,"Take":20}`,
		`{"Amount":1,"OrderByDesc":"Amount","Take":20}`,
		`{"AmountIn":[1,2],"OrderBy":"Amount","Take":20}`,
		`{"AmountGreaterThan":0,"OrderBy":"Amount","Take":20}`,
		`{"Fields":"Amount","OrderBy":"Amount","Take":20}`,
		`{"Code":"A","Take":20}`,
	} {
		without := sortsOf(t, b, kind, body, "")
		with := sortsOf(t, b, kind, body, "_rowid_")
		if with != without {
			t.Errorf("%s: sorts %d times with the row ID, want %d", body, with, without)
		}
	}
}

// sortsOf returns how often SQLite sorts rows for a request, with the name of the row ID.
func sortsOf(t *testing.T, b *fileRecords, kind *record.Kind, body, rowID string) int {
	t.Helper()
	members, err := query.ReadJSON([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	request, err := query.Parse(kind, members, query.Options{})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	plan, err := query.NewPlan(request, true)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	d := fileDialect()
	d.File.RowID = rowID
	st, err := query.Compile(plan, d, b.Table(kind))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if strings.Contains(st.SQL, "_rowid_") != (rowID != "") {
		t.Errorf("%s with the row ID %q: got the statement %s", body, rowID, st.SQL)
	}
	return strings.Count(explain(t, b, st), "TEMP B-TREE")
}
