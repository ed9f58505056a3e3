package home

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// endpointList draws the endpoints: each one in trouble with its reason, and the others together.
type endpointList struct {
	session  *ui.Session
	overview *Overview
	width    int // in cells
}

// title counts the endpoints.
func (e endpointList) title() string {
	total := display.Thousands(e.overview.Stats.Subscriptions)
	troubled := len(e.overview.troubled())
	if troubled == 0 {
		return total
	}
	return fmt.Sprintf("%s of %s in trouble", display.Thousands(troubled), total)
}

// note has the host that all endpoints have in common, and counts the disabled subscriptions, which
// may be so on purpose.
func (e endpointList) note() []theme.Span {
	disabled := ""
	if n := e.overview.Stats.Disabled; n > 0 {
		disabled = fmt.Sprintf("%d disabled", n)
	}
	text := ui.Parts(e.commonHost(), disabled)
	const edges = 8 // spaces and lines around title and note
	if theme.Width("Endpoints - "+e.title()+text)+edges > e.width-2 {
		text = disabled
	}
	if text == "" {
		return nil
	}
	return []theme.Span{{Text: text, Role: theme.Dim}}
}

// isStopped reports whether an endpoint receives nothing, or only single messages at intervals.
func isStopped(q wire.Queue) bool { return !q.IsEnabled || q.Breaker == wire.BreakerOpen }

// isUnsteady reports whether so many attempts fail that an endpoint has a sign of its own, although
// it is not in trouble: the messages are delivered by retries.
func isUnsteady(q wire.Queue) bool {
	const steadyShare = 0.9
	failed := q.Failed + q.GivenUp
	return failed > 0 && float64(q.Delivered) < steadyShare*float64(q.Delivered+failed)
}

// sign returns the sign of an endpoint's state.
func (e endpointList) sign(q wire.Queue) theme.Span {
	t := e.session.Theme
	if !ui.InTrouble(q) && isUnsteady(q) {
		return theme.Span{Text: t.Retry, Role: theme.Warning}
	}
	if !ui.InTrouble(q) {
		return theme.Span{Text: t.Healthy, Role: theme.Success}
	}
	if isStopped(q) {
		return theme.Span{Text: t.Stopped, Role: theme.Failure}
	}
	return theme.Span{Text: t.Alert, Role: theme.Warning}
}

// name returns the host and path of an endpoint, with the event if several ones have the same URL.
// The host is in the title if all have the same.
func (e endpointList) name(q wire.Queue) string {
	name := ui.EndpointName(q.URL)
	shown := name
	if host := e.commonHost(); host != "" {
		shown = strings.TrimPrefix(name, host+" ")
	}
	for _, endpoint := range e.overview.Stats.Queues {
		if endpoint.SubscriptionID != q.SubscriptionID && ui.EndpointName(endpoint.URL) == name {
			return shown + " " + q.EventName
		}
	}
	return shown
}

// commonHost returns the host of all endpoints if there are several, "" if they differ.
func (e endpointList) commonHost() string {
	queues := e.overview.Stats.Queues
	if len(queues) < 2 {
		return ""
	}
	common, _, _ := strings.Cut(ui.EndpointName(queues[0].URL), " ")
	for _, q := range queues[1:] {
		host, _, _ := strings.Cut(ui.EndpointName(q.URL), " ")
		if host != common {
			return ""
		}
	}
	return common
}

// fitEndpoint cuts the host of an endpoint in its middle, and its path only if that is not enough.
func fitEndpoint(t *theme.Theme, name string, width int) string {
	host, path, hasPath := strings.Cut(name, " ")
	const minHost, minWidth = 9, 20
	if !hasPath || theme.Width(name) <= width || width < minWidth {
		return t.TruncateMiddle(name, width)
	}
	room := max(width-1-theme.Width(path), min(minHost, len(host)), width/3)
	host = t.TruncateMiddle(host, min(room, len(host)))
	return host + " " + t.TruncateMiddle(path, width-1-theme.Width(host))
}

// affected describes the messages that an endpoint in trouble has not received.
func (e endpointList) affected(q wire.Queue) string {
	switch {
	case isStopped(q) && q.Pending > 0:
		return display.Short(q.Pending) + " wait"
	case q.GivenUp > 0:
		return display.Short(q.GivenUp) + " failed"
	case q.Pending > 0:
		return display.Short(q.Pending) + " retrying"
	}
	return display.Short(q.Failed) + " failed"
}

