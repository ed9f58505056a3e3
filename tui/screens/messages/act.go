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

// inFlight describes the change that a screen has sent, for the status line; empty for none.
type inFlight string

// begin shows a change by its name.
func (f *inFlight) begin(name string) { *f = inFlight(name) }

// progress returns the text of the status line, empty for none.
func (f *inFlight) progress() string {
	if *f == "" {
		return ""
	}
	return string(*f) + " ..."
}

// bulk changes messages of a list: one, or many that the user has confirmed.
type bulk struct {
	host    bulkHost
	list    bulkList
	session *ui.Session
	marks   *marks
	sending inFlight
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

// finish handles the result of a change of a message.
func (b *bulk) finish(id string, err error) tea.Cmd {
	b.sending = ""
	if err == nil {
		b.Unmark(id)
	}
	return b.list.Poll()
}

// follow waits for the results of a number of retried messages. The list can have fewer of them.
func (b *bulk) follow(retried int64, list []wire.Message) *outcome {
	o := newOutcome(b, b.session, retried, list)
	b.host.Watch(o)
	return o
}

// ShowResults shows the results of a retry so far in the status line.
func (b *bulk) ShowResults(text string) { b.sending = inFlight(text) }

// EndResults shows the results of a retry.
func (b *bulk) EndResults(level ui.Level, text string) {
	b.sending = ""
	b.host.Notify(level, text)
}

// Unmark removes the mark of a message.
func (b *bulk) Unmark(id string) { b.marks.grid.Marks.Remove(id) }

// singleChange is a retry or a delete of one message.
type singleChange struct {
	screen  ui.Screen
	results *bulk
	message wire.Message
	begin   func(name string)                  // called with the name of the change when it is sent
	finish  func(id string, err error) tea.Cmd // called with the MessageID and the outcome
}

// lines describes the message in a confirmation.
func (c singleChange) lines() []string {
	status, _ := c.screen.Common().Session.Theme.StatusText(c.message.Status)
	return []string{
		c.message.EventName + " to",
		"  " + ui.ShortURL(c.message.URL),
		"Status " + status + ", last result " + ui.LastResult(c.message) + ".",
	}
}

// done handles the outcome of the change.
func (c singleChange) done(err error) tea.Cmd { return c.finish(c.message.MessageID, err) }

// confirmRetry retries the message after a confirmation.
func (c singleChange) confirmRetry() {
	b := c.screen.Common()
	if why := refusal(c.message, b.Session); why != "" {
		b.Host.Notify(ui.Warning, why)
		return
	}
	effect := "It is sent again now."
	if paused(c.message, b.Session) {
		effect = "It is sent again when its subscription is enabled."
	}
	question := "Retry this message?"
	lines := append(c.lines(), effect)
	if c.message.Status == ui.StatusDelivered {
		question = "Send this delivered message again?"
		lines = append(lines, sameID)
	}
	ui.OpenConfirm(b.Host, question, "retry", lines, func() tea.Cmd {
		b.Host.ClearToast() // the status line shows the change
		c.begin("retry of " + c.message.EventName)
		return c.results.RetryOne(c.screen, c.message, c.done)
	})
}

// confirmDelete deletes the message after a confirmation, unless the user undoes it.
func (c singleChange) confirmDelete() {
	b := c.screen.Common()
	name := "delete of " + c.message.EventName
	remove := func() tea.Cmd {
		b.Host.ClearToast()
		c.begin(name)
		return RemoveOne(c.screen, c.message, c.done)
	}
	lines := append(c.lines(), "It is not sent again. "+ui.UndoHint())
	ui.OpenConfirm(b.Host, "Delete this message?", "delete", lines, func() tea.Cmd {
		return b.Host.Delay(name, []string{c.message.MessageID}, remove)
	})
}

// RetryOne schedules one message for immediate delivery, and waits for the result.
func (b *bulk) RetryOne(s ui.Screen, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	name := "retry of " + m.EventName
	common := s.Common()
	reason := "" // why the message is held
	return common.Host.Change(ui.Change{
		Screen: s,
		Name:   name,
		Then:   then,
		Do: func(ctx context.Context, c *client.Client) error {
			if m.Status == ui.StatusDelivered {
				return sendAgain(ctx, c, m)
			}
			state, err := c.RetryMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
			if err == nil {
				reason = state.Held
			}
			return err
		},
		OnDone: func(err error) {
			if err != nil {
				common.Host.ShowError(name, ui.MarkNotSent(err))
				return
			}
			if reason != "" {
				common.Host.Notify(ui.Warning, "the message remains held: "+reason)
				return
			}
			text := "the message is due now"
			if paused(m, common.Session) {
				text = "the message waits: the subscription is disabled"
			}
			common.Host.Notify(ui.Info, text)
			b.follow(1, []wire.Message{m})
		},
	})
}

// sameID explains the effect of sending a delivered message again.
const sameID = "A receiver that has kept its ID ignores it."

// sendAgain sends a delivered message again.
func sendAgain(ctx context.Context, c *client.Client, m wire.Message) error {
	r, err := c.RetryMessages(ctx, url.Values{
		"MessageID": {m.MessageID},
		"Status":    {strconv.Itoa(ui.StatusDelivered)},
	})
	if err != nil {
		return err
	}
	if r.Retried == 0 {
		return errors.New("the message is no longer a delivered one")
	}
	return nil
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
	if m.Status != ui.StatusNotSent {
		return ""
	}
	if attempt := nextLong(m, s); attempt != noAttempt {
		return "no attempt yet, " + attempt
	}
	return "first attempt in flight: only messages that have been attempted can be sent again"
}

// ChangeMany retries or deletes all matching messages, of which the user has confirmed a
// count. A retry waits for the results of those in the list. On an error the marks stay.
func (b *bulk) ChangeMany(action keymap.Action, members url.Values, count int, list []wire.Message) tea.Cmd {
	members = maps.Clone(members)
	name := bulkName(action, count)
	b.sending.begin(name)
	var changed int64
	return b.list.Send(ui.Change{
		Name: name,
		Do: func(ctx context.Context, c *client.Client) error {
			result, err := changeMessages(ctx, c, action, members)
			changed = result.done
			return err
		},
		OnDone: func(err error) {
			b.sending = ""
			if err != nil {
				b.host.ShowError(name, ui.MarkNotSent(err))
				return
			}
			b.changed(action, changed, count, list)
		},
		Then: func(err error) tea.Cmd {
			if err != nil {
				return nil
			}
			return b.list.Poll()
		},
	})
}

// changed shows the number of messages that were changed, and how it differs from the confirmed
// count. The marks are those of the messages with a result to come.
func (b *bulk) changed(action keymap.Action, changed int64, confirmed int, list []wire.Message) {
	var text string
	if action == keymap.Delete {
		text = display.Count(changed, "message deleted", "messages deleted")
		b.marks.clear()
	} else {
		text = display.Count(changed, "message is due now", "messages are due now")
		results := b.follow(changed, list)
		b.marks.set(slices.Collect(maps.Keys(results.pending)))
	}
	missing := int64(confirmed) - changed
	if missing > 0 {
		text += ", " + display.Thousands(missing) + " changed since the question"
	}
	if missing < 0 {
		text += ", " + display.Thousands(-missing) + " more than in the question"
	}
	b.host.Notify(ui.Info, text)
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
		return tally{matched: r.Matched, done: r.Deleted, extent: r.Counted}, nil
	}
	r, err := c.RetryMessages(ctx, members)
	if err != nil {
		return tally{}, err
	}
	return tally{
		matched: r.Matched,
		done:    r.Retried,
		warning: r.Warning,
		extent:  r.Counted,
	}, nil
}

// tally has the numbers of messages of a change.
type tally struct {
	matched int64  // number of messages that match the filter
	done    int64  // number of messages that are changed
	warning string // about the change, empty for none
	extent  string // bounds a change to the messages of a count; empty if it cannot be bounded
}
