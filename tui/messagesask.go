package tui

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What is asked before something is done to many messages: how many the service
// counts, where they go, and what is left alone.

// weighing is what is counted for a question.
type weighing struct {
	what      keymap.Action // retry or remove
	all       bool          // all that match are meant, else those that are marked
	members   url.Values    // which messages are meant
	failed    url.Values    // of these, those that nobody tries to send any more; nil where no filter can tell
	cancel    context.CancelFunc
	cancelled bool
}

func newWeighing(what keymap.Action, members url.Values, all bool) *weighing {
	w := &weighing{what: what, members: members, all: all}
	if what == keymap.Retry {
		w.failed = alsoStatus(members, 3)
	}
	return w
}

func (w *weighing) name() string {
	if w.what == keymap.Retry {
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

// weighed is what would be done.
type weighed struct {
	of      *weighing
	matched int64
	done    int64          // would be, of these
	failed  int64          // would be, of those that nobody tries to send any more
	newest  []wire.Message // of all that match
}

// newestWeighed is how many messages are looked at for where they go.
const newestWeighed = 1000

// weigh counts what would be done to messages, and looks where the newest go.
func (s *messages) weigh(w *weighing) tea.Cmd {
	ctx, cancel := context.WithCancel(s.Context)
	w.cancel = cancel
	var m weighed
	return s.Change(ui.Change{Of: s, What: w.name(), Do: func(_ context.Context, c *client.Client) (err error) {
		m, err = w.count(ctx, c)
		return err
	}, Told: func(error) {}, Then: func(err error) tea.Cmd {
		m.of = w
		s.weighed(m, err)
		return nil
	}})
}

// count counts at the service.
func (w *weighing) count(ctx context.Context, c *client.Client) (m weighed, err error) {
	if m.matched, m.done, err = w.would(ctx, c, w.members); err != nil {
		return m, err
	}
	if w.failed != nil {
		if _, m.failed, err = w.would(ctx, c, w.failed); err != nil {
			return m, err
		}
	}
	if !w.all {
		return m, nil // they are here
	}
	q := clone(w.members)
	if narrow := alsoStatus(q, 2, 3); w.what == keymap.Retry && narrow != nil {
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
func (w *weighing) would(ctx context.Context, c *client.Client, members url.Values) (matched, done int64, err error) {
	q := clone(members)
	q.Set("DryRun", "true")
	if w.what == keymap.Remove {
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

// weighed asks, unless the counting was given up or something else is open by
// now.
func (s *messages) weighed(m weighed, err error) {
	if m.of.cancelled {
		return
	}
	m.of.cancel()
	if s.bulk.counting == m.of {
		s.bulk.counting = nil
	}
	switch {
	case err != nil:
		s.Fail(m.of.name(), err)
	case s.Front() != ui.Screen(s) || s.Overlay() != nil || s.Typing():
		s.Tell(ui.Warning, "nothing was asked about messages, since something else was opened meanwhile: "+keymap.KeyFor(keymap.InMessages, keymap.Retry)+" or "+keymap.KeyFor(keymap.InMessages, keymap.Remove)+" once more asks")
	case m.of.what == keymap.Remove:
		s.askRemove(m)
	default:
		s.askRetry(m, !m.of.all || m.failed == 0)
	}
}

// askRetry asks whether what has failed is sent once more; with scheduled, also
// what is to be tried again anyway.
func (s *messages) askRetry(m weighed, scheduled bool) {
	if m.done == 0 {
		s.Tell(ui.Warning, fmt.Sprintf("none of %s has failed: there is nothing to retry", ui.Plural(int(m.matched), "message", "messages")))
		return
	}
	members, count, least, noun := m.of.members, int(m.done), 2, "message"
	if !scheduled {
		members, count, least, noun = m.of.failed, int(m.failed), 3, "failed message"
	}
	if m.failed == m.done {
		noun = "failed message"
	}
	what := "retry of " + ui.Plural(count, "message", "messages")
	lines := append(s.targets(m, count, least), m.others(scheduled, s.Session)...)
	lines = append(lines, s.pace(m, least))
	q := ui.AskMany(s.Host, count, "Retry "+ui.Plural(count, noun, noun+"s")+"?", "retry "+theme.Thousands(count), lines, func() tea.Cmd {
		s.begin(what)
		return s.retryMany(members, what)
	})
	if m.failed > 0 && m.failed < m.done {
		q.Other = func() { s.askRetry(m, !scheduled) }
	}
}

// pace tells how they are sent. Behind an endpoint that fails they do not go out
// before one of them has arrived.
func (s *messages) pace(m weighed, least int) string {
	for _, one := range m.looked(s) {
		if one.Status >= least && s.Queues.Known[one.SubscriptionID].Breaker == wire.BreakerOpen {
			return "Each is sent once more, oldest first; where an endpoint only fails, one at a time until one arrives."
		}
	}
	return "Each is sent once more, oldest first."
}

// others tells of the messages that are scheduled, and of those that nothing is
// done about.
func (m *weighed) others(scheduled bool, s *ui.Session) []string {
	var lines []string
	waiting, left := int(m.done-m.failed), int(m.matched-m.done)
	key := keymap.KeyFor(keymap.InRetryQuestion, keymap.Include)
	if s.TypedAnswer(int(m.done)) {
		key = keymap.KeyFor(keymap.InTypedRetryQuestion, keymap.Include)
	}
	switch {
	case waiting == 0 || m.of.failed == nil:
	case !scheduled:
		lines = append(lines, fmt.Sprintf("%s scheduled already and left alone (%s includes them).", ui.Plural(waiting, "more is", "more are"), key))
	case m.failed == 0:
		lines = append(lines, "All of them are scheduled already, and due now instead.")
	default:
		lines = append(lines, fmt.Sprintf("%s scheduled already, and due now instead (%s leaves them alone).", ui.Plural(waiting, "of them is", "of them are"), key))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("%s delivered or not tried yet, and left alone.", ui.Plural(left, "is", "are")))
	}
	return lines
}

func (s *messages) askRemove(m weighed) {
	count := int(m.done)
	what := "delete of " + ui.Plural(count, "message", "messages")
	ui.AskMany(s.Host, count, "Delete "+ui.Plural(count, "message", "messages")+"?", "delete "+theme.Thousands(count),
		append(s.targets(m, count, 0), "What is pending of them is not sent. For "+ui.Age(ui.UndoTime)+", "+keymap.KeyFor(keymap.Everywhere, keymap.TakeBack)+" takes that back."), func() tea.Cmd {
			return s.Delay(what, m.of.members["MessageIDIn"], func() tea.Cmd {
				s.begin(what)
				return s.removeMany(m.of.members, what)
			})
		})
}
