package browse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// Browser shows the rows of a record kind.
type Browser struct {
	Table
	selection
	Pages   *grid.Pages
	Records map[*grid.Row]CachedRecord
	asOf    string // time of day of the last fetch
	counted bool
}

// Options customizes a Browser for kinds other than business records.
type Options struct {
	Name          string                 // name of the list; defaults to the name of the kind
	DefaultFields []string               // initial fields; nil for all readable fields
	Columns       map[string]grid.Column // replaces the default columns, by field name
	Scopes        []keymap.Scope         // in addition to those of Browser
	Command       string                 // whctl command that lists the rows; empty for whctl query
	NewestFirst   bool                   // newest rows first; new rows are followed while the first row is selected
	Paint         func(fields []string, rows []*grid.Row)
	Problem       client.Filter // filter that selects failed rows
	Temporary     bool          // the arrangement is neither restored nor stored
	groups        *grouping     // nil for rows
	rows          *record.Kind  // the kind of the rows that are grouped
}

// CachedRecord is the record of a row.
type CachedRecord struct {
	Row client.Row
	cut bool // values are truncated
}

// New returns a Browser of a kind in its last arrangement. filters replace the stored
// ones unless nil.
func New(h ui.Host, kind *record.Kind, filters []client.Filter, o Options) *Browser {
	o.Name = cmp.Or(o.Name, kind.Name)
	if o.DefaultFields == nil {
		o.DefaultFields = DefaultFields(kind)
	}
	b := &Browser{Table: NewTable(h, false), selection: selection{Kind: kind, options: o}, Pages: grid.NewPages(), Records: make(map[*grid.Row]CachedRecord)}
	b.SetFields(o.DefaultFields)
	b.Grid.SetRows(b.Pages)
	if o.groups == nil && !o.NewestFirst { // a request for a logged request would be logged too
		b.Preview.ShowRight(b, 35)
	}
	if as, was := b.Session.State.Grids[kind.Name]; was && !o.Temporary {
		b.Arrange(as)
	}
	if filters != nil {
		b.filters = filters
		goToFilter(b.Grid, b.Fields, filters)
	}
	return b
}

// SelectedScreen returns the screen of the selected row.
func (b *Browser) SelectedScreen() ui.Screen { return NewRecord(b) }

// Arrange applies a stored arrangement. Fields that no longer exist are skipped.
func (b *Browser) Arrange(as state.Arrangement) {
	fields := slices.DeleteFunc(slices.Clone(as.Fields), func(name string) bool {
		_, known := b.Kind.Column(name)
		return !known
	})
	if len(fields) > 0 {
		b.SetFields(fields)
		b.Grid.Columns.Freeze(as.Frozen)
	}
	b.Grid.Columns.SetWidths(as.Widths)
	b.order = ParseOrder(as.OrderBy)
	if _, known := b.Kind.Column(b.order.Column); !known {
		b.order = ParseOrder("")
	}
	b.filters, b.Typed = RestoreFilters(b.HostSession, b.Kind, as.Where)
}

// Arrangement returns the current arrangement.
func (b *Browser) Arrangement() state.Arrangement {
	return state.Arrangement{
		Fields: slices.Clone(b.Fields), Widths: maps.Clone(b.Grid.Columns.Widths()), Frozen: b.Grid.Columns.Frozen(),
		OrderBy: OrderText(b.order), Where: b.Typed.Texts(b.filters),
	}
}

// Remember stores the arrangement for the kind. Views are only stored by :save.
func (b *Browser) Remember() {
	if b.viewName == "" && !b.options.Temporary {
		b.Session.State.SetGrid(b.Kind.Name, b.Arrangement())
	}
}

// AsView implements ui.Viewer.
func (b *Browser) AsView() state.View {
	if b.options.groups != nil {
		return state.View{} // cannot be saved
	}
	return state.View{Record: b.Kind.Name, Arrangement: b.Arrangement()}
}

