package sqlstore

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
)

// TestLongPeriods compares pages of periods with more messages than are sorted by ID with the pages
// that are read without the index. The times of the messages do not grow with their IDs.
func TestLongPeriods(t *testing.T) {
	const messages = maxPeriod * 3
	w := openedHooks(t, filepath.Join(t.TempDir(), appdb.FileName))
	sub, _ := subscribed(t, w)
	w.mustExec(t, fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d),
added(n, ms) AS (SELECT n, 1767312000000 + n * 7919 %% %[1]d FROM numbers)
INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT n, printf('%%08x-%%04x-7000-8000-%%012x', ms >> 16, ms & 65535, n), 0, 1, %d, '', 1, 1,
	strftime('%%Y-%%m-%%dT%%H:%%M:%%f0000', ms / 1000.0, 'unixepoch'), '', 0
FROM added`, messages, sub.ID))
	w.mustExec(t, `INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body) VALUES (0, '', 'a', '', '')`)

	kind := systemKind(t, "Message")
	added, _ := kind.Column("AddedDateTime")
	const (
		start  = "2026-01-02T00:00:00.0000000"
		second = "2026-01-02T00:00:01.0000000"
		middle = "2026-01-02T00:00:15.0000000"
		end    = "2026-01-02T00:00:29.0000000"
	)
	for _, bounds := range [][2]string{{start, second}, {start, middle}, {second, end}, {end, end}, {end, start}} {
		for _, field := range []int{kind.KeyField(), added} {
			for _, desc := range []bool{false, true} {
				order := []query.Order{{Field: field, Desc: desc}}
				if field == added {
					order = append(order, query.Order{Field: kind.KeyField()})
				}
				plan := &query.Plan{
					Kind:    kind,
					Columns: []int{kind.KeyField()},
					Where: []query.Condition{
						{Field: added, Operator: record.GreaterThanOrEqualTo, Operands: []wire.Value{{Text: bounds[0]}}},
						{Field: added, Operator: record.LessThan, Operands: []wire.Value{{Text: bounds[1]}}},
					},
					Order: order,
					Skip:  3,
					Take:  10,
					Count: true,
				}
				listed := w.Admin.ListPlan(plan)
				got, gotTotal := readIDs(t, w.Admin.db, listed)
				want, wantTotal := readIDs(t, w.Admin.db, plan)
				if listed.PageKeys == nil || !slices.Equal(got, want) || gotTotal != wantTotal {
					t.Errorf("from %s until %s in the order %v: got %v and total %d, want %v and %d",
						bounds[0], bounds[1], order, got, gotTotal, want, wantTotal)
				}
			}
		}
	}
}

// readIDs returns the first column of the rows of a plan, and their total.
func readIDs(t *testing.T, db *appdb.DB, plan *query.Plan) (ids []int64, total int64) {
	t.Helper()
	noLimits := func() executor.Limits { return executor.Limits{} }
	result, err := executor.Select(t.Context(), db, noLimits, plan)
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
			break
		}
		ids = append(ids, cells[0].Int)
	}
	tail, err := result.Tail(int64(len(ids)))
	if err != nil {
		t.Fatal(err)
	}
	return ids, tail.Total
}
