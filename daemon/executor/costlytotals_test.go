package executor

import (
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/query"
)

// costlyRows are more rows than can be counted within costlySteps.
const (
	costlyRows  = 1000
	costlySteps = 500
)

// page returns the tail of a page with a filter that all rows match.
func (f *countFile) page(take int64, total query.TotalMode) Tail {
	f.Helper()
	plan, err := query.NewPlan(&query.Request{
		Kind: f.kind, Take: take, Total: total,
		Where: []query.Condition{{Field: 0, Operator: record.LessThan, Operands: []wire.Value{{Int: 5}}}},
	}, true)
	if err != nil {
		f.Fatal(err)
	}
	result, err := Select(f.Context(), f, func() Limits { return Limits{PageSteps: costlySteps} }, plan)
	if err != nil {
		f.Fatal(err)
	}
	defer result.Close()
	rows := int64(0)
	for cells, err := result.Next(); cells != nil || err != nil; cells, err = result.Next() {
		if err != nil {
			f.Fatal(err)
		}
		rows++
	}
	tail, err := result.Tail(rows)
	if err != nil {
		f.Fatal(err)
	}
	return tail
}

// TestCostlyTotal checks that a total that was not requested is only counted within the limit,
// and that one that was requested is counted, and then known.
func TestCostlyTotal(t *testing.T) {
	f := openCountFile(t, record.RecordsDB)
	f.exec(insert(costlyRows))
	f.exec("CREATE TABLE Unrelated (N INTEGER)") // the log exists while a connection is open

	for range 2 {
		got := f.page(1, query.TotalDefault)
		if got.Known || !got.TooCostly || got.Total != 0 || len(got.Meta) != 1 || got.Meta[0].Name != "Total" {
			t.Errorf("a page without a requested total has %+v, want no total and a notice", got)
		}
	}
	for name, take := range map[string]int64{"Take=0": 0, "Include=Total": 1} {
		total := query.TotalDefault
		if take > 0 {
			total = query.TotalOn
		}
		got := f.page(take, total)
		if !got.Known || got.Total != costlyRows {
			t.Errorf("%s: got %+v, want the total %d", name, got, costlyRows)
		}
	}
	got := f.page(1, query.TotalDefault)
	if !got.Known || got.Total != costlyRows {
		t.Errorf("after a requested total, a page has %+v, want the total %d", got, costlyRows)
	}
}

// TestCostlyTotalOfOwnKind checks that the total of a kind with totals that are not remembered is
// not counted again and again.
func TestCostlyTotalOfOwnKind(t *testing.T) {
	f := openCountFile(t, record.AppDB)
	f.exec(insert(costlyRows))
	for range 2 {
		if got := f.page(1, query.TotalDefault); !got.TooCostly {
			t.Errorf("the page has %+v, want no total", got)
		}
	}
	if n := f.remember.costly.Len(); n != 1 {
		t.Errorf("%d statements are known to be costly, want 1", n)
	}
	if got := f.page(1, query.TotalOn); got.Total != costlyRows {
		t.Errorf("a page with Include=Total has %+v, want the total %d", got, costlyRows)
	}
}

// TestCostlyCountIsNotRepeated checks that attempt does not execute a statement that has recently
// exceeded its limit.
func TestCostlyCountIsNotRepeated(t *testing.T) {
	totals := newTotals()
	st := query.Statement{SQL: "SELECT COUNT(*) FROM t"}
	executions := 0
	exceed := func() (int64, error) {
		executions++
		return 0, fault.New(fault.Timeout, "too many steps")
	}
	for range 3 {
		if _, err := totals.attempt(st, exceed); !fault.Is(err, fault.Timeout) {
			t.Errorf("a count over the limit returned %v, want a timeout", err)
		}
	}
	if executions != 1 {
		t.Errorf("the statement was executed %d times, want once", executions)
	}
	st.SQL = "SELECT COUNT(*) FROM u"
	if n, err := totals.attempt(st, func() (int64, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("another count returned %d, %v, want 7", n, err)
	}
}
