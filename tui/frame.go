package tui

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// frame draws a box around lines that are each width cells wide.
func (a *app) frame(title string, width int, lines []string) []string {
	return a.part(title, width, lines, 0, 0)
}

// part is a frame around some lines of a longer text: its edges say how many
// lines are above and below them.
func (a *app) part(title string, width int, lines []string, above, below int) []string {
	t := a.theme
	corner := []rune(t.corner)
	up, down := t.further(t.Up, above), t.further(t.Down, below)
	room := width - 2 - ansi.StringWidth(up)
	head, used := t.Inert(" "+title+" ", room)
	edge := func(left, right rune, inner, end string) string {
		return t.boxed.Paint(string(left)) + inner + t.crumb.Paint(end) + t.boxed.Paint(string(right))
	}
	top := t.boxed.Paint(t.bar+t.bar) + t.crumb.Paint(head) + t.boxed.Paint(strings.Repeat(t.bar, room+2-used))
	box := []string{edge(corner[0], corner[1], top, up)}
	for _, line := range lines {
		box = append(box, t.boxed.Paint(t.side)+" "+line+" "+t.boxed.Paint(t.side))
	}
	return append(box, edge(corner[2], corner[3], t.boxed.Paint(strings.Repeat(t.bar, width+2-ansi.StringWidth(down))), down))
}

// further says that there is more; "" where there is none.
func (t *theme) further(sign string, lines int) string {
	if lines <= 0 {
		return ""
	}
	return fmt.Sprintf(" %s %d more ", sign, lines)
}

// broken is a text in lines that are broken between words, at most so many: the
// last one is as long as all that is left.
func (t *theme) broken(text string, width, most int) []string {
	if text == "" {
		return nil
	}
	safe, _ := t.Inert(text, math.MaxInt32)
	lines := strings.Split(ansi.Wrap(safe, max(1, width), ""), "\n")
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	return lines
}
