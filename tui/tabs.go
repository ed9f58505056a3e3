package tui

import (
	"slices"

	"github.com/bizhook/whd/tui/screens/records"

	"github.com/bizhook/whd/tui/screens/messages"

	"github.com/bizhook/whd/tui/screens/webhooks"

	"github.com/bizhook/whd/tui/screens/home"

	"github.com/bizhook/whd/tui/screens/requests"

	tea "github.com/charmbracelet/bubbletea"

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

// openTab brings a tab to the front.
func (a *app) openTab(tab int) tea.Cmd {
	a.leavePlace()
	return a.bring(tab)
}

func (a *app) bring(tab int) tea.Cmd {
	a.tab, a.over, a.line = tab, nil, nil
	if len(a.tabs[tab]) == 0 {
		return a.put(a.first(tab))
	}
	a.resize()
	return a.seen()
}

// first is the screen that a tab begins with.
func (a *app) first(tab int) ui.Screen {
	switch tab {
	case recordsTab:
		return records.NewKinds(a)
	case subscribersTab:
		return webhooks.NewSubscribers(a)
	case messagesTab:
		return messages.New(a, ui.MessageFilter{})
	case eventsTab:
		return webhooks.NewEvents(a)
	case requestsTab:
		return requests.New(a)
	}
	return home.New(a)
}

// Push opens a screen over the one in front.
func (a *app) Push(s ui.Screen) tea.Cmd {
	a.leavePlace()
	return a.put(s)
}

func (a *app) put(s ui.Screen) tea.Cmd {
	a.tabs[a.tab] = append(a.tabs[a.tab], s)
	a.resize()
	return tea.Batch(s.Start(), s.Shown())
}

// pushIn opens a screen in another tab, over its first.
func (a *app) pushIn(tab int, s ui.Screen) tea.Cmd {
	a.leavePlace()
	cmd := a.bring(tab)
	for len(a.tabs[tab]) > 1 {
		a.drop()
	}
	return tea.Batch(cmd, a.put(s))
}

func (a *app) drop() {
	stack := a.tabs[a.tab]
	stack[len(stack)-1].Stop()
	a.tabs[a.tab] = stack[:len(stack)-1]
}

// Pop leaves the screen in front.
func (a *app) Pop() tea.Cmd {
	cmd, _ := a.pop()
	return cmd
}

// pop leaves the screen in front. It is false on the first one of a tab.
func (a *app) pop() (tea.Cmd, bool) {
	if len(a.tabs[a.tab]) <= 1 {
		return nil, false
	}
	a.leavePlace()
	a.drop()
	a.resize()
	return a.seen(), true
}

// place is what was open in a tab, also where it was closed meanwhile.
type place struct {
	tab   int
	stack []ui.Screen
}

// leavePlace remembers what is in front, which something else takes the place
// of now.
func (a *app) leavePlace() {
	if stack := a.tabs[a.tab]; len(stack) > 0 {
		a.former = place{a.tab, slices.Clone(stack)}
	}
}

// goBefore goes to what was in front before, and opens again what was closed of
// it.
func (a *app) goBefore() tea.Cmd {
	to := a.former
	if len(to.stack) == 0 {
		a.Tell(ui.Info, "nothing was seen before this")
		return nil
	}
	a.leavePlace()
	a.tab, a.over, a.line = to.tab, nil, nil
	same := 0
	for same < min(len(to.stack), len(a.tabs[to.tab])) && to.stack[same] == a.tabs[to.tab][same] {
		same++
	}
	for len(a.tabs[to.tab]) > same {
		a.drop()
	}
	var cmds []tea.Cmd
	for _, s := range to.stack[same:] {
		s.Reset()
		cmds = append(cmds, a.put(s))
	}
	a.resize()
	return tea.Batch(append(cmds, a.seen())...)
}

// missed fetches what is in front again, since changes were not told, and the
// rest when it is seen.
func (a *app) missed() tea.Cmd {
	a.outdated = make(map[ui.Screen]bool)
	for _, stack := range a.tabs {
		for _, s := range stack {
			a.outdated[s] = true
		}
	}
	return a.renew(a.Front())
}

// seen is what the screen does that has come to the front.
func (a *app) seen() tea.Cmd {
	s := a.Front()
	if a.outdated[s] {
		return tea.Batch(s.Shown(), a.renew(s))
	}
	return s.Shown()
}

func (a *app) renew(s ui.Screen) tea.Cmd {
	delete(a.outdated, s)
	if p, ok := s.(ui.Poller); ok {
		return p.Poll()
	}
	return nil
}
