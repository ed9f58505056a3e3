package browse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/export"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Record shows one record: its fields, its JSON, and how to request it.
type Record struct {
	ui.Base
	ui.Pager
	list      recordList
	rows      *Rows
	Selection *selection
	tab       int
	Row       *grid.Row  // row of the list; nil while it is loading
	Full      client.Row // the record
	loading   bool       // the missing fields are being fetched
	Partial   bool       // fields that the list does not have are missing
}

// recordList is the list that a record was opened from.
type recordList interface {
	// Step selects the row n rows further, and fetches the rows that are visible then.
	Step(n int) tea.Cmd
	// Shown fetches the visible rows.
	Shown() tea.Cmd
}

// The tabs of a record, and their names.
const (
	fieldsTab = iota
	jsonTab
	requestTab
)

var recordTabs = []string{fieldsTab: "Fields", jsonTab: "JSON", requestTab: "Request"}

// NewRecord returns a Record for the selected row of a browser.
func NewRecord(b *Browser) *Record {
	r := &Record{Base: ui.NewBase(b.Host), list: b, rows: b.Rows, Selection: b.Selection}
	r.Owner = r.HostSession
	r.show()
	return r
}

func (r *Record) Shown() tea.Cmd { return r.load() }

// load shows the record of the selected row and fetches missing fields.
func (r *Record) load() tea.Cmd {
	r.Reset()
	r.show()
	if r.Row == nil {
		return r.list.Shown()
	}
	if r.Partial {
		r.loading = true
		r.buildLines()
		q, offset := r.fullQuery()
		return ui.Fetch(r.Ctx, r, fetchRecord(q, offset), r.onFetched)
	}
	return nil
}

// show shows the data that the list has of the record.
func (r *Record) show() {
	row, cached := r.rows.Current()
	r.Row = row
	r.loading = false
	r.Partial = false
	if row == nil {
		r.SetLines(nil)
		return
	}
	r.Full = cached.Row
	r.Partial = cached.cut || len(r.Selection.Fields) < len(r.Selection.Kind.Fields)
	r.At = 0
	r.buildLines()
}

// fullQuery returns the query of the record and its offset. Records of the service are
// selected by key, because new ones are added all the time.
func (r *Record) fullQuery() (client.Query, int) {
	kind := r.Selection.Kind
	q := r.Selection.query()
	if !hasServiceTimes(kind) {
		index, _ := r.rows.Place()
		return q, index
	}
	q.Where = []client.Filter{{Field: kind.KeyName(), Operator: record.Equal, Values: []string{r.Row.ID}}}
	return q, 0
}

// onFetched stores the complete record.
func (r *Record) onFetched(row client.Row, err error) tea.Cmd {
	r.loading = false
	r.buildLines()
	if err != nil {
		r.Host.ShowFetchError("fetching the record", err)
		return nil
	}
	if export.RowID(row, r.Selection.Kind.KeyName()) != r.Row.ID {
		r.Host.Notify(ui.Warning, "the rows have changed: press R to refresh")
		return nil
	}
	r.Full = row
	r.Partial = false
	r.buildLines()
	return nil
}

func (r *Record) SetSize(width, height int) {
	r.Base.SetSize(width, height)
	r.ResizeTabs(width, height)
	r.buildLines()
}

// buildLines builds the lines of the open tab.
func (r *Record) buildLines() {
	if r.Row == nil || r.Width == 0 {
		return
	}
	switch r.tab {
	case fieldsTab:
		lines, values := r.fieldLines()
		r.SetLines(lines)
		r.Data.Values = values
	case jsonTab:
		r.SetJSON(ui.JSONLines(r.Full.JSON(), r.Width-2))
	case requestTab:
		r.SetLines(r.requestLines())
	}
}

// fieldLines returns the lines of the fields, and the value in each. Null is marked to
// distinguish it from an empty string.
func (r *Record) fieldLines() (lines []theme.Span, values []string) {
	t := r.Session.Theme
	width := 0
	for _, f := range r.Selection.Kind.Fields {
		width = max(width, theme.Width(f.Name))
	}
	for _, f := range r.Selection.Kind.Fields {
		v := r.Full.Value(f.Name)
		name := "  " + t.Fit(f.Name, width, false) + "  "
		notFetched := r.Partial && !slices.Contains(r.Selection.Fields, f.Name)
		switch {
		case !v.Null():
			lines = append(lines, r.valueLines(name, r.valueText(f.Type, v.String()))...)
		case r.loading:
			lines = append(lines, theme.Span{Text: name + strings.Repeat(t.Loading, 3), Role: theme.Dim})
		case notFetched:
			lines = append(lines, theme.Span{Text: name + "?", Role: theme.Dim})
		default:
			lines = append(lines, theme.Span{Text: name + t.Null + "   null", Role: theme.Dim})
		}
		for len(values) < len(lines) {
			values = append(values, v.String())
		}
	}
	return lines, values
}

