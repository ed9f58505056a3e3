package grid

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/theme"
)

// The tests use a theme without and one with colours.
var (
	plainTheme  = &theme.Theme{Glyphs: theme.New(theme.ASCII, theme.Mono).Glyphs}
	colourTheme = theme.NewIn(theme.Colours256, theme.Full, theme.Dark)
)

func row(id string, texts ...string) *Row {
	r := &Row{ID: id}
	for _, text := range texts {
		r.Cells = append(r.Cells, Cell{Text: text, Null: text == "null"})
	}
	return r
}

func columns(names ...string) []Column {
	var all []Column
	for _, name := range names {
		name, right := strings.CutSuffix(name, ">")
		all = append(all, Column{Name: name, Right: right})
	}
	return all
}

// numberedRows returns rows with their ID in the first cell.
func numberedRows(n, width int) []*Row {
	rows := make([]*Row, n)
	for i := range rows {
		cells := []string{fmt.Sprintf("D%05d", i)}
		for c := 1; c < width; c++ {
			cells = append(cells, fmt.Sprint((i*7919+c*104729)%100000))
		}
		rows[i] = row(cells[0], cells...)
	}
	return rows
}

func TestGridView(t *testing.T) {
	g := New(plainTheme, false)
	g.Columns.Set(columns("InvoiceID", "InvoiceTotal>", "Cartage1Total>", "Remark"), 1)
	g.SetRows(NewList([]*Row{
		row("D1", "D100418", "98310.00", "120.00", "first\nsecond"),
		row("D2", "D100377", "41877.50", "null", ""),
		row("D3", "D100512", "40002.15", "0.00", "世界"),
	}))
	g.Columns.SetSort(Sort{Column: "InvoiceTotal", Descending: true})
	g.SetSize(72, 6)
	g.Mark()
	g.Columns.Move(2)
	checkView(t, g, `
   InvoiceID  |  InvoiceTotal v  Cartage1Total  Remark                  
 * D100418    |        98310.00         120.00  first$second            
>  D100377    |        41877.50              -                          
   D100512    |        40002.15           0.00  世界                    
                                                                        
                                                                        `)
	g.SetSize(40, 6)
	checkView(t, g, `
   InvoiceID  |  Cartage1Total  Remark  
 * D100418    |         120.00  first$~ 
>  D100377    |              -          
   D100512    |           0.00  世界    
                                        
                                        `)
	if got, want := g.PositionText(), "< cols 3-4 of 4"; got != want {
		t.Errorf("position %q, want %q", got, want)
	}
}

func checkView(t *testing.T, g *Grid, want string) {
	t.Helper()
	if got := ansi.Strip(g.View()); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%s\nwant%s", strings.ReplaceAll(got, " ", "·"), strings.ReplaceAll(want, " ", "·"))
	}
}

// The style of a selected row applies to all its cells; the style of a cell ends with
// the cell.
func TestRowAndCellRoles(t *testing.T) {
	g := New(colourTheme, false)
	g.Columns.Set(columns("A", "B"), 0)
	g.SetRows(NewList([]*Row{{ID: "1", Cells: []Cell{{Text: "x"}, {Text: "bad", Role: theme.Failure}}}}))
	g.SetSize(12, 2)
	lines := strings.Split(g.View(), "\n")
	const bar, off = "\x1b[38;5;255;48;5;237m", "\x1b[0m"
	want := "\x1b[38;5;255;48;5;237;38;5;117m▌  " + off +
		"\x1b[38;5;255;48;5;237;1;38;5;16;48;5;117mx" + off + bar + "  " + off +
		"\x1b[38;5;255;48;5;237;38;5;210mbad" + off + bar + "  " + off + bar + " " + off
	if lines[1] != want {
		t.Errorf("got  %q\nwant %q", lines[1], want)
	}
}

// Every line is exactly as wide as the grid, and the number of lines is its height, for
// any content and sequence of actions.
func TestViewHasExactSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SampledFrom([]*theme.Theme{plainTheme, colourTheme}).Draw(t, "theme")
		g := New(drawn, rapid.Bool().Draw(t, "lines"))
		count := rapid.IntRange(0, 8).Draw(t, "columns")
		g.Columns.Set(hostileColumns(t, count), rapid.IntRange(0, count).Draw(t, "frozen"))
		width, height := rapid.IntRange(0, 130).Draw(t, "width"), rapid.IntRange(0, 20).Draw(t, "height")
		g.SetSize(width, height)
		g.SetRows(&holes{NewList(hostileRows(t, count))})
		for _, move := range rapid.SliceOfN(rapid.SampledFrom(moves), 0, 12).Draw(t, "moves") {
			move(g)
		}
		checkSize(t, g.View(), g.Columns.width, height)
	})
}

