package grid

import (
	"fmt"
	"slices"

	"github.com/bizhook/whd/tui/theme"
)

const (
	prefixWidth    = 3 // cells before the first column, for pointer and mark
	columnGap      = 2 // cells between columns
	separatorWidth = 5 // cells between the frozen columns and the others
	minCutWidth    = 4 // minimum width of a partly visible column
	sortArrowWidth = 2 // cells of the sort arrow, with the space before it
	rightMargin    = 1 // blank cells at the end of a row
	cachedScreens  = 4 // screens of rows with cached drawn cells
)

// Layout determines which columns of a grid are visible, and their widths.
type Layout struct {
	theme   *theme.Theme
	columns []Column
	widths  []columnWidth
	content contents
	manual  map[string]int // widths set by the user, by column name
	width   int            // width of the grid
	spare   int            // cells that no column needs
	rowMode bool           // rows are selected instead of cells
	column  int            // index of the selected column
	left    int            // first visible column after the frozen ones
	frozen  int
	sort    Sort

	cellCache map[*Row][]string // drawn cells by row
	visible   []visibleColumn
}

// columnWidth is the width of a column in cells.
type columnWidth struct {
	natural int // width of the title and of the cells seen so far
	shrunk  int // cells removed to make room for other columns
	grown   int // cells added beyond the maximum, since there is room
}

// visibleColumn is a column that is drawn.
type visibleColumn struct {
	column int
	width  int
	cut    bool // only partly visible
}

// Set replaces the columns. Widths set by the user are kept by column name.
func (l *Layout) Set(columns []Column, frozen int) {
	l.columns = columns
	l.widths = make([]columnWidth, len(columns))
	for i, c := range columns {
		l.widths[i].natural = max(l.titleWidth(c), c.Min)
	}
	l.content = newContents(l.theme, len(columns))
	l.frozen = max(0, min(frozen, len(columns)))
	l.column = max(0, min(l.column, len(columns)-1))
	l.left = l.frozen
	l.invalidate()
}

func (l *Layout) titleWidth(c Column) int {
	_, width := l.theme.Sanitize(c.title(), c.max())
	return width
}

// Fit sets the widths of columns to those of the visible cells, except widths set by the user.
func (l *Layout) Fit() { l.Set(l.columns, l.frozen) }

// List returns the columns in order.
func (l *Layout) List() []Column { return l.columns }

// SetSort sets the displayed sort order.
func (l *Layout) SetSort(s Sort) {
	l.sort = s
	l.invalidate()
	l.revealColumn()
}

// Freeze sets the number of frozen columns.
func (l *Layout) Freeze(columns int) {
	l.frozen = max(0, min(columns, len(l.columns)))
	l.left = max(l.left, l.frozen)
	l.invalidate()
	l.revealColumn()
}

// Frozen returns the number of frozen columns.
func (l *Layout) Frozen() int { return l.frozen }

// adjust adjusts the widths to rows that have been measured.
func (l *Layout) adjust() {
	hasWidened := l.widen()
	canGrow := l.spare > 0 && l.neediest() >= 0
	if hasWidened || canGrow || l.cutsNumber() {
		l.invalidate()
	}
}

// widen widens columns up to their limits to fit their cells. It reports whether one was widened.
func (l *Layout) widen() bool {
	hasWidened := false
	for i, c := range l.columns {
		width := l.content.width(i, c)
		if width > l.widths[i].natural {
			l.widths[i].natural = width
			hasWidened = true
		}
	}
	return hasWidened
}

// invalidate clears the cache of drawn cells and updates the layout.
func (l *Layout) invalidate() {
	l.cellCache = make(map[*Row][]string)
	l.arrange()
}

// Selected returns the selected column, false if there is none.
func (l *Layout) Selected() (Column, bool) {
	if l.column >= len(l.columns) {
		return Column{}, false
	}
	return l.columns[l.column], true
}

// RowMode reports whether whole rows are selected.
func (l *Layout) RowMode() bool { return l.rowMode }

// Index returns the index of the selected column.
func (l *Layout) Index() int { return l.column }

// arrange determines the visible columns and their widths. Frozen columns use at most a third of the
// width, but numbers are not cut for that, and give way to a number next to them. A column with
// numbers that do not fit is left out, unless it is the only one.
func (l *Layout) arrange() {
	l.visible = l.visible[:0]
	room := l.width - prefixWidth - rightMargin
	l.distribute(room)
	first := l.firstScrolled()
	frozenRoom, maxFrozen := room, room
	if l.frozen < len(l.columns) {
		maxFrozen = room - separatorWidth
		if first >= 0 {
			maxFrozen -= max(minCutWidth, l.numberWidth(first))
		}
		frozenRoom = min((room+rightMargin)/3, maxFrozen)
	}
	for i := range l.frozen {
		if l.isHidden(i) {
			continue
		}
		used := l.place(i, max(frozenRoom, min(l.numberWidth(i), maxFrozen)))
		frozenRoom -= used
		maxFrozen -= used
		room -= used
	}
	if l.hasSeparator() && len(l.visible) > 0 {
		room -= separatorWidth - columnGap
	}
	for i := max(l.left, l.frozen); i < len(l.columns) && room > 0; i++ {
		if l.isHidden(i) {
			continue
		}
		used := l.place(i, room)
		if used == 0 && i == first {
			used = l.placeNumber(i, room)
		}
		if used == 0 {
			break
		}
		room -= used
	}
	l.widenCut(room + columnGap)
}

