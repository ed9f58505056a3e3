package executor

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
)

// countFile is a file with one table of numbers.
type countFile struct {
	*testing.T
	*File
	path string
	kind *record.Kind
}

func openCountFile(t *testing.T, database record.Database) *countFile {
	registry, err := record.NewRegistry(record.Kind{
		Name:     "Numbers",
		Database: database,
		Fields:   []record.Field{{Name: "N", Type: record.Int, Filter: record.OrderedFilter}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &countFile{T: t, path: filepath.Join(t.TempDir(), "records.db"), kind: registry.Kinds()[0]}
	f.exec("CREATE TABLE Numbers (N INTEGER)")
	pool, err := sqlite.NewPool(f.path, sqlite.Options{BusyTimeout: time.Minute}, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	f.File = NewFile(pool, (*record.Kind).Source, nil, nil)
	return f
}

// exec runs a statement on a connection of its own. If it is the only connection, the
// write-ahead log is removed.
func (f *countFile) exec(sql string) {
	conn, err := sqlite.Open(f.path, sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		f.Error(err)
		return
	}
	defer conn.Close()
	if err := conn.Exec(sql); err != nil {
		f.Errorf("%s: %v", sql, err)
	}
}

// read returns the total of a page, and the result of COUNT(*) in the same snapshot. between
// runs between the page and the total.
func (f *countFile) read(below int64, between func()) (total, counted int64) {
	isBelow := query.Condition{Field: 0, Operator: record.LessThan, Operands: []wire.Value{{Int: below}}}
	plan, err := query.NewPlan(&query.Request{
		Kind:    f.kind,
		Take:    1,
		Total:   query.TotalOn,
		Where:   []query.Condition{isBelow},
		Include: []query.Aggregate{{Function: query.Count, Field: query.AllRows, Name: "COUNT(*)"}},
	}, true)
	if err != nil {
		f.Fatal(err)
	}
	result, err := Select(f.Context(), f, func() Limits { return Limits{} }, plan)
	if err != nil {
		f.Fatal(err)
	}
	defer result.Close()
	rows := int64(0)
	for {
		cells, err := result.Next()
		if err != nil {
			f.Fatal(err)
		}
		if cells == nil {
			break
		}
		rows++
	}
	between()
	tail, err := result.Tail(rows)
	if err != nil {
		f.Fatal(err)
	}
	counted, err = strconv.ParseInt(tail.Meta[0].Value, 10, 64)
	if err != nil {
		f.Fatal(err)
	}
	return tail.Total, counted
}

// insert returns a statement that inserts n rows.
func insert(n int) string {
	return "INSERT INTO Numbers VALUES " + strings.TrimSuffix(strings.Repeat("(1), ", n), ", ")
}

func nothing() {}

// TestTotalIsRemembered replaces remembered totals by an impossible one, to see where they are used.
func TestTotalIsRemembered(t *testing.T) {
	const remembered = -7
	const insertAndDelete = "INSERT INTO Numbers VALUES (1); " +
		"DELETE FROM Numbers WHERE rowid = (SELECT max(rowid) FROM Numbers)"
	for _, c := range []struct {
		name     string
		database record.Database
		below    int64  // filter of the second query; that of the first is 5
		change   string // statement between the queries
		within   string // statement between the page and the total of the second query
		want     int64
	}{
		{"no change", record.RecordsDB, 5, "", "", remembered},
		{"checkpoint", record.RecordsDB, 5, "PRAGMA wal_checkpoint(PASSIVE)", "", remembered},
		{"change and back", record.RecordsDB, 5, insertAndDelete, "", 3},
		{"change", record.RecordsDB, 5, insert(1), "", 4},
		{"later change", record.RecordsDB, 5, "", insert(1), remembered},
		{"other filter", record.RecordsDB, 6, "", "", 3},
		{"own kind", record.AppDB, 5, "", "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := openCountFile(t, c.database)
			f.exec(insert(3))
			if total, _ := f.read(5, nothing); total != 3 {
				t.Fatalf("the total of the first query is %d, want 3", total)
			}
			f.replaceTotals(remembered)
			f.exec(c.change)
			if total, _ := f.read(c.below, func() { f.exec(c.within) }); total != c.want {
				t.Errorf("the total of the second query is %d, want %d", total, c.want)
			}
		})
	}
}

// replaceTotals replaces the remembered totals, which are those of the present content.
func (f *countFile) replaceTotals(total int64) {
	var keys []string
	f.remember.known.DeleteFunc(func(key string, _ knownTotal) bool {
		keys = append(keys, key)
		return false
	})
	for _, key := range keys {
		known := knownTotal{total: total, content: f.content(), countedAt: time.Now()}
		f.remember.known.Set(key, known, time.Now())
	}
}

// TestTotalWithoutLog checks that a total is counted again after the log of the file was removed:
// the file may have changed since.
func TestTotalWithoutLog(t *testing.T) {
	f := openCountFile(t, record.RecordsDB)
	f.Pool.Close()
	for want := range int64(3) {
		pool, err := sqlite.NewPool(f.path, sqlite.Options{BusyTimeout: time.Minute}, 4)
		if err != nil {
			t.Fatal(err)
		}
		f.Pool = pool
		if total, _ := f.read(5, nothing); total != want {
			t.Errorf("the total is %d, want %d", total, want)
		}
		f.Pool.Close()
		f.exec(insert(1))
	}
}

func (f *countFile) content() string {
	session, err := f.Session(f.Context(), f.kind, true)
	if err != nil {
		f.Fatal(err)
	}
	defer session.close()
	return session.content()
}

// TestRememberedTotalsAreExact reads totals while connections of the pool and others
// write and reset the log, and reads hold older snapshots.
func TestRememberedTotalsAreExact(t *testing.T) {
	f := openCountFile(t, record.RecordsDB)
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		exec := f.exec
		if w == 0 {
			exec = f.execInPool
		}
		writers.Go(func() { write(rand.New(rand.NewPCG(1, uint64(w))), stop, exec) })
	}
	for r := range 3 {
		readers.Go(func() {
			dice := rand.New(rand.NewPCG(2, uint64(r)))
			for range 1500 {
				total, counted := f.read(5, func() {
					if dice.IntN(20) == 0 {
						time.Sleep(time.Duration(dice.IntN(5000)) * time.Microsecond) // others see newer rows
					}
				})
				if total != counted {
					t.Errorf("the total is %d, but %d rows were counted", total, counted)
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
}

// write executes random statements at random times until stop is closed.
func write(random *rand.Rand, stop <-chan struct{}, exec func(sql string)) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(random.IntN(2000)) * time.Microsecond):
		}
		statements := []string{
			insert(1 + random.IntN(5)),
			"DELETE FROM Numbers WHERE rowid % 3 = 0",
			"BEGIN; " + insert(2) + "; ROLLBACK",
			"PRAGMA wal_checkpoint(TRUNCATE)",
		}
		exec(statements[random.IntN(len(statements))])
	}
}

// execInPool runs a statement on a connection of the pool.
func (f *countFile) execInPool(sql string) {
	conn, err := f.Pool.Get(f.Context())
	if err != nil {
		f.Error(err)
		return
	}
	defer f.Pool.Put(conn)
	if err := conn.Exec(sql); err != nil {
		f.Errorf("%s: %v", sql, err)
	}
}

// TestTotalsOfServer checks that without contents, a total is remembered for the time of the
// settings.
func TestTotalsOfServer(t *testing.T) {
	remembered := newTotals()
	st := query.Statement{SQL: "SELECT COUNT(*)"}
	n := int64(0)
	count := func() (int64, error) {
		n++
		return n, nil
	}
	for i, c := range []struct {
		maxAge         time.Duration
		want           int64
		wantRemembered bool
	}{
		{maxAge: 0, want: 1},
		{maxAge: 0, want: 2},
		{maxAge: time.Hour, want: 3},
		{maxAge: time.Hour, want: 3, wantRemembered: true},
		{maxAge: time.Nanosecond, want: 4},
		{maxAge: 0, want: 5},
	} {
		total, age, err := remembered.count(st, "", c.maxAge, count)
		if isRemembered := age > 0; err != nil || total != c.want || isRemembered != c.wantRemembered {
			t.Errorf("total %d with a maximum age of %v: got %d of age %v (%v), want %d, remembered %v",
				i+1, c.maxAge, total, age, err, c.want, c.wantRemembered)
		}
	}
}

// TestTotalsAreBounded checks that neither many filters nor long ones need much memory.
func TestTotalsAreBounded(t *testing.T) {
	remembered := newTotals()
	for n := range int64(3 * maxTotals) {
		count := func() (int64, error) { return n, nil }
		for _, text := range []string{"a", strings.Repeat("a", maxTotalKey)} {
			arg := query.Arg{Value: wire.Value{Int: n, Text: text}}
			st := query.Statement{SQL: "SELECT COUNT(*)", Args: []query.Arg{arg}}
			total, _, err := remembered.count(st, "content", 0, count)
			if total != n || err != nil {
				t.Fatalf("the total of filter %d with %d bytes is %d (%v), want %d", n, len(text), total, err, n)
			}
		}
	}
	if n := remembered.known.Len(); n != maxTotals {
		t.Errorf("%d totals are remembered, want %d", n, maxTotals)
	}
}

// TestTotalsOfArguments checks that statements with other arguments have totals of their own.
func TestTotalsOfArguments(t *testing.T) {
	list := func(texts ...string) query.Arg {
		var a query.Arg
		for _, text := range texts {
			a.List = append(a.List, wire.Value{Text: text})
		}
		return a
	}
	text := func(text string) query.Arg { return query.Arg{Value: wire.Value{Text: text}} }
	remembered := newTotals()
	for i, args := range [][]query.Arg{
		nil,
		{text("")},
		{text("a")},
		{text("a"), text("")},
		{text(""), text("a")},
		{text(`a"`)},
		{text("a\x00")},
		{{Value: wire.Value{Int: 1}}},
		{{Value: wire.Value{Bytes: []byte("a")}}},
		{list("a")},
		{list("a", "b")},
		{list("a"), text("b")},
		{list("a,b")},
		{list("a"), list("b")},
	} {
		count := func() (int64, error) { return int64(i), nil }
		for range 2 {
			total, _, err := remembered.count(query.Statement{SQL: "S", Args: args}, "content", 0, count)
			if total != int64(i) || err != nil {
				t.Errorf("the total of the arguments %d is that of the arguments %d (%v)", i, total, err)
			}
		}
	}
}
