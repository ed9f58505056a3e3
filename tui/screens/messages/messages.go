// Package messages has the screens of webhook messages: the live list, actions on
// messages, and one message with its attempts.
package messages

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// List is the live list of messages, newest first by default.
type List struct {
	browse.Table
	Query       *query
	Pages       *grid.Pages
	Subscribers *names
	Columns     *columns
	Rows        *rows
	Marks       *marks
	Controls    *controls
	Bulk        *bulk
	Impacts     *impacts
	SelectID    string // ID of the message to select once it is loaded; an input of the user ends that
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

// New returns the list of messages that match a filter. Each part is built before those that hold it.
func New(h ui.Host, filter ui.MessageFilter) *List {
	s := &List{Table: browse.NewTable(h, false), Pages: grid.NewPages()}
	s.Query = &query{Filter: filter, narrows: filter.Undelivered}
	changed := make(changeTimes)
	s.Subscribers = &names{queues: &s.Session.Queues}
	s.Columns = &columns{host: h, session: s.Session, grid: s.Grid, subscribers: s.Subscribers, changed: changed}
	s.Grid.Empty = func() string {
		if s.Pages.Total() < 0 {
			return ""
		}
		return s.Query.emptyText(&s.Session.Queues)
	}
	s.Rows = &rows{
		session: s.Session,
		query:   s.Query,
		columns: s.Columns,
		grid:    s.Grid,
		pages:   s.Pages,
		Known:   make(map[string]wire.Message),
		changed: changed,
		unseen:  make(map[string]struct{}),
	}
	s.Marks = &marks{query: s.Query, grid: s.Grid, rows: s.Rows}
	s.Controls = &controls{
		host:    h,
		session: s.Session,
		list:    s,
		query:   s.Query,
		columns: s.Columns,
		rows:    s.Rows,
	}
	s.Bulk = &bulk{host: h, list: s, session: s.Session, marks: s.Marks}
	s.Impacts = &impacts{host: h, list: s, session: s.Session, marks: s.Marks, bulk: s.Bulk}

	s.Grid.SetRows(s.Pages)
	s.Preview.ShowRight(s, 46)
	s.Columns.show(DefaultColumnNames(), 0)
	saved, ok := s.Session.State.Grids[gridKey]
	if ok {
		s.Controls.arrange(saved)
	}
	s.Rows.follow()
	return s
}

// Title returns the title, with the name of the view.
func (s *List) Title() string { return s.Query.title() }

// Equivalent returns the command for the same messages.
func (s *List) Equivalent() string { return s.Query.command() }

// Commands returns the commands for the marked messages or the selected one.
func (s *List) Commands() []string {
	arguments := s.Marks.arguments()
	if m, ok := s.Selected(); ok && arguments == "" {
		arguments = " " + m.MessageID
	}
	if arguments == "" {
		return nil
	}
	return []string{
		"whctl messages retry" + arguments,
		"whctl messages delete" + arguments,
		s.Equivalent() + browse.OutputFlags("Messages"),
	}
}

// errSecretView is the error of a list that cannot be saved as a view.
var errSecretView = errors.New("a list of one subscriber cannot be saved: its SubscriberID is a secret")

// AsView returns the view to store.
func (s *List) AsView() (state.View, error) {
	f := s.Query.Filter
	if f.Subscriber != "" {
		return state.View{}, errSecretView
	}
	arrangement := s.Columns.arrangement()
	arrangement.Where = s.Query.Typed.Texts(f.Conditions)
	arrangement.OrderBy = browse.OrderText(s.Query.Order)
	return state.View{
		Record:       ui.MessageRecord,
		Subscription: f.Subscription,
		Label:        s.Query.scope(&s.Session.Queues),
		Problems:     f.Problems,
		Undelivered:  f.Undelivered,
		Arrangement:  arrangement,
	}, nil
}

// ShowView shows a stored view. Conditions that are no longer valid are left out.
func (s *List) ShowView(v state.View) {
	s.Query.Filter.Conditions, s.Query.Typed = browse.RestoreFilters(s.HostSession, ui.MessageKind(), v.Where)
	s.Query.saved = v.Name
	s.Controls.arrange(v.Arrangement)
	s.Query.Order = messageOrder(v.OrderBy)
}

// SetViewName marks the list as showing a view.
func (s *List) SetViewName(name string) { s.Query.saved = name }

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

func (s *List) Badges() []string { return s.Query.badges(&s.Session.Queues) }

func (s *List) Start() tea.Cmd { return s.load() }

func (s *List) Shown() tea.Cmd {
	s.Rows.repaint()
	isNewest := s.Grid.Index() == 0 && len(s.Rows.unseen) == 0 && s.SelectID == ""
	if isNewest {
		s.Rows.follow()
	}
	return tea.Batch(s.catchUp(), s.FetchVisible())
}

func (s *List) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessages, keymap.InGrids, keymap.InLists}
}