// isHidden reports whether a column is not visible in a grid as narrow as this one. The selected one is
// visible, but the others do not give way to it, so that they keep their widths when it is left.
func (l *Layout) isHidden(i int) bool {
	return !l.columns[i].hasRoom(l.width) && i != l.column
}

// lastShown returns the last column that is not hidden, -1 if there is none.
func (l *Layout) lastShown() int {
	last := len(l.columns) - 1
	for last >= 0 && l.isHidden(last) {
		last--
	}
	return last
}

// firstScrolled returns the first column after the frozen ones that is not scrolled out of sight, -1
// if there is none.
func (l *Layout) firstScrolled() int {
	for i := max(l.left, l.frozen); i < len(l.columns); i++ {
		if !l.isHidden(i) {
			return i
		}
	}
	return -1
}

// numberWidth returns the width that the numbers of a column need, 0 for other columns. Its title may
// be wider.
func (l *Layout) numberWidth(i int) int {
	c := l.columns[i]
	if !c.Right {
		return 0
	}
	width := min(c.max(), l.content.columns[i].largest)
	if manual, ok := l.manual[c.Name]; ok {
		width = min(width, manual)
	}
	return width
}

// cutsNumber reports whether a column is narrower than its numbers.
func (l *Layout) cutsNumber() bool {
	for _, visible := range l.visible {
		if visible.width < l.numberWidth(visible.column) {
			return true
		}
	}
	return false
}

// widenCut adds cells that no column uses to the visible columns that are cut most: those at an
// edge, and those that were narrowed for a column that does not fit either.
func (l *Layout) widenCut(free int) {
	for ; free > 0; free-- {
		i := l.neediestVisible()
		if i < 0 {
			return
		}
		visible := &l.visible[i]
		visible.width++
		visible.cut = visible.width < l.columnWidth(visible.column)
	}
}

// neediestVisible returns the index of the visible column that lacks most cells, -1 if none lacks
// any.
func (l *Layout) neediestVisible() int {
	neediest := -1
	most := 0
	for i, visible := range l.visible {
		lacking := l.columnWidth(visible.column) + l.widths[visible.column].shrunk - visible.width
		if lacking > most {
			neediest = i
			most = lacking
		}
	}
	return neediest
}

// distribute narrows columns that do not fit the room, or adds free room to those that are cut.
func (l *Layout) distribute(room int) {
	for i := range l.widths {
		l.widths[i].shrunk = 0
		l.widths[i].grown = 0
	}
	free := room + columnGap
	for i, c := range l.columns {
		if c.hasRoom(l.width) {
			free -= l.columnWidth(i) + columnGap
		}
	}
	if free < 0 {
		l.shrink(-free)
	}
	l.spare = l.grow(free)
}

// shrink narrows the widest flexible columns by a number of cells, as far as they can be narrowed.
func (l *Layout) shrink(cells int) {
	for range cells {
		i := l.widestFlexible()
		if i < 0 {
			return
		}
		l.widths[i].shrunk++
	}
}

// grow adds free cells to the columns that are cut most, and returns how many no column needs.
func (l *Layout) grow(free int) int {
	for free > 0 {
		i := l.neediest()
		if i < 0 {
			return free
		}
		l.widths[i].grown++
		free--
	}
	return 0
}

// neediest returns the index of the column with the cells that are cut most, -1 if there is none.
func (l *Layout) neediest() int {
	neediest := -1
	most := 0
	for i, c := range l.columns {
		_, isManual := l.manual[c.Name]
		missing := l.content.columns[i].largest - l.columnWidth(i)
		if missing > most && !isManual && c.hasRoom(l.width) {
			neediest = i
			most = missing
		}
	}
	return neediest
}

// widestFlexible returns the index of the widest column that can be narrowed, -1 if there is
// none.
func (l *Layout) widestFlexible() int {
	widest := -1
	maxWidth := 0
	for i, c := range l.columns {
		width := l.columnWidth(i)
		canShrink := c.Flex && c.hasRoom(l.width) && width > max(c.Min, narrowest, l.numberWidth(i))
		if canShrink && width > maxWidth {
			widest = i
			maxWidth = width
		}
	}
	return widest
}

// hasSeparator reports whether a line is drawn after the frozen columns.
func (l *Layout) hasSeparator() bool { return l.frozen > 0 && l.frozen < len(l.columns) }

// separatorAfter reports whether this line is drawn after a visible column.
func (l *Layout) separatorAfter(i int) bool {
	isLast := i+1 == len(l.visible)
	return !isLast && l.visible[i].column < l.frozen && l.visible[i+1].column >= l.frozen
}

