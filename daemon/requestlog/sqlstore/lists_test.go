package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/appdb"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/requestlog"
	"github.com/bizhook/whd/daemon/sqlite"
)

var listStart = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// TestListsOfFile compares lists by time with those that read the whole log: while entries are added
// in nearly the order of their times, after the clock has been set back, after anonymous ones were
// deleted among the others, after the oldest ones were, and after a restart.
func TestListsOfFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), appdb.LogFileName)
	file := openLog(t, path)
	compareLists(t, file, random, "empty")

	added := 0
	add := func(offset time.Duration) {
		entries := make([]requestlog.Entry, 400)
		for i := range entries {
			e := &entries[i]
			e.At = listStart.Add(time.Duration(added)*50*time.Millisecond + offset)
			e.At = e.At.Add(time.Duration(random.IntN(100)) * time.Millisecond)
			e.Status = 200 + random.IntN(3)*100
			if added%5 > 0 {
				e.Texts[requestlog.UserAuthID] = "ann"
			}
			e.Texts[requestlog.RequestDto] = fmt.Sprintf("%1000d", added)
			added++
		}
		appendEntries(t, file, entries)
	}
	add(0)
	add(0)
	compareLists(t, file, random, "in order")
	add(-3 * time.Second)
	add(-3 * time.Second)
	compareLists(t, file, random, "set back")

	const maxBytes = 1_300_000 // 320 anonymous entries exceed their quarter hardly
	pruneAll(t, file, maxBytes)
	if countRows(t, file, "Id <= 1600 AND UserAuthId IS NOT NULL") == 0 {
		t.Fatal("no entries are left")
	}
	compareLists(t, file, random, "pruned to its size")

	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	file = openLog(t, path)
	add(0)
	add(0)
	compareLists(t, file, random, "opened again")

	hasMore := true
	for hasMore {
		var err error
		hasMore, err = file.Prune(t.Context(), listStart.Add(80*time.Second), 0)
		if err != nil {
			t.Fatal(err)
		}
	}
	compareLists(t, file, random, "pruned by age")
	const ofDeleted = "EXISTS (SELECT 1 FROM WH_RequestLogLag WHERE LastId < (SELECT MIN(Id) FROM WH_RequestLog))"
	if n := countRows(t, file, ofDeleted); n != 0 {
		t.Error("the lag of deleted entries is still stored")
	}
}

// compareLists compares random lists.
func compareLists(t *testing.T, file *File, random *rand.Rand, when string) {
	t.Helper()
	for range 300 {
		plan := drawList(random)
		limits := func() executor.Limits { return executor.Limits{} }
		listed, err := file.Select(t.Context(), limits, plan)
		got := rowsOf(t, listed, err)
		general, err := executor.Select(t.Context(), file, limits, plan)
		want := rowsOf(t, general, err)
		if got != want {
			t.Fatalf("%s: with the conditions %+v, order %+v, skip %d, take %d\ngot  %s\nwant %s",
				when, plan.Where, plan.Order, plan.Skip, plan.Take, got, want)
		}
	}
}

// The sizes of random pages, and the numbers of skipped rows.
var (
	takes = []int64{0, 1, 7, 100, query.NoTake}
	skips = []int64{0, 0, 3, 500}
)

// extremes are the first and the last time that a condition can have.
var extremes = []string{"0001-01-01T00:00:00.0000000", "9999-12-31T23:59:59.9999999"}

// drawList returns the plan of a random list.
func drawList(random *rand.Rand) *query.Plan {
	kind, _ := record.System().Lookup("RequestLog")
	column, _ := kind.Column(timeColumn)
	status, _ := kind.Column("StatusCode")
	plan := &query.Plan{
		Kind:    kind,
		Columns: []int{kind.KeyField(), column},
		Take:    takes[random.IntN(len(takes))],
		Skip:    skips[random.IntN(len(skips))],
		Count:   random.IntN(2) == 0,
	}
	operators := []record.Operator{
		record.Equal, record.GreaterThan, record.GreaterThanOrEqualTo, record.LessThan,
		record.LessThanOrEqualTo, record.Between,
	}
	for range random.IntN(3) {
		operand := func() wire.Value {
			if i := random.IntN(10 * len(extremes)); i < len(extremes) {
				return wire.Value{Text: extremes[i]}
			}
			logged := listStart.Add(time.Duration(random.IntN(130_000)-5_000) * time.Millisecond)
			return wire.Value{Text: logged.Format(wire.DateLayout)}
		}
		c := query.Condition{
			Field:    column,
			Operator: operators[random.IntN(len(operators))],
			Operands: []wire.Value{operand()},
		}
		if c.Operator == record.Between {
			c.Operands = append(c.Operands, operand())
		}
		plan.Where = append(plan.Where, c)
	}
	if random.IntN(3) == 0 {
		plan.Where = append(plan.Where, query.Condition{
			Field:    status,
			Operator: record.GreaterThanOrEqualTo,
			Operands: []wire.Value{{Int: 400}},
		})
	}
	desc := random.IntN(2) == 0
	key := query.Order{Field: kind.KeyField(), Desc: desc}
	plan.Order = []query.Order{key}
	if random.IntN(2) == 0 {
		plan.Order = []query.Order{{Field: column, Desc: desc}, key}
	}
	return plan
}

// rowsOf returns the rows and the total of a result.
func rowsOf(t *testing.T, result *executor.Result, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	text := ""
	rows := int64(0)
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			break
		}
		rows++
		text += fmt.Sprintf("%d %s\n", cells[0].Int, cells[1].Text(record.DateTime))
	}
	tail, err := result.Tail(rows)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%stotal %d, %t", text, tail.Total, tail.Known)
}

// TestLogOfEarlierBuild checks the migration of a log of an earlier build.
func TestLogOfEarlierBuild(t *testing.T) {
	file := openLog(t, filepath.Join(t.TempDir(), appdb.LogFileName))
	entries := make([]requestlog.Entry, 10)
	for i := range entries {
		entries[i].At = listStart.Add(time.Duration(i) * time.Second)
	}
	entries[7].At = listStart // seven seconds after it, and six after the row before
	appendEntries(t, file, entries)
	err := file.write(t.Context(), func(conn *sqlite.Conn) error {
		return conn.Exec(`DELETE FROM WH_RequestLog WHERE Id IN (1, 4, 5);
DROP TABLE WH_RequestLogLag; DROP TABLE WH_RequestLogMissing; DROP TABLE WH_RequestLogLatest;
DELETE FROM WH_Migration WHERE version_id >= 2`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}

	file = openLog(t, file.path)
	for query, want := range map[string]int64{
		"SELECT Number FROM WH_RequestLogMissing":                 2,
		"SELECT LastId FROM WH_RequestLogMissing":                 10,
		"SELECT Lag / 10 FROM WH_RequestLogLag":                   600,
		"SELECT LastId FROM WH_RequestLogLag":                     10,
		"SELECT LastId FROM WH_RequestLogLatest":                  10,
		"SELECT substr(DateTime, 18, 2) FROM WH_RequestLogLatest": 14,
	} {
		err := file.read(t.Context(), func(conn *sqlite.Conn) error {
			got, _, err := conn.QueryInt(query)
			if got != want {
				t.Errorf("%s: got %d, want %d", query, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
