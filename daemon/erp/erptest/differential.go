package erptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
)

// differential filters every field with every suffix and every edge operand, and compares
// the rows with those found by the naive implementation.
func differential(t *testing.T, s *suite) {
	cases := 0
	for _, kind := range s.registry.Kinds() {
		for i, f := range kind.Fields {
			for _, op := range f.Filter.Operators() {
				for _, operands := range s.operandLists(f.Type, op) {
					cases++
					s.check(t, kind, i, f.Name+op.Suffix(), op, operands)
				}
			}
		}
	}
	t.Logf("%d cases, every field x suffix x edge operand", cases)
}

// conventions filters one field of each type and family by every implicit convention, and
// compares the rows with those found by the naive implementation.
func conventions(t *testing.T, s *suite) {
	type group struct {
		of     record.Type
		family record.Family
		null   record.Nullability
	}
	cases := 0
	done := make(map[group]bool)
	for _, kind := range s.registry.Kinds() {
		for i, f := range kind.Fields {
			g := group{f.Type, f.Filter, f.Null}
			if done[g] {
				continue
			}
			done[g] = true
			for _, c := range record.Conventions() {
				if !f.Filter.Allows(c.Operator) {
					continue
				}
				lists := s.operandLists(f.Type, c.Operator)
				for _, name := range spellings(f.Name, c.Names) {
					// About three of the lists, from another one each time.
					for j := cases % 3; j < len(lists); j += 1 + len(lists)/3 {
						cases++
						s.check(t, kind, i, name, c.Operator, lists[j])
					}
				}
			}
		}
	}
	t.Logf("%d cases of %d types and families", cases, len(done))
}

// spellings returns the names of a field's members by an implicit convention.
func spellings(field string, names []string) (members []string) {
	for _, name := range names {
		if before, ok := strings.CutSuffix(name, "%"); ok {
			members = append(members, strings.TrimPrefix(before, "%")+field)
		}
		if after, ok := strings.CutPrefix(name, "%"); ok {
			members = append(members, field+strings.TrimSuffix(after, "%"))
		}
	}
	return members
}

// check runs a query with one condition and compares its rows with those that match.
func (s *suite) check(t *testing.T, kind *record.Kind, field int, name string, op record.Operator, operands []any) {
	t.Helper()
	f := kind.Fields[field]
	texts := make([]string, len(operands))
	for i, o := range operands {
		texts[i] = operandText(o)
	}
	isList := op.Arity() == record.Two || op.Arity() == record.Many
	got, _ := s.run(t, s.store, kind, query.Members{{Name: name, Texts: texts, List: isList}})
	excess := make(map[string]int) // by row: number of returned rows, less those that match
	for _, row := range got {
		excess[row]++
	}
	rows := s.rowsOf(kind)
	for i, values := range rows.stored {
		row := rows.texts[i]
		isWanted := s.matches(f.Type, values[field], op, operands)
		switch {
		case !s.caps.supports(op, operands[0], values[field]):
			excess[row] = 0
		case isWanted && excess[row] == 0:
			t.Errorf("%s.%s %.200q is missing %q", kind.Name, name, texts, values[field])
		case !isWanted && excess[row] > 0:
			t.Errorf("%s.%s %.200q wrongly returns %q", kind.Name, name, texts, values[field])
		case isWanted:
			excess[row]--
		}
	}
	for row, n := range excess {
		if n > 0 {
			t.Errorf("%s.%s %.200q returns an unknown or duplicate row: %s", kind.Name, name, texts, row)
		}
	}
}

// operandLists returns the lists of operands to test an operator with.
func (s *suite) operandLists(t record.Type, op record.Operator) [][]any {
	values := s.values[t]
	var lists [][]any
	switch op.Arity() {
	case record.One:
		for _, v := range append(slices.Clone(values), s.caps.patterns(op)...) {
			lists = append(lists, []any{v})
		}
	case record.Two:
		step := 1 + len(values)/9 // for at most nine bounds on each side
		for i := 0; i < len(values); i += step {
			for j := 0; j < len(values); j += step {
				lists = append(lists, []any{values[i], values[j]})
			}
		}
	case record.Many:
		withDuplicate := []any{values[1], values[2], values[1]}
		lists = append(lists, values, values[:1], values[len(values)-1:], withDuplicate)
	case record.None:
		lists = append(lists, []any{"a value that is ignored"})
	}
	return lists
}

// patterns returns operands with wildcards, for Like only.
func (caps Capabilities) patterns(op record.Operator) []any {
	if op != record.Like {
		return nil
	}
	patterns := []any{
		"%", "%%", "a%", "%b", "%B%", "_", "__", "a_c", "[abc]", "[a-c]%", "[^a-c]%", "%[%]",
		"[_]", "a[_]c", "[[]%", "]", "[]", "[^]", "[]a]", "[a", "a[",
		"[a-", "[-a]", "[c-a]", "%é", "%É%", "[à-ý]", "日_", "_語", "😀%", "a ",
		"%ab ", "% ", "[Α-Ω]", "%[0-9]%", "%\x00%",
	}
	return slices.DeleteFunc(patterns, func(v any) bool { return !caps.holds(v) })
}

// longLists filters by lists that are too long to be sent as separate parameters.
func longLists(t *testing.T, s *suite) {
	for _, kind := range s.registry.Kinds() {
		for i, f := range kind.Fields {
			if f.Filter.Allows(record.In) {
				s.check(t, kind, i, f.Name+"In", record.In, s.longList(f.Type))
			}
		}
	}
}

// longList returns every other edge value, followed by values that match no row.
func (s *suite) longList(t record.Type) []any {
	var operands []any
	for i, v := range s.values[t] {
		if i%2 == 0 {
			operands = append(operands, v)
		}
	}
	for n := range 300 {
		operands = append(operands, unmatched(t, n))
	}
	return operands
}

// unmatched returns value n of a type that no row has.
func unmatched(t record.Type, n int) any {
	switch {
	case t == record.Decimal:
		return "0.123" + strconv.Itoa(n+100)
	case t == record.DateTime:
		return fmt.Sprintf("2031-01-02T03:04:05.%03d0000", n)
	case t == record.Guid:
		return fmt.Sprintf("%08x-d9cb-469f-a165-70867728950e", n+100)
	case t == record.Text:
		return "strange " + strconv.Itoa(n)
	}
	return int64(20 + n%100) // not an edge value of any type
}
