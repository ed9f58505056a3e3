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

// TestMessagesOfEvents compares pages of messages of an event with the pages that are read without
// blocks: while some messages are in no block yet, and when all are. Each event has several messages.
func TestMessagesOfEvents(t *testing.T) {
	const messages, events = 12 * blockSize, 700
	w := openedHooks(t, filepath.Join(t.TempDir(), appdb.FileName))
	sub, _ := subscribed(t, w)
	w.mustExec(t, fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT n, n, n %% %d, 1, %d, '', 1, 1, '', '', 0 FROM numbers`, messages, events, sub.ID))
	w.mustExec(t, fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT n, '', CASE WHEN n %% 100 = 0 THEN 'Rare' WHEN n = 50 THEN 'rare ' ELSE 'common' END, '', '' FROM numbers`, events-1))

	for _, named := range []int{0, 1, blockSize - 1, blockSize, messages} {
		w.mustExec(t, `DELETE FROM WH_EventBlock`)
		w.mustExec(t, fmt.Sprintf(`INSERT INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT e.EventName, m.ID / %d FROM SY_WebhookMessage m JOIN WH_Event e ON e.EventID = m.EventID WHERE m.ID <= %d`,
			blockSize, named))
		w.mustExec(t, fmt.Sprintf(`UPDATE WH_Number SET Next = %d WHERE Name = 'NamedMessage'`, named))
		for _, event := range []string{"rare", "common", "never"} {
			comparePagesOfEvent(t, w, event)
		}
		if t.Failed() {
			t.Fatalf("with the blocks of the first %d messages", named)
		}
	}
}

// TestSmallerBlocks checks that the migration to blocks of fewer IDs has the events of all messages
// that were in a block, and of no others. The rare event of the last ones is in no block.
func TestSmallerBlocks(t *testing.T) {
	const (
		lastWithLargerBlocks = 25
		largerBlock          = 256
		messages             = 1200
		named                = 850
	)
	db, _ := createVersion(t, lastWithLargerBlocks)
	for _, statement := range []string{
		fmt.Sprintf(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
INSERT INTO WH_Event (EventID, RecID, EventName, AddedDateTime, Body)
SELECT n, '', IIF(n IN (300, 600, 900), 'rare', 'common'), '', '' FROM numbers`, messages),
		`INSERT INTO SY_WebhookMessage (ID, RecID, EventID, PartitionID, SubscriptionID, URL, Status, Attempts,
	AddedDateTime, LastSavedDateTime, MadeByAdmin)
SELECT EventID, EventID, EventID, 1, 1, '', 1, 1, '', '', 0 FROM WH_Event`,
		fmt.Sprintf(`INSERT INTO WH_EventBlock (EventName, Block)
SELECT DISTINCT EventName, EventID / %d FROM WH_Event WHERE EventID <= %d`, largerBlock, named),
		fmt.Sprintf(`UPDATE WH_Number SET Next = %d WHERE Name = 'NamedMessage'`, named),
	} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const blocks = `SELECT group_concat(EventName || ' ' || Block, ', ')
FROM (SELECT EventName, Block FROM WH_EventBlock ORDER BY EventName, Block)`
	before := mustText(t, db, blocks)

	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = "common 0, common 1, common 2, common 3, common 4, common 5, common 6, rare 2, rare 4"
	if got := mustText(t, db, blocks); got != want {
		t.Errorf("the blocks are %s, want %s", got, want)
	}

	provider, err := db.Provider()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.DownTo(t.Context(), lastWithLargerBlocks); err != nil {
		t.Fatal(err)
	}
	if got := mustText(t, db, blocks); got != before {
		t.Errorf("in the earlier version again, the blocks are %s, want %s", got, before)
	}
}

// comparePagesOfEvent compares pages of an event, in both orders and from several IDs on.
func comparePagesOfEvent(t *testing.T, w *Store, event string) {
	t.Helper()
	kind := systemKind(t, "Message")
	name, _ := kind.Column("EventName")
	ofEvent := query.Condition{Field: name, Operator: record.Equal, Operands: []wire.Value{{Text: event}}}
	for _, op := range []record.Operator{record.LessThan, record.LessThanOrEqualTo, record.GreaterThan, record.GreaterThanOrEqualTo, record.Equal} {
		for _, id := range []int64{0, 1, blockSize - 1, blockSize, 8*blockSize + 52, 13 * blockSize} {
			for _, desc := range []bool{false, true} {
				fromID := query.Condition{Field: kind.KeyField(), Operator: op, Operands: []wire.Value{{Int: id}}}
				plan := &query.Plan{
					Kind:    kind,
					Columns: []int{kind.KeyField()},
					Where:   []query.Condition{ofEvent, fromID},
					Order:   []query.Order{{Field: kind.KeyField(), Desc: desc}},
					Skip:    2,
					Take:    10,
					Count:   true,
				}
				listed := w.Admin.ListPlan(plan)
				got, gotTotal := readIDs(t, w.Admin.db, listed)
				want, wantTotal := readIDs(t, w.Admin.db, plan)
				if listed.PageKeys == nil || !slices.Equal(got, want) || gotTotal != wantTotal {
					t.Errorf("%s with an ID %v %d, descending %t: got %v and total %d, want %v and %d",
						event, op, id, desc, got, gotTotal, want, wantTotal)
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
