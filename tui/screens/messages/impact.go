package messages

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// ImpactQuery requests the impact of an action on many messages, for its
// confirmation.
type ImpactQuery struct {
	Action    keymap.Action // Retry or Delete
	All       bool          // all matches, else the marked messages
	Members   url.Values    // filter of the messages
	failed    url.Values    // filter of those given up; nil if no filter can select them
	delivered bool          // the filter names the status of delivered messages: a retry includes them
	Cancel    context.CancelFunc
	cancelled bool
}

func newImpactQuery(action keymap.Action, members url.Values, allMatches bool) *ImpactQuery {
	w := &ImpactQuery{Action: action, Members: members, All: allMatches}
	if action == keymap.Retry {
		w.failed = alsoStatus(members, 3)
		w.delivered = slices.Contains(slices.Concat(members["Status"], members["StatusIn"]), strconv.Itoa(delivered))
	}
	return w
}

func (w *ImpactQuery) name() string { return actionNames[w.Action] }

// alsoStatus limits a filter to some statuses. It returns nil if the filter uses
// all parameters for the status already.
func alsoStatus(members url.Values, statuses ...int) url.Values {
	values := record.Texts(statuses, strconv.Itoa)
	for _, name := range []string{"StatusIn", "Status"} {
		if _, taken := members[name]; !taken && (name == "StatusIn" || len(values) == 1) {
			narrow := maps.Clone(members)
			narrow[name] = values
			return narrow
		}
	}
	return nil
}

// Impact is the impact of an action.
type Impact struct {
	Of      *ImpactQuery
	Matched int64
	Done    int64          // number that the action would change
	failed  int64          // the same of the messages given up
	warning string         // about the change, empty for none
	newest  []wire.Message // newest matches, for their endpoints
	limit   url.Values     // members that exclude messages that match later; nil if the filter does
}

// impactSample is the number of newest messages that are grouped by endpoint.
const impactSample = 1000

// impacts counts the messages that an action on several messages concerns, and opens its
// confirmation.
type impacts struct {
	host     impactsHost
	list     impactsList
	session  *ui.Session
	marks    *marks
	bulk     *bulk
	counting *ImpactQuery // count in flight before a confirmation; nil for none
}

// impactsList has the methods of a list that impacts uses.
type impactsList interface {
	// Send sends a change of messages of the list.
	Send(c ui.Change) tea.Cmd
	// Confirm opens a confirmation about a number of messages.
	Confirm(count int, question, verb string, lines []string, run func() tea.Cmd) *ui.Confirm
	// InFront reports whether the list is in front, without an overlay or an input.
	InFront() bool
}

// impactsHost has the methods of the app that impacts uses.
type impactsHost interface {
	// Delay runs a change later, unless the user undoes it before.
	Delay(name string, ids []string, run func() tea.Cmd) tea.Cmd
	// Notify shows a message to the user.
	Notify(l ui.Level, text string)
	// ShowError shows the error of an action that the user requested.
	ShowError(action string, err error)
}

// progress returns the status text of the count in flight, empty for none.
func (s *impacts) progress() string {
	if s.counting == nil {
		return ""
	}
	return "counting messages for " + s.counting.name() + " ...   " +
		keymap.KeyFor(keymap.Everywhere, keymap.GoBack) + " cancels"
}

// cancel cancels the count in flight and its confirmation. It reports whether there was one.
func (s *impacts) cancel() bool {
	if s.counting == nil {
		return false
	}
	s.counting.Cancel()
	s.counting.cancelled = true
	s.counting = nil
	return true
}

// count requests the impact of an action and opens its confirmation.
func (s *impacts) count(action keymap.Action, members url.Values) tea.Cmd {
	s.cancel()
	ctx, cancel := context.WithCancel(s.session.Context)
	w := newImpactQuery(action, members, s.marks.All)
	w.Cancel = cancel
	s.counting = w
	var m Impact
	return s.list.Send(ui.Change{Name: w.name(), DryRun: true, Do: func(_ context.Context, c *client.Client) (err error) {
		m, err = w.fetch(ctx, c)
		return err
	}, OnDone: func(error) {}, Then: func(err error) tea.Cmd {
		m.Of = w
		s.Show(m, err)
		return nil
	}})
}

// fetch requests the impact from the service. The newest matches are read before the matches
// are counted, so that the change is limited to messages that are in the count.
func (w *ImpactQuery) fetch(ctx context.Context, c *client.Client) (m Impact, err error) {
	if w.All { // marked messages are loaded
		m.newest, err = w.sample(ctx, c)
		if err != nil {
			return m, err
		}
		m.limit = limitTo(m.newest)
	}

	would, err := w.dryRun(ctx, c, w.Members)
	if err != nil {
		return m, err
	}
	m.Matched, m.Done = would.matched, would.done
	m.warning = would.warning
	if w.failed != nil {
		failed, err := w.dryRun(ctx, c, w.failed)
		if err != nil {
			return m, err
		}
		m.failed = failed.done
	}
	if w.All && len(m.newest) == 0 { // those counted since then cannot be selected
		m.Done = 0
		m.failed = 0
	}
	return m, nil
}

