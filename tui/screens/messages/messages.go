// Package messages has the screens of webhook messages: the live list, actions on
// messages, and one message with its attempts.
package messages

import (
	"cmp"
	"context"
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
	which := s.Marks.arguments()
	if m, ok := s.Selected(); ok && which == "" {
		which = " " + m.MessageID
	}
	if which == "" {
		return nil
	}
	return []string{"whctl messages retry" + which, "whctl messages delete" + which, s.Equivalent() + browse.OutputFlags("Messages")}
}

// AsView implements ui.Viewer.
func (s *List) AsView() state.View {
	f := s.Filter
	v := state.View{Record: ui.MessageRecord, Subscription: f.Subscription, Label: s.scope(&s.Session.Queues), Problems: f.Problems, Undelivered: f.Undelivered, Arrangement: s.Columns.arrangement()}
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
	Pages       *grid.Pages
	Subscribers *names
	Columns     *columns
	Rows        *rows
	Marks       *marks
	Bulk        *bulk
	Impacts     *impacts
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
	m.Subscribers = &names{queues: &m.Session.Queues}
	m.Columns = &columns{host: h, session: m.Session, grid: m.Grid, subscribers: m.Subscribers, changed: changed}
	m.Rows = &rows{
		session: m.Session, query: &m.query, columns: m.Columns, grid: m.Grid, pages: m.Pages,
		Known: make(map[string]wire.Message), changed: changed, unseen: make(map[string]struct{}),
	}
	m.Marks = &marks{query: &m.query, grid: m.Grid, rows: m.Rows}
	m.Bulk = &bulk{host: h, list: m, session: m.Session, marks: m.Marks}
	m.Impacts = &impacts{host: h, list: m, session: m.Session, marks: m.Marks, bulk: m.Bulk}
	m.Grid.SetRows(m.Pages)
	m.Preview.ShowRight(m, 44)
	m.Columns.show(DefaultColumnNames(), 0)
	if as, was := m.Session.State.Grids[gridKey]; was {
		m.Arrange(as)
	}
	m.Grid.Follow(true)
	return m
}

// SelectedScreen returns the selected message for the preview, nil if there is none.
func (s *List) SelectedScreen() ui.Screen {
	selected, ok := s.Selected()
	if !ok {
		return nil
	}
	d := NewDetail(s, selected)
	d.partial = true
	return d
}

// Badges implements ui.Screen.
func (s *List) Badges() []string { return s.badges(&s.Session.Queues) }

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
func (s *List) Waiting() bool {
	return s.Pages.Loading() || s.Impacts.counting != nil || s.Bulk.sending != ""
}

// Reload fetches the list from the start after a change of filter or order.
func (s *List) Reload() tea.Cmd {
	s.Reset()
	s.Pages.Reset()
	clear(s.Rows.Known)
	s.Rows.fetching()
	s.Marks.clear()
	s.Grid.Columns.SetSort(s.Order)
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
		s.Host.ShowFetchError("fetching messages", err)
	}
	return nil
}

// Put adds a fetched page of messages.
func (s *List) Put(generation, number int, list []wire.Message, total int) tea.Cmd {
	added := s.Rows.put(generation, number, list, total)
	if added && s.SelectID != "" && s.Grid.Select(s.SelectID) {
		s.SelectID = ""
		s.Grid.Follow(false)
	}
	s.Marks.extend()
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

// Selected returns the selected message, false if there is none.
func (s *List) Selected() (wire.Message, bool) {
	row := s.Grid.Row()
	if row == nil {
		return wire.Message{}, false
	}
	m, ok := s.Rows.Known[row.ID]
	return m, ok
}

// Step selects the message n rows further, and returns it, false if it is not loaded.
func (s *List) Step(n int) (m wire.Message, ok bool, cmd tea.Cmd) {
	s.Grid.Move(n)
	m, ok = s.Selected()
	return m, ok, s.want()
}

// Position describes the selected row, without the columns.
func (s *List) Position() string {
	place, _, _ := strings.Cut(s.Grid.PositionText(), statusGap)
	return place
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
		if s.Marks.limit() {
			s.Host.Notify(ui.Warning, "only loaded rows are marked now, no longer all matches")
		}
	case keymap.MarkAll:
		s.Marks.markAll()
		return nil
	case keymap.Unmark:
		s.Marks.clear()
		return nil
	case keymap.Retry, keymap.Delete:
		return s.Act(b.Action)
	}
	if s.Move(b) {
		s.SelectID = ""
		s.Columns.skipMarker(b.Action)
		switch b.Action {
		case keymap.Narrower, keymap.Wider, keymap.FreezeColumns:
			s.remember()
		}
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
		s.Host.ShowOverlay(browse.NewExportForm(s.Host, s.Exportable()))
		return nil
	},
}

func (s *List) doOne(b keymap.Binding) tea.Cmd {
	one, ok := s.Selected()
	switch {
	case !ok:
	case b.Action == keymap.Open:
		return s.Host.Push(NewDetail(s, one))
	case b.Action == keymap.ShowWhy:
		return openWhy(s.HostSession, one)
	case b.Action == keymap.CopyCell:
		s.Host.Copy(s.Columns.value(one))
	case b.Action == keymap.CopyRow:
		s.copyRows(one)
	}
	return nil
}