// place adds a visible column and returns the cells that it uses, including the gap. It adds none if
// the room is too small.
func (l *Layout) place(i, room int) int {
	width := l.columnWidth(i)
	cut := width > room
	if cut {
		width = room
		if width < max(minCutWidth, l.numberWidth(i)) {
			return 0
		}
	}
	l.visible = append(l.visible, visibleColumn{column: i, width: width, cut: cut})
	return width + columnGap
}

// placeNumber adds a column of numbers that uses all the room, and returns its cells; 0 for other
// columns.
func (l *Layout) placeNumber(i, room int) int {
	if !l.columns[i].Right || room < narrowest {
		return 0
	}
	l.visible = append(l.visible, visibleColumn{column: i, width: room, cut: true})
	return room + columnGap
}

// fullyVisible reports whether a column is completely visible.
func (l *Layout) fullyVisible(column int) bool {
	for _, visible := range l.visible {
		if visible.column == column {
			return !visible.cut
		}
	}
	return false
}

// columnAt returns the column at a horizontal position, including the gap after it, -1
// for none.
func (l *Layout) columnAt(x int) int {
	start := prefixWidth
	for i, visible := range l.visible {
		next := start + visible.width + columnGap
		if l.separatorAfter(i) {
			next += separatorWidth - columnGap
		}
		if x >= start && x < next {
			return visible.column
		}
		start = next
	}
	return -1
}

// Move moves the selection right by n columns.
func (l *Layout) Move(n int) { l.GoTo(l.column + n) }

// GoTo selects a column by index.
func (l *Layout) GoTo(i int) {
	l.column = max(0, min(i, len(l.columns)-1))
	l.revealColumn()
}

// revealColumn scrolls until the selected column is completely visible, or is the only
// one after the frozen columns.
func (l *Layout) revealColumn() {
	if l.rowMode || len(l.columns) == 0 {
		return
	}
	before := slices.Clone(l.visible)
	l.left = max(l.left, l.frozen)
	if l.column >= l.frozen {
		l.left = min(l.left, l.column)
	}
	l.arrange()
	for l.column >= l.frozen && l.left < l.column && !l.fullyVisible(l.column) {
		l.left++
		l.arrange()
	}
	if !slices.Equal(before, l.visible) {
		l.invalidate()
	}
}

// Scroll scrolls right by n columns in row mode.
func (l *Layout) Scroll(n int) {
	if n > 0 && l.fullyVisible(l.lastShown()) {
		return
	}
	l.left = max(l.frozen, min(l.left+n, l.lastShown()))
	l.invalidate()
}

// Widen widens the selected column by n cells.
func (l *Layout) Widen(n int) {
	c, ok := l.Selected()
	if !ok {
		return
	}
	l.manual[c.Name] = max(narrowest, min(l.columnWidth(l.column)+n, widest))
	l.invalidate()
	l.revealColumn()
}

// Widths returns the widths set by the user, by column name.
func (l *Layout) Widths() map[string]int { return l.manual }

// SetWidths replaces the widths set by the user.
func (l *Layout) SetWidths(widths map[string]int) {
	clear(l.manual)
	for name, width := range widths {
		l.manual[name] = max(narrowest, min(width, widest))
	}
	l.invalidate()
	l.revealColumn()
}

// columnWidth returns the width of a column. The sorted column has room for the sort
// arrow.
func (l *Layout) columnWidth(i int) int {
	c := l.columns[i]
	if width, ok := l.manual[c.Name]; ok {
		return width
	}
	width := l.widths[i].natural
	if l.sort.Column == c.Name && c.Name != "" {
		width = max(width, l.titleWidth(c)+sortArrowWidth)
	}
	return width - l.widths[i].shrunk + l.widths[i].grown
}

// scrolledRange returns the first and the last visible column after the frozen ones, or
// of all columns if none are frozen. If the columns have not been scrolled, the frozen ones are in it.
func (l *Layout) scrolledRange() (first, last int) {
	first, last = len(l.columns), -1
	for _, visible := range l.visible {
		if visible.column >= l.frozen || !l.hasSeparator() {
			first = min(first, visible.column)
			last = max(last, visible.column)
		}
	}
	if first == l.frozen {
		first = 0
	}
	return first, last
}

// AllVisible reports whether all columns that are not hidden are completely visible.
func (l *Layout) AllVisible() bool {
	last := l.lastShown()
	return last < 0 || l.left == l.frozen && l.fullyVisible(last)
}

// positionText describes the visible columns, "" if all of them are visible.
func (l *Layout) positionText() string {
	if l.rowMode || len(l.columns) == 0 {
		return ""
	}
	first, last := l.scrolledRange()
	if first > last {
		return ""
	}
	before, after := "", "" // marks of more columns
	if first > l.frozen {
		before = l.theme.Less + " "
	}
	if last < len(l.columns)-1 {
		after = " " + l.theme.More
	}
	if before+after == "" {
		return ""
	}
	return fmt.Sprintf("%scols %d-%d of %d%s", before, first+1, last+1, len(l.columns), after)
}
