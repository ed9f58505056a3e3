package messages

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Name is asked before something is done to many messages: how many the service
// counts, where they go, and what is left alone.

// Weighing is what is counted for a question.
type Weighing struct {
	What      keymap.Action // retry or remove
	All       bool          // all that match are meant, else those that are marked
	Members   url.Values    // which messages are meant
	failed    url.Values    // of these, those that nobody tries to send any more; nil where no filter can tell
	Cancel    context.CancelFunc
	cancelled bool
}

func newWeighing(what keymap.Action, members url.Values, all bool) *Weighing {
	w := &Weighing{What: what, Members: members, All: all}
	if what == keymap.Retry {
		w.failed = alsoStatus(members, 3)
	}
	return w
}

func (w *Weighing) name() string {
	if w.What == keymap.Retry {
		return "retry of messages"
	}
	return "delete of messages"
}

// alsoStatus narrows a filter to some statuses; nil where it has all conditions
// on the status already that could say so.
func alsoStatus(members url.Values, statuses ...int) url.Values {
	var values []string
	for _, one := range statuses {
		values = append(values, strconv.Itoa(one))
	}
	for _, name := range []string{"StatusIn", "Status"} {
		if _, taken := members[name]; !taken && (name == "StatusIn" || len(values) == 1) {
			narrow := clone(members)
			narrow[name] = values
			return narrow
		}
	}
	return nil
}

// Weighed is what would be done.
type Weighed struct {
	Of      *Weighing
	Matched int64
	Done    int64          // would be, of these
	failed  int64          // would be, of those that nobody tries to send any more
	newest  []wire.Message // of all that match
}

// newestWeighed is how many messages are looked at for where they go.
const newestWeighed = 1000

// weigh counts what would be done to messages, and looks where the newest go.
func (s *bulk) weigh(w *Weighing) tea.Cmd {
	ctx, cancel := context.WithCancel(s.Context)
	w.Cancel = cancel
	var m Weighed
	return s.Change(ui.Change{Screen: s.List, Name: w.name(), Do: func(_ context.Context, c *client.Client) (err error) {
		m, err = w.measure(ctx, c)
		return err
	}, OnDone: func(error) {}, Then: func(err error) tea.Cmd {
		m.Of = w
		s.Weighed(m, err)
		return nil
	}})
}

// measure counts at the service.
func (w *Weighing) measure(ctx context.Context, c *client.Client) (m Weighed, err error) {
	if m.Matched, m.Done, err = w.would(ctx, c, w.Members); err != nil {
		return m, err
	}
	if w.failed != nil {
		if _, m.failed, err = w.would(ctx, c, w.failed); err != nil {
			return m, err
		}
	}
	if !w.All {
		return m, nil // they are here
	}
	q := clone(w.Members)
	if narrow := alsoStatus(q, 2, 3); w.What == keymap.Retry && narrow != nil {
		q = narrow
	}
	q.Del("All")
	q.Set("Take", strconv.Itoa(newestWeighed))
	q.Set("Fields", "MessageID,SubscriptionID,URL,Status,LastMessageResponseHTTPCode,LastMessageResponseMessage")
	page, err := c.AllMessages(ctx, q)
	if err == nil {
		m.newest = page.Results
	}
	return m, err
}

// would counts what would be done to messages.
func (w *Weighing) would(ctx context.Context, c *client.Client, members url.Values) (matched, done int64, err error) {
	q := clone(members)
	q.Set("DryRun", "true")
	if w.What == keymap.Delete {
		r, err := c.DeleteMessages(ctx, q)
		if err != nil {
			return 0, 0, err
		}
		return r.Matched, r.Deleted, nil
	}
	r, err := c.RetryMessages(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	return r.Matched, r.Retried, nil
}

// Weighed asks, unless the counting was given up or something else is open by
// now.
func (s *bulk) Weighed(m Weighed, err error) {
	if m.Of.cancelled {
		return
	}
	m.Of.Cancel()
	if s.counting == m.Of {
		s.counting = nil
	}
	switch {
	case err != nil:
		s.ShowError(m.Of.name(), err)
	case s.Front() != ui.Screen(s.List) || s.Overlay() != nil || s.InputOpen():
		s.Notify(ui.Warning, "nothing was asked about messages, since something else was opened meanwhile: "+keymap.KeyFor(keymap.InMessages, keymap.Retry)+" or "+keymap.KeyFor(keymap.InMessages, keymap.Delete)+" once more asks")
	case m.Of.What == keymap.Delete:
		s.askRemove(m)
	default:
		s.askRetry(m, !m.Of.All || m.failed == 0)
	}
}

// askRetry asks whether what has failed is sent once more; with scheduled, also
// what is to be tried again anyway.
func (s *bulk) askRetry(m Weighed, scheduled bool) {
	if m.Done == 0 {
		s.Notify(ui.Warning, fmt.Sprintf("none of %s has failed: there is nothing to retry", display.Count(m.Matched, "message", "messages")))
		return
	}
	members, count, least, noun := m.Of.Members, int(m.Done), 2, "message"
	if !scheduled {
		members, count, least, noun = m.Of.failed, int(m.failed), 3, "failed message"
	}
	if m.failed == m.Done {
		noun = "failed message"
	}
	what := "retry of " + display.Count(count, "message", "messages")
	lines := append(s.targets(m, count, least), m.others(scheduled, s.Session)...)
	lines = append(lines, s.pace(m, least))
	q := ui.OpenConfirmMany(s.Host, count, "Retry "+display.Count(count, noun, noun+"s")+"?", "retry "+display.Thousands(count), lines, func() tea.Cmd {
		s.begin(what)
		return s.RetryMany(members, what)
	})
	if m.failed > 0 && m.failed < m.Done {
		q.Toggle = func() { s.askRetry(m, !scheduled) }
	}
}

// pace tells how they are sent. Behind an endpoint that fails they do not go out
// before one of them has arrived.
func (s *bulk) pace(m Weighed, least int) string {
	for _, one := range m.looked(s.List) {
		if one.Status >= least && s.Queues.Known[one.SubscriptionID].Breaker == wire.BreakerOpen {
			return "Each is sent once more, oldest first; where an endpoint only fails, one at a time until one arrives."
		}
	}
	return "Each is sent once more, oldest first."
}

// others tells of the messages that are scheduled, and of those that nothing is
// done about.
func (m *Weighed) others(scheduled bool, s *ui.Session) []string {
	var lines []string
	waiting, left := int(m.Done-m.failed), int(m.Matched-m.Done)
	key := keymap.KeyFor(keymap.InRetryConfirm, keymap.ToggleScheduled)
	if s.NeedsTypedAnswer(int(m.Done)) {
		key = keymap.KeyFor(keymap.InTypedRetryConfirm, keymap.ToggleScheduled)
	}
	switch {
	case waiting == 0 || m.Of.failed == nil:
	case !scheduled:
		lines = append(lines, fmt.Sprintf("%s scheduled already and left alone (%s includes them).", display.Count(waiting, "more is", "more are"), key))
	case m.failed == 0:
		lines = append(lines, "All of them are scheduled already, and due now instead.")
	default:
		lines = append(lines, fmt.Sprintf("%s scheduled already, and due now instead (%s leaves them alone).", display.Count(waiting, "of them is", "of them are"), key))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("%s delivered or not tried yet, and left alone.", display.Count(left, "is", "are")))
	}
	return lines
}

