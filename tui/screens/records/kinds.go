// Package records has the screens of record kinds and of custom fields of bills.
// Package browse shows the rows of a kind.
package records

import (
	"cmp"
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

// Kinds is the list of record kinds by area, with the number of records of those in view.
type Kinds struct {
	browse.SearchTable
	registry *record.Registry // registry of all kinds
	all      []*record.Kind
	shown    []*record.Kind // kinds that match the search, in the order of rows
	counts   *counts
}

// counts has the numbers of records. It is replaced when they are counted again, so that late
// responses do not count.
type counts struct {
	totals  map[string]string // by name of the kind; empty texts while they are counted
	pending bool              // a count is in flight
}

func newCounts() *counts { return &counts{totals: make(map[string]string)} }

// set stores the number of records of a kind.
func (c *counts) set(kind string, total int64, err error) {
	c.totals[kind] = display.Thousands(total)
	if err != nil {
		c.totals[kind] = "?"
	}
}

// NewKinds returns the list of record kinds.
func NewKinds(h ui.Host) *Kinds {
	k := &Kinds{
		SearchTable: browse.NewSearchTable(h, "kinds", "part of a name, area or summary"),
		counts:      newCounts(),
	}
	k.Refill = k.fill
	k.Grid.Empty = func() string { return k.NoMatch("record kind", len(k.all)) }
	k.read()
	k.setColumns()
	k.fill()
	return k
}

// read reads the kinds of the registry.
func (k *Kinds) read() {
	k.registry = k.Session.Registry
	k.all = slices.Clone(k.registry.Kinds())
	slices.SortStableFunc(k.all, func(x, y *record.Kind) int { return strings.Compare(x.Area, y.Area) })
	if audit, ok := record.System().Lookup("WH_Audit"); ok && k.Session.NeedsAdmin() == "" {
		k.all = append(k.all, audit)
	}
}

// areaMinWidth is the minimum width for full area names, in cells.
const areaMinWidth = 78

func (k *Kinds) SetSize(width, height int) {
	k.Table.SetSize(width, height)
	k.setColumns()
	k.fill()
}

// setColumns sets the columns, with full area names if the screen is wide enough.
func (k *Kinds) setColumns() {
	area := 10
	for _, kind := range k.all {
		if k.Width >= areaMinWidth {
			area = max(area, len(kind.Area))
		}
	}
	k.Grid.Columns.Set([]grid.Column{
		{Name: "Area", Min: area, Flex: true},
		{Name: "Record", Min: 26},
		{Name: "Rows", Right: true, Min: 6},
		{Name: "Fields", Right: true, MinGridWidth: 80},
		{Name: "Opened", Right: true},
		{Name: "Summary", Min: 6, Max: 100, Flex: true, MinGridWidth: 90},
	}, 0)
}

// Shown updates the time since kinds were opened, and the kinds if
// those of the service have been read since.
func (k *Kinds) Shown() tea.Cmd {
	if k.registry != k.Session.Registry {
		k.read()
		k.setColumns()
	}
	k.fill()
	return k.count()
}

// opened returns the time since the rows of a kind were opened.
func (k *Kinds) opened(kind *record.Kind) string {
	openedAt := k.Session.State.Opened[kind.Name]
	if openedAt.IsZero() {
		return "-"
	}
	return ui.Age(k.Session.Now.Sub(openedAt))
}

func (k *Kinds) Tick() tea.Cmd { return k.Shown() }

func (k *Kinds) Start() tea.Cmd {
	k.counts = newCounts()
	return k.count()
}

// count counts the records of the kinds in view, since a service can have hundreds of
// kinds. Kinds that come into view are counted next.
func (k *Kinds) count() tea.Cmd {
	if k.counts.pending || k.Session.Rejection != nil {
		return nil
	}
	first, last := k.Grid.Window()
	for i := first; i <= last; i++ {
		kind := k.shown[i]
		if _, isCounted := k.counts.totals[kind.Name]; !isCounted {
			k.counts.totals[kind.Name] = ""
			k.counts.pending = true
			return k.countKind(kind)
		}
	}
	return nil
}

// countKind counts the records of a kind, and then those of the next one.
func (k *Kinds) countKind(kind *record.Kind) tea.Cmd {
	counts := k.counts
	fetch := func(ctx context.Context, c *client.Client) (int64, error) {
		return c.Count(ctx, client.Query{Kind: kind})
	}
	return ui.Fetch(k.Ctx, k, fetch, func(total int64, err error) tea.Cmd {
		counts.set(kind.Name, total, err)
		counts.pending = false
		k.fill()
		if counts != k.counts {
			return nil
		}
		return k.count()
	})
}

func (k *Kinds) Title() string { return "Records" }

func (k *Kinds) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InKinds, keymap.InLists} }

func (k *Kinds) Equivalent() string { return "whctl records" }

// fill builds the rows. The area is shown in its first row only.
func (k *Kinds) fill() {
	var rows []*grid.Row
	area := ""
	k.shown = nil
	for _, kind := range k.all {
		if !k.Contains(kind.Name + " " + kind.Area + " " + kind.Summary) {
			continue
		}
		k.shown = append(k.shown, kind)
		total := cmp.Or(k.counts.totals[kind.Name], strings.Repeat(k.Session.Theme.Loading, 3))
		areaText := kind.Area
		if areaText == area {
			areaText = ""
		}
		area = kind.Area
		opened := k.opened(kind)
		rows = append(rows, &grid.Row{
			ID: kind.Name,
			Cells: []grid.Cell{
				{Text: areaText, Role: theme.Dim},
				{Text: kind.Name},
				{Text: total},
				{Text: fmt.Sprint(len(kind.Fields))},
				{Text: opened, Role: theme.Dim, Null: opened == "-"},
				{Text: kind.Summary, Role: theme.Dim},
			},
		})
	}
	k.Grid.SetRows(grid.NewList(rows))
}

func (k *Kinds) Do(b keymap.Binding) tea.Cmd {
	if k.Move(b) {
		return nil
	}
	kind, ok := browse.SelectedItem(&k.Table, k.all, func(kind *record.Kind) string { return kind.Name })
	if !ok {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		return k.Host.Push(browse.New(k.Host, kind, nil, browse.Options{}))
	case keymap.ShowChanges:
		return k.Host.Open(ui.ChangesTarget{Kind: kind})
	case keymap.CopyCell:
		k.Host.Copy(kind.Name)
	}
	return nil
}

func (k *Kinds) Click(x, y int, double bool) tea.Cmd { return browse.ClickRow(k, k.Grid, x, y, double) }
