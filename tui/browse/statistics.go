package browse

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// statisticsTimeout limits how long a service computes for a line at the foot of a list.
const statisticsTimeout = 2 * time.Second

// statisticsDelay is how long a column is selected before its statistics are computed without a
// key, so that moving over columns does not compute those of each.
const statisticsDelay = 300 * time.Millisecond

// statistics are those of columns over all rows that match the filters, which the service
// computes. They are kept until the filters change.
type statistics struct {
	session   *ui.Session
	selection *selection
	grid      *grid.Grid

	shown   bool                        // the user has requested them: they may use several lines
	filters string                      // of the results
	results map[string]columnStatistics // by column
	pending string                      // column of the request in progress; empty for none
	cancel  context.CancelFunc          // cancels the request in progress
	awaited columnOfFilters             // computed after statisticsDelay unless another one is selected
	lines   int                         // below the list, where they are shown
}

// columnOfFilters is a column of the rows that match filters. The zero value is for none.
type columnOfFilters struct{ column, filters string }

// columnStatistics are the statistics of a column. Empty ones are left out.
type columnStatistics struct {
	count, sum, average, smallest, largest string
	failure                                string // why there are none
}

// statisticFunctions returns the functions that the service has for fields of a type.
func statisticFunctions(t record.Type) []string {
	if t.Number() {
		return []string{"COUNT", "SUM", "AVG", "MIN", "MAX"}
	}
	if t == record.Bytes || t == record.Bool || t == record.Guid {
		return []string{"COUNT"}
	}
	return []string{"COUNT", "MIN", "MAX"}
}

// stop cancels the request in progress.
func (s *statistics) stop() {
	if s.cancel != nil {
		s.cancel()
	}
	s.pending = ""
}

// leaveColumn cancels a request for a column other than the selected one.
func (s *statistics) leaveColumn() {
	column, ok := s.grid.Columns.Selected()
	if !ok || column.Name != s.pending {
		s.stop()
	}
}

// showStatistics fetches the statistics of the selected column, again if they are known: the rows may
// have changed.
func (b *Browser) showStatistics() tea.Cmd {
	column, ok := b.Grid.Columns.Selected()
	if !ok {
		return nil
	}
	if b.Selection.options.groups != nil {
		b.Host.Notify(ui.Warning, "groups have no statistics; open the rows of a group")
		return nil
	}
	s := &b.statistics
	s.shown = true
	b.SetSize(b.Width, b.Height)
	return b.fetchStatistics(column.Name, func(err error) {
		b.Host.ShowFetchError("computing the statistics of "+column.Name, err)
	})
}

// UpdatePreview shows the selected record, and computes the statistics of the selected column where
// that needs no key.
func (b *Browser) UpdatePreview() tea.Cmd {
	return tea.Batch(b.Table.UpdatePreview(), b.awaitStatistics())
}

// needNoKey reports whether the statistics are computed without a key. On a database server, that could
// slow down other programs.
func (s *statistics) needNoKey() bool {
	isRows := s.selection.options.groups == nil && !hasServiceTimes(s.selection.Kind)
	return isRows && s.session.Access.EmbeddedRecords
}

// awaitStatistics computes the statistics of the selected column after a while, if they are not
// known and need no key.
func (b *Browser) awaitStatistics() tea.Cmd {
	s := &b.statistics
	if !s.needNoKey() {
		return nil
	}
	if s.neededLines(b.Height) != s.lines { // it has become known that the records are embedded
		b.SetSize(b.Width, b.Height)
	}
	wanted := s.wanted()
	isNone := wanted == columnOfFilters{}
	if isNone || wanted == s.awaited {
		return nil
	}
	s.awaited = wanted
	return b.Host.After(statisticsDelay, ui.Response{To: b, Background: true, Apply: func() tea.Cmd {
		if wanted != s.awaited {
			return nil // another column is awaited, until its own timer
		}
		s.awaited = columnOfFilters{}
		isShown := b.Host.Front() == ui.Screen(b)
		if !isShown || s.wanted() != wanted {
			return nil
		}
		return b.fetchStatistics(wanted.column, func(error) {}) // the line shows that there are none
	}})
}

