package grid

import "github.com/bizhook/whd/tui/theme"

const (
	prefixWidth    = 3 // cells before the first column: pointer and mark
	columnGap      = 2 // cells between columns
	separatorWidth = 5 // cells between the frozen columns and the others
	minCutWidth    = 4 // cells from which on part of a column is worth showing
	cachedScreens  = 4 // screens of rows whose cells stay drawn
)

// layout is the columns of a grid and which of them are seen, how wide.
type layout struct {
	theme   *theme.Theme
	columns []Column
	widths  []columnWidth
	manual  map[string]int // widths set by the user, by column name
	width   int            // of the grid
	rowMode bool           // rows are selected, not cells
	column  int            // the selected column
	left    int            // the first column shown beside the frozen ones
	frozen  int
	sort    Sort

	cellCache map[*Row][]string // cells as they were drawn
	visible   []visibleColumn   // the columns that are seen
}

// columnWidth is the width of a column in cells.
type columnWidth struct {
	natural int // what the rows seen so far take
	shrunk  int // what the column gives to others
}

// visibleColumn is a column that is seen.
type visibleColumn struct {
	column int
	width  int
	cut    bool // not all of it is seen
}

// SetColumns gives the grid other columns. Widths that were chosen by hand stay
// with the names of the columns.
func (l *layout) SetColumns(columns []Column, frozen int) {
	l.columns = columns
	l.widths = make([]columnWidth, len(columns))
	for i, c := range columns {
		l.widths[i].natural = max(l.titleWidth(c), c.Min)
	}
	l.frozen = max(0, min(frozen, len(columns)))
	l.column = max(0, min(l.column, len(columns)-1))
	l.left = l.frozen
	l.invalidate()
}

func (l *layout) titleWidth(c Column) int {
	_, width := l.theme.Sanitize(c.title(), c.max())
	return width
}

// Columns are the columns in their order.
func (l *layout) Columns() []Column { return l.columns }

// SetSort shows the order that the rows are in.
func (l *layout) SetSort(s Sort) {
	l.sort = s
	l.invalidate()
	l.revealColumn()
}

// Sort is the order that is shown.
func (l *layout) Sort() Sort { return l.sort }

// Freeze keeps the first columns in place.
func (l *layout) Freeze(columns int) {
	l.frozen = max(0, min(columns, len(l.columns)))
	l.left = max(l.left, l.frozen)
	l.invalidate()
	l.revealColumn()
}

// Frozen is how many columns stay in place.
func (l *layout) Frozen() int { return l.frozen }

func (l *layout) cellWidth(c Cell, limit int) int {
	if c.Null {
		return 1
	}
	_, width := l.theme.Sanitize(c.Text, limit)
	return width
}

// invalidate forgets everything that was drawn.
func (l *layout) invalidate() {
	l.cellCache = make(map[*Row][]string)
	l.arrange()
}

// Column is the selected column, false where there is none.
func (l *layout) Column() (Column, bool) {
	if l.column >= len(l.columns) {
		return Column{}, false
	}
	return l.columns[l.column], true
}

// RowMode reports whether whole rows are selected.
func (l *layout) RowMode() bool { return l.rowMode }

// ColumnIndex is the number of the selected column.
func (l *layout) ColumnIndex() int { return l.column }

// arrange finds out which columns are seen, and how wide. Frozen columns take
// at most a third of the width, so that the others can be seen too.
func (l *layout) arrange() {
	l.visible = l.visible[:0]
	room := l.width - prefixWidth
	l.shrink(room)
	frozenRoom := room
	if l.frozen < len(l.columns) {
		frozenRoom = room / 3
	}
	for i := range l.frozen {
		used := l.place(i, frozenRoom)
		frozenRoom -= used
		room -= used
	}
	if l.hasSeparator() {
		room -= separatorWidth - columnGap
	}
	for i := max(l.left, l.frozen); i < len(l.columns) && room > 0; i++ {
		used := l.place(i, room)
		if used == 0 {
			return
		}
		room -= used
	}
}