// valueText formats a value at full length.
func (r *Record) valueText(t record.Type, text string) string {
	switch {
	case t == record.Bytes && r.loading:
		return strings.Repeat(r.Session.Theme.Loading, 3)
	case t == record.Bytes:
		return DescribeBytes(text) + "   " + keymap.KeyFor(keymap.InRecord, keymap.SaveBinary) + " saves it to a file"
	case t == record.DateTime && hasServiceTimes(r.Selection.Kind):
		return r.Session.FullServerTime(text)
	}
	return valueText(t, text)
}

// valueLines returns the lines of a field, wrapped if enabled.
func (r *Record) valueLines(name, text string) []theme.Span {
	if !r.Selection.wrap {
		return []theme.Span{{Text: name + text}}
	}
	indent := theme.Width(name)
	parts := theme.HardWrap(text, r.Width-indent-1)
	if len(parts) == 0 {
		return []theme.Span{{Text: name}}
	}
	parts[0].Text = name + parts[0].Text
	theme.Indent(theme.Spaces(indent), parts[1:])
	return parts
}

// requestLines returns the whctl and curl commands for the same rows.
func (r *Record) requestLines() []theme.Span {
	command := theme.Wrap(r.Selection.command(r.Session.URL), r.Width-6)
	curl := theme.Wrap(r.Selection.curl(r.Session.URL), r.Width-6)
	lines := []theme.Span{{Text: "  On the command line", Role: theme.Breadcrumb}}
	lines = append(lines, theme.Indent("    ", command)...)
	lines = append(lines, theme.Span{}, theme.Span{Text: "  Over HTTP", Role: theme.Breadcrumb})
	return append(lines, theme.Indent("    ", curl)...)
}

func (r *Record) View() string {
	return strings.Join(r.DrawTabs(recordTabs, r.tab, r.Height), "\n")
}

func (r *Record) Title() string {
	if r.Row == nil {
		return strings.Repeat(r.Session.Theme.Loading, 3)
	}
	return r.Full.Text(r.Selection.Kind.KeyName())
}

func (r *Record) Badges() []string {
	index, total := r.rows.Place()
	return []string{fmt.Sprintf("%s of %s", display.Thousands(index+1), display.Thousands(total))}
}

func (r *Record) Status() string {
	if len(r.Lines) > r.Rows {
		return fmt.Sprintf("line %d of %d", r.At+1, len(r.Lines))
	}
	return ""
}

func (r *Record) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InRecord, keymap.InLists}
}

func (r *Record) Waiting() bool { return r.loading }

func (r *Record) Equivalent() string { return r.Selection.command(r.Session.URL) }

func (r *Record) Do(b keymap.Binding) tea.Cmd {
	if r.Move(b) {
		return nil
	}
	switch b.Action {
	case keymap.NextTab:
		r.switchTab(1)
	case keymap.PreviousTab:
		r.switchTab(-1)
	case keymap.PreviousPage:
		return tea.Batch(r.list.Step(-1), r.load())
	case keymap.NextPage:
		return tea.Batch(r.list.Step(1), r.load())
	case keymap.WrapLines:
		r.Selection.wrap = !r.Selection.wrap
		r.buildLines()
	case keymap.SaveBinary:
		r.saveBytes()
	case keymap.CopyRow:
		r.Host.Copy(string(r.Full.JSON()))
	case keymap.CopyCell:
		r.Host.Copy(r.Value())
	}
	return nil
}

// switchTab opens the tab n tabs further.
func (r *Record) switchTab(n int) {
	r.tab = (r.tab + n + len(recordTabs)) % len(recordTabs)
	r.At = 0
	r.buildLines()
}

// fetchRecord fetches the complete record at an offset of a query.
func fetchRecord(q client.Query, offset int) func(context.Context, *client.Client) (client.Row, error) {
	return func(ctx context.Context, c *client.Client) (client.Row, error) {
		q.Fields = nil
		q.Skip = int64(offset)
		q.Take = new(int64(1))
		page, err := c.Page(ctx, q)
		if err != nil {
			return client.Row{}, err
		}
		if len(page.Rows) == 0 {
			return client.Row{}, errors.New("the record no longer exists")
		}
		return page.Rows[0], nil
	}
}

func (r *Record) Retime() string {
	r.buildLines()
	kind := r.Selection.Kind
	hasDates := slices.ContainsFunc(kind.Fields, func(f record.Field) bool { return f.Type == record.DateTime })
	if hasDates && !hasServiceTimes(kind) {
		return "record dates have no time zone and do not change"
	}
	return ""
}

func (r *Record) Tick() tea.Cmd {
	if r.Session.Times == ui.Relative && r.tab == fieldsTab && hasServiceTimes(r.Selection.Kind) {
		r.buildLines()
	}
	return nil
}
