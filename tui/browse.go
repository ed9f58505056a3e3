package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// browser shows the rows of a record kind.
type browser struct {
	table
	kind    *record.Kind
	name    string
	fields  []string // shown, in their order; the first of the kind is always fetched
	filters []client.Filter
	order   grid.Sort
	pages   *grid.Pages
	records map[*grid.Row]heldRecord
	as      string // the time of what is shown
	counted bool
	typed   typedConditions // the filters as they were typed
	saved   string          // whose name this has been opened by or saved under
	wrap    bool            // long values of one record stand on several lines
	options browserOptions
}

// browserOptions say what is different where the rows are not any records.
type browserOptions struct {
	name    string                 // of the list; empty for the kind's
	usual   []string               // fields that are shown at first; nil for all that can be read
	columns map[string]grid.Column // of fields whose names are longer than what they hold
	scopes  []keymap.Scope         // before those of all browsers
	command string                 // of whctl, which lists the rows; empty for that of records
	newest  bool                   // the newest come first, and are followed while they are in sight
	paint   func(b *browser, rows []*grid.Row)
	problem client.Filter // of the rows that are problems
}

// heldRecord is the record behind a row.
type heldRecord struct {
	row client.Row
	cut bool // some of its values
}

// newBrowser opens a kind as it was left, with these filters where there are
// any.
func newBrowser(h ui.Host, kind *record.Kind, filters []client.Filter, o browserOptions) *browser {
	b := &browser{table: newTable(h, false), kind: kind, name: cmp.Or(o.name, kind.Name), options: o, pages: grid.NewPages(), records: make(map[*grid.Row]heldRecord)}
	b.setFields(b.usual())
	b.grid.SetRows(b.pages)
	if as, was := b.State.Grids[kind.Name]; was {
		b.arrange(as)
	}
	if filters != nil {
		b.filters = filters
	}
	return b
}

// usual are the fields that are shown at first.
func (b *browser) usual() []string {
	if b.options.usual != nil {
		return b.options.usual
	}
	return usualFields(b.kind)
}

func (b *browser) Start() tea.Cmd {
	if !b.options.newest {
		b.State.SetOpened(b.kind.Name, b.Now)
	}
	return b.reload()
}

func (b *browser) Shown() tea.Cmd { return b.want() }
func (b *browser) Waiting() bool  { return b.pages.Loading() }

func (b *browser) Scopes() []keymap.Scope {
	return slices.Concat(b.options.scopes, []keymap.Scope{keymap.InBrowser, keymap.InGrids, keymap.InLists})
}

// follows reports whether the newest rows come first.
func (b *browser) follows() bool { return b.options.newest && b.order.Column == "" }

func (b *browser) Badges() []string {
	var chips []string
	for _, f := range b.filters {
		chips = append(chips, filter.Text(f))
	}
	return chips
}

// query is what is asked for. Nothing but what is shown is fetched, and the
// field that tells rows apart.
func (b *browser) query() client.Query {
	q := client.Query{Kind: b.kind, Where: b.filters, Fields: b.fields, Strict: true}
	if first := b.kind.Fields[0].Name; !slices.Contains(q.Fields, first) {
		q.Fields = append([]string{first}, q.Fields...)
	}
	if b.order.Column != "" {
		q.OrderBy = []string{b.order.Column}
		if b.order.Descending {
			q.OrderBy[0] = "-" + b.order.Column
		}
	}
	return q
}

// reload asks for something else: what is on its way is given up.
func (b *browser) reload() tea.Cmd {
	b.Reset()
	b.pages.Reset()
	clear(b.records)
	b.counted = false
	b.grid.SetSort(b.order)
	b.grid.Follow(b.follows())
	b.grid.To(0)
	return tea.Batch(b.want(), b.count())
}

// Poll asks for the same again; what is here stays until the answer comes.
func (b *browser) Poll() tea.Cmd {
	b.Reset()
	b.pages.Renew()
	return tea.Batch(b.want(), b.count())
}

// Follow fetches the request log again when requests were answered, as long as
// its newest are in sight.
func (b *browser) Follow(_ []wire.MessageChange, requests int) tea.Cmd {
	switch {
	case requests == 0 || !b.grid.Following():
	case b.Front() != ui.Screen(b):
		b.Outdate(b)
	case !b.pages.Loading():
		return b.Poll()
	}
	return nil
}

// want fetches the pages near what is seen.
func (b *browser) want() tea.Cmd {
	first, last := b.grid.Window()
	var cmds []tea.Cmd
	for _, number := range b.pages.Wanted(first, last) {
		generation := b.pages.Generation()
		cmds = append(cmds, ui.Fetch(b.Ctx, b, fetchRows(b.query(), number), func(got fetchedRows, err error) tea.Cmd { return b.put(generation, number, got, err) }))
	}
	return tea.Batch(cmds...)
}

// count counts the rows that match.
func (b *browser) count() tea.Cmd {
	generation, q := b.pages.Generation(), b.query()
	return ui.Fetch(b.Ctx, b, func(ctx context.Context, c *client.Client) (int64, error) { return c.Count(ctx, q) }, func(total int64, err error) tea.Cmd {
		if err != nil {
			b.FetchFailed("counting "+b.name, err)
			return nil
		}
		b.counted = true
		if short := b.pages.Total(); !b.options.newest || short < 0 || short >= grid.PageRows { // else all came, and counting made one more
			b.pages.SetTotal(generation, int(total))
		}
		b.grid.Sync()
		return nil
	})
}

