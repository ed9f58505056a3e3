package browse

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Rows are the rows that a browser has loaded, with their records.
type Rows struct {
	Pages      *grid.Pages
	Records    map[*grid.Row]CachedRecord
	session    *ui.Session
	selection  *selection
	grid       *grid.Grid
	counted    bool   // the number of matching rows is known
	unfiltered int64  // number of rows without the filters if none matches; 0 if it is not known
	asOf       string // time of day of the last fetch
}

// CachedRecord is the record of a row.
type CachedRecord struct {
	Row client.Row
	cut bool // values are truncated
}

// newRows returns the rows of a selection, and shows them in a grid.
func newRows(session *ui.Session, s *selection, g *grid.Grid) *Rows {
	r := &Rows{
		Pages:     grid.NewPages(),
		Records:   make(map[*grid.Row]CachedRecord),
		session:   session,
		selection: s,
		grid:      g,
	}
	g.SetRows(r.Pages)
	g.Empty = r.emptyText
	return r
}

// emptyText returns why there are no rows, "" before they are counted.
func (r *Rows) emptyText() string {
	if !r.counted {
		return ""
	}
	if len(r.selection.filters) == 0 {
		return "No rows."
	}
	key := keymap.KeyFor(keymap.InBrowser, keymap.ClearFilters)
	conditions := r.selection.filterTexts()
	remedy := key + " clears the filter"
	if len(conditions) > 1 {
		remedy += "s"
	}
	return ui.NoMatch("row", conditions, remedy, r.unfiltered)
}

// SetFields sets the displayed fields. The first one is frozen, except in lists with
// the newest rows first.
func (r *Rows) SetFields(fields []string) {
	r.selection.Fields = fields
	frozen := 0
	if len(fields) > 1 && !r.selection.options.NewestFirst {
		frozen = 1
	}
	r.grid.Columns.Set(r.columns(), frozen)
}

// columns returns the columns of the displayed fields.
func (r *Rows) columns() []grid.Column {
	kind := r.selection.Kind
	columns := fieldColumns(kind, r.selection.Fields, r.selection.options.Columns)
	for i := range columns {
		c := &columns[i]
		if kind.Field(c.Name).Type != record.DateTime || !hasServiceTimes(kind) {
			continue
		}
		c.Title = "Time"
		c.Right = false
		if r.session.Times == ui.Relative {
			c.Title = "Age"
			c.Right = true
		}
	}
	return columns
}

// reset removes all rows, since the query has changed.
func (r *Rows) reset() {
	r.Pages.Reset()
	clear(r.Records)
	r.counted = false
	r.unfiltered = 0
}

// put stores a page of rows and reports whether it was still wanted.
func (r *Rows) put(generation, number int, page FetchedRows) bool {
	rows := r.build(page.Rows)
	if !r.Pages.Put(generation, number, rows) {
		return false
	}
	for i, row := range rows {
		r.Records[row] = CachedRecord{Row: page.Rows[i], cut: page.cut[i]}
	}
	r.prune()
	r.asOf = r.session.TimeOfDay(r.session.Now)
	r.grid.Sync()
	return true
}

// setTotal sets the number of rows that the service has counted.
func (r *Rows) setTotal(generation, total int) {
	r.counted = true
	// The log of requests contains the count itself: if all of its rows are loaded, their number
	// is right and the count is not.
	loaded := r.Pages.Total()
	allLoaded := loaded >= 0 && loaded < grid.PageRows
	if !r.selection.options.NewestFirst || !allLoaded {
		r.Pages.SetTotal(generation, total)
	}
	r.grid.Sync()
}

// build converts records to grid rows.
func (r *Rows) build(records []client.Row) []*grid.Row {
	rows := gridRows(r.selection.Kind, r.selection.Fields, records, r.cell)
	if r.selection.options.Paint != nil {
		r.selection.options.Paint(r.selection.Fields, rows)
	}
	return rows
}

