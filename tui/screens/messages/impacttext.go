package messages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/ui"
)

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
	if text := m.scheduledText(scheduled, s); text != "" {
		lines = append(lines, text)
	}
	if skipped := m.Matched - m.Done; skipped > 0 {
		messages := display.Count(skipped, "message is", "messages are")
		lines = append(lines, messages+" skipped: delivered or not sent.")
	}
	return lines
}

// scheduledText describes the messages that have a next attempt, empty if there are none or if
// they cannot be distinguished from the failed ones.
func (m *Impact) scheduledText(scheduled bool, s *ui.Session) string {
	count := m.Done - m.failed.done
	canSkip := m.Of.failed != nil && !m.Of.delivered
	if count == 0 || !canSkip {
		return ""
	}
	key := keymap.KeyFor(keymap.InRetryConfirm, keymap.ToggleScheduled)
	if s.NeedsTypedAnswer(int(m.Done)) {
		key = keymap.KeyFor(keymap.InTypedRetryConfirm, keymap.ToggleScheduled)
	}
	if !scheduled {
		return fmt.Sprintf("%s already scheduled and skipped (press %s to include them).",
			display.Count(count, "more is", "more are"), key)
	}
	if m.failed.done == 0 {
		return "All are already scheduled; they will be sent now."
	}
	return fmt.Sprintf("%s already scheduled and will be sent now (%s skips them).",
		display.Count(count, "of them is", "of them are"), key)
}

// receiver is an endpoint with the number of its messages.
type receiver struct {
	name       string
	lastResult string // of the newest message
	failing    string // since when it is failing; empty if it is not
	count      int
}

const (
	targetsShown = 4  // maximum number of endpoints in a confirmation
	targetRoom   = 24 // maximum width of an endpoint name in cells
)

// targets lists the endpoints of count messages, of which the list has the loaded or newest ones;
// unseen describes the others.
func targets(list []wire.Message, count int, unseen string, s *ui.Session) []string {
	receivers := grouped(list, s)
	shown := receivers[:min(targetsShown, len(receivers))]
	room := 0
	for _, r := range shown {
		room = max(room, min(targetRoom, len(r.name)))
	}
	var lines []string
	for _, r := range shown {
		name := s.Theme.Fit(s.Theme.TruncateMiddle(r.name, room), room, false)
		lines = append(lines,
			fmt.Sprintf("%6s  %s   last %s%s", display.Thousands(r.count), name, r.lastResult, r.failing))
	}
	if hidden := len(receivers) - len(shown); hidden > 0 {
		lines = append(lines, fmt.Sprintf("        and %s", display.Count(hidden, "other", "others")))
	}
	if count > len(list) {
		lines = append(lines, fmt.Sprintf("%6s  %s", display.Thousands(count-len(list)), unseen))
	}
	return lines
}

// unseen describes the messages outside of the sample.
func (m *Impact) unseen() string {
	if m.Of.All {
		return fmt.Sprintf("older than the newest %s matches", display.Thousands(len(m.newest)))
	}
	return "changed since they were marked"
}

// grouped counts messages by endpoint, largest first. The newest message must be first.
func grouped(list []wire.Message, s *ui.Session) []*receiver {
	byName := make(map[string]*receiver)
	for _, m := range list {
		name := ui.ShortURL(m.URL)
		if byName[name] == nil {
			byName[name] = &receiver{
				name:       name,
				lastResult: ui.LastResult(m),
				failing:    failing(m.SubscriptionID, s),
			}
		}
		byName[name].count++
	}
	return slices.SortedFunc(maps.Values(byName), func(x, y *receiver) int {
		return cmp.Or(y.count-x.count, strings.Compare(x.name, y.name))
	})
}

// failing describes since when an endpoint is failing, empty if it is not.
func failing(subscription string, s *ui.Session) string {
	since := time.Time(s.Queues.Known[subscription].FailingSince)
	if since.IsZero() {
		return ""
	}
	return "  failing since " + s.TimeOfDay(since)[:len("15:04")]
}
