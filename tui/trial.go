package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// trial is a test message of which nothing is known but that it was taken.
type trial struct {
	of      wire.Subscription
	message string // its id
	before  string // what is told together with the outcome
	box     *text  // tells the outcome too; nil for none
	below   int    // so many lines of the box
	since   time.Time
	asked   bool // what became of it is being asked for
	moved   bool // something became of it since
}

const (
	trialLast = 10 * time.Second // that the outcome of a test is waited for
	trialHeld = 3 * time.Second  // where the endpoint is known to fail, so that little is sent
)

// trialMsg tells that a test message was taken by the service.
type trialMsg struct {
	reply
	trial
	off string // what is off, so that the message waits; empty for nothing
}

// outcomeMsg brings the first attempt of a test message, and how the message
// stands after it; nil where there was none yet.
type outcomeMsg struct {
	reply
	id      string
	attempt *wire.MessageResponse
	message *wire.Message
}

// askTest asks before a test message is sent.
func (a *app) askTest(one wire.Subscription) {
	what := "A message of the event webhooks.test is sent. Where it is not received it is tried again, as all messages are."
	if !one.IsEnabled {
		what = "The subscription is off: a message of the event webhooks.test waits until it is on again."
	}
	a.ask("Send a test message?", "send it", []string{one.EventName + " to", "  " + maskURL(one.URL), what}, func() tea.Cmd { return a.testSubscription(one) })
}

// tried begins to wait for the outcome of a test message.
func (a *app) tried(m trialMsg) tea.Cmd {
	t := m.trial
	switch {
	case m.err != nil && t.before != "":
		// what was to be tried out is done all the same
		a.fail(t.before+"but the test message was not sent", m.err)
		return nil
	case m.err != nil:
		a.fail("test of "+t.of.EventName, m.err)
		return nil
	case m.off != "":
		a.conclude(&t, ui.Warning, m.off+" is off, the message waits")
		return nil
	}
	t.since = a.now
	a.trials[t.message] = &t
	a.tell(ui.Info, t.before+"test: waiting for the answer")
	t.inBox(a, "waiting for the answer")
	return a.outcomeOf(&t)
}

// outcomeOf asks what became of a test message.
func (a *app) outcomeOf(t *trial) tea.Cmd {
	t.asked, t.moved = true, false
	return a.outcome(t.of.SubscriberID, t.message)
}

// conclude tells what became of a test message.
func (a *app) conclude(t *trial, l ui.Level, text string) {
	delete(a.trials, t.message)
	a.tell(l, t.before+"test: "+text)
	t.inBox(a, text)
}

// inBox tells of the test below what stands in its box, if it has one.
func (t *trial) inBox(a *app, told string) {
	if t.box == nil {
		return
	}
	t.box.lines = append(t.box.lines[:t.below:t.below], theme.Span{})
	for _, line := range a.theme.Break("Test: "+told, t.box.wide(), remarkLines) {
		t.box.lines = append(t.box.lines, theme.Span{Text: line, Ink: a.theme.Accent})
	}
}

// under has the outcome of the test told in a box as well.
func (t *trial) under(box overlay) {
	if one, ok := box.(*text); ok {
		t.box, t.below = one, len(one.lines)
	}
}

// trialsFollow asks what became of test messages of which something was told.
func (a *app) trialsFollow(changes []wire.MessageChange) tea.Cmd {
	var cmds []tea.Cmd
	for _, c := range changes {
		switch t := a.trials[c.MessageID]; {
		case t == nil || c.Status == 0:
		case t.asked:
			t.moved = true
		default:
			cmds = append(cmds, a.outcomeOf(t))
		}
	}
	return tea.Batch(cmds...)
}

// trialsTick asks once a second, since the stream may not be there, and ends
// the waiting.
func (a *app) trialsTick() tea.Cmd {
	var cmds []tea.Cmd
	for _, t := range a.trials {
		switch {
		case a.now.Sub(t.since) >= trialLast, a.now.Sub(t.since) >= trialHeld && a.breaks(t.of.RecID):
			a.conclude(t, ui.Warning, a.unanswered(t))
		case !t.asked:
			cmds = append(cmds, a.outcomeOf(t))
		}
	}
	return tea.Batch(cmds...)
}

// unanswered says that nothing became of a test message yet, and why, where that
// is known.
func (a *app) unanswered(t *trial) string {
	if lane := a.lanes.known[t.of.RecID]; a.breaks(t.of.RecID) {
		return "it waits, since the endpoint fails; that is tried again " + soon(a.left(time.Time(lane.NextProbeDateTime)))
	}
	return "no answer yet after " + ui.Age(trialLast) + "; its message is in Messages"
}

// breaks reports whether a subscription's endpoint is known to fail so often that
// one message at a time is tried.
func (a *app) breaks(subscription string) bool {
	return a.lanes.known[subscription].Breaker == wire.BreakerOpen
}

// happened takes what became of a test message.
func (a *app) happened(m outcomeMsg) tea.Cmd {
	t := a.trials[m.id]
	if t == nil {
		return nil
	}
	t.asked = false
	switch {
	case m.err != nil:
		delete(a.trials, m.id)
		t.inBox(a, "what became of it is not known")
		a.fail(t.before+"what became of the test", m.err)
	case m.attempt != nil:
		l, text := outcomeText(m.attempt, m.message)
		a.conclude(t, l, text)
	case t.moved:
		return a.outcomeOf(t)
	}
	return nil
}

// outcomeText says what the first attempt came to, and what becomes of the
// message then.
func outcomeText(r *wire.MessageResponse, m *wire.Message) (ui.Level, string) {
	answer := resultOf(*r)
	switch {
	case r.Status == 1:
		return ui.Info, answer + " in " + strings.TrimSpace(took(r.Duration))
	case r.Status == 2 && m != nil && m.Status == 2:
		wait := time.Time(m.NextAttemptDateTime).Sub(time.Time(r.LastSavedDateTime))
		return ui.Warning, fmt.Sprintf("%s; it is tried again in %s", answer, ui.Age(wait.Round(time.Second)))
	case r.Status == 2:
		return ui.Warning, answer + "; it is tried again"
	}
	return ui.Warning, answer + "; it is not tried again"
}
