// Package storetest is the conformance suite of the stores: what every store
// must answer, whatever database is underneath.
package storetest

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/query"
	"github.com/bizhook/whd/daemon/store"
)

// Opener opens an empty store that is closed and removed when the test ends.
type Opener func(t *testing.T, registry *record.Registry) *store.Store

// Run runs the whole suite against the stores that open makes.
func Run(t *testing.T, open Opener) {
	t.Run("Differential", func(t *testing.T) { differential(t, open) })
	t.Run("Totals", func(t *testing.T) { totals(t, open) })
	t.Run("Paging", func(t *testing.T) { paging(t, open) })
	t.Run("Aggregates", func(t *testing.T) { aggregates(t, open) })
	t.Run("RoundTrip", func(t *testing.T) { roundTrip(t, open) })
}

// filled is a store with the edge rows of every kind.
func filled(t *testing.T, open Opener) (*store.Store, *record.Registry) {
	t.Helper()
	registry := record.Builtin()
	s := open(t, registry)
	rows := func(k *record.Kind) iter.Seq[[]any] {
		return func(yield func([]any) bool) {
			for _, r := range edgeRows(k) {
				if !yield(r) {
					return
				}
			}
		}
	}
	if _, err := s.Load(context.Background(), registry.Kinds(), rows); err != nil {
		t.Fatal(err)
	}
	return s, registry
}

// ask parses, plans and runs a request, and collects its rows as texts.
func ask(t *testing.T, s *store.Store, kind *record.Kind, members query.Members) ([]string, store.Tail) {
	t.Helper()
	req, err := query.Parse(kind, members, query.Options{Zone: time.UTC})
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	plan, err := query.NewPlan(req, true)
	if err != nil {
		t.Fatalf("%s %v: %v", kind.Name, members, err)
	}
	result, err := s.Select(t.Context(), plan)
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
