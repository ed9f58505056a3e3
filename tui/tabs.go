package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/home"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/screens/requests"
	"github.com/bizhook/whd/tui/screens/webhooks"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
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

// denied explains why the user may not open a tab, "" if it may.
func (t *tabs) denied(tab int) string {
	if tab == recordsTab || tab == eventsTab {
		return ""
	}
	return t.NeedsAdmin()
}

// tabs holds the open screens.
type tabs struct {
	*App
	stacks   [len(tabNames)][]ui.Screen // by tab; the last screen is in front
	tab      int
	previous location           // the previous location
	stale    map[ui.Screen]bool // fetched again when shown next
}

// openTab switches to a tab.
func (t *tabs) openTab(tab int) tea.Cmd {
	if why := t.denied(tab); why != "" {
		t.Notify(ui.Warning, tabNames[tab]+": "+why)
		return nil
	}
	t.rememberPlace()
	return t.showTab(tab)
}

func (t *tabs) showTab(tab int) tea.Cmd {
	t.tab, t.overlay, t.input = tab, nil, nil
	if len(t.stacks[tab]) == 0 {
		return t.pushScreen(t.first(tab))
	}
	t.resize()
	return t.screenShown()
}

// first returns the first screen of a tab.
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

// Push opens a screen on top of the one in front.
func (t *tabs) Push(s ui.Screen) tea.Cmd {
	t.rememberPlace()
	return t.pushScreen(s)
}

func (t *tabs) pushScreen(s ui.Screen) tea.Cmd {
	t.stacks[t.tab] = append(t.stacks[t.tab], s)
	t.resize()
	return tea.Batch(s.Start(), s.Shown())
}

// pushIn opens a screen in another tab, on top of its first screen.
func (t *tabs) pushIn(tab int, s ui.Screen) tea.Cmd {
	t.rememberPlace()
	cmd := t.showTab(tab)
	for len(t.stacks[tab]) > 1 {
		t.dropScreen()
	}
	return tea.Batch(cmd, t.pushScreen(s))
}

func (t *tabs) dropScreen() {
	stack := t.stacks[t.tab]
	stack[len(stack)-1].Stop()
	t.stacks[t.tab] = stack[:len(stack)-1]
}

// Pop closes the screen in front.
func (t *tabs) Pop() tea.Cmd {
	cmd, _ := t.pop()
	return cmd
}

// pop closes the screen in front. It returns false on the first screen of a tab.
func (t *tabs) pop() (tea.Cmd, bool) {
	if len(t.stacks[t.tab]) <= 1 {
		return nil, false
	}
	t.rememberPlace()
	t.dropScreen()
	t.resize()
	return t.screenShown(), true
}

// location is a tab and its screens, which may be closed by now.
type location struct {
	tab   int
	stack []ui.Screen
}

// rememberPlace stores the current location as the previous one.
func (t *tabs) rememberPlace() {
	if stack := t.stacks[t.tab]; len(stack) > 0 {
		t.previous = location{t.tab, slices.Clone(stack)}
	}
}

// goToPrevious switches to the previous location and opens its closed screens again.
func (t *tabs) goToPrevious() tea.Cmd {
	to := t.previous
	if len(to.stack) == 0 {
		t.Notify(ui.Info, "no previous location")
		return nil
	}
	t.rememberPlace()
	t.tab, t.overlay, t.input = to.tab, nil, nil
	common := 0
	for common < min(len(to.stack), len(t.stacks[to.tab])) && to.stack[common] == t.stacks[to.tab][common] {
		common++
	}
	for len(t.stacks[to.tab]) > common {
		t.dropScreen()
	}
	var cmds []tea.Cmd
	for _, s := range to.stack[common:] {
		s.Reset()
		cmds = append(cmds, t.pushScreen(s))
	}
	t.resize()
	return tea.Batch(append(cmds, t.screenShown())...)
}

// RefreshAll refreshes the screen in front after changes were missed, and marks the other
// screens as stale.
func (t *tabs) RefreshAll() tea.Cmd {
	t.stale = make(map[ui.Screen]bool)
	for _, stack := range t.stacks {
		for _, s := range stack {
			t.stale[s] = true
		}
	}
	return t.refreshScreen(t.Front())
}

// follow passes live updates to all open screens.
func (t *tabs) follow(changes []wire.MessageChange, requests int) tea.Cmd {
	var cmds []tea.Cmd
	for _, stack := range t.stacks {
		for _, screen := range stack {
			for _, s := range withPreview(screen) {
				if f, ok := s.(ui.Follower); ok {
					cmds = append(cmds, f.Follow(changes, requests))
				}
			}
		}
	}
	return tea.Batch(cmds...)
}

// screenShown notifies the screen that has come to the front.
func (t *tabs) screenShown() tea.Cmd {
	s := t.Front()
	if t.stale[s] {
		return tea.Batch(s.Shown(), t.refreshScreen(s))
	}
	return s.Shown()
}

func (t *tabs) refreshScreen(s ui.Screen) tea.Cmd {
	delete(t.stale, s)
	return poll(s)
}

// closeAll closes every screen.
func (t *tabs) closeAll() {
	for tab := range t.stacks {
		for _, s := range t.stacks[tab] {
			s.Stop()
		}
		t.stacks[tab] = nil
	}
	t.tab, t.previous = homeTab, location{}
	clear(t.stale)
}

