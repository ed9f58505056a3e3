package messages

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// bulk runs actions on messages: on the selected message, the marked messages, or
// all matches. The impact on several messages is counted by the service first.
type bulk struct {
	*List
	AllMarks bool         // all matches are marked, including rows that are not loaded
	counting *ImpactQuery // count in flight before a confirmation; nil for none
	sending  string       // name of the change in flight; empty for none
}

// Act retries or deletes messages after a confirmation.
func (s *bulk) Act(action keymap.Action) tea.Cmd {
	if members := s.markedFilter(action); members != nil {
		s.cancelCount()
		s.counting = newImpactQuery(action, members, s.AllMarks)
		s.ClearToast() // the status line shows the count
		return s.countImpact(s.counting)
	}
	if one, ok := s.Selected(); ok {
		confirmOne(s.List, s.List, one, action, s.begin, s.ended)
	}
	return nil
}

// begin shows the change in flight in the status line.
func (s *bulk) begin(name string) {
	s.sending = name
	s.ClearToast()
}

// ended handles the result of a change of one message.
func (s *bulk) ended(id string, err error) tea.Cmd {
	s.sending = ""
	if err == nil {
		s.Grid.UnmarkID(id)
	}
	return s.Poll()
}

// confirmOne retries or deletes one message of a list after a confirmation. It calls begin
// with the name of the change when it is sent, and ended with the result.
func confirmOne(s ui.Screen, list *List, m wire.Message, action keymap.Action, begin func(name string), ended func(id string, err error) tea.Cmd) {
	b := s.Common()
	word, _ := b.Theme.StatusText(m.Status)
	lines := []string{m.EventName + " to", "  " + ui.ShortURL(m.URL), "Status " + word + ", last result " + ui.LastResult(m) + "."}
	then := func(err error) tea.Cmd { return ended(m.MessageID, err) }
	if action == keymap.Retry {
		if why := refusal(m, b.Session); why != "" {
			b.Notify(ui.Warning, why)
			return
		}
		question, when := "Retry this message?", "It is sent again now."
		if paused(m, b.Session) {
			when = "It is sent again when its subscription is enabled."
		}
		lines = append(lines, when)
		if m.Status == delivered {
			question = "Send this delivered message again?"
			lines = append(lines, sameID)
		}
		ui.OpenConfirm(b.Host, question, "retry", lines, func() tea.Cmd {
			begin("retry of " + m.EventName)
			return RetryOne(s, list, m, then)
		})
		return
	}
	ui.OpenConfirm(b.Host, "Delete this message?", "delete", append(lines, "It is not sent again. Press "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" within "+ui.Age(ui.UndoDelay)+" to undo."), func() tea.Cmd {
		return b.Delay("delete of "+m.EventName, []string{m.MessageID}, func() tea.Cmd {
			begin("delete of " + m.EventName)
			return RemoveOne(s, m, then)
		})
	})
}

// RetryOne schedules one message of a list for immediate delivery, and waits for the result.
func RetryOne(s ui.Screen, list *List, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	name := "retry of " + m.EventName
	return s.Common().Change(ui.Change{Screen: s, Name: name, Then: then, Do: func(ctx context.Context, c *client.Client) error {
		if m.Status == delivered {
			return sendAgain(ctx, c, m)
		}
		_, err := c.RetryMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
		return err
	}, OnDone: func(err error) {
		if err != nil {
			list.ShowError(name, ui.MarkNotSent(err))
			return
		}
		if paused(m, list.Session) {
			list.Notify(ui.Info, "the message waits: the subscription is disabled")
		} else {
			list.Notify(ui.Info, "the message is due now")
		}
		list.follow(1, []wire.Message{m})
	}})
}

// delivered is the status of delivered messages.
const delivered = 1

// sameID explains the effect of sending a delivered message again.
const sameID = "A receiver that has kept its ID ignores it."

// sendAgain sends a delivered message again.
func sendAgain(ctx context.Context, c *client.Client, m wire.Message) error {
	r, err := c.RetryMessages(ctx, url.Values{"MessageID": {m.MessageID}, "Status": {strconv.Itoa(delivered)}})
	if err == nil && r.Retried == 0 {
		return errors.New("the message is no longer a delivered one")
	}
	return err
}

// RemoveOne deletes one message.
func RemoveOne(s ui.Screen, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: "delete of " + m.EventName, Then: then, Do: func(ctx context.Context, c *client.Client) error {
		return c.RemoveMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
	}})
}

// refusal returns the reason why a message cannot be retried, empty if it can.
func refusal(m wire.Message, s *ui.Session) string {
	switch word := nextLong(m, s); {
	case m.Status != 0:
		return ""
	case word != "-":
		return "no attempt yet, " + word
	}
	return "first attempt in flight: only messages that have been attempted can be sent again"
}

// mark runs an action on marks or on marked messages.
func (s *bulk) mark(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.MarkAll:
		s.AllMarks = true
		s.markMore()
	case keymap.Unmark:
		s.clearMarks()
	default:
		return s.Act(action)
	}
	return nil
}

