// Package requests has the screen of the request log.
package requests

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Kind is the record kind of the request log.
const Kind = "RequestLog"

// New returns the request log.
func New(h ui.Host) *browse.Browser { return NewRows(h, "Requests") }

// NewRows returns the request log with a title; empty for the name of its kind.
func NewRows(h ui.Host, name string) *browse.Browser {
	kind, _ := record.System().Lookup(Kind)
	session := h.CurrentSession()
	note := func() string {
		return "without " + display.Thousands(session.Client.SentRequests()) + " of this terminal"
	}
	return browse.New(h, kind, nil, browse.Options{
		Name:        name,
		Scopes:      []keymap.Scope{keymap.InRequests},
		Command:     "whctl requests list",
		NewestFirst: true,
		Paint:       func(fields []string, rows []*grid.Row) { paint(session.Theme, fields, rows) },
		Members:     map[string]json.RawMessage{"WithoutOwn": json.RawMessage("true")},
		Note:        note,
		Head:        summary,
		Problem:     client.Filter{Field: "StatusCode", Operator: record.GreaterThanOrEqualTo, Values: []string{"400"}},
		DefaultFields: []string{
			"StatusCode", "HttpMethod", "PathInfo", "RequestDuration", "UserAuthId", "DateTime", "IpAddress",
		},
		Columns: map[string]grid.Column{
			"StatusCode":      {Title: "Status", Right: true},
			"HttpMethod":      {Title: "Method", Min: 6},
			"PathInfo":        {Title: "Path", Min: 20, Max: 60, Flex: true, TruncateMiddle: true},
			"RequestDuration": {Title: "Duration", Right: true},
			"UserAuthId":      {Title: "User", Min: 8, Max: 24, Flex: true},
			"IpAddress":       {Title: "Address"},
		},
	})
}

// barWidth is the width of the bar of the longest durations, from a second on.
const barWidth = 6

// paint sets the style of failed requests, and draws a bar before each duration.
func paint(t *theme.Theme, fields []string, rows []*grid.Row) {
	status := slices.Index(fields, "StatusCode")
	duration := slices.Index(fields, "RequestDuration")
	for _, row := range rows {
		if status >= 0 {
			code := row.Cells[status].Text
			if code >= "500" {
				row.Cells[status].Role = theme.Failure
			} else if code >= "400" {
				row.Cells[status].Role = theme.Warning
			}
		}
		if duration >= 0 {
			paintDuration(t, &row.Cells[duration])
		}
	}
}

// paintDuration draws a bar before a duration in milliseconds, as long as the logarithm of the
// duration: requests of a millisecond have none, and each factor of ten adds two cells.
func paintDuration(t *theme.Theme, cell *grid.Cell) {
	number := strings.ReplaceAll(strings.TrimSuffix(cell.Text, " ms"), ",", "")
	milliseconds, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return
	}
	length := 0
	if milliseconds > 1 {
		length = min(barWidth, int(math.Ceil(2*math.Log10(milliseconds))))
	}
	cell.Bar = strings.Repeat(t.FullBar(), length)
	cell.Text = cell.Bar + theme.Spaces(barWidth-length+1) + fmt.Sprintf("%9s", cell.Text)
}

// summary describes the newest requests: how many there are a second or a minute, the 95th
// percentile of their durations, and the number with an error of the service.
func summary(rows []client.Row) []theme.Span {
	var durations []int64 // in ticks
	failed := 0
	for _, row := range rows {
		ticks, err := wire.ParseTimeSpan(row.Text("RequestDuration"))
		if err == nil {
			durations = append(durations, ticks)
		}
		if row.Text("StatusCode") >= "500" {
			failed++
		}
	}
	var parts []string
	if len(rows) > 1 {
		newest, hasNewest := ui.ParseTime(rows[0].Text("DateTime"))
		oldest, hasOldest := ui.ParseTime(rows[len(rows)-1].Text("DateTime"))
		if span := newest.Sub(oldest); hasNewest && hasOldest && span > 0 {
			parts = append(parts, rateText(float64(len(rows)-1)/span.Seconds()))
		}
	}
	if len(durations) > 0 {
		slices.Sort(durations)
		p95 := durations[(len(durations)*95-1)/100]
		parts = append(parts, "p95 "+ui.TicksText(p95))
	}
	spans := []theme.Span{{Text: ui.Parts(parts...), Role: theme.Dim}}
	if failed > 0 {
		spans = append(spans,
			theme.Span{Text: "   ", Role: theme.Dim},
			theme.Span{Text: fmt.Sprintf("%d x 5xx", failed), Role: theme.Failure})
	}
	return spans
}

// rateText formats a number of requests per second.
func rateText(perSecond float64) string {
	if perSecond >= 10 {
		return display.Short(int64(perSecond)) + "/s"
	}
	if perSecond >= 1 {
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.1f/min", 60*perSecond)
}
