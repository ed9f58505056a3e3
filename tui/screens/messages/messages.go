// Package messages has the screens of webhook messages: the live list, actions on
// messages, and one message with its attempts.
package messages

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// Commands implements ui.Commander.
func (s *List) Commands() []string {
	which := s.which()
	if which == "" {
		return nil
	}
	return []string{"whctl messages retry" + which, "whctl messages delete" + which, s.Equivalent() + browse.OutputFlags("Messages")}
}

// which returns the arguments of whctl for the marked messages, or for the selected
// one.
func (s *List) which() string {
	if s.AllMarks {
		if conditions := s.conditionArguments(); conditions != "" {
			return conditions
		}
		return " --all-messages"
	}
	text := ""
	for _, row := range s.Grid.MarkedRows() {
		text += " " + row.ID
	}
	if one, ok := s.Selected(); ok && text == "" {
		text = " " + one.MessageID
	}
	return text
}

// AsView implements ui.Viewer.
func (s *List) AsView() state.View {
	f := s.Filter
	v := state.View{Record: ui.MessageRecord, Subscription: f.Subscription, Label: s.scope(&s.Queues), Problems: f.Problems, Undelivered: f.Undelivered, Arrangement: s.Columns.arrangement()}
	v.Where, v.OrderBy = s.Typed.Texts(f.Conditions), browse.OrderText(s.Order)
	return v
}

// SetViewName implements ui.Viewer.
func (s *List) SetViewName(name string) { s.saved = name }

// Title implements ui.Screen.
func (s *List) Title() string {
	if s.saved != "" {
		return "Messages (" + s.saved + ")"
	}
	return "Messages"
}

// List is the live list of messages, newest first by default.
type List struct {
	browse.Table
	query
	*bulk
	Pages       *grid.Pages
	Subscribers *names
	Columns     *columns
	Rows        *rows
	SelectID    string // ID of the message to select once it is loaded
}

// ChangedFor is the time for which a change stays marked, and for which a row that
// no longer matches the filter stays visible.
const ChangedFor = 10 * time.Second

// List must implement these interfaces: methods of several embedded types hide
// each other.
var _ interface {
	ui.Screen
	ui.Clicker
	ui.Commander
	ui.Finder
	ui.Follower
	ui.Poller
	ui.Scroller
	ui.Ticker
	ui.Timed
	ui.Unmarker
	ui.Viewer
} = (*List)(nil)

// New returns the list of messages that match a filter.
func New(h ui.Host, filter ui.MessageFilter) *List {
	m := &List{Table: browse.NewTable(h, false), query: query{Filter: filter}, Pages: grid.NewPages()}
	changed := make(changeTimes)
	m.Subscribers = &names{queues: &m.Queues}
	m.Columns = &columns{host: h, session: m.Session, grid: m.Grid, subscribers: m.Subscribers, changed: changed}
	m.bulk = &bulk{List: m}
	m.Rows = &rows{
		session: m.Session, query: &m.query, columns: m.Columns, grid: m.Grid, pages: m.Pages,
		Known: make(map[string]wire.Message), changed: changed, unseen: make(map[string]struct{}),
	}
	m.Grid.SetRows(m.Pages)
	m.Share, m.ScreenOf = 44, m.preview
	m.Columns.show(DefaultColumnNames(), 0)
	if as, was := m.State.Grids[gridKey]; was {
		m.Arrange(as)
	}
	m.Grid.Follow(true)
	return m
}

// Badges implements ui.Screen.
func (s *List) Badges() []string { return s.badges(&s.Queues) }

// Start implements ui.Screen.
func (s *List) Start() tea.Cmd { return s.Reload() }

// Shown implements ui.Screen.
func (s *List) Shown() tea.Cmd {
	s.Rows.repaint()
	return s.want()
}

// Scopes implements ui.Screen.
func (s *List) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessages, keymap.InGrids, keymap.InLists}
}

// Waiting implements ui.Screen.
func (s *List) Waiting() bool { return s.Pages.Loading() || s.busy() }

