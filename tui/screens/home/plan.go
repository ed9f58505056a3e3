package home

import (
	"math"
	"slices"
)

// section is a part of the screen that grows with the room.
type section uint8

// The parts, from the top to the bottom.
const (
	chartBars section = iota // height of the bars of the last hour
	chartAxis                // 1 for the times below the bars
	troubledEndpoints
	lateCaptures
	failureGroups
	savedViews
	recentFailures
	sectionCount
)

// plan has the size of each part: the lines of the chart, and how many entries the others show.
type plan [sectionCount]int

// minimum has the sizes that parts have in any room, if there is so much to show.
var minimum = plan{chartBars: 1, lateCaptures: 1, failureGroups: 1}

// unlimited is the size of a part that shows all it has.
const unlimited = math.MaxInt

// growth has the sizes that parts should reach, the most important first: troubles, then how the
// hour went, then more of both. A step that does not fit is cut short, and the next ones may still fit.
var growth = [...]struct {
	section section
	size    int
}{
	{troubledEndpoints, 1},
	{failureGroups, 2},
	{savedViews, 1},
	{chartBars, 2},
	{chartAxis, 1},
	{failureGroups, 3},
	{troubledEndpoints, 2},
	{lateCaptures, unlimited},
	{chartBars, minBars},
	{savedViews, 3},
	{failureGroups, 8},
	{troubledEndpoints, unlimited},
	{savedViews, unlimited},
	{failureGroups, unlimited},
	{chartBars, minBars + 1},
}

// Sizes of the screen and its parts.
const (
	wideMinWidth = 112 // from here on the endpoints are next to the chart
	axisMinLines = 12  // below, the chart has no time axis
	minBars      = 3   // that the chart may have on any screen
	minRecent    = 3   // fewer recent failures are not worth their title
)

// limits returns the sizes up to which parts grow. The chart and the endpoints have a third of the
// screen each, so that the lists below them have room, too.
func (l layout) limits() plan {
	third := l.height / 3
	limits := plan{
		lateCaptures:   len(l.Captures.Late),
		failureGroups:  len(l.Groups),
		savedViews:     len(l.views),
		recentFailures: len(l.Failures),
	}
	if l.hasEndpoints() {
		limits[troubledEndpoints] = min(len(l.troubled), max(2, third/l.endpointLines()))
	}
	if l.hasTraffic() {
		limits[chartBars] = max(minBars, third)
		if l.height >= axisMinLines {
			limits[chartAxis] = 1
		}
	}
	return limits
}

// plan divides the lines of the screen between its parts.
func (l layout) plan() plan {
	limits := l.limits()
	var p plan
	for i := range p {
		p[i] = min(minimum[i], limits[i])
	}
	for _, step := range growth {
		l.grow(&p, step.section, min(step.size, limits[step.section]))
	}

	// The rest is for the newest failures, and a third of it for the chart.
	spare := l.height - l.used(p)
	if spare > minRecent {
		forChart := min(limits[chartBars]-p[chartBars], spare/3)
		const edge = 1
		l.grow(&p, recentFailures, min(limits[recentFailures], spare-edge-forChart))
	}
	if l.hasEndpoints() {
		l.grow(&p, troubledEndpoints, len(l.troubled))
	}
	if l.hasTraffic() {
		l.grow(&p, chartBars, l.maxBars(p, limits))
	}
	return p
}

// maxBars returns the height up to which the bars fill the rest of the room. They may have all of it if
// no failure is left to list, and are as high as the endpoints next to them.
func (l layout) maxBars(p, limits plan) int {
	if p[recentFailures] == limits[recentFailures] {
		return l.height
	}
	if !l.isWide() {
		return limits[chartBars]
	}
	return max(limits[chartBars], p[chartBars]+l.endpointsHeight(p)-l.hourHeight(p))
}

