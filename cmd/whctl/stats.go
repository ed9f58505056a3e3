package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/tui/theme"
)

// statsDrawing is the text of the statistics for a terminal.
type statsDrawing struct {
	strings.Builder
	screen output.Screen
}

// drawStats draws the statistics for a terminal of a width in cells: counts, a bar for each
// endpoint and a sparkline for each hour.
func drawStats(to io.Writer, s output.Screen, width int, stats *wire.Stats) error {
	d := &statsDrawing{screen: s}
	d.attemptCounts(stats)
	d.messageCounts(stats)
	d.problems(stats)

	barWidth := 24
	period := 1 // in minutes
	if width < 100 {
		barWidth = 12
		period = 2
	}
	noteWidth := 42 // of counts and spaces
	if stats.InHand.OpenBreakers > 0 {
		noteWidth += len(", breaker open")
	}
	nameWidth := min(max(width-barWidth-noteWidth, 16), 50)
	d.endpoints(stats, nameWidth, barWidth)
	d.hours(stats.Minutes, period)
	_, err := io.WriteString(to, d.String())
	return err
}

// line adds a line with a label.
func (d *statsDrawing) line(label, format string, args ...any) {
	label = d.screen.Paint(theme.Label, fmt.Sprintf("%-12s", label))
	fmt.Fprintf(d, "%s  %s\n", label, fmt.Sprintf(format, args...))
}

// title adds the title of a part, after an empty line.
func (d *statsDrawing) title(text string) {
	fmt.Fprintf(d, "\n%s\n", d.screen.Paint(theme.Title, text))
}

// count returns a number with a word, in the style of the role unless it is zero.
func (d *statsDrawing) count(role theme.Role, n int64, word string) string {
	if n == 0 {
		role = theme.Plain
	}
	return d.screen.Paint(role, display.Thousands(n)+" "+word)
}

// attemptCounts adds the counts and latencies of the attempts in the window.
func (d *statsDrawing) attemptCounts(stats *wire.Stats) {
	d.line("Window", "%s", output.Span(stats.Window))
	if since := countedSince(d.screen, stats); since != "" {
		d.line("Counted", "since %s", since)
	}

	totals := stats.Totals
	d.line("Published", "%s, %s", display.Count(totals.Events, "event", "events"),
		display.Count(totals.Messages, "message", "messages"))

	success := ""
	if stats.SuccessRate != nil {
		success = fmt.Sprintf(", %s%% of attempts succeeded", display.Percent(*stats.SuccessRate))
	}
	d.line("Attempts", "%s, %s, %s%s",
		d.count(theme.Success, totals.Delivered, "delivered"),
		d.count(theme.Failure, totals.Failed, "failed"),
		d.count(theme.Failure, totals.GivenUp, "given up"), success)

	latency := stats.Latency
	if latency.P50 != 0 {
		d.line("Latency", "P50 at most %s, P95 at most %s, P99 at most %s",
			output.Span(latency.P50), output.Span(latency.P95), output.Span(latency.P99))
	}
}

// messageCounts adds the counts of the messages that wait now.
func (d *statsDrawing) messageCounts(stats *wire.Stats) {
	inFlight := d.count(theme.Plain, int64(stats.InHand.InFlight), "in flight")
	depth := stats.Depth
	if depth == nil {
		reason := "yet"
		if stats.DepthMessage != "" {
			reason = "(" + display.Sanitize(stats.DepthMessage) + ")"
		}
		d.line("Waiting", "not counted %s, %s", reason, inFlight)
		return
	}
	oldest := ""
	if published := time.Time(depth.OldestDateTime); !published.IsZero() {
		age := time.Time(stats.ServerDateTime).Sub(published)
		oldest = ", the oldest for " + display.Age(age)
	}
	d.line("Waiting", "%s, %s, %s%s",
		d.count(theme.Plain, depth.NotSent, "not sent"),
		d.count(theme.Warning, depth.RetryPending, "retrying"),
		inFlight, oldest)
}

