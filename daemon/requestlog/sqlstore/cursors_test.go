package sqlstore

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
)

// TestPagesOfFile compares lists in pages by cursor with whole lists, while the clock is set back and
// forth.
func TestPagesOfFile(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	added := 0
	for _, offset := range []time.Duration{0, 0, -3 * time.Second, 10 * time.Second, 0, 0} {
		entries := make([]requestlog.Entry, 300)
		for i := range entries {
			e := &entries[i]
			step := time.Duration(added) * 50 * time.Millisecond
			jitter := time.Duration(random.IntN(3)) * 40 * time.Millisecond
			e.At = listStart.Add(step + jitter + offset)
			e.Status = 200 + random.IntN(3)*100
			added++
		}
		appendEntries(t, file, entries)
		for range 10 {
			comparePages(t, file, random)
		}
	}
}

// comparePages compares the pages of a random list with the whole one.
func comparePages(t *testing.T, file *File, random *rand.Rand) {
	t.Helper()
	plan := drawList(random)
	plan.Skip = 0
	plan.Take = query.NoTake
	plan.Count = false
	whole := idsOfPage(t, file, plan)
	pages, fast := readPages(t, file, plan, takes[2+random.IntN(2)])
	if !slices.Equal(pages, whole) {
		t.Fatalf("with the conditions %+v, order %+v: the pages have %d requests %v, want %d: %v",
			plan.Where, plan.Order, len(pages), pages, len(whole), whole)
	}
	column := plan.Order[0].Field
	isByTime := plan.Kind.Fields[column].Name == timeColumn
	if isByTime && len(whole) > 1000 && fast == 0 {
		t.Errorf("with the conditions %+v, order %+v: each page reads the whole log", plan.Where, plan.Order)
	}
}

// idsOfPage returns the IDs of the rows of a plan, read in the general way.
func idsOfPage(t *testing.T, file *File, plan *query.Plan) (ids []int64) {
	t.Helper()
	limits := func() executor.Limits { return executor.Limits{} }
	result, err := executor.Select(t.Context(), file, limits, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			return ids
		}
		ids = append(ids, cells[0].Int)
	}
}

// readPages returns the IDs of the rows in pages by cursor, and how many of the pages after the first
// one were read by keys.
func readPages(t *testing.T, file *File, plan *query.Plan, take int64) (ids []int64, fast int) {
	t.Helper()
	cursors := query.NewCursors([32]byte{})
	limits := func() executor.Limits { return executor.Limits{} }
	next := ""
	for {
		request := &query.Request{Kind: plan.Kind, Take: take, Total: query.TotalOff, Cursor: &next}
		var err error
		if next == "" {
			request.Fields = plan.Columns
			request.Where = plan.Where
			request.Order = plan.Order
			err = cursors.Start(request, nil, []int{plan.Kind.KeyField()})
		} else {
			err = cursors.Continue(request, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		page, err := query.NewPlan(request, false)
		if err != nil {
			t.Fatal(err)
		}
		listed, err := file.ListPlan(t.Context(), limits, page)
		if err != nil {
			t.Fatal(err)
		}
		if next != "" && listed.FasterPart != nil {
			fast++
		}
		rows, err := file.Select(t.Context(), limits, page)
		if err != nil {
			t.Fatal(err)
		}
		for {
			cells, err := rows.Next()
			if err != nil {
				t.Fatal(err)
			}
			if cells == nil {
				break
			}
			ids = append(ids, cells[0].Int)
		}
		tail, err := rows.Tail(take)
		rows.Close()
		if err != nil {
			t.Fatal(err)
		}
		if tail.Next == "" {
			return ids, fast
		}
		next = tail.Next
	}
}
