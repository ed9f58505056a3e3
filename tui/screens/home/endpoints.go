package home

import (
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
	session    *ui.Session
	overview   *Overview
	troubled   []wire.Queue
	healthy    []wire.Queue      // enabled, with traffic and without trouble
	untroubled int               // number of the healthy ones and of those without traffic
	names      map[string]string // by SubscriptionID
	host       string            // of all endpoints; empty if they have different ones
	width      int               // in cells
}

// newEndpointList returns the list in a width.
func newEndpointList(s *ui.Session, o *Overview, troubled []wire.Queue, width int) endpointList {
	names, host := endpointNames(o.Stats.Queues)
	healthy := o.healthy()
	return endpointList{
		session:    s,
		overview:   o,
		troubled:   troubled,
		healthy:    healthy,
		untroubled: max(len(healthy), o.untroubledCount(troubled)), // counted after the queues
		names:      names,
		host:       host,
		width:      width,
	}
}

// endpointNames returns the name of each endpoint: its host and path, and its event if several ones
// have the same URL. If all have the same host, it is returned, and the names have none.
func endpointNames(queues []wire.Queue) (map[string]string, string) {
	host := ""
	names := make(map[string]string, len(queues))
	uses := make(map[string]int, len(queues))
	hasOneHost := len(queues) > 1
	for i, q := range queues {
		name := ui.EndpointName(q.URL)
		names[q.SubscriptionID] = name
		uses[name]++
		first, _, _ := strings.Cut(name, " ")
		if i == 0 {
			host = first
		}
		hasOneHost = hasOneHost && first == host
	}
	if !hasOneHost {
		host = ""
	}
	for _, q := range queues {
		name := names[q.SubscriptionID]
		shown := name
		if hasOneHost {
			shown = strings.TrimPrefix(name, host+" ")
		}
		if uses[name] > 1 {
			shown += " " + q.EventName
		}
		names[q.SubscriptionID] = shown
	}
	return names, host
}

// title has the number of endpoints, and of those in trouble.
func (e endpointList) title() string {
	total := display.Thousands(e.overview.Stats.Subscriptions)
	if len(e.troubled) == 0 {
		return total
	}
	return fmt.Sprintf("%s of %s in trouble", display.Thousands(len(e.troubled)), total)
}

// note has the host that all endpoints have in common, and counts the disabled subscriptions, which
// may be so on purpose.
func (e endpointList) note() []theme.Span {
	disabled := ""
	if n := e.overview.Stats.Disabled; n > 0 {
		disabled = fmt.Sprintf("%d disabled", n)
	}
	text := ui.Parts(e.host, disabled)
	const edges = 8 // spaces and lines around title and note
	if theme.Width("Endpoints - "+e.title()+text)+edges > e.width-2 {
		text = disabled
	}
	if text == "" {
		return nil
	}
	return []theme.Span{{Text: text, Role: theme.Dim}}
}

// newBlock returns the panel of the list without lines.
func (e endpointList) newBlock() block {
	b := newBlock("Endpoints", e.width)
	b.detail = e.title()
	b.Note = e.note()
	return b
}

// block draws the endpoints with their traffic in a number of lines: the first ones in trouble with
// their reasons, then the others, one by one if there is room for all of them.
func (e endpointList) block(shown, height, first, selected int) block {
	b := e.newBlock()
	for i, q := range e.troubled[:shown] {
		for _, line := range e.troubleLines(q, first+i == selected) {
			b.add(line, first+i)
		}
	}
	if shown < len(e.troubled) {
		b.addText(e.hiddenLine(shown))
	}
	const gap = 1
	room := height - len(b.Lines)
	hasGap := len(b.Lines) > 0 && room > gap
	if hasGap {
		room -= gap
	}
	lines := e.untroubledLines(room)
	if hasGap && len(lines) > 0 {
		b.addText(theme.Spaces(e.width))
	}
	b.addText(lines...)
	return b
}