func (s *List) Waiting() bool {
	return s.Pages.Loading() || s.Impacts.counting != nil || s.Bulk.sending != ""
}

// Reload fetches the list from the start after a change of filter or order.
func (s *List) Reload() tea.Cmd {
	s.SelectID = ""
	return s.load()
}

// load fetches the list from the start.
func (s *List) load() tea.Cmd {
	s.Reset()
	s.Query.unfiltered = 0
	s.Pages.Reset()
	clear(s.Rows.Known)
	s.Rows.fetching()
	s.Marks.clear()
	s.Grid.Columns.SetSort(s.Query.Order)
	s.Grid.GoTo(0)
	s.Rows.follow()
	return s.FetchVisible()
}

// Poll fetches the same rows again.
func (s *List) Poll() tea.Cmd {
	if s.Pages.Loading() {
		s.Rows.due = true
		return nil
	}
	s.Pages.MarkStale()
	s.Rows.fetching()
	return s.FetchVisible()
}

// FetchVisible fetches the rows on the screen that are not loaded.
func (s *List) FetchVisible() tea.Cmd {
	first, last := s.Grid.Window()
	generation := s.Pages.Generation()
	var cmds []tea.Cmd
	for _, number := range s.Pages.Request(first, last) {
		read := fetchPage(s.Query.members(), number)
		cmds = append(cmds, ui.Fetch(s.Ctx, s, read, func(page *wire.Page[wire.Message], err error) tea.Cmd {
			if err != nil {
				return s.PageFailed(generation, number, err)
			}
			cmd := s.Put(generation, number, page.Results, int(page.Total))
			return tea.Batch(cmd, s.countWithout(generation, page.Total))
		}))
	}
	return tea.Batch(cmds...)
}

// messageCount is a number of messages that is fetched.
type messageCount int64

// countWithout fetches the number of messages without the filter, if no message matches it.
func (s *List) countWithout(generation int, matches int64) tea.Cmd {
	if matches > 0 || len(s.Badges()) == 0 {
		return nil
	}
	read := func(ctx context.Context, c *client.Client) (messageCount, error) {
		page, err := c.AllMessages(ctx, url.Values{"Take": {"0"}, "Include": {"Total"}})
		if err != nil {
			return 0, err
		}
		return messageCount(page.Total), nil
	}
	return ui.Fetch(s.Ctx, s, read, func(n messageCount, err error) tea.Cmd {
		if err == nil && generation == s.Pages.Generation() {
			s.Query.unfiltered = int64(n)
		}
		return nil // the text is complete without the number
	})
}

// fetchPage returns a function that fetches a page of messages without bodies.
func fetchPage(q url.Values, number int) func(context.Context, *client.Client) (*wire.Page[wire.Message], error) {
	q.Set("Skip", strconv.Itoa(number*grid.PageRows))
	q.Set("Take", strconv.Itoa(grid.PageRows))
	q.Set("Include", "Total")
	q.Set("Fields", ui.MessageFields())
	return func(ctx context.Context, c *client.Client) (*wire.Page[wire.Message], error) {
		return c.AllMessages(ctx, q)
	}
}

// PageFailed shows why a page could not be fetched.
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
	return tea.Batch(s.FetchVisible(), s.Subscribers.fetchMissing(s, list, s.Rows.rebuild))
}

// Selected returns the selected message, false if there is none.
func (s *List) Selected() (wire.Message, bool) { return s.Rows.selected() }

// Step selects the message n rows further, and returns it, false if it is not loaded.
func (s *List) Step(n int) (m wire.Message, ok bool, cmd tea.Cmd) {
	s.Grid.Move(n)
	m, ok = s.Selected()
	return m, ok, s.FetchVisible()
}

// Position returns the number of the selected row and the number of rows.
func (s *List) Position() string { return s.Count() }

