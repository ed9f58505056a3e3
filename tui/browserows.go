package tui

import (
	"context"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/ui"
)

// How records become rows, also again where times are shown in another way.

// setFields shows other fields. The first one stays in place, but of those
// that are not known by any field.
func (b *browser) setFields(fields []string) {
	b.fields = fields
	frozen := 0
	if len(fields) > 1 && !b.options.newest {
		frozen = 1
	}
	b.grid.SetColumns(b.columns(), frozen)
}

// columns are those of the fields that are shown.
func (b *browser) columns() []grid.Column {
	columns := fieldColumns(b.kind, b.fields, b.options.columns)
	for i := range columns {
		if at, _ := b.kind.Column(columns[i].Name); b.kind.Fields[at].Type == record.DateTime && zoned(b.kind) {
			columns[i].Title, columns[i].Right = "Time", false
			if b.Times == ui.ByAge {
				columns[i].Title, columns[i].Right = "Age", true
			}
		}
	}
	return columns
}

// made makes the rows of records.
func (b *browser) made(records []client.Row) []*grid.Row {
	rows := gridRows(b.kind, b.fields, records, b.cell)
	if b.options.paint != nil {
		b.options.paint(b, rows)
	}
	return rows
}

// cell is a value as this list shows it.
func (b *browser) cell(t record.Type, v client.Value) grid.Cell {
	if t == record.DateTime && zoned(b.kind) && !v.Null() {
		return grid.Cell{Text: b.InstantText(v.String())}
	}
	return cellOf(t, v)
}

// dated reports whether times are shown.
func (b *browser) dated() bool {
	return slices.ContainsFunc(b.fields, func(name string) bool {
		at, _ := b.kind.Column(name)
		return b.kind.Fields[at].Type == record.DateTime
	})
}

// Retime shows the times of the service in another way.
func (b *browser) Retime() string {
	if !zoned(b.kind) {
		return zoneless(b.dated())
	}
	for _, row := range b.pages.Here() {
		b.remake(row)
	}
	b.grid.SetColumns(b.columns(), b.grid.Frozen())
	b.grid.Sync()
	return ""
}

// zoneless says that the times of the business stay as they are, where some are
// in sight.
func zoneless(dated bool) string {
	if dated {
		return "those of records have no zone and stay"
	}
	return ""
}

// Tick lets ages go on.
func (b *browser) Tick() tea.Cmd {
	if b.Times != ui.ByAge || !zoned(b.kind) || !b.dated() {
		return nil
	}
	first, last := b.grid.Window()
	for i := first; i <= last; i++ {
		b.remake(b.pages.Row(i))
	}
	b.grid.Sync()
	return nil
}

// remake puts a new row in place of one that is here, if it looks different.
func (b *browser) remake(row *grid.Row) {
	held, known := b.records[row]
	i := -1
	if known {
		i = b.pages.Find(row.ID)
	}
	if i < 0 || b.pages.Row(i) != row {
		return
	}
	if fresh := b.made([]client.Row{held.row})[0]; !slices.Equal(fresh.Cells, row.Cells) {
		b.pages.Replace(i, fresh)
		delete(b.records, row)
		b.records[fresh] = held
	}
}

// forget drops records whose rows are not kept any more.
func (b *browser) forget() {
	if len(b.records) <= 2*grid.PageRows*20 {
		return
	}
	for row := range b.records {
		if i := b.pages.Find(row.ID); i < 0 || b.pages.Row(i) != row {
			delete(b.records, row)
		}
	}
}

// fetchedRows are rows of a query.
type fetchedRows struct {
	rows []client.Row
	cut  map[int]bool // rows some of whose values were too long to keep
}

// fetchRows fetches a page of a query. Long values are cut, so that memory does not
// grow with them; detail fetches the record again.
func fetchRows(q client.Query, number int) func(context.Context, *client.Client) (fetchedRows, error) {
	return func(ctx context.Context, c *client.Client) (fetchedRows, error) {
		got := fetchedRows{cut: make(map[int]bool)}
		q.Skip, q.Take = int64(number*grid.PageRows), new(int64(grid.PageRows))
		stream, err := c.Rows(ctx, q)
		if err != nil {
			return got, err
		}
		for row, err := range stream.All() {
			if err != nil {
				return fetchedRows{}, err
			}
			short, cut := shortRow(row)
			got.cut[len(got.rows)] = cut
			got.rows = append(got.rows, short)
		}
		return got, nil
	}
}

// cellKept is how many bytes of a value a list keeps.
const cellKept = 1 << 10
