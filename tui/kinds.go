package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// kinds lists the record kinds, grouped by area, with how many records each has.
type kinds struct {
	table
	all    []*record.Kind
	totals map[string]string
	search string
}

func newKinds(a *app) screen {
	k := &kinds{table: newTable(a, true), totals: make(map[string]string)}
	k.all = slices.Clone(a.options.Registry.Kinds())
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

func (k *kinds) setSize(width, height int) {
	k.table.setSize(width, height)
	k.setColumns()
	k.fill()
}

// setColumns makes room for the names of areas, where there is enough.
func (k *kinds) setColumns() {
	area := 10
	for _, kind := range k.all {
		if k.width >= areaRoom {
			area = max(area, len(kind.Area))
		}
	}
	k.grid.SetColumns([]grid.Column{{Name: "Area", Min: area, Flex: true}, {Name: "Record", Min: 26}, {Name: "Rows", Right: true, Min: 6}, {Name: "Fields", Right: true},
		{Name: "Opened", Right: true}, {Name: "Summary", Min: 6, Max: 100, Flex: true}}, 0)
}

// shown tells anew when kinds were opened.
func (k *kinds) shown() tea.Cmd {
	k.fill()
	return nil
}

// opened is how long ago the rows of a kind were opened.
func (k *kinds) opened(kind *record.Kind) string {
	at := k.app.keeper.Opened[kind.Name]
	if at.IsZero() {
		return "-"
	}
	return ui.Age(k.app.now.Sub(at))
}

func (k *kinds) tick() tea.Cmd { return k.shown() }

func (k *kinds) start() tea.Cmd {
	var cmds []tea.Cmd
	for _, kind := range k.all {
		cmds = append(cmds, fetchTotal(k.context, k.app.client, k, 0, client.Query{Kind: kind}))
	}
	return tea.Sequence(cmds...) // one after the other: nobody waits for them
}

func (k *kinds) title() string          { return "Records" }
func (k *kinds) scopes() []keymap.Scope { return []keymap.Scope{keymap.InKinds, keymap.InLists} }
func (k *kinds) twin() string           { return "whctl records" }

func (k *kinds) chips() []string {
	if k.search == "" {
		return nil
	}
	return []string{k.search}
}

func (k *kinds) update(m tea.Msg) tea.Cmd {
	if m, ok := m.(totalMsg); ok {
		k.totals[m.name] = theme.Thousands(m.total)
		if m.err != nil {
			k.totals[m.name] = "?"
		}
		k.fill()
	}
	return nil
}

// fill makes the rows. The area stands only where it begins.
func (k *kinds) fill() {
	var rows []*grid.Row
	area := ""
	for _, kind := range k.all {
		if !strings.Contains(strings.ToLower(kind.Name+" "+kind.Area+" "+kind.Summary), strings.ToLower(k.search)) {
			continue
		}
		total, known := k.totals[kind.Name]
		if !known {
			total = strings.Repeat(k.app.theme.Loading, 3)
		}
		shown := kind.Area
		if shown == area {
			shown = ""
		}
		area = kind.Area
		rows = append(rows, &grid.Row{ID: kind.Name, Cells: []grid.Cell{
			{Text: shown, Ink: k.app.theme.Dim}, {Text: kind.Name}, {Text: total}, {Text: fmt.Sprint(len(kind.Fields))},
			{Text: k.opened(kind), Ink: k.app.theme.Dim}, {Text: kind.Summary, Ink: k.app.theme.Dim},
		}})
	}
	k.grid.SetRows(grid.NewList(rows))
}

func (k *kinds) do(b keymap.Binding) tea.Cmd {
	row := k.grid.Row()
	switch {
	case k.move(b):
	case b.Action == keymap.AskFilter:
		k.app.line = k.find()
	case row == nil:
	case b.Action == keymap.Open:
		i := slices.IndexFunc(k.all, func(kind *record.Kind) bool { return kind.Name == row.ID })
		return k.app.push(newBrowser(k.app, k.all[i], nil))
	case b.Action == keymap.CopyCell:
		k.app.clip(row.ID)
	}
	return nil
}

// find narrows the list while it is typed.
func (k *kinds) find() *line {
	l := newLine(k.app, "kinds", "/", k.search)
	l.help = "part of a name, an area or a summary; " + keymap.KeyFor(keymap.InLine, keymap.Submit) + " keeps it"
	l.check = func(text string) error {
		k.search = text
		k.fill()
		return nil
	}
	l.accept = func(string) tea.Cmd { return nil }
	return l
}