// cell converts a value to a grid cell.
func (r *Rows) cell(t record.Type, v client.Value) grid.Cell {
	if t == record.DateTime && hasServiceTimes(r.selection.Kind) && !v.Null() {
		return grid.Cell{Text: r.session.ServerTimeText(v.String())}
	}
	return cellOf(t, v)
}

// redraw builds the columns and all loaded rows again.
func (r *Rows) redraw() {
	for _, row := range r.Pages.Loaded() {
		r.refresh(row)
	}
	r.grid.Columns.Set(r.columns(), r.grid.Columns.Frozen())
	r.grid.Sync()
}

// redrawAges builds the visible rows again if they contain relative times.
func (r *Rows) redrawAges() {
	if r.session.Times != ui.Relative || !hasServiceTimes(r.selection.Kind) || !r.selection.showsTimes() {
		return
	}
	first, last := r.grid.Window()
	for i := first; i <= last; i++ {
		r.refresh(r.Pages.Row(i))
	}
	r.grid.Sync()
}

// refresh replaces a loaded row if its cells have changed.
func (r *Rows) refresh(row *grid.Row) {
	cached, ok := r.Records[row]
	if !ok {
		return
	}
	i := r.Pages.Find(row.ID)
	if i < 0 || r.Pages.Row(i) != row {
		return
	}
	fresh := r.build([]client.Row{cached.Row})[0]
	if !slices.Equal(fresh.Cells, row.Cells) {
		r.Pages.Replace(i, fresh)
		delete(r.Records, row)
		r.Records[fresh] = cached
	}
}

// maxRecords is the number of records from which those without a row are removed.
const maxRecords = 40 * grid.PageRows

// prune removes records of rows that are no longer loaded.
func (r *Rows) prune() {
	if len(r.Records) <= maxRecords {
		return
	}
	for row := range r.Records {
		i := r.Pages.Find(row.ID)
		if i < 0 || r.Pages.Row(i) != row {
			delete(r.Records, row)
		}
	}
}

// Current returns the selected row and its record; the row is nil while it is loading.
func (r *Rows) Current() (*grid.Row, CachedRecord) {
	row := r.grid.Row()
	return row, r.Records[row]
}

// Place returns the index of the selected row and the number of rows.
func (r *Rows) Place() (index, total int) { return r.grid.Index(), r.grid.Len() }

// isEmptyField reports whether a field is empty in all loaded rows.
func (r *Rows) isEmptyField(name string) bool {
	for _, cached := range r.Records {
		if cached.Row.Text(name) != "" {
			return false
		}
	}
	return slices.Contains(r.selection.Fields, name)
}

// status describes the selected row, and the marked rows if there are any.
func (r *Rows) status() string {
	text := r.grid.PositionText()
	if marked := r.grid.Marks.Len(); marked > 0 {
		return ui.Parts(fmt.Sprintf("%d marked", marked)+r.sum(), text)
	}
	if r.asOf != "" {
		text = ui.Parts(text, "as of "+r.asOf)
	}
	return text
}

// sum returns the exact sum, minimum and maximum of the selected column in the marked
// rows.
func (r *Rows) sum() string {
	column, ok := r.grid.Columns.Selected()
	if !ok || !r.selection.isNumber(column.Name) {
		return ""
	}
	numbers, digits := r.markedNumbers(column.Name)
	if len(numbers) == 0 {
		return ", no values of " + column.Name
	}
	total := new(big.Rat)
	low, high := numbers[0], numbers[0]
	for _, n := range numbers {
		total.Add(total, n)
		if n.Cmp(low) < 0 {
			low = n
		}
		if n.Cmp(high) > 0 {
			high = n
		}
	}
	format := func(n *big.Rat) string { return display.Grouped(n.FloatString(digits)) }
	return ", " + column.Name + " sum " + format(total) + "  min " + format(low) + "  max " + format(high)
}

