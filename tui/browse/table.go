// Package browse shows rows of any kind: lists with a search, pages that come when
// they are seen, filters, columns that are chosen, and exports.
package browse

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// OrderText is an order as it is kept.
func OrderText(s grid.Sort) string {
	if s.Descending {
		return "-" + s.Column
	}
	return s.Column
}

// ParseOrder is an order that was kept.
func ParseOrder(text string) grid.Sort {
	column, down := strings.CutPrefix(text, "-")
	return grid.Sort{Column: column, Descending: down}
}

// Table is what screens have in common whose middle is a grid.
type Table struct {
	ui.Base
	Grid *grid.Grid
}

// NewTable makes a table; lines says that whole rows are selected.
func NewTable(h ui.Host, lines bool) Table {
	return Table{ui.NewBase(h), grid.New(h.CurrentSession().Theme, lines)}
}

// SetSize implements ui.Screen.
func (t *Table) SetSize(width, height int) {
	t.Base.SetSize(width, height)
	t.Grid.SetSize(width, height)
}

// View implements ui.Screen.
func (t *Table) View() string { return t.Grid.View() }

// Status is where the selection is.
func (t *Table) Status() string { return t.Grid.PositionText() }

// Move does what keys mean in all lists. It is false for other keys.
func (t *Table) Move(b keymap.Binding) bool {
	g := t.Grid
	switch b.Action {
	case keymap.GoUp:
		g.Move(-1)
	case keymap.GoDown:
		g.Move(1)
	case keymap.GoTop:
		g.GoTo(0)
	case keymap.GoBottom:
		g.GoTo(g.Len() - 1)
	case keymap.PageUp, keymap.PreviousPage:
		g.Move(-g.PageSize())
	case keymap.PageDown, keymap.NextPage:
		g.Move(g.PageSize())
	case keymap.HalfUp:
		g.Move(-g.PageSize() / 2)
	case keymap.HalfDown:
		g.Move(g.PageSize() / 2)
	case keymap.Mark:
		g.Mark()
	case keymap.MarkRange:
		if missing := g.MarkRange(); missing > 0 {
			t.Notify(ui.Warning, display.Count(missing, "row is", "rows are")+" not here yet and was not marked")
		}
	case keymap.Unmark:
		g.Unmark()
	default:
		return t.moveColumn(b)
	}
	return true
}

// moveColumn does what keys mean for columns.
func (t *Table) moveColumn(b keymap.Binding) bool {
	g := t.Grid
	switch b.Action {
	case keymap.GoLeft:
		t.scrollLeft(-1)
	case keymap.GoRight:
		t.scrollLeft(1)
	case keymap.FirstColumn:
		g.GoToColumn(0)
	case keymap.LastColumn:
		g.GoToColumn(len(g.Columns()) - 1)
	case keymap.Narrower:
		g.Widen(-2)
	case keymap.Wider:
		g.Widen(2)
	case keymap.FreezeColumns:
		t.freeze()
	default:
		return false
	}
	return true
}

func (t *Table) scrollLeft(n int) {
	if t.Grid.RowMode() {
		t.Grid.ScrollColumns(n)
	} else {
		t.Grid.MoveColumn(n)
	}
}

// freeze keeps the columns up to the selected one in place, or frees them where
// they are.
func (t *Table) freeze() {
	at := t.Grid.ColumnIndex() + 1
	if t.Grid.Frozen() == at {
		at = 0
	}
	t.Grid.Freeze(at)
}

// Unmark takes the marks away. It is false where there are none.
func (t *Table) Unmark() bool {
	had := t.Grid.MarkCount() > 0
	t.Grid.Unmark()
	return had
}

// FitColumns makes columns as wide as what is in sight has to have, where
// nobody chose how wide they are.
func (t *Table) FitColumns() { t.Grid.SetColumns(t.Grid.Columns(), t.Grid.Frozen()) }

// Scrolls reports whether left and right do anything.
func (t *Table) Scrolls() bool { return !t.Grid.RowMode() || !t.Grid.AllVisible() }

// SelectAt selects the cell that was clicked. Row is false for anything but a row.
func (t *Table) SelectAt(x, y int) (row, title bool) {
	at, column, on := t.Grid.Hit(x, y)
	switch {
	case !on:
		return false, false
	case column >= 0:
		t.Grid.GoToColumn(column)
	}
	if at >= 0 {
		t.Grid.GoTo(at)
	}
	return at >= 0, at < 0 && column >= 0
}

// ClickRow selects a row of a screen, and opens it when it is clicked again.
func (t *Table) ClickRow(s ui.Screen, x, y int, again bool) tea.Cmd {
	if row, _ := t.SelectAt(x, y); row && again {
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return nil
}

// SearchTable is a table of which a search shows a part.
type SearchTable struct {
	Table
	name     string // of the history of searches
	help     string // what is searched, for people
	Search   string
	Refill   func()         // makes the rows
	OnSearch func() tea.Cmd // after a search; nil for nothing
}

// NewSearchTable makes one whose searches are remembered by a name.
func NewSearchTable(h ui.Host, name, help string) SearchTable {
	return SearchTable{Table: NewTable(h, true), name: name, help: help}
}

// Badges implements ui.Screen.
func (t *SearchTable) Badges() []string {
	if t.Search == "" {
		return nil
	}
	return []string{t.Search}
}

// Find narrows the table while it is typed.
func (t *SearchTable) Find() *ui.InputLine {
	l := ui.NewInputLine(t.Host, t.name, "/", t.Search)
	l.Help = t.help + "; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
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

// holds reports whether a text holds what is searched.
func (t *SearchTable) Contains(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(t.Search))
}

// ContainsWords reports whether all words that are searched are in one of the
// texts.
func (t *SearchTable) ContainsWords(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(t.Search)), func(word string) bool { return !strings.Contains(text, word) })
}

// SelectedItem is what the selected row shows of a list.
func SelectedItem[T any](t *Table, list []T, id func(T) string) (one T, ok bool) {
	row := t.Grid.Row()
	if row == nil {
		return one, false
	}
	i := slices.IndexFunc(list, func(one T) bool { return id(one) == row.ID })
	if i < 0 {
		return one, false
	}
	return list[i], true
}