// troubleLines draws an endpoint in trouble in two lines.
func (e endpointList) troubleLines(q wire.Queue, selected bool) []string {
	text := "  " + ui.Join(", ", affected(q), e.overview.reason(q))
	if when := e.when(q); theme.Width(text+", "+when)+2 <= e.width {
		text = ui.Join(", ", text, when)
	}
	dim := []theme.Span{{Text: text, Role: theme.Dim}}
	return []string{
		e.trafficLine(q, selected),
		e.session.Theme.SignRow(e.width, selected, dim, nil),
	}
}

// when describes the next attempt of an endpoint that is paused, or else the last failure.
func (e endpointList) when(q wire.Queue) string {
	if next := nextProbe(q); !next.IsZero() {
		return e.session.NextText("next", next)
	}
	if failed := lastFailure(q); !failed.IsZero() {
		return "last " + e.session.ShortSince(failed)
	}
	return ""
}

// trafficLine draws an endpoint with its traffic.
func (e endpointList) trafficLine(q wire.Queue, selected bool) string {
	sign := e.sign(q)
	numbers := e.traffic(deliveriesOf(q), q.Attempts, sign.Role)
	const signCells, gap = 3, 2
	room := e.width - signCells - gap
	for _, span := range numbers {
		room -= theme.Width(span.Text)
	}
	t := e.session.Theme
	name := theme.Span{Text: fitEndpoint(t, e.names[q.SubscriptionID], room)}
	return t.SignRow(e.width, selected, []theme.Span{sign, name}, numbers)
}

// traffic returns the share of messages that were delivered, and the attempts as a sparkline.
func (e endpointList) traffic(d deliveries, attempts []int64, role theme.Role) []theme.Span {
	spans := []theme.Span{{Text: d.share() + "  "}}
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

// minListed is the number of endpoints without trouble from which some of them are listed.
const minListed = 3

// untroubledLines draws the endpoints without trouble in at most room lines. The last one has the sum
// of those without a line.
func (e endpointList) untroubledLines(room int) []string {
	if room < 1 {
		return nil
	}
	if e.untroubled == 0 {
		return e.disabledLines()
	}
	listed := e.listed(room)
	var lines []string
	for _, q := range e.healthy[:listed] {
		lines = append(lines, e.trafficLine(q, false))
	}
	if listed == e.untroubled {
		return lines
	}
	sum := sumOf(e.overview.Stats, e.healthy[listed:])
	name := e.sumSpans(e.untroubled-listed, len(e.troubled)+listed > 0)
	numbers := e.traffic(sum.deliveries, sum.attempts, theme.Success)
	return append(lines, e.session.Theme.SignRow(e.width, false, name, numbers))
}

// listed returns how many healthy endpoints have a line of their own among room lines. If those are
// not all, the last line is left to the others.
func (e endpointList) listed(room int) int {
	if e.untroubled == len(e.healthy) && e.untroubled <= room {
		return e.untroubled
	}
	listed := min(len(e.healthy), room-1)
	if listed < minListed {
		return 0
	}
	return listed
}

// hiddenLine counts the endpoints in trouble without room, below those that are shown.
func (e endpointList) hiddenLine(shown int) string {
	hidden := display.Thousands(len(e.troubled) - shown)
	text := hidden + " in trouble"
	if shown > 0 {
		text = hidden + " more in trouble"
	}
	t := e.session.Theme
	return t.SignRow(e.width, false, []theme.Span{
		{Text: t.Alert + " ", Role: theme.Warning},
		{Text: text},
	}, nil)
}

// sumSpans names a number of endpoints, which are the rest of a list or all endpoints.
func (e endpointList) sumSpans(count int, isRest bool) []theme.Span {
	text := display.Count(count, "endpoint", "endpoints")
	if isRest {
		text = display.Count(count, "other", "others")
	}
	return []theme.Span{{Text: e.session.Theme.Healthy + " ", Role: theme.Success}, {Text: text}}
}

// disabledLines takes the place of endpoints if no subscription is enabled; no line if some are in
// trouble.
func (e endpointList) disabledLines() []string {
	if len(e.troubled) > 0 {
		return nil
	}
	spans := []theme.Span{{Text: "all subscriptions are disabled", Role: theme.Dim}}
	return []string{e.session.Theme.SignRow(e.width, false, spans, nil)}
}
