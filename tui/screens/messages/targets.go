package messages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Where the messages go that a question is about.

// receiver is where messages go.
type receiver struct {
	name, answer, still string
	count               int
}

// targetsShown is how many of them a question names.
const targetsShown = 4

// targets says where messages of at least a status go that are meant. Of very
// many the newest tell that.
func (s *bulk) targets(m Weighed, count, least int) []string {
	all := s.grouped(m.looked(s.List), least)
	var lines []string
	room := 0
	for _, one := range all[:min(targetsShown, len(all))] {
		room = max(room, min(targetRoom, len(one.name)))
	}
	for i, one := range all {
		count -= one.count
		if i < targetsShown {
			lines = append(lines, fmt.Sprintf("%6s  %s   last %s%s", theme.Thousands(one.count), s.Theme.Fit(s.Theme.Middle(one.name, room), room, false), one.answer, one.still))
		}
	}
	if more := len(all) - targetsShown; more > 0 {
		lines = append(lines, fmt.Sprintf("        and %s", ui.Plural(more, "other", "others")))
	}
	if count > 0 {
		lines = append(lines, fmt.Sprintf("%6s  %s", theme.Thousands(count), m.unseen()))
	}
	return lines
}

// targetRoom is how much of an address is shown.
const targetRoom = 24

// looked are the messages that tell where those go that are meant.
func (m *Weighed) looked(s *List) []wire.Message {
	if m.Of.All {
		return m.newest
	}
	var list []wire.Message
	for _, row := range s.Grid.MarkedRows() {
		list = append(list, s.Known[row.ID])
	}
	return list
}

// unseen names those of which nobody knows where they go.
func (m *Weighed) unseen() string {
	if m.Of.All {
		return fmt.Sprintf("older than the newest %s that match", theme.Thousands(len(m.newest)))
	}
	return "that have changed since they were marked"
}

// grouped counts messages by where they go, most first. The newest tells the
// answer.
func (s *bulk) grouped(list []wire.Message, least int) []*receiver {
	byName := make(map[string]*receiver)
	var all []*receiver
	for _, m := range list {
		if m.Status < least {
			continue
		}
		one := byName[ui.ShortURL(m.URL)]
		if one == nil {
			one = &receiver{name: ui.ShortURL(m.URL), answer: ui.LastAnswer(m), still: s.failing(m.SubscriptionID)}
			byName[one.name] = one
			all = append(all, one)
		}
		one.count++
	}
	slices.SortFunc(all, func(x, y *receiver) int {
		if x.count != y.count {
			return y.count - x.count
		}
		return strings.Compare(x.name, y.name)
	})
	return all
}

// failing tells that an endpoint has done nothing but fail lately.
func (s *bulk) failing(subscription string) string {
	queue := s.Queues.Known[subscription]
	if queue.LastFailure == nil || time.Time(queue.FailingSince).IsZero() {
		return ""
	}
	return "  (still failing " + ui.Age(s.Now.Sub(time.Time(queue.LastFailure.At))) + " ago)"
}
