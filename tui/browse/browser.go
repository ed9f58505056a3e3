package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Browser shows the rows of a record kind.
type Browser struct {
	Table
	Selection *selection
	Rows      *Rows
	head      []theme.Span // above the list

	statistics statistics // of columns, below the list
}

// Options customizes a Browser for kinds other than business records.
type Options struct {
	Name          string                 // name of the list; defaults to the name of the kind
	DefaultFields []string               // initial fields; nil for all readable fields
	Columns       map[string]grid.Column // replaces the default columns, by field name
	Scopes        []keymap.Scope         // in addition to those of Browser
	Command       string                 // whctl command that lists the rows; empty for whctl query
	Problem       client.Filter          // filter that selects failed rows
	Temporary     bool                   // the arrangement is neither restored nor stored

	// NewestFirst lists the newest rows first, and follows new rows while the first one is
	// selected.
	NewestFirst bool
	// Paint sets the styles of cells; nil for none.
	Paint func(fields []string, rows []*grid.Row)
	// Members are additional members of queries, and Note describes their effect next to the
	// filters; both nil for none.
	Members map[string]json.RawMessage
	Note    func() string
	// Head returns a line above the list about its first page of rows; nil for no line.
	Head func(rows []client.Row) []theme.Span

	groups *grouping    // nil for rows
	rows   *record.Kind // the kind of the rows that are grouped; nil for rows
}

// New returns a Browser of a kind in its last arrangement. filters replace the stored
// ones unless nil.
func New(h ui.Host, kind *record.Kind, filters []client.Filter, o Options) *Browser {
	o.Name = cmp.Or(o.Name, kind.Name)
	if o.DefaultFields == nil {
		o.DefaultFields = DefaultFields(kind)
	}
	b := &Browser{Table: NewTable(h, false), Selection: &selection{Kind: kind, options: o}}
	b.statistics = statistics{session: b.Session, selection: b.Selection, grid: b.Grid}
	b.Rows = newRows(b.Session, b.Selection, b.Grid)
	b.Rows.SetFields(o.DefaultFields)
	if o.groups == nil && !o.NewestFirst { // a request for a logged request would be logged too
		b.Preview.ShowRight(b, 35)
	}

	stored, ok := b.Session.State.Grids[kind.Name]
	if ok && !o.Temporary {
		b.Arrange(stored)
	}
	if filters != nil {
		b.Selection.filters = filters
		b.goToFilter()
	}
	return b
}

// SelectedScreen returns the screen of the selected row.
func (b *Browser) SelectedScreen() ui.Screen { return NewRecord(b) }

// Arrange applies a stored arrangement. Fields that no longer exist are skipped.
func (b *Browser) Arrange(stored state.Arrangement) {
	kind := b.Selection.Kind
	fields := slices.DeleteFunc(slices.Clone(stored.Fields), func(name string) bool {
		_, ok := kind.Column(name)
		return !ok
	})
	if len(fields) > 0 {
		b.Rows.SetFields(fields)
		b.Grid.Columns.Freeze(stored.Frozen)
	}
	b.Grid.Columns.SetWidths(stored.Widths)

	b.Selection.order = ParseOrder(stored.OrderBy)
	if _, ok := kind.Column(b.Selection.order.Column); !ok {
		b.Selection.order = ParseOrder("")
	}
	b.Selection.filters, b.Selection.Typed = RestoreFilters(b.HostSession, kind, stored.Where)
}

// Arrangement returns the current arrangement.
func (b *Browser) Arrangement() state.Arrangement { return b.Selection.arrangement(&b.Grid.Columns) }

// Remember stores the arrangement for the kind. Views are only stored by :save.
func (b *Browser) Remember() {
	if b.Selection.viewName == "" && !b.Selection.options.Temporary {
		b.Session.State.SetGrid(b.Selection.Kind.Name, b.Arrangement())
	}
}

// AsView returns the view to store. Groups cannot be saved.
func (b *Browser) AsView() (state.View, error) {
	if b.Selection.options.groups != nil {
		return state.View{}, ui.ErrNoView
	}
	return state.View{Record: b.Selection.Kind.Name, Arrangement: b.Arrangement()}, nil
}

// SetViewName marks the browser as showing a view.
func (b *Browser) SetViewName(name string) { b.Selection.viewName = name }

// Title returns the name of the list, with that of the view.
func (b *Browser) Title() string { return b.Selection.title() }

// Badges returns the filters.
func (b *Browser) Badges() []string {
	badges := b.Selection.filterTexts()
	if b.Selection.options.Note != nil {
		badges = append(badges, b.Selection.options.Note())
	}
	return badges
}

