package tui

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/where"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// messageFilter says which messages are shown.
type messageFilter struct {
	subscriber   string // its id, empty for all
	subscription string // its id, empty for all
	label        string // of what was chosen elsewhere, for people: of a subscriber its name
	conditions   []client.Filter
	problems     bool      // only those that failed
	at           time.Time // up to which they were added; zero for no such limit
}

// members is the filter as the service takes it.
func (f messageFilter) members() url.Values {
	q := url.Values{}
	if f.subscriber != "" {
		q.Set("SubscriberID", f.subscriber)
	}
	if f.subscription != "" {
		q.Set("SubscriptionID", f.subscription)
	}
	for _, c := range f.all() {
		q[c.Member()] = c.Values
	}
	if f.problems {
		q["StatusIn"] = []string{"2", "3"}
	}
	return q
}

// messages lists messages, the newest first, and keeps them up to date.
type messages struct {
	table
	filter   messageFilter
	pages    *grid.Pages
	known    map[string]wire.Message // by id, of the rows that are here
	changed  map[string]time.Time    // when a row changed that is marked so
	news     map[string]struct{}     // messages that have come and are not shown
	asked    time.Time               // when the rows were fetched last
	due      bool                    // the first page is to be fetched again
	allMarks bool                    // all that match are meant, also those that are not here
	typed    typedConditions         // the conditions as they were typed
	sought   string                  // the id of a message to select once it is here
	saved    string                  // whose name this has been opened by or saved under
}

// changedFor is how long a change stays marked, and a row in sight that the
// filter does not mean any more.
const changedFor = 10 * time.Second

func newMessages(a *app, filter messageFilter) screen {
	m := &messages{table: newTable(a, true), filter: filter, pages: grid.NewPages(), known: make(map[string]wire.Message), changed: make(map[string]time.Time), news: make(map[string]struct{})}
	m.grid.SetColumns([]grid.Column{
		{Name: "Status", Min: 7}, {Name: "Event", Min: 10, Max: 32, Flex: true}, {Name: "To", Min: 10, Max: 60, Flex: true, Both: true}, {Name: "Try", Right: true, Min: 4},
		{Name: "HTTP", Min: 4, Max: 20, Flex: true}, {Name: "Next", Min: 7}, {Name: "Age", Right: true, Min: 4}, {Name: " ", Min: 2},
	}, 0)
	m.grid.SetRows(m.pages)
	m.grid.Follow(true)
	return m
}

func (s *messages) start() tea.Cmd { return s.reload() }
func (s *messages) shown() tea.Cmd {
	s.repaint()
	return s.want()
}
func (s *messages) scopes() []scope { return []scope{inMessages, inLists} }
func (s *messages) waiting() bool   { return s.pages.Loading() }

func (s *messages) chips() []string {
	var chips []string
	if s.filter.label != "" {
		chips = append(chips, s.filter.label)
	}
	if s.filter.problems {
		chips = append(chips, "problems")
	}
	for _, f := range s.filter.conditions {
		chips = append(chips, where.Text(f))
	}
	if !s.filter.at.IsZero() {
		chips = append(chips, s.atChip())
	}
	return chips
}

func (s *messages) status() string {
	text := s.grid.Place()
	switch {
	case s.grid.Len() == 0 && !s.pages.Loading():
		text = "no messages"
	case s.allMarks:
		text += "   all that match are marked"
	case s.grid.Marks() > 0:
		text += fmt.Sprintf("   %d marked", s.grid.Marks())
	}
	return text + s.newer() + "   times: " + timeModes[s.app.times]
}

// newer tells of messages that are not shown. Whether they match conditions the
// service alone knows.
func (s *messages) newer() string {
	switch n := len(s.news); {
	case !s.filter.at.IsZero():
		return "   no new ones come in"
	case s.grid.Following():
		return "   following"
	case n == 0:
		return ""
	case len(s.filter.conditions) > 0:
		return "   there are new ones: " + s.app.keyFor(inLists, goTop) + " shows those that match"
	default:
		return fmt.Sprintf("   new %s: %s shows them", grid.Thousands(n), s.app.keyFor(inLists, goTop))
	}
}

func (s *messages) twin() string {
	return "whctl messages list" + s.limits() + " --order-by -AddedDateTime"
}

// limits are the conditions of the rows, as whctl takes them.
func (s *messages) limits() string {
	text := ""
	if s.filter.subscriber != "" {
		// by its ends, since the id is a key
		first, last, _ := strings.Cut(shortID(s.filter.subscriber), "..")
		text += " --where " + argument("SubscriberID^="+first) + " --where " + argument("SubscriberID$="+last)
	}
	if s.filter.subscription != "" {
		text += ` --where "SubscriptionID=` + s.filter.subscription + `"`
	}
	if s.filter.problems {
		text += ` --where "Status in 2,3"`
	}
	return text + conditions(s.typed.texts(s.app, messageKind(), s.filter.all()))
}

