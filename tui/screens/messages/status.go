package messages

import (
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// What is told around the list of messages: what limits it, and how it stands.

func (s *limits) Badges() []string {
	var chips []string
	if whose := s.whose(); whose != "" {
		chips = append(chips, whose)
	}
	if chip := s.Filter.Standing().Badge; chip != "" {
		chips = append(chips, chip)
	}
	for _, f := range s.Filter.Conditions {
		chips = append(chips, filter.Text(f))
	}
	return chips
}

func (s *List) Status() string {
	text, columns, _ := strings.Cut(s.Grid.Place(), statusGap)
	text += s.marked()
	switch word := s.word(); {
	case word != "":
		return word
	case s.Pages.Total() < 0 && s.Pages.Loading():
		return "loading messages ..."
	case s.Pages.Total() < 0:
		return "no answer yet: " + keymap.KeyFor(keymap.Everywhere, keymap.Refresh) + " asks again"
	case s.Grid.Len() == 0:
		text = "no messages"
	}
	text += s.heldText() + s.newer()
	if columns != "" {
		text += statusGap + columns
	}
	return text + statusGap + "times: " + ui.TimeModes[s.Times]
}

// statusGap is between the parts of a line of status.
const statusGap = "   "

// newer tells of messages that are not shown. Whether they match conditions the
// service alone knows.
func (s *limits) newer() string {
	switch n := len(s.news); {
	case s.Grid.Following():
		return "   following"
	case n == 0:
		return ""
	case len(s.Filter.Conditions) > 0 || !s.newest():
		return "   there are new ones: " + keymap.KeyFor(keymap.InLists, keymap.GoTop) + " shows those that match"
	default:
		return fmt.Sprintf("   new %s: %s shows them", theme.Thousands(n), keymap.KeyFor(keymap.InLists, keymap.GoTop))
	}
}

// held counts the messages that nobody has tried to send, since their endpoint
// fails or is off. Of a list with conditions the service alone knows.
func (s *List) held() int64 {
	if !s.Filter.Problems || s.Filter.Undelivered || len(s.Filter.Conditions) > 0 {
		return 0
	}
	var n int64
	for _, queue := range s.Queues.Known {
		stuck := !queue.IsEnabled || queue.Breaker == wire.BreakerOpen
		if stuck && s.Filter.Matches(wire.MessageChange{SubscriberID: queue.SubscriberID, SubscriptionID: queue.SubscriptionID}) {
			n += queue.NotSent
		}
	}
	return n
}

// heldText tells of them.
func (s *List) heldText() string {
	n := s.held()
	if n == 0 {
		return ""
	}
	return "   " + theme.Thousands(int(n)) + " more wait: " + keymap.KeyFor(keymap.InMessages, keymap.ProblemsOnly) + " shows them"
}

// whose is whose messages are shown, empty for everybody's.
func (s *limits) whose() string {
	if queue, known := s.Queues.Known[s.Filter.Subscription]; known {
		return subscriptionLabel(queue.EventName, queue.URL)
	}
	return s.Filter.Label
}

// subscriptionLabel is what is sent, and where to.
func subscriptionLabel(event, address string) string { return event + " to " + ui.ShortURL(address) }

// marked tells how many messages are marked.
func (s *List) marked() string {
	switch n := s.Grid.Marks(); {
	case s.AllMarks:
		return "   " + theme.Thousands(max(0, s.Pages.Total())) + " marked: all that match"
	case n > 0:
		return fmt.Sprintf("   %s marked", theme.Thousands(n))
	}
	return ""
}
