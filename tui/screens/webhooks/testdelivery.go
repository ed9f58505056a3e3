package webhooks

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// testDelivery waits for the result of a test message that the service accepted.
type testDelivery struct {
	host         testHost
	session      *ui.Session
	subscription wire.Subscription
	message      string    // MessageID of the test message
	prefix       string    // of the result in notifications
	box          *ui.Text  // shows the result too; nil for none
	boxLines     int       // number of lines of the box without the result
	startedAt    time.Time // when the wait for the result started
	requested    bool      // a request for the result is in flight
	changed      bool      // the message has changed since that request
	ended        bool      // the result is shown, or no longer expected
}

// testHost shows the result of a test message.
type testHost interface {
	// Notify shows a message to the user.
	Notify(l ui.Level, text string)
	// ShowError shows the error of an action that the user requested.
	ShowError(action string, err error)
}

const (
	// testTimeout is the maximum wait for the result of a test.
	testTimeout = 10 * time.Second
	// BreakerTestTimeout is the maximum wait while the circuit breaker of the endpoint is open.
	BreakerTestTimeout = 3 * time.Second
)

// acceptedTest is the response of the service to a test request.
type acceptedTest struct {
	message  string // MessageID of the test message
	disabled string // the disabled object that keeps the message queued; empty for none
	err      error  // why the service did not accept the request
}

// sendTest requests a test message and reads whether the subscription and its
// subscriber are enabled.
func sendTest(ctx context.Context, c *client.Client, s *wire.Subscription) *acceptedTest {
	state, err := c.TestSubscription(ctx, s.SubscriberID, s.RecID)
	if err != nil {
		return &acceptedTest{err: err}
	}
	return &acceptedTest{message: state.MessageID, disabled: disabledObject(ctx, c, s)}
}

// disabledObject returns the object that keeps messages of a subscription queued: its subscriber
// or the subscription itself. It is empty if both are enabled, or if their states are unknown.
func disabledObject(ctx context.Context, c *client.Client, s *wire.Subscription) string {
	subscriber, err := c.Subscriber(ctx, s.SubscriberID)
	if err == nil && !subscriber.IsEnabled {
		return "the subscriber"
	}
	list, err := c.Subscriptions(ctx, s.SubscriberID)
	isDisabled := func(subscription wire.Subscription) bool {
		return subscription.RecID == s.RecID && !subscription.IsEnabled
	}
	if err == nil && slices.ContainsFunc(list, isDisabled) {
		return "the subscription"
	}
	return ""
}

// confirmTest sends a test message after a confirmation.
func confirmTest(h ui.Host, subscription wire.Subscription) {
	effect := "A webhooks.test message is sent. It is retried like any message."
	if !subscription.IsEnabled {
		effect = "The subscription is disabled. " +
			"The webhooks.test message stays queued until the subscription is enabled."
	}
	lines := []string{subscription.EventName + " to", "  " + ui.MaskURL(subscription.URL), effect}
	ui.OpenConfirm(h, "Send a test message?", "send", lines, func() tea.Cmd {
		return TestSubscription(h, subscription)
	})
}

// TestSubscription sends a test message.
func TestSubscription(h ui.Host, subscription wire.Subscription) tea.Cmd {
	var t *acceptedTest
	return h.Change(ui.Change{
		Name: "test of " + subscription.EventName,
		Do: func(ctx context.Context, c *client.Client) error {
			t = sendTest(ctx, c, &subscription)
			return t.err
		},
		OnDone: func(err error) {
			if err != nil {
				t = &acceptedTest{err: err}
			}
			startTest(h, subscription, t, "", nil)
		},
	})
}

// startTest waits for the result of a test message and shows it in a notification, after a
// prefix, and in a box unless that is nil. The prefix describes the change before the test; it is
// empty for a test alone.
func startTest(h ui.Host, subscription wire.Subscription, accepted *acceptedTest, prefix string, box *ui.Text) {
	if accepted.err != nil {
		action := "test of " + subscription.EventName
		if prefix != "" { // the change itself succeeded
			action = prefix + "but the test message was not sent"
		}
		h.ShowError(action, accepted.err)
		return
	}
	t := &testDelivery{
		host:         h,
		session:      h.CurrentSession(),
		subscription: subscription,
		message:      accepted.message,
		prefix:       prefix,
		box:          box,
	}
	if box != nil {
		t.boxLines = len(box.Lines)
	}
	if accepted.disabled != "" {
		t.conclude(ui.Warning, accepted.disabled+" is disabled, the message is queued")
		return
	}
	t.startedAt = t.session.Now
	h.Watch(t)
	h.Notify(ui.Info, prefix+"test: waiting for the response")
	t.showInBox("waiting for the response")
	h.AddCmd(t.fetch())
}

