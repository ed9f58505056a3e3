package output

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/theme"
)

const (
	tableSample    = 500 // rows that determine the widths; bounds memory use
	tableCellMax   = 40  // maximum width of text
	tableCellMin   = 12  // text is truncated to this width before columns are hidden
	tableMiddleMin = 20  // the same for text that is truncated in the middle
	tableGap       = 2
)

// tableWriter writes aligned columns. It buffers the first rows to choose the
// widths.
type tableWriter struct {
	layout
	brief  view            // the view without details
	empty  view            // columns that were removed from brief, and have had no value so far
	late   []string        // titles of columns that were removed, but have a value in a later row
	sample []client.Row    // buffered rows; nil after the widths are chosen
	widths []int           // widths of all columns, negative for hidden ones; nil before they are chosen
	turned *verticalWriter // writes the rows if a table is not suitable; else nil
}

func newTable(l layout) RowWriter { return &tableWriter{layout: l, brief: l.view.brief()} }

func (p *tableWriter) Begin() error { return nil }

func (p *tableWriter) Row(r client.Row) error {
	if p.turned != nil {
		return p.turned.Row(r)
	}
	if p.widths != nil {
		p.findLate(r)
		return p.line(p.brief.cellsOf(r))
	}
	p.sample = append(p.sample, r.Clone())
	if len(p.sample) == tableSample {
		return p.choose()
	}
	return nil
}

// findLate finds the removed columns that have a value in a later row.
func (p *tableWriter) findLate(r client.Row) {
	if len(p.empty.columns) == 0 {
		return
	}
	for i, c := range slices.Backward(p.empty.cellsOf(r)) {
		if c.text != "" {
			p.late = append(p.late, p.empty.columns[i].Title)
			p.empty.columns = slices.Delete(p.empty.columns, i, i+1)
		}
	}
}

