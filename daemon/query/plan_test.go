package query

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

var inUTC = Options{Zone: time.UTC}

// TestPlanTotal checks that the total derived from a page is right, and known unless
// the page does not determine it.
func TestPlanTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(0, 20)
		matches := number.Draw(t, "matches")
		p := Plan{Skip: number.Draw(t, "skip"), Take: NoTake}
		if rapid.Bool().Draw(t, "paged") {
			p.Take = number.Draw(t, "take")
		}
		rows := max(0, matches-p.Skip)
		if p.Take != NoTake {
			rows = min(rows, p.Take)
		}
		if rapid.Bool().Draw(t, "keys") {
			p.PageKeys = &Fragment{}
		}
		total, known := p.Total(rows)
		isFull := p.Take != NoTake && (rows == p.Take || p.PageKeys != nil)
		isBeyond := p.Skip > 0 && rows == 0
		isShort := rows < p.Take && p.PageKeys != nil && (rows > 0 || p.Skip == 0)
		if isShort != p.Counts(rows) {
			t.Fatalf("counted is %v", !isShort)
		}
		if known == (isFull || isBeyond) {
			t.Fatalf("known is %v", known)
		}
		if known && total != matches {
			t.Fatalf("total is %d", total)
		}
		if whole := !p.Paged(); whole && !known {
			t.Fatal("unknown although all rows were read")
		}
	})
}

// TestPlanOrder checks that a request's order is kept, and completed if there is an
// order or a page, so that the order of rows is unique.
func TestPlanOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		members := drawMembers(t, kind)
		request, err := Parse(kind, members, inUTC)
		if err != nil {
			t.Fatalf("%+v: %v", members, err)
		}
		plan, err := NewPlan(request, true)
		if fault.Is(err, fault.Invalid) && request.Distinct {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		_, skip := members.Get(Skip)
		_, take := members.Get(Take)
		if !skip && !take && len(request.Order) == 0 {
			if plan.Order != nil {
				t.Fatalf("unexpected order: %v", plan.Order)
			}
			return
		}
		if !slices.Equal(plan.Order[:len(request.Order)], request.Order) {
			t.Fatalf("got %v, want it to start with %v", plan.Order, request.Order)
		}
		var fields []int
		for _, o := range plan.Order {
			fields = append(fields, o.Field)
		}
		slices.Sort(fields)
		if len(slices.Compact(slices.Clone(fields))) != len(fields) {
			t.Fatalf("duplicate field: %v", plan.Order)
		}
		breakers := []int{0}
		if plan.Distinct {
			breakers = plan.Columns
		}
		for _, b := range breakers {
			if !slices.Contains(fields, b) {
				t.Fatalf("%v does not order by field %d", plan.Order, b)
			}
		}
	})
}

// TestPlanDistinctOrder checks that distinct rows are only ordered by selected
// fields.
func TestPlanDistinctOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		name := rapid.SampledFrom(kind.FieldNames())
		shown, by := name.Draw(t, "shown"), name.Draw(t, "by")
		member := rapid.SampledFrom([]string{OrderBy, OrderByDesc}).Draw(t, "member")
		request, err := Parse(kind, Members{{Name: Fields, Texts: []string{"DISTINCT " + shown}}, {Name: member, Texts: []string{by}}}, inUTC)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewPlan(request, true)
		if shown == by && err != nil {
			t.Fatal(err)
		}
		if shown != by && (!fault.Is(err, fault.Invalid) || fault.From(err).Fields[0].Name != member) {
			t.Fatalf("got %v", err)
		}
	})
}

// TestPlanLeavesRequest checks that planning does not modify the request.
func TestPlanLeavesRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := drawKind(t)
		request, err := Parse(kind, drawMembers(t, kind), inUTC)
		if err != nil {
			t.Fatal(err)
		}
		before := *request
		before.Order, before.Fields = slices.Clone(request.Order), slices.Clone(request.Fields)
		first, _ := NewPlan(request, true)
		second, _ := NewPlan(request, true)
		if !reflect.DeepEqual(before, *request) || !reflect.DeepEqual(first, second) {
			t.Fatalf("%+v became %+v", before, *request)
		}
	})
}

func TestPlanTypes(t *testing.T) {
	kind, _ := registry.Lookup("BM_Inputs")
	p := Plan{Kind: kind, Columns: []int{8, 0, 9}}
	if got := p.Types(); !slices.Equal(got, []record.Type{record.Byte, record.Text, record.Bytes}) {
		t.Errorf("got %v", got)
	}
}
