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
	brief  view // without details
	sample []client.Row
	widths []int // widths of all columns, negative for hidden ones; nil before they are chosen
	turned *verticalWriter
}

func newTable(l layout) RowWriter { return &tableWriter{layout: l, brief: l.view.brief()} }

func (p *tableWriter) Begin() error { return nil }

func (p *tableWriter) Row(r client.Row) error {
	if p.turned != nil {
		return p.turned.Row(r)
	}
	if p.widths != nil {
		return p.line(p.brief.cellsOf(r))
	}
	p.sample = append(p.sample, r.Clone())
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
	var hidden []string
	for i, width := range p.widths {
		if width < 0 {
			hidden = append(hidden, p.brief.columns[i].Title)
		}
	}
	if len(hidden) > 0 {
		way := "show with --format vertical"
		if p.choosable {
			way = "choose with --fields"
		}
		p.notice("hidden columns: %s  (%s)", strings.Join(hidden, ", "), way)
	}
	return nil
}

// choose chooses the widths and writes the buffered rows.
func (p *tableWriter) choose() error {
	var sample [][]cell
	for _, row := range p.sample {
		sample = append(sample, p.brief.cellsOf(row))
	}
	p.brief.dropEmpty(sample)

	// The widths of columns: of whole texts, preferred, and at least.
	n := len(p.brief.columns)
	full := make([]int, n)
	want := make([]int, n)
	need := make([]int, n)
	titles := make([]cell, n)
	for i, s := range p.brief.columns {
		titles[i] = cell{display.Sanitize(p.brief.title(s)), theme.Title}
		for _, cells := range sample {
			full[i] = max(full[i], ansi.StringWidthWc(cells[i].text))
		}
		switch {
		case s.As.whole:
			want[i] = full[i]
			need[i] = full[i]
		case s.As.middle:
			want[i] = min(full[i], tableCellMax)
			need[i] = min(want[i], tableMiddleMin)
		default:
			want[i] = min(full[i], tableCellMax)
			need[i] = min(want[i], tableCellMin)
		}
		width := ansi.StringWidthWc(titles[i].text)
		want[i] = max(want[i], min(width, tableCellMax))
		need[i] = max(need[i], min(width, tableCellMin))
	}
	p.widths = fit(p.brief.columns, want, need, p.width)
	if p.view.terminal && !slices.Contains(p.widths, -1) { // with the room that is left
		p.widths = fit(p.brief.columns, full, p.widths, p.width)
	}
	visible := 0
	for _, width := range p.widths {
		visible += min(1, width+1)
	}

	// A line per field is used for a single row, or if a table would show less than half of
	// the columns.
	isSingle := p.single && len(sample) == 1
	if p.vertical && (isSingle || 2*visible < n) {
		p.turned = newVertical(p.layout).(*verticalWriter)
		err := p.turned.Begin()
		for _, row := range p.sample {
			err = errors.Join(err, p.turned.Row(row))
		}
		p.sample = nil
		return err
	}
	err := p.line(titles)
	for _, cells := range sample {
		err = errors.Join(err, p.line(cells))
	}
	p.sample = nil
	return err
}

// fit returns the widths of the columns that fit, at least one; others are -1. The columns
// with the highest ranks are hidden first. Each column has at least the width need;
// remaining space is distributed evenly, up to the width want.
func fit(columns []ViewColumn, want, need []int, room int) []int {
	widths := slices.Clone(need)
	left := room + tableGap
	for _, w := range widths {
		left -= w + tableGap
	}
	for visible := len(widths); visible > 1 && left < 0; visible-- {
		hide := -1
		for i, w := range widths {
			if w >= 0 && (hide < 0 || columns[i].Rank >= columns[hide].Rank) {
				hide = i
			}
		}
		left += widths[hide] + tableGap
		widths[hide] = -1
	}
	if only := slices.IndexFunc(widths, func(w int) bool { return w >= 0 }); left < 0 && only >= 0 {
		widths[only] = max(1, room)
	}
	for grown := true; grown && left > 0; {
		grown = false
		for i := range widths {
			if left > 0 && widths[i] >= 0 && widths[i] < want[i] {
				widths[i]++
				left--
				grown = true
			}
		}
	}
	return widths
}

// line writes a line with numbers right-aligned and trailing blanks removed.
func (p *tableWriter) line(cells []cell) error {
	line := p.out.AvailableBuffer()
	for i, width := range p.widths {
		if width < 0 {
			continue
		}
		formatter := p.brief.columns[i].As
		text := cells[i].text
		if !formatter.wraps || !p.view.terminal {
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
	}
	line = append(bytes.TrimRight(line, " "), '\n')
	_, err := p.out.Write(line)
	return err
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
		for i := range text { // the longest end that fits in half of the width
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
	width int // width of the names
	rows  int
}

func newVertical(l layout) RowWriter {
	l.view.screen.long = true
	return &verticalWriter{layout: l}
}

func (p *verticalWriter) Begin() error {
	p.width = 0
	for _, s := range p.view.columns {
		p.width = max(p.width, ansi.StringWidthWc(display.Sanitize(s.Title)))
	}
	return nil
}

func (p *verticalWriter) Row(r client.Row) error {
	return p.cells(p.view.cellsOf(r))
}

func (p *verticalWriter) End() error { return nil }

// cells writes a row of texts. View see a text with several lines as such, and no details
// that the row does not have.
func (p *verticalWriter) cells(cells []cell) error {
	var text []byte
	p.rows++
	if p.rows > 1 {
		text = append(text, '\n')
	}
	for i, s := range p.view.columns {
		lines := []string{cells[i].text}
		if p.view.terminal {
			lines = strings.Split(strings.TrimRight(cells[i].text, "\r\n"), "\n")
		}
		if s.Rank >= DetailOnly && cells[i].text == p.null {
			continue
		}
		name := display.Sanitize(s.Title)
		for _, line := range lines {
			pad := strings.Repeat(" ", p.width-ansi.StringWidthWc(name)+tableGap)
			shown := display.Sanitize(strings.TrimSuffix(line, "\r"))
			line = p.view.screen.Paint(theme.Label, name) + pad + p.view.screen.Paint(cells[i].role, shown)
			text = append(text, bytes.TrimRight([]byte(line), " ")...)
			text = append(text, '\n')
			name = ""
		}
	}
	_, err := p.out.Write(text)
	return err
}
