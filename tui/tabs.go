package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/ui"
)

// The tabs, in the order of their keys.
var tabNames = [...]string{"Home", "Records", "Subscribers", "Messages", "Events", "Requests"}

const (
	homeTab = iota
	recordsTab
	subscribersTab
	messagesTab
	eventsTab
	requestsTab
)

// tabs is what is open.
type tabs struct {
	*App
	stacks   [len(tabNames)][]ui.Screen // in each tab, the last in front
	tab      int
	former   place              // what was seen before
	outdated map[ui.Screen]bool // were not told of changes; fetched again when they are seen
}

// openTab brings a tab to the front.
func (t *tabs) openTab(tab int) tea.Cmd {
	t.leavePlace()
	return t.bring(tab)
}

func (t *tabs) bring(tab int) tea.Cmd {
	t.tab, t.over, t.line = tab, nil, nil
	if len(t.stacks[tab]) == 0 {
		return t.put(t.first(tab))
	}
	t.resize()
	return t.seen()
}

// first is the screen that a tab begins with.
func (t *tabs) first(tab int) ui.Screen {
	switch tab {
	case recordsTab:
		return records.NewKinds(t.App)
	case subscribersTab:
		return webhooks.NewSubscribers(t.App)
	case messagesTab:
		return messages.New(t.App, ui.MessageFilter{})
	case eventsTab:
		return webhooks.NewEvents(t.App)
	case requestsTab:
		return requests.New(t.App)
	}
	return home.New(t.App)
}

// Push opens a screen over the one in front.
func (t *tabs) Push(s ui.Screen) tea.Cmd {
	t.leavePlace()
	return t.put(s)
}

func (t *tabs) put(s ui.Screen) tea.Cmd {
	t.stacks[t.tab] = append(t.stacks[t.tab], s)
	t.resize()
	return tea.Batch(s.Start(), s.Shown())
}

// pushIn opens a screen in another tab, over its first.
func (t *tabs) pushIn(tab int, s ui.Screen) tea.Cmd {
	t.leavePlace()
	cmd := t.bring(tab)
	for len(t.stacks[tab]) > 1 {
		t.drop()
	}
	return tea.Batch(cmd, t.put(s))
}

func (t *tabs) drop() {
	stack := t.stacks[t.tab]
	stack[len(stack)-1].Stop()
	t.stacks[t.tab] = stack[:len(stack)-1]
}

// Pop leaves the screen in front.
func (t *tabs) Pop() tea.Cmd {
	cmd, _ := t.pop()
	return cmd
}

// pop leaves the screen in front. It is false on the first one of a tab.
func (t *tabs) pop() (tea.Cmd, bool) {
	if len(t.stacks[t.tab]) <= 1 {
		return nil, false
	}
	t.leavePlace()
	t.drop()
	t.resize()
	return t.seen(), true
}

// place is what was open in a tab, also where it was closed meanwhile.
type place struct {
	tab   int
	stack []ui.Screen
}

// leavePlace remembers what is in front, which something else takes the place
// of now.
func (t *tabs) leavePlace() {
	if stack := t.stacks[t.tab]; len(stack) > 0 {
		t.former = place{t.tab, slices.Clone(stack)}
	}
}

// goBefore goes to what was in front before, and opens again what was closed of
// it.
func (t *tabs) goBefore() tea.Cmd {
	to := t.former
	if len(to.stack) == 0 {
		t.Notify(ui.Info, "nothing was seen before this")
		return nil
	}
	t.leavePlace()
	t.tab, t.over, t.line = to.tab, nil, nil
	same := 0
	for same < min(len(to.stack), len(t.stacks[to.tab])) && to.stack[same] == t.stacks[to.tab][same] {
		same++
	}
	for len(t.stacks[to.tab]) > same {
		t.drop()
	}
	var cmds []tea.Cmd
	for _, s := range to.stack[same:] {
		s.Reset()
		cmds = append(cmds, t.put(s))
	}
	t.resize()
	return tea.Batch(append(cmds, t.seen())...)
}

// missed fetches what is in front again, since changes were not told, and the
// rest when it is seen.
func (t *tabs) missed() tea.Cmd {
	t.outdated = make(map[ui.Screen]bool)
	for _, stack := range t.stacks {
		for _, s := range stack {
			t.outdated[s] = true
		}
	}
	return t.renew(t.Front())
}

// seen is what the screen does that has come to the front.
func (t *tabs) seen() tea.Cmd {
	s := t.Front()
	if t.outdated[s] {
		return tea.Batch(s.Shown(), t.renew(s))
	}
	return s.Shown()
}

func (t *tabs) renew(s ui.Screen) tea.Cmd {
	delete(t.outdated, s)
	if p, ok := s.(ui.Poller); ok {
		return p.Poll()
	}
	return nil
}

func (t *tabs) isOpen(s ui.Screen) bool {
	for _, stack := range t.stacks {
		for _, one := range stack {
			if h, ok := one.(ui.Parent); one == s || ok && h.HasChild(s) {
				return true
			}
		}
	}
	return false
}

// Front is the screen that is seen.
func (t *tabs) Front() ui.Screen {
	stack := t.stacks[t.tab]
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// MarkStale has a screen fetched again when it is seen.
func (t *tabs) MarkStale(s ui.Screen) { t.outdated[s] = true }
