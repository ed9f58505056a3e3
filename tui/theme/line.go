package theme

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

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
	used := 0
	draw := func(spans []Span) string {
		var b strings.Builder
		for _, s := range spans {
			text, w := t.Sanitize(s.Text, max(0, width-used))
			b.WriteString(t.Paint(s.Role, text))
			used += w
		}
		return b.String()
	}
	end, gap := draw(right), min(1, len(right))
	used += gap
	begin := draw(left)
	return begin + Spaces(width-used+gap) + end
}

// RowPrefix returns the prefix of a row in a list, and the role of the row.
func (t *Theme) RowPrefix(selected bool) (string, Role) {
	if selected {
		return t.Pointer + " ", Selected
	}
	return "  ", Plain
}

// Frame draws a box around lines. Each line must be width cells wide.
func (t *Theme) Frame(title string, width int, lines []string) []string {
	return t.ScrollFrame(title, width, lines, 0, 0)
}

// ScrollFrame draws a box around an excerpt of a longer text; its edges show how many
// lines are above and below.
func (t *Theme) ScrollFrame(title string, width int, lines []string, above, below int) []string {
	up, down := t.moreLabel(t.Up, above), t.moreLabel(t.Down, below)
	room := width - 2 - ansi.StringWidth(up)
	head, used := t.Sanitize(" "+title+" ", room)
	b, bar := t.border, func(n int) string { return t.Paint(Frame, strings.Repeat(t.border.Top, n)) }
	edge := func(left, inner, end, right string) string {
		return t.Paint(Frame, left) + inner + t.Paint(Breadcrumb, end) + t.Paint(Frame, right)
	}
	box := []string{edge(b.TopLeft, bar(2)+t.Paint(Breadcrumb, head)+bar(room+2-used), up, b.TopRight)}
	for _, line := range lines {
		box = append(box, t.Paint(Frame, b.Left)+" "+line+" "+t.Paint(Frame, b.Right))
	}
	return append(box, edge(b.BottomLeft, bar(width+2-ansi.StringWidth(down)), down, b.BottomRight))
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
func (t *Theme) TabBar(names []string, at, width int) string {
	left := []Span{{Text: " "}}
	for i, name := range names {
		if i == at {
			left = append(left, Span{"[" + name + "]", Breadcrumb}, Span{Text: "  "})
		} else {
			left = append(left, Span{" " + name + " ", Dim}, Span{Text: "  "})
		}
	}
	return t.Compose(width, left, nil)
}

// SideBySide draws two views of equal height next to each other, with a separator.
func (t *Theme) SideBySide(left, right string) string {
	l, r := strings.Split(left, "\n"), strings.Split(right, "\n")
	for i := range l {
		l[i] += t.Paint(Rule, t.Separator) + r[i]
	}
	return strings.Join(l, "\n")
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

// Wrap wraps text at word boundaries, and splits words that are longer than a line.
func Wrap(long string, width int) []Span {
	width = max(10, width)
	var lines []Span
	for word := range strings.FieldsSeq(long) {
		for len(word) > width {
			cut := width
			for cut > 1 && !utf8.RuneStart(word[cut]) {
				cut--
			}
			lines = append(lines, Span{Text: word[:cut]})
			word = word[cut:]
		}
		last := len(lines) - 1
		if last >= 0 && len(lines[last].Text)+1+len(word) <= width {
			lines[last].Text += " " + word
			continue
		}
		lines = append(lines, Span{Text: word})
	}
	return lines
}

// maxLines is the number of lines of a text that are shown.
const maxLines = 20000

// HardWrap splits text at line breaks and where a line exceeds width.
func HardWrap(text string, width int) []Span {
	width = max(20, width)
	var lines []Span
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for first := true; first || line != ""; first = false {
			n := 0
			for i := range line {
				n = len(line)
				if i >= width {
					n = i
					break
				}
			}
			lines = append(lines, Span{Text: line[:n]})
			line = line[n:]
			if len(lines) >= maxLines {
				return append(lines, Span{Text: "(truncated)"})
			}
		}
	}
	return lines
}
