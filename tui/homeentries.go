package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// entry is something on the first screen that can be opened.
type entry struct {
	key  string // by which it is found again when the figures are renewed
	open func() tea.Cmd
}

// entries are endpoints, saved views and failures, in the order of their lines.
func (h *home) entries() []entry {
	var all []entry
	for _, lane := range h.troubled() {
		all = append(all, entry{"lane " + lane.SubscriptionID, func() tea.Cmd { return h.openLane(lane) }})
	}
	for _, v := range h.viewsListed() {
		all = append(all, entry{"view " + v.Name, func() tea.Cmd { return h.Open(ui.ViewTarget{View: v}) }})
	}
	for _, m := range h.failuresListed() {
		all = append(all, entry{"message " + m.MessageID, func() tea.Cmd { return h.openFailure(m) }})
	}
	return all
}

// openLane shows what failed at an endpoint.
func (h *home) openLane(lane wire.Lane) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: lane.SubscriptionID, Label: lane.EventName, Problems: true}})
}

// openSubscription shows the subscription of the selected endpoint, or of the
// selected failure.
func (h *home) openSubscription() tea.Cmd {
	lane, ok := h.laneChosen()
	if !ok {
		h.Tell(ui.Info, "this is about an endpoint or a failure")
		return nil
	}
	return h.Open(ui.SubscriptionTarget{Queue: lane})
}

// laneChosen is the lane that the selected entry is about.
func (h *home) laneChosen() (wire.Lane, bool) {
	lanes, views := h.troubled(), h.viewsListed()
	if h.at < len(lanes) {
		return lanes[h.at], true
	}
	if i := h.at - len(lanes) - len(views); i >= 0 && i < len(h.failuresListed()) {
		lane, known := h.Queues.Known[h.failures[i].SubscriptionID]
		return lane, known
	}
	return wire.Lane{}, false
}

// openFailure shows a message over the list of all that failed.
func (h *home) openFailure(m wire.Message) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m})
}

// choose selects an entry.
func (h *home) choose(at int) {
	all := h.entries()
	if h.at = max(0, min(at, len(all)-1)); len(all) > 0 {
		h.chosen = all[h.at].key
	}
}

// keepChosen selects the same entry among new ones, where it still is, and the
// first until one was chosen.
func (h *home) keepChosen() {
	all := h.entries()
	for i, e := range all {
		if e.key == h.chosen {
			h.at = i
			return
		}
	}
	if h.at = max(0, min(h.at, len(all)-1)); h.chosen == "" {
		h.at = 0
	}
}

// pointer marks an entry if it is the selected one.
func (h *home) pointer(i int) (string, theme.Ink) {
	if i == h.at {
		return h.Theme.Pointer + " ", h.Theme.Selected
	}
	return "  ", ""
}

// failuresListed are the failures that there is room for.
func (h *home) failuresListed() []wire.Message {
	if h.stats == nil {
		return nil
	}
	const titles = 2 + 2 // of the chart with its hours, of the failures with the blank line before them
	above := titles + h.chartRows() + max(len(h.queue()), len(h.endpoints()))
	return h.failures[:max(0, min(len(h.failures), h.Height-above))]
}