// Start implements ui.Screen.
func (b *Browser) Start() tea.Cmd {
	if !b.options.NewestFirst {
		b.Session.State.SetOpened(b.Kind.Name, b.Session.Now)
	}
	return b.reload()
}

// Shown implements ui.Screen.
func (b *Browser) Shown() tea.Cmd { return b.fetchVisible() }

// Waiting implements ui.Screen.
func (b *Browser) Waiting() bool { return b.Pages.Loading() }

// Scopes implements ui.Screen.
func (b *Browser) Scopes() []keymap.Scope {
	scopes := append(slices.Clone(b.options.Scopes), keymap.InBrowser)
	if !hasServiceTimes(b.Kind) {
		scopes = append(scopes, keymap.InGroupable)
	}
	return append(scopes, keymap.InGrids, keymap.InLists)
}

// reload starts a new query and cancels requests in progress.
func (b *Browser) reload() tea.Cmd {
	b.Reset()
	b.Pages.Reset()
	clear(b.Records)
	b.counted = false
	b.Grid.Columns.SetSort(b.order)
	b.Grid.Follow(b.followsNewest())
	b.Grid.GoTo(0)
	return tea.Batch(b.fetchVisible(), b.count())
}

// Poll implements ui.Poller. The rows remain until the response arrives.
func (b *Browser) Poll() tea.Cmd {
	b.Reset()
	b.Pages.MarkStale()
	return tea.Batch(b.fetchVisible(), b.count())
}

// Follow refreshes the request log when requests were logged, while its newest rows are
// visible.
func (b *Browser) Follow(_ []wire.MessageChange, requests int) tea.Cmd {
	switch {
	case requests == 0 || !b.Grid.Following():
	case b.Host.Front() != ui.Screen(b):
		b.Host.MarkStale(b)
	case !b.Pages.Loading():
		return b.Poll()
	}
	return nil
}

// fetchVisible fetches the pages near the visible rows.
func (b *Browser) fetchVisible() tea.Cmd {
	first, last := b.Grid.Window()
	var cmds []tea.Cmd
	for _, number := range b.Pages.Request(first, last) {
		generation := b.Pages.Generation()
		cmds = append(cmds, ui.Fetch(b.Ctx, b, fetchRows(b.query(), number), func(got FetchedRows, err error) tea.Cmd { return b.Put(generation, number, got, err) }))
	}
	return tea.Batch(cmds...)
}

// count fetches the number of matching rows.
func (b *Browser) count() tea.Cmd {
	generation, q := b.Pages.Generation(), b.query()
	return ui.Fetch(b.Ctx, b, func(ctx context.Context, c *client.Client) (int64, error) { return c.Count(ctx, q) }, func(total int64, err error) tea.Cmd {
		if err != nil {
			b.Host.ShowFetchError("counting "+b.options.Name, err)
			return nil
		}
		b.counted = true
		if short := b.Pages.Total(); !b.options.NewestFirst || short < 0 || short >= grid.PageRows { // all rows are loaded; the count includes the count request itself
			b.Pages.SetTotal(generation, int(total))
		}
		b.Grid.Sync()
		return nil
	})
}

// Put stores a page of rows.
func (b *Browser) Put(generation, number int, got FetchedRows, err error) tea.Cmd {
	if err != nil {
		if b.Pages.RequestFailed(generation, number) {
			b.Host.ShowFetchError("fetching "+b.options.Name, err)
		}
		return nil
	}
	rows := b.buildRows(got.Rows)
	if !b.Pages.Put(generation, number, rows) {
		return nil
	}
	for i, row := range rows {
		b.Records[row] = CachedRecord{got.Rows[i], got.cut[i]}
	}
	b.pruneRecords()
	b.Preview.Refresh()
	b.asOf = b.Session.TimeOfDay(b.Session.Now)
	b.Grid.Sync()
	return b.fetchVisible()
}

