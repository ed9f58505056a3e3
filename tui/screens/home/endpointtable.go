package home

import (
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
)

// table draws the endpoints in one line each, without their traffic: the first ones in trouble, and
// the others together if the height has a line for them.
func (e endpointList) table(shown, height, first, selected int) block {
	b := e.newBlock()
	rows := make([]endpointRow, shown)
	for i, q := range e.troubled[:shown] {
		rows[i] = e.row(q)
	}
	widths := e.columns(rows)
	for i, row := range rows {
		b.add(e.rowLine(row, widths, first+i == selected), first+i)
	}
	if shown < len(e.troubled) {
		b.addText(e.hiddenLine(shown))
	} else if shown < height {
		b.addText(e.untroubledRow(widths.name)...)
	}
	return b
}

// endpointRow is an endpoint in trouble in a table.
type endpointRow struct {
	sign                         theme.Span
	name, affected, reason, when string
}

// row returns the texts of an endpoint. The next attempt is more important than why it is paused.
func (e endpointList) row(q wire.Queue) endpointRow {
	row := endpointRow{
		sign:     e.sign(q),
		name:     e.names[q.SubscriptionID],
		affected: affected(q),
		reason:   e.overview.reason(q),
	}
	if next := nextProbe(q); !next.IsZero() {
		row.reason = "paused, " + e.session.NextText("next try", next)
	} else if failed := lastFailure(q); !failed.IsZero() {
		row.when = e.session.ShortSince(failed)
	}
	return row
}

// endpointColumns are the widths of the columns of a table of endpoints.
type endpointColumns struct{ name, affected, reason, when int }

// columns returns the widths that fit. Counts and times are never cut. If names and reasons do not
// fit, the reasons are cut first, but names have no more than two fifths of the room for both.
func (e endpointList) columns(rows []endpointRow) endpointColumns {
	var c endpointColumns
	for _, row := range rows {
		c.name = max(c.name, theme.Width(row.name))
		c.affected = max(c.affected, theme.Width(row.affected))
		c.reason = max(c.reason, theme.Width(row.reason))
		c.when = max(c.when, theme.Width(row.when))
	}
	const (
		sign   = 3
		gaps   = 3 * 3
		margin = 1
	)
	room := e.width - sign - gaps - margin - c.affected - c.when
	if c.name+c.reason > room {
		fairShare := room * 2 / 5
		c.name = min(c.name, max(fairShare, room-c.reason))
	}
	c.reason = max(0, room-c.name) // the times are at the end of the line
	return c
}

// rowLine draws a row of the table.
func (e endpointList) rowLine(row endpointRow, c endpointColumns, selected bool) string {
	t := e.session.Theme
	const gap = "   "
	return t.SignRow(e.width, selected, []theme.Span{
		row.sign,
		{Text: t.Fit(fitEndpoint(t, row.name, c.name), c.name, false) + gap},
		{Text: t.Fit(row.affected, c.affected, false) + gap},
		{Text: t.Fit(row.reason, c.reason, false) + gap, Role: theme.Dim},
		{Text: t.Fit(row.when, c.when, true) + " ", Role: theme.Dim},
	}, nil)
}

// untroubledRow draws the endpoints without trouble below the names of those in trouble. There may be
// none.
func (e endpointList) untroubledRow(nameWidth int) []string {
	if e.untroubled == 0 {
		return e.disabledLines()
	}
	t := e.session.Theme
	name := e.sumSpans(e.untroubled, len(e.troubled) > 0)
	name[1].Text = t.Fit(name[1].Text, max(nameWidth, theme.Width(name[1].Text)), false)
	sum := sumOf(e.overview.Stats, e.healthy)
	state := theme.Span{Text: "   " + sum.words(), Role: theme.Dim}
	return []string{t.SignRow(e.width, false, append(name, state), nil)}
}
