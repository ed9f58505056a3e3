package messages

import (
	"cmp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

func (s *limits) Equivalent() string {
	return "whctl messages list" + s.conditionArguments() + " --order-by " + cmp.Or(s.orderBy(), "-AddedDateTime")
}

// conditionArguments are the conditions of the rows, as whctl takes them.
func (s *limits) conditionArguments() string {
	text := ""
	if s.Filter.Subscriber != "" {
		// by its ends, since the id is a key
		first, last, _ := strings.Cut(ui.ShortID(s.Filter.Subscriber), "..")
		text += " --where " + ui.Quote("SubscriberID^="+first) + " --where " + ui.Quote("SubscriberID$="+last)
	}
	if s.Filter.Subscription != "" {
		text += ` --where "SubscriptionID=` + s.Filter.Subscription + `"`
	}
	if c, limits := s.Filter.Standing().Condition(); limits {
		text += " --where " + ui.Quote(filter.Text(c))
	}
	return text + browse.Conditions(s.Typed.Texts(s.Now, ui.MessageKind(), s.Filter.Conditions))
}

func (s *limits) filterText() string {
	var texts []string
	for _, f := range s.Filter.Conditions {
		texts = append(texts, filter.Text(f))
	}
	return strings.Join(texts, browse.ConditionGap)
}

// Find is the line of filters.
func (s *limits) Find() *ui.Line { return s.filterLine(s.filterText()) }

func (s *limits) filterLine(text string) *ui.Line {
	kind := ui.MessageKind()
	l := ui.NewLine(s.Host, "filter Message", "/", text)
	l.Help = "such as Status=3  EventName^=debtor; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	l.Suggest = func(text string) []ui.Suggestion { return browse.SuggestFields(kind, text) }
	l.Check = func(text string) error {
		_, err := browse.ReadFilters(s.Now, kind, text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		s.Filter.Conditions, _ = browse.ReadFilters(s.Now, kind, text) // it was checked just now
		s.Typed = browse.NoteTyped(s.Now, kind, text)
		return s.Reload()
	}
	return l
}

// Exportable is what can be exported of messages, with their bodies.
func (s *limits) Exportable() browse.Exportable {
	kind, _ := record.System().Lookup("Message")
	e := browse.Exportable{
		Name: "Messages", Query: client.Query{Kind: kind, Where: s.Filter.Filters()}, Key: "MessageID", Total: s.Pages.Total(), Marked: s.Grid.MarkedIDs(), All: s.AllMarks,
		Rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.Query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.Columns = append(e.Columns, export.Column{Name: f.Name, Type: f.Type})
	}
	for _, row := range s.Pages.Here() {
		e.Loaded = append(e.Loaded, row.ID)
	}
	return e
}
