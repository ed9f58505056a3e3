package messages

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// names resolves the names of subscribers. Messages have subscriber IDs only, which
// are keys. The names are part of the queue statistics; missing ones are fetched
// once.
type names struct {
	queues    *ui.Queues
	Fetched   map[string]string // names by ID
	requested bool
}

// of returns the name of the subscriber of a message, false if it is unknown.
func (n *names) of(m wire.Message) (string, bool) {
	queue, ok := n.queues.Known[m.SubscriptionID]
	if ok && queue.SubscriberName != "" {
		return queue.SubscriberName, true
	}
	name, ok := n.Fetched[m.SubscriberID]
	return name, ok
}

// cell returns the name, or the shortened ID of a subscriber without one.
func (n *names) cell(m wire.Message) grid.Cell {
	name, ok := n.of(m)
	if !ok {
		return grid.Cell{Text: ui.ShortID(m.SubscriberID), Role: theme.Dim}
	}
	return grid.Cell{Text: name}
}

// fetchMissing fetches the names for a screen if one of its messages has none, and calls then. It
// does so once; on an error the IDs stay.
func (n *names) fetchMissing(s ui.Screen, list []wire.Message, then func()) tea.Cmd {
	if n.requested {
		return nil
	}
	isMissing := slices.ContainsFunc(list, func(m wire.Message) bool {
		_, ok := n.of(m)
		return !ok
	})
	if !isMissing {
		return nil
	}
	n.requested = true
	return ui.Fetch(s.Common().Ctx, s, ui.SubscriberNames, func(names map[string]string, err error) tea.Cmd {
		if err == nil {
			n.Fetched = names
			then()
		}
		return nil
	})
}
