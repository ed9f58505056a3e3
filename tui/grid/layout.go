package grid

import "github.com/bizhook/whd/tui/theme"

const (
	gutter   = 3 // cells before the first column: pointer and mark
	between  = 2 // cells between columns
	fence    = 5 // cells between the frozen columns and the others
	cutRoom  = 4 // cells from which on part of a column is worth showing
	keptRows = 4 // screens of rows whose cells stay drawn
)

// layout is the columns of a grid and which of them are seen, how wide.
type layout struct {
	theme   *theme.Theme
	columns []Column
	widths  []columnWidth
	manual  map[string]int // widths set by the user, by column name
	width   int            // of the grid
	lines   bool           // rows are selected, not cells
	column  int            // the selected column
	left    int            // the first column shown beside the frozen ones
	frozen  int
	sort    Sort

	drawn map[*Row][]string // cells as they were drawn
	seen  []placed          // the columns that are seen
}

// columnWidth is the width of a column in cells.
type columnWidth struct {
	natural int // what the rows seen so far take
	given   int // what the column gives to others
}

// placed is a column that is seen.
type placed struct {
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
	l.changed()
}

func (l *layout) titleWidth(c Column) int {
	_, width := l.theme.Inert(c.title(), c.max())
	return width
}

// Columns are the columns in their order.
func (l *layout) Columns() []Column { return l.columns }

// SetSort shows the order that the rows are in.
func (l *layout) SetSort(s Sort) {
	l.sort = s
	l.changed()
	l.revealColumn()
}

// Sort is the order that is shown.
func (l *layout) Sort() Sort { return l.sort }

// Freeze keeps the first columns in place.
func (l *layout) Freeze(columns int) {
	l.frozen = max(0, min(columns, len(l.columns)))
	l.left = max(l.left, l.frozen)
	l.changed()
	l.revealColumn()
}

// Frozen is how many columns stay in place.
func (l *layout) Frozen() int { return l.frozen }

func (l *layout) cellWidth(c Cell, most int) int {
	if c.Null {
		return 1
	}
	_, width := l.theme.Inert(c.Text, most)
	return width
}

// changed forgets everything that was drawn.
func (l *layout) changed() {
	l.drawn = make(map[*Row][]string)
	l.arrange()
}

// Column is the selected column, false where there is none.
func (l *layout) Column() (Column, bool) {
	if l.column >= len(l.columns) {
		return Column{}, false
	}
	return l.columns[l.column], true
}

// Lines reports whether whole rows are selected.
func (l *layout) Lines() bool { return l.lines }

// ColumnAt is the number of the selected column.
func (l *layout) ColumnAt() int { return l.column }

// arrange finds out which columns are seen, and how wide. Frozen columns take
// at most a third of the width, so that the others can be seen too.
func (l *layout) arrange() {
	l.seen = l.seen[:0]
	room := l.width - gutter
	l.give(room)
	frozenRoom := room
	if l.frozen < len(l.columns) {
		frozenRoom = room / 3
	}
	for i := range l.frozen {
		used := l.place(i, frozenRoom)
		frozenRoom -= used
		room -= used
	}
	if l.fenced() {
		room -= fence - between
	}
	for i := max(l.left, l.frozen); i < len(l.columns) && room > 0; i++ {
		used := l.place(i, room)
		if used == 0 {
			return
		}
		room -= used
	}
}

// give takes cells from the widest of the columns that give way, until all
// columns fit or none has any to give.
func (l *layout) give(room int) {
	for i := range l.widths {
		l.widths[i].given = 0
	}
	over := -between - room
	for i, c := range l.columns {
		if l.width >= c.From {
			over += l.columnWidth(i) + between
		}
	}
	for ; over > 0; over-- {
		widest := -1
		for i, c := range l.columns {
			if c.Flex && l.columnWidth(i) > max(c.Min, narrowest) && (widest < 0 || l.columnWidth(i) > l.columnWidth(widest)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		l.widths[widest].given++
	}
}

// fenced reports whether a line stands behind the frozen columns.
func (l *layout) fenced() bool { return l.frozen > 0 && l.frozen < len(l.columns) }

// place puts a column where there is room, and gives what it takes with the
// blanks behind it.
func (l *layout) place(i, room int) int {
	width := l.columnWidth(i)
	cut := width > room
	if cut {
		if width = room; width < cutRoom {
			return 0
		}
	}
	l.seen = append(l.seen, placed{i, width, cut})
	return width + between
}

// whole reports whether a column is seen from end to end.
func (l *layout) whole(column int) bool {
	for _, p := range l.seen {
		if p.column == column {
			return !p.cut
		}
	}
	return false
}

// columnAt is the column that is drawn at a cell, with the blanks behind it.
func (l *layout) columnAt(x int) int {
	at := gutter
	for i, p := range l.seen {
		next := at + p.width + between
		if l.fenced() && p.column == l.frozen-1 && i+1 < len(l.seen) {
			next += fence - between
		}
		if x >= at && x < next {
			return p.column
		}
		at = next
	}
	return -1
}

// MoveColumn goes to the right by n columns, or to the left.
func (l *layout) MoveColumn(n int) { l.ToColumn(l.column + n) }

// ToColumn selects a column by its number.
func (l *layout) ToColumn(i int) {
	l.column = max(0, min(i, len(l.columns)-1))
	l.revealColumn()
}

// revealColumn scrolls until the selected column is seen as a whole, or is the
// only one beside the frozen ones.
func (l *layout) revealColumn() {
	if l.lines || len(l.columns) == 0 {
		return
	}
	before := l.left
	l.left = max(l.left, l.frozen)
	if l.column >= l.frozen {
		l.left = min(l.left, l.column)
	}
	l.arrange()
	for l.column >= l.frozen && l.left < l.column && !l.whole(l.column) {
		l.left++
		l.arrange()
	}
	if l.left != before {
		l.changed()
	}
}

// ScrollColumns moves what is seen by n columns, where whole rows are selected.
func (l *layout) ScrollColumns(n int) {
	if n > 0 && len(l.seen) > 0 && l.seen[len(l.seen)-1].column == len(l.columns)-1 && !l.seen[len(l.seen)-1].cut {
		return
	}
	l.left = max(l.frozen, min(l.left+n, len(l.columns)-1))
	l.changed()
}

// Widen makes the selected column wider by n cells, or narrower.
func (l *layout) Widen(n int) {
	c, ok := l.Column()
	if !ok {
		return
	}
	l.manual[c.Name] = max(narrowest, min(l.columnWidth(l.column)+n, widest))
	l.changed()
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
	l.changed()
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
	return width - l.widths[i].given
}

// scrolled is the first and the last column that are seen beside the frozen
// ones, or of all where none scrolls.
func (l *layout) scrolled() (first, last int) {
	first, last = len(l.columns), -1
	for _, p := range l.seen {
		if p.column >= l.frozen || !l.fenced() {
			first, last = min(first, p.column), max(last, p.column)
		}
	}
	if first == l.frozen {
		first = 0
	}
	return first, last
}

// Whole reports whether all columns are seen from end to end.
func (l *layout) Whole() bool {
	return len(l.seen) == len(l.columns) && (len(l.seen) == 0 || !l.seen[len(l.seen)-1].cut)
}