// fetch requests the result of the test message. The request needs the
// SubscriberID only.
func (t *testDelivery) fetch() tea.Cmd {
	t.requested = true
	t.changed = false
	ctx, c := t.session.Context, t.session.Client
	subscriber, id := t.subscription.SubscriberID, t.message
	return func() tea.Msg {
		attempt, message, err := firstAttempt(ctx, c, subscriber, id)
		return ui.Response{
			Err:    err,
			Client: c,
			Apply:  func() tea.Cmd { return t.OnFetched(attempt, message, err) },
		}
	}
}

// firstAttempt returns the first attempt of a message and the message after it,
// or nil if there was no attempt yet.
func firstAttempt(
	ctx context.Context, c *client.Client, subscriber, id string,
) (attempt *wire.MessageResponse, message *wire.Message, err error) {
	attempts, err := c.MessageResponses(ctx, subscriber, url.Values{
		"MessageID": {id},
		"Fields":    {"Status,HTTPCode,Message,Duration,LastSavedDateTime"},
		"OrderBy":   {"ItemNo"},
		"Take":      {"1"},
	})
	if err != nil || len(attempts.Results) == 0 {
		return nil, nil, err
	}
	page, err := c.Messages(ctx, subscriber, url.Values{
		"MessageID": {id},
		"Fields":    {"Status,NextAttemptDateTime"},
		"Take":      {"1"},
	})
	if err == nil && len(page.Results) > 0 {
		message = &page.Results[0]
	}
	return &attempts.Results[0], message, nil
}

// OnFetched handles the fetched result of the test message.
func (t *testDelivery) OnFetched(attempt *wire.MessageResponse, message *wire.Message, err error) tea.Cmd {
	t.requested = false
	switch {
	case t.ended:
	case err != nil:
		t.ended = true
		t.showInBox("result unknown")
		t.host.ShowError(t.prefix+"test result", err)
	case attempt != nil:
		t.conclude(outcomeText(attempt, message))
	case t.changed:
		return t.fetch()
	}
	return nil
}

// conclude shows the result of the test message and ends the wait.
func (t *testDelivery) conclude(l ui.Level, text string) {
	t.ended = true
	t.host.Notify(l, t.prefix+"test: "+text)
	t.showInBox(text)
}

// showInBox shows text below the content of the box, if there is a box.
func (t *testDelivery) showInBox(text string) {
	if t.box == nil {
		return
	}
	t.box.Lines = append(t.box.Lines[:t.boxLines:t.boxLines], theme.Span{})
	for _, line := range t.session.Theme.WrapLines("Test: "+text, t.box.InnerWidth(), ui.MaxRemarkLines) {
		t.box.Lines = append(t.box.Lines, theme.Span{Text: line, Role: theme.Accent})
	}
}

// Done reports whether the wait for the result has ended.
func (t *testDelivery) Done() bool { return t.ended }

// Follow requests the result when the test message has changed.
func (t *testDelivery) Follow(changes []wire.MessageChange) tea.Cmd {
	for _, c := range changes {
		switch {
		case c.MessageID != t.message || c.Status == 0:
		case t.requested:
			t.changed = true
		default:
			return t.fetch()
		}
	}
	return nil
}

// Tick requests the result once a second, since the change stream may be down, and
// ends the wait at the timeout.
func (t *testDelivery) Tick() tea.Cmd {
	timeout := testTimeout
	if t.session.Queues.BreakerOpen(t.subscription.RecID) {
		timeout = BreakerTestTimeout
	}
	if t.session.Now.Sub(t.startedAt) >= timeout {
		t.conclude(ui.Warning, t.timeoutText())
		return nil
	}
	if t.requested || t.session.Rejection != nil {
		return nil
	}
	return t.fetch()
}

// timeoutText describes a test message that has no result at the timeout.
func (t *testDelivery) timeoutText() string {
	if t.session.Queues.BreakerOpen(t.subscription.RecID) {
		probe := time.Time(t.session.Queues.Known[t.subscription.RecID].NextProbeDateTime)
		return "message queued, " + ui.PausedText("", t.session.TimeUntil(probe))
	}
	return "no response after " + ui.Age(testTimeout) + "; see the message in Messages"
}

// outcomeText describes the result of the first attempt and the next attempt, if
// any.
func outcomeText(r *wire.MessageResponse, m *wire.Message) (ui.Level, string) {
	outcome := ui.AttemptResult(*r)
	if r.Status == ui.StatusDelivered {
		return ui.Info, outcome + " in " + ui.DurationText(r.Duration)
	}
	if r.Status != ui.StatusRetrying {
		return ui.Warning, outcome + "; it will not be retried"
	}
	if m == nil || m.Status != ui.StatusRetrying {
		return ui.Warning, outcome + "; it will be retried"
	}
	wait := time.Time(m.NextAttemptDateTime).Sub(time.Time(r.LastSavedDateTime))
	return ui.Warning, fmt.Sprintf("%s; next attempt in %s", outcome, ui.Age(wait.Round(time.Second)))
}
