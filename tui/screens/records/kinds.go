// Package records is the screens of business records: the kinds that there are,
// and custom fields of bills. Their rows are shown by package browse.
package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Kinds lists the record kinds, grouped by area, with how many records each has.
type Kinds struct {
	browse.SearchTable
	all    []*record.Kind
	totals map[string]string
}

// NewKinds lists the record kinds.
func NewKinds(h ui.Host) *Kinds {
	k := &Kinds{SearchTable: browse.NewSearchTable(h, "kinds", "part of a name, an area or a summary"), totals: make(map[string]string)}
	k.Refill = k.fill
	k.all = slices.Clone(k.Registry.Kinds())
	slices.SortStableFunc(k.all, func(x, y *record.Kind) int { return strings.Compare(x.Area, y.Area) })
	if audit, ok := record.System().Lookup("WH_Audit"); ok {
		k.all = append(k.all, audit)
	}
	k.setColumns()
	k.fill()
	return k
}

// areaRoom is from how many cells on there is room for the names of areas.
const areaRoom = 80

// SetSize implements ui.Screen.
func (k *Kinds) SetSize(width, height int) {
	k.Table.SetSize(width, height)
	k.setColumns()
	k.fill()
}

// setColumns makes room for the names of areas, where there is enough.
func (k *Kinds) setColumns() {
	area := 10
	for _, kind := range k.all {
		if k.Width >= areaRoom {
			area = max(area, len(kind.Area))
		}
	}
	k.Grid.SetColumns([]grid.Column{{Name: "Area", Min: area, Flex: true}, {Name: "Record", Min: 26}, {Name: "Rows", Right: true, Min: 6}, {Name: "Fields", Right: true},
		{Name: "Opened", Right: true}, {Name: "Summary", Min: 6, Max: 100, Flex: true}}, 0)
}

// Shown tells anew when kinds were opened.
func (k *Kinds) Shown() tea.Cmd {
	k.fill()
	return nil
}

// opened is how long ago the rows of a kind were opened.
func (k *Kinds) opened(kind *record.Kind) string {
	at := k.State.Opened[kind.Name]
	if at.IsZero() {
		return "-"
	}
	return ui.Age(k.Now.Sub(at))
}

// Tick implements ui.Ticker.
func (k *Kinds) Tick() tea.Cmd { return k.Shown() }

// Start implements ui.Screen.
func (k *Kinds) Start() tea.Cmd {
	var cmds []tea.Cmd
	for _, kind := range k.all {
		count := func(ctx context.Context, c *client.Client) (int64, error) {
			return c.Count(ctx, client.Query{Kind: kind})
		}
		cmds = append(cmds, ui.Fetch(k.Ctx, k, count, func(total int64, err error) tea.Cmd {
			k.totals[kind.Name] = display.Thousands(total)
			if err != nil {
				k.totals[kind.Name] = "?"
			}
			k.fill()
			return nil
		}))
	}
	return tea.Sequence(cmds...) // one after the other: nobody waits for them
}

// Title implements ui.Screen.
func (k *Kinds) Title() string { return "Records" }

// Scopes implements ui.Screen.
func (k *Kinds) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InKinds, keymap.InLists} }

// Equivalent implements ui.Screen.
func (k *Kinds) Equivalent() string { return "whctl records" }

// fill makes the rows. The area stands only where it begins.
func (k *Kinds) fill() {
	var rows []*grid.Row
	area := ""
	for _, kind := range k.all {
		if !k.Contains(kind.Name + " " + kind.Area + " " + kind.Summary) {
			continue
		}
		total, known := k.totals[kind.Name]
		if !known {
			total = strings.Repeat(k.Theme.Loading, 3)
		}
		shown := kind.Area
		if shown == area {
			shown = ""
		}
		area = kind.Area
		rows = append(rows, &grid.Row{ID: kind.Name, Cells: []grid.Cell{
			{Text: shown, Role: theme.Dim}, {Text: kind.Name}, {Text: total}, {Text: fmt.Sprint(len(kind.Fields))},
			{Text: k.opened(kind), Role: theme.Dim}, {Text: kind.Summary, Role: theme.Dim},
		}})
	}
	k.Grid.SetRows(grid.NewList(rows))
}

// Do implements ui.Screen.
func (k *Kinds) Do(b keymap.Binding) tea.Cmd {
	row := k.Grid.Row()
	switch {
	case k.Move(b):
	case b.Action == keymap.OpenFilter:
		k.ShowInput(k.Find())
	case row == nil:
	case b.Action == keymap.Open:
		i := slices.IndexFunc(k.all, func(kind *record.Kind) bool { return kind.Name == row.ID })
		return k.Push(browse.New(k.Host, k.all[i], nil, browse.Options{}))
	case b.Action == keymap.CopyCell:
		k.Copy(row.ID)
	}
	return nil
}

// Click implements ui.Clicker.
func (k *Kinds) Click(x, y int, again bool) tea.Cmd { return k.ClickRow(k, x, y, again) }