// problems adds a line for each kind of problem that there is.
func (d *statsDrawing) problems(stats *wire.Stats) {
	inHand := stats.InHand
	if inHand.OpenBreakers+stats.Disabled > 0 {
		breakers := display.Count(inHand.OpenBreakers, "circuit breaker open", "circuit breakers open")
		disabled := display.Count(stats.Disabled, "subscription disabled", "subscriptions disabled")
		d.line("Problems", "%s", d.screen.Paint(theme.Failure, breakers+", "+disabled))
	}
	held := 0 // subscriptions with messages that are held
	for _, q := range stats.Queues {
		if len(q.HeldEvents) > 0 {
			held++
		}
	}
	if held > 0 {
		text := "messages of " + display.Count(held, "subscription", "subscriptions") +
			": the owner may not read their records"
		d.line("Held", "%s", d.screen.Paint(theme.Warning, text))
	}
	var waitUntil time.Time // the last end of a requested wait
	waiting := 0
	for _, q := range stats.Queues {
		until := time.Time(q.WaitUntilDateTime)
		if until.IsZero() {
			continue
		}
		waiting++
		if until.After(waitUntil) {
			waitUntil = until
		}
	}
	if waiting > 0 {
		text := "messages of " + display.Count(waiting, "subscription", "subscriptions") +
			": the endpoint " + d.screen.RequestedWait(waitUntil)
		d.line("Waits", "%s", d.screen.Paint(theme.Warning, text))
	}
	if inHand.Paused != "" {
		d.line("Deliveries", "%s", d.screen.Paint(theme.Failure, display.Sanitize(inHand.Paused)))
	}
}

// maxEndpoints limits the bars: those with the most failures are drawn.
const maxEndpoints = 20

// endpoints adds a bar for each URL: its delivered and failed attempts. Both widths are in cells.
func (d *statsDrawing) endpoints(stats *wire.Stats, nameWidth, barWidth int) {
	endpoints := endpointSums(stats.Queues)
	if len(endpoints) == 0 {
		return
	}
	d.title("Endpoints, last " + output.Span(stats.QueueWindow))

	busiest := int64(1)
	for _, e := range endpoints {
		busiest = max(busiest, e.Delivered+e.Failed)
	}
	for _, e := range endpoints[:min(len(endpoints), maxEndpoints)] {
		url := display.Sanitize(display.ShortURL(e.URL))
		name := output.FitMiddle(d.screen, url, nameWidth)
		fmt.Fprintf(d, "%s  %s  %s\n", name, d.bar(e, busiest, barWidth), d.endpointNote(e))
	}
	if len(endpoints) > maxEndpoints || stats.OtherQueues > 0 {
		fmt.Fprintln(d, "others: whctl stats --queues")
	}
}

// endpointSums returns the sums of the queues of each URL, those with the most failures first.
// Failed includes the messages that were given up.
func endpointSums(queues []wire.Queue) []*wire.Queue {
	var endpoints []*wire.Queue
	for _, q := range queues {
		hasURL := func(endpoint *wire.Queue) bool { return endpoint.URL == q.URL }
		i := slices.IndexFunc(endpoints, hasURL)
		if i < 0 {
			i = len(endpoints)
			endpoints = append(endpoints, &wire.Queue{
				URL:               q.URL,
				Breaker:           q.Breaker,
				RateUntilDateTime: q.RateUntilDateTime,
			})
		}
		sum := endpoints[i]
		sum.Delivered += q.Delivered
		sum.Failed += q.Failed + q.GivenUp
		sum.Pending += q.Pending
		if time.Time(q.WaitUntilDateTime).After(time.Time(sum.WaitUntilDateTime)) {
			sum.WaitUntilDateTime = q.WaitUntilDateTime
		}
		if q.Breaker == wire.BreakerOpen {
			sum.Breaker = wire.BreakerOpen
		}
	}
	slices.SortStableFunc(endpoints, func(a, b *wire.Queue) int {
		return cmp.Compare(b.Failed, a.Failed)
	})
	return endpoints
}

// bar returns the bar of an endpoint, padded to a width in cells. A bar for the attempts of the
// busiest endpoint has the whole width.
func (d *statsDrawing) bar(endpoint *wire.Queue, busiest int64, width int) string {
	bars := []rune(d.screen.Bars)
	full := string(bars[len(bars)-1])
	failed := barLength(endpoint.Failed, busiest, width)
	delivered := min(barLength(endpoint.Delivered, busiest, width), width-failed)
	return d.screen.Paint(theme.Success, strings.Repeat(full, delivered)) +
		d.screen.Paint(theme.Failure, strings.Repeat(cmp.Or(d.screen.FailedBar, full), failed)) +
		strings.Repeat(" ", width-failed-delivered)
}

