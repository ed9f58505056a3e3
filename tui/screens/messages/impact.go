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

func newImpactQuery(action keymap.Action, members url.Values, all bool) *ImpactQuery {
	w := &ImpactQuery{Action: action, Members: members, All: all}
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
}

// impactSample is the number of newest messages that are grouped by endpoint.
const impactSample = 1000

// countImpact requests the impact of an action and opens its confirmation.
func (s *bulk) countImpact(w *ImpactQuery) tea.Cmd {
	ctx, cancel := context.WithCancel(s.Context)
	w.Cancel = cancel
	var m Impact
	return s.Change(ui.Change{Screen: s.List, Name: w.name(), Do: func(_ context.Context, c *client.Client) (err error) {
		m, err = w.fetch(ctx, c)
		return err
	}, OnDone: func(error) {}, Then: func(err error) tea.Cmd {
		m.Of = w
		s.OnImpact(m, err)
		return nil
	}})
}

// fetch requests the impact from the service.
func (w *ImpactQuery) fetch(ctx context.Context, c *client.Client) (m Impact, err error) {
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
	if !w.All {
		return m, nil // marked messages are loaded
	}
	q := maps.Clone(w.Members)
	if narrow := alsoStatus(q, 2, 3); w.Action == keymap.Retry && !w.delivered && narrow != nil {
		q = narrow
	}
	q.Del("All")
	q.Set("Take", strconv.Itoa(impactSample))
	q.Set("Fields", "MessageID,SubscriptionID,URL,Status,Retries,LastMessageResponseHTTPCode,LastMessageResponseMessage")
	page, err := c.AllMessages(ctx, q)
	if err == nil {
		m.newest = page.Results
	}
	return m, err
}

// dryRun requests the number of messages that match and that would change.
func (w *ImpactQuery) dryRun(ctx context.Context, c *client.Client, members url.Values) (tally, error) {
	q := maps.Clone(members)
	q.Set("DryRun", "true")
	return changeMessages(ctx, c, w.Action, q)
}

// OnImpact opens the confirmation, unless the count was cancelled or the screen has
// changed.
func (s *bulk) OnImpact(m Impact, err error) {
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
		s.Notify(ui.Warning, m.Of.name()+" cancelled: the screen changed")
	case m.Of.Action == keymap.Delete:
		s.confirmDelete(m)
	default:
		s.confirmRetry(m, !m.Of.All || m.failed == 0)
	}
}

// confirmRetry opens the confirmation of a retry of failed messages, and of delivered ones if the
// filter names them. With scheduled, it includes messages that have a next attempt.
func (s *bulk) confirmRetry(m Impact, scheduled bool) {
	if m.Done == 0 {
		s.Notify(ui.Warning, fmt.Sprintf("nothing to retry: none of %s has failed", display.Count(m.Matched, "message", "messages")))
		return
	}
	members, count, minStatus, noun := m.Of.Members, int(m.Done), 2, "message"
	if m.Of.delivered {
		minStatus = delivered
	}
	if !scheduled {
		members, count, minStatus, noun = m.Of.failed, int(m.failed), 3, "failed message"
	}
	if m.failed == m.Done {
		noun = "failed message"
	}
	lines := append(s.targets(m, count, minStatus), m.others(scheduled, s.Session)...)
	if slices.ContainsFunc(m.sample(s.List), func(one wire.Message) bool { return one.Status >= minStatus && paused(one, s.Session) }) {
		lines = append(lines, "Those of disabled subscriptions wait until these are enabled.")
	}
	lines = append(lines, s.pace(m, minStatus))
	if minStatus == delivered {
		lines = append(lines, "Delivered messages keep their IDs: a receiver that has kept them ignores these.")
	}
	if m.warning != "" {
		lines = append(lines, strings.ToUpper(m.warning[:1])+m.warning[1:]+".")
	}
	list := slices.DeleteFunc(slices.Clone(m.sample(s.List)), func(one wire.Message) bool { return one.Status < minStatus })
	q := ui.OpenConfirmMany(s.Host, count, "Retry "+display.Count(count, noun, noun+"s")+"?", "retry "+display.Thousands(count), lines, func() tea.Cmd {
		return s.ChangeMany(keymap.Retry, members, count, list)
	})
	if m.failed > 0 && m.failed < m.Done {
		q.Toggle = func() { s.confirmRetry(m, !scheduled) }
	}
}

