package grid

import (
	"cmp"

	"github.com/bizhook/whd/client/record"
)

// Column describes a column of a grid.
type Column struct {
	Name           string // identifies the column
	Title          string // defaults to Name
	Right          bool   // right-aligned, for numbers
	Min            int    // minimum width in cells
	Max            int    // maximum width in cells unless the user widens it; 0 for that of texts or numbers
	Flex           bool   // narrowed down to Min to make room for other columns
	TruncateMiddle bool   // cells are truncated in the middle, because both ends are significant
	MinGridWidth   int    // in a narrower grid, the column is visible only while it is selected
}

// DefaultMax is the default maximum width of a column of texts.
const DefaultMax = 40

// numberMax has room for all digits of a decimal, since a truncated number would be
// misread.
const numberMax = 56

const (
	narrowest = 3   // minimum width that the user can set
	widest    = 200 // maximum width that the user can set
)

// FieldColumn returns the column of a field of a record kind.
func FieldColumn(f record.Field) Column {
	return Column{Name: f.Name, Right: f.Type.Number()}
}

func (c Column) title() string { return cmp.Or(c.Title, c.Name) }

// hasRoom reports whether a grid of a width shows the column even if it is not selected.
func (c Column) hasRoom(gridWidth int) bool { return gridWidth >= c.MinGridWidth }

func (c Column) max() int {
	if c.Right {
		return cmp.Or(c.Max, numberMax)
	}
	return cmp.Or(c.Max, DefaultMax)
}

// Sort is the displayed sort order. The grid does not sort: Rows must be in this order.
type Sort struct {
	Column     string // empty for none
	Descending bool
}

// Next returns the order after the sort key is pressed on a column: ascending,
// descending, none.
func (s Sort) Next(column string) Sort {
	if s.Column != column {
		return Sort{Column: column}
	}
	if !s.Descending {
		return Sort{column, true}
	}
	return Sort{}
}
