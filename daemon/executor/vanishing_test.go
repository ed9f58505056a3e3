package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// vanishing is a file that is like a server without row versioning: rows may vanish between the two
// reads of a statement, of the keys of a page and of its rows.
type vanishing struct {
	*File
	vanish [][2]int64 // the first and last ID of the rows that vanish in each statement with keys
	broken bool       // keys cannot be counted
}

func (f *vanishing) Session(ctx context.Context, kind *record.Kind, several bool) (Session, error) {
	s, err := f.File.Session(ctx, kind, several)
	return &vanishingSession{Session: s, file: f}, err
}

type vanishingSession struct {
	Session
	file *vanishing
}

func (*vanishingSession) consistent() bool { return false }

func (s *vanishingSession) run(st query.Statement, limit time.Duration) (row.Source, error) {
	isOfCount := strings.HasPrefix(st.SQL, "SELECT COUNT")
	if s.file.broken && isOfCount {
		return nil, errBroken
	}
	source, err := s.Session.run(st, limit)
	isOfKeys := strings.Contains(st.SQL, " IN (SELECT ID")
	if err != nil || !isOfKeys || len(s.file.vanish) == 0 {
		return source, err
	}
	ids := s.file.vanish[0]
	s.file.vanish = s.file.vanish[1:]
	remaining := new(fixedRows)
	for {
		cells, err := source.Next()
		if err != nil {
			return nil, err
		}
		if cells == nil {
			break
		}
		if id := cells[0].Int; id < ids[0] || id > ids[1] {
			remaining.rows = append(remaining.rows, slices.Clone(cells))
		}
	}
	source.Close()
	conn := s.Session.(*fileSession).conn
	return remaining, conn.Exec(fmt.Sprintf("DELETE FROM T WHERE ID BETWEEN %d AND %d", ids[0], ids[1]))
}

var errBroken = errors.New("the connection is broken")

// fixedRows are rows that have been read.
type fixedRows struct{ rows [][]row.Cell }

func (r *fixedRows) Next() ([]row.Cell, error) {
	if len(r.rows) == 0 {
		return nil, nil
	}
	cells := r.rows[0]
	r.rows = r.rows[1:]
	return cells, nil
}

func (*fixedRows) Close() error { return nil }

// byKeys returns a part of a page of T that first selects the keys of its rows.
func byKeys(part *query.Plan) *query.Plan {
	number := func(n int64) query.Arg {
		return query.Arg{Field: query.NoField, Type: record.Long, Value: wire.Value{Int: n}}
	}
	operators := map[record.Operator]string{record.Equal: "=", record.GreaterThan: ">"}
	keys := query.Fragment{SQL: "SELECT ID FROM T WHERE 1 = 1"}
	for _, c := range part.Where {
		keys.SQL += fmt.Sprintf(" AND %s %s ?", part.Kind.Fields[c.Field].Name, operators[c.Operator])
		keys.Args = append(keys.Args, number(c.Operands[0].Int))
	}
	var order []string
	for _, o := range part.Order {
		order = append(order, part.Kind.Fields[o.Field].Name)
	}
	keys.SQL += " ORDER BY " + strings.Join(order, ", ") + " LIMIT ?"
	keys.Args = append(keys.Args, number(part.Take))
	faster := *part
	faster.PageKeys = &keys
	return &faster
}

// TestRowsThatVanish checks that pages by cursor have all rows that remain although others vanish
// between the reads of a statement, and that no page looks like the last one because of them.
func TestRowsThatVanish(t *testing.T) {
	always := make([][2]int64, 0, 4*MaxAttempts)
	for i := range cap(always) {
		first := int64(4*i + 1)
		always = append(always, [2]int64{first, first + 3}) // all rows of a statement
	}
	for name, c := range map[string]struct {
		vanish [][2]int64
		want   string // IDs of the rows by page
	}{
		"none":                   {nil, "[[1 2 3] [4 5 6] [7 8 9] [10 11 12]]"},
		"all of a page":          {[][2]int64{{1, 4}}, "[[5 6 7] [8 9 10] [11 12]]"},
		"of two reads":           {[][2]int64{{1, 4}, {5, 8}}, "[[9 10 11] [12]]"},
		"a row of a page":        {[][2]int64{{2, 2}}, "[[1 3 4] [5 6 7] [8 9 10] [11 12]]"},
		"the first row":          {[][2]int64{{1, 1}}, "[[2 3 4] [5 6 7] [8 9 10] [11 12]]"},
		"the row after the page": {[][2]int64{{4, 4}}, "[[1 2 3] [5 6 7] [8 9 10] [11 12]]"},
		"of the second page":     {[][2]int64{{0, 0}, {4, 7}}, "[[1 2 3] [8 9 10] [11 12]]"},
		"the last rows":          {[][2]int64{{0, 0}, {0, 0}, {0, 0}, {10, 12}}, "[[1 2 3] [4 5 6] [7 8 9] []]"},
		"all rows":               {always, "[[]]"},
	} {
		file := &vanishing{vanish: c.vanish}
		file.File = NewFile(newTable(t, "CREATE TABLE T (ID int PRIMARY KEY); "+
			"INSERT INTO T VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)"),
			(*record.Kind).Source, nil, nil)
		if got := fmt.Sprint(pagesOfKeys(t, file)); got != c.want {
			t.Errorf("%s: got the pages %s, want %s", name, got, c.want)
		}
	}
}