func (s *List) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoTop:
		return s.goToNewest()
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
	case keymap.Export:
		s.Host.ShowOverlay(browse.NewExportForm(s.Host, s.Marks.Exportable()))
		return nil
	}
	if s.Move(b) {
		s.SelectID = ""
		s.Columns.skipMarker(b.Action)
		switch b.Action {
		case keymap.Narrower, keymap.Wider, keymap.FreezeColumns:
			s.Controls.remember()
		}
		return s.moved()
	}
	action := controlActions[b.Action]
	if action != nil {
		return action(s.Controls)
	}
	return s.doSelected(b.Action)
}

// moved fetches the rows on the screen after a move, which may have ended at the newest message.
func (s *List) moved() tea.Cmd {
	if s.Grid.Index() == 0 && s.Rows.keepsPlace() {
		return s.goToNewest()
	}
	return s.FetchVisible()
}

// goToNewest selects the newest message and follows the newer ones. In another order than the
// newest first, it selects the first message.
func (s *List) goToNewest() tea.Cmd {
	s.SelectID = ""
	s.Grid.GoTo(0)
	s.Rows.follow()
	if len(s.Rows.unseen) > 0 {
		return s.Poll()
	}
	return s.FetchVisible()
}

// doSelected runs an action on the selected message, if there is one.
func (s *List) doSelected(action keymap.Action) tea.Cmd {
	m, ok := s.Selected()
	if !ok {
		return nil
	}
	switch action {
	case keymap.Open:
		s.Grid.Follow(false) // the message is still selected when the user comes back to the list
		return s.Host.Push(NewDetail(s, m))
	case keymap.ShowWhy:
		return ui.OpenWhy(s.Host, m)
	case keymap.CopyCell:
		s.Host.Copy(s.Columns.value(m))
	case keymap.CopyRow:
		text, note := s.Marks.copied(m)
		s.Host.Copy(text)
		if note != "" {
			s.Host.Notify(ui.Warning, note)
		}
	}
	return nil
}

// Click selects a cell; a double click opens its message, and a click on a title sorts by that
// column.
func (s *List) Click(x, y int, double bool) tea.Cmd {
	s.SelectID = ""
	row, title := s.Grid.SelectAt(x, y)
	s.Columns.skipMarker(keymap.GoRight)
	if title {
		return s.Controls.sort()
	}
	if row && double {
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return s.moved()
}

// Find returns the filter line.
func (s *List) Find() *ui.InputLine { return s.Controls.filterLine(s.Query.filterText()) }

// Act retries or deletes the marked messages, or the selected one, after a confirmation. The
// impact on marked messages is counted by the service first.
func (s *List) Act(action keymap.Action) tea.Cmd {
	if members := s.Marks.filter(action); members != nil {
		return s.Impacts.count(action, members)
	}
	m, ok := s.Selected()
	if !ok {
		return nil
	}
	change := singleChange{
		screen:  s,
		results: s.Bulk,
		message: m,
		begin:   s.Bulk.sending.begin,
		finish:  s.Bulk.finish,
	}
	if action == keymap.Delete {
		change.confirmDelete()
	} else {
		change.confirmRetry()
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
	return s.Host.Front() == ui.Screen(s) && s.Host.Overlay() == nil && s.Host.Input() == nil
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

func (s *List) Status() string {
	progress := cmp.Or(s.Impacts.progress(), s.Bulk.sending.progress())
	if progress != "" {
		return progress
	}
	if s.Pages.Total() < 0 {
		if s.Pages.Loading() {
			return "loading messages ..."
		}
		return "no response yet: " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " retries"
	}
	text := s.Marks.text()
	text += s.Query.blockedText(&s.Session.Queues) + s.Rows.newText()
	times := "times: " + ui.TimeModes[s.Session.Times]
	return ui.Parts(strings.TrimPrefix(text, statusGap), s.Rows.rateText(), s.Grid.PositionText(), times)
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
	return tea.Batch(s.catchUp(), s.Rows.refreshQueues(s))
}

// catchUp fetches the newest messages. A question stays above the message that it is about.
func (s *List) catchUp() tea.Cmd {
	if !s.InFront() || !s.Rows.needFetch() {
		return nil
	}
	return s.Poll()
}

// Retime fits the columns to the new time format.
func (s *List) Retime() string {
	s.Columns.set(s.Grid.Columns.Frozen())
	s.Grid.Columns.Fit()
	s.Rows.repaint()
	return ""
}