// shrink takes cells from the widest of the columns that give way, until all
// columns fit or none has any to give.
func (l *layout) shrink(room int) {
	for i := range l.widths {
		l.widths[i].shrunk = 0
	}
	excess := -columnGap - room
	for i, c := range l.columns {
		if l.width >= c.MinGridWidth {
			excess += l.columnWidth(i) + columnGap
		}
	}
	for ; excess > 0; excess-- {
		widest := -1
		for i, c := range l.columns {
			if c.Flex && l.columnWidth(i) > max(c.Min, narrowest) && (widest < 0 || l.columnWidth(i) > l.columnWidth(widest)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		l.widths[widest].shrunk++
	}
}

// hasSeparator reports whether a line stands behind the frozen columns.
func (l *layout) hasSeparator() bool { return l.frozen > 0 && l.frozen < len(l.columns) }

// place puts a column where there is room, and gives what it takes with the
// blanks behind it.
func (l *layout) place(i, room int) int {
	width := l.columnWidth(i)
	cut := width > room
	if cut {
		if width = room; width < minCutWidth {
			return 0
		}
	}
	l.visible = append(l.visible, visibleColumn{i, width, cut})
	return width + columnGap
}

// fullyVisible reports whether a column is seen from end to end.
func (l *layout) fullyVisible(column int) bool {
	for _, p := range l.visible {
		if p.column == column {
			return !p.cut
		}
	}
	return false
}

// columnAt is the column that is drawn at a cell, with the blanks behind it.
func (l *layout) columnAt(x int) int {
	at := prefixWidth
	for i, p := range l.visible {
		next := at + p.width + columnGap
		if l.hasSeparator() && p.column == l.frozen-1 && i+1 < len(l.visible) {
			next += separatorWidth - columnGap
		}
		if x >= at && x < next {
			return p.column
		}
		at = next
	}
	return -1
}

// MoveColumn goes to the right by n columns, or to the left.
func (l *layout) MoveColumn(n int) { l.GoToColumn(l.column + n) }

// GoToColumn selects a column by its number.
func (l *layout) GoToColumn(i int) {
	l.column = max(0, min(i, len(l.columns)-1))
	l.revealColumn()
}

// revealColumn scrolls until the selected column is seen as a whole, or is the
// only one beside the frozen ones.
func (l *layout) revealColumn() {
	if l.rowMode || len(l.columns) == 0 {
		return
	}
	before := l.left
	l.left = max(l.left, l.frozen)
	if l.column >= l.frozen {
		l.left = min(l.left, l.column)
	}
	l.arrange()
	for l.column >= l.frozen && l.left < l.column && !l.fullyVisible(l.column) {
		l.left++
		l.arrange()
	}
	if l.left != before {
		l.invalidate()
	}
}

// ScrollColumns moves what is seen by n columns, where whole rows are selected.
func (l *layout) ScrollColumns(n int) {
	if n > 0 && len(l.visible) > 0 && l.visible[len(l.visible)-1].column == len(l.columns)-1 && !l.visible[len(l.visible)-1].cut {
		return
	}
	l.left = max(l.frozen, min(l.left+n, len(l.columns)-1))
	l.invalidate()
}

// Widen makes the selected column wider by n cells, or narrower.
func (l *layout) Widen(n int) {
	c, ok := l.Column()
	if !ok {
		return
	}
	l.manual[c.Name] = max(narrowest, min(l.columnWidth(l.column)+n, widest))
	l.invalidate()
	l.revealColumn()
}

// Widths are the widths that were chosen by hand, by column name.
func (l *layout) Widths() map[string]int { return l.manual }

// SetWidths takes the place of the widths that were chosen by hand.
func (l *layout) SetWidths(widths map[string]int) {
	clear(l.manual)
	for name, width := range widths {
		l.manual[name] = max(narrowest, min(width, widest))
	}
	l.invalidate()
	l.revealColumn()
}

// columnWidth is how wide a column is drawn where there is room. The one that
// is sorted has room for the mark behind its title.
func (l *layout) columnWidth(i int) int {
	c := l.columns[i]
	if w, chosen := l.manual[c.Name]; chosen {
		return w
	}
	width := l.widths[i].natural
	if l.sort.Column == c.Name && c.Name != "" {
		width = max(width, l.titleWidth(c)+2)
	}
	return width - l.widths[i].shrunk
}

// scrolledRange is the first and the last column that are seen beside the frozen
// ones, or of all where none scrolls.
func (l *layout) scrolledRange() (first, last int) {
	first, last = len(l.columns), -1
	for _, p := range l.visible {
		if p.column >= l.frozen || !l.hasSeparator() {
			first, last = min(first, p.column), max(last, p.column)
		}
	}
	if first == l.frozen {
		first = 0
	}
	return first, last
}

// AllVisible reports whether all columns are seen from end to end.
func (l *layout) AllVisible() bool {
	return len(l.visible) == len(l.columns) && (len(l.visible) == 0 || !l.visible[len(l.visible)-1].cut)
}