// TestRowsThatVanishForLong checks that a page is read without keys if rows vanish again and again.
func TestRowsThatVanishForLong(t *testing.T) {
	file := &vanishing{}
	var rows []string
	for id := range 4 * (MaxAttempts + 3) {
		rows = append(rows, fmt.Sprintf("(%d)", id+1))
	}
	for i := range MaxAttempts + 2 {
		first := int64(4*i + 1)
		file.vanish = append(file.vanish, [2]int64{first, first + 3})
	}
	file.File = NewFile(newTable(t, "CREATE TABLE T (ID int PRIMARY KEY); INSERT INTO T VALUES "+
		strings.Join(rows, ", ")), (*record.Kind).Source, nil, nil)
	got := pagesOfKeys(t, file)
	if len(got) == 0 || len(got[0]) == 0 || got[0][0] != 4*MaxAttempts+1 {
		t.Errorf("got the pages %v, want the first one to start with the ID %d", got, 4*MaxAttempts+1)
	}
}

// TestRowsThatVanishInTwoParts checks that each part of the order of a page is read without keys if
// its rows vanish again and again, also if a part before it was.
func TestRowsThatVanishInTwoParts(t *testing.T) {
	const groupSize = 4 * (MaxAttempts + 3)
	file := &vanishing{vanish: [][2]int64{{0, 0}}} // none on the first page
	vanish := func(first, count int64) {
		file.vanish = append(file.vanish, [2]int64{first, first + count - 1})
	}
	// Of the first group, only the last row is there when it is read without keys.
	for i := range int64(MaxAttempts - 1) {
		vanish(4+4*i, 4)
	}
	vanish(4*MaxAttempts, groupSize-4*MaxAttempts)
	// Of the second group, the rows of more statements vanish than may be read with keys.
	for i := range int64(MaxAttempts + 2) {
		vanish(groupSize+1+3*i, 3)
	}
	var rows []string
	for id := range 2 * groupSize {
		rows = append(rows, fmt.Sprintf("(%d, %d)", id+1, id/groupSize))
	}
	file.File = NewFile(newTable(t, "CREATE TABLE T (ID int PRIMARY KEY, G int); INSERT INTO T VALUES "+
		strings.Join(rows, ", ")), (*record.Kind).Source, nil, nil)
	got := pagesOfKeys(t, file, "G")
	second := int64(groupSize + 3*MaxAttempts)
	want := []int64{groupSize, second + 1, second + 2}
	if len(got) < 2 || !slices.Equal(got[1], want) {
		t.Errorf("got the pages %v, want %v as the second one", got, want)
	}
}

// TestKeyCountError checks that a page has an error however often it is read if its keys cannot be
// counted: without the error, it would look like the last one.
func TestKeyCountError(t *testing.T) {
	file := &vanishing{vanish: [][2]int64{{1, 4}}, broken: true}
	file.File = NewFile(newTable(t, "CREATE TABLE T (ID int PRIMARY KEY); INSERT INTO T VALUES (1), (2), (3), (4), (5)"),
		(*record.Kind).Source, nil, nil)
	plan := planOfKeys(t, query.NewCursors([32]byte{}), kindOfKeys(t), nil, "")
	result, err := Select(t.Context(), file, func() Limits { return Limits{} }, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	for i := range 2 {
		cells, err := result.Next()
		if !errors.Is(err, errBroken) {
			t.Errorf("read %d: got the row %v and the error %v, want %v", i+1, cells, err, errBroken)
		}
	}
}

// pagesOfKeys returns the IDs of T by pages of three rows, each of which is read by keys. The rows
// are ordered by other fields, if there are any, and then by ID.
func pagesOfKeys(t *testing.T, file Database, before ...string) (pages [][]int64) {
	t.Helper()
	kind := kindOfKeys(t, before...)
	var order []query.Order
	for i := range before {
		order = append(order, query.Order{Field: i + 1})
	}
	cursors := query.NewCursors([32]byte{})
	cursor := ""
	for range 100 {
		ids, next := readPage(t, file, planOfKeys(t, cursors, kind, order, cursor))
		pages = append(pages, ids)
		if next == "" {
			return pages
		}
		cursor = next
	}
	t.Fatalf("the pages do not end: %v", pages)
	return nil
}

// kindOfKeys returns the kind of T, with other fields than the ID if there are any.
func kindOfKeys(t *testing.T, others ...string) *record.Kind {
	t.Helper()
	var fields []record.Field
	for _, name := range append([]string{"ID"}, others...) {
		fields = append(fields, record.Field{Name: name, Type: record.Int, Filter: record.OrderedFilter})
	}
	registry, err := record.NewRegistry(record.Kind{Name: "T", Fields: fields, Key: []string{"ID"}})
	if err != nil {
		t.Fatal(err)
	}
	return registry.Kinds()[0]
}

// planOfKeys returns the plan of a page of three rows that is read by keys, the first one without a
// cursor.
func planOfKeys(
	t *testing.T, cursors *query.Cursors, kind *record.Kind, order []query.Order, cursor string,
) *query.Plan {
	t.Helper()
	r := query.Request{Kind: kind, Order: order, Take: 3, Cursor: &cursor}
	var err error
	if cursor == "" {
		err = cursors.Start(&r, nil, kind.KeyFields())
	} else {
		err = cursors.Continue(&r, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	plan.FasterPart = byKeys
	return plan
}

// readPage returns the first cells of the rows of a page, and the cursor of the next one.
func readPage(t *testing.T, file Database, plan *query.Plan) (ids []int64, next string) {
	t.Helper()
	result, err := Select(t.Context(), file, func() Limits { return Limits{} }, plan)
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
	return ids, tail.Next
}