// copyRows copies the marked messages as tab-separated lines, or one message as
// JSON if none is marked.
func (s *List) copyRows(selected wire.Message) {
	rows := s.Grid.MarkedRows()
	if len(rows) == 0 {
		s.Host.Copy(messageJSON(selected))
		return
	}
	var lines []string
	for _, row := range rows {
		line := ""
		if m, known := s.Rows.Known[row.ID]; known {
			line = s.Columns.line(m)
		}
		lines = append(lines, line)
	}
	s.Host.Copy(strings.Join(lines, "\n"))
	if notLoaded := s.Pages.Total() - len(rows); s.Marks.All && notLoaded > 0 {
		s.Host.Notify(ui.Warning, display.Count(len(rows), "row", "rows")+" copied: "+display.Thousands(notLoaded)+" more matches are not loaded")
	}
}

// Click implements ui.Clicker.
func (s *List) Click(x, y int, again bool) tea.Cmd {
	row, title := s.Grid.SelectAt(x, y)
	s.Columns.skipMarker(keymap.GoRight)
	switch {
	case title:
		return s.sort()
	case row && again:
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return s.want()
}

// Act retries or deletes the marked messages, or the selected one, after a confirmation. The
// impact on marked messages is counted by the service first.
func (s *List) Act(action keymap.Action) tea.Cmd {
	if members := s.Marks.filter(action); members != nil {
		return s.Impacts.count(action, members)
	}
	if m, ok := s.Selected(); ok {
		confirmOne(s, s.Bulk, m, action, s.Bulk.begin, s.Bulk.finish)
	}
	return nil
}

// Send sends a change of messages. The status line shows its progress.
func (s *List) Send(c ui.Change) tea.Cmd {
	s.Host.ClearToast()
	c.Screen = s
	return s.Host.Change(c)
}

// Confirm opens a confirmation about a number of messages.
func (s *List) Confirm(count int, question, verb string, lines []string, run func() tea.Cmd) *ui.Confirm {
	return ui.OpenConfirmMany(s.Host, count, question, verb, lines, run)
}

// InFront reports whether the list is in front, without an overlay or an input.
func (s *List) InFront() bool {
	return s.Host.Front() == ui.Screen(s) && s.Host.Overlay() == nil && !s.Host.InputOpen()
}

// Unmark cancels a count in flight, else it removes the marks. It reports whether
// there was one or the other.
func (s *List) Unmark() bool {
	if s.Impacts.cancel() {
		s.Host.Notify(ui.Info, "cancelled, nothing was changed")
		return true
	}
	return s.Marks.clear()
}

// Status implements ui.Screen.
func (s *List) Status() string {
	text, columns, _ := strings.Cut(s.Grid.PositionText(), statusGap)
	text += s.Marks.text()
	switch word := cmp.Or(s.Impacts.progress(), s.Bulk.progress()); {
	case word != "":
		return word
	case s.Pages.Total() < 0 && s.Pages.Loading():
		return "loading messages ..."
	case s.Pages.Total() < 0:
		return "no response yet: " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " retries"
	case s.Grid.Len() == 0:
		text = "no messages"
	}
	text += s.blockedText(&s.Session.Queues) + s.Rows.newText()
	if columns != "" {
		text += statusGap + columns
	}
	return text + statusGap + "times: " + ui.TimeModes[s.Session.Times]
}

// statusGap separates the parts of the status line.
const statusGap = "   "

// Follow applies changes to the loaded rows. Other changes are counted, and fetched
// if the list follows new messages.
func (s *List) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	for _, c := range changes {
		s.Rows.change(c)
	}
	s.Rows.repaint()
	return s.catchUp()
}

// Tick refreshes times and fetches new messages.
func (s *List) Tick() tea.Cmd {
	s.Rows.repaint()
	if s.Host.SignInPending() { // the app shows the result after it
		s.Impacts.counting = nil
		s.Bulk.sending = ""
	}
	return tea.Batch(s.catchUp(), s.refreshQueues())
}

// refreshQueues fetches the queue statistics if they explain a visible message or
// are part of the status line.
func (s *List) refreshQueues() tea.Cmd {
	if s.Filter.Problems {
		return s.Session.Queues.Refresh(s, s.Rows.onQueues)
	}
	if !s.Rows.needQueue() {
		return nil
	}
	return s.Session.Queues.RefreshIfOld(s, s.Rows.onQueues)
}

// catchUp fetches the newest messages if the list follows them.
func (s *List) catchUp() tea.Cmd {
	if s.Host.Front() != ui.Screen(s) || !s.Rows.needFetch() {
		return nil
	}
	return s.Poll()
}

// Retime implements ui.Timed. It fits the columns to the new time format.
func (s *List) Retime() string {
	s.Grid.Columns.Fit()
	s.Rows.repaint()
	return ""
}
