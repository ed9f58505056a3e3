package tui

import (
	"strings"

	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// table is what screens have in common whose middle is a grid.
type table struct {
	part
	grid *grid.Grid
}

func newTable(a *app, lines bool) table {
	return table{newPart(a), grid.New(&a.theme.Look, lines)}
}

func (t *table) setSize(width, height int) {
	t.part.setSize(width, height)
	t.grid.SetSize(width, height)
}

func (t *table) view() string { return t.grid.View() }

// status is where the selection is. Nothing is said of rows that are on their
// way.
func (t *table) status() string {
	if t.grid.Len() == 0 && t.app.fetching() {
		return "on its way " + strings.Repeat(t.app.theme.Loading, 3)
	}
	return t.grid.Place()
}

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
			t.app.tell(ui.Warning, ui.Plural(missing, "row is", "rows are")+" not here yet and was not marked")
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

// unmark takes the marks away. It is false where there are none.
func (t *table) unmark() bool {
	had := t.grid.Marks() > 0
	t.grid.Unmark()
	return had
}