// markMore marks newly loaded rows while all matches are marked.
func (s *bulk) markMore() {
	if !s.AllMarks {
		return
	}
	s.Grid.SetMarks(s.Pages.LoadedIDs())
}

// chooseMarks limits the marks to loaded rows when rows are marked one by one.
func (s *bulk) chooseMarks() {
	if s.AllMarks && s.Grid.MarkCount() < s.Pages.Total() {
		s.Notify(ui.Warning, "only loaded rows are marked now, no longer all matches")
	}
	s.AllMarks = false
}

// clearMarks removes all marks. It reports whether there were any.
func (s *bulk) clearMarks() bool {
	had := s.Table.Unmark() || s.AllMarks
	s.AllMarks = false
	return had
}

// markedFilter returns the filter of the marked messages for an action, nil if none is marked. A
// retry of nothing but delivered messages names their status: otherwise they are skipped.
func (s *bulk) markedFilter(action keymap.Action) url.Values {
	switch {
	case s.AllMarks:
		members := s.Filter.Members()
		if len(members) == 0 {
			members.Set("All", "true")
		}
		return members
	case s.Grid.MarkCount() > 0:
		members := url.Values{"MessageIDIn": record.Texts(s.Grid.MarkedRows(), func(row *grid.Row) string { return row.ID })}
		if action == keymap.Retry && s.marksDelivered() {
			members.Set("Status", strconv.Itoa(delivered))
		}
		return members
	}
	return nil
}

// marksDelivered reports whether all marked messages were delivered.
func (s *bulk) marksDelivered() bool {
	return !slices.ContainsFunc(s.Grid.MarkedRows(), func(row *grid.Row) bool { return s.Rows.Known[row.ID].Status != delivered })
}

// progress returns the status text of the count or change in flight, empty for
// none.
func (s *bulk) progress() string {
	switch {
	case s.counting != nil:
		return "counting messages for " + s.counting.name() + " ...   " + keymap.KeyFor(keymap.Everywhere, keymap.GoBack) + " cancels"
	case s.sending != "":
		return s.sending + " ..."
	}
	return ""
}

func (s *bulk) busy() bool { return s.counting != nil || s.sending != "" }

// cancelCount cancels the count in flight and its confirmation.
func (s *bulk) cancelCount() {
	if s.counting != nil {
		s.counting.Cancel()
		s.counting.cancelled, s.counting = true, nil
	}
}

// check clears the progress while a sign-in is pending: the app shows the result
// after it.
func (s *bulk) check() {
	if s.SignInPending() {
		s.counting, s.sending = nil, ""
	}
}

// ChangeMany retries or deletes all matching messages, of which the user has confirmed a
// count. A retry waits for the results of those in the list. On an error the marks stay.
func (s *bulk) ChangeMany(action keymap.Action, members url.Values, count int, list []wire.Message) tea.Cmd {
	var n int64
	q, name := maps.Clone(members), bulkName(action, count)
	s.begin(name)
	return s.Change(ui.Change{Screen: s.List, Name: name, Do: func(ctx context.Context, c *client.Client) (err error) {
		changed, err := changeMessages(ctx, c, action, q)
		n = changed.done
		return err
	}, OnDone: func(err error) {
		if s.sending = ""; err != nil {
			s.ShowError(name, ui.MarkNotSent(err))
			return
		}
		text := display.Count(n, "message is due now", "messages are due now")
		if action == keymap.Delete {
			text = display.Count(n, "message deleted", "messages deleted")
			s.clearMarks()
		} else {
			s.AllMarks = false
			s.Grid.SetMarks(slices.Collect(maps.Keys(s.follow(n, list).pending)))
		}
		if changed := int64(count) - n; changed > 0 {
			text += ", " + display.Thousands(changed) + " changed since the question"
		}
		s.Notify(ui.Info, text)
	}, Then: func(err error) tea.Cmd {
		if err != nil {
			return nil
		}
		return s.Poll()
	}})
}

// bulkName names a change of many messages.
func bulkName(action keymap.Action, count int) string {
	return actionNames[action] + " of " + display.Count(count, "message", "messages")
}

var actionNames = map[keymap.Action]string{keymap.Retry: "retry", keymap.Delete: "delete"}

// changeMessages retries or deletes the matching messages, or only counts them for DryRun.
func changeMessages(ctx context.Context, c *client.Client, action keymap.Action, members url.Values) (tally, error) {
	if action == keymap.Delete {
		r, err := c.DeleteMessages(ctx, members)
		if err != nil {
			return tally{}, err
		}
		return tally{matched: r.Matched, done: r.Deleted}, nil
	}
	r, err := c.RetryMessages(ctx, members)
	if err != nil {
		return tally{}, err
	}
	return tally{matched: r.Matched, done: r.Retried, warning: r.Warning}, nil
}

// tally has the numbers of messages that match and that are changed.
type tally struct {
	matched, done int64
	warning       string // about the change, empty for none
}