// withPreview returns a screen, and the one that it shows as a preview.
func withPreview(s ui.Screen) []ui.Screen {
	if p, ok := s.(ui.Previewer); ok && p.Previewed() != nil {
		return []ui.Screen{s, p.Previewed()}
	}
	return []ui.Screen{s}
}

// poll fetches the data of a screen and its preview again.
func poll(s ui.Screen) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range withPreview(s) {
		if p, ok := s.(ui.Poller); ok {
			cmds = append(cmds, p.Poll())
		}
	}
	return tea.Batch(cmds...)
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

// Front returns the visible screen.
func (t *tabs) Front() ui.Screen {
	stack := t.stacks[t.tab]
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// MarkStale makes a screen fetch its data again when it is shown next.
func (t *tabs) MarkStale(s ui.Screen) { t.stale[s] = true }

// Open opens a destination.
func (t *tabs) Open(to ui.Target) tea.Cmd {
	switch to := to.(type) {
	case ui.MessagesTarget:
		return t.openMessages(to)
	case ui.RecordsTarget:
		b := browse.New(t.App, to.Kind, to.Filters, browse.Options{})
		if to.Filters != nil {
			b.Typed = to.Typed
			b.Remember()
		}
		return t.pushIn(recordsTab, b)
	case ui.SubscriptionTarget:
		return t.openSubscription(to.Queue)
	case ui.WhyTarget:
		if why := t.NeedsAdmin(); why != "" {
			t.Notify(ui.Warning, "the history of a key "+why)
			return nil
		}
		return t.Push(messages.NewWhy(t.App, to.Key))
	case ui.ChangesTarget:
		return t.Push(records.NewChanges(t.App, to.Kind))
	case ui.ViewTarget:
		return t.openView(to.View)
	}
	return nil
}

func (t *tabs) openMessages(to ui.MessagesTarget) tea.Cmd {
	list := messages.New(t.App, to.MessageFilter)
	switch {
	case to.Here:
		return t.Push(list)
	case to.Message == nil:
		return t.pushIn(messagesTab, list)
	}
	list.SelectID = to.Message.MessageID
	return tea.Batch(t.pushIn(messagesTab, list), t.Push(messages.NewDetail(list, *to.Message)))
}

// openSubscription opens the subscription of a queue. Until the subscription and its
// subscriber are fetched, it is shown with the data of the queue.
func (t *tabs) openSubscription(q wire.Queue) tea.Cmd {
	list := webhooks.NewSubscriptions(t.App, wire.Subscriber{RecID: q.SubscriberID, Name: q.SubscriberName, IsEnabled: true})
	list.SelectID = q.SubscriptionID
	one := wire.Subscription{RecID: q.SubscriptionID, SubscriberID: q.SubscriberID, EventName: q.EventName, URL: q.URL,
		IsEnabled: q.IsEnabled, DisabledReason: q.DisabledReason, Ordered: q.Ordered, OrderedByKey: q.OrderedByKey}
	return tea.Batch(t.pushIn(subscribersTab, list), t.Push(webhooks.NewSubscription(list, one)))
}

// openView opens a saved view.
func (t *tabs) openView(v state.View) tea.Cmd {
	if why := t.NeedsAdmin(); why != "" && (v.Record == ui.MessageRecord || v.Record == requests.Kind) {
		t.Notify(ui.Warning, v.Name+": "+why)
		return nil
	}
	if v.Record == ui.MessageRecord {
		m := messages.New(t.App, ui.MessageFilter{Subscription: v.Subscription, Label: v.Label, Problems: v.Problems, Undelivered: v.Undelivered})
		m.Filter.Conditions, m.Typed = browse.RestoreFilters(m.HostSession, ui.MessageKind(), v.Where)
		m.SetViewName(v.Name)
		m.Arrange(v.Arrangement)
		m.Order = messages.MessageOrder(v.OrderBy)
		return t.pushIn(messagesTab, m)
	}
	kind, ok := browse.LookupKind(t.Registry, v.Record)
	if !ok {
		t.Notify(ui.Warning, v.Name+": record kind "+v.Record+" no longer exists")
		return nil
	}
	b := requests.NewRows(t.App, "")
	if kind.Name != requests.Kind {
		b = browse.New(t.App, kind, nil, browse.Options{})
	}
	b.Arrange(v.Arrangement)
	b.SetViewName(v.Name)
	return t.pushIn(recordsTab, b)
}

// spans returns the tabs, each after a separator, and the help hint.
func (t *tabs) spans() (left, right []theme.Span) {
	left = []theme.Span{{Text: " "}}
	keys := keymap.Bindings.KeysOf(keymap.Everywhere, keymap.GoTab)
	for i, name := range tabNames {
		role := theme.Plain
		switch {
		case i == t.tab:
			role = theme.Tab
		case t.denied(i) != "":
			role = theme.Dim
		}
		if t.width < 76 && i != t.tab {
			name = name[:min(3, len(name))]
		}
		if i < len(keys) {
			name = keys[i] + " " + name
		}
		left = append(left, theme.Span{Text: name, Role: role}, theme.Span{Text: "  "})
	}
	return left, []theme.Span{{Text: keymap.KeyFor(keymap.Everywhere, keymap.ShowHelp) + " help ", Role: theme.Dim}}
}
