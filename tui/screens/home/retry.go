package home

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// failuresOf returns the failed messages of an endpoint as a group, or else those that are retried;
// nil if none of them is among the newest failures.
func (o *Overview) failuresOf(subscription string) *Group {
	for _, status := range []int{ui.StatusFailed, ui.StatusRetrying} {
		var g *Group
		for _, m := range o.Failures {
			if m.SubscriptionID != subscription || m.Status != status {
				continue
			}
			if g == nil {
				g = &Group{Newest: m, Answer: o.answerTo(m)}
			}
			g.add(m)
		}
		if g != nil {
			return g
		}
	}
	return nil
}

// whyNothingToRetry explains why no message of an entry can be retried, and names the next step.
func (h *Screen) whyNothingToRetry(e entry) string {
	queue, ok := h.Session.Queues.Known[e.subscription]
	if !ok || e.message != nil {
		return "select an endpoint or a group of failures first"
	}
	if !queue.IsEnabled && queue.Pending > 0 {
		return fmt.Sprintf("%s because the subscription is disabled: %s, then %s enables it",
			display.Count(queue.Pending, "waits", "wait"),
			keymap.KeyFor(keymap.InHome, keymap.ShowInfo),
			keymap.KeyFor(keymap.InSubscription, keymap.ToggleEnabled))
	}
	return "none of the newest failures is of this endpoint: enter lists its messages"
}

// confirmRetry retries the messages of the selected group or endpoint after a confirmation.
func (h *Screen) confirmRetry() tea.Cmd {
	e, _ := h.selected()
	if e.group == nil {
		h.Host.Notify(ui.Info, h.whyNothingToRetry(e))
		return nil
	}
	g := *e.group
	m, count := g.Newest, len(g.IDs)
	noun := "failed message"
	effect := "Each is sent once more, oldest first."
	if m.Status == ui.StatusRetrying {
		noun = "message"
		effect = "Each is sent now instead of at its next attempt, oldest first."
	}
	queue, ok := h.Session.Queues.Known[m.SubscriptionID]
	if ok && !queue.IsEnabled {
		effect = "They wait until the subscription is enabled."
	} else if ok && queue.Breaker == wire.BreakerOpen {
		effect = "The endpoint is paused: one is sent at a time until one succeeds."
	}
	event := m.EventName
	if e.message == nil { // an endpoint: its failures can be of several events
		event = queue.EventName
	}
	verb := "retry " + display.Thousands(count)
	question := "Retry " + display.Count(count, noun, noun+"s") + "?"
	lines := []string{event + " to", "  " + ui.ShortURL(m.URL), "Last result " + g.result() + ".", effect}
	ui.OpenConfirmMany(h.Host, count, question, verb, lines, func() tea.Cmd { return h.retry(g) })
	return nil
}

// retry retries the messages that the group had when it was confirmed.
func (h *Screen) retry(g Group) tea.Cmd {
	name := "retry of " + display.Count(len(g.IDs), "message", "messages")
	var retried *wire.MessagesRetried
	return h.Host.Change(ui.Change{
		Screen: h,
		Name:   name,
		Do: func(ctx context.Context, c *client.Client) (err error) {
			retried, err = c.RetryMessages(ctx, url.Values{"MessageIDIn": {strings.Join(g.IDs, ",")}})
			return err
		},
		OnDone: func(err error) {
			if err != nil {
				h.Host.ShowError(name, ui.MarkNotSent(err))
				return
			}
			h.Host.Notify(ui.Info, display.Count(retried.Retried, "message is due now", "messages are due now"))
		},
		Then: func(error) tea.Cmd { return h.Poll() },
	})
}
