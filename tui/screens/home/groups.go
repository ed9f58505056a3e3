package home

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// failureTables draws the groups of failures and the recent failures, with the same columns.
type failureTables struct {
	session  *ui.Session
	overview *Overview
	recent   []wire.Message // that are shown one by one
	width    int            // in cells
}

// failureColumns are the widths of the columns in cells, 0 for one without room. The first one has
// the number of messages, or the time of a recent failure.
type failureColumns struct {
	first, result, event, subscriber int
	last                             int  // period of a group, or name of an endpoint
	isShort                          bool // periods are shortened
}

// failureMargins are the cells around the columns before the last one: the sign, the gaps and a cell
// at the end.
const failureMargins = 3 + 3*3 + 1

// whenMinWidth is the width from which other columns make room for the period of a group.
const whenMinWidth = 98

// columns returns the widths that fit: the widest columns are narrowed first.
func (ft failureTables) columns() failureColumns {
	c := failureColumns{first: len("999")}
	long, short := 0, 0
	for i := range ft.overview.Groups {
		g := &ft.overview.Groups[i]
		c.first = max(c.first, len(display.Thousands(len(g.IDs))))
		c.result = max(c.result, theme.Width(g.result()))
		c.event = max(c.event, theme.Width(g.Newest.EventName))
		c.subscriber = max(c.subscriber, theme.Width(ft.subscriber(g.Newest)))
		long = max(long, theme.Width(ft.when(g, false)))
		short = max(short, theme.Width(ft.when(g, true)))
	}
	endpoint := 0
	for _, m := range ft.recent {
		c.first = max(c.first, theme.Width(ft.session.ShortSince(time.Time(m.LastSavedDateTime))))
		endpoint = max(endpoint, theme.Width(ui.EndpointName(m.URL)))
	}
	room := ft.width - failureMargins - c.first
	const gap = 3
	spare := room - c.result - c.event - c.subscriber - gap
	switch {
	case ft.width >= whenMinWidth:
		c.last = max(long, min(endpoint, spare))
	case spare >= long:
		c.last = long
	case spare >= short:
		c.last = short
		c.isShort = true
	}
	if c.last > 0 {
		room -= c.last + gap
	}
	fitColumns(room, []*int{&c.result, &c.event, &c.subscriber})
	return c
}

// fitColumns narrows the widest columns until all fit.
func fitColumns(room int, widths []*int) {
	for {
		total := 0
		widest := widths[0]
		for _, w := range widths {
			total += *w
			if *w > *widest {
				widest = w
			}
		}
		if total <= room || *widest <= 1 {
			return
		}
		*widest--
	}
}

// subscriber returns the name of the subscriber of a message.
func (ft failureTables) subscriber(m wire.Message) string {
	return ft.session.Queues.Known[m.SubscriptionID].SubscriberName
}

// when returns the period of the failures of a group, or the time of its next attempt.
func (ft failureTables) when(g *Group, isShort bool) string {
	s := ft.session
	if g.Newest.Status == ui.StatusRetrying {
		queue := s.Queues.Known[g.Newest.SubscriptionID]
		next := g.Next
		if probe := time.Time(queue.NextProbeDateTime); queue.Breaker == wire.BreakerOpen && !probe.IsZero() {
			next = probe
		}
		if isShort {
			return s.NextText("", next)
		}
		return s.NextText("next", next)
	}
	newest := time.Time(g.Newest.LastSavedDateTime)
	last, first := s.ShortSince(newest), s.ShortSince(g.Oldest)
	if last == first || isShort {
		return last
	}
	if s.Times == ui.Relative {
		return ui.Age(s.Since(newest)) + " to " + first
	}
	return first + " to " + last
}

// sign returns the sign of a message.
func (ft failureTables) sign(m wire.Message) theme.Span {
	t := ft.session.Theme
	if m.Status == ui.StatusRetrying {
		return theme.Span{Text: t.Retry, Role: theme.Warning}
	}
	return theme.Span{Text: t.Fail, Role: theme.Failure}
}

// groupLine draws a group.
func (ft failureTables) groupLine(c failureColumns, g *Group, selected bool) string {
	first := theme.Span{Text: display.Thousands(len(g.IDs))}
	last := ft.when(g, c.isShort)
	return ft.line(c, g.Newest, selected, first, g.result(), last)
}

// recentLine draws a recent failure.
func (ft failureTables) recentLine(c failureColumns, m wire.Message, selected bool) string {
	first := theme.Span{Text: ft.session.ShortSince(time.Time(m.LastSavedDateTime)), Role: theme.Dim}
	room := ft.width - failureMargins - c.first - c.result - c.event - c.subscriber - 3
	last := fitEndpoint(ft.session.Theme, ui.EndpointName(m.URL), max(0, room))
	return ft.line(c, m, selected, first, resultText(m, ft.overview.answerTo(m)), last)
}

// line draws a failure, with texts that the two lists have different ones of.
func (ft failureTables) line(
	c failureColumns, m wire.Message, selected bool, first theme.Span, result, last string,
) string {
	t := ft.session.Theme
	sign := ft.sign(m)
	spans := []theme.Span{
		sign,
		{Text: " " + t.Fit(first.Text, c.first, true) + "   ", Role: first.Role},
		{Text: t.Fit(result, c.result, false) + "   ", Role: sign.Role},
		{Text: t.Fit(m.EventName, c.event, false) + "   "},
		{Text: t.Fit(ft.subscriber(m), c.subscriber, false)},
	}
	if c.last > 0 {
		spans = append(spans, theme.Span{Text: "   " + last, Role: theme.Dim})
	}
	return t.SignRow(ft.width, selected, spans, nil)
}

// title counts the groups.
func (ft failureTables) title() string {
	text := display.Count(len(ft.overview.Groups), "group", "groups")
	if len(ft.overview.Failures) == maxFailures {
		return fmt.Sprintf("%s of the newest %d", text, maxFailures)
	}
	return text
}

// describe describes a group for the status line.
func (ft failureTables) describe(g *Group) string {
	m := g.Newest
	text := fmt.Sprintf("%s of %s to %s", display.Count(len(g.IDs), "message", "messages"), m.EventName, ui.ShortURL(m.URL))
	first, last := ft.session.ShortTime(g.Oldest), ft.session.ShortTime(time.Time(m.LastSavedDateTime))
	if first == last {
		return text + ", at " + last
	}
	return text + ", first " + first + ", last " + last
}
