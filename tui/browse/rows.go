package browse

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/ui"
)

// SetFields sets the displayed fields. The first one is frozen, except in lists with
// the newest rows first.
func (b *Browser) SetFields(fields []string) {
	b.Fields = fields
	frozen := 0
	if len(fields) > 1 && !b.options.NewestFirst {
		frozen = 1
	}
	b.Grid.Columns.Set(b.columns(), frozen)
}

// columns returns the columns of the displayed fields.
func (b *Browser) columns() []grid.Column {
	columns := fieldColumns(b.Kind, b.Fields, b.options.Columns)
	for i := range columns {
		if b.Kind.Field(columns[i].Name).Type == record.DateTime && hasServiceTimes(b.Kind) {
			columns[i].Title, columns[i].Right = "Time", false
			if b.Session.Times == ui.Relative {
				columns[i].Title, columns[i].Right = "Age", true
			}
		}
	}
	return columns
}

// buildRows converts records to grid rows.
func (b *Browser) buildRows(records []client.Row) []*grid.Row {
	rows := gridRows(b.Kind, b.Fields, records, b.cell)
	if b.options.Paint != nil {
		b.options.Paint(b.Fields, rows)
	}
	return rows
}

// cell converts a value to a grid cell.
func (b *Browser) cell(t record.Type, v client.Value) grid.Cell {
	if t == record.DateTime && hasServiceTimes(b.Kind) && !v.Null() {
		return grid.Cell{Text: b.Session.ServerTimeText(v.String())}
	}
	return cellOf(t, v)
}

// Retime implements ui.Timed, for times of the service.
func (b *Browser) Retime() string {
	for _, row := range b.Pages.Loaded() {
		b.refreshRow(row)
	}
	b.Grid.Columns.Set(b.columns(), b.Grid.Columns.Frozen())
	b.Grid.Sync()
	return ""
}

// Tick updates relative times.
func (b *Browser) Tick() tea.Cmd {
	if b.Session.Times != ui.Relative || !hasServiceTimes(b.Kind) || !b.showsTimes() {
		return nil
	}
	first, last := b.Grid.Window()
	for i := first; i <= last; i++ {
		b.refreshRow(b.Pages.Row(i))
	}
	b.Grid.Sync()
	return nil
}

// refreshRow replaces a loaded row if its cells have changed.
func (b *Browser) refreshRow(row *grid.Row) {
	cached, known := b.Records[row]
	i := -1
	if known {
		i = b.Pages.Find(row.ID)
	}
	if i < 0 || b.Pages.Row(i) != row {
		return
	}
	if fresh := b.buildRows([]client.Row{cached.Row})[0]; !slices.Equal(fresh.Cells, row.Cells) {
		b.Pages.Replace(i, fresh)
		delete(b.Records, row)
		b.Records[fresh] = cached
	}
}

// pruneRecords removes records of rows that are no longer loaded.
func (b *Browser) pruneRecords() {
	if len(b.Records) <= 2*grid.PageRows*20 {
		return
	}
	for row := range b.Records {
		if i := b.Pages.Find(row.ID); i < 0 || b.Pages.Row(i) != row {
			delete(b.Records, row)
		}
	}
}

// FetchedRows is a page of query results.
type FetchedRows struct {
	Rows []client.Row
	cut  map[int]bool // indexes of rows with truncated values
}

// fetchRows fetches a page of a query. Long values are truncated to bound memory use;
// the detail screen fetches the complete record.
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

// maxCellBytes is the maximum number of bytes of a value in a list.
const maxCellBytes = 1 << 10

// OutputFlags returns the whctl flags that write all matching rows to a file.
func OutputFlags(name string) string {
	return " --all --format " + export.Formats[0].Name + " --output " + ui.Quote(name+export.Formats[0].Suffix)
}

func (b *Browser) copyCell() {
	c, ok := b.Grid.Columns.Selected()
	if row := b.Grid.Row(); ok && row != nil {
		b.Host.Copy(b.Records[row].Row.Text(c.Name))
	}
}

// rowKey returns the key of a row as that of its changes, see record.Kind.Key. A kind without
// one has the value of the selected column.
func rowKey(kind *record.Kind, row client.Row, column string) string {
	switch names := kind.Key; len(names) {
	case 0:
		return row.Text(column)
	case 1:
		return row.Text(names[0])
	default:
		return "[" + strings.Join(record.Texts(names, func(name string) string { return string(row.Value(name)) }), ",") + "]"
	}
}

// copyRows copies the marked rows as tab-separated text, or the selected row as JSON.
func (b *Browser) copyRows() {
	rows := b.Grid.MarkedRows()
	if row := b.Grid.Row(); len(rows) == 0 && row != nil {
		b.Host.Copy(string(b.Records[row].Row.JSON()))
		return
	}
	var lines []string
	for _, row := range rows {
		cells := record.Texts(b.Fields, func(name string) string { return strings.Map(ReplaceTabs, b.Records[row].Row.Text(name)) })
		lines = append(lines, strings.Join(cells, "\t"))
	}
	b.Host.Copy(strings.Join(lines, "\n"))
}

// ReplaceTabs replaces tabs and line breaks by spaces, for strings.Map.
func ReplaceTabs(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// sum returns the exact sum, minimum and maximum of the selected column in the marked
// rows.
func (b *Browser) sum() string {
	c, ok := b.Grid.Columns.Selected()
	if !ok || !b.isNumber(c.Name) {
		return ""
	}
	var total, low, high *big.Rat
	digits := 0
	for _, row := range b.Grid.MarkedRows() {
		text := b.Records[row].Row.Text(c.Name)
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			continue // null
		}
		_, fraction, _ := strings.Cut(text, ".")
		digits = max(digits, len(fraction))
		if total == nil {
			total, low, high = new(big.Rat), n, n
		}
		total.Add(total, n)
		if n.Cmp(low) < 0 {
			low = n
		}
		if n.Cmp(high) > 0 {
			high = n
		}
	}
	if total == nil {
		return ", no values of " + c.Name
	}
	shown := func(n *big.Rat) string { return display.Grouped(n.FloatString(digits)) }
	return ", " + c.Name + " sum " + shown(total) + "  min " + shown(low) + "  max " + shown(high)
}

// WhereFlags returns conditions as --where flags.
func WhereFlags(texts []string) string {
	var text strings.Builder
	for _, one := range texts {
		fmt.Fprintf(&text, " --where %s", ui.Quote(one))
	}
	return text.String()
}
