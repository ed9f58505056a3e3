package executor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/row"
)

// mixedTable is the table T of a column V, which is the field Held, with the values that it holds.
type mixedTable struct {
	file   *executor.File
	kind   *record.Kind
	stored map[int64]any // by ID: nil, int64, float64, string or []byte
}

func newMixedTable(t *testing.T, declared string, held record.Field) *mixedTable {
	t.Helper()
	pool, conn := newFile(t)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(conn.Exec("CREATE TABLE T (ID INTEGER PRIMARY KEY, V " + declared + ")"))
	must(conn.Exec("CREATE INDEX TV ON T (V, ID)"))
	must(conn.Exec("BEGIN"))
	for i, v := range executortest.MixedValues {
		must(conn.Exec(fmt.Sprintf("INSERT INTO T VALUES (%d, %s)", i+1, v)))
	}
	must(conn.Exec("COMMIT"))
	m := &mixedTable{stored: make(map[int64]any)}
	var err error
	m.stored, err = executortest.StoredMixed(conn, "T", "V")
	must(err)
	if held.Blob != "" {
		executortest.UnpackGuids(m.stored, held.Blob)
	}
	pool.Put(conn)
	held.Name = "Held"
	held.Column = "V"
	m.kind = registered(t, record.Kind{Name: "T", Key: []string{"ID"}, Fields: []record.Field{
		{Name: "ID", Type: record.Long, Filter: record.OrderedFilter},
		held,
	}})
	m.file = executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	return m
}

// read returns the IDs and values of the rows of a request, and the cursor of the next page.
func (m *mixedTable) read(t *testing.T, r query.Request) (ids []int64, values []string, next string) {
	t.Helper()
	r.Kind = m.kind
	if r.Cursor != nil {
		if err := setPlace(&r, []int{0}); err != nil {
			t.Fatal(err)
		}
	}
	tail, err := eachRow(t, m.file, r, func(cells []row.Cell) {
		ids = append(ids, cells[0].Int)
		values = append(values, m.valueText(cells[1]))
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, values, tail.Next
}

// valueText returns the text of a cell of the field Held, in the form of ReadMixed.
func (m *mixedTable) valueText(cell row.Cell) string {
	if cell.Misfit {
		return "text " + string(cell.Data)
	}
	if cell.Null {
		return "null"
	}
	return cell.Text(m.kind.Fields[1].Type)
}

// everyMixed calls check with a table for each type of a column and of a field.
func everyMixed(
	t *testing.T, check func(t *testing.T, m *mixedTable, declared string, fieldType record.Type),
) {
	for _, declared := range executortest.MixedColumns {
		for _, held := range executortest.MixedFields() {
			if strings.HasSuffix(declared, "DEC") && held.Type != record.Decimal {
				continue // its order and its equality are those of decimals
			}
			t.Run(declared+" as "+held.Type.String()+string(held.Blob), func(t *testing.T) {
				check(t, newMixedTable(t, declared, held), declared, held.Type)
			})
		}
	}
}

// TestMixedValues checks that a value of any storage class is returned as stored.
func TestMixedValues(t *testing.T) {
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		ids, values, _ := m.read(t, query.Request{Take: query.NoTake, Order: []query.Order{{Field: 0}}})
		for i, id := range ids {
			if _, want := executortest.ReadMixed(fieldType, m.stored[id]); values[i] != want {
				t.Errorf("%v (%T) is shown as %q, want %q", m.stored[id], m.stored[id], values[i], want)
			}
		}
		if len(ids) != len(executortest.MixedValues) {
			t.Errorf("got %d rows, want %d", len(ids), len(executortest.MixedValues))
		}
	})
}

