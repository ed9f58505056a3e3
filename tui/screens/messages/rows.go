package messages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// rows are the loaded messages of a list. They follow the changes of messages.
type rows struct {
	session   *ui.Session
	query     *query
	columns   *columns
	grid      *grid.Grid
	pages     *grid.Pages
	Known     map[string]wire.Message // loaded messages by ID
	changed   changeTimes
	unseen    map[string]struct{} // IDs of new messages that are not shown
	arriving  int                 // number of new messages that are being fetched
	inserted  int                 // number of rows that were inserted above the selected one
	fetchedAt time.Time           // time of the last fetch
	due       bool                // the rows must be fetched again
}

// changeTimes are the times of the last changes of messages, by ID.
type changeTimes map[string]time.Time

// recent reports whether the last change of a message is so new that it is marked.
func (c changeTimes) recent(id string, now time.Time) bool {
	changedAt, ok := c[id]
	return ok && now.Sub(changedAt) < ChangedFor
}

// attempts formats the number of attempts and the maximum. Manual retries can exceed the
// maximum, which is then left out.
func attempts(m wire.Message) string {
	hasResult := m.LastMessageResponseHTTPCode != nil || m.LastMessageResponseMessage != ""
	if m.Status == ui.StatusNotSent && !hasResult {
		return "-"
	}
	if m.Retries > m.MaxRetries {
		return strconv.Itoa(m.Retries + 1)
	}
	return strconv.Itoa(m.Retries+1) + "/" + strconv.Itoa(m.MaxRetries+1)
}

// follow selects the newest message, and the newer ones as they arrive, if the list is in that order.
func (r *rows) follow() {
	r.grid.Follow(r.query.newest())
	r.inserted = 0
	r.arriving = 0
}

// fetching notes that all rows are fetched now.
func (r *rows) fetching() {
	r.arriving = len(r.unseen)
	clear(r.unseen)
	r.due = false
	r.fetchedAt = r.session.Now
}

// selected returns the selected message, false if it is not loaded.
func (r *rows) selected() (wire.Message, bool) {
	row := r.grid.Row()
	if row == nil {
		return wire.Message{}, false
	}
	m, ok := r.Known[row.ID]
	return m, ok
}

// put adds a fetched page of messages. It reports whether the page was still wanted.
func (r *rows) put(generation, number int, list []wire.Message, total int) bool {
	selected, index := r.grid.Row(), r.grid.Index()
	page := make([]*grid.Row, len(list))
	for i, m := range list {
		r.Known[m.MessageID] = m
		page[i] = r.columns.row(m)
	}
	if !r.pages.Put(generation, number, page) {
		return false
	}
	r.pages.SetTotal(generation, total)
	r.grid.Sync()
	r.arriving = 0
	if row := r.grid.Row(); r.keepsPlace() && selected != nil && row != nil && row.ID == selected.ID {
		r.inserted = max(0, r.inserted+r.grid.Index()-index)
	}
	return true
}

// keepsPlace reports whether the selection stays on its message while newer ones are inserted above.
func (r *rows) keepsPlace() bool { return r.query.newest() && !r.grid.Following() }

// maxKnown is the number of messages from which those without a loaded row are removed.
const maxKnown = 100 * grid.PageRows

// forget removes messages without a loaded row.
func (r *rows) forget() {
	if len(r.Known) < maxKnown {
		return
	}
	maps.DeleteFunc(r.Known, func(id string, _ wire.Message) bool { return r.pages.Find(id) < 0 })
}

// repaint updates the times in the visible rows and removes old change markers.
func (r *rows) repaint() {
	for id := range r.changed {
		if !r.changed.recent(id, r.session.Now) {
			delete(r.changed, id)
			if r.limited() { // the message may no longer match the filter
				r.due = true
			}
		}
	}
	for _, row := range r.visible() {
		r.update(row.ID)
	}
	r.grid.Sync()
}

// visible returns the loaded rows on the screen.
func (r *rows) visible() []*grid.Row {
	var visible []*grid.Row
	first, last := r.grid.Window()
	for i := first; i <= last; i++ {
		if row := r.pages.Row(i); row != nil {
			visible = append(visible, row)
		}
	}
	return visible
}

// limited reports whether a change of a message can remove it from the list.
func (r *rows) limited() bool {
	return r.query.Filter.StatusFilter().Statuses != nil || len(r.query.Filter.Conditions) > 0
}

// rebuild rebuilds all loaded rows.
func (r *rows) rebuild() {
	for _, row := range r.pages.Loaded() {
		r.update(row.ID)
	}
	r.grid.Sync()
}

