package shell

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// TabNames are the tabs, in the order of their keys.
var TabNames = [...]string{"Home", "Records", "Subscribers", "Messages", "Events", "Requests"}

// The tabs.
const (
	HomeTab = iota
	RecordsTab
	SubscribersTab
	MessagesTab
	EventsTab
	RequestsTab
)

// TabsHost is the part of the app that the tabs use.
type TabsHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowOverlay(o ui.Overlay)
	ShowInput(l *ui.InputLine)
	// FirstScreen returns a new first screen of a tab.
	FirstScreen(tab int) ui.Screen
}

// Tabs holds the open screens, and the size in which they are shown.
type Tabs struct {
	host          TabsHost
	width, height int                        // size of the terminal, in cells
	stacks        [len(TabNames)][]ui.Screen // indexed by tab; the last screen is in front
	tab           int                        // tab in front
	previous      location                   // before the last change of the screen in front
	drilledInto   []ui.Screen                // opened from Home in another tab; the last one returns there
	stale         map[ui.Screen]bool         // screens that are fetched again when shown next
}

// NewTabs returns tabs without screens.
func NewTabs(h TabsHost) *Tabs { return &Tabs{host: h, stale: make(map[ui.Screen]bool)} }

// Start opens the first screen of Home without requesting its data.
func (t *Tabs) Start() {
	t.stacks[HomeTab] = []ui.Screen{t.host.FirstScreen(HomeTab)}
	t.fit()
}

// Resize sets the size of the terminal.
func (t *Tabs) Resize(width, height int) {
	t.width, t.height = width, height
	t.fit()
}

// hasSize reports whether the size of the terminal is known.
func (t *Tabs) hasSize() bool { return t.width > 0 }

// TooSmall reports whether the terminal is too small to show a screen.
func (t *Tabs) TooSmall() bool { return t.width < ui.MinWidth || t.height < ui.MinHeight }

// fit sets the size of the screen in front.
func (t *Tabs) fit() {
	if t.TooSmall() {
		return
	}
	session := t.host.CurrentSession()
	session.Columns = t.width
	session.Rows = t.height - ui.ChromeHeight
	session.Frames = t.hasFrames()
	if s := t.Front(); s != nil {
		width := t.width
		if session.Frames {
			width -= 2
		}
		s.SetSize(width, session.Rows)
	}
}

// hasFrames reports whether panels have frames.
func (t *Tabs) hasFrames() bool { return t.width >= ui.FrameMinWidth && t.height >= ui.FrameMinHeight }

// origin returns the position of the first cell of the screen in front.
func (t *Tabs) origin() (x, y int) {
	if t.hasFrames() {
		return 1, ui.HeaderHeight + 1
	}
	return 0, ui.HeaderHeight + headingLines
}

// headingLines is the height of the title of a screen without a frame, and the rule below it.
const headingLines = 2

// Current returns the tab in front.
func (t *Tabs) Current() int { return t.tab }

// Denied explains why the user may not open a tab, "" if they may.
func (t *Tabs) Denied(tab int) string {
	if tab == RecordsTab || tab == EventsTab {
		return ""
	}
	return t.host.CurrentSession().NeedsAdmin()
}

// Open switches to a tab, if the user may open it.
func (t *Tabs) Open(tab int) tea.Cmd {
	if t.refuse(tab) {
		return nil
	}
	t.rememberPlace()
	t.drilledInto = nil
	return t.Show(tab)
}

// refuse notifies the user if they may not open a tab.
func (t *Tabs) refuse(tab int) (refused bool) {
	why := t.Denied(tab)
	if why != "" {
		t.host.Notify(ui.Warning, TabNames[tab]+": "+why)
	}
	return why != ""
}

// Show switches to a tab.
func (t *Tabs) Show(tab int) tea.Cmd {
	t.tab = tab
	t.clearFront()
	if len(t.stacks[tab]) == 0 {
		return t.pushScreen(t.host.FirstScreen(tab))
	}
	t.fit()
	return t.screenShown()
}

// Push opens a screen on top of the one in front.
func (t *Tabs) Push(s ui.Screen) tea.Cmd {
	t.rememberPlace()
	return t.pushScreen(s)
}

// pushScreen opens a screen, and leaves the previous location as it is.
func (t *Tabs) pushScreen(s ui.Screen) tea.Cmd {
	t.stacks[t.tab] = append(t.stacks[t.tab], s)
	t.fit()
	return tea.Batch(s.Start(), s.Shown())
}

// PushIn opens screens in another tab, on top of its first screen. The previous location is the
// one before all of them.
func (t *Tabs) PushIn(tab int, screens ...ui.Screen) tea.Cmd {
	t.rememberPlace()
	isDrillIn := t.tab == HomeTab && tab != HomeTab
	cmds := []tea.Cmd{t.Show(tab)}
	for len(t.stacks[tab]) > 1 {
		t.dropScreen()
	}
	for _, s := range screens {
		cmds = append(cmds, t.pushScreen(s))
	}
	t.drilledInto = nil
	if isDrillIn {
		t.drilledInto = screens[:1]
	}
	return tea.Batch(cmds...)
}