// barLength returns the length of a bar for n of most, in cells. A small number is visible, too.
func barLength(n, most int64, width int) int {
	if n == 0 {
		return 0
	}
	return max(1, int(n*int64(width)/most))
}

// endpointNote returns the text after the bar of an endpoint.
func (d *statsDrawing) endpointNote(endpoint *wire.Queue) string {
	note := d.attempts(endpoint.Delivered, endpoint.Failed)
	if endpoint.Pending > 0 {
		note += ", " + display.Thousands(endpoint.Pending) + " waiting"
	}
	if endpoint.Breaker == wire.BreakerOpen {
		note += ", " + d.screen.Paint(theme.Failure, "breaker open")
	}
	if wait := time.Time(endpoint.WaitUntilDateTime); !wait.IsZero() {
		note += ", " + d.screen.RequestedWait(wait)
	}
	if !time.Time(endpoint.RateUntilDateTime).IsZero() {
		note += ", rate limit"
	}
	return note
}

// attempts returns the numbers of attempts as text.
func (d *statsDrawing) attempts(delivered, failed int64) string {
	text := display.Thousands(delivered) + " delivered"
	if failed > 0 {
		text += ", " + d.screen.Paint(theme.Failure, display.Thousands(failed)+" failed")
	}
	return text
}

// traffic has the numbers of attempts in a period.
type traffic struct{ delivered, failed int64 }

func (t traffic) total() int64 { return t.delivered + t.failed }

// trafficHour is an hour of the clock, divided into periods.
type trafficHour struct {
	start   time.Time
	periods []traffic
}

// sum returns the numbers of the whole hour.
func (h trafficHour) sum() traffic {
	var sum traffic
	for _, p := range h.periods {
		sum.delivered += p.delivered
		sum.failed += p.failed
	}
	return sum
}

// trafficHours groups the counts of minutes by hours of the clock in a zone, with periods of some
// minutes.
func trafficHours(m wire.Minutes, zone *time.Location, period int) []trafficHour {
	first := time.Time(m.From).In(zone)
	var hours []trafficHour
	for i := range m.Delivered {
		minute := first.Add(time.Duration(i) * time.Minute)
		start := minute.Add(-time.Duration(minute.Minute()) * time.Minute)
		if len(hours) == 0 || !hours[len(hours)-1].start.Equal(start) {
			hours = append(hours, trafficHour{start: start, periods: make([]traffic, 60/period)})
		}
		p := &hours[len(hours)-1].periods[minute.Minute()/period]
		p.delivered += m.Delivered[i]
		p.failed += m.Failed[i] + m.GivenUp[i]
	}
	return hours
}

// hours adds a sparkline of attempts for each hour of the clock from the first attempt, with a
// cell for each period of some minutes.
func (d *statsDrawing) hours(m wire.Minutes, period int) {
	hours := trafficHours(m, d.screen.Zone, period)
	hasAttempts := func(h trafficHour) bool { return h.sum().total() > 0 }
	first := slices.IndexFunc(hours, hasAttempts)
	if first < 0 {
		return
	}
	busiest := int64(1)
	for _, hour := range hours {
		for _, p := range hour.periods {
			busiest = max(busiest, p.total())
		}
	}

	d.title(fmt.Sprintf("Attempts by hour (%s), at most %s in %s", hours[first].start.Format("MST"),
		display.Thousands(busiest), display.Count(period, "minute", "minutes")))
	for _, hour := range hours[first:] {
		sum := hour.sum()
		fmt.Fprintf(d, "%s  %s  %s\n", hour.start.Format("15:04"),
			d.sparkline(hour.periods, busiest), d.attempts(sum.delivered, sum.failed))
	}
}

// sparkline returns a cell for each period, as high as its share of the busiest one. Periods with
// failures have the style of failures.
func (d *statsDrawing) sparkline(periods []traffic, busiest int64) string {
	bars := []rune(d.screen.Bars)
	highest := int64(len(bars) - 1)
	var line, run string // run has the cells since the last change of the role
	runRole := theme.Plain
	for _, p := range periods {
		height := (p.total()*highest + busiest - 1) / busiest // rounded up: one attempt is visible
		cell := string(bars[height])
		role := theme.Success
		if p.failed > 0 {
			cell = cmp.Or(d.screen.FailedBar, cell)
			role = theme.Failure
		}
		if role != runRole {
			line += d.screen.Paint(runRole, run)
			run = ""
			runRole = role
		}
		run += cell
	}
	return line + d.screen.Paint(runRole, run)
}