// Reload fetches the list from the start after a change of filter or order.
func (s *List) Reload() tea.Cmd {
	s.Reset()
	s.Pages.Reset()
	clear(s.Rows.Known)
	s.Rows.fetching()
	s.clearMarks()
	s.Grid.SetSort(s.Order)
	s.Grid.GoTo(0)
	s.Grid.Follow(s.newest())
	return s.want()
}

// Poll fetches the same rows again.
func (s *List) Poll() tea.Cmd {
	if s.Pages.Loading() {
		s.Rows.due = true
		return nil
	}
	s.Pages.MarkStale()
	s.Rows.fetching()
	return s.want()
}

func (s *List) want() tea.Cmd {
	first, last := s.Grid.Window()
	var cmds []tea.Cmd
	for _, number := range s.Pages.Request(first, last) {
		cmds = append(cmds, s.fetchPage(number))
	}
	return tea.Batch(cmds...)
}

// fetchPage fetches a page of messages without bodies.
func (s *List) fetchPage(number int) tea.Cmd {
	generation, q := s.Pages.Generation(), s.members()
	q.Set("Skip", strconv.Itoa(number*grid.PageRows))
	q.Set("Take", strconv.Itoa(grid.PageRows))
	q.Set("Include", "Total")
	q.Set("Fields", ui.MessageFields())
	return ui.Fetch(s.Ctx, s, func(ctx context.Context, c *client.Client) (*wire.Page[wire.Message], error) {
		return c.AllMessages(ctx, q)
	},
		func(page *wire.Page[wire.Message], err error) tea.Cmd {
			if err != nil {
				return s.PageFailed(generation, number, err)
			}
			return s.Put(generation, number, page.Results, int(page.Total))
		})
}

// PageFailed shows an error of fetchPage.
func (s *List) PageFailed(generation, number int, err error) tea.Cmd {
	if s.Pages.RequestFailed(generation, number) {
		s.ShowFetchError("fetching messages", err)
	}
	return nil
}

// Put adds a fetched page of messages.
func (s *List) Put(generation, number int, list []wire.Message, total int) tea.Cmd {
	if s.Rows.put(generation, number, list, total) {
		s.seek()
	}
	s.markMore()
	s.Rows.forget()
	return tea.Batch(s.want(), s.fetchMissingNames(list))
}

// fetchMissingNames fetches the names of subscribers once, if a message has none. On an error
// the IDs stay.
func (s *List) fetchMissingNames(list []wire.Message) tea.Cmd {
	if !s.Subscribers.request(list) {
		return nil
	}
	return ui.Fetch(s.Ctx, s, ui.SubscriberNames, func(names map[string]string, err error) tea.Cmd {
		if err == nil {
			s.Subscribers.Fetched = names
			s.Rows.rebuild()
		}
		return nil
	})
}

// seek selects the message that the list was opened for.
func (s *List) seek() {
	if s.SelectID != "" && s.Grid.Select(s.SelectID) {
		s.SelectID = ""
		s.Grid.Follow(false)
	}
}

// Selected returns the selected message, false if there is none.
func (s *List) Selected() (wire.Message, bool) {
	row := s.Grid.Row()
	if row == nil {
		return wire.Message{}, false
	}
	m, ok := s.Rows.Known[row.ID]
	return m, ok
}

// preview returns the screen of the selected message, nil for none.
func (s *List) preview() ui.Screen {
	one, ok := s.Selected()
	if !ok {
		return nil
	}
	d := NewDetail(s, one)
	d.partial = true
	return d
}

// Do implements ui.Screen.
func (s *List) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoTop:
		s.Grid.Follow(s.newest())
		if len(s.Rows.unseen) > 0 {
			return s.Poll()
		}
	case keymap.Mark, keymap.MarkRange:
		s.chooseMarks()
	case keymap.MarkAll, keymap.Unmark, keymap.Retry, keymap.Delete:
		return s.mark(b.Action)
	}
	if s.Move(b) {
		s.moved(b)
		return s.want()
	}
	if action := listActions[b.Action]; action != nil {
		return action(s)
	}
	return s.doOne(b)
}

