package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// testDelivery is a test message of which nothing is known but that it was taken.
type testDelivery struct {
	ui.Dialog
	of      wire.Subscription
	message string   // its id
	before  string   // what is told together with the outcome
	box     *ui.Text // tells the outcome too; nil for none
	below   int      // so many lines of the box
	since   time.Time
	asked   bool // what became of it is being asked for
	moved   bool // something became of it since
	ended   bool
}

const (
	testTimeout     = 10 * time.Second // that the outcome of a test is waited for
	TestHeldTimeout = 3 * time.Second  // where the endpoint is known to fail, so that little is sent
)

// takenTest is what the service said to a test message.
type takenTest struct {
	message string // its id
	off     string // what is off, so that the message waits; empty for nothing
	err     error
}

// sendTest sends a test message, and finds out whether it goes out at all.
func sendTest(ctx context.Context, c *client.Client, s *wire.Subscription) *takenTest {
	state, err := c.TestSubscription(ctx, s.SubscriberID, s.RecID)
	if err != nil {
		return &takenTest{err: err}
	}
	t := &takenTest{message: state.MessageID}
	if list, err := c.Subscriptions(ctx, s.SubscriberID); err == nil {
		for _, one := range list {
			if one.RecID == s.RecID && !one.IsEnabled {
				t.off = "the subscription"
			}
		}
	}
	if who, err := c.Subscriber(ctx, s.SubscriberID); err == nil && !who.IsEnabled {
		t.off = "the subscriber"
	}
	return t
}

// askTest asks before a test message is sent.
func askTest(h ui.Host, one wire.Subscription) {
	what := "A message of the event webhooks.test is sent. Where it is not received it is tried again, as all messages are."
	if !one.IsEnabled {
		what = "The subscription is off: a message of the event webhooks.test waits until it is on again."
	}
	ui.OpenConfirm(h, "Send a test message?", "send it", []string{one.EventName + " to", "  " + ui.MaskURL(one.URL), what}, func() tea.Cmd { return TestSubscription(h, one) })
}

// TestSubscription sends a test message.
func TestSubscription(h ui.Host, one wire.Subscription) tea.Cmd {
	var t *takenTest
	return h.Change(ui.Change{Name: "test of " + one.EventName, Do: func(ctx context.Context, c *client.Client) error {
		t = sendTest(ctx, c, &one)
		return t.err
	}, OnDone: func(err error) {
		if err != nil {
			t = &takenTest{err: err}
		}
		startTest(h, one, t, "", nil)
	}})
}

// startTest begins to wait for the outcome of a test message. What was done with
// it is told before, and the outcome in a box too where there is one.
func startTest(h ui.Host, of wire.Subscription, taken *takenTest, before string, box *ui.Text) {
	t := &testDelivery{Dialog: ui.NewDialog(h), of: of, message: taken.message, before: before, box: box}
	if box != nil {
		t.below = len(box.Lines)
	}
	switch {
	case taken.err != nil && before != "":
		// what was to be tried out is done all the same
		h.ShowError(before+"but the test message was not sent", taken.err)
	case taken.err != nil:
		h.ShowError("test of "+of.EventName, taken.err)
	case taken.off != "":
		t.conclude(ui.Warning, taken.off+" is off, the message waits")
	default:
		t.since = t.Now
		h.Watch(t)
		h.Notify(ui.Info, before+"test: waiting for the answer")
		t.inBox("waiting for the answer")
		h.AddCmd(t.ask())
	}
}

// ask asks what became of the test message. That takes no more than the
// SubscriberID.
func (t *testDelivery) ask() tea.Cmd {
	t.asked, t.moved = true, false
	c, ctx, subscriber, id := t.Client, t.Context, t.of.SubscriberID, t.message
	return func() tea.Msg {
		attempt, message, err := firstAttempt(ctx, c, subscriber, id)
		return ui.Response{Err: err, Apply: func() tea.Cmd { return t.Take(attempt, message, err) }}
	}
}

