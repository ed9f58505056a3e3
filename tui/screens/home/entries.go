package home

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// entry is an item of the screen that can be selected.
type entry struct {
	Key          string // identifies the entry after a refresh
	noun         string // that enter opens
	open         func() tea.Cmd
	status       func() string
	panel        int           // number of its list, from the top
	position     string        // within its list, such as "1 of 2"
	subscription string        // SubscriptionID, empty for none
	group        *Group        // messages that can be retried, nil for none
	message      *wire.Message // the newest failure of the entry; nil for an endpoint
}

// isGroup reports whether the entry is a group of failures.
func (e *entry) isGroup() bool { return e.group != nil && e.message != nil }

// Entries returns the entries of all lists, from the top of the screen to the bottom.
func (h *Screen) Entries() []entry {
	var entries []entry
	for panel, list := range h.lists() {
		for i := range list {
			list[i].panel = panel
			list[i].position = fmt.Sprintf("%d of %d", i+1, len(list))
		}
		entries = append(entries, list...)
	}
	return entries
}

// lists returns the entries of each list, from the top of the screen to the bottom: as many as the
// screen shows, but all groups of failures, since that list scrolls.
func (h *Screen) lists() [][]entry {
	if h.Stats == nil { // a user without the right to see deliveries has the views
		return [][]entry{entriesOf(h.visibleViews(), h.viewEntry)}
	}
	l := h.layout()
	shown := l.plan()
	groups := make([]*Group, len(h.Groups))
	for i := range h.Groups {
		groups[i] = &h.Groups[i]
	}
	return [][]entry{
		entriesOf(l.troubled[:shown[troubledEndpoints]], h.endpointEntry),
		entriesOf(h.Captures.Late[:shown[lateCaptures]], h.captureEntry),
		entriesOf(groups, h.groupEntry),
		entriesOf(h.visibleViews()[:shown[savedViews]], h.viewEntry),
		entriesOf(h.Failures[:shown[recentFailures]], h.messageEntry),
	}
}

// entriesOf returns an entry for each item.
func entriesOf[T any](list []T, toEntry func(T) entry) []entry {
	var entries []entry
	for _, item := range list {
		entries = append(entries, toEntry(item))
	}
	return entries
}

func (h *Screen) endpointEntry(q wire.Queue) entry {
	filter := ui.MessageFilter{Subscription: q.SubscriptionID, Label: q.EventName, Undelivered: true}
	return entry{
		Key:          "endpoint " + q.SubscriptionID,
		noun:         "messages",
		open:         func() tea.Cmd { return h.Host.Open(ui.MessagesTarget{MessageFilter: filter}) },
		subscription: q.SubscriptionID,
		group:        h.failuresOf(q.SubscriptionID),
		status: func() string {
			text := ui.Join(", ", q.EventName+" of "+q.SubscriberName, affected(q), h.reason(q))
			if since := time.Time(q.FailingSince); !since.IsZero() && q.IsEnabled {
				text += ", failing since " + h.Session.ShortTime(since)
			}
			return text
		},
	}
}

func (h *Screen) captureEntry(c wire.Capture) entry {
	return entry{
		Key:  "capture " + c.Kind,
		noun: "changes",
		open: func() tea.Cmd { return h.openChanges(c.Kind) },
		status: func() string {
			if c.Reason == "" {
				return "changes of " + c.Kind + " are late"
			}
			return "changes of " + c.Kind + " are late: " + c.Reason
		},
	}
}

func (h *Screen) groupEntry(g *Group) entry {
	table := failureTables{session: h.Session}
	return entry{
		Key:  g.key(),
		noun: "messages",
		open: func() tea.Cmd {
			subscribed := h.Session.Queues.Known[g.Newest.SubscriptionID].EventName
			return h.Host.Open(ui.MessagesTarget{MessageFilter: g.filter(subscribed)})
		},
		status:       func() string { return table.describe(g) },
		subscription: g.Newest.SubscriptionID,
		group:        g,
		message:      &g.Newest,
	}
}

func (h *Screen) viewEntry(v state.View) entry {
	return entry{
		Key:    "view " + v.Name,
		noun:   "open",
		open:   func() tea.Cmd { return h.Host.Open(ui.ViewTarget{View: v}) },
		status: func() string { return v.Record },
	}
}

func (h *Screen) messageEntry(m wire.Message) entry {
	target := ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m}
	return entry{
		Key:  "message " + m.MessageID,
		noun: "message",
		open: func() tea.Cmd { return h.Host.Open(target) },
		status: func() string {
			return fmt.Sprintf("attempt %d of %d, to %s", m.Retries+1, m.MaxRetries+1, ui.ShortURL(m.URL))
		},
		subscription: m.SubscriptionID,
		message:      &m,
	}
}

// selected returns the selected entry, false if there is none.
func (h *Screen) selected() (entry, bool) {
	entries := h.Entries()
	if h.SelectedIndex >= len(entries) {
		return entry{}, false
	}
	return entries[h.SelectedIndex], true
}

// selectEntry selects the entry at an index, limited to the entries.
func (h *Screen) selectEntry(i int) {
	entries := h.Entries()
	h.SelectedIndex = max(0, min(i, len(entries)-1))
	if len(entries) > 0 {
		h.SelectedKey = entries[h.SelectedIndex].Key
	}
}

// selectPanel selects the first entry of the next list, or of the previous one if step is -1. After
// the last list comes the first one.
func (h *Screen) selectPanel(step int) {
	entries := h.Entries()
	if h.SelectedIndex >= len(entries) {
		return
	}
	i := h.SelectedIndex
	current := entries[i].panel
	for entries[i].panel == current {
		i = (i + step + len(entries)) % len(entries)
		if i == h.SelectedIndex { // there is no other list
			return
		}
	}
	target := entries[i].panel
	h.selectEntry(slices.IndexFunc(entries, func(e entry) bool { return e.panel == target }))
}

// RestoreSelection selects the same entry after a refresh. Until the user has moved, it selects the
// first group of failures, or the first entry without one.
func (h *Screen) RestoreSelection() {
	entries := h.Entries()
	i := slices.IndexFunc(entries, func(e entry) bool { return e.Key == h.SelectedKey })
	if h.SelectedKey == "" {
		i = max(0, slices.IndexFunc(entries, func(e entry) bool { return e.isGroup() }))
	}
	if i >= 0 {
		h.SelectedIndex = i
		return
	}
	h.SelectedIndex = max(0, min(h.SelectedIndex, len(entries)-1))
}