// holes are rows of which some are still loading.
type holes struct{ *List }

func (h *holes) Row(i int) *Row {
	if i%5 == 3 {
		return nil
	}
	return h.List.Row(i)
}

var moves = []func(*Grid){
	func(g *Grid) { g.Move(1) },
	func(g *Grid) { g.Move(g.PageSize()) },
	func(g *Grid) { g.GoTo(g.Len()) },
	func(g *Grid) { g.Columns.Move(1) },
	func(g *Grid) { g.Columns.Move(-1) },
	func(g *Grid) { g.Columns.GoTo(99) },
	func(g *Grid) { g.Columns.Scroll(1) },
	func(g *Grid) { g.Columns.Freeze(2) },
	func(g *Grid) { g.Mark() },
	func(g *Grid) { g.Columns.Widen(-5) },
	func(g *Grid) { g.Columns.Widen(30) },
	func(g *Grid) { g.SetSize(g.Columns.width/2, g.height) },
	func(g *Grid) {
		if c, ok := g.Columns.Selected(); ok {
			g.Columns.SetSort(Sort{Column: c.Name})
		}
	},
}

// hostileColumns draws columns with titles of any text, and any settings.
func hostileColumns(t *rapid.T, count int) []Column {
	columns := make([]Column, count)
	for i := range columns {
		columns[i] = Column{
			Name:  fmt.Sprint(i),
			Title: hostileText().Draw(t, "title"),
			Right: rapid.Bool().Draw(t, "right"),
			Flex:  rapid.Bool().Draw(t, "flex"),
			Max:   rapid.IntRange(0, 60).Draw(t, "max"),
		}
	}
	return columns
}

// hostileRows draws rows with cells of any text.
func hostileRows(t *rapid.T, columns int) []*Row {
	rows := make([]*Row, rapid.IntRange(0, 12).Draw(t, "rows"))
	for i := range rows {
		rows[i] = &Row{ID: fmt.Sprint(i)}
		for range columns {
			rows[i].Cells = append(rows[i].Cells, Cell{
				Text: hostileText().Draw(t, "cell"),
				Null: rapid.Bool().Draw(t, "null"),
				Role: theme.Failure,
			})
		}
	}
	return rows
}

func checkSize(t interface{ Errorf(string, ...any) }, view string, width, height int) {
	lines := strings.Split(view, "\n")
	if height == 0 {
		lines = nil
	}
	if len(lines) != height {
		t.Errorf("%d lines, want %d", len(lines), height)
	}
	for i, line := range lines {
		if a, b := ansi.StringWidth(line), ansi.StringWidthWc(ansi.Strip(line)); a != width || b != width {
			t.Errorf("line %d is %d and %d cells wide, want %d: %q", i, a, b, width, line)
		}
	}
}

// The selection stays on its row and screen line while rows are added and removed above
// and below it.
func TestSelectionFollowsRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := New(plainTheme, true)
		g.Columns.Set(columns("ID"), 1)
		g.SetSize(20, 12)
		rows := numberedRows(100, 1)
		g.SetRows(NewList(rows))
		g.GoTo(rapid.IntRange(0, 99).Draw(t, "at"))
		want, line := g.Row().ID, g.Index()-g.top
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			i := rapid.IntRange(0, len(rows)-1).Draw(t, "i")
			if rapid.Bool().Draw(t, "comes") {
				rows = slices.Insert(slices.Clone(rows), i, row(fmt.Sprintf("new %d %d", i, len(rows)), "new"))
			} else if rows[i].ID != want {
				rows = slices.Delete(slices.Clone(rows), i, i+1)
			}
			g.SetRows(NewList(rows))
			if g.Row().ID != want {
				t.Fatalf("%s is selected, want %s", g.Row().ID, want)
			}
			if now := g.Index() - g.top; now != line && g.top != 0 && g.top != len(rows)-g.body() {
				t.Fatalf("the selection went from line %d to %d", line, now)
			}
			line = g.Index() - g.top
		}
	})
}

func TestFollowSelectsNewRows(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("ID"), 1)
	g.SetSize(20, 5)
	g.SetRows(NewList(numberedRows(10, 1)))
	g.Follow(true)
	g.SetRows(NewList(append([]*Row{row("new", "new")}, numberedRows(10, 1)...)))
	if g.Row().ID != "new" {
		t.Errorf("%s is selected, want the new row", g.Row().ID)
	}
	g.Move(1)
	if g.Following() {
		t.Error("still following after the selection was moved")
	}
}

func TestFieldColumnByType(t *testing.T) {
	for _, typ := range record.Types() {
		c := FieldColumn(record.Field{Name: "X", Type: typ})
		if c.Name != "X" || c.Right != typ.Number() {
			t.Errorf("%s: %+v", typ, c)
		}
	}
}

