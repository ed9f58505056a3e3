package messages

import (
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
	failed    url.Values    // filter of the failed ones; nil if no filter can select them
	delivered bool          // the filter names the status of delivered messages: a retry includes them
	Cancel    context.CancelFunc
	cancelled bool
}

func newImpactQuery(action keymap.Action, members url.Values, allMatches bool) *ImpactQuery {
	q := &ImpactQuery{Action: action, Members: members, All: allMatches}
	if action == keymap.Retry {
		statuses := slices.Concat(members["Status"], members["StatusIn"])
		q.delivered = slices.Contains(statuses, strconv.Itoa(ui.StatusDelivered))
		q.failed = limitStatus(members, ui.StatusFailed)
	}
	return q
}

// name returns the name of the action.
func (q *ImpactQuery) name() string { return actionNames[q.Action] }

// limitStatus limits a filter to some statuses, in addition to its conditions. It returns nil if
// the conditions use all parameters that could do so.
func limitStatus(members url.Values, statuses ...int) url.Values {
	parameter := "StatusIn"
	if members.Has(parameter) && len(statuses) == 1 {
		parameter = "Status"
	}
	if members.Has(parameter) {
		return nil
	}
	limited := maps.Clone(members)
	limited[parameter] = record.Texts(statuses, strconv.Itoa)
	return limited
}

// Impact is the impact of an action.
type Impact struct {
	Of      *ImpactQuery
	Matched int64          // number of messages that match the filter
	Done    int64          // number of messages that the action would change
	extent  string         // bounds the action to the messages of Matched, as in tally
	failed  tally          // failed messages
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
	q := newImpactQuery(action, members, s.marks.All)
	q.Cancel = cancel
	s.counting = q
	var m Impact
	return s.list.Send(ui.Change{
		Name:   q.name(),
		DryRun: true,
		Do: func(_ context.Context, c *client.Client) (err error) {
			m, err = q.fetch(ctx, c)
			return err
		},
		OnDone: func(error) {}, // Show shows it
		Then: func(err error) tea.Cmd {
			m.Of = q
			s.Show(m, err)
			return nil
		},
	})
}

// fetch requests the impact from the service. The newest matches are read before the matches
// are counted, so that the change is limited to messages that are in the count.
func (q *ImpactQuery) fetch(ctx context.Context, c *client.Client) (Impact, error) {
	var m Impact
	if q.All { // marked messages are loaded
		newest, err := q.fetchNewest(ctx, c)
		if err != nil {
			return m, err
		}
		m.newest = newest
		m.limit = limitTo(newest)
	}

	all, err := q.dryRun(ctx, c, q.Members)
	if err != nil {
		return m, err
	}
	m.Matched = all.matched
	m.Done = all.done
	m.extent = all.extent
	m.warning = all.warning
	if q.failed != nil {
		failed, err := q.dryRun(ctx, c, q.failed)
		if err != nil {
			return m, err
		}
		m.failed = failed
	}
	if q.All && len(m.newest) == 0 { // messages that match since then cannot be selected
		m.Done = 0
		m.failed = tally{}
	}
	return m, nil
}

// fetchNewest requests the newest messages that the action would change.
func (q *ImpactQuery) fetchNewest(ctx context.Context, c *client.Client) ([]wire.Message, error) {
	members := maps.Clone(q.Members)
	if q.Action == keymap.Retry && !q.delivered {
		limited := limitStatus(members, ui.StatusRetrying, ui.StatusFailed)
		if limited != nil {
			members = limited
		}
	}
	members.Del("All")
	members.Set("Take", strconv.Itoa(impactSample))
	members.Set("Fields", "MessageID,SubscriptionID,URL,Status,Retries,AddedDateTime,"+
		"LastMessageResponseHTTPCode,LastMessageResponseMessage")
	page, err := c.AllMessages(ctx, members)
	if err != nil {
		return nil, err
	}
	return page.Results, nil
}

// limitTo returns members that exclude messages that match a filter later than its newest matches.
// If newest has all matches, they are selected by ID.
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
	// Until is exclusive, and times in responses have milliseconds.
	until := time.Time(last.AddedDateTime).Add(time.Millisecond)
	return url.Values{"Until": {until.UTC().Format(wire.DateLayout)}}
}

// limited returns a filter that selects only messages that were counted. The extent of the count
// also excludes older messages that have a new status since then. A service that is older than
// Counted returns none: then only the limit excludes messages that match later.
func (m *Impact) limited(members url.Values, extent string) url.Values {
	limited := url.Values{}
	maps.Copy(limited, members)
	maps.Copy(limited, m.limit)
	if extent != "" {
		limited.Set("Counted", extent)
	}
	return limited
}

