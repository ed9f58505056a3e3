package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// table is what screens have in common whose middle is a grid.
type table struct {
	ui.Base
	grid *grid.Grid
}

func newTable(h ui.Host, lines bool) table {
	return table{ui.NewBase(h), grid.New(&h.Current().Theme.Look, lines)}
}

func (t *table) SetSize(width, height int) {
	t.Base.SetSize(width, height)
	t.grid.SetSize(width, height)
}

func (t *table) View() string { return t.grid.View() }

// Status is where the selection is.
func (t *table) Status() string { return t.grid.Place() }

// move does what keys mean in all lists. It is false for other keys.
func (t *table) move(b keymap.Binding) bool {
	g := t.grid
	switch b.Action {
	case keymap.GoUp:
		g.Move(-1)
	case keymap.GoDown:
		g.Move(1)
	case keymap.GoTop:
		g.To(0)
	case keymap.GoBottom:
		g.To(g.Len() - 1)
	case keymap.PageUp, keymap.PageBefore:
		g.Move(-g.Screen())
	case keymap.PageDown, keymap.PageAfter:
		g.Move(g.Screen())
	case keymap.HalfUp:
		g.Move(-g.Screen() / 2)
	case keymap.HalfDown:
		g.Move(g.Screen() / 2)
	case keymap.Mark:
		g.Mark()
	case keymap.MarkRange:
		if missing := g.MarkRange(); missing > 0 {
			t.Tell(ui.Warning, ui.Plural(missing, "row is", "rows are")+" not here yet and was not marked")
		}
	case keymap.Unmark:
		g.Unmark()
	default:
		return t.sideways(b)
	}
	return true
}

// sideways does what keys mean for columns.
func (t *table) sideways(b keymap.Binding) bool {
	g := t.grid
	switch b.Action {
	case keymap.GoLeft:
		t.left(-1)
	case keymap.GoRight:
		t.left(1)
	case keymap.FirstColumn:
		g.ToColumn(0)
	case keymap.LastColumn:
		g.ToColumn(len(g.Columns()) - 1)
	case keymap.Narrower:
		g.Widen(-2)
	case keymap.Wider:
		g.Widen(2)
	case keymap.FreezeHere:
		t.freeze()
	default:
		return false
	}
	return true
}

func (t *table) left(n int) {
	if t.grid.Lines() {
		t.grid.ScrollColumns(n)
	} else {
		t.grid.MoveColumn(n)
	}
}

// freeze keeps the columns up to the selected one in place, or frees them where
// they are.
func (t *table) freeze() {
	at := t.grid.ColumnAt() + 1
	if t.grid.Frozen() == at {
		at = 0
	}
	t.grid.Freeze(at)
}

// Unmark takes the marks away. It is false where there are none.
func (t *table) Unmark() bool {
	had := t.grid.Marks() > 0
	t.grid.Unmark()
	return had
}

// fitColumns makes columns as wide as what is in sight has to have, where
// nobody chose how wide they are.
func (t *table) fitColumns() { t.grid.SetColumns(t.grid.Columns(), t.grid.Frozen()) }

// Scrolls reports whether left and right do anything.
func (t *table) Scrolls() bool { return !t.grid.Lines() || !t.grid.Whole() }

// press selects the cell that was clicked. Row is false for anything but a row.
func (t *table) press(x, y int) (row, title bool) {
	at, column, on := t.grid.Hit(x, y)
	switch {
	case !on:
		return false, false
	case column >= 0:
		t.grid.ToColumn(column)
	}
	if at >= 0 {
		t.grid.To(at)
	}
	return at >= 0, at < 0 && column >= 0
}

// clickRow selects a row of a screen, and opens it when it is clicked again.
func (t *table) clickRow(s ui.Screen, x, y int, again bool) tea.Cmd {
	if row, _ := t.press(x, y); row && again {
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return nil
}

// searchTable is a table of which a search shows a part.
type searchTable struct {
	table
	name   string // of the history of searches
	by     string // what is searched, for people
	search string
	refill func()         // makes the rows
	found  func() tea.Cmd // after a search; nil for nothing
}

func newSearchTable(h ui.Host, name, by string) searchTable {
	return searchTable{table: newTable(h, true), name: name, by: by}
}

func (t *searchTable) Badges() []string {
	if t.search == "" {
		return nil
	}
	return []string{t.search}
}

// Find narrows the table while it is typed.
func (t *searchTable) Find() *ui.Line {
	l := ui.NewLine(t.Host, t.name, "/", t.search)
	l.Help = t.by + "; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
	l.Check = func(text string) error {
		t.search = text
		t.refill()
		return nil
	}
	l.Accept = func(string) tea.Cmd {
		if t.found == nil {
			return nil
		}
		return t.found()
	}
	return l
}

// holds reports whether a text holds what is searched.
func (t *searchTable) contains(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(t.search))
}

// containsWords reports whether all words that are searched are in one of the
// texts.
func (t *searchTable) containsWords(texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(t.search)), func(word string) bool { return !strings.Contains(text, word) })
}

// rowOf is what the selected row shows of a list.
func rowOf[T any](t *table, list []T, id func(T) string) (one T, ok bool) {
	row := t.grid.Row()
	if row == nil {
		return one, false
	}
	i := slices.IndexFunc(list, func(one T) bool { return id(one) == row.ID })
	if i < 0 {
		return one, false
	}
	return list[i], true
}
