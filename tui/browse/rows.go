package browse

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

// SetFields shows other fields. The first one stays in place, but of those
// that are not known by any field.
func (b *Browser) SetFields(fields []string) {
	b.Fields = fields
	frozen := 0
	if len(fields) > 1 && !b.options.Newest {
		frozen = 1
	}
	b.Grid.SetColumns(b.columns(), frozen)
}

// columns are those of the fields that are shown.
func (b *Browser) columns() []grid.Column {
	columns := fieldColumns(b.Kind, b.Fields, b.options.Columns)
	for i := range columns {
		if at, _ := b.Kind.Column(columns[i].Name); b.Kind.Fields[at].Type == record.DateTime && zoned(b.Kind) {
			columns[i].Title, columns[i].Right = "Time", false
			if b.Times == ui.ByAge {
				columns[i].Title, columns[i].Right = "Age", true
			}
		}
	}
	return columns
}

// made makes the rows of records.
func (b *Browser) made(records []client.Row) []*grid.Row {
	rows := gridRows(b.Kind, b.Fields, records, b.cell)
	if b.options.Paint != nil {
		b.options.Paint(b, rows)
	}
	return rows
}

// cell is a value as this list shows it.
func (b *Browser) cell(t record.Type, v client.Value) grid.Cell {
	if t == record.DateTime && zoned(b.Kind) && !v.Null() {
		return grid.Cell{Text: b.InstantText(v.String())}
	}
	return cellOf(t, v)
}

// dated reports whether times are shown.
func (b *Browser) dated() bool {
	return slices.ContainsFunc(b.Fields, func(name string) bool {
		at, _ := b.Kind.Column(name)
		return b.Kind.Fields[at].Type == record.DateTime
	})
}

// Retime shows the times of the service in another way.
func (b *Browser) Retime() string {
	if !zoned(b.Kind) {
		return zoneless(b.dated())
	}
	for _, row := range b.Pages.Here() {
		b.remake(row)
	}
	b.Grid.SetColumns(b.columns(), b.Grid.Frozen())
	b.Grid.Sync()
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
func (b *Browser) Tick() tea.Cmd {
	if b.Times != ui.ByAge || !zoned(b.Kind) || !b.dated() {
		return nil
	}
	first, last := b.Grid.Window()
	for i := first; i <= last; i++ {
		b.remake(b.Pages.Row(i))
	}
	b.Grid.Sync()
	return nil
}

// remake puts a new row in place of one that is here, if it looks different.
func (b *Browser) remake(row *grid.Row) {
	held, known := b.Records[row]
	i := -1
	if known {
		i = b.Pages.Find(row.ID)
	}
	if i < 0 || b.Pages.Row(i) != row {
		return
	}
	if fresh := b.made([]client.Row{held.Row})[0]; !slices.Equal(fresh.Cells, row.Cells) {
		b.Pages.Replace(i, fresh)
		delete(b.Records, row)
		b.Records[fresh] = held
	}
}

// forget drops records whose rows are not kept any more.
func (b *Browser) forget() {
	if len(b.Records) <= 2*grid.PageRows*20 {
		return
	}
	for row := range b.Records {
		if i := b.Pages.Find(row.ID); i < 0 || b.Pages.Row(i) != row {
			delete(b.Records, row)
		}
	}
}

// FetchedRows are rows of a query.
type FetchedRows struct {
	Rows []client.Row
	cut  map[int]bool // rows some of whose values were too long to keep
}

// fetchRows fetches a page of a query. Long values are cut, so that memory does not
// grow with them; detail fetches the record again.
func fetchRows(q client.Query, number int) func(context.Context, *client.Client) (FetchedRows, error) {
	return func(ctx context.Context, c *client.Client) (FetchedRows, error) {
		got := FetchedRows{cut: make(map[int]bool)}
		q.Skip, q.Take = int64(number*grid.PageRows), new(int64(grid.PageRows))
		stream, err := c.Rows(ctx, q)
		if err != nil {
			return got, err
		}
		for row, err := range stream.All() {
			if err != nil {
				return FetchedRows{}, err
			}
			short, cut := shortRow(row)
			got.cut[len(got.Rows)] = cut
			got.Rows = append(got.Rows, short)
		}
		return got, nil
	}
}

// cellKept is how many bytes of a value a list keeps.
const cellKept = 1 << 10
