package tui

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bizhook/whd/tui/browse"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// messages lists messages, the newest first, and keeps them up to date.
type messages struct {
	browse.Table
	filter   ui.MessageFilter
	order    grid.Sort       // by a column; of none, the newest come first
	columns  []messageColumn // that are shown, with the one for signs
	pages    *grid.Pages
	known    map[string]wire.Message // by id, of the rows that are here
	changed  map[string]time.Time    // when a row changed that is marked so
	news     map[string]struct{}     // messages that have come and are not shown
	asked    time.Time               // when the rows were fetched last
	due      bool                    // the first page is to be fetched again
	allMarks bool                    // all that match are meant, also those that are not here
	typed    browse.TypedConditions  // the conditions as they were typed
	sought   string                  // the id of a message to select once it is here
	saved    string                  // whose name this has been opened by or saved under
	bulk     bulkState

	subscribers map[string]string // the names that were fetched, by id
	namesAsked  bool
}

// changedFor is how long a change stays marked, and a row in sight that the
// filter does not mean any more.
const changedFor = 10 * time.Second

func newMessages(h ui.Host, filter ui.MessageFilter) *messages {
	m := &messages{Table: browse.NewTable(h, false), filter: filter, pages: grid.NewPages(), known: make(map[string]wire.Message), changed: make(map[string]time.Time), news: make(map[string]struct{})}
	m.Grid.SetRows(m.pages)
	m.show(usualMessageColumns(), 0)
	if as, was := m.State.Grids[messagesKept]; was {
		m.arrange(as)
	}
	m.Grid.Follow(true)
	return m
}

func (s *messages) Start() tea.Cmd { return s.reload() }
func (s *messages) Shown() tea.Cmd {
	s.repaint()
	return s.want()
}
func (s *messages) Scopes() []keymap.Scope {
	return []keymap.Scope{keymap.InMessages, keymap.InGrids, keymap.InLists}
}
func (s *messages) Waiting() bool { return s.pages.Loading() || s.bulk.busy() }

// reload asks for something else.
func (s *messages) reload() tea.Cmd {
	s.Reset()
	s.pages.Reset()
	clear(s.known)
	clear(s.news)
	s.due, s.asked = false, s.Now
	s.clearMarks()
	s.Grid.SetSort(s.order)
	s.Grid.To(0)
	s.Grid.Follow(s.newest())
	return s.want()
}

// Poll asks for the same again.
func (s *messages) Poll() tea.Cmd {
	if s.pages.Loading() {
		s.due = true
		return nil
	}
	s.pages.Renew()
	clear(s.news)
	s.due, s.asked = false, s.Now
	return s.want()
}

func (s *messages) want() tea.Cmd {
	first, last := s.Grid.Window()
	var cmds []tea.Cmd
	for _, number := range s.pages.Wanted(first, last) {
		cmds = append(cmds, s.fetchPage(number))
	}
	return tea.Batch(cmds...)
}

// fetchPage fetches a page of messages, the newest first. Bodies are left out: the
// detail fetches its own.
func (s *messages) fetchPage(number int) tea.Cmd {
	generation, q := s.pages.Generation(), s.members()
	q.Set("Skip", strconv.Itoa(number*grid.PageRows))
	q.Set("Take", strconv.Itoa(grid.PageRows))
	q.Set("Include", "Total")
	q.Set("Fields", ui.MessageFields())
	return ui.Fetch(s.Ctx, s, func(ctx context.Context, c *client.Client) (*wire.Page[wire.Message], error) {
		return c.AllMessages(ctx, q)
	},
		func(page *wire.Page[wire.Message], err error) tea.Cmd {
			if err != nil {
				return s.pageFailed(generation, number, err)
			}
			return s.put(generation, number, page.Results, int(page.Total))
		})
}

func (s *messages) pageFailed(generation, number int, err error) tea.Cmd {
	if s.pages.Failed(generation, number) {
		s.FetchFailed("fetching messages", err)
	}
	return nil
}

