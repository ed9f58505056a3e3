package messages

import (
	"context"
	"fmt"
	"net/url"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

// Name is done to messages: to the selected one, to those that are marked, or to
// all that match. Of many, the service first counts what it would do.

// bulk is what is done to messages of a list.
type bulk struct {
	*List
	AllMarks bool      // all that match are meant, also those that are not here
	counting *Weighing // before a question; nil for nothing
	sending  string    // what was answered with yes; empty for nothing
}

// Act asks whether messages are to be retried or deleted.
func (s *bulk) Act(what keymap.Action) tea.Cmd {
	if members := s.meant(); members != nil {
		s.forget()
		s.counting = newWeighing(what, members, s.AllMarks)
		s.ClearToast() // the line says that it counts
		return s.weigh(s.counting)
	}
	if one, ok := s.Selected(); ok {
		askOne(s.List, one, what, s.begin, s.ended)
	}
	return nil
}

// begin notes what is on its way, which the line of status says from now on.
func (s *bulk) begin(what string) {
	s.sending = what
	s.ClearToast()
}

// ended takes what has become of a change of one message.
func (s *bulk) ended(id string, err error) tea.Cmd {
	s.sending = ""
	if err == nil {
		s.Grid.UnmarkID(id)
	}
	return s.Poll()
}

// askOne asks before something is done to one message. Begin is told what has
// begun then, and ended what came of it.
func askOne(s ui.Screen, m wire.Message, what keymap.Action, begin func(what string), ended func(id string, err error) tea.Cmd) {
	b := s.Common()
	word, _ := b.Theme.StatusText(m.Status)
	lines := []string{m.EventName + " to", "  " + ui.ShortURL(m.URL), "It is " + word + ", last answer " + ui.LastResult(m) + "."}
	then := func(err error) tea.Cmd { return ended(m.MessageID, err) }
	if what == keymap.Retry {
		if why := refusal(m, b.Session); why != "" {
			b.Notify(ui.Warning, why)
			return
		}
		ui.OpenConfirm(b.Host, "Retry this message?", "retry it", append(lines, "It is sent once more now."), func() tea.Cmd {
			begin("retry of " + m.EventName)
			return RetryOne(s, m, then)
		})
		return
	}
	ui.OpenConfirm(b.Host, "Delete this message?", "delete it", append(lines, "It is not sent any more. For "+ui.Age(ui.UndoDelay)+", "+keymap.KeyFor(keymap.Everywhere, keymap.Undo)+" takes that back."), func() tea.Cmd {
		return b.Delay("delete of "+m.EventName, []string{m.MessageID}, func() tea.Cmd {
			begin("delete of " + m.EventName)
			return RemoveOne(s, m, then)
		})
	})
}

// RetryOne makes one message due now.
func RetryOne(s ui.Screen, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: "retry of " + m.EventName, Then: then, Do: func(ctx context.Context, c *client.Client) error {
		_, err := c.RetryMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
		return err
	}})
}

// RemoveOne deletes one message.
func RemoveOne(s ui.Screen, m wire.Message, then func(error) tea.Cmd) tea.Cmd {
	return s.Common().Change(ui.Change{Screen: s, Name: "delete of " + m.EventName, Then: then, Do: func(ctx context.Context, c *client.Client) error {
		return c.RemoveMessage(ctx, m.SubscriberID, m.SubscriptionID, m.MessageID)
	}})
}

// refusal says why a message cannot be retried, empty where it can.
func refusal(m wire.Message, s *ui.Session) string {
	switch word := nextLong(m, s); {
	case m.Status == 1:
		return "it was delivered: only what has failed can be retried"
	case m.Status != 0:
		return ""
	case word != "-":
		return "no attempt yet, " + word
	}
	return "its first attempt is on its way: only what has failed can be retried"
}

