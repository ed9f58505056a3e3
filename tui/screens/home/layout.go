package home

import (
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// layout arranges the parts of the screen.
type layout struct {
	*Overview
	session       *ui.Session
	width, height int          // in cells
	selected      int          // index of the selected entry
	views         []state.View // that are listed
	viewCounts    map[string]string
}

// block is a panel, with the entries on its lines.
type block struct {
	theme.Panel
	title   string
	detail  string // after the title
	entries []int  // index of the entry of each line, noEntry for none
}

// noEntry is the index of lines that cannot be selected.
const noEntry = -1

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

// plan is how the room is divided, in lines.
type plan struct {
	isWide    bool // the endpoints are next to the chart
	bars      int  // of the chart, 0 for none
	hasHours  bool // the chart has a time axis
	endpoints int  // number of endpoints in trouble below the chart, if not isWide
	captures  int  // number of late captures
	groups    int
	views     int
	recent    int
}

// Sizes of the screen.
const (
	wideMinWidth = 112 // from here on the endpoints are next to the chart
	lowHeight    = 12  // below, the chart has one line and no time axis
)

// leftWidth returns the width of the chart if the endpoints are next to it: a cell for each minute,
// or more.
func (l layout) leftWidth() int {
	const minRight, around = 46, labelCells + 2
	perMinute := max(1, min(3, (l.width-1-minRight-around)/60))
	return around + 60*perMinute + 1
}

// hasTraffic reports whether there is a chart.
func (l layout) hasTraffic() bool { return l.Stats.SuccessRate != nil }

// hourHeight returns the height of the panel of the last hour.
func (l layout) hourHeight(p plan) int {
	if p.bars == 0 {
		return 1 // only the numbers
	}
	height := 1 + p.bars + 1 // numbers, bars, failures
	if p.hasHours {
		height++
	}
	if p.isWide {
		height++ // a blank line below the numbers
	}
	return height
}

// topHeight returns the height of the panels next to each other at the top.
func (l layout) topHeight(p plan) int {
	height := l.hourHeight(p)
	if p.isWide && p.bars == 0 {
		height = max(height, 2*len(l.troubled())+1)
	}
	return height
}

// tableHeight returns the height of the endpoints below the chart. A small screen has no room for
// those without trouble.
func (l layout) tableHeight(p plan) int {
	if !l.session.Frames && p.endpoints > 0 && p.endpoints == len(l.troubled()) {
		return p.endpoints
	}
	return p.endpoints + 1
}

// bands returns the heights of the panels below each other. Without frames some have a title.
func (l layout) bands(p plan) (heights []int, titles int) {
	if l.Stats.Subscriptions > 0 {
		heights = append(heights, l.topHeight(p))
		if !p.isWide {
			heights = append(heights, l.tableHeight(p))
		}
	} else {
		heights = append(heights, 1)
	}
	if n := l.queueHeight(p); n > 0 {
		heights = append(heights, n)
	}
	for _, n := range []int{p.groups, p.views, p.recent} {
		if n > 0 {
			heights = append(heights, n)
			titles++
		}
	}
	return heights, titles
}

// used returns the number of lines that a plan uses.
func (l layout) used(p plan) int {
	heights, titles := l.bands(p)
	total := titles
	if l.session.Frames {
		total = len(heights) - 1 // edges
	}
	for _, height := range heights {
		total += height
	}
	return total
}

// shrink removes a line, the least important one first. It returns false if there is none.
func (p *plan) shrink() bool {
	switch {
	case p.views > 1:
		p.views--
	case p.bars > 2:
		p.bars--
	case p.captures > 1:
		p.captures--
	case p.endpoints > 1:
		p.endpoints--
	case p.groups > 2:
		p.groups--
	case p.hasHours:
		p.hasHours = false
	case p.bars > 1:
		p.bars--
	case p.views > 0:
		p.views--
	case p.groups > 1:
		p.groups--
	case p.endpoints > 0:
		p.endpoints--
	default:
		return false
	}
	return true
}

// plan divides the room: troubles come first, then the chart, and the newest failures have the rest.
func (l layout) plan() plan {
	troubled := len(l.troubled())
	groups, views := len(l.Groups), len(l.views)
	p := plan{
		isWide:    l.session.Frames && l.width >= wideMinWidth && l.Stats.Subscriptions > 0,
		endpoints: min(troubled, 2),
		captures:  len(l.Captures.Late),
		groups:    min(groups, 3),
		views:     min(views, 3),
	}
	if l.hasTraffic() {
		p.hasHours = l.height >= lowHeight
		p.bars = 3
		if p.isWide {
			p.bars = 4
		}
	}
	for l.used(p) > l.height && p.shrink() {
	}

	grow := func(lines *int, limit int) {
		for *lines < limit {
			*lines++
			if l.used(p) > l.height {
				*lines--
				return
			}
		}
	}
	maxBars := 0 // a third of the screen, or all that the failures leave
	if l.hasTraffic() {
		maxBars = max(p.bars, l.height/3)
	}
	grow(&p.groups, min(groups, 8))
	grow(&p.endpoints, troubled)
	grow(&p.views, views)
	if p.isWide {
		missing := 2*troubled + 1 - l.hourHeight(p)
		grow(&p.bars, min(maxBars, p.bars+max(0, missing)))
	}
	grow(&p.groups, groups)

	const minRecent = 3
	if spare := l.height - l.used(p); len(l.Failures) > 0 && spare > minRecent {
		share := min(maxBars-p.bars, spare/3)
		grow(&p.recent, min(len(l.Failures), spare-1-share))
	}
	if l.hasTraffic() && p.recent == len(l.Failures) {
		maxBars = l.height
	}
	grow(&p.bars, maxBars)
	return p
}

// queueHeight returns the height of the panels of queues and captures.
func (l layout) queueHeight(p plan) int {
	queues := 0
	if queueSpans(l.session, l.Stats, false) != nil {
		queues = 1
	}
	captures := p.captures
	if p.isWide {
		if captures == 0 && l.Captures.Healthy > 0 {
			captures = 1
		}
		return max(queues, captures)
	}
	return max(queues, captures) // the first capture is on the line of the queues
}

// blocks returns the parts of the screen, from the top to the bottom.
func (l layout) blocks() []block {
	p := l.plan()
	next := 0 // index of the first entry of the next part
	var blocks []block
	y := 0
	below := func(height int, parts ...block) {
		for i := range parts {
			parts[i].Y = y
			parts[i].Height = height
		}
		blocks = append(blocks, parts...)
		y += height + 1
	}

	if l.Stats.Subscriptions == 0 {
		below(1, l.emptyBlock())
	} else if p.isWide {
		height := l.topHeight(p)
		width := l.leftWidth()
		endpoints := l.endpointsBlock(l.width-width-1, height, next)
		endpoints.X = width + 1
		next += l.shownEndpoints(p)
		below(height, l.hourBlock(p, width), endpoints)
	} else {
		below(l.topHeight(p), l.hourBlock(p, l.width))
		below(l.tableHeight(p), l.endpointTable(p, next))
		next += p.endpoints
	}
	if height := l.queueHeight(p); height > 0 {
		below(height, l.queueBlocks(p, next)...)
	}
	next += p.captures
	if p.groups > 0 {
		below(p.groups, l.groupsBlock(p, next))
	}
	next += len(l.Groups)
	if p.views > 0 {
		below(p.views, l.viewsBlock(p, next))
	}
	next += p.views
	if p.recent > 0 {
		below(p.recent, l.recentBlock(p, next))
	}
	l.finish(blocks)
	return blocks
}

// finish extends the last panel to the end of the screen, fills the panels with blank lines, and marks
// that of the selected entry.
func (l layout) finish(blocks []block) {
	last := blocks[len(blocks)-1].Y
	for i := range blocks {
		if l.session.Frames && blocks[i].Y == last {
			blocks[i].Height = max(1, l.height-last)
		}
	}
	focused := 0
	for i := range blocks {
		b := &blocks[i]
		for _, entry := range b.entries {
			if entry == l.selected {
				focused = i
			}
		}
		for len(b.Lines) < b.Height {
			b.addText(theme.Spaces(b.Width))
		}
	}
	blocks[focused].Focused = true
	for i := range blocks {
		b := &blocks[i]
		b.Title = l.heading(b)
	}
}

// heading returns the title of a panel, with details after a line.
func (l layout) heading(b *block) []theme.Span {
	role := theme.Breadcrumb
	if b.Focused {
		role = theme.Title
	}
	spans := []theme.Span{{Text: b.title, Role: role}}
	if b.detail != "" {
		spans = append(spans,
			theme.Span{Text: " " + l.session.Theme.Line + " ", Role: theme.Rule},
			theme.Span{Text: b.detail})
	}
	return spans
}

// emptyBlock explains how to start if nothing can be delivered.
func (l layout) emptyBlock() block {
	text := " No subscriber yet. " + keymap.KeyFor(keymap.InHome, keymap.AddNew) + " creates one."
	if l.Subscribers > 0 {
		text = " No subscription yet. 3 opens the subscribers, Enter and " +
			keymap.KeyFor(keymap.InSubscriptions, keymap.AddNew) + " there add one."
	}
	b := block{title: "Endpoints"}
	b.Width = l.width
	b.addText(l.session.Theme.Fit(text, l.width, false))
	return b
}

// hourBlock draws the last hour.
func (l layout) hourBlock(p plan, width int) block {
	c := chart{session: l.session, stats: l.Stats, width: width, rows: p.bars, short: !p.isWide}
	b := block{title: c.heading()}
	b.Width = width
	b.addText(c.totals())
	if p.bars == 0 {
		return b
	}
	if p.isWide {
		b.addText(theme.Spaces(width))
	}
	lines := c.lines()
	if !p.hasHours {
		lines = lines[:len(lines)-1]
	}
	b.addText(lines...)
	return b
}

// endpoints returns the list of endpoints in a width.
func (l layout) endpoints(width int) endpointList {
	return endpointList{session: l.session, overview: l.Overview, width: width}
}

// shownEndpoints returns the number of endpoints in trouble that are shown.
func (l layout) shownEndpoints(p plan) int {
	if l.Stats.Subscriptions == 0 {
		return 0
	}
	if !p.isWide {
		return p.endpoints
	}
	troubled, height := len(l.troubled()), l.topHeight(p)
	if 2*troubled+1 <= height {
		return troubled
	}
	return max(0, (height-2)/2) // with a line for the others in trouble
}

// endpointsBlock draws the endpoints next to the chart: those in trouble with their reasons, and the
// others one by one if there is room for all of them.
func (l layout) endpointsBlock(width, height, first int) block {
	e := l.endpoints(width)
	b := block{title: "Endpoints", detail: e.title()}
	b.Width = width
	b.Note = e.note()
	troubled := l.troubled()
	shown := l.shownEndpoints(l.plan())
	for i, q := range troubled[:shown] {
		for _, line := range e.troubleLines(q, first+i == l.selected) {
			b.add(line, first+i)
		}
	}
	if shown < len(troubled) {
		b.addText(e.moreLine(len(troubled) - shown))
	}
	sum := e.others()
	if len(b.Lines) > 0 && len(b.Lines)+1 < height {
		b.addText(theme.Spaces(width))
	}
	healthy := l.healthy()
	room := height - len(b.Lines)
	if sum.count > len(healthy) || len(healthy) > room {
		const minListed = 3
		listed := max(0, min(len(healthy), room-1))
		if listed < minListed {
			listed = 0
		}
		healthy = healthy[:listed]
	}
	for _, q := range healthy {
		b.addText(e.nameLine(q, false))
		sum.remove(q)
	}
	if sum.count > 0 && len(b.Lines) < height {
		b.addText(e.otherLine(sum, len(b.Lines) > 0))
	}
	return b
}

// endpointTable draws the endpoints in trouble in one line each, and the others together.
func (l layout) endpointTable(p plan, first int) block {
	e := l.endpoints(l.width)
	b := block{title: "Endpoints", detail: e.title()}
	b.Width = l.width
	b.Note = e.note()
	list := l.troubled()[:p.endpoints]
	for i, line := range e.tableLines(list, l.selected-first) {
		b.add(line, first+i)
	}
	_, widths := e.troubleTable(list)
	if missing := len(l.troubled()) - len(list); missing > 0 {
		b.addText(e.moreLine(missing))
	} else if l.tableHeight(p) > len(list) {
		b.addText(e.otherRow(widths))
	}
	return b
}

// queueBlocks draws the queues, and the captures next to them or on their line.
func (l layout) queueBlocks(p plan, first int) []block {
	t := l.session.Theme
	queue := block{title: "Queue"}
	queue.Width = l.width
	spans := queueSpans(l.session, l.Stats, !p.isWide && len(l.Captures.Late) > 0)
	capture := block{title: "Capture"}
	capture.Width = l.width
	if p.isWide && spans != nil && len(l.Captures.Late)+l.Captures.Healthy > 0 {
		queue.Width = l.leftWidth()
		capture.X = queue.Width + 1
		capture.Width = l.width - queue.Width - 1
	}
	if !p.isWide {
		return []block{l.queueBlock(p, spans, first)}
	}
	for i, c := range l.Captures.Late[:p.captures] {
		var note []theme.Span
		if i == 0 {
			note = l.Captures.healthySpans(t)
		}
		capture.add(t.SignRow(capture.Width, first+i == l.selected, captureSpans(t, c), note), first+i)
	}
	if len(l.Captures.Late) == 0 && l.Captures.Healthy > 0 {
		capture.addText(t.SignRow(capture.Width, false, l.Captures.healthySpans(t), nil))
	}
	if spans == nil {
		return []block{capture}
	}
	queue.addText(t.SignRow(queue.Width, false, spans, nil))
	if len(capture.Lines) == 0 {
		return []block{queue}
	}
	return []block{queue, capture}
}

// queueBlock draws the queues, with the first late capture on the same line.
func (l layout) queueBlock(p plan, spans []theme.Span, first int) block {
	t := l.session.Theme
	b := block{title: "Queue"}
	if spans == nil {
		b.title = "Capture"
	}
	b.Width = l.width
	if len(l.Captures.Late) == 0 {
		b.addText(t.SignRow(b.Width, false, spans, nil))
	}
	for i, c := range l.Captures.Late[:p.captures] {
		line := captureSpans(t, c)
		if spans != nil {
			line[0].Text += "capture "
		}
		if i == 0 && spans != nil { // without the reason, which the status line has
			line = append(spans, line[:min(len(line), 3)]...)
		}
		b.add(t.SignRow(b.Width, first+i == l.selected, line, nil), first+i)
	}
	return b
}

// failureTables returns the groups of failures and the recent failures.
func (l layout) failureTables(p plan) failureTables {
	return failureTables{
		session:  l.session,
		overview: l.Overview,
		recent:   l.Failures[:p.recent],
		width:    l.width,
	}
}

// groupsBlock draws the groups of failures, scrolled to the selected one.
func (l layout) groupsBlock(p plan, first int) block {
	table := l.failureTables(p)
	b := block{title: "Failures", detail: table.title()}
	b.Width = l.width
	c := table.columns()
	start := max(0, min(l.selected-first, len(l.Groups)-1)-p.groups+1)
	for i := start; i < start+p.groups; i++ {
		b.add(table.groupLine(c, &l.Groups[i], first+i == l.selected), first+i)
	}
	return b
}

// viewsBlock draws the saved views.
func (l layout) viewsBlock(p plan, first int) block {
	b := block{title: "Saved views"}
	b.Width = l.width
	for i, line := range l.viewLines(first)[:p.views] {
		b.add(line, first+i)
	}
	return b
}

// recentBlock draws the newest failures one by one.
func (l layout) recentBlock(p plan, first int) block {
	table := l.failureTables(p)
	b := block{title: "Recent failures"}
	b.Width = l.width
	c := table.columns()
	for i, m := range table.recent {
		b.add(table.recentLine(c, m, first+i == l.selected), first+i)
	}
	return b
}

// panels returns the parts of the screen.
func (l layout) panels() []theme.Panel {
	var panels []theme.Panel
	for _, b := range l.blocks() {
		panels = append(panels, b.Panel)
	}
	return panels
}

// unframed returns the lines of the parts below each other, and their entries. Failures, views and
// recent failures have their titles above.
func (l layout) unframed() (lines []string, entries []int) {
	for _, b := range l.blocks() {
		hasTitle := b.title == "Failures" || b.title == "Saved views" || b.title == "Recent failures"
		if hasTitle {
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
