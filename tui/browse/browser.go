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
	Records map[*grid.Row]Held
	as      string // the time of what is shown
	counted bool
	wrap    bool // long values of one record stand on several lines
}

// Options say what is different where the rows are not any records.
type Options struct {
	Name    string                 // of the list; empty for the kind's
	Usual   []string               // fields that are shown at first; nil for all that can be read
	Columns map[string]grid.Column // of fields whose names are longer than what they hold
	Scopes  []keymap.Scope         // before those of all browsers
	Command string                 // of whctl, which lists the rows; empty for that of records
	Newest  bool                   // the newest come first, and are followed while they are in sight
	Paint   func(b *Browser, rows []*grid.Row)
	Problem client.Filter // of the rows that are problems
}

// Held is the record behind a row.
type Held struct {
	Row client.Row
	cut bool // some of its values
}

// New opens a kind as it was left, with these filters where there are
// any.
func New(h ui.Host, kind *record.Kind, filters []client.Filter, o Options) *Browser {
	o.Name = cmp.Or(o.Name, kind.Name)
	b := &Browser{Table: NewTable(h, false), selection: selection{Kind: kind, options: o}, Pages: grid.NewPages(), Records: make(map[*grid.Row]Held)}
	b.SetFields(b.usual())
	b.Grid.SetRows(b.Pages)
	if as, was := b.State.Grids[kind.Name]; was {
		b.Arrange(as)
	}
	if filters != nil {
		b.filters = filters
	}
	return b
}

// How rows are shown is kept by kind and profile: a kind looks as it was left.

// Arrange shows the rows as they were kept. Fields that the kind does not have
// any more are left out.
func (b *Browser) Arrange(as state.Arrangement) {
	fields := slices.DeleteFunc(slices.Clone(as.Fields), func(name string) bool {
		_, known := b.Kind.Column(name)
		return !known
	})
	if len(fields) > 0 {
		b.SetFields(fields)
		b.Grid.Freeze(as.Frozen)
	}
	b.Grid.SetWidths(as.Widths)
	b.order = SortOf(as.OrderBy)
	if _, known := b.Kind.Column(b.order.Column); !known {
		b.order = SortOf("")
	}
	b.filters, b.Typed = RecallFilters(b.Dialog, b.Kind, as.Where)
}

// Arrangement is how the rows are shown now.
func (b *Browser) Arrangement() state.Arrangement {
	return state.Arrangement{
		Fields: slices.Clone(b.Fields), Widths: maps.Clone(b.Grid.Widths()), Frozen: b.Grid.Frozen(),
		OrderBy: OrderText(b.order), Where: b.Typed.Texts(b.Now, b.Kind, b.filters),
	}
}

// Remember keeps how the rows are shown now. A view is kept by :save alone.
func (b *Browser) Remember() {
	if b.saved == "" {
		b.State.SetGrid(b.Kind.Name, b.Arrangement())
	}
}

// AsView implements ui.Viewer.
func (b *Browser) AsView() state.View {
	return state.View{Record: b.Kind.Name, Arrangement: b.Arrangement()}
}

// Start implements ui.Screen.
func (b *Browser) Start() tea.Cmd {
	if !b.options.Newest {
		b.State.SetOpened(b.Kind.Name, b.Now)
	}
	return b.reload()
}

// Shown implements ui.Screen.
func (b *Browser) Shown() tea.Cmd { return b.want() }

// Waiting implements ui.Waiter.
func (b *Browser) Waiting() bool { return b.Pages.Loading() }

// Scopes implements ui.Screen.
func (b *Browser) Scopes() []keymap.Scope {
	return slices.Concat(b.options.Scopes, []keymap.Scope{keymap.InBrowser, keymap.InGrids, keymap.InLists})
}

// reload asks for something else: what is on its way is given up.
func (b *Browser) reload() tea.Cmd {
	b.Reset()
	b.Pages.Reset()
	clear(b.Records)
	b.counted = false
	b.Grid.SetSort(b.order)
	b.Grid.Follow(b.follows())
	b.Grid.To(0)
	return tea.Batch(b.want(), b.count())
}

