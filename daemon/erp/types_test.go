package erp_test

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/encode"
	"github.com/bizhook/whd/daemon/encode/encodetest"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
)

// typedKind has the number of the row, followed by a field for each type of column that
// occurs in an ERP's tables.
func typedKind(t *testing.T) *record.Kind { return typedRegistry(t).Kinds()[0] }

func typedRegistry(t *testing.T) *record.Registry {
	t.Helper()
	kind := record.Kind{Name: "Typed", Fields: []record.Field{
		{Name: "No", Type: record.Int, Filter: record.OrderedFilter, Null: record.NotNull},
	}}
	for _, c := range typedColumns {
		kind.Fields = append(kind.Fields, record.Field{
			Name:   c.name,
			Type:   c.of,
			Filter: filterOf(c.of),
			Null:   record.Nullable,
		})
	}
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func filterOf(t record.Type) record.Family {
	if t == record.Double || t == record.TimeSpan {
		return record.OrderedFilter
	}
	return record.EqualFilter
}

// typedRows returns one row more than the longest column has values. Missing values are
// null, so that each column has a null. side selects the stored or returned values.
func typedRows(side func(typedValue) any) [][]any {
	longest := 0
	for _, c := range typedColumns {
		longest = max(longest, len(c.values)+1)
	}
	rows := make([][]any, longest)
	for i := range rows {
		rows[i] = []any{int64(i + 1)}
		for _, c := range typedColumns {
			var v any
			if i < len(c.values) {
				v = side(c.values[i])
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}

// openTyped opens an embedded file with the rows.
func openTyped(t *testing.T, rows [][]any) *storage.Store {
	t.Helper()
	registry := typedRegistry(t)
	s := openSQLite(t, registry)
	rowsOf := func(*record.Kind) iter.Seq[[]any] { return slices.Values(rows) }
	if _, err := s.Load(t.Context(), registry.Kinds(), rowsOf); err != nil {
		t.Fatal(err)
	}
	return s
}

// eachReply calls check for all formats, with nulls omitted and included.
func eachReply(check func(name string, f encode.Format, nulls bool)) {
	for _, f := range encode.Formats() {
		if f.Name == "xlsx" {
			continue // the longest texts do not fit into a cell; TestExportsReadBack reads workbooks
		}
		check(f.Name, f, false)
		check(f.Name+" with nulls", f, true)
	}
}

// replyOf returns the encoded reply to a query for all rows.
func replyOf(t *testing.T, s *storage.Store, f encode.Format, nulls bool) []byte {
	t.Helper()
	kind := typedKind(t)
	result := answer(t, s, kind, query.Member{Name: query.OrderBy, Texts: []string{"No"}})
	defer result.Close()
	shape := encode.Shape{Operation: kind.Operation(), Record: kind.Name, Nulls: nulls}
	for _, field := range kind.Fields {
		shape.Columns = append(shape.Columns, encode.Column{Name: field.Name, Type: field.Type})
	}
	e := f.New(shape)
	body := e.Begin(nil, encode.Head{})
	count := int64(0)
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatal(err)
		}
		if cells == nil {
			break
		}
		body = e.Row(body, cells)
		count++
	}
	tail, err := result.Tail(count)
	if err != nil {
		t.Fatal(err)
	}
	return e.End(body, encode.Tail{Total: tail.Total})
}

// answer returns the result of a query with members.
func answer(t *testing.T, s *storage.Store, kind *record.Kind, members ...query.Member) *executor.Result {
	t.Helper()
	request, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(request, true)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Select(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// checkReply decodes a reply with a decoder that shares no code with the encoder and
// compares each value with rows.
func checkReply(t *testing.T, name string, f encode.Format, body []byte, rows [][]any) {
	t.Helper()
	for _, d := range encodetest.Differences(f.Name, body, typedKind(t), rows) {
		t.Errorf("%s: %s", name, d)
	}
}

// checkFinds filters by every value as returned and expects its row in the result.
func checkFinds(t *testing.T, s *storage.Store, rows [][]any) {
	t.Helper()
	kind := typedKind(t)
	for _, values := range rows {
		for i, field := range kind.Fields {
			text := encodetest.Text(field.Type, values[i])
			if values[i] == nil || len(text) > 1<<20 {
				continue
			}
			if !slices.Contains(numbersWhere(t, s, kind, field.Name, text), values[0].(int64)) {
				t.Errorf("row %d is not found by its %s, %s", values[0], field.Name, encodetest.Short(text))
			}
		}
	}
}

// checkOrdered compares the doubles and times of day with each value by all operators that
// need an order, and in a list that is passed as one parameter.
func checkOrdered(t *testing.T, s *storage.Store, rows [][]any) {
	t.Helper()
	kind := typedKind(t)
	for i, field := range kind.Fields {
		if field.Filter != record.OrderedFilter || i == 0 {
			continue
		}
		var texts []string
		for _, values := range rows {
			if values[i] == nil {
				continue
			}
			text := encodetest.Text(field.Type, values[i])
			texts = append(texts, text)
			for suffix, signs := range orderOperators {
				want := numbersOf(rows, func(row []any) bool {
					return row[i] != nil && strings.Contains(signs, signOf(row[i], values[i]))
				})
				if got := numbersWhere(t, s, kind, field.Name+suffix, text); !slices.Equal(got, want) {
					t.Errorf("%s %s %s: got rows %v, want %v", field.Name, signs, text, got, want)
				}
			}
		}
		got := numbersWhere(t, s, kind, field.Name+"In", slices.Repeat(texts, 60)...)
		if len(got) != len(texts) {
			t.Errorf("%s in a list of all values: got %d rows, want %d", field.Name, len(got), len(texts))
		}
	}
}

// orderOperators are the suffixes of operators that need an order, with the signs that they accept.
var orderOperators = map[string]string{
	"GreaterThan":          ">",
	"GreaterThanOrEqualTo": ">=",
	"LessThan":             "<",
	"LessThanOrEqualTo":    "<=",
	"NotEqualTo":           "<>",
}

// numbersOf returns the numbers of the rows that meet a condition.
func numbersOf(rows [][]any, isWanted func(row []any) bool) []int64 {
	var numbers []int64
	for _, row := range rows {
		if isWanted(row) {
			numbers = append(numbers, row[0].(int64))
		}
	}
	return numbers
}

// signOf returns how two values of the same type compare.
func signOf(a, b any) string {
	sign := 0
	if x, ok := a.(float64); ok {
		sign = cmp.Compare(x, b.(float64))
	} else {
		sign = cmp.Compare(a.(int64), b.(int64))
	}
	switch sign {
	case -1:
		return "<"
	case 0:
		return "="
	}
	return ">"
}

// numbersWhere returns the numbers of the rows that match a filter.
func numbersWhere(t *testing.T, s *storage.Store, kind *record.Kind, name string, texts ...string) []int64 {
	t.Helper()
	result := answer(t, s, kind,
		query.Member{Name: name, Texts: texts, List: len(texts) > 1},
		query.Member{Name: query.Fields, Texts: []string{"No"}},
	)
	defer result.Close()
	var numbers []int64
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatalf("%s %s: %v", name, encodetest.Short(texts[0]), err)
		}
		if cells == nil {
			slices.Sort(numbers)
			return numbers
		}
		numbers = append(numbers, cells[0].Int)
	}
}

// TestTypesSQLite: the embedded file returns every value as stored, in every format, and
// finds it by a filter.
func TestTypesSQLite(t *testing.T) {
	rows := typedRows(stored)
	s := openTyped(t, rows)
	eachReply(func(name string, f encode.Format, nulls bool) {
		checkReply(t, name, f, replyOf(t, s, f, nulls), rows)
	})
	checkFinds(t, s, rows)
	checkOrdered(t, s, rows)
}