// ReturnAtOnce makes the screen in front return to Home without the screens below it that were opened
// with it, if all of them were opened from there.
func (t *Tabs) ReturnAtOnce() {
	if t.drilledInto != nil {
		t.drilledInto = slices.Clone(t.stacks[t.tab][1:])
	}
}

// dropScreen closes the screen in front of the current tab.
func (t *Tabs) dropScreen() {
	stack := t.stacks[t.tab]
	stack[len(stack)-1].Stop()
	t.stacks[t.tab] = stack[:len(stack)-1]
}

// Pop closes the screen in front. It returns false on the first screen of a tab. A screen that was
// opened from Home returns there.
func (t *Tabs) Pop() (tea.Cmd, bool) {
	if len(t.stacks[t.tab]) <= 1 {
		return nil, false
	}
	t.rememberPlace()
	last := len(t.drilledInto) - 1
	if last >= 0 && t.Front() == t.drilledInto[last] {
		for range t.drilledInto {
			t.dropScreen()
		}
		t.drilledInto = nil
		return t.Show(HomeTab), true
	}
	t.dropScreen()
	t.fit()
	return t.screenShown(), true
}

// location is a tab and its screens, which may be closed by now.
type location struct {
	tab   int
	stack []ui.Screen
}

// rememberPlace stores the current location, which is left, as the previous one.
func (t *Tabs) rememberPlace() {
	if stack := t.stacks[t.tab]; len(stack) > 0 {
		if front, ok := t.Front().(ui.Leaver); ok {
			front.Leave()
		}
		t.previous = location{tab: t.tab, stack: slices.Clone(stack)}
	}
}

// GoToPrevious switches to the previous location and opens its closed screens again.
func (t *Tabs) GoToPrevious() tea.Cmd {
	previous := t.previous
	if len(previous.stack) == 0 {
		t.host.Notify(ui.Info, "no previous location")
		return nil
	}
	if t.refuse(previous.tab) {
		return nil
	}
	t.rememberPlace()
	t.tab = previous.tab
	t.clearFront()

	open := commonScreens(previous.stack, t.stacks[t.tab])
	for len(t.stacks[t.tab]) > open {
		t.dropScreen()
	}
	var cmds []tea.Cmd
	for _, s := range previous.stack[open:] {
		s.Reset()
		cmds = append(cmds, t.pushScreen(s))
	}
	t.fit()
	return tea.Batch(append(cmds, t.screenShown())...)
}

// commonScreens returns the number of screens that two stacks have in common from the bottom.
func commonScreens(a, b []ui.Screen) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// RefreshAll refreshes the screen in front after changes were missed, and marks the other
// screens as stale.
func (t *Tabs) RefreshAll() tea.Cmd {
	t.stale = make(map[ui.Screen]bool)
	for _, stack := range t.stacks {
		for _, s := range stack {
			t.stale[s] = true
		}
	}
	return t.refreshScreen(t.Front())
}

// Follow passes live updates to all open screens.
func (t *Tabs) Follow(changes []wire.MessageChange, requests int) tea.Cmd {
	var cmds []tea.Cmd
	for _, stack := range t.stacks {
		for _, screen := range stack {
			for _, s := range WithPreview(screen) {
				if f, ok := s.(ui.Follower); ok {
					cmds = append(cmds, f.Follow(changes, requests))
				}
			}
		}
	}
	return tea.Batch(cmds...)
}

// screenShown notifies the screen that has come to the front.
func (t *Tabs) screenShown() tea.Cmd {
	s := t.Front()
	if t.stale[s] {
		return tea.Batch(s.Shown(), t.refreshScreen(s))
	}
	return s.Shown()
}

func (t *Tabs) refreshScreen(s ui.Screen) tea.Cmd {
	delete(t.stale, s)
	return Poll(s)
}

// clearFront removes the overlay and the input, which belong to the screen that was in front.
func (t *Tabs) clearFront() {
	t.host.ShowOverlay(nil)
	t.host.ShowInput(nil)
}

// CloseToFirst closes all screens but the first of each tab, and shows Home.
func (t *Tabs) CloseToFirst() {
	for t.tab = range t.stacks {
		for len(t.stacks[t.tab]) > 1 {
			t.dropScreen()
		}
	}
	t.tab = HomeTab
}

// Depth returns the number of open screens in the current tab.
func (t *Tabs) Depth() int { return len(t.stacks[t.tab]) }

// CloseAll closes every screen.
func (t *Tabs) CloseAll() {
	for tab := range t.stacks {
		for _, s := range t.stacks[tab] {
			s.Stop()
		}
		t.stacks[tab] = nil
	}
	t.tab = HomeTab
	t.previous = location{}
	clear(t.stale)
}

// WithPreview returns a screen, and the one that it shows as a preview.
func WithPreview(s ui.Screen) []ui.Screen {
	if p, ok := s.(ui.Previewer); ok && p.Previewed() != nil {
		return []ui.Screen{s, p.Previewed()}
	}
	return []ui.Screen{s}
}

