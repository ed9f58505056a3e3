package messages

import (
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
	*List
	Subscribers map[string]string // fetched names by ID
	requested   bool
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

// fetchMissingNames fetches the names once if one is missing.
func (s *names) fetchMissingNames(list []wire.Message) tea.Cmd {
	if s.requested {
		return nil
	}
	for _, m := range list {
		if _, known := s.nameOf(m); !known {
			s.requested = true
			return ui.Fetch(s.Ctx, s.List, ui.SubscriberNames, s.onNames)
		}
	}
	return nil
}

// onNames shows fetched names. On an error the IDs stay.
func (s *names) onNames(names map[string]string, err error) tea.Cmd {
	if err == nil {
		s.Subscribers = names
		s.rebuild()
	}
	return nil
}
