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

// drawStats draws the statistics for a terminal: counts, a bar for each endpoint and a
// sparkline for each hour.
func drawStats(to io.Writer, s output.Screen, width int, stats *wire.Stats) error {
	var text strings.Builder
	t := stats.Totals
	depth := cmp.Or(stats.Depth, new(wire.Depth))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%s  %s\n", s.Paint(theme.Label, fmt.Sprintf("%-12s", name)), fmt.Sprintf(format, args...))
	}
	count := func(role theme.Role, n int64, word string) string {
		if n == 0 {
			role = theme.Plain
		}
		return s.Paint(role, display.Thousands(n)+" "+word)
	}

	window := output.Span(stats.Window)
	since := time.Time(stats.SinceDateTime)
	uptime := time.Time(stats.ServerDateTime).Sub(since)
	if !since.IsZero() && uptime < time.Duration(stats.Window) {
		window += ", since the start of the service at " + since.In(s.Zone).Format("15:04 MST")
	}
	line("Window", "%s", window)
	line("Published", "%s, %s", display.Count(t.Events, "event", "events"),
		display.Count(t.Messages, "message", "messages"))
	success := ""
	if stats.SuccessRate != nil {
		success = fmt.Sprintf(", %.1f%% of attempts succeeded", 100**stats.SuccessRate)
	}
	line("Attempts", "%s, %s, %s%s", count(theme.Success, t.Delivered, "delivered"),
		count(theme.Failure, t.Failed, "failed"), count(theme.Failure, t.GivenUp, "given up"), success)
	if stats.Latency.P50 != 0 {
		line("Latency", "P50 at most %s, P95 at most %s, P99 at most %s",
			output.Span(stats.Latency.P50), output.Span(stats.Latency.P95), output.Span(stats.Latency.P99))
	}
	oldest := ""
	if published := time.Time(depth.OldestDateTime); !published.IsZero() {
		oldest = ", the oldest for " + display.Age(time.Time(stats.ServerDateTime).Sub(published))
	}
	line("Waiting", "%s, %s, %s%s", count(theme.Plain, depth.NotSent, "not sent"),
		count(theme.Warning, depth.RetryPending, "retrying"),
		count(theme.Plain, int64(stats.InHand.InFlight), "in flight"), oldest)
	if stats.InHand.OpenBreakers+stats.Disabled > 0 {
		breakers := display.Count(stats.InHand.OpenBreakers, "circuit breaker open", "circuit breakers open")
		disabled := display.Count(stats.Disabled, "subscription disabled", "subscriptions disabled")
		line("Problems", "%s", s.Paint(theme.Failure, breakers+", "+disabled))
	}
	if stats.InHand.Paused != "" {
		line("Deliveries", "%s", s.Paint(theme.Failure, display.Sanitize(stats.InHand.Paused)))
	}
	bar, period := 24, 1
	if width < 100 {
		bar, period = 12, 2
	}
	note := 42 // cells for counts and spaces
	if stats.InHand.OpenBreakers > 0 {
		note += len(", breaker open")
	}
	drawEndpoints(&text, s, stats, min(max(width-bar-note, 16), 50), bar)
	drawHours(&text, s, stats.Minutes, period)
	_, err := io.WriteString(to, text.String())
	return err
}

// maxEndpoints limits the bars: those with the most failures are drawn.
const maxEndpoints = 20

