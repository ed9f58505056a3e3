package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/fault"
)

// Plan is the execution plan of a request: its columns, rows and totals. It does not
// depend on the database.
type Plan struct {
	Kind           *record.Kind
	Columns        []int // indexes of the record's fields, in the order of the response
	Distinct       bool
	Where          []Condition // joined by AND
	Order          []Order     // complete, including the tie-breaker
	Skip           int64
	Take           int64 // NoTake for all
	Count          bool  // the total is returned even if it must be counted
	TotalRequested bool  // the request itself has Include=Total
	CountAgain     bool  // the total is counted even if it is remembered
	Aggregates     []Aggregate
	Readable       bool   // extreme values consider only values that can be read as the type of their field
	Group          *Group // nil for rows of Kind

	Place   *Place // place of a page by cursor; nil for other plans
	ForCopy string // see Request
	Mask    *Mask  // nil if all values are shown

	// Set by a store that finds the same rows or their number faster by another statement.
	PageKeys *Fragment // selects the keys of the rows of the page, including skipped ones
	Matches  *Fragment // counts all matches

	// FasterPart returns the plan of a part of a page by cursor with PageKeys, if that finds its
	// rows faster; nil for none.
	FasterPart func(*Plan) *Plan
}

// Fragment is SQL with a ? for each of its arguments.
type Fragment struct {
	SQL  string
	Args []Arg
}

// NewPlan plans a request. countPages reports whether the total of a page is counted
// unless the request refuses it.
func NewPlan(r *Request, countPages bool) (*Plan, error) {
	if err := r.checkCopy(); err != nil {
		return nil, err
	}
	p := &Plan{
		Kind:           r.Kind,
		Columns:        r.Fields,
		Distinct:       r.Distinct,
		Where:          r.Where,
		Skip:           r.Skip,
		Take:           r.Take,
		Count:          r.Total == TotalOn || (countPages && r.Total == TotalDefault),
		TotalRequested: r.Total == TotalOn,
		Aggregates:     r.Include,
		Group:          r.Group,
		Place:          r.Place,
		ForCopy:        r.ForCopy,
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
	if p.Place != nil {
		p.Order = p.Place.Order
		isFirstPage := p.Place.After == nil
		p.Count = p.Count && (isFirstPage || p.TotalRequested) // not again for each page
	} else {
		p.Order = p.stableOrder(r)
	}
	return p, nil
}

// withoutImplied returns a plan without its implied conditions. They only matter in a file,
// where a column may hold values that are not of the field's type.
func withoutImplied(p *Plan) *Plan {
	isImplied := func(c Condition) bool { return c.Implied }
	if !slices.ContainsFunc(p.Where, isImplied) {
		return p
	}
	plan := *p
	plan.Where = slices.DeleteFunc(slices.Clone(p.Where), isImplied)
	return &plan
}

// distinctOrder rejects an order by fields that are not selected by a DISTINCT
// query: each result row stands for several rows, with several values of the field.
func (p *Plan) distinctOrder(r *Request) error {
	if !p.Distinct {
		return nil
	}
	for _, o := range r.Order {
		if !slices.Contains(p.Columns, o.Field) {
			text := "refers to " + r.Kind.Fields[o.Field].Name + ", which is not among the DISTINCT fields"
			return &fault.Error{
				Kind:    fault.Invalid,
				Message: r.OrderMember + " " + text,
				Fields:  []fault.Field{{Name: r.OrderMember, Message: text}},
			}
		}
	}
	return nil
}

// requestedOrder returns the order of a request, or the default one of its kind.
func requestedOrder(r *Request) []Order {
	if len(r.Order) > 0 || !r.Kind.NewestFirst {
		return r.Order
	}
	newest := Order{Field: r.Kind.KeyField(), Desc: true}
	isSelected := len(r.Fields) == 0 || slices.Contains(r.Fields, newest.Field)
	if r.Distinct && !isSelected {
		return r.Order
	}
	return []Order{newest}
}

// stableOrder completes the order so that paging is stable: by the declared key or the
// order field, or by all selected fields for DISTINCT. A request for all rows without an
// order is left unchanged.
func (p *Plan) stableOrder(r *Request) []Order {
	requested := requestedOrder(r)
	hasAllRows := r.Take == NoTake && !r.SkipSet && r.Group == nil
	if len(requested) == 0 && hasAllRows {
		return nil
	}
	breakers := r.Kind.KeyFields()
	if p.Distinct {
		breakers = p.Columns
	} else if breakers == nil {
		breakers = []int{r.Kind.KeyField()}
	}
	order := make([]Order, 0, len(requested)+len(breakers))
	order = append(order, requested...)
	for _, field := range breakers {
		if !ordersBy(order, field) {
			order = append(order, Order{Field: field})
		}
	}
	return order
}

func ordersBy(order []Order, field int) bool {
	return slices.ContainsFunc(order, func(o Order) bool { return o.Field == field })
}

// Source returns the kind of the rows that are read.
func (p *Plan) Source() *record.Kind {
	if p.Group != nil {
		return p.Group.Source
	}
	return p.Kind
}

// Paged reports whether the plan may omit matching rows.
func (p *Plan) Paged() bool { return p.Take != NoTake || p.Skip > 0 }

// Types returns the types of the plan's columns.
func (p *Plan) Types() []record.Type {
	types := make([]record.Type, len(p.Columns))
	for i, c := range p.Columns {
		types[i] = p.Kind.Fields[c].Type
	}
	return types
}

// blobs returns the forms of the columns' GUIDs in blobs, nil if there are none.
func (p *Plan) blobs() []record.BlobForm {
	hasForm := func(field int) bool { return p.Kind.Fields[field].Blob != "" }
	if !slices.ContainsFunc(p.Columns, hasForm) {
		return nil
	}
	forms := make([]record.BlobForm, len(p.Columns))
	for i, field := range p.Columns {
		forms[i] = p.Kind.Fields[field].Blob
	}
	return forms
}

// Total returns the number of all matches if it follows from the page: rows were
// read after Skip, and the page was not full.
func (p *Plan) Total(rows int64) (total int64, known bool) {
	continues := p.Place != nil && p.Place.After != nil
	isFull := p.Take != NoTake && (rows >= p.Take || p.PageKeys != nil)
	isBeyond := rows == 0 && p.Skip > 0
	if continues || isFull || isBeyond {
		return 0, false
	}
	return p.Skip + rows, true
}

// Counts reports whether a total that does not follow from the page is counted, even for a short
// page of selected keys: SQL Server does not fill it up if rows change while it is read, and there
// are few matches to count.
func (p *Plan) Counts(rows int64) bool {
	isLastPage := rows < p.Take && (rows > 0 || p.Skip == 0)
	isShortOfKeys := p.PageKeys != nil && isLastPage
	return p.Count || isShortOfKeys
}