// Poll fetches the data of a screen and its preview again.
func Poll(s ui.Screen) tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range WithPreview(s) {
		if p, ok := s.(ui.Poller); ok {
			cmds = append(cmds, p.Poll())
		}
	}
	return tea.Batch(cmds...)
}

// IsOpen reports whether a screen is open, also within another one.
func (t *Tabs) IsOpen(s ui.Screen) bool {
	for _, stack := range t.stacks {
		for _, screen := range stack {
			if screen == s {
				return true
			}
			if parent, ok := screen.(ui.Parent); ok && parent.HasChild(s) {
				return true
			}
		}
	}
	return false
}

// Front returns the visible screen.
func (t *Tabs) Front() ui.Screen {
	stack := t.stacks[t.tab]
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

// MarkStale makes a screen fetch its data again when it is shown next.
func (t *Tabs) MarkStale(s ui.Screen) { t.stale[s] = true }

// shortNames are the names of tabs without room for all of TabNames.
var shortNames = [...]string{"Home", "Rec", "Sub", "Msg", "Evt", "Req"}

// tabGap is the number of cells between two tabs.
const tabGap = 2

// labels returns the spans of each tab. Without room for the names, those of the tabs that are
// not in front are shortened, and then all of them.
func (t *Tabs) labels() [len(TabNames)][]theme.Span {
	names := TabNames
	labels := t.labelsOf(names)
	for _, shortensFront := range [...]bool{false, true} {
		if t.labelsWidth(labels) <= t.width {
			return labels
		}
		for i, name := range shortNames {
			if i != t.tab || shortensFront {
				names[i] = name
			}
		}
		labels = t.labelsOf(names)
	}
	return labels
}

// labelsOf returns the spans of tabs with names.
func (t *Tabs) labelsOf(names [len(TabNames)]string) [len(TabNames)][]theme.Span {
	var labels [len(TabNames)][]theme.Span
	keys := keymap.Bindings.KeysOf(keymap.Everywhere, keymap.GoTab)
	for i, name := range names {
		role := theme.Plain
		if i == t.tab {
			role = theme.Tab
		} else if t.Denied(i) != "" {
			role = theme.Dim
		}
		if i < len(keys) {
			name = keys[i] + " " + name
		}
		labels[i] = append([]theme.Span{{Text: name, Role: role}}, t.troubles(i)...)
	}
	return labels
}

// labelsWidth returns the width of the line with tabs and the help hint.
func (t *Tabs) labelsWidth(labels [len(TabNames)][]theme.Span) int {
	width := 1 + spansWidth(t.helpHint())
	for _, spans := range labels {
		width += spansWidth(spans) + tabGap
	}
	return width
}

// troubles returns the numbers of a tab that need attention, each after its sign: endpoints that
// fail, messages that failed or wait for a retry, and requests with an error of the service. A user
// without the right to see these has none.
func (t *Tabs) troubles(tab int) []theme.Span {
	s := t.host.CurrentSession()
	if t.Denied(tab) != "" {
		return nil
	}
	troubles := &s.Queues.Troubles
	switch tab {
	case SubscribersTab:
		return trouble(s.Theme.Alert, theme.Warning, int64(troubles.Endpoints))
	case MessagesTab:
		return append(trouble(s.Theme.Fail, theme.Failure, troubles.GivenUp),
			trouble(s.Theme.Retry, theme.Warning, troubles.RetryPending)...)
	case RequestsTab:
		return trouble(s.Theme.Fail, theme.Failure, s.FailedRequests.Total(s.Now))
	}
	return nil
}

// trouble returns a number after its sign, nil for zero.
func trouble(sign string, role theme.Role, n int64) []theme.Span {
	if n == 0 {
		return nil
	}
	return []theme.Span{{Text: " "}, {Text: sign + display.Short(n), Role: role}}
}

// spans returns the line of the tabs, and the help hint.
func (t *Tabs) spans() (tabs, help []theme.Span) {
	tabs = []theme.Span{{Text: " "}}
	for _, spans := range t.labels() {
		tabs = append(tabs, spans...)
		tabs = append(tabs, theme.Span{Text: theme.Spaces(tabGap)})
	}
	return tabs, t.helpHint()
}

// helpHint returns the key of the help.
func (t *Tabs) helpHint() []theme.Span {
	key := keymap.KeyFor(keymap.Everywhere, keymap.ShowHelp)
	return []theme.Span{{Text: key, Role: theme.Key}, {Text: " help ", Role: theme.Dim}}
}

// tabAt returns the tab at a position in the line, -1 for none; isHelp reports whether the help
// hint is there.
func (t *Tabs) tabAt(x int) (tab int, isHelp bool) {
	start := 1
	for i, spans := range t.labels() {
		end := start + spansWidth(spans)
		if x >= start && x < end {
			return i, false
		}
		start = end + tabGap
	}
	return -1, x >= t.width-spansWidth(t.helpHint())
}
