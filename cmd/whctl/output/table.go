package output

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
)

const (
	tableSample   = 500 // rows that determine the widths; bounds memory use
	tableCellMax  = 40  // maximum width of text
	tableCellMin  = 12  // text is truncated to this width before columns are hidden
	tableGap      = 2
	tableCutShort = "~" // marks truncated text
)

// tableWriter writes aligned columns. It buffers the first rows to choose the
// widths.
type tableWriter struct {
	layout
	sample [][]string
	widths []int // of the visible columns; nil before they are chosen
	turned *verticalWriter
}

func newTable(l layout) RowWriter { return &tableWriter{layout: l} }

func (p *tableWriter) Begin() error { return nil }

func (p *tableWriter) Row(r client.Row) error {
	cells := p.cellsOf(r)
	if p.turned != nil {
		return p.turned.cells(cells)
	}
	if p.widths != nil {
		return p.line(cells)
	}
	p.sample = append(p.sample, cells)
	if len(p.sample) == tableSample {
		return p.choose()
	}
	return nil
}

// End also lists the columns that did not fit.
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
	if hidden := p.names[len(p.widths):]; len(hidden) > 0 {
		way := "show with --format vertical"
		if p.choosable {
			way = "choose with --fields"
		}
		p.notice("hidden columns: %s  (%s)", strings.Join(hidden, ", "), way)
	}
	return nil
}

// cellsOf returns the values of a row, sanitized and with trailing zeros of times
// removed.
func (l *layout) cellsOf(r client.Row) []string {
	l.values = r.Values(l.values[:0], l.names)
	cells := make([]string, len(l.values))
	for i, v := range l.values {
		if v.Null() {
			cells[i] = l.null
			continue
		}
		t := l.columns[i].Type
		text := v.AppendCell(nil, t)
		if (t == record.DateTime || t == record.Epoch) && bytes.IndexByte(text, '.') >= 0 {
			text = bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte("."))
		}
		cells[i] = string(display.AppendSanitized(nil, text, ""))
	}
	return cells
}

// choose chooses the widths and writes the buffered rows.
func (p *tableWriter) choose() error {
	want, need := make([]int, len(p.names)), make([]int, len(p.names))
	for i, name := range p.names {
		for _, cells := range p.sample {
			want[i] = max(want[i], ansi.StringWidthWc(cells[i]))
		}
		need[i] = want[i]
		if t := p.columns[i].Type; !t.Number() && t != record.DateTime && t != record.Epoch {
			want[i] = min(want[i], tableCellMax)
			need[i] = min(want[i], tableCellMin)
		}
		want[i] = max(want[i], min(ansi.StringWidthWc(name), tableCellMax))
		need[i] = max(need[i], min(ansi.StringWidthWc(name), tableCellMin))
	}
	p.widths = fit(want, need, p.width)
	print, err := p.line, error(nil)
	if p.vertical && (len(p.sample) == 1 || 2*len(p.widths) < len(p.names)) {
		// A line per field is used for a single row, or if a table would show less
		// than half of the columns.
		p.turned = &verticalWriter{layout: p.layout}
		print, err = p.turned.cells, p.turned.Begin()
	} else {
		err = p.line(p.names)
	}
	for _, cells := range p.sample {
		if err == nil {
			err = print(cells)
		}
	}
	p.sample = nil
	return err
}

// fit returns the widths of as many leading columns as fit, at least one. Each
// column has at least the width need; remaining space is distributed evenly, up to the
// width want.
func fit(want, need []int, room int) []int {
	shown := len(need)
	for shown > 1 && total(need[:shown]) > room {
		shown--
	}
	widths := append([]int(nil), need[:shown]...)
	if shown == 1 {
		widths[0] = max(1, min(widths[0], room))
	}
	for left := room - total(widths); left > 0; {
		before := left
		for i := range widths {
			if left > 0 && widths[i] < want[i] {
				widths[i]++
				left--
			}
		}
		if left == before {
			break
		}
	}
	return widths
}

// total returns the width of a line with these columns.
func total(widths []int) int {
	sum := tableGap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// line writes a line with numbers right-aligned and trailing blanks removed.
func (p *tableWriter) line(cells []string) error {
	line := p.out.AvailableBuffer()
	for i, width := range p.widths {
		text := cutShort(cells[i], width)
		pad := strings.Repeat(" ", width-ansi.StringWidthWc(text))
		if p.columns[i].Type.Number() {
			line = append(append(line, pad...), text...)
		} else {
			line = append(append(line, text...), pad...)
		}
		line = append(line, "  "[:tableGap]...)
	}
	line = append(bytes.TrimRight(line, " "), '\n')
	_, err := p.out.Write(line)
	return err
}

// cutShort truncates text to a width and marks truncated text.
func cutShort(text string, width int) string {
	if ansi.StringWidthWc(text) <= width {
		return text
	}
	text = ansi.TruncateWc(text, width, "")
	for ansi.StringWidthWc(text+tableCutShort) > width {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text + tableCutShort
}
