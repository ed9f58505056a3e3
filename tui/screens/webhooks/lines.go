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

// detailLine is a line of the screen of a subscription: a label and its text.
type detailLine struct {
	label, text string
	role        theme.Role
}

// fill builds the lines. Long texts are wrapped.
func (s *Subscription) fill() {
	if s.Width == 0 {
		return
	}
	var lines []theme.Span
	var data ui.LineData
	for _, detail := range s.details() {
		for _, spans := range detail.wrapped(s.Session.Theme, s.Width) {
			lines = append(lines, theme.Span{Text: spans[0].Text + spans[1].Text})
			data.Styled = append(data.Styled, spans)
			data.Values = append(data.Values, detail.text)
		}
	}
	s.SetLines(lines)
	s.Data = data
}

// wrapped returns the label and the text of each line of a detail. The label is on the first line
// only.
func (d detailLine) wrapped(t *theme.Theme, width int) [][]theme.Span {
	texts := t.WrapLines(d.text, width-detailLabel-3, detailLines)
	if len(texts) == 0 {
		texts = []string{""}
	}
	label := d.label
	var lines [][]theme.Span
	for _, text := range texts {
		lines = append(lines, []theme.Span{
			{Text: "  " + t.Fit(label, detailLabel, false), Role: theme.Label},
			{Text: text, Role: d.role},
		})
		label = ""
	}
	return lines
}

const (
	detailLabel = 16 // width of the labels
	detailLines = 20 // maximum number of lines of a text
)

// details returns the lines of the screen.
func (s *Subscription) details() []detailLine {
	subscription := s.One
	address := ui.MaskURL(subscription.URL)
	if s.revealed {
		address = subscription.URL
	}
	state := stateCell(subscription, s.Session)
	why := cmp.Or(problemText(subscription, s.Session), state.Text)
	if s.subscriberDisabled() {
		why = "enabled, but the subscriber is disabled: messages stay queued"
	}
	lines := []detailLine{
		{"Event", subscription.EventName, theme.Breadcrumb},
		{"URL", address, theme.Plain},
		{"State", why, state.Role},
		{},
	}
	lines = append(lines, s.deliveries()...)
	if subscription.HeldMessages > 0 {
		text := display.Count(subscription.HeldMessages, "message", "messages") +
			": its owner may not read their records"
		lines = append(lines, detailLine{"Held", text, theme.Warning})
	}
	if subscription.Notice != "" {
		lines = append(lines, detailLine{"Notice", subscription.Notice, theme.Warning})
	}
	lines = append(lines, detailLine{})
	if subscription.Where != nil {
		lines = append(lines, detailLine{"Condition", string(subscription.Where), theme.Plain})
	}
	if !time.Time(subscription.CapturedFrom).IsZero() {
		lines = append(lines, detailLine{"Effective since", dateAndDistance(s.Session, subscription.CapturedFrom), theme.Dim})
	}
	schedule := cmp.Or(shortSchedule(subscription.RetrySchedule), "default schedule of the service")
	if n := subscription.MaxPerMinute; n > 0 {
		lines = append(lines, detailLine{"Rate limit", display.Count(n, "attempt", "attempts") + " a minute", theme.Plain})
	}
	if subscription.Format != "" {
		lines = append(lines, detailLine{"Format", subscription.Format, theme.Plain})
	}
	return append(lines, []detailLine{
		{"Ordered", orderTexts[orderOf(subscription)], theme.Plain},
		{"Retry schedule", schedule, theme.Plain},
		{"Headers", cmp.Or(headerNames(subscription), "none"), theme.Plain},
		{},
		{"Subscriber", s.list.Owner().Name + "  " + ui.ShortID(subscription.SubscriberID), theme.Plain},
		{"SubscriptionID", subscription.RecID, theme.Plain},
		{"Item number", fmt.Sprint(subscription.ItemNo), theme.Dim},
		{"Last changed", dateAndDistance(s.Session, subscription.LastSavedDateTime), theme.Dim},
		{"Row version", base64.StdEncoding.EncodeToString(subscription.RowHash), theme.Dim},
	}...)
}

