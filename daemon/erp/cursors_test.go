package erp_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/sqlite"
	"github.com/bizhook/whd/daemon/storage"
	"github.com/bizhook/whd/daemon/storage/storagetest"
)

// cursors is a store with kinds of few values, so that many rows are equal in an order.
type cursors struct {
	*storage.Store
	registry *record.Registry       // of the tables
	exec     func(statement string) // executes a statement of another program
	added    int                    // number of added rows
}

// few are the values of types; nil is null. Some are equal in an order though their texts differ.
var few = map[record.Type][]any{
	record.Text:     {nil, "", "a", "A", "a ", "b", "é", "100%", "O'Brien"},
	record.Int:      {nil, int64(-1), int64(0), int64(7)},
	record.Decimal:  {nil, "0", "1", "1.0", "-2.5", "1234567890.1234"},
	record.DateTime: {nil, "2019-05-01T10:11:12.1230000", "2019-05-01T10:11:12.1240000"},
	record.Bool:     {nil, int64(0), int64(1)},
	record.Guid: {
		nil,
		"0f8fad5b-d9cb-469f-a165-70867728950e",
		"0f8fad5b-d9cb-469f-a165-70867728950f",
		"ffffffff-d9cb-469f-a165-708677289500",
	},
	record.Bytes:  {nil, []byte("a"), []byte("a\x00"), []byte("b")},
	record.Double: {nil, "0.1", "1e+300", "-3"},
}

// fewTypes are the types of few, in the order of the fields.
var fewTypes = []record.Type{
	record.Text, record.Int, record.Decimal, record.DateTime, record.Bool, record.Guid, record.Bytes, record.Double,
}

