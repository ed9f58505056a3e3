package home

import (
	"cmp"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// hasQueue reports whether messages wait or are sent now, as far as they are counted.
func hasQueue(stats *wire.Stats) bool {
	if stats.InHand.InFlight > 0 {
		return true
	}
	if stats.Depth == nil {
		return stats.DepthMessage != ""
	}
	return stats.Depth.NotSent+stats.Depth.RetryPending > 0
}

// queueSpans counts the messages that wait, or shows that they are not counted; nil if there are none.
// A short text leaves out those in flight.
func queueSpans(s *ui.Session, stats *wire.Stats, isShort bool) []theme.Span {
	if !hasQueue(stats) {
		return nil
	}
	var spans []theme.Span
	add := func(label, value string, role theme.Role) {
		spans = append(spans,
			theme.Span{Text: label + " ", Role: theme.Dim},
			theme.Span{Text: value, Role: role},
			theme.Span{Text: "   "})
	}
	depth := stats.Depth
	if depth == nil {
		add("waiting", cmp.Or(stats.DepthMessage, "not counted yet"), theme.Warning)
		return spans
	}
	// Endpoints count both kinds together.
	add("waiting", display.Thousands(depth.NotSent+depth.RetryPending), theme.Plain)
	if depth.RetryPending > 0 {
		spans[len(spans)-1].Text = " ("
		spans = append(spans,
			theme.Span{Text: display.Thousands(depth.RetryPending), Role: theme.Warning},
			theme.Span{Text: " retrying)   ", Role: theme.Dim})
	}
	if stats.InHand.InFlight > 0 && !isShort {
		add("in flight", display.Thousands(stats.InHand.InFlight), theme.Plain)
	}
	if oldest := time.Time(depth.OldestDateTime); !oldest.IsZero() {
		add("oldest waits", ui.Age(s.Since(oldest)), theme.Plain)
	}
	return spans
}
