package storetest

import (
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// differential runs every field with every suffix and every edge operand, and
// compares the rows with a naive evaluation over the same rows.
func differential(t *testing.T, open Opener) {
	s, registry := filled(t, open)
	cases := 0
	for _, kind := range registry.Kinds() {
		rows := edgeRows(kind)
		for i, f := range kind.Fields {
			for _, op := range f.Filter.Operators() {
				for _, operands := range operandLists(f.Type, op) {
					cases++
					texts := make([]string, len(operands))
					for j, o := range operands {
						texts[j] = operandText(o)
					}
					got, _ := ask(t, s, kind, query.Members{{Name: f.Name + op.Suffix(), Texts: texts, List: op.Arity() != record.One}})
					var want []string
					for _, r := range rows {
						if matches(f.Type, r[i], op, operands) {
							want = append(want, valuesText(r))
						}
					}
					slices.Sort(got)
					slices.Sort(want)
					if !slices.Equal(got, want) {
						t.Errorf("%s.%s%s %q:\n got %q\nwant %q", kind.Name, f.Name, op.Suffix(), texts, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d cases, every field x suffix x edge operand", cases)
}

// operandLists are the lists of operands that an operator is tried with.
func operandLists(t record.Type, op record.Operator) [][]any {
	values := edges[t]
	var lists [][]any
	switch op.Arity() {
	case record.One:
		for _, v := range append(slices.Clone(values), patterns(op)...) {
			lists = append(lists, []any{v})
		}
	case record.Two:
		for i := 0; i < len(values); i += 1 + len(values)/9 {
			for j := 0; j < len(values); j += 1 + len(values)/9 {
				lists = append(lists, []any{values[i], values[j]})
			}
		}
	case record.Many:
		lists = append(lists, values, values[:1], values[len(values)-1:], append(slices.Clone(values[1:3]), values[1]))
	}
	return lists
}

// patterns are operands that only Like understands as more than text.
func patterns(op record.Operator) []any {
	if op != record.Like {
		return nil
	}
	return []any{
		"%", "%%", "a%", "%b", "%B%", "_", "__", "a_c", "[abc]", "[a-c]%", "[^a-c]%", "%[%]", "[_]", "a[_]c", "[[]%", "]", "[]", "[^]", "[]a]", "[a", "a[",
		"[a-", "[-a]", "[c-a]", "%é", "%É%", "[à-ý]", "日_", "_語", "😀%", "a ", "%ab ", "% ", "[Α-Ω]", "%[0-9]%", "%\x00%",
	}
}
