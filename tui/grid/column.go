package grid

import "github.com/bizhook/whd/client/record"

// Column is one column of a grid.
type Column struct {
	Name           string // by which it is told apart
	Title          string // Name where empty
	Right          bool   // aligned right, as numbers are
	Min            int    // cells that it takes at least
	Max            int    // cells that it takes at most unless somebody widens it; DefaultMax where 0
	Flex           bool   // gives way, down to Min, so that all columns can be seen
	TruncateMiddle bool   // texts are cut in their middle, since both ends tell them apart
	MinGridWidth   int    // cells of the grid from which on others give way for it
}

// DefaultMax is how wide a column becomes by itself.
const DefaultMax = 40

// numberMax is room for all digits that a decimal can have, since part of a
// number means something else.
const numberMax = 56

const (
	narrowest = 3   // cells to which a column can be narrowed
	widest    = 200 // cells to which one can be widened
)

// FieldColumn is the column of a field of a record kind.
func FieldColumn(f record.Field) Column {
	c := Column{Name: f.Name, Right: f.Type.Number()}
	if c.Right {
		c.Max = numberMax
	}
	return c
}

func (c Column) title() string {
	if c.Title != "" {
		return c.Title
	}
	return c.Name
}

func (c Column) max() int {
	if c.Max > 0 {
		return c.Max
	}
	return DefaultMax
}

// Sort is the order that the rows are in. It is only shown here: who gives the
// rows gives them in order.
type Sort struct {
	Column     string // empty for none
	Descending bool
}

// Next is the order after another key on a column: up, down, none.
func (s Sort) Next(column string) Sort {
	switch {
	case s.Column != column:
		return Sort{Column: column}
	case !s.Descending:
		return Sort{column, true}
	}
	return Sort{}
}
