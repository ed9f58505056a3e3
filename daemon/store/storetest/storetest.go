// Package storetest is the conformance suite of the stores: what every store
// must answer, whatever database is underneath.
package storetest

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/store"
)

// Opener opens an empty store that is closed and removed when the test ends.
type Opener func(t *testing.T, registry *record.Registry) *store.Store

// Run runs the suite of records against the stores that open makes, and says
// how many queries that were.
func Run(t *testing.T, open Opener, can Capabilities, part Part) {
	s := &suite{open: open, can: can, values: can.edges(), part: part, ranks: make(map[record.Type]map[string]int), kinds: make(map[string]stored)}
	if can.Collation {
		s.learnOrder(t, record.Text, record.S)
	}
	if can.GuidOrder {
		s.learnOrder(t, record.Guid, record.G)
	}
	s.fill(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"Differential", differential},
		{"LongLists", longLists},
		{"Totals", totals},
		{"Paging", paging},
		{"Aggregates", aggregates},
		{"RoundTrip", roundTrip},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
	t.Logf("%d queries", s.queries)
}

// suite is the suite on its way through one kind of store.
type suite struct {
	open     Opener
	can      Capabilities
	part     Part
	registry *record.Registry
	store    *store.Store
	values   map[record.Type][]any          // the edge values of each type
	ranks    map[record.Type]map[string]int // the order of values, where the store has one of its own
	kinds    map[string]stored
	queries  int
}

// fill opens the store that all tests read, with the edge rows of every kind.
func (s *suite) fill(t *testing.T) {
	t.Helper()
	var err error
	if s.registry, err = s.part.registry(); err != nil {
		t.Fatal(err)
	}
	s.store = s.open(t, s.registry)
	rows := func(k *record.Kind) iter.Seq[[]any] { return slices.Values(s.edgeRows(k)) }
	filled, err := s.store.Fill(context.Background(), s.registry.Kinds(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if filled.Changed != 0 {
		t.Fatalf("%d values were changed", filled.Changed)
	}
}

// ask parses, plans and runs a request, and collects its rows as texts.
func (s *suite) ask(t *testing.T, opened *store.Store, kind *record.Kind, members query.Members) ([]string, executor.Tail) {
	t.Helper()
	s.queries++
	req, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	plan, err := query.NewPlan(req, true)
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	result, err := opened.Select(t.Context(), plan)
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	defer result.Close()
	var rows []string
	types := plan.Types()
	for {
		cells, err := result.Next()
		if err != nil {
			t.Fatalf("%s %v: %v", kind.Name, members, err)
		}
		if cells == nil {
			break
		}
		rows = append(rows, cellsText(cells, types))
	}
	tail, err := result.Tail(int64(len(rows)))
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	return rows, tail
}

func member(name string, texts ...string) query.Member {
	return query.Member{Name: name, Texts: texts, List: len(texts) != 1}
}