// grow increases a part until it has a size, or the screen is full.
func (l layout) grow(p *plan, growing section, size int) {
	for p[growing] < size {
		p[growing]++
		if l.used(*p) > l.height {
			p[growing]--
			return
		}
	}
}

// used returns the number of lines that a plan uses.
func (l layout) used(p plan) int {
	bands := l.bands(p)
	lines := 0
	for _, band := range bands {
		lines += band.height
		if band.hasTitle && !l.session.Frames {
			lines++
		}
	}
	if l.session.Frames {
		lines += len(bands) - 1 // the edges between them
	}
	return lines
}

// band is a panel across the screen, or two next to each other.
type band struct {
	height   int
	entries  int  // that can be selected, visible or not
	hasTitle bool // also without frames
	// draw draws the panels. The index of the first entry is first.
	draw func(l layout, p plan, first int) []block
}

// bands returns the bands that are not empty, from the top to the bottom.
func (l layout) bands(p plan) []band {
	bands := make([]band, 0, 6)
	switch {
	case !l.hasEndpoints():
		bands = append(bands, band{height: 1, draw: layout.startBand})
	case l.isWide():
		bands = append(bands,
			band{height: l.topHeight(p), entries: p[troubledEndpoints], draw: layout.topBand})
	default:
		bands = append(bands,
			band{height: l.hourHeight(p), draw: layout.hourBand},
			band{height: l.endpointsHeight(p), entries: p[troubledEndpoints], draw: layout.endpointsBand})
	}
	bands = append(bands,
		band{height: l.queueHeight(p), entries: p[lateCaptures], draw: layout.queueBand},
		band{height: p[failureGroups], entries: len(l.Groups), hasTitle: true, draw: layout.groupsBand},
		band{height: p[savedViews], entries: p[savedViews], hasTitle: true, draw: layout.viewsBand},
		band{height: p[recentFailures], entries: p[recentFailures], hasTitle: true, draw: layout.recentBand})
	return slices.DeleteFunc(bands, func(b band) bool { return b.height == 0 })
}

// isWide reports whether the endpoints are next to the chart.
func (l layout) isWide() bool {
	return l.hasEndpoints() && l.session.Frames && l.width >= wideMinWidth
}

// hasEndpoints reports whether there is a subscription.
func (l layout) hasEndpoints() bool { return l.Stats.Subscriptions > 0 }

// hasTraffic reports whether there is a chart.
func (l layout) hasTraffic() bool { return l.hasEndpoints() && l.Stats.SuccessRate != nil }

// hourHeight returns the height of the last hour.
func (l layout) hourHeight(p plan) int {
	const (
		numbers  = 1
		failures = 1
		gap      = 1
	)
	if p[chartBars] == 0 {
		return numbers
	}
	height := numbers + p[chartBars] + failures + p[chartAxis]
	if l.isWide() {
		height += gap
	}
	return height
}

// endpointLines returns the number of lines of an endpoint in trouble.
func (l layout) endpointLines() int {
	if l.isWide() {
		return 2
	}
	return 1
}

// endpointsHeight returns the height of the endpoints in trouble, with a line for the others if there
// are any. A screen without frames has no room for those without trouble.
func (l layout) endpointsHeight(p plan) int {
	shown := p[troubledEndpoints]
	height := shown * l.endpointLines()
	isComplete := shown > 0 && shown == len(l.troubled)
	if isComplete && (!l.session.Frames || l.untroubledCount(l.troubled) == 0) {
		return height
	}
	return height + 1
}

// topHeight returns the height of the hour and the endpoints next to each other.
func (l layout) topHeight(p plan) int { return max(l.hourHeight(p), l.endpointsHeight(p)) }

// queueHeight returns the height of the queues and the captures. They are next to each other, or the
// first capture is on the line of the queues.
func (l layout) queueHeight(p plan) int {
	height := p[lateCaptures]
	hasHealthy := l.isWide() && l.Captures.Healthy > 0
	if hasHealthy || hasQueue(l.Stats) {
		height = max(height, 1)
	}
	return height
}