// pace describes the order of delivery. With an open circuit breaker, one message
// must succeed before the others are sent.
func (s *bulk) pace(m Impact, minStatus int) string {
	for _, one := range m.sample(s.List) {
		if one.Status >= minStatus && s.Queues.Known[one.SubscriptionID].Breaker == wire.BreakerOpen {
			return "Each is sent again, oldest first; while a circuit breaker is open, one at a time until one succeeds."
		}
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
	switch {
	case scheduledCount == 0 || m.Of.failed == nil || m.Of.delivered:
	case !scheduled:
		lines = append(lines, fmt.Sprintf("%s already scheduled and skipped (press %s to include them).", display.Count(scheduledCount, "more is", "more are"), key))
	case m.failed == 0:
		lines = append(lines, "All are already scheduled; they will be sent now.")
	default:
		lines = append(lines, fmt.Sprintf("%s already scheduled and will be sent now (%s skips them).", display.Count(scheduledCount, "of them is", "of them are"), key))
	}
	if skipped > 0 {
		lines = append(lines, fmt.Sprintf("%s skipped: delivered or not sent.", display.Count(skipped, "message is", "messages are")))
	}
	return lines
}

func (s *bulk) confirmDelete(m Impact) {
	count := int(m.Done)
	ui.OpenConfirmMany(s.Host, count, "Delete "+display.Count(count, "message", "messages")+"?", "delete "+display.Thousands(count),
		append(s.targets(m, count, 0), "Queued messages are not sent. Press "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" within "+ui.Age(ui.UndoDelay)+" to undo."), func() tea.Cmd {
			return s.Delay(bulkName(keymap.Delete, count), m.Of.Members["MessageIDIn"], func() tea.Cmd { return s.ChangeMany(keymap.Delete, m.Of.Members, count, nil) })
		})
}

// receiver is an endpoint with the number of its messages.
type receiver struct {
	name, lastResult, failing string
	count                     int
}

// targetsShown is the maximum number of endpoints in a confirmation.
const targetsShown = 4

// targets lists the endpoints of the messages with at least a status, by the loaded
// or newest messages.
func (s *bulk) targets(m Impact, count, minStatus int) []string {
	all := s.grouped(m.sample(s.List), minStatus)
	var lines []string
	room := 0
	for _, one := range all[:min(targetsShown, len(all))] {
		room = max(room, min(targetRoom, len(one.name)))
	}
	for i, one := range all {
		count -= one.count
		if i < targetsShown {
			lines = append(lines, fmt.Sprintf("%6s  %s   last %s%s", display.Thousands(one.count), s.Theme.Fit(s.Theme.TruncateMiddle(one.name, room), room, false), one.lastResult, one.failing))
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

// targetRoom is the maximum width of an endpoint name.
const targetRoom = 24

// sample returns the messages to group by endpoint.
func (m *Impact) sample(s *List) []wire.Message {
	if m.Of.All {
		return m.newest
	}
	var list []wire.Message
	for _, row := range s.Grid.MarkedRows() {
		list = append(list, s.Rows.Known[row.ID])
	}
	return list
}

// unseen describes the messages outside of the sample.
func (m *Impact) unseen() string {
	if m.Of.All {
		return fmt.Sprintf("older than the newest %s matches", display.Thousands(len(m.newest)))
	}
	return "changed since they were marked"
}

// grouped counts messages by endpoint, largest first. The result is that of the
// newest message.
func (s *bulk) grouped(list []wire.Message, minStatus int) []*receiver {
	byName := make(map[string]*receiver)
	var all []*receiver
	for _, m := range list {
		if m.Status < minStatus {
			continue
		}
		one := byName[ui.ShortURL(m.URL)]
		if one == nil {
			one = &receiver{name: ui.ShortURL(m.URL), lastResult: ui.LastResult(m), failing: s.failing(m.SubscriptionID)}
			byName[one.name] = one
			all = append(all, one)
		}
		one.count++
	}
	slices.SortFunc(all, func(x, y *receiver) int {
		return cmp.Or(y.count-x.count, strings.Compare(x.name, y.name))
	})
	return all
}

// failing describes since when an endpoint is failing, empty if it is not.
func (s *bulk) failing(subscription string) string {
	since := time.Time(s.Queues.Known[subscription].FailingSince)
	if since.IsZero() {
		return ""
	}
	return "  failing since " + s.TimeOfDay(since)[:len("15:04")]
}
