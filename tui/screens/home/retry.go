package home

import (
	"context"
	"net/url"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// confirmRetry retries the messages of the selected group after a confirmation.
func (h *Screen) confirmRetry() tea.Cmd {
	e, _ := h.selected()
	if e.group == nil {
		h.Host.Notify(ui.Info, "select a group of failures first")
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
	if queue, ok := h.Session.Queues.Known[m.SubscriptionID]; ok && !queue.IsEnabled {
		effect = "They wait until the subscription is enabled."
	}
	verb := "retry " + display.Thousands(count)
	question := "Retry " + display.Count(count, noun, noun+"s") + "?"
	lines := []string{m.EventName + " to", "  " + ui.ShortURL(m.URL), "Last result " + g.result() + ".", effect}
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
