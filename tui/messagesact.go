package tui

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/grid"
)

// What is done to messages: to the selected one, to those that are marked, or to
// all that match. Of many, the service first counts what it would do.

// act asks whether messages are to be retried or deleted.
func (s *messages) act(what action) tea.Cmd {
	if members := s.meant(); members != nil {
		if what == retry {
			return s.app.retryMany(s, members, true)
		}
		return s.app.removeMany(s, members, true)
	}
	one, ok := s.selected()
	if !ok {
		return nil
	}
	s.app.askOne(s, one, what)
	return nil
}

// askOne asks before something is done to one message.
func (a *app) askOne(to screen, m wire.Message, what action) {
	word, _ := a.theme.statusText(m.Status)
	lines := []string{m.EventName + " to", "  " + shortURL(m.URL), "It is " + word + ", last answer " + answerOf(m) + "."}
	if what == retry {
		a.ask("Retry this message?", "retry it", append(lines, "It is sent once more now."), func() tea.Cmd { return a.retryOne(to, m) })
		return
	}
	a.ask("Delete this message?", "delete it", append(lines, "It is not sent any more. For "+age(undoFor)+", "+a.keyFor(everywhere, takeBack)+" takes that back."), func() tea.Cmd {
		return a.delay("delete of "+m.EventName, []string{m.MessageID}, func() tea.Cmd { return a.removeOne(to, m) })
	})
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

// answered takes what a bulk action did, or would do: then it asks.
func (s *messages) answered(m retriedMsg) tea.Cmd {
	switch {
	case m.err != nil:
		s.app.settled(m)
		return nil
	case m.dry && (s.app.front() != screen(s) || s.app.over != nil || s.app.line != nil):
		s.app.tell(warning, "nothing was asked about messages, since something else was opened meanwhile: "+s.app.keyFor(inMessages, retry)+" or "+s.app.keyFor(inMessages, remove)+" once more asks")
		return nil
	case m.dry && m.retried != nil:
		s.askRetry(*m.retried, m.members)
		return nil
	case m.dry:
		s.askRemove(*m.deleted, m.members)
		return nil
	}
	s.app.settled(m)
	s.unmark()
	return s.poll()
}

// settled tells what a bulk action did, also where its screen was left meanwhile.
func (a *app) settled(m retriedMsg) {
	switch {
	case m.err != nil:
		a.fail("messages", m.err)
	case m.retried != nil:
		a.tell(info, fmt.Sprintf("%s due now, %d left alone", plural(int(m.retried.Retried), "message is", "messages are"), m.retried.Skipped))
	default:
		a.tell(info, plural(int(m.deleted.Deleted), "message", "messages")+" deleted")
	}
}

func (s *messages) askRetry(would wire.MessagesRetried, members url.Values) {
	if would.Retried == 0 {
		s.app.tell(warning, fmt.Sprintf("none of %d messages has failed", would.Matched))
		return
	}
	lines := s.targets(int(would.Retried), 2)
	if would.Skipped > 0 {
		lines = append(lines, fmt.Sprintf("%s delivered or on the way already and left alone.", plural(int(would.Skipped), "is", "are")))
	}
	s.app.askMany(int(would.Retried), fmt.Sprintf("Retry %s?", plural(int(would.Retried), "message", "messages")), fmt.Sprintf("retry %s", grid.Thousands(int(would.Retried))),
		append(lines, "Each is sent once more, oldest first."), func() tea.Cmd { return s.app.retryMany(s, members, false) })
}

func (s *messages) askRemove(would wire.MessagesDeleted, members url.Values) {
	what := "delete of " + plural(int(would.Deleted), "message", "messages")
	s.app.askMany(int(would.Deleted), fmt.Sprintf("Delete %s?", plural(int(would.Deleted), "message", "messages")), fmt.Sprintf("delete %s", grid.Thousands(int(would.Deleted))),
		append(s.targets(int(would.Deleted), 0), "What is pending of them is not sent. For "+age(undoFor)+", "+s.app.keyFor(everywhere, takeBack)+" takes that back."), func() tea.Cmd {
			return s.app.delay(what, members["MessageIDIn"], func() tea.Cmd { return s.app.removeMany(s, members, false) })
		})
}

// targets says where messages of at least a status go that are meant, and how
// many of them are not here, so that nobody knows where those go.
func (s *messages) targets(count, least int) []string {
	counts := make(map[string]int)
	last := make(map[string]string)
	for id, m := range s.known {
		if (s.allMarks || s.grid.Marked(id)) && m.Status >= least {
			count--
			to := shortURL(m.URL)
			counts[to]++
			last[to] = answerOf(m)
		}
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		if counts[x] != counts[y] {
			return counts[y] - counts[x]
		}
		return strings.Compare(x, y)
	})
	var lines []string
	for _, name := range names[:min(4, len(names))] {
		lines = append(lines, fmt.Sprintf("%5d  %s   last %s", counts[name], name, last[name]))
	}
	if len(names) > 4 {
		lines = append(lines, fmt.Sprintf("       and %d others", len(names)-4))
	}
	if count > 0 {
		lines = append(lines, fmt.Sprintf("%5d  on pages that are not loaded", count))
	}
	return lines
}
