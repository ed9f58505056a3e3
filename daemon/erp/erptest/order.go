package erptest

import (
	"iter"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// readOrder reads the order of a type's values from the database and gives equal values
// the same rank. All other results must agree with it.
func (s *suite) readOrder(t *testing.T, valueType record.Type, family record.Family) {
	t.Helper()
	kind := record.Kind{
		Name: "Order_of_" + valueType.String(),
		Fields: []record.Field{
			{Name: "Value", Column: "The value", Type: valueType, Filter: family, Null: record.NotNull},
		},
	}
	registry, err := record.NewRegistry(kind)
	if err != nil {
		t.Fatal(err)
	}
	opened := s.open(t, registry)
	_, err = opened.Seed(t.Context(), registry.Kinds(), func(*record.Kind) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for _, v := range s.values[valueType] {
				if !yield([]any{v}) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := s.run(t, opened, registry.Kinds()[0], query.Members{member(query.OrderBy, "Value")})
	ranks := make(map[string]int)
	last := ""
	for _, row := range rows {
		isOfRow := func(v any) bool { return rowText([]any{v}) == row }
		i := slices.IndexFunc(s.values[valueType], isOfRow)
		if i < 0 {
			t.Fatalf("%s was not stored", row)
		}
		text := equalText(valueType, s.values[valueType][i])
		if _, hasRank := ranks[text]; hasRank && text != last {
			t.Errorf("equal values of %s are not adjacent: %q", valueType, rows)
		}
		if text != last || len(ranks) == 0 {
			ranks[text] = len(ranks)
		}
		last = text
	}
	s.ranks[valueType] = ranks
}
