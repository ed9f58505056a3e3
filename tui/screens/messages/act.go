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
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// bulk changes messages of a list: one, or many that the user has confirmed.
type bulk struct {
	host    bulkHost
	list    bulkList
	session *ui.Session
	marks   *marks
	sending string // name of the change in flight; empty for none
}

// bulkList has the methods of a list that bulk uses.
type bulkList interface {
	// Send sends a change of messages of the list.
	Send(c ui.Change) tea.Cmd
	// Poll fetches the list again.
	Poll() tea.Cmd
}

// bulkHost has the methods of the app that bulk uses.
type bulkHost interface {
	// Watch calls the methods of a watcher until its Done returns true.
	Watch(w ui.Watcher)
	// Notify shows a message to the user.
	Notify(l ui.Level, text string)
	// ShowError shows the error of an action that the user requested.
	ShowError(action string, err error)
}

// begin shows the change of a message in the status line.
func (b *bulk) begin(name string) { b.sending = name }

// finish handles the result of a change of a message.
func (b *bulk) finish(id string, err error) tea.Cmd {
	b.sending = ""
	if err == nil {
		b.Unmark(id)
	}
	return b.list.Poll()
}

// progress returns the status text of the change in flight, empty for none.
func (b *bulk) progress() string {
	if b.sending == "" {
		return ""
	}
	return b.sending + " ..."
}

// follow waits for the results of the retried messages of a list, of which some may be missing.
func (b *bulk) follow(retried int64, list []wire.Message) *outcome {
	o := newOutcome(b, b.session, retried, list)
	b.host.Watch(o)
	return o
}

// ShowResults shows the results of a retry so far in the status line.
func (b *bulk) ShowResults(text string) { b.sending = text }

// EndResults shows the results of a retry.
func (b *bulk) EndResults(level ui.Level, text string) {
	b.sending = ""
	b.host.Notify(level, text)
}

// Unmark removes the mark of a message.
func (b *bulk) Unmark(id string) { b.marks.grid.Marks.Remove(id) }

// confirmOne retries or deletes one message after a confirmation. It calls begin
// with the name of the change when it is sent, and finish with the result.
func confirmOne(
	s ui.Screen, results *bulk, m wire.Message, action keymap.Action, begin func(name string),
	finish func(id string, err error) tea.Cmd,
) {
	b := s.Common()
	word, _ := b.Session.Theme.StatusText(m.Status)
	lines := []string{
		m.EventName + " to",
		"  " + ui.ShortURL(m.URL),
		"Status " + word + ", last result " + ui.LastResult(m) + ".",
	}
	then := func(err error) tea.Cmd { return finish(m.MessageID, err) }
	if action == keymap.Retry {
		if why := refusal(m, b.Session); why != "" {
			b.Host.Notify(ui.Warning, why)
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
			b.Host.ClearToast() // the status line shows the change
			begin("retry of " + m.EventName)
			return RetryOne(s, results, m, then)
		})
		return
	}
	ui.OpenConfirm(b.Host, "Delete this message?", "delete", append(lines,
		"It is not sent again. Press "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" within "+
			ui.Age(ui.UndoDelay)+" to undo."), func() tea.Cmd {
		return b.Host.Delay("delete of "+m.EventName, []string{m.MessageID}, func() tea.Cmd {
			b.Host.ClearToast()
			begin("delete of " + m.EventName)
			return RemoveOne(s, m, then)
		})
	})
}

// RetryOne schedules one message for immediate delivery, and waits for the result.
func RetryOne(s ui.Screen, results *bulk, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	name := "retry of " + m.EventName
	b := s.Common()
	return b.Host.Change(ui.Change{
		Screen: s,
		Name:   name,
		Then:   then,
		Do: func(ctx context.Context, c *client.Client) error {
			if m.Status == delivered {
				return sendAgain(ctx, c, m)
			}
			_, err := c.RetryMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
			return err
		},
		OnDone: func(err error) {
			if err != nil {
				b.Host.ShowError(name, ui.MarkNotSent(err))
				return
			}
			if paused(m, b.Session) {
				b.Host.Notify(ui.Info, "the message waits: the subscription is disabled")
			} else {
				b.Host.Notify(ui.Info, "the message is due now")
			}
			results.follow(1, []wire.Message{m})
		},
	})
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
	return s.Common().Host.Change(ui.Change{
		Screen: s,
		Name:   "delete of " + m.EventName,
		Then:   then,
		Do: func(ctx context.Context, c *client.Client) error {
			return c.RemoveMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
		},
	})
}

// refusal returns the reason why a message cannot be retried, empty if it can.
func refusal(m wire.Message, s *ui.Session) string {
	word := nextLong(m, s)
	if m.Status != 0 {
		return ""
	}
	if word != "-" {
		return "no attempt yet, " + word
	}
	return "first attempt in flight: only messages that have been attempted can be sent again"
}

// ChangeMany retries or deletes all matching messages, of which the user has confirmed a
// count. A retry waits for the results of those in the list. On an error the marks stay.
func (b *bulk) ChangeMany(action keymap.Action, members url.Values, count int, list []wire.Message) tea.Cmd {
	var n int64
	members = maps.Clone(members)
	name := bulkName(action, count)
	b.sending = name
	return b.list.Send(ui.Change{Name: name, Do: func(ctx context.Context, c *client.Client) error {
		changed, err := changeMessages(ctx, c, action, members)
		n = changed.done
		return err
	}, OnDone: func(err error) {
		b.sending = ""
		if err != nil {
			b.host.ShowError(name, ui.MarkNotSent(err))
			return
		}
		text := display.Count(n, "message is due now", "messages are due now")
		if action == keymap.Delete {
			text = display.Count(n, "message deleted", "messages deleted")
			b.marks.clear()
		} else {
			results := b.follow(n, list)
			b.marks.set(slices.Collect(maps.Keys(results.pending)))
		}
		changed := int64(count) - n
		if changed > 0 {
			text += ", " + display.Thousands(changed) + " changed since the question"
		}
		if changed < 0 {
			text += ", " + display.Thousands(-changed) + " more than in the question"
		}
		b.host.Notify(ui.Info, text)
	}, Then: func(err error) tea.Cmd {
		if err != nil {
			return nil
		}
		return b.list.Poll()
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