// After the grid grows, the newly visible rows count for the column widths and for
// AllVisible.
func TestGrowingGridMeasuresNewRows(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name", "Note"), 0)
	g.SetSize(40, 4)
	g.SetRows(NewList([]*Row{
		row("1", "a", "b"),
		row("2", "a", "b"),
		row("3", "a", "b"),
		row("4", "a long one that is seen", "b"),
	}))
	_ = g.View()
	if !g.Columns.AllVisible() {
		t.Error("AllVisible is false although all columns fit")
	}
	g.SetSize(40, 10)
	if view := g.View(); !strings.Contains(view, "a long one that is seen") {
		t.Errorf("the row is cut:\n%s", view)
	}
	g.SetSize(20, 10)
	if g.Columns.AllVisible() {
		t.Error("AllVisible is true with a truncated column")
	}
}

// TestFewerRowsAreMeasured checks that the widths fit the rows of a scrolled grid which become
// visible since there are fewer of them.
func TestFewerRowsAreMeasured(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("Name"), 0)
	g.SetSize(60, 11)
	g.SetRows(NewList(numberedRows(100, 1)))
	g.GoTo(29)
	const long = "a long one that is seen"
	var rows []*Row
	for i := range 5 {
		rows = append(rows, row(fmt.Sprint("found ", i), long))
	}
	g.SetRows(NewList(rows))
	if view := g.View(); !strings.Contains(view, long) {
		t.Errorf("the rows are cut:\n%s", view)
	}
}

// TestDrawnRowsAreLimited checks that scrolling keeps the drawn cells of few rows, among them those
// on the screen.
func TestDrawnRowsAreLimited(t *testing.T) {
	g := New(plainTheme, true)
	g.Columns.Set(columns("ID"), 1)
	g.SetSize(20, 12)
	g.SetRows(NewList(numberedRows(1000, 1)))
	isPruned := false
	for range 60 {
		before := len(g.Columns.cellCache)
		_ = g.View()
		isPruned = isPruned || len(g.Columns.cellCache) < before
		if limit := cachedScreens * g.body(); len(g.Columns.cellCache) > limit {
			t.Fatalf("the grid keeps %d drawn rows at row %d, want at most %d",
				len(g.Columns.cellCache), g.Index(), limit)
		}
		for i := range g.body() {
			shown := g.rows.Row(g.top + i)
			if _, ok := g.Columns.cellCache[shown]; !ok {
				t.Fatalf("the cells of %s are not kept although it is shown", shown.ID)
			}
		}
		g.Move(g.PageSize())
	}
	if !isPruned {
		t.Error("no drawn rows were removed in 60 screens")
	}
}

// A column with MinGridWidth can be reached by moving the selection in a narrower grid.
func TestMinGridWidthColumnIsReachable(t *testing.T) {
	g := New(&theme.Theme{Glyphs: theme.Glyphs{Ellipsis: "…", Less: "‹", More: "›"}}, false)
	g.Columns.Set([]Column{{Name: "A", Min: 4, Flex: true}, {Name: "B", Min: 10, MinGridWidth: 30}}, 0)
	g.SetRows(NewList([]*Row{row("1", strings.Repeat("a", 16), "b")}))
	for _, test := range []struct {
		width, column int
		want          string
	}{
		{20, 0, "cols 1-1 of 2 ›"},
		{20, 1, "‹ cols 2-2 of 2"},
		{30, 0, ""},
	} {
		g.SetSize(test.width, 6)
		g.Columns.GoTo(test.column)
		if got := g.PositionText(); got != test.want {
			t.Errorf("at %d cells in column %d: %s, want %s", test.width, test.column, got, test.want)
		}
	}
}

// hostileText generates text with characters that records can contain.
func hostileText() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,12}`),
		rapid.String(),
		rapid.SampledFrom([]string{
			// control sequences, and characters that are invisible or modify others
			"\x1b[2J", "\x1b]0;x\x07", "\x9b1m", "\u202e", "\u2066", "\u200b",
			"\u200d", "\ufe0f", "\ufe0e", "\u0301", "\u20e3", "\u00ad",
			// wide, joined and combined characters
			"世", "界", "ｱ", "가", "ᄀ", "ᅡ", "ᆨ", "क", "ा", "्", "ष", "\u0d4e",
			"👨", "👩", "\U0001f3fd", "\U0001f1e6", "\U0001f1fa", "❤", "⸺", "⸻",
			// line breaks, invalid text, and characters of unusual width
			"\n", "\r\n", "\r", "\t", "\x00", "\xff", "\xc3", "\u0600", "\U000110bd",
			"\u115f", "\u3164", "\u3000", "﷽", "e\u0301", "\ue000", "\U000e0041",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
	})
}
