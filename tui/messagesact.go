package tui

import (
	"fmt"
	"net/url"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What is done to messages: to the selected one, to those that are marked, or to
// all that match. Of many, the service first counts what it would do.

// act asks whether messages are to be retried or deleted.
func (s *messages) act(what keymap.Action) tea.Cmd {
	if members := s.meant(); members != nil {
		s.bulk.forget()
		s.bulk.counting = newWeighing(what, members, s.allMarks)
		s.app.toasts.Passing = nil // the line says that it counts
		return s.app.weigh(s, s.bulk.counting)
	}
	if one, ok := s.selected(); ok {
		s.app.askOne(s, one, what, s.begin)
	}
	return nil
}

// begin notes what is on its way, which the line of status says from now on.
func (s *messages) begin(what string) { s.bulk.sending, s.app.toasts.Passing = what, nil }

// askOne asks before something is done to one message. Begin is told what has
// begun then.
func (a *app) askOne(to screen, m wire.Message, what keymap.Action, begin func(what string)) {
	word, _ := a.theme.StatusText(m.Status)
	lines := []string{m.EventName + " to", "  " + ui.ShortURL(m.URL), "It is " + word + ", last answer " + answerOf(m) + "."}
	if what == keymap.Retry {
		if why := a.refusal(m); why != "" {
			a.tell(ui.Warning, why)
			return
		}
		a.ask("Retry this message?", "retry it", append(lines, "It is sent once more now."), func() tea.Cmd {
			begin("retry of " + m.EventName)
			return a.retryOne(to, m)
		})
		return
	}
	a.ask("Delete this message?", "delete it", append(lines, "It is not sent any more. For "+ui.Age(undoFor)+", "+keymap.KeyFor(keymap.Everywhere, keymap.TakeBack)+" takes that back."), func() tea.Cmd {
		return a.delay("delete of "+m.EventName, []string{m.MessageID}, func() tea.Cmd {
			begin("delete of " + m.EventName)
			return a.removeOne(to, m)
		})
	})
}

// refusal says why a message cannot be retried, empty where it can.
func (a *app) refusal(m wire.Message) string {
	switch word := a.nextLong(m); {
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
func (s *messages) mark(what keymap.Action) tea.Cmd {
	switch what {
	case keymap.MarkAll:
		s.allMarks = true
		s.markMore()
	case keymap.Unmark:
		s.clearMarks()
	default:
		return s.act(what)
	}
	return nil
}

// markMore marks the rows that are here, where all that match are meant.
func (s *messages) markMore() {
	if !s.allMarks {
		return
	}
	var ids []string
	for _, row := range s.pages.Here() {
		ids = append(ids, row.ID)
	}
	s.grid.SetMarks(ids)
}

// chooseMarks ends that all that match are meant, since rows are chosen.
func (s *messages) chooseMarks() {
	if s.allMarks && s.grid.Marks() < s.pages.Total() {
		s.app.tell(ui.Warning, "only rows that are loaded are marked now, no longer all that match")
	}
	s.allMarks = false
}

// clearMarks is false where there are none.
func (s *messages) clearMarks() bool {
	had := s.table.unmark() || s.allMarks
	s.allMarks = false
	return had
}

// unmark is a step back: what is counted for a question is given up, or marks go.
func (s *messages) unmark() bool {
	if s.bulk.counting != nil {
		s.bulk.forget()
		s.app.tell(ui.Info, "nothing is asked, and nothing was done")
		return true
	}
	return s.clearMarks()
}

// meant is the filter of the messages that are marked; nil where none is.
func (s *messages) meant() url.Values {
	switch {
	case s.allMarks:
		members := s.filter.members()
		if len(members) == 0 {
			members.Set("All", "true")
		}
		return members
	case s.grid.Marks() > 0:
		var ids []string
		for _, row := range s.grid.MarkedRows() {
			ids = append(ids, row.ID)
		}
		return url.Values{"MessageIDIn": ids}
	}
	return nil
}

// bulkState is what is on its way of what is done to messages.
type bulkState struct {
	counting *weighing // before a question; nil for nothing
	sending  string    // what was answered with yes; empty for nothing
}

// word tells of it, empty for nothing.
func (b *bulkState) word(a *app) string {
	switch {
	case b.counting != nil:
		return "counting for the " + b.counting.name() + " ...   " + keymap.KeyFor(keymap.Everywhere, keymap.GoBack) + " cancels"
	case b.sending != "":
		return b.sending + " ..."
	}
	return ""
}

func (b *bulkState) busy() bool { return b.counting != nil || b.sending != "" }

// forget gives up what is counted: no question comes any more.
func (b *bulkState) forget() {
	if b.counting != nil {
		b.counting.cancel()
		b.counting.cancelled, b.counting = true, nil
	}
}

// check ends the words where the service wants a sign-in first: then the app
// tells what becomes of it.
func (b *bulkState) check(a *app) {
	if a.held != nil {
		b.counting, b.sending = nil, ""
	}
}

// answered takes what a bulk action did. What failed stays marked.
func (s *messages) answered(m retriedMsg) tea.Cmd {
	s.bulk.sending = ""
	s.app.settled(m)
	if m.err != nil {
		return nil
	}
	s.clearMarks()
	return s.poll()
}

// settled tells what a bulk action did, also where its screen was left meanwhile.
func (a *app) settled(m retriedMsg) {
	switch {
	case m.err != nil:
		a.fail(m.what, m.err)
	case m.retried != nil:
		a.tell(ui.Info, fmt.Sprintf("%s due now, %s left alone", ui.Plural(int(m.retried.Retried), "message is", "messages are"), theme.Thousands(int(m.retried.Skipped))))
	default:
		a.tell(ui.Info, ui.Plural(int(m.deleted.Deleted), "message", "messages")+" deleted")
	}
}