// listActions are the actions on filter, order and columns.
var listActions = map[keymap.Action]func(s *List) tea.Cmd{
	keymap.ProblemsOnly: func(s *List) tea.Cmd {
		s.cycleStatus()
		return s.Reload()
	},
	keymap.SortColumn:    (*List).sort,
	keymap.FilterByValue: (*List).filterByValue,
	keymap.ClearFilters: func(s *List) tea.Cmd {
		s.Filter = ui.MessageFilter{}
		return s.Reload()
	},
	keymap.FilterColumn: func(s *List) tea.Cmd {
		s.filterColumn()
		return nil
	},
	keymap.ChooseColumns: func(s *List) tea.Cmd {
		s.chooseColumns()
		return nil
	},
	keymap.Export: func(s *List) tea.Cmd {
		s.ShowOverlay(browse.NewExportForm(s.Host, s.Exportable()))
		return nil
	},
}

// moved handles a move of the selection and saves changed columns.
func (s *List) moved(b keymap.Binding) {
	s.SelectID = ""
	s.Columns.skipMarker(b.Action)
	switch b.Action {
	case keymap.Narrower, keymap.Wider, keymap.FreezeColumns:
		s.remember()
	}
}

func (s *List) doOne(b keymap.Binding) tea.Cmd {
	one, ok := s.Selected()
	switch {
	case !ok:
	case b.Action == keymap.Open:
		return s.Push(NewDetail(s, one))
	case b.Action == keymap.ShowWhy:
		return openWhy(s.HostSession, one)
	case b.Action == keymap.CopyCell:
		s.Copy(s.Columns.value(one))
	case b.Action == keymap.CopyRow:
		s.copyRows(one)
	}
	return nil
}

// Click implements ui.Clicker.
func (s *List) Click(x, y int, again bool) tea.Cmd {
	row, title := s.SelectAt(x, y)
	s.Columns.skipMarker(keymap.GoRight)
	switch {
	case title:
		return s.sort()
	case row && again:
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return s.want()
}

// Unmark cancels a count in flight, else it removes the marks. It reports whether
// there was one or the other.
func (s *List) Unmark() bool {
	if s.counting != nil {
		s.cancelCount()
		s.Notify(ui.Info, "cancelled, nothing was changed")
		return true
	}
	return s.clearMarks()
}

// Status implements ui.Screen.
func (s *List) Status() string {
	text, columns, _ := strings.Cut(s.Grid.PositionText(), statusGap)
	text += s.marked()
	switch word := s.progress(); {
	case word != "":
		return word
	case s.Pages.Total() < 0 && s.Pages.Loading():
		return "loading messages ..."
	case s.Pages.Total() < 0:
		return "no response yet: " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " retries"
	case s.Grid.Len() == 0:
		text = "no messages"
	}
	text += s.blockedText() + s.newer()
	if columns != "" {
		text += statusGap + columns
	}
	return text + statusGap + "times: " + ui.TimeModes[s.Times]
}

// statusGap separates the parts of the status line.
const statusGap = "   "

// blockedText returns the status text for blockedCount.
func (s *List) blockedText() string {
	n := s.blockedCount(&s.Queues)
	if n == 0 {
		return ""
	}
	return "   " + display.Thousands(n) + " more queued: " + keymap.KeyFor(keymap.InMessages, keymap.ProblemsOnly) + " shows them"
}

// marked returns the status text for marked messages.
func (s *List) marked() string {
	switch n := s.Grid.MarkCount(); {
	case s.AllMarks:
		return "   " + display.Thousands(max(0, s.Pages.Total())) + " marked: all matches"
	case n > 0:
		return fmt.Sprintf("   %s marked", display.Thousands(n))
	}
	return ""
}

// newer returns the status text for new messages that are not shown. With
// conditions, only the service can count them.
func (s *List) newer() string {
	switch n := len(s.Rows.unseen); {
	case s.Grid.Following():
		return "   following"
	case n == 0:
		return ""
	case len(s.Filter.Conditions) > 0 || !s.newest():
		return "   new messages: " + keymap.KeyFor(keymap.InLists, keymap.GoTop) + " shows matches"
	default:
		return fmt.Sprintf("   new %s: %s shows them", display.Thousands(n), keymap.KeyFor(keymap.InLists, keymap.GoTop))
	}
}