// update replaces the row of a message if its cells have changed.
func (r *rows) update(id string) {
	m, ok := r.Known[id]
	i := r.pages.Find(id)
	if !ok || i < 0 {
		return
	}
	fresh := r.columns.row(m)
	if !slices.Equal(fresh.Cells, r.pages.Row(i).Cells) {
		r.pages.Replace(i, fresh)
	}
}

// needQueue reports whether the state of a queue explains a visible message.
func (r *rows) needQueue() bool {
	return slices.ContainsFunc(r.visible(), func(row *grid.Row) bool {
		return needsQueue(r.Known[row.ID], r.session)
	})
}

// FollowInterval is the minimum time between fetches while the list follows new
// messages.
const FollowInterval = time.Second

// refreshQueues fetches the queue statistics if they explain a visible message or are part of
// the status line.
func (r *rows) refreshQueues(s ui.Screen) tea.Cmd {
	if r.query.Filter.Problems {
		return r.session.Queues.Refresh(s, r.onQueues)
	}
	if !r.needQueue() {
		return nil
	}
	return r.session.Queues.RefreshIfOld(s, r.onQueues)
}

// onQueues shows new queue statistics.
func (r *rows) onQueues() tea.Cmd {
	r.repaint()
	return nil
}

// newText returns the status text about new messages: those that have arrived since the selection
// left the newest one. With conditions, only the service can count those that are not loaded.
func (r *rows) newText() string {
	if r.grid.Following() {
		return "   following"
	}
	isCountable := len(r.query.Filter.Conditions) == 0 && r.query.newest()
	above := r.inserted
	if isCountable {
		above += r.arriving + len(r.unseen)
	}
	key := keymap.KeyFor(keymap.InLists, keymap.GoTop)
	if above > 0 {
		return fmt.Sprintf("   %s new above: %s selects the first", display.Thousands(above), key)
	}
	if len(r.unseen) > 0 {
		return "   new messages: " + key + " shows matches"
	}
	return ""
}

// rateText describes the rate limit that delays the selected message, "" if there is none.
func (r *rows) rateText() string {
	m, ok := r.selected()
	if !ok || next(m, r.session) != rateLimited {
		return ""
	}
	return ui.RateLimitText(r.session.TimeUntil(rateUntil(m, r.session)))
}

// needFetch reports whether rows have changed, or new messages can be shown, that should be
// fetched now.
func (r *rows) needFetch() bool {
	if !r.session.MayPoll() || r.pages.Loading() || r.session.Now.Sub(r.fetchedAt) < FollowInterval {
		return false
	}
	showsNew := len(r.unseen) > 0 && (r.grid.Following() || r.canInsert())
	return r.due || showsNew
}

// canInsert reports whether new messages can be inserted above the selected one. Pages are fetched
// one by one: it would be lost for a moment if it moved from one page to the next.
func (r *rows) canInsert() bool {
	page := r.grid.Index() / grid.PageRows
	pageThen := (r.grid.Index() + len(r.unseen)) / grid.PageRows
	return r.keepsPlace() && page == pageThen
}

// maxUnseen limits the number of new messages that are counted.
const maxUnseen = 100_000

// change applies a change to the row of a message. New messages are counted.
func (r *rows) change(c wire.MessageChange) {
	m, ok := r.Known[c.MessageID]
	if !ok || r.pages.Find(c.MessageID) < 0 {
		if r.canAppear(c) && len(r.unseen) < maxUnseen {
			r.unseen[c.MessageID] = struct{}{}
		}
		return
	}
	if c.Deleted {
		r.due = true
	}
	m.Status = c.Status
	m.Retries = c.Retries
	m.NextAttemptDateTime = c.NextAttemptDateTime
	if c.HTTPCode != nil || c.Duration != 0 {
		m.LastMessageResponseHTTPCode = c.HTTPCode
		if c.HTTPCode == nil { // the error text has to be fetched
			r.due = true
		}
	}
	r.Known[c.MessageID] = m
	r.changed[c.MessageID] = r.session.Now
	r.update(c.MessageID)
}

// canAppear reports whether a changed message that is not loaded can be new in the list. Only in
// a list of problems, messages appear after their first attempt.
func (r *rows) canAppear(c wire.MessageChange) bool {
	filter := r.query.Filter
	isNew := c.Retries == 0 || filter.Problems
	return !c.Deleted && isNew && filter.StatusFilter().Matches(c.Status) && filter.Matches(c)
}
