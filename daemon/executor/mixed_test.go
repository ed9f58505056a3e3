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
	registry, err := record.NewRegistry(record.Kind{Name: "T", Key: []string{"ID"}, Fields: []record.Field{
		{Name: "ID", Type: record.Long, Filter: record.OrderedFilter},
		held,
	}})
	must(err)
	m.kind = registry.Kinds()[0]
	m.file = executor.NewFile(pool, (*record.Kind).Source, nil, nil)
	return m
}

// read returns the IDs and values of the rows of a request, and the cursor of the next page.
func (m *mixedTable) read(t *testing.T, r query.Request) (ids []int64, values []string, next string) {
	t.Helper()
	cursors := query.NewCursors([32]byte{})
	r.Kind = m.kind
	var err error
	if r.Cursor != nil && *r.Cursor == "" {
		err = cursors.Start(&r, nil, []int{0})
	} else if r.Cursor != nil {
		err = cursors.Continue(&r, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, err := query.NewPlan(&r, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := executor.Select(t.Context(), m.file, func() executor.Limits { return executor.Limits{} }, plan)
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
		text := "null"
		if c := cells[1]; c.Misfit {
			text = "text " + string(c.Data)
		} else if !c.Null {
			text = c.Text(m.kind.Fields[1].Type)
		}
		ids, values = append(ids, cells[0].Int), append(values, text)
	}
	tail, err := result.Tail(int64(len(ids)))
	if err != nil {
		t.Fatal(err)
	}
	return ids, values, tail.Next
}

// everyMixed calls check with a table for each type of a column and of a field.
func everyMixed(t *testing.T, check func(t *testing.T, m *mixedTable, declared string, fieldType record.Type)) {
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

// TestMixedValues: a value of any storage class is returned as stored.
func TestMixedValues(t *testing.T) {
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		ids, values, _ := m.read(t, query.Request{Take: query.NoTake, Order: []query.Order{{Field: 0}}})
		for i, id := range ids {
			if _, want := executortest.ReadMixed(fieldType, m.stored[id]); values[i] != want {
				t.Errorf("%v (%T): got %q, want %q", m.stored[id], m.stored[id], values[i], want)
			}
		}
		if len(ids) != len(executortest.MixedValues) {
			t.Errorf("%d rows", len(ids))
		}
	})
}

// TestMixedConditions: a condition is met by the values that can be read as the type of its
// field, its negation by all others.
func TestMixedConditions(t *testing.T) {
	cases := 0
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		fold := func(text string) string { return text }
		if strings.Contains(declared, "NOCASE") {
			fold = strings.ToLower
		}
		texts := executortest.MixedOperands[fieldType]
		for _, op := range append(record.Operators(), record.IsNull, record.IsNotNull) {
			isText := op == record.StartsWith || op == record.EndsWith || op == record.Contains
			isOrder := op >= record.GreaterThanOrEqualTo && op <= record.LessThanOrEqualTo || op == record.Between
			hasOrder := fieldType != record.Bool && fieldType != record.Guid && fieldType != record.Bytes
			hasIn := fieldType.Filter() != record.EqualFilter
			if op == record.Like || op == record.In && !hasIn {
				continue
			}
			if isText && fieldType != record.Text || isOrder && !hasOrder {
				continue
			}
			for i := range texts {
				lists := [][]string{{texts[i]}}
				if op == record.In || op == record.Between {
					lists = [][]string{{texts[i], texts[(i+1)%len(texts)]}}
				}
				for _, list := range lists {
					c := query.Condition{Field: 1, Operator: op}
					var operands []executortest.MixedValue
					for _, text := range list {
						v, err := wire.ParseValue(fieldType, text, time.UTC)
						if err != nil {
							t.Fatal(err)
						}
						c.Operands = append(c.Operands, v)
						operands = append(operands, executortest.MixedOperand(fieldType, v))
					}
					for _, condition := range []query.Condition{c, query.Not(c)} {
						cases++
						ids, _, _ := m.read(t, query.Request{Take: query.NoTake, Where: []query.Condition{condition}})
						for id, stored := range m.stored {
							negated := condition.Negated || condition.Operator != op
							want := executortest.MeetsMixed(fieldType, stored, op, operands, fold) != negated
							if got := slices.Contains(ids, id); got != want {
								t.Errorf("%v %v %v, negated %v: found %v, want %v", stored, op, list, negated, got, want)
							}
						}
					}
				}
			}
		}
	})
	t.Logf("%d conditions", cases)
}

// TestMixedPages: pages by cursor have each row once, in the order of one read.
func TestMixedPages(t *testing.T) {
	everyMixed(t, func(t *testing.T, m *mixedTable, declared string, fieldType record.Type) {
		operand, err := wire.ParseValue(fieldType, executortest.MixedOperands[fieldType][0], time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		filters := [][]query.Condition{nil}
		for _, op := range []record.Operator{record.GreaterThan, record.LessThanOrEqualTo, record.IsNull, record.IsNotNull} {
			filters = append(filters, []query.Condition{{Field: 1, Operator: op, Operands: []wire.Value{operand}}})
		}
		for i, where := range filters {
			for _, desc := range []bool{false, true} {
				for _, take := range []int64{3, 16}[min(i, 1):] {
					r := query.Request{Order: []query.Order{{Field: 1, Desc: desc}}, Take: query.NoTake, Where: where}
					first := ""
					r.Cursor = &first
					want, _, _ := m.read(t, r)
					if i == 0 && len(want) != len(executortest.MixedValues) {
						t.Fatalf("one read has %d rows", len(want))
					}
					r.Take = take
					var got []int64
					for next := ""; ; {
						r.Cursor = &next
						ids, _, following := m.read(t, r)
						got = append(got, ids...)
						if following == "" || len(got) > 2*len(executortest.MixedValues) {
							break
						}
						next = following
					}
					if !slices.Equal(got, want) {
						t.Errorf("filter %d, descending %v, %d at a time:\ngot  %v\nwant %v", i, desc, take, got, want)
					}
				}
			}
		}
	})
}
