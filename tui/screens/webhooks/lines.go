package webhooks

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What the screen of a subscription tells.

// detailLine is a line of the screen: a label and what is told.
type detailLine struct {
	label, text string
	role        theme.Role
}

// fill makes the lines anew. What is too long for one goes on below.
func (s *Subscription) fill() {
	if s.Width == 0 {
		return
	}
	t := s.Theme
	var lines []theme.Span
	var styled [][]theme.Span
	for _, l := range s.told() {
		texts := t.WrapLines(l.text, s.Width-detailLabel-3, detailLines)
		if len(texts) == 0 {
			texts = []string{""}
		}
		for i, text := range texts {
			label := l.label
			if i > 0 {
				label = ""
			}
			row := []theme.Span{{Text: "  " + t.Fit(label, detailLabel, false), Role: theme.Label}, {Text: text, Role: l.role}}
			lines, styled = append(lines, theme.Span{Text: row[0].Text + text}), append(styled, row)
		}
	}
	s.SetLines(lines)
	s.Styled = styled
}

const (
	detailLabel = 16 // how wide the labels are
	detailLines = 20 // that a text takes at most
)

// told is all that is known of the subscription.
func (s *Subscription) told() []detailLine {
	one := s.One
	address := ui.MaskURL(one.URL)
	if s.revealed {
		address = one.URL
	}
	state := stateCell(one, s.Session)
	why := cmp.Or(trouble(one, s.Session), state.Text)
	if s.waitsFor() {
		why = "enabled, but the subscriber is disabled: its messages wait"
	}
	lines := []detailLine{
		{"Event", one.EventName, theme.Breadcrumb}, {"URL", address, theme.Plain}, {"State", why, state.Role}, {},
	}
	lines = append(lines, s.deliveries()...)
	order := "no: messages go out side by side"
	if one.Ordered {
		order = "yes: each message waits for the one before"
	}
	return append(lines, detailLine{},
		detailLine{"Ordered", order, theme.Plain}, detailLine{"Retries", cmp.Or(waits(one.RetrySchedule), "as the service's settings say"), theme.Plain},
		detailLine{"Headers", cmp.Or(headerNames(one), "none of its own"), theme.Plain}, detailLine{},
		detailLine{"Subscriber", s.list.Subscriber.Name + "  " + ui.ShortID(one.SubscriberID), theme.Plain}, detailLine{"SubscriptionID", one.RecID, theme.Plain},
		detailLine{"ItemNo", fmt.Sprint(one.ItemNo), theme.Dim}, detailLine{"Saved", s.at(one.LastSavedDateTime), theme.Dim}, detailLine{"RowHash", base64.StdEncoding.EncodeToString(one.RowHash), theme.Dim})
}

// deliveries is how deliveries to the subscription stand.
func (s *Subscription) deliveries() []detailLine {
	queue, known := s.Queues.Get(s.One.RecID)
	if !known {
		return []detailLine{{"Deliveries", strings.Repeat(s.Theme.Loading, 3), theme.Dim}}
	}
	lines := []detailLine{
		{s.Queues.PeriodLabel(&s.Clock), fmt.Sprintf("%s delivered, %s failed, %s given up", display.Thousands(queue.Delivered), display.Thousands(queue.Failed), display.Thousands(queue.GivenUp)), theme.Plain},
		{"Waiting", s.waits(queue), theme.Plain},
		{"On the way", fmt.Sprintf("%d, at most %d at a time", queue.InFlight, queue.Limit), theme.Plain},
	}
	if queue.Limit == 0 {
		lines = lines[:len(lines)-1] // nothing was sent since the service was started
	}
	if p99 := time.Duration(queue.P99); p99 > 0 {
		lines = append(lines, detailLine{"Attempts take", "99% of them at most " + display.Thousands(p99.Milliseconds()) + " ms", theme.Plain})
	}
	if since := s.failing(queue); !time.Time(since).IsZero() {
		lines = append(lines, detailLine{"Failing since", s.at(since), theme.Failure})
	}
	if queue.Breaker == wire.BreakerOpen {
		lines = append(lines, detailLine{"Next try", s.at(queue.NextProbeDateTime) + ": one message at a time, until one is received", theme.Plain})
	}
	if queue.LastFailure != nil {
		lines = append(lines, detailLine{"Last failure", failureText(*queue.LastFailure) + ", " + s.at(queue.LastFailure.At), theme.Plain})
	}
	return lines
}

// failing is since when every attempt has failed, zero where one did not. The
// queue knows it sooner than the subscription, which is fetched now and then; of
// one that is disabled and has no messages there is none.
func (s *Subscription) failing(queue wire.Queue) wire.Timestamp {
	if queue.SubscriptionID == "" && (!s.One.IsEnabled || s.waitsFor()) {
		return s.One.FailingSince
	}
	return queue.FailingSince
}

// waits is what waits to be sent.
func (s *Subscription) waits(queue wire.Queue) string {
	if queue.Pending == 0 {
		return "nothing"
	}
	text := fmt.Sprintf("%s: %s not sent yet, %s to be tried again", display.Count(queue.Pending, "message", "messages"), display.Thousands(queue.NotSent), display.Thousands(queue.RetryPending))
	if at := time.Time(queue.OldestDateTime); !at.IsZero() {
		text += "; the oldest since " + s.at(queue.OldestDateTime)
	}
	return text
}

// at is a time with its date, and how long ago or ahead it is.
func (s *Subscription) at(m wire.Timestamp) string {
	at := time.Time(m)
	if at.IsZero() {
		return "-"
	}
	text := s.InZone(at).Format("2006-01-02 15:04:05")
	if left := s.TimeUntil(at); left > 0 {
		return text + " (" + ui.Soon(left) + ")"
	}
	return text + " (" + ui.Age(s.Since(at)) + " ago)"
}
