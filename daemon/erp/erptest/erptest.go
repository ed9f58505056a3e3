// Package erptest is the conformance suite for ERP records, run against each kind of
// database.
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

// Opener opens an empty store, which is closed and removed when the test ends.
type Opener func(t *testing.T, registry *record.Registry) *storage.Store

// Run runs the suite for records against stores opened by open, and logs the number of
// queries.
func Run(t *testing.T, open Opener, caps Capabilities, part Part) {
	s := &suite{
		open:   open,
		caps:   caps,
		values: caps.edges(),
		part:   part,
		ranks:  make(map[record.Type]map[string]int),
		rows:   make(map[string]edgeRows),
	}
	if caps.Collation {
		s.readOrder(t, record.Text, record.TextFilter)
	}
	if caps.GuidOrder {
		s.readOrder(t, record.Guid, record.GuidFilter)
	}
	s.seed(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"Differential", differential},
		{"Conventions", conventions},
		{"LongLists", longLists},
		{"Trees", trees},
		{"Totals", totals},
		{"Paging", paging},
		{"Aggregates", aggregates},
		{"Groups", groups},
		{"RoundTrip", roundTrip},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
	t.Logf("%d queries", s.queries)
}

// suite is the state of a run.
type suite struct {
	open     Opener
	caps     Capabilities
	part     Part
	registry *record.Registry
	store    *storage.Store
	values   map[record.Type][]any          // the edge values of each type
	ranks    map[record.Type]map[string]int // the database's order of values, if it differs from ours
	rows     map[string]edgeRows            // by kind
	queries  int
}

// seed opens the store used by all tests and inserts the edge rows of every kind.
func (s *suite) seed(t *testing.T) {
	t.Helper()
	var err error
	if s.registry, err = s.part.registry(); err != nil {
		t.Fatal(err)
	}
	s.store = s.open(t, s.registry)
	rows := func(k *record.Kind) iter.Seq[[]any] { return slices.Values(s.rowsOf(k).stored) }
	seeded, err := s.store.Seed(context.Background(), s.registry.Kinds(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if seeded.Changed != 0 {
		t.Fatalf("%d values were changed", seeded.Changed)
	}
}

// run runs a query and returns its rows as texts.
func (s *suite) run(
	t *testing.T, opened *storage.Store, kind *record.Kind, members query.Members,
) ([]string, executor.Tail) {
	t.Helper()
	s.queries++
	return executortest.Run(t, opened, kind, members)
}

// Short names of functions that all tests use.
var (
	member      = executortest.Member
	rowText     = executortest.RowText
	operandText = executortest.OperandText
)
