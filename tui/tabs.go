package tui

import (
	tea "github.com/charmbracelet/bubbletea"
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
	if tab != a.tab {
		a.before, a.tab = a.tab, tab
	}
	a.over, a.line = nil, nil
	if len(a.tabs[tab]) == 0 {
		return a.push(a.first(tab))
	}
	a.resize()
	return a.front().shown()
}

// first is the screen that a tab begins with.
func (a *app) first(tab int) screen {
	switch tab {
	case recordsTab:
		return newKinds(a)
	case subscribersTab:
		return newSubscribers(a)
	case messagesTab:
		return newMessages(a, messageFilter{})
	case eventsTab:
		return newEvents(a)
	case requestsTab:
		return newRequests(a)
	}
	return newHome(a)
}

// push opens a screen over the one in front.
func (a *app) push(s screen) tea.Cmd {
	a.tabs[a.tab] = append(a.tabs[a.tab], s)
	a.resize()
	return tea.Batch(s.start(), s.shown())
}

// pushIn opens a screen in another tab, over its first.
func (a *app) pushIn(tab int, s screen) tea.Cmd {
	cmd := a.openTab(tab)
	for len(a.tabs[tab]) > 1 {
		a.drop()
	}
	return tea.Batch(cmd, a.push(s))
}

func (a *app) drop() {
	stack := a.tabs[a.tab]
	stack[len(stack)-1].stop()
	a.tabs[a.tab] = stack[:len(stack)-1]
}

// pop leaves the screen in front. It is false on the first one of a tab.
func (a *app) pop() (tea.Cmd, bool) {
	if len(a.tabs[a.tab]) <= 1 {
		return nil, false
	}
	a.drop()
	a.resize()
	return a.front().shown(), true
}