// mark does what keys mean for marks, and for what is marked.
func (s *bulk) mark(what keymap.Action) tea.Cmd {
	switch what {
	case keymap.MarkAll:
		s.AllMarks = true
		s.markMore()
	case keymap.Unmark:
		s.clearMarks()
	default:
		return s.Act(what)
	}
	return nil
}

// markMore marks the rows that are here, where all that match are meant.
func (s *bulk) markMore() {
	if !s.AllMarks {
		return
	}
	var ids []string
	for _, row := range s.Pages.Loaded() {
		ids = append(ids, row.ID)
	}
	s.Grid.SetMarks(ids)
}

// chooseMarks ends that all that match are meant, since rows are chosen.
func (s *bulk) chooseMarks() {
	if s.AllMarks && s.Grid.MarkCount() < s.Pages.Total() {
		s.Notify(ui.Warning, "only rows that are loaded are marked now, no longer all that match")
	}
	s.AllMarks = false
}

// clearMarks is false where there are none.
func (s *bulk) clearMarks() bool {
	had := s.Table.Unmark() || s.AllMarks
	s.AllMarks = false
	return had
}

// meant is the filter of the messages that are marked; nil where none is.
func (s *bulk) meant() url.Values {
	switch {
	case s.AllMarks:
		members := s.Filter.Members()
		if len(members) == 0 {
			members.Set("All", "true")
		}
		return members
	case s.Grid.MarkCount() > 0:
		var ids []string
		for _, row := range s.Grid.MarkedRows() {
			ids = append(ids, row.ID)
		}
		return url.Values{"MessageIDIn": ids}
	}
	return nil
}

// word tells of it, empty for nothing.
func (s *bulk) word() string {
	switch {
	case s.counting != nil:
		return "counting for the " + s.counting.name() + " ...   " + keymap.KeyFor(keymap.Everywhere, keymap.GoBack) + " cancels"
	case s.sending != "":
		return s.sending + " ..."
	}
	return ""
}

func (s *bulk) busy() bool { return s.counting != nil || s.sending != "" }

// forget gives up what is counted: no question comes any more.
func (s *bulk) forget() {
	if s.counting != nil {
		s.counting.Cancel()
		s.counting.cancelled, s.counting = true, nil
	}
}

// check ends the words where the service wants a sign-in first: then the app
// tells what becomes of it.
func (s *bulk) check() {
	if s.SignInPending() {
		s.counting, s.sending = nil, ""
	}
}

// RetryMany makes all messages due now that match.
func (s *bulk) RetryMany(members url.Values, what string) tea.Cmd {
	q := clone(members)
	return s.changeMany(what, func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.RetryMessages(ctx, q)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s due now, %s left alone", display.Count(r.Retried, "message is", "messages are"), display.Thousands(r.Skipped)), nil
	})
}

// RemoveMany deletes all messages that match.
func (s *bulk) RemoveMany(members url.Values, what string) tea.Cmd {
	q := clone(members)
	return s.changeMany(what, func(ctx context.Context, c *client.Client) (string, error) {
		r, err := c.DeleteMessages(ctx, q)
		if err != nil {
			return "", err
		}
		return display.Count(r.Deleted, "message", "messages") + " deleted", nil
	})
}

// changeMany changes many messages, and tells what came of it. What failed stays
// marked.
func (s *bulk) changeMany(what string, do func(ctx context.Context, c *client.Client) (done string, err error)) tea.Cmd {
	var done string
	return s.Change(ui.Change{Screen: s.List, Name: what, Do: func(ctx context.Context, c *client.Client) (err error) {
		done, err = do(ctx, c)
		return err
	}, OnDone: func(err error) {
		if err != nil {
			s.ShowError(what, ui.MarkNotSent(err))
			return
		}
		s.Notify(ui.Info, done)
	}, Then: func(err error) tea.Cmd {
		if s.sending = ""; err != nil {
			return nil
		}
		s.clearMarks()
		return s.Poll()
	}})
}
