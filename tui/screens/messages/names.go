package messages

import (
	"slices"

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
	queue, known := n.queues.Known[m.SubscriptionID]
	if known && queue.SubscriberName != "" {
		return queue.SubscriberName, true
	}
	name, known := n.Fetched[m.SubscriberID]
	return name, known
}

// cell returns the name, or the shortened ID of a subscriber without one.
func (n *names) cell(m wire.Message) grid.Cell {
	name, known := n.of(m)
	if !known {
		return grid.Cell{Text: ui.ShortID(m.SubscriberID), Role: theme.Dim}
	}
	return grid.Cell{Text: name}
}

// request reports whether the names must be fetched: once, if one of the messages has none.
func (n *names) request(list []wire.Message) bool {
	if n.requested {
		return false
	}
	n.requested = slices.ContainsFunc(list, func(m wire.Message) bool {
		_, known := n.of(m)
		return !known
	})
	return n.requested
}