// Start fetches the first rows, and notes that the kind was opened.
func (b *Browser) Start() tea.Cmd {
	if !b.Selection.options.NewestFirst {
		b.Session.State.SetOpened(b.Selection.Kind.Name, b.Session.Now)
	}
	return b.reload()
}

// Shown fetches the rows that are visible.
func (b *Browser) Shown() tea.Cmd { return b.fetchVisible() }

// Waiting reports whether rows are being fetched.
func (b *Browser) Waiting() bool { return b.Rows.Pages.Loading() }

// Scopes returns the scopes of the keys. Rows with times of the service have a key for the
// time mode instead of the one that groups them.
func (b *Browser) Scopes() []keymap.Scope {
	scopes := append(slices.Clone(b.Selection.options.Scopes), keymap.InBrowser)
	if !hasServiceTimes(b.Selection.Kind) {
		scopes = append(scopes, keymap.InGroupable)
	}
	return append(scopes, keymap.InGrids, keymap.InLists)
}

// reload starts a new query and cancels requests in progress.
func (b *Browser) reload() tea.Cmd {
	b.Reset()
	b.statistics.stop()
	b.Rows.reset()
	b.Grid.Columns.SetSort(b.Selection.order)
	b.Grid.Follow(b.Selection.followsNewest())
	b.Grid.GoTo(0)
	if g := b.Selection.options.groups; g != nil {
		g.total = 0
		g.largest = 0
	}
	return tea.Batch(b.fetchVisible(), b.count())
}

// Poll fetches the rows again. The old ones remain until the response arrives.
func (b *Browser) Poll() tea.Cmd {
	b.Reset()
	b.Rows.Pages.MarkStale()
	return tea.Batch(b.fetchVisible(), b.count())
}

// Follow refreshes the request log when requests were logged, while its newest rows are
// visible.
func (b *Browser) Follow(_ []wire.MessageChange, requests int) tea.Cmd {
	if requests == 0 || !b.Grid.Following() {
		return nil
	}
	if b.Host.Front() != ui.Screen(b) {
		b.Host.MarkStale(b)
		return nil
	}
	if b.Rows.Pages.Loading() {
		return nil
	}
	return b.Poll()
}

// fetchVisible fetches the pages near the visible rows.
func (b *Browser) fetchVisible() tea.Cmd {
	first, last := b.Grid.Window()
	generation := b.Rows.Pages.Generation()
	var cmds []tea.Cmd
	for _, number := range b.Rows.Pages.Request(first, last) {
		fetch := fetchRows(b.Selection.query(), number)
		cmds = append(cmds, ui.Fetch(b.Ctx, b, fetch, func(page FetchedRows, err error) tea.Cmd {
			return b.Put(generation, number, page, err)
		}))
	}
	return tea.Batch(cmds...)
}

// count fetches the number of matching rows, and that of the rows that are grouped.
func (b *Browser) count() tea.Cmd {
	var countRows tea.Cmd
	if g := b.Selection.options.groups; g != nil {
		countRows = g.countRows(b)
	}
	generation := b.Rows.Pages.Generation()
	q := b.Selection.query()
	fetch := func(ctx context.Context, c *client.Client) (int64, error) { return c.Count(ctx, q) }
	countMatches := ui.Fetch(b.Ctx, b, fetch, func(total int64, err error) tea.Cmd {
		if err != nil {
			b.Host.ShowFetchError("counting "+b.Selection.options.Name, err)
			return nil
		}
		b.Rows.setTotal(generation, int(total))
		if total == 0 && len(q.Where) > 0 {
			return b.countWithout(generation, q)
		}
		return nil
	})
	return tea.Batch(countMatches, countRows)
}

// countWithout fetches the number of rows without the filters of a query that no row matches.
func (b *Browser) countWithout(generation int, q client.Query) tea.Cmd {
	q.Where = nil
	q.GroupBy = ""
	fetch := func(ctx context.Context, c *client.Client) (rowCount, error) {
		n, err := c.Count(ctx, q)
		return rowCount(n), err
	}
	return ui.Fetch(b.Ctx, b, fetch, func(n rowCount, err error) tea.Cmd {
		if err == nil && generation == b.Rows.Pages.Generation() {
			b.Rows.unfiltered = int64(n)
		}
		return nil // the text is complete without the number
	})
}

// SetSize sets the size of the screen, which the list with its head, its foot and its preview fill.
func (b *Browser) SetSize(width, height int) {
	b.Table.SetSize(width, height)
	b.statistics.lines = b.statistics.neededLines(height)
	if n := b.headLines() + b.statistics.lines; n > 0 {
		b.Grid.SetSize(b.Grid.Width(), height-n)
	}
}

