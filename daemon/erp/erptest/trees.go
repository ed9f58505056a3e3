package erptest

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
)

// trees filters by generated trees of conditions, and compares the rows with those found by
// the naive implementation: a comparison with null is false, and its negation true.
func trees(t *testing.T, s *suite) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(s.registry.Kinds()).Draw(t, "kind")
		tree := s.drawTree(t, kind, 3)
		request := query.Request{Kind: kind, Where: []query.Condition{tree.condition}, Take: query.NoTake}
		if rapid.Bool().Draw(t, "page") { // which may use an index
			request.Take = 1000
		}
		second := s.drawTree(t, kind, 0)
		matches := tree.matches
		if rapid.Bool().Draw(t, "and") {
			request.Where = append(request.Where, second.condition)
			matches = func(r []any) bool { return tree.matches(r) && second.matches(r) }
		}
		plan, err := query.NewPlan(&request, true)
		if err != nil {
			t.Fatal(err)
		}
		got, tail := executortest.Read(t, s.store, plan)
		var want []string
		for i, r := range s.rowsOf(kind).stored {
			if matches(r) {
				want = append(want, s.rowsOf(kind).texts[i])
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || tail.Total != int64(len(want)) {
			t.Fatalf("%+v: got %d rows and total %d, want %d", request.Where, len(got), tail.Total, len(want))
		}
	})
}

// tree is a condition with its naive implementation.
type tree struct {
	condition query.Condition
	matches   func(row []any) bool
}

// drawTree draws a tree of at most a depth.
func (s *suite) drawTree(t *rapid.T, kind *record.Kind, depth int) tree {
	join := query.Leaf
	if depth > 0 {
		join = rapid.SampledFrom([]query.Join{query.Leaf, query.And, query.Or}).Draw(t, "join")
	}
	var drawn tree
	if join == query.Leaf {
		drawn = s.drawLeaf(t, kind)
	} else {
		drawn = s.drawJoin(t, kind, join, depth)
	}
	if rapid.Bool().Draw(t, "not") {
		matches := drawn.matches
		return tree{query.Not(drawn.condition), func(r []any) bool { return !matches(r) }}
	}
	return drawn
}

// drawJoin draws a join of up to three trees.
func (s *suite) drawJoin(t *rapid.T, kind *record.Kind, join query.Join, depth int) tree {
	drawn := tree{condition: query.Condition{Join: join}}
	parts := make([]tree, rapid.IntRange(0, 3).Draw(t, "parts"))
	for i := range parts {
		parts[i] = s.drawTree(t, kind, depth-1)
		drawn.condition.Parts = append(drawn.condition.Parts, parts[i].condition)
	}
	isOr := join == query.Or
	drawn.matches = func(r []any) bool {
		// A part that is true decides an Or, and one that is false an And.
		decides := func(part tree) bool { return part.matches(r) == isOr }
		return slices.ContainsFunc(parts, decides) == isOr
	}
	return drawn
}

// drawLeaf draws a comparison of any field.
func (s *suite) drawLeaf(t *rapid.T, kind *record.Kind) tree {
	for {
		field := rapid.IntRange(0, len(kind.Fields)-1).Draw(t, "field")
		f := kind.Fields[field]
		op := rapid.SampledFrom(record.Operators()).Draw(t, "operator")
		if !f.Filter.Allows(op) {
			continue
		}
		operands := rapid.SampledFrom(s.operandLists(f.Type, op)).Draw(t, "operands")
		unsupported := func(r []any) bool { return !s.caps.supports(op, operands[0], r[field]) }
		isNotGiven := f.Type == record.Bytes && operandText(operands[0]) == ""
		if isNotGiven || slices.ContainsFunc(s.rowsOf(kind).stored, unsupported) {
			continue
		}
		c := query.Condition{Field: field, Operator: op}
		for _, o := range operands {
			if op.Arity() == record.None {
				break
			}
			v, err := wire.ParseValue(f.Type, operandText(o), time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			c.Operands = append(c.Operands, v)
		}
		return tree{c, func(r []any) bool { return s.matches(f.Type, r[field], op, operands) }}
	}
}