// dryRun requests the number of messages that match and that would change.
func (q *ImpactQuery) dryRun(ctx context.Context, c *client.Client, members url.Values) (tally, error) {
	members = maps.Clone(members)
	members.Set("DryRun", "true")
	return changeMessages(ctx, c, q.Action, members)
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
		s.confirmRetry(m, !m.Of.All || m.failed.done == 0)
	}
}

// retryScope is the messages that a retry includes.
type retryScope struct {
	members   url.Values // filter of the messages
	extent    string     // bounds the retry to the messages of the count, as in tally
	count     int
	minStatus int    // statuses from this one on are retried
	noun      string // of one of the messages
}

// retryScope returns the messages of a retry: all that it can change, or only the failed ones
// without those that have a next attempt.
func (m *Impact) retryScope(scheduled bool) retryScope {
	if !scheduled {
		return retryScope{
			members:   m.Of.failed,
			extent:    m.failed.extent,
			count:     int(m.failed.done),
			minStatus: ui.StatusFailed,
			noun:      "failed message",
		}
	}
	scope := retryScope{
		members:   m.Of.Members,
		extent:    m.extent,
		count:     int(m.Done),
		minStatus: ui.StatusRetrying,
		noun:      "message",
	}
	if m.Of.delivered {
		scope.minStatus = ui.StatusDelivered
	}
	if m.failed.done == m.Done {
		scope.noun = "failed message"
	}
	return scope
}

// confirmRetry opens the confirmation of a retry of failed messages, and of delivered ones if the
// filter names them. With scheduled, it includes messages that have a next attempt.
func (s *impacts) confirmRetry(m Impact, scheduled bool) {
	if m.Done == 0 {
		s.host.Notify(ui.Warning,
			fmt.Sprintf("nothing to retry: none of %s has failed", display.Count(m.Matched, "message", "messages")))
		return
	}
	scope := m.retryScope(scheduled)
	list := slices.DeleteFunc(s.sample(m), func(message wire.Message) bool {
		return message.Status < scope.minStatus
	})
	title := "Retry " + display.Count(scope.count, scope.noun, scope.noun+"s") + "?"
	verb := "retry " + display.Thousands(scope.count)
	lines := s.retryLines(m, scope, list, scheduled)
	question := s.list.Confirm(scope.count, title, verb, lines, func() tea.Cmd {
		return s.bulk.ChangeMany(keymap.Retry, m.limited(scope.members, scope.extent), scope.count, list)
	})
	if m.failed.done > 0 && m.failed.done < m.Done {
		question.Toggle = func() { s.confirmRetry(m, !scheduled) }
	}
}

// retryLines describes a retry: the endpoints, the messages that it skips, and its effect. The
// list has the loaded or the newest messages.
func (s *impacts) retryLines(m Impact, scope retryScope, list []wire.Message, scheduled bool) []string {
	lines := targets(list, scope.count, m.unseen(), s.session)
	lines = append(lines, m.others(scheduled, s.session)...)
	isPaused := func(message wire.Message) bool { return paused(message, s.session) }
	if slices.ContainsFunc(list, isPaused) {
		lines = append(lines, "Those of disabled subscriptions wait until these are enabled.")
	}
	lines = append(lines, pace(list, &s.session.Queues))
	if scope.minStatus == ui.StatusDelivered {
		lines = append(lines, "Delivered messages keep their IDs: a receiver that has kept them ignores these.")
	}
	if m.warning != "" {
		lines = append(lines, strings.ToUpper(m.warning[:1])+m.warning[1:]+".")
	}
	return lines
}

// confirmDelete opens the confirmation of a delete.
func (s *impacts) confirmDelete(m Impact) {
	if m.Done == 0 {
		s.host.Notify(ui.Warning, "nothing to delete: no message matches")
		return
	}
	count := int(m.Done)
	members := m.limited(m.Of.Members, m.extent)
	members.Set("Take", strconv.Itoa(count))
	lines := targets(s.sample(m), count, m.unseen(), s.session)
	lines = append(lines, "Queued messages are not sent. "+ui.UndoHint())
	title := "Delete " + display.Count(count, "message", "messages") + "?"
	s.list.Confirm(count, title, "delete "+display.Thousands(count), lines, func() tea.Cmd {
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