// Do implements ui.Screen.
func (b *Browser) Do(k keymap.Binding) tea.Cmd {
	if b.Move(k) {
		switch k.Action {
		case keymap.GoTop:
			b.Grid.Follow(b.followsNewest())
		case keymap.Narrower, keymap.Wider, keymap.FreezeColumns:
			b.Remember()
		}
		return b.fetchVisible()
	}
	switch k.Action {
	case keymap.Open:
		if g := b.options.groups; g != nil {
			return b.filterByValue(g.field, g.open)
		} else if b.Grid.Row() != nil {
			return b.Host.Push(NewRecord(b))
		}
	case keymap.GroupRows:
		c, _ := b.Grid.Columns.Selected()
		return group(c.Name, b)
	case keymap.SortColumn:
		return b.sort()
	case keymap.FilterColumn:
		if c, ok := b.Grid.Columns.Selected(); ok {
			b.Host.ShowInput(b.filterLine(strings.TrimSpace(b.filterText() + "  " + c.Name)))
		}
	case keymap.FilterByValue:
		c, _ := b.Grid.Columns.Selected()
		return b.filterByValue(c.Name, b.setFilters)
	case keymap.ClearFilters:
		return b.setFilters(nil)
	case keymap.ProblemsOnly:
		return b.toggleProblems()
	case keymap.ChooseColumns:
		b.Host.ShowOverlay(NewChooser(b.Host, b.Kind, b.options.Name, b.Fields, b.options.DefaultFields, b.isEmptyField, func(fields []string) tea.Cmd {
			b.SetFields(fields)
			b.Remember()
			return b.reload()
		}))
	case keymap.Export:
		b.Host.ShowOverlay(NewExportForm(b.Host, b.exportable()))
	case keymap.ShowWhy:
		if c, ok := b.Grid.Columns.Selected(); ok && b.Grid.Row() != nil {
			return b.Host.Open(ui.WhyTarget{Key: rowKey(b.Kind, b.Records[b.Grid.Row()].Row, c.Name)})
		}
	case keymap.ShowChanges:
		return b.Host.Open(ui.ChangesTarget{Kind: b.Kind})
	case keymap.CopyCell:
		b.copyCell()
	case keymap.CopyRow:
		b.copyRows()
	}
	return nil
}

// isEmptyField reports whether a field is empty in all loaded rows.
func (b *Browser) isEmptyField(name string) bool {
	for _, cached := range b.Records {
		if cached.Row.Text(name) != "" {
			return false
		}
	}
	return slices.Contains(b.Fields, name)
}

// sort cycles the sort order of the selected column.
func (b *Browser) sort() tea.Cmd {
	c, ok := b.Grid.Columns.Selected()
	if !ok {
		return nil
	}
	b.order = b.order.Next(c.Name)
	b.Remember()
	return b.reload()
}

// filterByValue shows the rows that have the value of a field in the selected row.
func (b *Browser) filterByValue(name string, show func([]client.Filter) tea.Cmd) tea.Cmd {
	g, row := b.options.groups, b.Grid.Row()
	if row == nil {
		return nil
	}
	value := b.Records[row].Row.Value(name)
	switch {
	case g != nil && name != g.field || !b.rowKind().Field(name).Filter.Allows(record.Equal):
		b.Host.Notify(ui.Warning, name+" cannot be filtered")
		return nil
	case len(value) > maxCellBytes:
		b.Host.Notify(ui.Warning, "the value is too long for a filter")
		return nil
	}
	return show(narrow(b.filters, g.conditions(name, value)))
}

// toggleProblems toggles the filter of failed rows.
func (b *Browser) toggleProblems() tea.Cmd {
	only := b.options.Problem
	others := slices.DeleteFunc(slices.Clone(b.filters), func(f client.Filter) bool { return f.Member() == only.Member() })
	if len(others) == len(b.filters) {
		others = append(others, only)
	}
	return b.setFilters(others)
}