// orderTexts explain the orders of messages.
var orderTexts = map[string]string{
	No:    "no: messages are sent concurrently",
	Yes:   "yes: each message waits for the previous one",
	ByKey: "by key: each message waits for the previous one with its key",
}

// deliveries returns the lines with the delivery statistics.
func (s *Subscription) deliveries() []detailLine {
	queue, ok := s.Session.Queues.Get(s.One.RecID)
	if !ok {
		return []detailLine{{"Deliveries", strings.Repeat(s.Session.Theme.Loading, 3), theme.Dim}}
	}
	period := s.Session.Queues.PeriodLabel(&s.Session.Clock)
	lines := []detailLine{
		{period, attemptsText(queue), theme.Plain},
		{"Queued", s.pendingText(queue), theme.Plain},
	}
	if queue.Limit > 0 { // a message was sent since the service started
		text := fmt.Sprintf("%d, at most %d at a time", queue.InFlight, queue.Limit)
		lines = append(lines, detailLine{"In flight", text, theme.Plain})
	}
	if p99 := time.Duration(queue.P99); p99 > 0 {
		text := "at most " + display.Thousands(p99.Milliseconds()) + " ms"
		lines = append(lines, detailLine{"p99 duration", text, theme.Plain})
	}
	if since := s.failing(queue); !time.Time(since).IsZero() {
		lines = append(lines, detailLine{"Failing since", dateAndDistance(s.Session, since), theme.Failure})
	}
	if queue.Breaker == wire.BreakerOpen {
		text := dateAndDistance(s.Session, queue.NextProbeDateTime) + ": one message at a time until one succeeds"
		lines = append(lines, detailLine{"Next attempt", text, theme.Plain})
	}
	if queue.LastFailure != nil {
		text := ui.FailureText(*queue.LastFailure) + ", " + dateAndDistance(s.Session, queue.LastFailure.At)
		lines = append(lines, detailLine{"Last failure", text, theme.Plain})
	}
	return lines
}

// attemptsText returns the numbers of delivered messages, failed attempts and failed messages.
func attemptsText(queue wire.Queue) string {
	failedAttempts := display.Count(queue.Failed+queue.GivenUp, "failed attempt", "failed attempts")
	failedMessages := display.Count(queue.GivenUp, "failed message", "failed messages")
	return display.Thousands(queue.Delivered) + " delivered, " + failedAttempts + ", " + failedMessages
}

// failing returns the start of the current series of failed attempts, zero if the
// last attempt succeeded. The queue statistics are more recent than the
// subscription, but a disabled subscription without messages has no queue.
func (s *Subscription) failing(queue wire.Queue) wire.Timestamp {
	if queue.SubscriptionID == "" && (!s.One.IsEnabled || s.subscriberDisabled()) {
		return s.One.FailingSince
	}
	return queue.FailingSince
}

// pendingText returns the number and age of the queued messages.
func (s *Subscription) pendingText(queue wire.Queue) string {
	if queue.Pending == 0 {
		return "none"
	}
	messages := display.Count(queue.Pending, "message", "messages")
	text := fmt.Sprintf("%s: %s not sent, %s retrying",
		messages, display.Thousands(queue.NotSent), display.Thousands(queue.RetryPending))
	if !time.Time(queue.OldestDateTime).IsZero() {
		text += "; oldest added " + dateAndDistance(s.Session, queue.OldestDateTime)
	}
	return text
}

// dateAndDistance formats a time as date, time and distance from now.
func dateAndDistance(session *ui.Session, timestamp wire.Timestamp) string {
	t := time.Time(timestamp)
	if t.IsZero() {
		return "-"
	}
	text := session.InZone(t).Format("2006-01-02 15:04:05")
	if wait := session.TimeUntil(t); wait > 0 {
		return text + " (" + ui.Until(wait) + ")"
	}
	return text + " (" + ui.Age(session.Since(t)) + " ago)"
}
