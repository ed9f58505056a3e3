package query

import (
	"slices"

	"github.com/bizhook/whd/client/record"
)

// indexUse is the set of indexes that a statement may use. The embedded file has an index
// on the first field of each kind, and may have indexes on other fields, each followed by
// the first one. SQLite does not know how many rows have a value or are in a range, and
// assumes few. But reading a row through an index takes as long as ten rows of a scan. So
// a statement hides other fields from the planner, by a unary plus, unless the index is
// at least as fast as none for all values.
type indexUse uint8

const (
	// All conditions and the order are on one field, and few rows are read from the table.
	anyIndex indexUse = iota
	// A page is in the order of the first field, which the index for an equality has too.
	byFirst
	// Only the index on the first field may be used.
	firstIndex
)

// maxLookups is the largest page, with the row after it, that is read in the order of an index.
// A larger one may be the whole table, which is sorted as fast.
const maxLookups = 10_001

// maxDescending is the largest page that is read in the descending order of an index.
const maxDescending = 1001

// freeOrder returns the order without fields that have one value in all rows. SQLite also
// leaves them out, but not if they are hidden.
func freeOrder(p *Plan) []Order {
	hasOneValue := func(o Order) bool {
		return o.Field != 0 && slices.ContainsFunc(p.Where, func(c Condition) bool {
			isSearch := c.IsPlain() && c.search() == oneValue
			return isSearch && c.Field == o.Field && c.storesOneValue(p.Kind)
		})
	}
	return slices.DeleteFunc(slices.Clone(p.Order), hasOneValue)
}

// chooseIndexes returns the indexes that a statement of the plan may use. columns are read,
// but not compared; order is that of the statement, empty if it has neither order nor page.
func chooseIndexes(p *Plan, columns []int, order []Order) indexUse {
	if slices.ContainsFunc(p.Where, func(c Condition) bool { return !c.IsPlain() }) {
		return firstIndex
	}
	isSmallPage := p.Take <= maxLookups && p.Take != NoTake && !p.Distinct
	isSorted := len(order) > 0 && isSmallPage
	if isSorted && order[0].Field == 0 {
		return byFirst
	}
	var compared []int
	usesFirst := false
	mayLackGreatest := p.Skip > 0 || p.Take > maxDescending
	for _, c := range p.Where {
		compared = append(compared, c.Field)
		usesFirst = usesFirst || c.Field == 0
		mayLackGreatest = mayLackGreatest || c.search() == upTo || c.Operator == record.NotEqualTo
	}
	for _, o := range order {
		compared = append(compared, o.Field)
	}
	// The index has ascending first fields, so rows of equal value are sorted unless those
	// are descending too. In descending order these can be many, unless the page has the
	// greatest values.
	if isSorted && order[0].Desc && mayLackGreatest {
		readsBackwards := len(order) > 1 && order[1] == Order{Desc: true}
		isSorted = readsBackwards
	}
	if usesFirst || !oneField(compared) {
		return firstIndex
	}
	if !isSorted && !oneField(append(compared, columns...)) {
		return firstIndex
	}
	return anyIndex
}

// oneField reports whether all fields other than the first are the same.
func oneField(fields []int) bool {
	field := slices.Max(append(fields, 0))
	return !slices.ContainsFunc(fields, func(f int) bool { return f != 0 && f != field })
}

// searches are the operators that an index can be searched for.
var searches = map[record.Operator]search{
	record.Equal:                oneValue,
	record.IsNull:               oneValue,
	record.GreaterThan:          from,
	record.GreaterThanOrEqualTo: from,
	record.LessThan:             upTo,
	record.LessThanOrEqualTo:    upTo,
	record.Between:              upTo,
	record.In:                   upTo,
}

func (c Condition) search() search {
	if c.Operator == record.In && len(c.Operands) == 1 {
		return oneValue
	}
	return searches[c.Operator]
}

// search is the part of an index that matches an operator.
type search uint8

const (
	oneValue search = iota + 1
	from            // up to the last value
	upTo            // not up to the last value
)

// hides reports whether a condition must not use an index.
func (u indexUse) hides(c Condition) bool {
	if c.Field == 0 {
		return false
	}
	switch u {
	case byFirst:
		return c.search() > oneValue
	case firstIndex:
		return c.search() != 0
	}
	return false
}