// setFilters replaces the filters and removes all marks.
func (b *Browser) setFilters(filters []client.Filter) tea.Cmd {
	b.filters = filters
	b.Grid.Marks.Clear()
	b.Remember()
	return b.reload()
}

// Current returns the selected row and its record; the row is nil while it is loading.
func (b *Browser) Current() (*grid.Row, CachedRecord) {
	row := b.Grid.Row()
	return row, b.Records[row]
}

// Place returns the index of the selected row and the number of rows.
func (b *Browser) Place() (index, total int) { return b.Grid.Index(), b.Grid.Len() }

// Step selects the row n rows further, and fetches the rows that are visible then.
func (b *Browser) Step(n int) tea.Cmd {
	b.Grid.Move(n)
	return b.fetchVisible()
}

// Status returns the position, and the sum of the marked values of a numeric column.
func (b *Browser) Status() string {
	text := b.Grid.PositionText()
	if b.Grid.Len() == 0 && b.counted {
		text = "no rows match"
		if len(b.filters) > 0 {
			text += ": " + keymap.KeyFor(keymap.InBrowser, keymap.ClearFilters) + " clears filters"
		}
	}
	if n := b.Grid.Marks.Len(); n > 0 {
		return text + fmt.Sprintf("   %d marked", n) + b.sum()
	}
	if b.asOf != "" {
		text += "   as of " + b.asOf
	}
	return text
}

// Click implements ui.Clicker; a click on a title sorts by that column.
func (b *Browser) Click(x, y int, again bool) tea.Cmd {
	row, title := b.Grid.SelectAt(x, y)
	switch {
	case title:
		return b.sort()
	case row && again:
		return b.Do(keymap.Binding{Action: keymap.Open})
	}
	return b.fetchVisible()
}

// exportable returns the rows that can be exported.
func (b *Browser) exportable() Exportable {
	q := b.query()
	e := Exportable{Name: b.options.Name, Query: q, Key: b.Kind.KeyName(), Total: b.Pages.Total(), Marked: b.Grid.Marks.IDs(), Loaded: b.Pages.LoadedIDs(), Rows: b.completeRecords}
	for _, name := range b.Fields {
		e.Columns = append(e.Columns, export.Column{Name: name, Type: b.Kind.Field(name).Type})
	}
	return e
}

// completeRecords returns the loaded records with these keys in the order of the list,
// false if a record is missing or truncated.
func (b *Browser) completeRecords(keys map[string]struct{}) ([]client.Row, bool) {
	var rows []client.Row
	for _, row := range b.Pages.Loaded() {
		if _, selected := keys[row.ID]; !selected {
			continue
		}
		cached, known := b.Records[row]
		if !known || cached.cut {
			return nil, false
		}
		rows = append(rows, cached.Row)
	}
	return rows, len(rows) == len(keys)
}

// Equivalent implements ui.Screen.
func (b *Browser) Equivalent() string { return b.command(b.Session.URL) }

// Commands implements ui.Commander.
func (b *Browser) Commands() []string { return []string{b.Equivalent() + OutputFlags(b.options.Name)} }

// Find returns the filter input.
func (b *Browser) Find() *ui.InputLine { return b.filterLine(b.filterText()) }

func (b *Browser) filterLine(text string) *ui.InputLine {
	l := NewFilterLine(b.HostSession, b.rowKind(), b.Kind.Name, text, func(filters []client.Filter, typed TypedConditions) tea.Cmd {
		b.Typed = typed
		goToFilter(b.Grid, b.Fields, filters)
		return b.setFilters(filters)
	})
	l.Help = keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies the filter   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes   " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " cancels"
	return l
}

// goToFilter moves the cursor to the column of the last filter, to sort or group by it.
func goToFilter(g *grid.Grid, fields []string, filters []client.Filter) {
	if n := len(filters); n > 0 {
		if i := slices.Index(fields, filters[n-1].Field); i >= 0 {
			g.Columns.GoTo(i)
		}
	}
}