// firstAttempt is the first attempt of a message, and how the message is after
// it; nil where there was none yet.
func firstAttempt(ctx context.Context, c *client.Client, subscriber, id string) (attempt *wire.MessageResponse, message *wire.Message, err error) {
	tries, err := c.MessageResponses(ctx, subscriber, url.Values{"MessageID": {id}, "Fields": {"Status,HTTPCode,Message,Duration,LastSavedDateTime"}, "OrderBy": {"ItemNo"}, "Take": {"1"}})
	if err != nil || len(tries.Results) == 0 {
		return nil, nil, err
	}
	page, err := c.Messages(ctx, subscriber, url.Values{"MessageID": {id}, "Fields": {"Status,NextAttemptDateTime"}, "Take": {"1"}})
	if err == nil && len(page.Results) > 0 {
		message = &page.Results[0]
	}
	return &tries.Results[0], message, nil
}

// Apply takes what became of the test message.
func (t *testDelivery) Take(attempt *wire.MessageResponse, message *wire.Message, err error) tea.Cmd {
	t.asked = false
	switch {
	case t.ended:
	case err != nil:
		t.ended = true
		t.inBox("what became of it is not known")
		t.ShowError(t.before+"what became of the test", err)
	case attempt != nil:
		t.conclude(outcomeText(attempt, message))
	case t.moved:
		return t.ask()
	}
	return nil
}

// conclude tells what became of a test message.
func (t *testDelivery) conclude(l ui.Level, text string) {
	t.ended = true
	t.Notify(l, t.before+"test: "+text)
	t.inBox(text)
}

// inBox tells of the test below what is in its box, if it has one.
func (t *testDelivery) inBox(told string) {
	if t.box == nil {
		return
	}
	t.box.Lines = append(t.box.Lines[:t.below:t.below], theme.Span{})
	for _, line := range t.Theme.WrapLines("Test: "+told, t.box.InnerWidth(), ui.MaxRemarkLines) {
		t.box.Lines = append(t.box.Lines, theme.Span{Text: line, Role: theme.Accent})
	}
}

// Done reports whether the outcome is known, or no longer waited for.
func (t *testDelivery) Done() bool { return t.ended }

// Follow asks what became of the test message where something was told of it.
func (t *testDelivery) Follow(changes []wire.MessageChange) tea.Cmd {
	for _, c := range changes {
		switch {
		case c.MessageID != t.message || c.Status == 0:
		case t.asked:
			t.moved = true
		default:
			return t.ask()
		}
	}
	return nil
}

// Tick asks once a second, since the stream may not be there, and ends the
// waiting.
func (t *testDelivery) Tick() tea.Cmd {
	switch old := t.Now.Sub(t.since); {
	case old >= testTimeout, old >= TestHeldTimeout && t.Queues.BreakerOpen(t.of.RecID):
		t.conclude(ui.Warning, t.unanswered())
	case !t.asked:
		return t.ask()
	}
	return nil
}

// unanswered says that nothing became of a test message yet, and why, where that
// is known.
func (t *testDelivery) unanswered() string {
	if t.Queues.BreakerOpen(t.of.RecID) {
		return "it waits, since the endpoint fails; that is tried again " + ui.Soon(t.TimeUntil(time.Time(t.Queues.Known[t.of.RecID].NextProbeDateTime)))
	}
	return "no answer yet after " + ui.Age(testTimeout) + "; its message is in Messages"
}

// outcomeText says what the first attempt came to, and what becomes of the
// message then.
func outcomeText(r *wire.MessageResponse, m *wire.Message) (ui.Level, string) {
	answer := ui.AttemptResult(*r)
	switch {
	case r.Status == 1:
		return ui.Info, answer + " in " + strings.TrimSpace(ui.DurationText(r.Duration))
	case r.Status == 2 && m != nil && m.Status == 2:
		wait := time.Time(m.NextAttemptDateTime).Sub(time.Time(r.LastSavedDateTime))
		return ui.Warning, fmt.Sprintf("%s; it is tried again in %s", answer, ui.Age(wait.Round(time.Second)))
	case r.Status == 2:
		return ui.Warning, answer + "; it is tried again"
	}
	return ui.Warning, answer + "; it is not tried again"
}
