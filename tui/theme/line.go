package theme

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Span is text with the style of a role.
type Span struct {
	Text string
	Role Role
}

// Compose draws one line of width cells: left-aligned and right-aligned spans. If there
// is not enough room, the left spans are truncated.
func (t *Theme) Compose(width int, left, right []Span) string {
	return t.composeOn(Plain, width, left, right)
}

// composeOn is Compose in the style of a row, which the spans override.
func (t *Theme) composeOn(row Role, width int, left, right []Span) string {
	out := make([]byte, 0, 4*width)
	end, endWidth := t.appendSpans(nil, row, right, width)
	gap := min(1, len(right)) // cells between the two sides
	out, startWidth := t.appendSpans(out, row, left, width-endWidth-gap)
	out = t.Append(out, row, Plain, Spaces(width-startWidth-endWidth))
	return string(append(out, end...))
}

// appendSpans appends spans in at most room cells, and returns the cells that they use.
func (t *Theme) appendSpans(out []byte, row Role, spans []Span, room int) ([]byte, int) {
	used := 0
	for _, span := range spans {
		shown, width := t.Sanitize(span.Text, max(0, room-used))
		out = t.Append(out, row, span.Role, shown)
		used += width
	}
	return out, used
}

// PrefixCells is the width of the sign at the left of a row in a list.
const PrefixCells = 2

// Row draws a row of a list: a bar with a sign at its left if it is selected.
func (t *Theme) Row(width int, selected bool, left, right []Span) string {
	return t.row(PrefixCells, width, selected, left, right)
}

// SignRow is Row for rows that start with a sign of their own, next to that of the bar.
func (t *Theme) SignRow(width int, selected bool, left, right []Span) string {
	return t.row(1, width, selected, left, right)
}

func (t *Theme) row(prefix, width int, selected bool, left, right []Span) string {
	if !selected {
		return t.Compose(width, append([]Span{{Text: Spaces(prefix)}}, left...), right)
	}
	sign := Span{Text: t.Pointer + Spaces(prefix-1), Role: Accent}
	return t.composeOn(Selected, width, append([]Span{sign}, left...), right)
}

// Frame draws a box around lines. Each line must be width cells wide.
func (t *Theme) Frame(title string, width int, lines []string) []string {
	return t.ScrollFrame(title, width, lines, 0, 0)
}

// ScrollFrame draws a box around an excerpt of a longer text; its edges show how many
// lines are above and below.
func (t *Theme) ScrollFrame(title string, width int, lines []string, above, below int) []string {
	up := t.moreLabel(t.Up, above)
	down := t.moreLabel(t.Down, below)
	room := width - 2 - ansi.StringWidth(up) // of the title
	head, headWidth := t.Sanitize(" "+title+" ", room)

	top := t.edge(2) + t.Paint(Breadcrumb, head) + t.edge(room+2-headWidth) + t.Paint(Breadcrumb, up)
	box := []string{t.Paint(Frame, t.border.TopLeft) + top + t.Paint(Frame, t.border.TopRight)}
	for _, line := range lines {
		box = append(box, t.Paint(Frame, t.border.Left)+" "+line+" "+t.Paint(Frame, t.border.Right))
	}
	bottom := t.edge(width+2-ansi.StringWidth(down)) + t.Paint(Breadcrumb, down)
	return append(box, t.Paint(Frame, t.border.BottomLeft)+bottom+t.Paint(Frame, t.border.BottomRight))
}

// edge draws a part of the upper or lower edge of a box.
func (t *Theme) edge(width int) string {
	return t.Paint(Frame, strings.Repeat(t.border.Top, width))
}

// moreLabel returns the label for hidden lines, "" if there are none.
func (t *Theme) moreLabel(sign string, lines int) string {
	if lines <= 0 {
		return ""
	}
	return fmt.Sprintf(" %s %d more ", sign, lines)
}

// noBreak is a hyphen at which lines are not wrapped.
const noBreak = "\u2011"

// WrapLines wraps text at word boundaries into at most limit lines. The last line
// contains the rest of the text and may be wider.
func (t *Theme) WrapLines(text string, width, limit int) []string {
	if text == "" {
		return nil
	}
	safe, _ := t.Sanitize(text, math.MaxInt32)
	joined := strings.ReplaceAll(safe, "-", noBreak) // dates and IDs are not divided
	lines := strings.Split(strings.ReplaceAll(ansi.Wrap(joined, max(1, width), ""), noBreak, "-"), "\n")
	if len(lines) > limit {
		lines = append(lines[:limit-1], strings.Join(lines[limit-1:], " "))
	}
	return lines
}

// TabBar draws the names of tabs, with the open tab in brackets.
func (t *Theme) TabBar(names []string, open, width int) string {
	tabs := []Span{{Text: " "}}
	for i, name := range names {
		tab := Span{Text: " " + name + " ", Role: Dim}
		if i == open {
			tab = Span{Text: "[" + name + "]", Role: Breadcrumb}
		}
		tabs = append(tabs, tab, Span{Text: "  "})
	}
	return t.Compose(width, tabs, nil)
}

// Dimmed draws a view that does not have the keyboard focus, or is out of date, in a single
// style.
func (t *Theme) Dimmed(view string) string {
	lines := strings.Split(ansi.Strip(view), "\n")
	for i, line := range lines {
		lines[i] = t.Paint(Faded, line)
	}
	return strings.Join(lines, "\n")
}

// Indent puts a text before each line.
func Indent(before string, lines []Span) []Span {
	for i := range lines {
		lines[i].Text = before + lines[i].Text
	}
	return lines
}

// Wrap wraps text at word boundaries to width cells, and splits words that are longer than a
// line, lists after one of their commas.
func Wrap(long string, width int) []Span {
	width = max(10, width)
	var lines []Span
	used := 0 // cells of the last line
	for word := range strings.FieldsSeq(long) {
		end, cells := fitting(word, width)
		for end < len(word) {
			if comma := strings.LastIndexByte(word[:end], ','); comma > 0 {
				end = comma + 1
			}
			lines = append(lines, Span{Text: word[:end]})
			used = width
			word = word[end:]
			end, cells = fitting(word, width)
		}
		last := len(lines) - 1
		if last >= 0 && used+1+cells <= width {
			lines[last].Text += " " + word
			used += 1 + cells
			continue
		}
		lines = append(lines, Span{Text: word})
		used = cells
	}
	return lines
}

// maxLines is the maximum number of lines of a text. The rest of a longer text is not shown.
const maxLines = 20000

// HardWrap splits text at line breaks, and where a line is longer than width cells.
func HardWrap(text string, width int) []Span {
	width = max(20, width)
	var lines []Span
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for {
			end, _ := fitting(line, width)
			lines = append(lines, Span{Text: line[:end]})
			if len(lines) >= maxLines {
				return append(lines, Span{Text: "(truncated)"})
			}
			line = line[end:]
			if line == "" {
				break
			}
		}
	}
	return lines
}
