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

// How records become rows, also again where times are shown in another way.

// SetFields shows other fields. The first one stays in place, but of those
// that are not known by any field.
func (b *Browser) SetFields(fields []string) {
	b.Fields = fields
	frozen := 0
	if len(fields) > 1 && !b.options.NewestFirst {
		frozen = 1
	}
	b.Grid.SetColumns(b.columns(), frozen)
}

// columns are those of the fields that are shown.
func (b *Browser) columns() []grid.Column {
	columns := fieldColumns(b.Kind, b.Fields, b.options.Columns)
	for i := range columns {
		if at, _ := b.Kind.Column(columns[i].Name); b.Kind.Fields[at].Type == record.DateTime && hasServiceTimes(b.Kind) {
			columns[i].Title, columns[i].Right = "Time", false
			if b.Times == ui.Relative {
				columns[i].Title, columns[i].Right = "Age", true
			}
		}
	}
	return columns
}

// buildRows makes the rows of records.
func (b *Browser) buildRows(records []client.Row) []*grid.Row {
	rows := gridRows(b.Kind, b.Fields, records, b.cell)
	if b.options.Paint != nil {
		b.options.Paint(b, rows)
	}
	return rows
}

// cell is a value as this list shows it.
func (b *Browser) cell(t record.Type, v client.Value) grid.Cell {
	if t == record.DateTime && hasServiceTimes(b.Kind) && !v.Null() {
		return grid.Cell{Text: b.ServerTimeText(v.String())}
	}
	return cellOf(t, v)
}

// Retime shows the times of the service in another way.
func (b *Browser) Retime() string {
	if !hasServiceTimes(b.Kind) {
		return zonelessNote(b.showsTimes())
	}
	for _, row := range b.Pages.Loaded() {
		b.refreshRow(row)
	}
	b.Grid.SetColumns(b.columns(), b.Grid.Frozen())
	b.Grid.Sync()
	return ""
}

// zonelessNote says that the times of the business stay as they are, where some are
// in sight.
func zonelessNote(dated bool) string {
	if dated {
		return "those of records have no zone and stay"
	}
	return ""
}

// Tick lets ages go on.
func (b *Browser) Tick() tea.Cmd {
	if b.Times != ui.Relative || !hasServiceTimes(b.Kind) || !b.showsTimes() {
		return nil
	}
	first, last := b.Grid.Window()
	for i := first; i <= last; i++ {
		b.refreshRow(b.Pages.Row(i))
	}
	b.Grid.Sync()
	return nil
}

// refreshRow puts a new row in place of one that is here, if it looks different.
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

// pruneRecords drops records whose rows are not kept any more.
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

// maxCellBytes is how many bytes of a value a list keeps.
const maxCellBytes = 1 << 10

// OutputFlags writes all rows that match to a file.
func OutputFlags(name string) string {
	return " --all --format " + export.Formats[0].Name + " --output " + ui.Quote(name+export.Formats[0].Suffix)
}

func (b *Browser) copyCell() {
	c, ok := b.Grid.Column()
	if row := b.Grid.Row(); ok && row != nil {
		b.Copy(b.Records[row].Row.Text(c.Name))
	}
}

// copyRows copies marked rows with tabs between cells, else the row as JSON.
func (b *Browser) copyRows() {
	rows := b.Grid.MarkedRows()
	if row := b.Grid.Row(); len(rows) == 0 && row != nil {
		b.Copy(string(b.Records[row].Row.JSON()))
		return
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, name := range b.Fields {
			cells = append(cells, strings.Map(ReplaceTabs, b.Records[row].Row.Text(name)))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	b.Copy(strings.Join(lines, "\n"))
}

// ReplaceTabs keeps cells within their line and column.
func ReplaceTabs(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// sum adds the selected column of the marked rows, exactly, and finds the
// smallest and the largest.
func (b *Browser) sum() string {
	c, ok := b.Grid.Column()
	if !ok || !b.isNumber(c.Name) {
		return ""
	}
	var total, low, high *big.Rat
	digits := 0
	for _, row := range b.Grid.MarkedRows() {
		text := b.Records[row].Row.Text(c.Name)
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			continue // such as none
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
		return ", none has " + c.Name
	}
	shown := func(n *big.Rat) string { return display.Grouped(n.FloatString(digits)) }
	return ", " + c.Name + " sum " + shown(total) + "  min " + shown(low) + "  max " + shown(high)
}

// WhereFlags are conditions as arguments of a command.
func WhereFlags(texts []string) string {
	var text strings.Builder
	for _, one := range texts {
		fmt.Fprintf(&text, " --where %s", ui.Quote(one))
	}
	return text.String()
}