// cursorRegistry returns kinds with fields that hold nulls, and are declared to have them
// or not.
func cursorRegistry(t *testing.T, null record.Nullability) *record.Registry {
	t.Helper()
	fieldsAfter := func(key ...record.Field) []record.Field {
		fields := key
		for _, fieldType := range fewTypes {
			fields = append(fields, record.Field{
				Name:   strings.TrimSuffix(fieldType.String(), "[]") + "s",
				Type:   fieldType,
				Filter: filterOf(fieldType),
				Null:   null,
			})
		}
		return fields
	}
	no := record.Field{Name: "No", Type: record.Int, Filter: record.OrderedFilter, Null: record.NotNull}
	code := record.Field{Name: "Code", Type: record.Text, Filter: record.TextFilter, Null: record.NotNull}
	single := code
	single.Null = null
	registry, err := record.NewRegistry(
		record.Kind{Name: "Single", Key: []string{"Code"}, Fields: fieldsAfter(single)},
		record.Kind{Name: "Pair", Key: []string{"Code", "No"}, Fields: fieldsAfter(code, no)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// seed adds rows with every value of each type.
func (c *cursors) seed(t *testing.T) {
	t.Helper()
	_, err := c.Seed(t.Context(), c.registry.Kinds(), func(kind *record.Kind) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for n := range cursorRows {
				if !yield(cursorRow(kind, n)) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// cursorRows is the number of rows of each kind.
const cursorRows = 40

// cursorRow returns row n of a kind. The keys are not in the order of the rows, and the values of the
// fields are mixed so that neighbours of one order differ in another.
func cursorRow(kind *record.Kind, n int) []any {
	row := []any{fmt.Sprintf("k%02d", n*7%cursorRows)}
	if n == 3 {
		row[0] = nil
	}
	if kind.Name == "Pair" {
		row = []any{string("abA"[n%3]) + strings.Repeat(" ", n%2), int64(n)}
	}
	for i, fieldType := range fewTypes {
		values := few[fieldType]
		row = append(row, values[n*(i+1)/(1+n%4)%len(values)])
	}
	return row
}

// marker starts the codes of rows that are added and deleted between pages.
const marker = "k1x"

// add adds a row with values of its own.
func (c *cursors) add(t *rapid.T, kind *record.Kind) {
	c.added++
	values := []string{"'" + marker + strconv.Itoa(c.added) + "'"}
	for _, f := range kind.Fields[1:] {
		candidates := slices.Delete(slices.Clone(few[f.Type]), 1, 2)
		v := rapid.SampledFrom(candidates).Draw(t, "value")
		text := "NULL"
		switch v := v.(type) {
		case string:
			text = "'" + strings.ReplaceAll(v, "'", "''") + "'"
		case int64:
			text = strconv.FormatInt(v, 10)
		}
		if f.Name == "No" {
			text = strconv.Itoa(c.added)
		}
		values = append(values, text)
	}
	names := strings.Join(kind.FieldNames(), "], [")
	c.exec(fmt.Sprintf("INSERT INTO [%s] ([%s]) VALUES (%s)", kind.Name, names, strings.Join(values, ", ")))
}

// deleteAdded deletes the added rows of a kind.
func (c *cursors) deleteAdded(kind *record.Kind) {
	c.exec("DELETE FROM [" + kind.Name + "] WHERE [Code] LIKE '" + marker + "%'")
}

// page reads a page. It returns the seeded rows among its rows, the number of all its rows, and the
// cursor of the next page.
func (c *cursors) page(t *rapid.T, r query.Request, cursor string) (rows []string, read int, next string) {
	r.Cursor = &cursor
	path := r.Where
	r.Where = nil
	if err := c.SetPlace(t.Context(), &r, path); err != nil {
		t.Fatal(err)
	}
	r.Where = slices.Concat(r.Where, r.Place.Path)
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	all, tail := executortest.Read(t, c.Store, plan)
	for _, row := range all {
		if !strings.Contains(row, marker) {
			rows = append(rows, row)
		}
	}
	return rows, len(all), tail.Next
}

// check reads pages of generated orders while rows are added and deleted, and compares them
// with one read of all rows.
func (c *cursors) check(t *testing.T) {
	c.seed(t)
	kinds := append(c.registry.Kinds(), cursorRegistry(t, record.NotNull).Kinds()...)
	pageCount := 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		r := drawOrdered(t, kind)
		c.deleteAdded(kind)
		want, _, _ := c.page(t, r, "")
		r.Take = rapid.Int64Range(1, 9).Draw(t, "take")
		got, pages := c.readPages(t, r)
		pageCount += pages
		if !slices.Equal(got, want) {
			t.Fatalf("%s by %v, where %v, %d at a time: got %d rows, want %d\ngot  %s\nwant %s",
				kind.Name, r.Order, r.Where, r.Take, len(got), len(want),
				strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	})
	t.Logf("%d pages", pageCount)
}

// drawOrdered generates a request for all rows of a kind in the order of up to three fields. If one
// of them is a decimal, the request may have a condition on it.
func drawOrdered(t *rapid.T, kind *record.Kind) query.Request {
	field := rapid.IntRange(0, len(kind.Fields)-1)
	fieldAfterFirst := rapid.IntRange(1, len(kind.Fields)-1)
	r := query.Request{Kind: kind, Take: query.NoTake}
	for _, f := range rapid.SliceOfNDistinct(field, 0, 3, rapid.ID).Draw(t, "order") {
		r.Order = append(r.Order, query.Order{Field: f, Desc: rapid.Bool().Draw(t, "desc")})
	}
	r.Fields = []int{0}
	r.Fields = append(r.Fields, rapid.SliceOfNDistinct(fieldAfterFirst, 0, 2, rapid.ID).Draw(t, "fields")...)

	isDecimal := func(o query.Order) bool { return kind.Fields[o.Field].Type == record.Decimal }
	decimal := slices.IndexFunc(r.Order, isDecimal)
	if decimal < 0 || !rapid.Bool().Draw(t, "filter") {
		return r
	}
	operators := []record.Operator{
		record.GreaterThan, record.LessThanOrEqualTo, record.Between, record.NotEqualTo, record.IsNull,
	}
	w := query.Condition{
		Field:    r.Order[decimal].Field,
		Operator: rapid.SampledFrom(operators).Draw(t, "operator"),
	}
	switch w.Operator {
	case record.IsNull:
	case record.Between:
		w.Operands = []wire.Value{{Text: "0"}, {Text: "2"}}
	default:
		w.Operands = []wire.Value{{Text: "0"}}
	}
	r.Where = []query.Condition{w}
	return r
}

// readPages reads all pages of a request, and adds or deletes rows between them. It returns the
// seeded rows, and the number of pages.
func (c *cursors) readPages(t *rapid.T, r query.Request) (rows []string, pages int) {
	cursor := ""
	for {
		seeded, read, next := c.page(t, r, cursor)
		rows = append(rows, seeded...)
		pages++
		if next == "" {
			return rows, pages
		}
		if read != int(r.Take) {
			t.Fatalf("page %d has %d rows, want %d", pages, read, r.Take)
		}
		cursor = next
		switch rapid.IntRange(0, 3).Draw(t, "change by another program") {
		case 0:
			c.add(t, r.Kind)
		case 1:
			c.deleteAdded(r.Kind)
		}
	}
}

func TestCursorsSQLite(t *testing.T) {
	dir := t.TempDir()
	registry := cursorRegistry(t, record.Nullable)
	s, err := storage.Open(t.Context(), storage.Config{Dir: dir, Registry: registry, Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(filepath.Join(dir, storage.RecordsFile), sqlite.Options{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &cursors{Store: s, registry: registry, exec: func(statement string) {
		if err := conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}}
	c.check(t)
}

func TestCursorsSQLServer(t *testing.T) {
	dsn := mssqltest.Database(t)
	registry := cursorRegistry(t, record.Nullable)
	s := storagetest.Open(t, storage.Config{ERP: erp.Config{DSN: dsn}, Registry: registry})
	db := s.Records.Server().Pool.DB()
	c := &cursors{Store: s, registry: registry, exec: func(statement string) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}}
	c.check(t)
}