// End also lists the columns with values that are not shown: those that did not fit, and those that
// were removed before they had a value.
func (p *tableWriter) End() error {
	if p.widths == nil && p.turned == nil {
		if err := p.choose(); err != nil {
			return err
		}
	}
	if p.turned != nil {
		return nil
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	var hidden []string
	for i, width := range p.widths {
		if width < 0 {
			hidden = append(hidden, p.brief.columns[i].Title)
		}
	}
	for _, column := range p.view.columns {
		if slices.Contains(p.late, column.Title) {
			hidden = append(hidden, column.Title)
		}
	}
	if len(hidden) > 0 {
		advice := "show with --format vertical"
		if p.choosable {
			advice = "choose with --fields"
		}
		p.notice("hidden columns: %s  (%s)", strings.Join(hidden, ", "), advice)
	}
	return nil
}

// choose chooses the widths and writes the buffered rows.
func (p *tableWriter) choose() error {
	var sample [][]cell
	for _, row := range p.sample {
		sample = append(sample, p.brief.cellsOf(row))
	}
	p.empty = p.brief.dropEmpty(sample)
	var titles []cell
	for _, column := range p.brief.columns {
		titles = append(titles, cell{display.Sanitize(p.brief.title(column)), theme.Title})
	}
	p.widths = p.chooseWidths(titles, sample)
	if p.isTurned(len(sample)) {
		return p.turn()
	}
	var err error
	if !p.headless {
		err = p.line(titles)
	}
	for _, cells := range sample {
		err = errors.Join(err, p.line(cells))
	}
	p.sample = nil
	return err
}

// chooseWidths returns the widths of the columns for the first rows.
func (p *tableWriter) chooseWidths(titles []cell, sample [][]cell) []int {
	n := len(p.brief.columns)
	full := make([]int, n) // widths of whole values
	want := make([]int, n) // preferred widths
	need := make([]int, n) // minimum widths
	for i, column := range p.brief.columns {
		for _, cells := range sample {
			full[i] = max(full[i], ansi.StringWidthWc(cells[i].text))
		}
		want[i], need[i] = column.As.widths(full[i])
		title := ansi.StringWidthWc(titles[i].text)
		want[i] = max(want[i], min(title, tableCellMax))
		need[i] = max(need[i], min(title, tableCellMin))
	}
	if p.width == 0 {
		for i := range full {
			full[i] = max(full[i], ansi.StringWidthWc(titles[i].text))
		}
		return full
	}
	widths := fit(p.brief.columns, want, need, p.width)
	if p.view.terminal && !slices.Contains(widths, -1) { // there may be room for more
		return fit(p.brief.columns, full, widths, p.width)
	}
	return widths
}

// widths returns the preferred and the minimum width of a column with values of a width.
func (f Formatter) widths(full int) (want, need int) {
	if f.whole {
		return full, full
	}
	want = min(full, tableCellMax)
	if f.middle && !f.narrow {
		return want, min(want, tableMiddleMin)
	}
	return want, min(want, tableCellMin)
}

// isTurned reports whether a line for each field is written instead of a table: for a single row,
// or if a table would hide more than half of the columns.
func (p *tableWriter) isTurned(rows int) bool {
	visible := 0
	for _, width := range p.widths {
		if width >= 0 {
			visible++
		}
	}
	isSingle := p.single && rows == 1
	hidesMost := 2*visible < len(p.widths)
	return p.vertical && (isSingle || hidesMost)
}

// turn writes the buffered rows with a line for each field.
func (p *tableWriter) turn() error {
	p.turned = newVertical(p.layout).(*verticalWriter)
	err := p.turned.Begin()
	for _, row := range p.sample {
		err = errors.Join(err, p.turned.Row(row))
	}
	p.sample = nil
	return err
}

// fit returns the widths of the columns that fit, at least one; others are -1. The columns
// with the highest ranks are hidden first. Each column has at least the width need;
// remaining space is distributed evenly, up to the width want.
func fit(columns []viewColumn, want, need []int, room int) []int {
	widths := slices.Clone(need)
	free := room + tableGap // negative if the columns are too wide
	for _, width := range widths {
		free -= width + tableGap
	}
	for visible := len(widths); visible > 1 && free < 0; visible-- {
		i := lowestRanked(columns, widths)
		free += widths[i] + tableGap
		widths[i] = -1
	}
	isVisible := func(width int) bool { return width >= 0 }
	if only := slices.IndexFunc(widths, isVisible); free < 0 && only >= 0 {
		widths[only] = max(1, room)
	}
	widen(widths, want, free)
	return widths
}

// lowestRanked returns the index of the visible column with the highest rank, the last of several.
func lowestRanked(columns []viewColumn, widths []int) int {
	index := -1
	for i, width := range widths {
		if width >= 0 && (index < 0 || columns[i].Rank >= columns[index].Rank) {
			index = i
		}
	}
	return index
}

// widen distributes free cells to the visible columns, one at a time, up to the widths want.
func widen(widths, want []int, free int) {
	for hasGrown := true; hasGrown && free > 0; {
		hasGrown = false
		for i, width := range widths {
			canGrow := width >= 0 && width < want[i]
			if canGrow && free > 0 {
				widths[i]++
				free--
				hasGrown = true
			}
		}
	}
}

// line writes a line with numbers right-aligned and trailing blanks removed.
func (p *tableWriter) line(cells []cell) error {
	line := p.out.AvailableBuffer()
	start := 0 // of the column, in cells
	for i, width := range p.widths {
		if width < 0 {
			continue
		}
		formatter := p.brief.columns[i].As
		text := cells[i].text
		isWrapped := formatter.wraps && p.view.terminal
		if isWrapped {
			text = p.hanging(text, start)
		} else if p.width > 0 {
			text = cutShort(p.brief.screen, text, width, formatter.middle)
		}
		pad := strings.Repeat(" ", max(0, width-ansi.StringWidthWc(text)))
		text = p.brief.screen.Paint(cells[i].role, text)
		if formatter.right {
			line = append(append(line, pad...), text...)
		} else {
			line = append(append(line, text...), pad...)
		}
		line = append(line, "  "[:tableGap]...)
		start += width + tableGap
	}
	line = append(bytes.TrimRight(line, " "), '\n')
	_, err := p.out.Write(line)
	return err
}

// hanging divides the text of a column into lines that begin where the column does. On a narrow
// terminal, the terminal divides it.
func (p *tableWriter) hanging(text string, start int) string {
	const minRoom = 30
	room := p.width - start
	if room < minRoom || ansi.StringWidthWc(text) <= room {
		return text
	}
	lines := p.brief.screen.WrapLines(text, room, len(text))
	return strings.Join(lines, "\n"+strings.Repeat(" ", start))
}

// FitMiddle pads text to a width, or truncates it in the middle.
func FitMiddle(s Screen, text string, width int) string {
	text = cutShort(s, text, width, true)
	return text + strings.Repeat(" ", width-ansi.StringWidthWc(text))
}

// cutShort truncates text to a width, at its end or in the middle, and marks where.
func cutShort(s Screen, text string, width int, middle bool) string {
	if ansi.StringWidthWc(text) <= width {
		return text
	}
	end := ""
	if middle {
		for i := range text { // up to the longest end that fits in half of the width
			end = text[i:]
			if ansi.StringWidthWc(end) <= (width-1)/2 {
				break
			}
		}
	}
	end = s.Ellipsis + end
	text = ansi.TruncateWc(text, width-ansi.StringWidthWc(end), "")
	for ansi.StringWidthWc(text+end) > width && text != "" {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text + end
}

// verticalWriter writes a line for each field and an empty line between rows. It
// does not truncate.
type verticalWriter struct {
	layout
	width int // width of the titles in cells
	rows  int // number of rows so far
}

func newVertical(l layout) RowWriter {
	l.view.screen.long = true
	return &verticalWriter{layout: l}
}

func (p *verticalWriter) Begin() error {
	p.width = 0
	for _, column := range p.view.columns {
		p.width = max(p.width, ansi.StringWidthWc(display.Sanitize(column.Title)))
	}
	return nil
}

func (p *verticalWriter) Row(r client.Row) error {
	return p.cells(p.view.cellsOf(r))
}

func (p *verticalWriter) End() error { return nil }

// cells writes a row. On a terminal, values with several lines have as many, and details without a
// value are left out.
func (p *verticalWriter) cells(cells []cell) error {
	var text []byte
	p.rows++
	if p.rows > 1 {
		text = append(text, '\n')
	}
	for i, column := range p.view.columns {
		value := cells[i]
		if column.Rank >= DetailOnly && value.text == p.null {
			continue
		}
		lines := []string{value.text}
		if p.view.terminal {
			lines = strings.Split(strings.TrimRight(value.text, "\r\n"), "\n")
		}
		title := display.Sanitize(column.Title)
		for _, line := range lines {
			text = append(text, p.line(title, line, value.role)...)
			title = "" // for further lines
		}
	}
	_, err := p.out.Write(text)
	return err
}

// line returns a line with a title and a value.
func (p *verticalWriter) line(title, value string, role theme.Role) string {
	pad := strings.Repeat(" ", p.width-ansi.StringWidthWc(title)+tableGap)
	value = display.Sanitize(strings.TrimSuffix(value, "\r"))
	screen := p.view.screen
	line := screen.Paint(theme.Label, title) + pad + screen.Paint(role, value)
	return strings.TrimRight(line, " ") + "\n"
}