// reason explains why an endpoint in trouble receives nothing.
func (e endpointList) reason(q wire.Queue) string {
	if !q.IsEnabled {
		return strings.TrimSuffix("disabled: "+q.DisabledReason, ": ")
	}
	if q.Breaker == wire.BreakerOpen {
		return "paused after failures"
	}
	if g := e.overview.groupOf(q.SubscriptionID); g != nil {
		return g.result()
	}
	if q.LastFailure == nil {
		return "failing"
	}
	code := ""
	if q.LastFailure.HTTPCode > 0 {
		code = fmt.Sprint(q.LastFailure.HTTPCode, " ")
	}
	return code + q.LastFailure.Message
}

// when returns the time of the last failure, or of the next try of an endpoint that is paused.
func (e endpointList) when(q wire.Queue) (text string, isNext bool) {
	if !q.IsEnabled {
		return "", false
	}
	if next := time.Time(q.NextProbeDateTime); q.Breaker == wire.BreakerOpen && !next.IsZero() {
		return e.session.ShortUntil(next), true
	}
	if q.LastFailure == nil {
		return "", false
	}
	return e.session.ShortSince(time.Time(q.LastFailure.At)), false
}

// share returns the share of messages or attempts that succeeded, "" without any.
func share(delivered, failed int64) string {
	if delivered+failed <= 0 || delivered < 0 {
		return ""
	}
	return ui.Percent(float64(delivered) / float64(delivered+failed))
}

// numbers returns the share of successes and the sparkline of an endpoint.
func (e endpointList) numbers(delivered, failed int64, attempts []int64, role theme.Role) []theme.Span {
	spans := []theme.Span{{Text: share(delivered, failed) + "  "}}
	spans = append(spans, sparkline(e.session.Theme, attempts, e.uncounted(), role)...)
	return append(spans, theme.Span{Text: " "})
}

// uncounted returns the number of steps of a sparkline before counting began.
func (e endpointList) uncounted() int {
	s := e.overview.Stats
	since, now := time.Time(s.SinceDateTime), time.Time(s.ServerDateTime)
	if since.IsZero() {
		return 0
	}
	const step = time.Hour / sparkCells
	return sparkCells - 1 - int(now.Sub(since)/step)
}

// numbersOf returns the share of successes and the sparkline of an endpoint.
func (e endpointList) numbersOf(q wire.Queue) []theme.Span {
	return e.numbers(q.Delivered, q.Failed+q.GivenUp, q.Attempts, e.sign(q).Role)
}

// nameLine draws an endpoint with its numbers. The name is cut in the middle.
func (e endpointList) nameLine(q wire.Queue, selected bool) string {
	t := e.session.Theme
	const signCells, gap = 3, 2
	numbers := e.numbersOf(q)
	room := e.width - signCells - gap
	for _, span := range numbers {
		room -= theme.Width(span.Text)
	}
	sign := e.sign(q)
	sign.Text += " "
	return t.SignRow(e.width, selected, []theme.Span{sign, {Text: fitEndpoint(t, e.name(q), room)}}, numbers)
}

// troubleLines draws an endpoint in trouble in two lines.
func (e endpointList) troubleLines(q wire.Queue, selected bool) []string {
	t := e.session.Theme
	text := e.affected(q) + ", " + e.reason(q)
	when, isNext := e.when(q)
	if isNext {
		when = nextText(when, "next ")
	} else if when != "" {
		when = "last " + when
	}
	const margins = 4
	if when != "" && theme.Width(text+", "+when) <= e.width-margins {
		text += ", " + when
	}
	return []string{
		e.nameLine(q, selected),
		t.SignRow(e.width, selected, []theme.Span{{Text: "  " + text, Role: theme.Dim}}, nil),
	}
}

// troubleColumns are the widths of the columns of endpoints in one line each.
type troubleColumns struct{ name, affected, reason, when int }

// troubleTable returns the texts of endpoints in one line each, and the widths of their columns.
func (e endpointList) troubleTable(list []wire.Queue) (rows [][4]string, widths troubleColumns) {
	for _, q := range list {
		when, isNext := e.when(q)
		row := [4]string{e.name(q), e.affected(q), e.reason(q), when}
		if isNext {
			row[2], row[3] = "paused, "+nextText(when, "next try "), ""
		}
		rows = append(rows, row)
		widths.name = max(widths.name, theme.Width(row[0]))
		widths.affected = max(widths.affected, theme.Width(row[1]))
		widths.reason = max(widths.reason, theme.Width(row[2]))
		widths.when = max(widths.when, theme.Width(row[3]))
	}
	const margins = 3 + 3*3 + 1 // the sign with its spaces, three gaps, and a cell at the end
	room := e.width - margins - widths.affected - widths.when
	widths.name = max(min(widths.name, room-widths.reason), min(widths.name, max(room*2/5, len("others"))))
	widths.reason = max(0, room-widths.name)
	return rows, widths
}