// sample requests the newest messages that the action would change.
func (w *ImpactQuery) sample(ctx context.Context, c *client.Client) ([]wire.Message, error) {
	q := maps.Clone(w.Members)
	if narrow := alsoStatus(q, 2, 3); w.Action == keymap.Retry && !w.delivered && narrow != nil {
		q = narrow
	}
	q.Del("All")
	q.Set("Take", strconv.Itoa(impactSample))
	q.Set("Fields", "MessageID,SubscriptionID,URL,Status,Retries,AddedDateTime,"+
		"LastMessageResponseHTTPCode,LastMessageResponseMessage")
	page, err := c.AllMessages(ctx, q)
	if err != nil {
		return nil, err
	}
	return page.Results, nil
}

// limitTo returns members that limit a filter to the matches of which newest are the newest, and
// so exclude messages that match later. If these are all matches, they are selected by ID.
func limitTo(newest []wire.Message) url.Values {
	if len(newest) == 0 {
		return nil
	}
	if len(newest) < impactSample {
		return url.Values{"MessageIDIn": record.Texts(newest, func(m wire.Message) string { return m.MessageID })}
	}
	last := slices.MaxFunc(newest, func(a, b wire.Message) int {
		return time.Time(a.AddedDateTime).Compare(time.Time(b.AddedDateTime))
	})
	until := time.Time(last.AddedDateTime).Add(time.Millisecond) // Until is exclusive, and replies have milliseconds
	return url.Values{"Until": {until.UTC().Format(wire.DateLayout)}}
}

// limited returns a filter that does not select messages that match since they were counted.
func (m *Impact) limited(members url.Values) url.Values {
	narrow := url.Values{}
	maps.Copy(narrow, members)
	maps.Copy(narrow, m.limit)
	return narrow
}

// dryRun requests the number of messages that match and that would change.
func (w *ImpactQuery) dryRun(ctx context.Context, c *client.Client, members url.Values) (tally, error) {
	q := maps.Clone(members)
	q.Set("DryRun", "true")
	return changeMessages(ctx, c, w.Action, q)
}

// Show opens the confirmation, unless the count was cancelled or the screen has
// changed.
func (s *impacts) Show(m Impact, err error) {
	if m.Of.cancelled {
		return
	}
	m.Of.Cancel()
	if s.counting == m.Of {
		s.counting = nil
	}
	switch {
	case err != nil:
		s.host.ShowError(m.Of.name(), err)
	case !s.list.InFront():
		s.host.Notify(ui.Warning, m.Of.name()+" cancelled: the screen changed")
	case m.Of.Action == keymap.Delete:
		s.confirmDelete(m)
	default:
		s.confirmRetry(m, !m.Of.All || m.failed == 0)
	}
}

// confirmRetry opens the confirmation of a retry of failed messages, and of delivered ones if the
// filter names them. With scheduled, it includes messages that have a next attempt.
func (s *impacts) confirmRetry(m Impact, scheduled bool) {
	if m.Done == 0 {
		s.host.Notify(ui.Warning,
			fmt.Sprintf("nothing to retry: none of %s has failed", display.Count(m.Matched, "message", "messages")))
		return
	}
	members := m.Of.Members
	count := int(m.Done)
	minStatus := 2
	noun := "message"
	if m.Of.delivered {
		minStatus = delivered
	}
	if !scheduled {
		members = m.Of.failed
		count = int(m.failed)
		minStatus = 3
		noun = "failed message"
	}
	if m.failed == m.Done {
		noun = "failed message"
	}
	list := slices.DeleteFunc(s.sample(m), func(message wire.Message) bool { return message.Status < minStatus })
	lines := append(targets(list, count, m.unseen(), s.session), m.others(scheduled, s.session)...)
	if slices.ContainsFunc(list, func(message wire.Message) bool { return paused(message, s.session) }) {
		lines = append(lines, "Those of disabled subscriptions wait until these are enabled.")
	}
	lines = append(lines, pace(list, &s.session.Queues))
	if minStatus == delivered {
		lines = append(lines, "Delivered messages keep their IDs: a receiver that has kept them ignores these.")
	}
	if m.warning != "" {
		lines = append(lines, strings.ToUpper(m.warning[:1])+m.warning[1:]+".")
	}
	question := s.list.Confirm(count, "Retry "+display.Count(count, noun, noun+"s")+"?", "retry "+display.Thousands(count), lines, func() tea.Cmd {
		return s.bulk.ChangeMany(keymap.Retry, m.limited(members), count, list)
	})
	if m.failed > 0 && m.failed < m.Done {
		question.Toggle = func() { s.confirmRetry(m, !scheduled) }
	}
}

