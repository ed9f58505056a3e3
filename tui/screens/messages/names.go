package messages

import (
	"context"
	"encoding/json"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
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
		return grid.Cell{Text: ui.ShortID(m.SubscriberID), Ink: s.Theme.Dim}
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

// copyCell copies the selected cell: all of its value, where a part is shown.
func (s *names) copyCell(m wire.Message) {
	c := s.Column()
	if c.text != nil {
		s.Copy(c.text(s.List, m))
		return
	}
	s.Copy(c.cell(s.List, m).Text)
}

// copyRows copies marked messages with tabs between cells, else the message as
// JSON.
func (s *names) copyRows(one wire.Message) {
	rows := s.Grid.MarkedRows()
	if len(rows) == 0 {
		s.Copy(messageJSON(one))
		return
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, c := range s.visible {
			if m, here := s.Known[row.ID]; here && c.Name != signColumn.Name {
				cells = append(cells, strings.Map(browse.Tabless, s.plain(c, m)))
			}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	s.Copy(strings.Join(lines, "\n"))
	if more := s.Pages.Total() - len(rows); s.AllMarks && more > 0 {
		s.Tell(ui.Warning, ui.Plural(len(rows), "row", "rows")+" copied: "+theme.Thousands(more)+" more match, whose pages are not loaded")
	}
}

// plain is a cell without a sign that only looks at it.
func (s *names) plain(c messageColumn, m wire.Message) string {
	text := c.cell(s.List, m).Text
	if c.field == "Status" {
		_, text, _ = strings.Cut(text, " ")
	}
	return text
}

// messageJSON is a message without its body, which lists do not have.
func messageJSON(m wire.Message) string {
	text, err := json.Marshal(struct {
		wire.Message
		Body string `json:",omitempty"`
	}{Message: m})
	if err != nil {
		panic("tui: " + err.Error()) // a message is made of texts and numbers
	}
	return string(text)
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