// put takes a page of messages.
func (s *messages) put(generation, number int, list []wire.Message, total int) tea.Cmd {
	rows := make([]*grid.Row, len(list))
	for i, one := range list {
		s.known[one.MessageID] = one
		rows[i] = s.row(one)
	}
	if s.pages.Put(generation, number, rows) {
		s.pages.SetTotal(generation, total)
		s.Grid.Sync()
		s.seek()
	}
	s.markMore()
	s.forget()
	return tea.Batch(s.want(), s.wantNames(list))
}

// seek selects the message that the list was opened for.
func (s *messages) seek() {
	if s.sought != "" && s.Grid.Select(s.sought) {
		s.sought = ""
		s.Grid.Follow(false)
	}
}

// forget drops messages whose rows are not kept any more.
func (s *messages) forget() {
	if len(s.known) < 100*grid.PageRows {
		return
	}
	maps.DeleteFunc(s.known, func(id string, _ wire.Message) bool { return s.pages.Find(id) < 0 })
}

func (s *messages) selected() (wire.Message, bool) {
	row := s.Grid.Row()
	if row == nil {
		return wire.Message{}, false
	}
	m, ok := s.known[row.ID]
	return m, ok
}

func (s *messages) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoTop:
		s.Grid.Follow(s.newest())
		if len(s.news) > 0 {
			return s.Poll()
		}
	case keymap.Mark, keymap.MarkRange:
		s.chooseMarks()
	case keymap.MarkAll, keymap.Unmark, keymap.Retry, keymap.Remove:
		return s.mark(b.Action)
	}
	if s.Move(b) {
		s.moved(b)
		return s.want()
	}
	if deed := messageDeeds[b.Action]; deed != nil {
		return deed(s)
	}
	return s.doOne(b)
}

// messageDeeds are the actions on the list as a whole, which say what is shown
// of it.
var messageDeeds = map[keymap.Action]func(s *messages) tea.Cmd{
	keymap.ProblemsOnly: (*messages).nextStanding,
	keymap.SortColumn:   (*messages).sort,
	keymap.KeepValue:    (*messages).keep,
	keymap.ClearFilters: func(s *messages) tea.Cmd {
		s.filter = ui.MessageFilter{}
		return s.reload()
	},
	keymap.FilterColumn: func(s *messages) tea.Cmd {
		s.filterColumn()
		return nil
	},
	keymap.ChooseColumns: func(s *messages) tea.Cmd {
		s.chooseColumns()
		return nil
	},
	keymap.Export: func(s *messages) tea.Cmd {
		s.Show(browse.NewExportForm(s.Host, s.exportable()))
		return nil
	},
}

// moved takes note of where the selection has gone, and keeps what was changed
// of columns.
func (s *messages) moved(b keymap.Binding) {
	s.sought = ""
	s.aside(b)
	switch b.Action {
	case keymap.Narrower, keymap.Wider, keymap.FreezeHere:
		s.remember()
	}
}

func (s *messages) doOne(b keymap.Binding) tea.Cmd {
	one, ok := s.selected()
	switch {
	case !ok:
	case b.Action == keymap.Open:
		return s.Push(newMessage(s, one))
	case b.Action == keymap.CopyCell:
		s.copyCell(one)
	case b.Action == keymap.CopyRow:
		s.copyRows(one)
	}
	return nil
}

func clone(members url.Values) url.Values {
	copied := make(url.Values, len(members)+4)
	for name, values := range members {
		copied[name] = slices.Clone(values)
	}
	return copied
}

func (s *messages) Click(x, y int, again bool) tea.Cmd {
	row, title := s.Press(x, y)
	s.aside(keymap.Binding{})
	switch {
	case title:
		return s.sort()
	case row && again:
		return s.Do(keymap.Binding{Action: keymap.Open})
	}
	return s.want()
}