// put takes a page of rows.
func (b *browser) put(generation, number int, got fetchedRows, err error) tea.Cmd {
	if err != nil {
		if b.pages.Failed(generation, number) {
			b.FetchFailed("fetching "+b.name, err)
		}
		return nil
	}
	rows := b.made(got.rows)
	if !b.pages.Put(generation, number, rows) {
		return nil
	}
	for i, row := range rows {
		b.records[row] = heldRecord{got.rows[i], got.cut[i]}
	}
	b.forget()
	b.as = b.TimeOfDay(b.Now)
	b.grid.Sync()
	return b.want()
}

func (b *browser) Do(k keymap.Binding) tea.Cmd {
	if b.move(k) {
		switch k.Action {
		case keymap.GoTop:
			b.grid.Follow(b.follows())
		case keymap.Narrower, keymap.Wider, keymap.FreezeHere:
			b.remember()
		}
		return b.want()
	}
	switch k.Action {
	case keymap.Open:
		if b.grid.Row() != nil {
			return b.Push(newRecord(b))
		}
	case keymap.SortColumn:
		return b.sort()
	case keymap.FilterColumn:
		if c, ok := b.grid.Column(); ok {
			b.Type(b.filterLine(strings.TrimSpace(b.filterText() + "  " + c.Name)))
		}
	case keymap.KeepValue:
		return b.keep()
	case keymap.ClearFilters:
		return b.limit(nil)
	case keymap.ProblemsOnly:
		return b.problems()
	case keymap.ChooseColumns:
		b.Show(newChooser(b.Host, b.kind, b.name, b.fields, b.usual(), b.empty, func(fields []string) tea.Cmd {
			b.setFields(fields)
			b.remember()
			return b.reload()
		}))
	case keymap.Export:
		b.Show(newExportForm(b.Host, b.exportable()))
	case keymap.CopyCell:
		b.copyCell()
	case keymap.CopyRow:
		b.copyRows()
	}
	return nil
}

// empty reports whether a field has no value in the rows that are here.
func (b *browser) empty(name string) bool {
	for _, held := range b.records {
		if held.row.Text(name) != "" {
			return false
		}
	}
	return slices.Contains(b.fields, name)
}

// sort goes from up to down to none on the selected column.
func (b *browser) sort() tea.Cmd {
	c, ok := b.grid.Column()
	if !ok {
		return nil
	}
	b.order = b.order.Next(c.Name)
	b.remember()
	return b.reload()
}

// keep keeps the rows with the selected value.
func (b *browser) keep() tea.Cmd {
	c, ok := b.grid.Column()
	row := b.grid.Row()
	if !ok || row == nil {
		return nil
	}
	at, _ := b.kind.Column(c.Name)
	value := b.records[row].row.Value(c.Name)
	switch {
	case !b.kind.Fields[at].Filter.Takes(record.Equal):
		b.Tell(ui.Warning, c.Name+" cannot be filtered")
		return nil
	case value.Null():
		b.Tell(ui.Warning, "no filter finds rows without a value")
		return nil
	}
	one := client.Filter{Field: c.Name, Operator: record.Equal, Values: []string{value.String()}}
	return b.limit(append(slices.DeleteFunc(slices.Clone(b.filters), func(f client.Filter) bool { return f.Member() == one.Member() }), one))
}

// problems keeps the rows that are problems, or all of them.
func (b *browser) problems() tea.Cmd {
	only := b.options.problem
	others := slices.DeleteFunc(slices.Clone(b.filters), func(f client.Filter) bool { return f.Member() == only.Member() })
	if len(others) == len(b.filters) {
		others = append(others, only)
	}
	return b.limit(others)
}

// limit asks for other rows. Marks do not outlive that.
func (b *browser) limit(filters []client.Filter) tea.Cmd {
	b.filters = filters
	b.grid.Unmark()
	b.remember()
	return b.reload()
}

// Status tells the place, and the sum of the marked values of a column of
// numbers.
func (b *browser) Status() string {
	text := b.grid.Place()
	if b.grid.Len() == 0 && b.counted {
		text = "no rows match"
	}
	if n := b.grid.Marks(); n > 0 {
		return text + fmt.Sprintf("   %d marked", n) + b.sum()
	}
	if b.as != "" {
		text += "   as of " + b.as
	}
	return text
}

// Click of a title sorts by it.
func (b *browser) Click(x, y int, again bool) tea.Cmd {
	row, title := b.press(x, y)
	switch {
	case title:
		return b.sort()
	case row && again:
		return b.Do(keymap.Binding{Action: keymap.Open})
	}
	return b.want()
}

// exportable is what can be exported of the rows of a kind.
func (b *browser) exportable() exportable {
	q := b.query()
	e := exportable{name: b.name, query: q, key: b.kind.Fields[0].Name, total: b.pages.Total(), marked: b.grid.MarkedIDs(), rows: b.whole}
	for _, name := range b.fields {
		at, _ := b.kind.Column(name)
		e.columns = append(e.columns, export.Column{Name: name, Type: b.kind.Fields[at].Type})
	}
	for _, row := range b.pages.Here() {
		e.loaded = append(e.loaded, row.ID)
	}
	return e
}

// whole are the records of some keys, in the order of the list; false where one
// of them is not here, or not all of it.
func (b *browser) whole(keys map[string]struct{}) ([]client.Row, bool) {
	var rows []client.Row
	for _, row := range b.pages.Here() {
		if _, meant := keys[row.ID]; !meant {
			continue
		}
		held, known := b.records[row]
		if !known || held.cut {
			return nil, false
		}
		rows = append(rows, held.row)
	}
	return rows, len(rows) == len(keys)
}