// headLines returns the number of lines above the list.
func (b *Browser) headLines() int {
	const minHeight = 10
	if b.Selection.options.Head == nil || b.Height < minHeight {
		return 0
	}
	return 1
}

// View draws the list with its head and its foot.
func (b *Browser) View() string { return strings.Join(b.Panels()[0].Lines, "\n") }

// Panels returns the list with its head and its foot, and its preview.
func (b *Browser) Panels() []theme.Panel {
	panels := b.Table.Panels()
	list := &panels[0]
	if b.headLines() > 0 {
		head := append([]theme.Span{{Text: "   "}}, b.head...)
		line := b.Session.Theme.Compose(list.Width, head, nil)
		list.Lines = append([]string{line}, list.Lines...)
		list.Height++
	}
	for _, line := range b.statistics.foot() {
		list.Lines = append(list.Lines, b.Session.Theme.Compose(list.Width, line, nil))
		list.Height++
	}
	return panels
}

// Put stores a page of rows.
func (b *Browser) Put(generation, number int, page FetchedRows, err error) tea.Cmd {
	if err != nil {
		if b.Rows.Pages.RequestFailed(generation, number) {
			b.Host.ShowFetchError("fetching "+b.Selection.options.Name, err)
		}
		return nil
	}
	grows := false
	if g := b.Selection.options.groups; g != nil && generation == b.Rows.Pages.Generation() {
		grows = g.measure(page.Rows)
	}
	if !b.Rows.put(generation, number, page) {
		return nil
	}
	if grows {
		b.Rows.redraw()
	}
	if number == 0 && b.Selection.options.Head != nil {
		b.head = b.Selection.options.Head(page.Rows)
	}
	b.Preview.Refresh()
	return b.fetchVisible()
}

// Do moves the selection, or changes the shown rows of the kind.
func (b *Browser) Do(k keymap.Binding) tea.Cmd {
	if b.Move(k) {
		b.statistics.leaveColumn()
		switch k.Action {
		case keymap.GoTop:
			b.Grid.Follow(b.Selection.followsNewest())
		case keymap.Narrower, keymap.Wider, keymap.FreezeColumns:
			b.Remember()
		}
		return b.fetchVisible()
	}

	column, hasColumn := b.Grid.Columns.Selected()
	switch k.Action {
	case keymap.Open:
		if b.Selection.options.groups != nil {
			return openGroup(b)
		}
		if b.Grid.Row() != nil {
			return b.Host.Push(NewRecord(b))
		}
	case keymap.GroupRows:
		return group(column.Name, b)
	case keymap.SortColumn:
		return b.sort()
	case keymap.FilterColumn:
		if hasColumn {
			b.Host.ShowInput(b.filterLine(strings.TrimSpace(b.Selection.filterText() + "  " + column.Name)))
		}
	case keymap.FilterByValue:
		return b.filterByValue(column.Name, b.setFilters)
	case keymap.ClearFilters:
		return b.setFilters(nil)
	case keymap.ProblemsOnly:
		return b.setFilters(b.Selection.toggledProblems())
	case keymap.ChooseColumns:
		b.chooseColumns()
	case keymap.Export:
		b.Host.ShowOverlay(NewExportForm(b.Host, b.Rows.exportable()))
	case keymap.ShowWhy:
		return b.openWhy()
	case keymap.ShowInfo:
		return b.showStatistics()
	case keymap.ShowChanges:
		return b.Host.Open(ui.ChangesTarget{Kind: b.Selection.Kind})
	case keymap.CopyCell:
		row, cached := b.Rows.Current()
		if hasColumn && row != nil {
			b.Host.Copy(cached.Row.Text(column.Name))
		}
	case keymap.CopyRow:
		b.Host.Copy(b.Rows.copied())
	}
	return nil
}

// openWhy opens the history of the key of the selected row. In a kind without a key, that is the value
// of the selected column.
func (b *Browser) openWhy() tea.Cmd {
	column, hasColumn := b.Grid.Columns.Selected()
	row, cached := b.Rows.Current()
	if !hasColumn || row == nil {
		return nil
	}
	if b.Selection.options.groups != nil {
		b.Host.Notify(ui.Warning, "groups have no history; open the rows of a group")
		return nil
	}
	key := rowKey(b.Selection.Kind, cached.Row, column.Name)
	if key == "" {
		b.Host.Notify(ui.Warning, "no key: "+column.Name+" is empty; select a column with the key of an event")
		return nil
	}
	return b.Host.Open(ui.WhyTarget{Key: key})
}

