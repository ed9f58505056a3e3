package home

import (
	"slices"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// layout draws the parts of the screen, as far as its plan has room for them.
type layout struct {
	*Overview
	session       *ui.Session
	width, height int          // in cells
	selected      int          // index of the selected entry
	troubled      []wire.Queue // endpoints in trouble
	views         []state.View // that are listed
	viewCounts    map[string]string
}

// block is a panel, with the entries on its lines.
type block struct {
	theme.Panel
	title    string
	detail   string // after the title
	hasTitle bool   // also without frames
	entries  []int  // index of the entry of each line, noEntry for none
}

// noEntry is the index of lines that cannot be selected.
const noEntry = -1

// newBlock returns a block without lines.
func newBlock(title string, width int) block {
	b := block{title: title}
	b.Width = width
	return b
}

// add adds a line of an entry.
func (b *block) add(line string, entry int) {
	b.Lines = append(b.Lines, line)
	b.entries = append(b.entries, entry)
}

// addText adds lines without an entry.
func (b *block) addText(lines ...string) {
	for _, line := range lines {
		b.add(line, noEntry)
	}
}

// fill adds blank lines up to the height of the panel.
func (b *block) fill() {
	for len(b.Lines) < b.Height {
		b.addText(theme.Spaces(b.Width))
	}
}

// blocks draws the planned parts of the screen, from the top to the bottom.
func (l layout) blocks() []block {
	p := l.plan()
	bands := l.bands(p)
	var blocks []block
	y, first := 0, 0
	for i, band := range bands {
		height := band.height
		isLast := i == len(bands)-1
		if isLast && l.session.Frames { // its frame ends at the edge of the screen
			height = max(1, l.height-y)
		}
		for _, b := range band.draw(l, p, first) {
			b.Y = y
			b.Height = height
			b.hasTitle = band.hasTitle
			b.fill()
			blocks = append(blocks, b)
		}
		const edge = 1
		y += height + edge
		first += band.entries
	}
	l.addHeadings(blocks)
	return blocks
}

// addHeadings puts the titles into the frames, and marks the panel of the selected entry, or else the
// first one.
func (l layout) addHeadings(blocks []block) {
	hasSelected := func(b block) bool { return slices.Contains(b.entries, l.selected) }
	focused := max(0, slices.IndexFunc(blocks, hasSelected))
	for i := range blocks {
		b := &blocks[i]
		b.Focused = i == focused
		title := theme.Span{Text: b.title, Role: theme.Breadcrumb}
		if b.Focused {
			title.Role = theme.Title
		}
		b.Title = []theme.Span{title}
		if b.detail != "" {
			b.Title = append(b.Title,
				theme.Span{Text: " " + l.session.Theme.Line + " ", Role: theme.Rule},
				theme.Span{Text: b.detail})
		}
	}
}

// startBand explains how to start if nothing can be delivered.
func (l layout) startBand(plan, int) []block {
	text := " No subscriber yet. " + keymap.KeyFor(keymap.InHome, keymap.AddNew) + " creates one."
	if l.Subscribers > 0 {
		text = " No subscription yet. 3 opens the subscribers, Enter and " +
			keymap.KeyFor(keymap.InSubscriptions, keymap.AddNew) + " there add one."
	}
	b := newBlock("Endpoints", l.width)
	b.addText(l.session.Theme.Fit(text, l.width, false))
	return []block{b}
}

// topBand draws the hour, and the endpoints next to it.
func (l layout) topBand(p plan, first int) []block {
	hourWidth := l.leftWidth()
	hour := l.hourBlock(p, hourWidth)
	list := l.endpoints(l.width - hourWidth - 1)
	endpoints := list.block(p[troubledEndpoints], l.topHeight(p), first, l.selected)
	endpoints.X = hourWidth + 1
	return []block{hour, endpoints}
}

// leftWidth returns the width of the chart next to the endpoints: one to three cells for each minute.
func (l layout) leftWidth() int {
	const minRight, around = 46, labelCells + 2
	cells := max(1, min(3, (l.width-1-minRight-around)/60))
	return around + 60*cells + 1
}

// hourBand draws the hour across the screen.
func (l layout) hourBand(p plan, _ int) []block { return []block{l.hourBlock(p, l.width)} }

// hourBlock draws the numbers and the chart of the last hour.
func (l layout) hourBlock(p plan, width int) block {
	c := chart{
		session: l.session,
		stats:   l.Stats,
		width:   width,
		rows:    p[chartBars],
		short:   !l.isWide(),
	}
	b := newBlock(ui.PeriodLabel(&l.session.Clock, l.Stats), width)
	b.addText(c.totals())
	if c.rows == 0 {
		return b
	}
	if l.isWide() {
		b.addText(theme.Spaces(width))
	}
	b.addText(c.lines()...)
	if p[chartAxis] > 0 {
		b.addText(c.hours())
	}
	return b
}

// endpointsBand draws the endpoints below the hour, one line each.
func (l layout) endpointsBand(p plan, first int) []block {
	list := l.endpoints(l.width)
	return []block{list.table(p[troubledEndpoints], l.endpointsHeight(p), first, l.selected)}
}

// endpoints returns the list of endpoints in a width.
func (l layout) endpoints(width int) endpointList {
	return newEndpointList(l.session, l.Overview, l.troubled, width)
}

// queueBand draws the queues and the captures, next to each other if there is room.
func (l layout) queueBand(p plan, first int) []block {
	late := l.Captures.Late[:p[lateCaptures]]
	if !l.isWide() {
		return []block{l.queueBlock(late, first)}
	}
	hasCaptures := len(late)+l.Captures.Healthy > 0
	if !hasQueue(l.Stats) {
		return []block{l.captureBlock(l.width, late, first)}
	}
	if !hasCaptures {
		return []block{l.queueBlock(nil, first)}
	}
	queueWidth := l.leftWidth()
	queue := newBlock("Queue", queueWidth)
	queue.addText(l.session.Theme.SignRow(queueWidth, false, queueSpans(l.session, l.Stats, false), nil))
	captures := l.captureBlock(l.width-queueWidth-1, late, first)
	captures.X = queueWidth + 1
	return []block{queue, captures}
}

// queueBlock draws the queues, with the first late capture on their line, and the others below.
func (l layout) queueBlock(late []wire.Capture, first int) block {
	t := l.session.Theme
	spans := queueSpans(l.session, l.Stats, len(late) > 0)
	b := newBlock("Queue", l.width)
	if len(late) == 0 {
		b.addText(t.SignRow(l.width, false, spans, nil))
		return b
	}
	if spans == nil {
		b.title = "Capture"
	}
	for i, c := range late {
		line := captureSpans(t, c)
		if spans != nil {
			line[0].Text += "capture "
		}
		if spans != nil && i == 0 { // without the reason, which the status line has
			line = slices.Concat(spans, line[:min(len(line), 3)])
		}
		b.add(t.SignRow(l.width, first+i == l.selected, line, nil), first+i)
	}
	return b
}

// captureBlock draws the late captures one by one, and counts the others.
func (l layout) captureBlock(width int, late []wire.Capture, first int) block {
	t := l.session.Theme
	b := newBlock("Capture", width)
	healthy := l.Captures.healthySpans(t)
	if len(late) == 0 {
		b.addText(t.SignRow(width, false, healthy, nil))
		return b
	}
	for i, c := range late {
		b.add(t.SignRow(width, first+i == l.selected, captureSpans(t, c), healthy), first+i)
		healthy = nil // on the first line only
	}
	return b
}

// groupsBand draws the groups of failures, scrolled to the selected one.
func (l layout) groupsBand(p plan, first int) []block {
	table := l.failureTables(p)
	b := newBlock("Failures", l.width)
	b.detail = table.title()
	c := table.columns()
	shown := p[failureGroups]
	start := max(0, min(l.selected-first, len(l.Groups)-1)-shown+1)
	for i := start; i < start+shown; i++ {
		b.add(table.groupLine(c, &l.Groups[i], first+i == l.selected), first+i)
	}
	return []block{b}
}

// viewsBand draws the saved views.
func (l layout) viewsBand(p plan, first int) []block {
	b := newBlock("Saved views", l.width)
	for i, line := range l.viewLines(first)[:p[savedViews]] {
		b.add(line, first+i)
	}
	return []block{b}
}

// recentBand draws the newest failures one by one.
func (l layout) recentBand(p plan, first int) []block {
	table := l.failureTables(p)
	b := newBlock("Recent failures", l.width)
	c := table.columns()
	for i, m := range table.recent {
		b.add(table.recentLine(c, m, first+i == l.selected), first+i)
	}
	return []block{b}
}

// failureTables returns the tables of groups and of recent failures, which have the same columns.
func (l layout) failureTables(p plan) failureTables {
	return failureTables{
		session:  l.session,
		overview: l.Overview,
		recent:   l.Failures[:p[recentFailures]],
		width:    l.width,
	}
}

// panels returns the parts of the screen for a frame around all of them.
func (l layout) panels() []theme.Panel {
	blocks := l.blocks()
	panels := make([]theme.Panel, len(blocks))
	for i := range blocks {
		panels[i] = blocks[i].Panel
	}
	return panels
}

// unframed returns the lines of the parts below each other, and their entries.
func (l layout) unframed() ([]string, []int) {
	var lines []string
	var entries []int
	for _, b := range l.blocks() {
		if b.hasTitle {
			title := append([]theme.Span{{Text: " "}}, b.Title...)
			lines = append(lines, l.session.Theme.Compose(l.width, title, b.Note))
			entries = append(entries, noEntry)
		}
		lines = append(lines, b.Lines...)
		entries = append(entries, b.entries...)
	}
	return lines, entries
}

// entryAt returns the index of the entry at a position in the screen, noEntry if there is none.
func (l layout) entryAt(x, y int) int {
	if !l.session.Frames {
		_, entries := l.unframed()
		if y < len(entries) {
			return entries[y]
		}
		return noEntry
	}
	for _, b := range l.blocks() {
		isInside := x >= b.X && x < b.X+b.Width && y >= b.Y && y < b.Y+b.Height
		if isInside && y-b.Y < len(b.entries) {
			return b.entries[y-b.Y]
		}
	}
	return noEntry
}