// drawEndpoints draws a bar for each URL: its delivered and failed attempts.
func drawEndpoints(text *strings.Builder, s output.Screen, stats *wire.Stats, endpointWidth, barWidth int) {
	var endpoints []*wire.Queue // the sums of the queues of each URL
	busiest := int64(1)
	for _, q := range stats.Queues {
		i := slices.IndexFunc(endpoints, func(endpoint *wire.Queue) bool { return endpoint.URL == q.URL })
		if i < 0 {
			i = len(endpoints)
			endpoints = append(endpoints, &wire.Queue{
				URL:               q.URL,
				Breaker:           q.Breaker,
				WaitUntilDateTime: q.WaitUntilDateTime,
			})
		}
		sum := endpoints[i]
		sum.Delivered += q.Delivered
		sum.Failed += q.Failed + q.GivenUp
		sum.Pending += q.Pending
		if q.Breaker == wire.BreakerOpen {
			sum.Breaker = wire.BreakerOpen
		}
		busiest = max(busiest, sum.Delivered+sum.Failed)
	}
	if len(endpoints) == 0 {
		return
	}

	fmt.Fprintf(text, "\n%s\n", s.Paint(theme.Title, "Endpoints, last "+output.Span(stats.QueueWindow)))
	slices.SortStableFunc(endpoints, func(a, b *wire.Queue) int { return cmp.Compare(b.Failed, a.Failed) })
	full := string([]rune(s.Bars)[len([]rune(s.Bars))-1:])
	for _, q := range endpoints[:min(len(endpoints), maxEndpoints)] {
		name := output.FitMiddle(s, display.Sanitize(display.ShortURL(q.URL)), endpointWidth)
		bad := barLength(q.Failed, busiest, barWidth)
		good := min(barLength(q.Delivered, busiest, barWidth), barWidth-bad)
		bar := s.Paint(theme.Success, strings.Repeat(full, good)) +
			s.Paint(theme.Failure, strings.Repeat(cmp.Or(s.FailedBar, full), bad))
		note := display.Thousands(q.Delivered) + " delivered"
		if q.Failed > 0 {
			note += ", " + s.Paint(theme.Failure, display.Thousands(q.Failed)+" failed")
		}
		if q.Pending > 0 {
			note += ", " + display.Thousands(q.Pending) + " waiting"
		}
		if q.Breaker == wire.BreakerOpen {
			note += ", " + s.Paint(theme.Failure, "breaker open")
		}
		if wait := time.Time(q.WaitUntilDateTime); !wait.IsZero() {
			note += ", waiting (Retry-After) until " + wait.In(s.Zone).Format(time.TimeOnly)
		}
		fmt.Fprintf(text, "%s  %s%s  %s\n", name, bar, strings.Repeat(" ", barWidth-good-bad), note)
	}
	if len(endpoints) > maxEndpoints || stats.OtherQueues > 0 {
		fmt.Fprintln(text, "others: whctl stats --queues")
	}
}

// barLength returns the length of a bar; a small number is visible, too.
func barLength(n, most int64, width int) int {
	if n == 0 {
		return 0
	}
	return max(1, int(n*int64(width)/most))
}

// drawHours draws a sparkline of attempts for each hour of the clock, with a cell for each
// period of some minutes. Periods with failures have the look of failures.
func drawHours(text *strings.Builder, s output.Screen, m wire.Minutes, period int) {
	from := time.Time(m.From).In(s.Zone)
	most := int64(1)
	type traffic struct{ delivered, failed int64 }
	hours := make(map[time.Time][]traffic) // by their start
	var starts []time.Time
	for i := range m.Delivered {
		minute := from.Add(time.Duration(i) * time.Minute)
		hour := minute.Add(-time.Duration(minute.Minute()) * time.Minute)
		if hours[hour] == nil {
			hours[hour] = make([]traffic, 60/period)
			starts = append(starts, hour)
		}
		cell := &hours[hour][minute.Minute()/period]
		cell.delivered += m.Delivered[i]
		cell.failed += m.Failed[i] + m.GivenUp[i]
		most = max(most, cell.delivered+cell.failed)
	}

	bars := []rune(s.Bars)
	started := false
	for _, hour := range starts {
		var line, run string // run has the bars since the last change of the role
		var sum traffic
		last := theme.Plain
		for _, cell := range hours[hour] {
			sum.delivered += cell.delivered
			sum.failed += cell.failed
			n := cell.delivered + cell.failed
			bar := string(bars[(n*int64(len(bars)-1)+most-1)/most])
			role := theme.Success
			if cell.failed > 0 {
				bar = cmp.Or(s.FailedBar, bar)
				role = theme.Failure
			}
			if role != last {
				line += s.Paint(last, run)
				run = ""
				last = role
			}
			run += bar
		}
		if !started && sum == (traffic{}) {
			continue // before the first attempt
		}
		if !started {
			title := fmt.Sprintf("Attempts by hour (%s), at most %s in %s",
				hour.Format("MST"), display.Thousands(most), display.Count(period, "minute", "minutes"))
			fmt.Fprintf(text, "\n%s\n", s.Paint(theme.Title, title))
			started = true
		}
		note := display.Thousands(sum.delivered) + " delivered"
		if sum.failed > 0 {
			note += ", " + s.Paint(theme.Failure, display.Thousands(sum.failed)+" failed")
		}
		fmt.Fprintf(text, "%s  %s  %s\n", hour.Format("15:04"), line+s.Paint(last, run), note)
	}
}
