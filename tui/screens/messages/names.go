package messages

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Whose a message is. Messages have the ids of subscribers only, which are keys:
// their names come with the figures of subscriptions, and else are fetched once.

// names are those of subscribers.
type names struct {
	*List
	Subscribers map[string]string // that were fetched, by id
	requested   bool
}

// subscriberOf names the subscriber of a message, or gives the ends of its id.
func (s *names) subscriberOf(m wire.Message) string {
	name, known := s.nameOf(m)
	if !known {
		return ui.ShortID(m.SubscriberID)
	}
	return name
}

func (s *names) nameOf(m wire.Message) (string, bool) {
	if queue, known := s.Queues.Known[m.SubscriptionID]; known && queue.SubscriberName != "" {
		return queue.SubscriberName, true
	}
	name, known := s.Subscribers[m.SubscriberID]
	return name, known
}

func (s *names) subscriberCell(m wire.Message) grid.Cell {
	name, known := s.nameOf(m)
	if !known {
		return grid.Cell{Text: ui.ShortID(m.SubscriberID), Role: theme.Dim}
	}
	return grid.Cell{Text: name}
}

// wantNames fetches the names, once, where one is missing.
func (s *names) wantNames(list []wire.Message) tea.Cmd {
	if s.requested {
		return nil
	}
	for _, m := range list {
		if _, known := s.nameOf(m); !known {
			s.requested = true
			return ui.Fetch(s.Ctx, s.List, fetchSubscriberNames, s.named)
		}
	}
	return nil
}

// named takes the names; without them, ids stay.
func (s *names) named(names map[string]string, err error) tea.Cmd {
	if err == nil {
		s.Subscribers = names
		s.remake()
	}
	return nil
}

// fetchSubscriberNames fetches the names of all subscribers, by id.
func fetchSubscriberNames(ctx context.Context, c *client.Client) (map[string]string, error) {
	list, _, err := ui.Subscribers(ctx, c)
	names := make(map[string]string, len(list))
	for _, one := range list {
		names[one.RecID] = one.Name
	}
	return names, err
}