// wanted returns the selected column if its statistics are to be computed.
func (s *statistics) wanted() columnOfFilters {
	column, isSelected := s.grid.Columns.Selected()
	if !isSelected || s.lines == 0 || !s.session.MayPoll() {
		return columnOfFilters{}
	}
	filters := s.selection.filterText()
	_, isKnown := s.results[column.Name]
	isKnown = isKnown && s.filters == filters
	if isKnown || s.pending == column.Name {
		return columnOfFilters{}
	}
	return columnOfFilters{column: column.Name, filters: filters}
}

// setFilters drops the results of other filters.
func (s *statistics) setFilters(filters string) {
	if s.results == nil || s.filters != filters {
		s.filters = filters
		s.results = make(map[string]columnStatistics)
	}
}

// fetchStatistics fetches the statistics of a column, and reports the error if there is one. It
// cancels a request for another column.
func (b *Browser) fetchStatistics(name string, report func(error)) tea.Cmd {
	s := &b.statistics
	s.setFilters(b.Selection.filterText())
	s.stop()
	s.pending = name
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(b.Session.Context) // that of the screen ends when rows are polled

	field := b.Selection.Kind.Field(name)
	q := client.Query{
		Kind:      b.Selection.Kind,
		Where:     b.Selection.filters,
		Strict:    true,
		Unchecked: b.Selection.options.Members,
		Take:      new(int64),
		Include:   []string{"NoTotal"},
	}
	for _, function := range statisticFunctions(field.Type) {
		q.Include = append(q.Include, function+"("+name+")")
	}
	fetch := func(ctx context.Context, c *client.Client) (columnStatistics, error) {
		limited, cancel := context.WithTimeout(ctx, statisticsTimeout)
		defer cancel()
		page, err := c.Page(limited, q)
		if err == nil {
			return newColumnStatistics(field, page.Meta), nil
		}
		if limited.Err() != nil && ctx.Err() == nil {
			return columnStatistics{failure: "not within " + ui.Took(statisticsTimeout)}, nil
		}
		return columnStatistics{failure: "not available"}, err
	}
	return ui.Fetch(ctx, b, fetch, func(result columnStatistics, err error) tea.Cmd {
		if ctx.Err() != nil {
			return nil // cancelled
		}
		s.stop()
		s.results[name] = result
		if err != nil {
			report(err)
		}
		return nil
	})
}

// newColumnStatistics returns the statistics of a field from the results of its functions.
func newColumnStatistics(field record.Field, results map[string]string) columnStatistics {
	result := func(function string) string { return results[function+"("+field.Name+")"] }
	format := func(text string) string {
		if text != "" && field.Type == record.TimeSpan {
			return ui.Milliseconds(text)
		}
		return valueText(field.Type, text)
	}
	sum := result("SUM")
	return columnStatistics{
		count:    display.Grouped(result("COUNT")),
		sum:      groupedNumber(sum),
		average:  roundedAverage(result("AVG"), sum),
		smallest: format(result("MIN")),
		largest:  format(result("MAX")),
	}
}

// groupedNumber groups the digits of a number unless it has an exponent.
func groupedNumber(text string) string {
	if strings.ContainsAny(text, "eE") {
		return text
	}
	return display.Grouped(text)
}

