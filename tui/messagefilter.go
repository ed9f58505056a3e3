package tui

import (
	"cmp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

func (s *messages) twin() string {
	return "whctl messages list" + s.limits() + " --order-by " + cmp.Or(s.orderBy(), "-AddedDateTime")
}

// limits are the conditions of the rows, as whctl takes them.
func (s *messages) limits() string {
	text := ""
	if s.filter.subscriber != "" {
		// by its ends, since the id is a key
		first, last, _ := strings.Cut(ui.ShortID(s.filter.subscriber), "..")
		text += " --where " + argument("SubscriberID^="+first) + " --where " + argument("SubscriberID$="+last)
	}
	if s.filter.subscription != "" {
		text += ` --where "SubscriptionID=` + s.filter.subscription + `"`
	}
	if c, limits := s.filter.standing().condition(); limits {
		text += " --where " + argument(filter.Text(c))
	}
	return text + conditions(s.typed.texts(s.Now, messageKind(), s.filter.conditions))
}

func (s *messages) filterText() string {
	var texts []string
	for _, f := range s.filter.conditions {
		texts = append(texts, filter.Text(f))
	}
	return strings.Join(texts, conditionGap)
}

// find is the line of filters.
func (s *messages) find() *line { return s.filterLine(s.filterText()) }

func (s *messages) filterLine(text string) *line {
	kind := messageKind()
	l := newLine(s.Host, "filter Message", "/", text)
	l.help = "such as Status=3  EventName^=debtor; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	l.suggest = func(text string) []suggestion { return suggestFields(kind, text) }
	l.check = func(text string) error {
		_, err := readFilters(s.Now, kind, text)
		return err
	}
	l.accept = func(text string) tea.Cmd {
		s.filter.conditions, _ = readFilters(s.Now, kind, text) // it was checked just now
		s.typed = noteConditions(s.Now, kind, text)
		return s.reload()
	}
	return l
}

// exportable is what can be exported of messages, with their bodies.
func (s *messages) exportable() exportable {
	kind, _ := record.System().Lookup("Message")
	e := exportable{
		name: "Messages", query: client.Query{Kind: kind, Where: s.filter.filters()}, key: "MessageID", total: s.pages.Total(), marked: s.grid.MarkedIDs(), all: s.allMarks,
		rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.columns = append(e.columns, export.Column{Name: f.Name, Type: f.Type})
	}
	for _, row := range s.pages.Here() {
		e.loaded = append(e.loaded, row.ID)
	}
	return e
}
