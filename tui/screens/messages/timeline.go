package messages

import (
	"math"
	"slices"
	"strings"

	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// timelineItem is an entry of a timeline: a step with a sign, a time, a label and a text, or a
// heading.
type timelineItem struct {
	id      string // identifies a step; empty for headings and gaps, which cannot be selected
	sign    string
	role    theme.Role // of the sign and the label
	time    string
	label   string
	text    string
	note    string // at the end of the first line
	heading []theme.Span
}

// timeline draws items, of which long texts are wrapped, and selects one of them.
type timeline struct {
	session       *ui.Session
	items         []timelineItem
	index         int // of the selected item
	width, height int
	top           int // index of the first visible line
	lines         []timelineLine
	first         []int // index of the first line of each item
}

// timelineLine is a line of an item.
type timelineLine struct {
	item        int
	left, right []theme.Span
}

// maxWrapped is the maximum number of lines of a text.
const maxWrapped = 6

// set replaces the items. The selection stays on its step.
func (t *timeline) set(items []timelineItem) {
	selected := t.selectedID()
	t.items = items
	i := slices.IndexFunc(items, func(item timelineItem) bool { return item.id != "" && item.id == selected })
	if i >= 0 {
		t.index = i
	}
	t.layout()
	t.move(0)
}

// selectedID returns the ID of the selected step, "" for none.
func (t *timeline) selectedID() string {
	if t.index < 0 || t.index >= len(t.items) {
		return ""
	}
	return t.items[t.index].id
}

func (t *timeline) setSize(width, height int) {
	t.width, t.height = width, height
	t.layout()
	t.move(0)
}

// layout divides the items into lines.
func (t *timeline) layout() {
	timeWidth, labelWidth := 0, 0
	for _, item := range t.items {
		timeWidth = max(timeWidth, theme.Width(item.time))
		labelWidth = max(labelWidth, theme.Width(item.label))
	}
	painter := t.session.Theme
	t.lines = t.lines[:0]
	t.first = t.first[:0]
	for i, item := range t.items {
		t.first = append(t.first, len(t.lines))
		if item.id == "" {
			t.lines = append(t.lines, timelineLine{item: i, left: item.heading})
			continue
		}
		start := []theme.Span{
			{Text: item.sign + " ", Role: item.role},
			{Text: painter.Fit(item.time, timeWidth, false) + "  ", Role: theme.Dim},
			{Text: painter.Fit(item.label, labelWidth, false) + "   ", Role: item.role},
		}
		const gaps = len("  ") + len("  ") + len("   ")
		before := gaps + timeWidth + labelWidth
		var right []theme.Span
		room := t.width - theme.PrefixCells - before - 1
		if item.note != "" {
			right = []theme.Span{{Text: item.note + " ", Role: theme.Dim}}
			room -= theme.Width(item.note) + 1
		}
		wrapped := wrapClauses(painter, item.text, max(room, 10))
		if len(wrapped) == 0 {
			wrapped = []string{""}
		}
		for n, text := range wrapped {
			if n > 0 {
				start = []theme.Span{{Text: theme.Spaces(before)}}
				right = nil
			}
			first := append(slices.Clone(start), theme.Span{Text: text})
			t.lines = append(t.lines, timelineLine{item: i, left: first, right: right})
		}
	}
}

// wrapClauses wraps a text to at most maxWrapped lines. A line ends with a clause if that fills half of
// it, so that a sentence is not divided anywhere.
func wrapClauses(t *theme.Theme, text string, width int) []string {
	remaining, _ := t.Sanitize(text, math.MaxInt32)
	var lines []string
	for remaining != "" {
		line := t.WrapLines(remaining, width, 2)[0]
		if len(line) < len(remaining) {
			line = firstClauses(line, width/2)
		}
		if len(lines) == maxWrapped-1 {
			line = remaining
		}
		lines = append(lines, line)
		remaining = strings.TrimLeft(remaining[len(line):], " ")
	}
	return lines
}

// firstClauses returns the clauses at the start of a line, or the line if they are narrower than
// minWidth.
func firstClauses(line string, minWidth int) string {
	for end := len(line); end > 0; {
		end = strings.LastIndexAny(line[:end], ",;:.")
		isClause := end >= 0 && (end+1 == len(line) || line[end+1] == ' ')
		if isClause && theme.Width(line[:end+1]) >= minWidth {
			return line[:end+1]
		}
	}
	return line
}

// move selects the step n steps further, and scrolls to it with its heading.
func (t *timeline) move(n int) {
	if len(t.items) == 0 {
		t.index, t.top = 0, 0
		return
	}
	t.index = max(0, min(t.index, len(t.items)-1))
	step := 1
	if n < 0 {
		step = -1
	}
	if t.items[t.index].id == "" && !t.skip(step) {
		t.skip(-step)
	}
	for range max(n, -n) {
		if !t.skip(step) {
			break
		}
	}
	t.reveal()
}

// skip selects the next step in a direction, and reports whether there is one.
func (t *timeline) skip(direction int) bool {
	for i := t.index + direction; i >= 0 && i < len(t.items); i += direction {
		if t.items[i].id != "" {
			t.index = i
			return true
		}
	}
	return false
}

// reveal scrolls to the selected item. Headings directly above it stay visible if there is room.
func (t *timeline) reveal() {
	start, end := t.first[t.index], len(t.lines)
	if t.index+1 < len(t.items) {
		end = t.first[t.index+1]
	}
	for i := t.index - 1; i >= 0 && t.items[i].id == ""; i-- {
		start = t.first[i]
	}
	t.top = max(t.top, end-t.height)
	t.top = min(t.top, start)
	t.top = max(t.top, end-t.height)
	t.top = max(0, min(t.top, len(t.lines)-t.height))
}

// handle handles navigation keys and reports whether the action was one.
func (t *timeline) handle(action keymap.Action) bool {
	switch action {
	case keymap.GoUp:
		t.move(-1)
	case keymap.GoDown:
		t.move(1)
	case keymap.GoTop:
		t.move(math.MinInt16)
	case keymap.GoBottom:
		t.move(math.MaxInt16)
	case keymap.PageUp:
		t.move(-max(1, t.height-1))
	case keymap.PageDown:
		t.move(max(1, t.height-1))
	case keymap.HalfUp:
		t.move(-max(1, t.height/2))
	case keymap.HalfDown:
		t.move(max(1, t.height/2))
	default:
		return false
	}
	return true
}

// selectAt selects the step in a line of the screen, and reports whether there is one.
func (t *timeline) selectAt(y int) bool {
	line := t.top + y
	if y < 0 || y >= t.height || line >= len(t.lines) || t.items[t.lines[line].item].id == "" {
		return false
	}
	t.index = t.lines[line].item
	t.reveal()
	return true
}

// view draws exactly height lines of width cells.
func (t *timeline) view() string {
	lines := make([]string, t.height)
	for i := range lines {
		if t.top+i >= len(t.lines) {
			lines[i] = theme.Spaces(t.width)
			continue
		}
		line := t.lines[t.top+i]
		selected := line.item == t.index && t.items[line.item].id != ""
		lines[i] = t.session.Theme.Row(t.width, selected, line.left, line.right)
	}
	return strings.Join(lines, "\n")
}