// roundedAverage rounds an average to the fractional digits of the sum, at least to two.
func roundedAverage(text, sum string) string {
	if strings.ContainsAny(text+sum, "eE") {
		return text // the digits of an exponent could fill the memory
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	_, fraction, _ := strings.Cut(sum, ".")
	return display.Grouped(n.FloatString(max(2, len(fraction))))
}

// spans returns the statistics in two parts, for the lines at the foot of a list.
func (c columnStatistics) spans() (totals, values []theme.Span) {
	if c.failure != "" {
		return []theme.Span{{Text: c.failure, Role: theme.Warning}}, nil
	}
	add := func(spans []theme.Span, name, value string) []theme.Span {
		if value == "" {
			return spans
		}
		return append(spans, theme.Span{Text: name + " ", Role: theme.Dim}, theme.Span{Text: value + "  "})
	}
	totals = add(totals, "count", c.count)
	totals = add(totals, "sum", c.sum)
	values = add(values, "average", c.average)
	values = add(values, "smallest", c.smallest)
	values = add(values, "largest", c.largest)
	return totals, values
}

// neededLines returns the number of lines below the list on a screen of a height.
func (s *statistics) neededLines(height int) int {
	const (
		minHeight     = 8
		oneLineWidth  = 110
		twoLinesWidth = 76
	)
	isShown := s.shown || s.needNoKey()
	if !isShown || height < minHeight {
		return 0
	}
	switch {
	case !s.shown || s.grid.Width() >= oneLineWidth:
		return 1
	case s.grid.Width() >= twoLinesWidth:
		return 2
	default:
		return 3
	}
}

const (
	footMargin = "   " // before the lines below a list
	pairLength = 2     // spans of a value: its name, and the value
)

// foot returns the lines below the list: the statistics of the selected column, or the key that
// fetches them. A single line has those that fit, and the key that shows the others.
func (s *statistics) foot() [][]theme.Span {
	if s.lines == 0 {
		return nil
	}
	totals, values := s.parts()
	line := append([]theme.Span{{Text: footMargin}}, totals...)
	if s.lines == 1 {
		return [][]theme.Span{fitValues(append(line, values...), len(line), s.grid.Width())}
	}
	return append([][]theme.Span{line}, flowValues(values, s.lines-1, s.grid.Width())...)
}

// flowValues divides values, each with its name, between lines of a width. None is cut while there
// is another line.
func flowValues(values []theme.Span, lines, width int) [][]theme.Span {
	flowed := make([][]theme.Span, lines)
	for i := range flowed {
		flowed[i] = []theme.Span{{Text: footMargin}}
	}
	last := 0
	for pair := range slices.Chunk(values, pairLength) {
		isFull := spansWidth(flowed[last])+spansWidth(pair) > width
		if isFull && last+1 < lines {
			last++
		}
		flowed[last] = append(flowed[last], pair...)
	}
	return flowed
}

// fitValues leaves out the last values of a line that do not fit, with their names. The first fixed
// spans stay.
func fitValues(line []theme.Span, fixed, width int) []theme.Span {
	hint := []theme.Span{
		{Text: keymap.KeyFor(keymap.InBrowser, keymap.ShowInfo), Role: theme.Key},
		{Text: " more", Role: theme.Dim},
	}
	if spansWidth(line) <= width {
		return line
	}
	end := len(line)
	for end-pairLength >= fixed && spansWidth(line[:end])+spansWidth(hint) > width {
		end -= pairLength
	}
	return append(line[:end:end], hint...)
}

// spansWidth returns the width of spans in cells.
func spansWidth(spans []theme.Span) int {
	width := 0
	for _, span := range spans {
		width += theme.Width(span.Text)
	}
	return width
}

// parts returns the statistics of the selected column in two parts, the first one with its name.
func (s *statistics) parts() (totals, values []theme.Span) {
	column, ok := s.grid.Columns.Selected()
	if !ok {
		return nil, nil
	}
	name := theme.Span{Text: column.Name + "  ", Role: theme.Column}
	if s.pending == column.Name {
		return []theme.Span{name, {Text: "...", Role: theme.Dim}}, nil
	}
	result, isComputed := s.results[column.Name]
	if !isComputed || s.filters != s.selection.filterText() {
		key := keymap.KeyFor(keymap.InBrowser, keymap.ShowInfo)
		return []theme.Span{
			name,
			{Text: key, Role: theme.Key},
			{Text: " statistics", Role: theme.Dim},
		}, nil
	}
	totals, values = result.spans()
	return append([]theme.Span{name}, totals...), values
}

// Stop cancels the requests of the screen.
func (b *Browser) Stop() {
	b.statistics.stop()
	b.Table.Stop()
}

// Leave cancels a request for statistics, since another screen is shown.
func (b *Browser) Leave() { b.statistics.stop() }