// chooseColumns opens the chooser of the displayed fields.
func (b *Browser) chooseColumns() {
	s := b.Selection
	apply := func(fields []string) tea.Cmd {
		b.Rows.SetFields(fields)
		b.Remember()
		return b.reload()
	}
	b.Host.ShowOverlay(NewChooser(b.Host, ChooserOptions{
		Kind:     s.Kind,
		Name:     s.options.Name,
		Fields:   s.Fields,
		Defaults: s.options.DefaultFields,
		IsEmpty:  b.Rows.isEmptyField,
		Accept:   apply,
	}))
}

// sort cycles the sort order of the selected column.
func (b *Browser) sort() tea.Cmd {
	column, ok := b.Grid.Columns.Selected()
	if !ok {
		return nil
	}
	b.Selection.order = b.Selection.order.Next(column.Name)
	b.Remember()
	return b.reload()
}

// filterByValue shows the rows that have the value of a field in the selected row.
func (b *Browser) filterByValue(name string, show func([]client.Filter) tea.Cmd) tea.Cmd {
	row, cached := b.Rows.Current()
	if row == nil {
		return nil
	}
	g := b.Selection.options.groups
	isSum := g != nil && name != g.field
	if isSum || !b.Selection.rowKind().Field(name).Filter.Allows(record.Equal) {
		b.Host.Notify(ui.Warning, name+" cannot be filtered")
		return nil
	}
	value := cached.Row.Value(name)
	if len(value) > maxCellBytes {
		b.Host.Notify(ui.Warning, "the value is too long for a filter")
		return nil
	}
	return show(narrow(b.Selection.filters, g.conditions(name, value)))
}

// setFilters replaces the filters and removes all marks.
func (b *Browser) setFilters(filters []client.Filter) tea.Cmd {
	b.Selection.filters = filters
	b.Grid.Marks.Clear()
	b.Remember()
	return b.reload()
}

// Step selects the row n rows further, and fetches the rows that are visible then.
func (b *Browser) Step(n int) tea.Cmd {
	b.Grid.Move(n)
	return b.fetchVisible()
}

// Status returns the position, and the sum of the marked values of a numeric column.
func (b *Browser) Status() string { return b.Rows.status() }

// Click selects a cell; a double click opens its row, a click on a title sorts by that column, and
// one on the foot computes the statistics of the selected column.
func (b *Browser) Click(x, y int, double bool) tea.Cmd {
	isFoot := y >= b.Height-b.statistics.lines && x < b.Grid.Width()
	if isFoot {
		return b.showStatistics()
	}
	row, title := b.Grid.SelectAt(x, y-b.headLines())
	b.statistics.leaveColumn()
	if title {
		return b.sort()
	}
	if row && double {
		return b.Do(keymap.Binding{Action: keymap.Open})
	}
	return b.fetchVisible()
}

// Retime draws the times of the service in another time mode.
func (b *Browser) Retime() string {
	b.Rows.redraw()
	return ""
}

// Tick updates relative times.
func (b *Browser) Tick() tea.Cmd {
	b.Rows.redrawAges()
	return nil
}

// Equivalent returns the command for the same rows.
func (b *Browser) Equivalent() string { return b.Selection.command(b.Session.URL) }

// Commands returns the command that writes the rows to a file.
func (b *Browser) Commands() []string {
	return []string{b.Equivalent() + OutputFlags(b.Selection.options.Name)}
}

// Find returns the filter input.
func (b *Browser) Find() *ui.InputLine { return b.filterLine(b.Selection.filterText()) }

func (b *Browser) filterLine(text string) *ui.InputLine {
	apply := func(filters []client.Filter, typed TypedConditions) tea.Cmd {
		b.Selection.filters = filters
		b.Selection.Typed = typed
		b.goToFilter()
		return b.setFilters(filters)
	}
	l := NewFilterLine(b.Host, b.Selection.rowKind(), b.Selection.Kind.Name, text, apply)
	l.Help = keymap.KeyFor(keymap.InLine, keymap.Submit) + " applies the filter   " +
		keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes   " +
		keymap.KeyFor(keymap.InLine, keymap.GoBack) + " cancels"
	return l
}

// goToFilter moves the cursor to the column of the last filter, to sort or group by it.
func (b *Browser) goToFilter() {
	filters := b.Selection.filters
	if len(filters) == 0 {
		return
	}
	i := slices.Index(b.Selection.Fields, filters[len(filters)-1].Field)
	if i >= 0 {
		b.Grid.Columns.GoTo(i)
	}
}