// TestMixedConditions checks that a condition is met by the values that can be read as the type of
// its field, and its negation by all others.
func TestMixedConditions(t *testing.T) {
	cases := 0
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		fold := func(text string) string { return text }
		if strings.Contains(declared, "NOCASE") {
			fold = strings.ToLower
		}
		texts := executortest.MixedOperands[fieldType]
		for _, op := range append(record.Operators(), record.IsNull, record.IsNotNull) {
			if !comparesMixed(op, fieldType) {
				continue
			}
			for i, text := range texts {
				operands := []string{text}
				if op == record.In || op == record.Between {
					operands = append(operands, texts[(i+1)%len(texts)])
				}
				m.checkCondition(t, op, operands, fold)
				cases += 2
			}
		}
	})
	t.Logf("%d conditions", cases)
}

// comparesMixed reports whether an operator is tested for a type.
func comparesMixed(op record.Operator, fieldType record.Type) bool {
	switch op {
	case record.Like:
		return false
	case record.In:
		return fieldType.Filter() != record.EqualFilter
	case record.StartsWith, record.EndsWith, record.Contains:
		return fieldType == record.Text
	case record.GreaterThan, record.GreaterThanOrEqualTo, record.LessThan, record.LessThanOrEqualTo, record.Between:
		return fieldType != record.Bool && fieldType != record.Guid && fieldType != record.Bytes
	}
	return true
}

// checkCondition compares the rows that a condition on the field Held finds, and those that its
// negation finds, with MeetsMixed.
func (m *mixedTable) checkCondition(
	t *testing.T, op record.Operator, texts []string, fold func(string) string,
) {
	t.Helper()
	fieldType := m.kind.Fields[1].Type
	c := query.Condition{Field: 1, Operator: op}
	var operands []executortest.MixedValue
	for _, text := range texts {
		v, err := wire.ParseValue(fieldType, text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		c.Operands = append(c.Operands, v)
		operands = append(operands, executortest.MixedOperand(fieldType, v))
	}

	found := m.find(t, c)
	foundByNegation := m.find(t, query.Not(c))
	for id, stored := range m.stored {
		want := executortest.MeetsMixed(fieldType, stored, op, operands, fold)
		if got := slices.Contains(found, id); got != want {
			t.Errorf("%v %v %v: found is %v, want %v", stored, op, texts, got, want)
		}
		if got := slices.Contains(foundByNegation, id); got == want {
			t.Errorf("not %v %v %v: found is %v, want %v", stored, op, texts, got, !want)
		}
	}
}

// find returns the IDs of the rows that meet a condition.
func (m *mixedTable) find(t *testing.T, c query.Condition) []int64 {
	t.Helper()
	ids, _, _ := m.read(t, query.Request{Take: query.NoTake, Where: []query.Condition{c}})
	return ids
}

// TestMixedPages checks that pages by cursor have each row once, in the order of one read.
func TestMixedPages(t *testing.T) {
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		operand, err := wire.ParseValue(fieldType, executortest.MixedOperands[fieldType][0], time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		for _, desc := range []bool{false, true} {
			r := query.Request{Order: []query.Order{{Field: 1, Desc: desc}}}
			for _, take := range []int64{3, 16} {
				if n := m.checkPages(t, r, take); n != len(executortest.MixedValues) {
					t.Fatalf("one read has %d rows, want %d", n, len(executortest.MixedValues))
				}
			}
			for _, op := range []record.Operator{
				record.GreaterThan,
				record.LessThanOrEqualTo,
				record.IsNull,
				record.IsNotNull,
			} {
				r.Where = []query.Condition{{Field: 1, Operator: op, Operands: []wire.Value{operand}}}
				m.checkPages(t, r, 16)
			}
		}
	})
}

// checkPages compares the rows of a request by pages with those of one read. It returns the number
// of rows.
func (m *mixedTable) checkPages(t *testing.T, r query.Request, take int64) int {
	t.Helper()
	cursor := ""
	r.Cursor = &cursor
	r.Take = query.NoTake
	want, _, _ := m.read(t, r)

	r.Take = take
	var got []int64
	for len(got) <= 2*len(executortest.MixedValues) {
		ids, _, next := m.read(t, r)
		got = append(got, ids...)
		if next == "" {
			break
		}
		cursor = next
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages of %d rows, where %+v, in the order %+v:\ngot  %v\nwant %v", take, r.Where, r.Order, got, want)
	}
	return len(want)
}