func (s *bulk) askRemove(m Weighed) {
	count := int(m.Done)
	what := "delete of " + display.Count(count, "message", "messages")
	ui.OpenConfirmMany(s.Host, count, "Delete "+display.Count(count, "message", "messages")+"?", "delete "+display.Thousands(count),
		append(s.targets(m, count, 0), "What is pending of them is not sent. For "+ui.Age(ui.UndoDelay)+", "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" takes that back."), func() tea.Cmd {
			return s.Delay(what, m.Of.Members["MessageIDIn"], func() tea.Cmd {
				s.begin(what)
				return s.RemoveMany(m.Of.Members, what)
			})
		})
}

// Where the messages go that a question is about.

// receiver is where messages go.
type receiver struct {
	name, answer, still string
	count               int
}

// targetsShown is how many of them a question names.
const targetsShown = 4

// targets says where messages of at least a status go that are meant. Of very
// many the newest tell that.
func (s *bulk) targets(m Weighed, count, least int) []string {
	all := s.grouped(m.looked(s.List), least)
	var lines []string
	room := 0
	for _, one := range all[:min(targetsShown, len(all))] {
		room = max(room, min(targetRoom, len(one.name)))
	}
	for i, one := range all {
		count -= one.count
		if i < targetsShown {
			lines = append(lines, fmt.Sprintf("%6s  %s   last %s%s", display.Thousands(one.count), s.Theme.Fit(s.Theme.TruncateMiddle(one.name, room), room, false), one.answer, one.still))
		}
	}
	if more := len(all) - targetsShown; more > 0 {
		lines = append(lines, fmt.Sprintf("        and %s", display.Count(more, "other", "others")))
	}
	if count > 0 {
		lines = append(lines, fmt.Sprintf("%6s  %s", display.Thousands(count), m.unseen()))
	}
	return lines
}

// targetRoom is how much of an address is shown.
const targetRoom = 24

// looked are the messages that tell where those go that are meant.
func (m *Weighed) looked(s *List) []wire.Message {
	if m.Of.All {
		return m.newest
	}
	var list []wire.Message
	for _, row := range s.Grid.MarkedRows() {
		list = append(list, s.Known[row.ID])
	}
	return list
}

// unseen names those of which nobody knows where they go.
func (m *Weighed) unseen() string {
	if m.Of.All {
		return fmt.Sprintf("older than the newest %s that match", display.Thousands(len(m.newest)))
	}
	return "that have changed since they were marked"
}

// grouped counts messages by where they go, most first. The newest tells the
// answer.
func (s *bulk) grouped(list []wire.Message, least int) []*receiver {
	byName := make(map[string]*receiver)
	var all []*receiver
	for _, m := range list {
		if m.Status < least {
			continue
		}
		one := byName[ui.ShortURL(m.URL)]
		if one == nil {
			one = &receiver{name: ui.ShortURL(m.URL), answer: ui.LastResult(m), still: s.failing(m.SubscriptionID)}
			byName[one.name] = one
			all = append(all, one)
		}
		one.count++
	}
	slices.SortFunc(all, func(x, y *receiver) int {
		if x.count != y.count {
			return y.count - x.count
		}
		return strings.Compare(x.name, y.name)
	})
	return all
}

// failing tells that an endpoint has done nothing but fail lately.
func (s *bulk) failing(subscription string) string {
	queue := s.Queues.Known[subscription]
	if queue.LastFailure == nil || time.Time(queue.FailingSince).IsZero() {
		return ""
	}
	return "  (still failing " + ui.Age(s.Now.Sub(time.Time(queue.LastFailure.At))) + " ago)"
}