// markedNumbers returns the values of a column in the marked rows that are not null, and the
// maximum number of their fractional digits.
func (r *Rows) markedNumbers(name string) (numbers []*big.Rat, digits int) {
	for _, row := range r.grid.MarkedRows() {
		text := r.Records[row].Row.Text(name)
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			continue // null
		}
		numbers = append(numbers, n)
		_, fraction, _ := strings.Cut(text, ".")
		digits = max(digits, len(fraction))
	}
	return numbers, digits
}

// copied returns the marked rows as tab-separated text, or the selected row as JSON.
func (r *Rows) copied() string {
	rows := r.grid.MarkedRows()
	selected, cached := r.Current()
	if len(rows) == 0 && selected != nil {
		return string(cached.Row.JSON())
	}
	var lines []string
	for _, row := range rows {
		values := r.Records[row].Row
		var cells []string
		for _, name := range r.selection.Fields {
			cells = append(cells, strings.Map(ReplaceTabs, values.Text(name)))
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	return strings.Join(lines, "\n")
}

// exportable returns the rows that can be exported.
func (r *Rows) exportable() Exportable {
	kind := r.selection.Kind
	e := Exportable{
		Name:   r.selection.options.Name,
		Query:  r.selection.query(),
		Key:    kind.KeyName(),
		Total:  r.Pages.Total(),
		Marked: r.grid.Marks.IDs(),
		Loaded: r.Pages.LoadedIDs(),
		Rows:   r.complete,
	}
	for _, name := range r.selection.Fields {
		e.Columns = append(e.Columns, export.Column{Name: name, Type: kind.Field(name).Type})
	}
	return e
}

// complete returns the loaded records with these keys in the order of the list, false if a
// record is missing or truncated.
func (r *Rows) complete(keys map[string]struct{}) ([]client.Row, bool) {
	var records []client.Row
	for _, row := range r.Pages.Loaded() {
		if _, selected := keys[row.ID]; !selected {
			continue
		}
		cached, ok := r.Records[row]
		if !ok || cached.cut {
			return nil, false
		}
		records = append(records, cached.Row)
	}
	return records, len(records) == len(keys)
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
		page := FetchedRows{cut: make(map[int]bool)}
		q.Skip = int64(number * grid.PageRows)
		q.Take = new(int64(grid.PageRows))
		stream, err := c.Rows(ctx, q)
		if err != nil {
			return page, err
		}
		for row, err := range stream.All() {
			if err != nil {
				return FetchedRows{}, err
			}
			short, cut := shortRow(row)
			page.cut[len(page.Rows)] = cut
			page.Rows = append(page.Rows, short)
		}
		return page, nil
	}
}

// maxCellBytes is the maximum number of bytes of a value in a list.
const maxCellBytes = 1 << 10

// OutputFlags returns the whctl flags that write all matching rows to a file.
func OutputFlags(name string) string {
	return " --all --format " + export.Formats[0].Name + " --output " + ui.Quote(name+export.Formats[0].Suffix)
}

// rowKey returns the key of a row as in its changes, see record.Kind.Key. For a kind without a
// key, it is the value of the selected column.
func rowKey(kind *record.Kind, row client.Row, column string) string {
	switch names := kind.Key; len(names) {
	case 0:
		return row.Text(column)
	case 1:
		return row.Text(names[0])
	default:
		values := record.Texts(names, func(name string) string { return string(row.Value(name)) })
		return "[" + strings.Join(values, ",") + "]"
	}
}

// ReplaceTabs replaces tabs and line breaks by spaces, for strings.Map.
func ReplaceTabs(r rune) rune {
	if r == '\t' || r == '\n' || r == '\r' {
		return ' '
	}
	return r
}

// WhereFlags returns conditions as --where flags.
func WhereFlags(texts []string) string {
	var text strings.Builder
	for _, condition := range texts {
		fmt.Fprintf(&text, " --where %s", ui.Quote(condition))
	}
	return text.String()
}
