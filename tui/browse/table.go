// Package browse shows rows of any kind: searchable lists, and browsers with paging,
// filters, column selection and export.
package browse

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// OrderText formats a sort order for storage and queries.
func OrderText(s grid.Sort) string {
	if s.Descending {
		return "-" + s.Column
	}
	return s.Column
}

// ParseOrder parses the result of OrderText.
func ParseOrder(text string) grid.Sort {
	column, down := strings.CutPrefix(text, "-")
	return grid.Sort{Column: column, Descending: down}
}

// Table is embedded by screens that consist of a grid.
type Table struct {
	ui.Base
	Grid    *grid.Grid
	Preview *Preview
}

// NewTable returns a table; lines selects row mode.
func NewTable(h ui.Host, lines bool) Table {
	rows := grid.New(h.CurrentSession().Theme, lines)
	return Table{Base: ui.NewBase(h), Grid: rows, Preview: &Preview{grid: rows}}
}

// SetSize sets the size of the screen, which the list and its preview fill.
func (t *Table) SetSize(width, height int) {
	t.Base.SetSize(width, height)
	t.Preview.Fit(t.PanelWidth(), width, height)
}

// View draws the list.
func (t *Table) View() string { return t.Grid.View() }

// Panels returns the list and its preview.
func (t *Table) Panels() []theme.Panel {
	list := t.Grid.Panel()
	list.Focused = true
	if t.Preview.width == 0 {
		return []theme.Panel{list}
	}
	return []theme.Panel{list, t.Preview.panel(list)}
}

// Stop cancels the requests of the screen and of its preview.
func (t *Table) Stop() {
	t.Base.Stop()
	t.Preview.close()
}

// Previewed returns the screen of the selected row, nil if it is not shown.
func (t *Table) Previewed() ui.Screen { return t.Preview.screen }

// UpdatePreview shows the screen of the row that is selected now.
func (t *Table) UpdatePreview() tea.Cmd { return t.Preview.update() }

// HasChild reports whether a screen is the preview.
func (t *Table) HasChild(s ui.Screen) bool { return t.Preview.holds(s) }

// Count returns the number of the selected row and the number of rows.
func (t *Table) Count() string { return t.Grid.Count() }

// Status describes the visible columns.
func (t *Table) Status() string { return t.Grid.PositionText() }

// Move handles the keys that move the cursor, mark rows, or change the widths and the freezing of
// columns. It reports whether the action was one of these.
func (t *Table) Move(b keymap.Binding) bool {
	if b.Action == keymap.MarkRange {
		if missing := t.Grid.MarkRange(); missing > 0 {
			t.Host.Notify(ui.Warning, display.Count(missing, "row is", "rows are")+" still loading and not marked")
		}
		return true
	}
	move := moves[b.Action]
	if move != nil {
		move(t.Grid)
	}
	return move != nil
}

// moves are the other actions of Move.
var moves = map[keymap.Action]func(*grid.Grid){
	keymap.GoUp:          func(g *grid.Grid) { g.Move(-1) },
	keymap.GoDown:        func(g *grid.Grid) { g.Move(1) },
	keymap.GoTop:         func(g *grid.Grid) { g.GoTo(0) },
	keymap.GoBottom:      func(g *grid.Grid) { g.GoTo(g.Len() - 1) },
	keymap.PageUp:        func(g *grid.Grid) { g.Move(-g.PageSize()) },
	keymap.PageDown:      func(g *grid.Grid) { g.Move(g.PageSize()) },
	keymap.PreviousPage:  func(g *grid.Grid) { g.Move(-g.PageSize()) },
	keymap.NextPage:      func(g *grid.Grid) { g.Move(g.PageSize()) },
	keymap.HalfUp:        func(g *grid.Grid) { g.Move(-g.PageSize() / 2) },
	keymap.HalfDown:      func(g *grid.Grid) { g.Move(g.PageSize() / 2) },
	keymap.Mark:          (*grid.Grid).Mark,
	keymap.Unmark:        func(g *grid.Grid) { g.Marks.Clear() },
	keymap.GoLeft:        func(g *grid.Grid) { moveColumn(g, -1) },
	keymap.GoRight:       func(g *grid.Grid) { moveColumn(g, 1) },
	keymap.FirstColumn:   func(g *grid.Grid) { g.Columns.GoTo(0) },
	keymap.LastColumn:    func(g *grid.Grid) { g.Columns.GoTo(len(g.Columns.List()) - 1) },
	keymap.Narrower:      func(g *grid.Grid) { g.Columns.Widen(-2) },
	keymap.Wider:         func(g *grid.Grid) { g.Columns.Widen(2) },
	keymap.FreezeColumns: freeze,
}