// confirmDelete opens the confirmation of a delete.
func (s *impacts) confirmDelete(m Impact) {
	if m.Done == 0 {
		s.host.Notify(ui.Warning, "nothing to delete: no message matches")
		return
	}
	count := int(m.Done)
	members := m.limited(m.Of.Members)
	members.Set("Take", strconv.Itoa(count))
	lines := append(targets(s.sample(m), count, m.unseen(), s.session),
		"Queued messages are not sent. Press "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" within "+
			ui.Age(ui.UndoDelay)+" to undo.")
	s.list.Confirm(count, "Delete "+display.Count(count, "message", "messages")+"?", "delete "+display.Thousands(count), lines, func() tea.Cmd {
		return s.host.Delay(bulkName(keymap.Delete, count), members["MessageIDIn"], func() tea.Cmd {
			return s.bulk.ChangeMany(keymap.Delete, members, count, nil)
		})
	})
}

// sample returns the messages to group by endpoint.
func (s *impacts) sample(m Impact) []wire.Message {
	if m.Of.All {
		return slices.Clone(m.newest)
	}
	return s.marks.messages()
}

// pace describes the order of delivery. With an open circuit breaker, one message
// must succeed before the others are sent.
func pace(list []wire.Message, queues *ui.Queues) string {
	if slices.ContainsFunc(list, func(m wire.Message) bool { return queues.BreakerOpen(m.SubscriptionID) }) {
		return "Each is sent again, oldest first; while a circuit breaker is open, one at a time until one succeeds."
	}
	return "Each is sent again, oldest first."
}

// others describes the scheduled and the skipped messages.
func (m *Impact) others(scheduled bool, s *ui.Session) []string {
	var lines []string
	scheduledCount, skipped := int(m.Done-m.failed), int(m.Matched-m.Done)
	key := keymap.KeyFor(keymap.InRetryConfirm, keymap.ToggleScheduled)
	if s.NeedsTypedAnswer(int(m.Done)) {
		key = keymap.KeyFor(keymap.InTypedRetryConfirm, keymap.ToggleScheduled)
	}
	canSkip := m.Of.failed != nil && !m.Of.delivered
	switch {
	case scheduledCount == 0 || !canSkip:
	case !scheduled:
		lines = append(lines,
			fmt.Sprintf("%s already scheduled and skipped (press %s to include them).",
				display.Count(scheduledCount, "more is", "more are"), key))
	case m.failed == 0:
		lines = append(lines, "All are already scheduled; they will be sent now.")
	default:
		lines = append(lines,
			fmt.Sprintf("%s already scheduled and will be sent now (%s skips them).",
				display.Count(scheduledCount, "of them is", "of them are"), key))
	}
	if skipped > 0 {
		lines = append(lines,
			fmt.Sprintf("%s skipped: delivered or not sent.", display.Count(skipped, "message is", "messages are")))
	}
	return lines
}

// receiver is an endpoint with the number of its messages.
type receiver struct {
	name, lastResult, failing string
	count                     int
}

// targetsShown is the maximum number of endpoints in a confirmation.
const targetsShown = 4

// targets lists the endpoints of count messages, of which the list has the loaded or newest ones;
// unseen describes the others.
func targets(list []wire.Message, count int, unseen string, s *ui.Session) []string {
	all := grouped(list, s)
	var lines []string
	room := 0
	for _, target := range all[:min(targetsShown, len(all))] {
		room = max(room, min(targetRoom, len(target.name)))
	}
	for i, target := range all {
		count -= target.count
		if i < targetsShown {
			lines = append(lines,
				fmt.Sprintf("%6s  %s   last %s%s", display.Thousands(target.count),
					s.Theme.Fit(s.Theme.TruncateMiddle(target.name, room), room, false),
					target.lastResult, target.failing))
		}
	}
	if hidden := len(all) - targetsShown; hidden > 0 {
		lines = append(lines, fmt.Sprintf("        and %s", display.Count(hidden, "other", "others")))
	}
	if count > 0 {
		lines = append(lines, fmt.Sprintf("%6s  %s", display.Thousands(count), unseen))
	}
	return lines
}

// targetRoom is the maximum width of an endpoint name.
const targetRoom = 24

// unseen describes the messages outside of the sample.
func (m *Impact) unseen() string {
	if m.Of.All {
		return fmt.Sprintf("older than the newest %s matches", display.Thousands(len(m.newest)))
	}
	return "changed since they were marked"
}

// grouped counts messages by endpoint, largest first. The result is that of the
// newest message.
func grouped(list []wire.Message, s *ui.Session) []*receiver {
	byName := make(map[string]*receiver)
	var all []*receiver
	for _, m := range list {
		target := byName[ui.ShortURL(m.URL)]
		if target == nil {
			target = &receiver{
				name:       ui.ShortURL(m.URL),
				lastResult: ui.LastResult(m),
				failing:    failing(m.SubscriptionID, s),
			}
			byName[target.name] = target
			all = append(all, target)
		}
		target.count++
	}
	slices.SortFunc(all, func(x, y *receiver) int {
		return cmp.Or(y.count-x.count, strings.Compare(x.name, y.name))
	})
	return all
}

// failing describes since when an endpoint is failing, empty if it is not.
func failing(subscription string, s *ui.Session) string {
	since := time.Time(s.Queues.Known[subscription].FailingSince)
	if since.IsZero() {
		return ""
	}
	return "  failing since " + s.TimeOfDay(since)[:len("15:04")]
}
