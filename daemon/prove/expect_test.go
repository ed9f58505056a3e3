package prove

import (
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/erp/erptest"
	"github.com/bizhook/whd/daemon/executor/executortest"
)

// TestExpectations runs the filters that the checks derive from rows on the values of package
// erptest. Where the evaluation without a database is certain, it must agree with the suite for
// records.
func TestExpectations(t *testing.T) {
	for fieldType, family := range map[record.Type]record.Family{
		record.Text:     record.TextFilter,
		record.Int:      record.OrderedFilter,
		record.Long:     record.OrderedFilter,
		record.Decimal:  record.OrderedFilter,
		record.DateTime: record.OrderedFilter,
		record.Bool:     record.EqualFilter,
		record.Bytes:    record.EqualFilter,
		record.Guid:     record.GuidFilter,
	} {
		t.Run(fieldType.String(), func(t *testing.T) { checkExpectations(t, fieldType, family) })
	}
}

func checkExpectations(t *testing.T, fieldType record.Type, family record.Family) {
	kind := &record.Kind{Fields: []record.Field{{Name: "F", Type: fieldType, Filter: family}}}
	stored := append([]any{nil}, erptest.Edges(fieldType)...)
	certain := 0
	for first := range stored {
		// The operands are taken from the first rows.
		edges := append(stored[first:len(stored):len(stored)], stored[:first]...)
		rows := make([][]value, len(edges))
		for i, v := range edges {
			rows[i] = []value{valueOf(t, fieldType, v)}
		}
		table := &table{kind: kind, rows: rows}
		for _, c := range table.filters() {
			if fieldType == record.Bytes && len(c.Operands) == 1 && len(c.Operands[0].Bytes) == 0 {
				continue // the suite takes it for a member without a value
			}
			operands := make([]any, len(c.Operands))
			for i, o := range c.Operands {
				operands[i] = storedOf(fieldType, o)
			}
			for i, v := range edges {
				got := matches(fieldType, c, rows[i][0])
				if got == unknown {
					continue
				}
				certain++
				if want := known(erptest.Matches(fieldType, v, c.Operator, operands)); got != want {
					t.Errorf("%v %q of %q: got %d, want %d", c.Operator, operands, v, got, want)
				}
			}
		}
	}
	t.Logf("%d comparisons are certain", certain)
	if certain == 0 {
		t.Error("no comparison is certain")
	}
}

// valueOf returns a stored value as it is read from a row.
func valueOf(t *testing.T, fieldType record.Type, stored any) value {
	t.Helper()
	if stored == nil {
		return value{null: true}
	}
	v, err := wire.ParseValue(fieldType, executortest.OperandText(stored), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return value{Value: v}
}

// storedOf returns an operand in the form of stored values.
func storedOf(fieldType record.Type, v wire.Value) any {
	if fieldType == record.Bytes {
		return v.Bytes
	}
	if fieldType == record.Bool || fieldType.Integer() {
		return v.Int
	}
	return v.Text
}
