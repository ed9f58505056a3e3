package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// Plan is what is to be done for a request: which columns, rows and totals.
// It does not depend on the database.
type Plan struct {
	Kind       *record.Kind
	Columns    []int // of the record, in the order of the reply
	Distinct   bool
	Where      []Condition
	Order      []Order // complete: with the tie-breaker
	Skip       int64
	Take       int64 // NoTake for all
	Count      bool  // the total is wanted even where it has to be counted
	Asked      bool  // the request itself asked for the total
	Aggregates []Aggregate
}

// NewPlan decides how a request is answered. countPages says whether the total
// of a page is counted unless the request refuses it.
func NewPlan(r *Request, countPages bool) (*Plan, error) {
	p := &Plan{
		Kind:       r.Kind,
		Columns:    r.Fields,
		Distinct:   r.Distinct,
		Where:      r.Where,
		Skip:       r.Skip,
		Take:       r.Take,
		Count:      r.Total == TotalWanted || countPages && r.Total == TotalAsSet,
		Asked:      r.Total == TotalWanted,
		Aggregates: r.Include,
	}
	if len(p.Columns) == 0 {
		p.Columns = make([]int, len(r.Kind.Fields))
		for i := range p.Columns {
			p.Columns[i] = i
		}
	}
	if err := p.distinctOrder(r); err != nil {
		return nil, err
	}
	p.Order = p.stableOrder(r)
	return p, nil
}

// distinctOrder refuses to order distinct rows by a field that they do not
// show: several rows, with several values of it, became one.
func (p *Plan) distinctOrder(r *Request) error {
	if !p.Distinct {
		return nil
	}
	for _, o := range r.Order {
		if !slices.Contains(p.Columns, o.Field) {
			text := "names " + r.Kind.Fields[o.Field].Name + ", which is not among the DISTINCT fields"
			return &fault.Error{
				Kind:    fault.Invalid,
				Message: r.OrderMember + " " + text,
				Fields:  []fault.Field{{Name: r.OrderMember, Message: text}},
			}
		}
	}
	return nil
}

// stableOrder completes the order so that paging is stable: by the record's
// first field, or by all fields shown where rows are distinct. A request for
// everything in no particular order is left alone.
func (p *Plan) stableOrder(r *Request) []Order {
	asked := r.Order
	if newest := (Order{Field: 0, Desc: true}); len(asked) == 0 && r.Kind.NewestFirst && (!p.Distinct || slices.Contains(p.Columns, newest.Field)) {
		asked = []Order{newest}
	}
	if len(asked) == 0 && r.Take == NoTake && !r.SkipSet {
		return nil
	}
	breakers := []int{0}
	if p.Distinct {
		breakers = p.Columns
	}
	order := append(make([]Order, 0, len(asked)+len(breakers)), asked...)
	for _, field := range breakers {
		if !orders(order, field) {
			order = append(order, Order{Field: field})
		}
	}
	return order
}

func orders(order []Order, field int) bool {
	return slices.ContainsFunc(order, func(o Order) bool { return o.Field == field })
}

// Paged reports whether the plan may leave matches out.
func (p *Plan) Paged() bool { return p.Take != NoTake || p.Skip > 0 }

// Types are the types of the plan's columns.
func (p *Plan) Types() []record.Type {
	types := make([]record.Type, len(p.Columns))
	for i, c := range p.Columns {
		types[i] = p.Kind.Fields[c].Type
	}
	return types
}

// Total is the number of all matches where the page itself shows it: rows were
// read after Skip, and the page was not full.
func (p *Plan) Total(rows int64) (total int64, known bool) {
	if p.Take != NoTake && rows >= p.Take || rows == 0 && p.Skip > 0 {
		return 0, false
	}
	return p.Skip + rows, true
}
