package messages

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// Arrange applies saved columns and widths. Filter and order are part of a view
// only; a list starts with the newest messages.
func (s *List) Arrange(as state.Arrangement) {
	s.Columns.arrange(as)
	s.Rows.rebuild()
}

// remember saves the arrangement. In a view only :save does.
func (s *List) remember() {
	if s.saved == "" {
		s.Session.State.SetGrid(gridKey, s.Columns.arrangement())
	}
}

// chooseColumns opens the column chooser.
func (s *List) chooseColumns() {
	empty := func(name string) bool { return s.Columns.empty(name, s.Rows.Known) }
	s.Host.ShowOverlay(browse.NewChooser(s.Host, columnKind(), s.Title(), s.Columns.Names(), DefaultColumnNames(), empty, func(names []string) tea.Cmd {
		s.Columns.show(names, s.Grid.Columns.Frozen())
		s.Rows.rebuild()
		s.remember()
		return s.want()
	}))
}

// sort cycles the selected column through ascending, descending and no order.
func (s *List) sort() tea.Cmd {
	c := s.Columns.Selected()
	if c.field == "" {
		s.Host.Notify(ui.Warning, "cannot sort by "+strings.ToLower(c.Name)+": messages contain only the ID")
		return nil
	}
	s.Order = s.Order.Next(c.Name)
	return s.Reload()
}

// filterColumn opens the filter line with a condition on the selected column.
func (s *List) filterColumn() {
	c := s.Columns.Selected()
	if c.field == "" {
		s.Host.Notify(ui.Warning, "cannot filter by "+strings.ToLower(c.Name)+" name; "+keymap.KeyFor(keymap.InMessages, keymap.FilterByValue)+" filters by this one")
		return
	}
	s.Host.ShowInput(s.filterLine(strings.TrimSpace(s.filterText() + browse.ConditionSeparator + c.field)))
}

// filterByValue filters by the value of the selected cell.
func (s *List) filterByValue() tea.Cmd {
	m, ok := s.Selected()
	if !ok {
		return nil
	}
	if why := s.filterBy(s.Columns.Selected().Name, m, s.Subscribers.cell(m).Text); why != "" {
		s.Host.Notify(ui.Warning, why)
		return nil
	}
	return s.Reload()
}

// Find returns the filter line.
func (s *List) Find() *ui.InputLine { return s.filterLine(s.filterText()) }

func (s *List) filterLine(text string) *ui.InputLine {
	l := browse.NewFilterLine(s.HostSession, ui.MessageKind(), ui.MessageRecord, text, func(filters []client.Filter, typed browse.TypedConditions) tea.Cmd {
		s.Filter.Conditions, s.Typed = filters, typed
		return s.Reload()
	})
	l.Help = "such as Status=3  EventName^=debtor; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	return l
}

// Exportable returns the export of the filtered messages, with their bodies.
func (s *List) Exportable() browse.Exportable {
	kind := ui.MessageKind()
	e := browse.Exportable{
		Name: "Messages", Query: client.Query{Kind: kind, Where: s.Filter.Filters()}, Key: "MessageID", Total: s.Pages.Total(), Marked: s.Grid.Marks.IDs(), All: s.Marks.All,
		Loaded: s.Pages.LoadedIDs(), Rows: func(map[string]struct{}) ([]client.Row, bool) { return nil, false },
	}
	if by := s.orderBy(); by != "" {
		e.Query.OrderBy = []string{by}
	}
	for _, f := range kind.Fields {
		e.Columns = append(e.Columns, export.Column{Name: f.Name, Type: f.Type})
	}
	return e
}