// tableLines draws endpoints in trouble in one line each; selected is the index of the selected one.
func (e endpointList) tableLines(list []wire.Queue, selected int) []string {
	t := e.session.Theme
	rows, widths := e.troubleTable(list)
	var lines []string
	for i, row := range rows {
		sign := e.sign(list[i])
		sign.Text += " "
		spans := []theme.Span{
			sign,
			{Text: t.Fit(fitEndpoint(t, row[0], widths.name), widths.name, false) + "   "},
			{Text: t.Fit(row[1], widths.affected, false) + "   "},
			{Text: t.Fit(row[2], widths.reason, false) + "   ", Role: theme.Dim},
			{Text: t.Fit(row[3], widths.when, true) + " ", Role: theme.Dim},
		}
		lines = append(lines, t.SignRow(e.width, i == selected, spans, nil))
	}
	return lines
}

// others sums up the endpoints without trouble.
type others struct {
	count     int
	delivered int64
	failed    int64
	attempts  []int64
}

// others returns the sum of the endpoints without trouble, also of those without traffic.
func (e endpointList) others() others {
	s := e.overview.Stats
	sum := others{delivered: s.Totals.Delivered, failed: s.Totals.Failed + s.Totals.GivenUp}
	sum.count = s.Subscriptions - s.Disabled
	for _, q := range e.overview.troubled() {
		if q.IsEnabled {
			sum.count--
		}
	}
	for _, q := range s.Queues {
		if ui.InTrouble(q) {
			sum.delivered -= q.Delivered
			sum.failed -= q.Failed + q.GivenUp
		} else {
			sum.addAttempts(q, 1)
		}
	}
	return sum
}

// addAttempts adds a multiple of the attempts of an endpoint.
func (o *others) addAttempts(q wire.Queue, factor int64) {
	if o.attempts == nil {
		o.attempts = make([]int64, sparkCells)
	}
	for i := range min(len(q.Attempts), sparkCells) { // the last ones are those of the last minutes
		o.attempts[sparkCells-1-i] += factor * q.Attempts[len(q.Attempts)-1-i]
	}
}

// remove takes an endpoint out that is shown by itself.
func (o *others) remove(q wire.Queue) {
	o.count--
	o.delivered -= q.Delivered
	o.failed -= q.Failed + q.GivenUp
	o.addAttempts(q, -1)
}

// otherSpans describes the endpoints without trouble; some are listed by themselves.
func (e endpointList) otherSpans(sum others, areSomeListed bool) []theme.Span {
	text := display.Count(sum.count, "endpoint", "endpoints")
	if areSomeListed {
		text = display.Count(sum.count, "other", "others")
	}
	return []theme.Span{{Text: e.session.Theme.Healthy + " ", Role: theme.Success}, {Text: text}}
}

// otherLine draws the endpoints without trouble with their numbers.
func (e endpointList) otherLine(sum others, areSomeListed bool) string {
	numbers := e.numbers(sum.delivered, sum.failed, sum.attempts, theme.Success)
	return e.session.Theme.SignRow(e.width, false, e.otherSpans(sum, areSomeListed), numbers)
}

// otherRow draws the endpoints without trouble below the columns of those in trouble.
func (e endpointList) otherRow(widths troubleColumns) string {
	t := e.session.Theme
	sum := e.others()
	spans := e.otherSpans(sum, len(e.overview.troubled()) > 0)
	state := "all delivered"
	if sum.delivered+sum.failed == 0 {
		state = "no messages"
	} else if sum.failed > 0 {
		state = share(sum.delivered, sum.failed) + " of the attempts"
	}
	spans[1].Text = t.Fit(spans[1].Text, cmp.Or(widths.name, len("99 endpoints")), false)
	return t.SignRow(e.width, false, append(spans, theme.Span{Text: "   " + state, Role: theme.Dim}), nil)
}

// moreLine counts endpoints in trouble without room.
func (e endpointList) moreLine(n int) string {
	t := e.session.Theme
	return t.SignRow(e.width, false, []theme.Span{
		{Text: t.Alert + " ", Role: theme.Warning},
		{Text: fmt.Sprintf("%d more in trouble", n)},
	}, nil)
}
