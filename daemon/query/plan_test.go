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
		if got := p.Counts(rows); got != isShort {
			t.Fatalf("a page of %d rows counts the total: %v, want %v", rows, got, isShort)
		}
		wantKnown := !isFull && !isBeyond
		if known != wantKnown {
			t.Fatalf("the total after a page of %d rows is known: %v, want %v", rows, known, wantKnown)
		}
		if known && total != matches {
			t.Fatalf("the total after a page of %d rows is %d, want %d", rows, total, matches)
		}
		if !p.Paged() && !known {
			t.Fatal("the total is unknown although all rows were read")
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
		_, hasSkip := members.Get(Skip)
		_, hasTake := members.Get(Take)
		if !hasSkip && !hasTake && len(request.Order) == 0 {
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
		selected := name.Draw(t, "selected")
		orderedBy := name.Draw(t, "ordered by")
		member := rapid.SampledFrom([]string{OrderBy, OrderByDesc}).Draw(t, "member")
		request, err := Parse(kind, Members{text(Fields, "DISTINCT "+selected), text(member, orderedBy)}, inUTC)
		if err != nil {
			t.Fatal(err)
		}

		_, err = NewPlan(request, true)
		if selected == orderedBy {
			if err != nil {
				t.Fatalf("distinct %s in its own order: %v", selected, err)
			}
			return
		}
		if !fault.Is(err, fault.Invalid) || fault.From(err).Fields[0].Name != member {
			t.Fatalf("distinct %s in the order of %s: got the error %v, want an invalid %s",
				selected, orderedBy, err, member)
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
		before.Order = slices.Clone(request.Order)
		before.Fields = slices.Clone(request.Fields)
		first, _ := NewPlan(request, true) // fails for some requests, and changes none
		second, _ := NewPlan(request, true)
		if !reflect.DeepEqual(before, *request) {
			t.Fatalf("planning changed the request %+v to %+v", before, *request)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("the second plan of a request is %+v, want %+v", second, first)
		}
	})
}

func TestPlanTypes(t *testing.T) {
	kind, _ := registry.Lookup("BM_Inputs")
	p := Plan{Kind: kind, Columns: []int{8, 0, 9}}
	want := []record.Type{record.Byte, record.Text, record.Bytes}
	if got := p.Types(); !slices.Equal(got, want) {
		t.Errorf("the types of the columns %v are %v, want %v", p.Columns, got, want)
	}
}