func moveColumn(g *grid.Grid, n int) {
	if g.Columns.RowMode() {
		g.Columns.Scroll(n)
	} else {
		g.Columns.Move(n)
	}
}

// freeze freezes the columns up to the selected one, or unfreezes them.
func freeze(g *grid.Grid) {
	frozen := g.Columns.Index() + 1
	if g.Columns.Frozen() == frozen {
		frozen = 0
	}
	g.Columns.Freeze(frozen)
}

// Unmark removes all marks and reports whether there were any.
func (t *Table) Unmark() bool {
	had := t.Grid.Marks.Len() > 0
	t.Grid.Marks.Clear()
	return had
}

// Scrolls reports whether there are columns outside of the screen.
func (t *Table) Scrolls() bool { return !t.Grid.Columns.RowMode() || !t.Grid.Columns.AllVisible() }

// ClickRow selects the row of a screen that was clicked; a double click opens it.
func ClickRow(s ui.Screen, g *grid.Grid, x, y int, double bool) tea.Cmd {
	isRow, _ := g.SelectAt(x, y)
	if isRow && double {
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return nil
}

// SearchTable is a table with a search.
type SearchTable struct {
	Table
	name     string         // key of the search history
	help     string         // help of the search input
	Search   string         // empty for none
	Refill   func()         // rebuilds the rows after the search has changed
	OnSearch func() tea.Cmd // called when the search is submitted; nil for nothing
}

// NewSearchTable returns a search table; name is the key of its history.
func NewSearchTable(h ui.Host, name, help string) SearchTable {
	return SearchTable{Table: NewTable(h, true), name: name, help: help}
}

// NoMatch returns the text of the list if nothing matches its search, "" without a search. count is
// the number of rows without it.
func (t *SearchTable) NoMatch(noun string, count int) string {
	if t.Search == "" {
		return ""
	}
	key := keymap.KeyFor(keymap.Everywhere, keymap.OpenFilter)
	return ui.NoMatch(noun, []string{t.Search}, key+" changes the search", int64(count))
}

// Badges returns the search.
func (t *SearchTable) Badges() []string {
	if t.Search == "" {
		return nil
	}
	return []string{t.Search}
}

// Find returns the search input. It filters while the user types: Check is called with each text,
// and with the first one when the input is cancelled.
func (t *SearchTable) Find() *ui.InputLine {
	l := ui.NewInputLine(t.Host, t.name, "/", t.Search)
	l.Help = t.help + "; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies it"
	l.Check = func(text string) error {
		t.Search = text
		t.Refill()
		return nil
	}
	l.Accept = func(string) tea.Cmd {
		if t.OnSearch == nil {
			return nil
		}
		return t.OnSearch()
	}
	return l
}

// Contains reports whether a text contains the search as it is, for lists of lines.
func (t *SearchTable) Contains(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(t.Search))
}

// ContainsWords reports whether each word of the search occurs in one of the texts, in any order, for
// lists of objects.
func (t *SearchTable) ContainsWords(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(t.Search)), func(word string) bool {
		return !strings.Contains(text, word)
	})
}

// SelectedItem returns the element of list for the selected row, found by ID.
func SelectedItem[T any](t *Table, list []T, id func(T) string) (selected T, ok bool) {
	row := t.Grid.Row()
	if row == nil {
		return selected, false
	}
	i := slices.IndexFunc(list, func(entry T) bool { return id(entry) == row.ID })
	if i < 0 {
		return selected, false
	}
	return list[i], true
}
