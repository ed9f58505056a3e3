package messages

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// controls are the actions of the user on the filter, order and columns of a list.
type controls struct {
	host    controlsHost
	session *ui.Session
	list    controlledList
	query   *query
	columns *columns
	rows    *rows
}

// controlsHost has the methods of the app that controls use.
type controlsHost interface {
	CurrentSession() *ui.Session
	// Notify shows a message to the user.
	Notify(l ui.Level, text string)
	// ShowInput opens an input line below the tabs.
	ShowInput(l *ui.InputLine)
	// ShowOverlay replaces the overlay.
	ShowOverlay(o ui.Overlay)
}

// controlledList has the methods of a list that controls use.
type controlledList interface {
	// Reload fetches the list from the start.
	Reload() tea.Cmd
	// FetchVisible fetches the rows on the screen that are not loaded.
	FetchVisible() tea.Cmd
}

// controlActions are the actions by key.
var controlActions = map[keymap.Action]func(c *controls) tea.Cmd{
	keymap.ProblemsOnly:  (*controls).cycleStatus,
	keymap.SortColumn:    (*controls).sort,
	keymap.FilterByValue: (*controls).filterByValue,
	keymap.ClearFilters:  (*controls).clearFilters,
	keymap.FilterColumn:  (*controls).filterColumn,
	keymap.ChooseColumns: (*controls).chooseColumns,
}

// arrange applies saved columns and widths. Filter and order are part of a view
// only; a list starts with the newest messages.
func (c *controls) arrange(saved state.Arrangement) {
	c.columns.arrange(saved)
	c.rows.rebuild()
}

// remember saves the arrangement. In a view only :save does.
func (c *controls) remember() {
	if c.query.saved == "" {
		c.session.State.SetGrid(gridKey, c.columns.arrangement())
	}
}

// chooseColumns opens the column chooser.
func (c *controls) chooseColumns() tea.Cmd {
	isEmpty := func(name string) bool { return c.columns.empty(name, c.rows.Known) }
	apply := func(names []string) tea.Cmd {
		c.columns.show(names, c.rows.grid.Columns.Frozen())
		c.rows.rebuild()
		c.remember()
		return c.list.FetchVisible()
	}
	c.host.ShowOverlay(browse.NewChooser(c.host, browse.ChooserOptions{
		Kind:     columnKind(),
		Name:     c.query.title(),
		Fields:   c.columns.Names(),
		Defaults: DefaultColumnNames(),
		IsEmpty:  isEmpty,
		Accept:   apply,
	}))
	return nil
}

// cycleStatus shows all messages, failed ones or undelivered ones.
func (c *controls) cycleStatus() tea.Cmd {
	c.query.cycleStatus()
	return c.list.Reload()
}

// clearFilters shows all messages.
func (c *controls) clearFilters() tea.Cmd {
	c.query.Filter = ui.MessageFilter{}
	return c.list.Reload()
}

// sort cycles the selected column through ascending, descending and no order.
func (c *controls) sort() tea.Cmd {
	column := c.columns.Selected()
	if column.field == "" {
		c.host.Notify(ui.Warning, "cannot sort by "+strings.ToLower(column.Name)+": messages contain only the ID")
		return nil
	}
	c.query.Order = c.query.Order.Next(column.Name)
	return c.list.Reload()
}

// filterColumn opens the filter line with a condition on the selected column.
func (c *controls) filterColumn() tea.Cmd {
	column := c.columns.Selected()
	if column.field == "" {
		c.host.Notify(ui.Warning, "cannot filter by "+strings.ToLower(column.Name)+" name; "+
			keymap.KeyFor(keymap.InMessages, keymap.FilterByValue)+" filters by this one")
		return nil
	}
	text := c.query.filterText() + browse.ConditionSeparator + column.field
	c.host.ShowInput(c.filterLine(strings.TrimSpace(text)))
	return nil
}

// filterByValue filters by the value of the selected cell.
func (c *controls) filterByValue() tea.Cmd {
	m, ok := c.rows.selected()
	if !ok {
		return nil
	}
	why := c.query.filterBy(c.columns.Selected().Name, m, c.columns.subscribers.cell(m).Text)
	if why != "" {
		c.host.Notify(ui.Warning, why)
		return nil
	}
	return c.list.Reload()
}

// filterLine returns the input of the conditions.
func (c *controls) filterLine(text string) *ui.InputLine {
	apply := func(filters []client.Filter, typed browse.TypedConditions) tea.Cmd {
		c.query.Filter.Conditions = filters
		c.query.Typed = typed
		return c.list.Reload()
	}
	l := browse.NewFilterLine(c.host, ui.MessageKind(), ui.MessageRecord, text, apply)
	l.Help = "such as Status=3  EventName^=debtor; " +
		keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " +
		keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes"
	return l
}