// Poll asks for the same again; what is here stays until the answer comes.
func (b *Browser) Poll() tea.Cmd {
	b.Reset()
	b.Pages.Renew()
	return tea.Batch(b.want(), b.count())
}

// Follow fetches the request log again when requests were answered, as long as
// its newest are in sight.
func (b *Browser) Follow(_ []wire.MessageChange, requests int) tea.Cmd {
	switch {
	case requests == 0 || !b.Grid.Following():
	case b.Front() != ui.Screen(b):
		b.Outdate(b)
	case !b.Pages.Loading():
		return b.Poll()
	}
	return nil
}

// want fetches the pages near what is seen.
func (b *Browser) want() tea.Cmd {
	first, last := b.Grid.Window()
	var cmds []tea.Cmd
	for _, number := range b.Pages.Wanted(first, last) {
		generation := b.Pages.Generation()
		cmds = append(cmds, ui.Fetch(b.Ctx, b, fetchRows(b.query(), number), func(got FetchedRows, err error) tea.Cmd { return b.Put(generation, number, got, err) }))
	}
	return tea.Batch(cmds...)
}

// count counts the rows that match.
func (b *Browser) count() tea.Cmd {
	generation, q := b.Pages.Generation(), b.query()
	return ui.Fetch(b.Ctx, b, func(ctx context.Context, c *client.Client) (int64, error) { return c.Count(ctx, q) }, func(total int64, err error) tea.Cmd {
		if err != nil {
			b.FetchFailed("counting "+b.options.Name, err)
			return nil
		}
		b.counted = true
		if short := b.Pages.Total(); !b.options.Newest || short < 0 || short >= grid.PageRows { // else all came, and counting made one more
			b.Pages.SetTotal(generation, int(total))
		}
		b.Grid.Sync()
		return nil
	})
}

// Put takes a page of rows.
func (b *Browser) Put(generation, number int, got FetchedRows, err error) tea.Cmd {
	if err != nil {
		if b.Pages.Failed(generation, number) {
			b.FetchFailed("fetching "+b.options.Name, err)
		}
		return nil
	}
	rows := b.made(got.Rows)
	if !b.Pages.Put(generation, number, rows) {
		return nil
	}
	for i, row := range rows {
		b.Records[row] = Held{got.Rows[i], got.cut[i]}
	}
	b.forget()
	b.as = b.TimeOfDay(b.Now)
	b.Grid.Sync()
	return b.want()
}

// Do implements ui.Screen.
func (b *Browser) Do(k keymap.Binding) tea.Cmd {
	if b.Move(k) {
		switch k.Action {
		case keymap.GoTop:
			b.Grid.Follow(b.follows())
		case keymap.Narrower, keymap.Wider, keymap.FreezeHere:
			b.Remember()
		}
		return b.want()
	}
	switch k.Action {
	case keymap.Open:
		if b.Grid.Row() != nil {
			return b.Push(NewRecord(b))
		}
	case keymap.SortColumn:
		return b.sort()
	case keymap.FilterColumn:
		if c, ok := b.Grid.Column(); ok {
			b.Type(b.filterLine(strings.TrimSpace(b.filterText() + "  " + c.Name)))
		}
	case keymap.KeepValue:
		return b.keep()
	case keymap.ClearFilters:
		return b.limit(nil)
	case keymap.ProblemsOnly:
		return b.problems()
	case keymap.ChooseColumns:
		b.Show(NewChooser(b.Host, b.Kind, b.options.Name, b.Fields, b.usual(), b.empty, func(fields []string) tea.Cmd {
			b.SetFields(fields)
			b.Remember()
			return b.reload()
		}))
	case keymap.Export:
		b.Show(NewExportForm(b.Host, b.exportable()))
	case keymap.CopyCell:
		b.copyCell()
	case keymap.CopyRow:
		b.copyRows()
	}
	return nil
}

// empty reports whether a field has no value in the rows that are here.
func (b *Browser) empty(name string) bool {
	for _, held := range b.Records {
		if held.Row.Text(name) != "" {
			return false
		}
	}
	return slices.Contains(b.Fields, name)
}

// sort goes from up to down to none on the selected column.
func (b *Browser) sort() tea.Cmd {
	c, ok := b.Grid.Column()
	if !ok {
		return nil
	}
	b.order = b.order.Next(c.Name)
	b.Remember()
	return b.reload()
}

