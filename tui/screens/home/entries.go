package home

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// entry is something on the first screen that can be opened.
type entry struct {
	Key  string // by which it is found again when the figures are renewed
	open func() tea.Cmd
}

// Entries are endpoints, saved views and failures, in the order of their lines.
func (h *Screen) Entries() []entry {
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
func (h *Screen) openLane(lane wire.Lane) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: lane.SubscriptionID, Label: lane.EventName, Problems: true}})
}

// openSubscription shows the subscription of the selected endpoint, or of the
// selected failure.
func (h *Screen) openSubscription() tea.Cmd {
	lane, ok := h.laneChosen()
	if !ok {
		h.Tell(ui.Info, "this is about an endpoint or a failure")
		return nil
	}
	return h.Open(ui.SubscriptionTarget{Queue: lane})
}

// laneChosen is the lane that the selected entry is about.
func (h *Screen) laneChosen() (wire.Lane, bool) {
	lanes, views := h.troubled(), h.viewsListed()
	if h.At < len(lanes) {
		return lanes[h.At], true
	}
	if i := h.At - len(lanes) - len(views); i >= 0 && i < len(h.failuresListed()) {
		lane, known := h.Queues.Known[h.Failures[i].SubscriptionID]
		return lane, known
	}
	return wire.Lane{}, false
}

// openFailure shows a message over the list of all that failed.
func (h *Screen) openFailure(m wire.Message) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m})
}

// choose selects an entry.
func (h *Screen) choose(at int) {
	all := h.Entries()
	if h.At = max(0, min(at, len(all)-1)); len(all) > 0 {
		h.Chosen = all[h.At].Key
	}
}

// KeepChosen selects the same entry among new ones, where it still is, and the
// first until one was chosen.
func (h *Screen) KeepChosen() {
	all := h.Entries()
	for i, e := range all {
		if e.Key == h.Chosen {
			h.At = i
			return
		}
	}
	if h.At = max(0, min(h.At, len(all)-1)); h.Chosen == "" {
		h.At = 0
	}
}

// pointer marks an entry if it is the selected one.
func (h *Screen) pointer(i int) (string, theme.Ink) {
	if i == h.At {
		return h.Theme.Pointer + " ", h.Theme.Selected
	}
	return "  ", ""
}

// failuresListed are the failures that there is room for.
func (h *Screen) failuresListed() []wire.Message {
	if h.Stats == nil {
		return nil
	}
	const titles = 2 + 2 // of the chart with its hours, of the failures with the blank line before them
	above := titles + h.chartRows() + max(len(h.queue()), len(h.endpoints()))
	return h.Failures[:max(0, min(len(h.Failures), h.Height-above))]
}
