package home

import (
	"fmt"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// groupTable draws groups of failures.
type groupTable struct {
	session *ui.Session
	groups  []Group // all, of which some are shown
	width   int     // in cells
}

// groupColumns are the widths of the columns of failure groups in cells, 0 for one without room.
type groupColumns struct{ count, result, event, subscriber, when int }

// groupMargins are the cells around the columns: the sign, the gaps and a cell at the end.
const groupMargins = 3 + 3*3 + 1

// whenMinWidth is the minimum width of a list with the times of failures.
const whenMinWidth = 98

// columns returns the widths that fit: the widest columns are narrowed first.
func (gt groupTable) columns() groupColumns {
	var c groupColumns
	for i := range gt.groups {
		g := &gt.groups[i]
		c.count = max(c.count, len(display.Thousands(len(g.IDs))))
		c.result = max(c.result, theme.Width(g.result()))
		c.event = max(c.event, theme.Width(g.Newest.EventName))
		c.subscriber = max(c.subscriber, theme.Width(gt.subscriber(g)))
		c.when = max(c.when, theme.Width(gt.when(g)))
	}
	c.count = max(c.count, len("999"))
	room := gt.width - groupMargins - c.count
	if gt.width >= whenMinWidth {
		room -= c.when + 3
	} else {
		c.when = 0
	}
	widths := []*int{&c.result, &c.event, &c.subscriber}
	fitColumns(room, widths)
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

// subscriber returns the name of the subscriber of a group.
func (gt groupTable) subscriber(g *Group) string {
	return gt.session.Queues.Known[g.Newest.SubscriptionID].SubscriberName
}

// when returns the period of the failures of a group, or the time of its next attempt.
func (gt groupTable) when(g *Group) string {
	s := gt.session
	if g.Newest.Status == ui.StatusRetrying {
		queue := s.Queues.Known[g.Newest.SubscriptionID]
		next := g.Next
		if probe := time.Time(queue.NextProbeDateTime); queue.Breaker == wire.BreakerOpen && !probe.IsZero() {
			next = probe
		}
		return "next " + s.ShortUntil(next)
	}
	newest := time.Time(g.Newest.LastSavedDateTime)
	last, first := s.ShortSince(newest), s.ShortSince(g.Oldest)
	if last == first {
		return last
	}
	if s.Times == ui.Relative {
		return ui.Age(s.Since(newest)) + " to " + first
	}
	return first + " to " + last
}

// line draws a group.
func (gt groupTable) line(c groupColumns, g *Group, selected bool) string {
	t := gt.session.Theme
	sign := theme.Span{Text: t.Fail, Role: theme.Failure}
	if g.Newest.Status == ui.StatusRetrying {
		sign = theme.Span{Text: t.Retry, Role: theme.Warning}
	}
	spans := []theme.Span{
		sign,
		{Text: " " + t.Fit(display.Thousands(len(g.IDs)), c.count, true) + "   "},
		{Text: t.Fit(g.result(), c.result, false) + "   ", Role: sign.Role},
		{Text: t.Fit(g.Newest.EventName, c.event, false) + "   "},
		{Text: t.Fit(gt.subscriber(g), c.subscriber, false)},
	}
	if c.when > 0 {
		spans = append(spans, theme.Span{Text: "   " + gt.when(g), Role: theme.Dim})
	}
	return t.SignRow(gt.width, selected, spans, nil)
}

// title counts the groups.
func (gt groupTable) title(failures int) string {
	text := display.Count(len(gt.groups), "group", "groups")
	if failures == maxFailures {
		return fmt.Sprintf("%s of the newest %d", text, maxFailures)
	}
	return text
}

// describe describes a group for the status line.
func (gt groupTable) describe(g *Group) string {
	m := g.Newest
	text := fmt.Sprintf("%s of %s to %s", display.Count(len(g.IDs), "message", "messages"), m.EventName, ui.ShortURL(m.URL))
	first, last := gt.session.ShortTime(g.Oldest), gt.session.ShortTime(time.Time(m.LastSavedDateTime))
	if first == last {
		return text + ", at " + last
	}
	return text + ", first " + first + ", last " + last
}

// recentTable draws recent failures.
type recentTable struct {
	session *ui.Session
	width   int // in cells
}

// recentColumns are the widths of the columns of recent failures in cells; the name of the endpoint
// has the rest of the line.
type recentColumns struct{ when, result, event, subscriber int }

// recentMargins are the cells around the columns.
const recentMargins = 2 + 4*3 + 2

// columns returns the widths that fit.
func (rt recentTable) columns(list []wire.Message) recentColumns {
	var c recentColumns
	endpoint := 0
	for _, m := range list {
		c.when = max(c.when, theme.Width(rt.session.ShortSince(time.Time(m.LastSavedDateTime))))
		c.result = max(c.result, theme.Width(resultText(m, "")))
		c.event = max(c.event, theme.Width(m.EventName))
		c.subscriber = max(c.subscriber, theme.Width(rt.subscriber(m)))
		endpoint = max(endpoint, theme.Width(ui.EndpointName(m.URL)))
	}
	fitColumns(rt.width-recentMargins-c.when, []*int{&c.result, &c.event, &c.subscriber, &endpoint})
	return c
}

// subscriber returns the name of the subscriber of a message.
func (rt recentTable) subscriber(m wire.Message) string {
	return rt.session.Queues.Known[m.SubscriptionID].SubscriberName
}

// line draws a recent failure.
func (rt recentTable) line(c recentColumns, m wire.Message, selected bool) string {
	t := rt.session.Theme
	sign := theme.Span{Text: t.Fail, Role: theme.Failure}
	if m.Status == ui.StatusRetrying {
		sign = theme.Span{Text: t.Retry, Role: theme.Warning}
	}
	room := rt.width - recentMargins - c.when - c.result - c.event - c.subscriber
	return t.SignRow(rt.width, selected, []theme.Span{
		sign,
		{Text: " " + t.Fit(rt.session.ShortSince(time.Time(m.LastSavedDateTime)), c.when, true) + "   ", Role: theme.Dim},
		{Text: t.Fit(resultText(m, ""), c.result, false) + "   ", Role: sign.Role},
		{Text: t.Fit(m.EventName, c.event, false) + "   "},
		{Text: t.Fit(rt.subscriber(m), c.subscriber, false) + "   "},
		{Text: t.TruncateMiddle(ui.EndpointName(m.URL), room), Role: theme.Dim},
	}, nil)
}