// keep keeps the rows with the selected value.
func (b *Browser) keep() tea.Cmd {
	c, ok := b.Grid.Column()
	row := b.Grid.Row()
	if !ok || row == nil {
		return nil
	}
	at, _ := b.Kind.Column(c.Name)
	value := b.Records[row].Row.Value(c.Name)
	switch {
	case !b.Kind.Fields[at].Filter.Takes(record.Equal):
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
func (b *Browser) problems() tea.Cmd {
	only := b.options.Problem
	others := slices.DeleteFunc(slices.Clone(b.filters), func(f client.Filter) bool { return f.Member() == only.Member() })
	if len(others) == len(b.filters) {
		others = append(others, only)
	}
	return b.limit(others)
}

// limit asks for other rows. Marks do not outlive that.
func (b *Browser) limit(filters []client.Filter) tea.Cmd {
	b.filters = filters
	b.Grid.Unmark()
	b.Remember()
	return b.reload()
}

// Status tells the place, and the sum of the marked values of a column of
// numbers.
func (b *Browser) Status() string {
	text := b.Grid.Place()
	if b.Grid.Len() == 0 && b.counted {
		text = "no rows match"
	}
	if n := b.Grid.Marks(); n > 0 {
		return text + fmt.Sprintf("   %d marked", n) + b.sum()
	}
	if b.as != "" {
		text += "   as of " + b.as
	}
	return text
}

// Click of a title sorts by it.
func (b *Browser) Click(x, y int, again bool) tea.Cmd {
	row, title := b.Press(x, y)
	switch {
	case title:
		return b.sort()
	case row && again:
		return b.Do(keymap.Binding{Action: keymap.Open})
	}
	return b.want()
}

// exportable is what can be exported of the rows of a kind.
func (b *Browser) exportable() Exportable {
	q := b.query()
	e := Exportable{Name: b.options.Name, Query: q, Key: b.Kind.Fields[0].Name, Total: b.Pages.Total(), Marked: b.Grid.MarkedIDs(), Rows: b.whole}
	for _, name := range b.Fields {
		at, _ := b.Kind.Column(name)
		e.Columns = append(e.Columns, export.Column{Name: name, Type: b.Kind.Fields[at].Type})
	}
	for _, row := range b.Pages.Here() {
		e.Loaded = append(e.Loaded, row.ID)
	}
	return e
}

// whole are the records of some keys, in the order of the list; false where one
// of them is not here, or not all of it.
func (b *Browser) whole(keys map[string]struct{}) ([]client.Row, bool) {
	var rows []client.Row
	for _, row := range b.Pages.Here() {
		if _, meant := keys[row.ID]; !meant {
			continue
		}
		held, known := b.Records[row]
		if !known || held.cut {
			return nil, false
		}
		rows = append(rows, held.Row)
	}
	return rows, len(rows) == len(keys)
}

// Equivalent is the command that shows the same rows.
func (b *Browser) Equivalent() string { return b.command(b.Now, b.URL) }

// Commands implements ui.Commander.
func (b *Browser) Commands() []string { return []string{b.Equivalent() + ToFile(b.options.Name)} }

// Find is the line of filters.
func (b *Browser) Find() *ui.Line { return b.filterLine(b.filterText()) }

func (b *Browser) filterLine(text string) *ui.Line {
	l := ui.NewLine(b.Host, "filter "+b.Kind.Name, "/", text)
	l.Help = keymap.KeyFor(keymap.InLine, keymap.Submit) + " filters at the service   " + keymap.KeyFor(keymap.InLine, keymap.Complete) + " completes   " + keymap.KeyFor(keymap.InLine, keymap.GoBack) + " leaves it"
	l.Suggest = func(text string) []ui.Suggestion { return SuggestFields(b.Kind, text) }
	l.Check = func(text string) error {
		_, err := ReadFilters(b.Now, b.Kind, text)
		return err
	}
	l.Accept = func(text string) tea.Cmd {
		filters, _ := ReadFilters(b.Now, b.Kind, text) // it was checked just now
		b.Typed = NoteTyped(b.Now, b.Kind, text)
		return b.limit(filters)
	}
	return l
}
