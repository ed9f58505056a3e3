// Package erptest is the conformance suite of the records of the ERP: what every
// database must answer that they are in.
package erptest

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/executor"
	"github.com/bizhook/whd/daemon/executor/executortest"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/storage"
)

// Opener opens an empty store that is closed and removed when the test ends.
type Opener func(t *testing.T, registry *record.Registry) *storage.Store

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
	store    *storage.Store
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
	filled, err := s.store.Seed(context.Background(), s.registry.Kinds(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if filled.Changed != 0 {
		t.Fatalf("%d values were changed", filled.Changed)
	}
}

// ask runs a request and collects its rows as texts.
func (s *suite) ask(t *testing.T, opened *storage.Store, kind *record.Kind, members query.Members) ([]string, executor.Tail) {
	t.Helper()
	s.queries++
	return executortest.Ask(t, opened, kind, members)
}

var member, rowText, operandText = executortest.Member, executortest.RowText, executortest.OperandText