// reload asks for something else.
func (s *messages) reload() tea.Cmd {
	s.afresh()
	s.pages.Reset()
	clear(s.known)
	clear(s.news)
	s.due, s.allMarks, s.asked = false, false, s.app.now
	s.grid.Unmark()
	s.grid.Follow(true)
	return s.want()
}

// poll asks for the same again.
func (s *messages) poll() tea.Cmd {
	if s.pages.Loading() {
		s.due = true
		return nil
	}
	s.pages.Renew()
	clear(s.news)
	s.due, s.asked = false, s.app.now
	return s.want()
}

func (s *messages) want() tea.Cmd {
	first, last := s.grid.Window()
	var cmds []tea.Cmd
	for _, number := range s.pages.Wanted(first, last) {
		cmds = append(cmds, s.app.messages(s.context, s, s.pages.Generation(), number, s.filter.members()))
	}
	return tea.Batch(cmds...)
}

func (s *messages) update(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case messagesMsg:
		return s.page(m)
	case lanesMsg:
		s.app.explained(m)
		s.repaint()
	case doneMsg:
		s.app.done(m)
		if m.err == nil {
			for _, id := range m.ids {
				s.grid.Forget(id)
			}
		}
		return s.poll()
	case retriedMsg:
		return s.answered(m)
	}
	return nil
}

func (s *messages) page(m messagesMsg) tea.Cmd {
	if m.err != nil {
		if s.pages.Failed(m.generation, m.number) {
			s.app.unfetched("fetching messages", m.err)
		}
		return nil
	}
	rows := make([]*grid.Row, len(m.list))
	for i, one := range m.list {
		s.known[one.MessageID] = one
		rows[i] = s.row(one)
	}
	if s.pages.Put(m.generation, m.number, rows) {
		s.pages.SetTotal(m.generation, m.total)
		s.grid.Sync()
		s.seek()
	}
	s.forget()
	return s.want()
}

// seek selects the message that the list was opened for.
func (s *messages) seek() {
	if s.sought != "" && s.grid.Select(s.sought) {
		s.sought = ""
		s.grid.Follow(false)
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
	row := s.grid.Row()
	if row == nil {
		return wire.Message{}, false
	}
	m, ok := s.known[row.ID]
	return m, ok
}

func (s *messages) do(b binding) tea.Cmd {
	switch b.action {
	case goTop:
		s.grid.Follow(true)
		if len(s.news) > 0 {
			return s.poll()
		}
	case markAll:
		s.allMarks = true
		return nil
	case unmark:
		s.unmark()
		return nil
	case mark, markRange:
		s.allMarks = false
	case problemsOnly:
		s.filter.problems = !s.filter.problems
		return s.reload()
	case clearFilters:
		s.filter = messageFilter{}
		return s.reload()
	case export:
		s.app.over = newExportForm(s.app, s.exportable())
		return nil
	case retry, remove:
		return s.act(b.action)
	}
	if s.move(b) {
		s.sought = ""
		return s.want()
	}
	return s.doOne(b)
}

func (s *messages) doOne(b binding) tea.Cmd {
	one, ok := s.selected()
	switch {
	case !ok:
	case b.action == open:
		return s.app.push(newMessage(s, one))
	case b.action == copyCell:
		s.app.clip(one.MessageID)
	}
	return nil
}

func (s *messages) unmark() bool {
	had := s.table.unmark() || s.allMarks
	s.allMarks = false
	return had
}

// messageKind is what messages can be filtered by.
func messageKind() *record.Kind {
	kind, _ := record.System().Lookup(messageRecord)
	return kind
}

// find is the line of filters.
func (s *messages) find() *line {
	kind := messageKind()
	var texts []string
	for _, f := range s.filter.conditions {
		texts = append(texts, where.Text(f))
	}
	l := newLine(s.app, "filter Message", "/", strings.Join(texts, conditionGap))
	l.help = "such as Status=3  EventName^=debtor; " + s.app.keyFor(inLine, submit) + " filters at the service   " + s.app.keyFor(inLine, complete) + " completes"
	l.suggest = func(text string) []suggestion { return suggestFields(kind, text) }
	l.check = func(text string) error {
		filters, err := s.app.readFilters(kind, text)
		if err == nil && !s.filter.at.IsZero() {
			_, err = where.Append(filters, asOf(s.filter.at))
		}
		return err
	}
	l.accept = func(text string) tea.Cmd {
		s.filter.conditions, _ = s.app.readFilters(kind, text) // it was checked just now
		s.typed = s.app.note(kind, text)
		return s.reload()
	}
	return l
}
