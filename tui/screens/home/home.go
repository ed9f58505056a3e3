// Package home has the first screen: an overview of deliveries and their problems.
package home

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Screen is the first screen.
type Screen struct {
	ui.Base
	Overview
	due           bool // messages have changed since the last request
	RequestedAt   time.Time
	err           error
	SelectedIndex int               // index of the selected entry
	SelectedKey   string            // key of the selected entry
	views         map[string]string // number of rows by view name
	countedAt     time.Time
}

// New returns the screen.
func New(h ui.Host) *Screen { return &Screen{Base: ui.NewBase(h)} }

func (h *Screen) Title() string { return "Home" }

func (h *Screen) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InHome, keymap.InLists} }

func (h *Screen) Equivalent() string {
	return `whctl messages list --where "Status in 2,3" --order-by -LastSavedDateTime`
}

func (h *Screen) Shown() tea.Cmd {
	if h.Stats != nil && h.Session.Now.Sub(h.RequestedAt) < ui.PollInterval {
		return nil
	}
	return h.Poll()
}

func (h *Screen) Poll() tea.Cmd {
	if h.Busy {
		return nil
	}
	h.Busy = true
	h.due = false
	h.RequestedAt = h.Session.Now
	return tea.Batch(ui.Fetch(h.Ctx, h, fetchOverview, h.OnFetched), h.count())
}

// maxStatsAge is the time after which the statistics are fetched again if nothing
// has changed.
const maxStatsAge = time.Minute

// Follow fetches the overview again after a change, at most every two seconds.
func (h *Screen) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	h.due = h.due || len(changes) > 0
	return h.Tick()
}

// Tick fetches the overview if it is due.
func (h *Screen) Tick() tea.Cmd {
	old := h.Session.Now.Sub(h.RequestedAt)
	fresh := old < ui.PollInterval || !h.due && old < maxStatsAge
	if h.Session.Paused || h.Busy || fresh || h.Host.Front() != ui.Screen(h) {
		return nil
	}
	return h.Poll()
}

// OnFetched shows the fetched overview.
func (h *Screen) OnFetched(fetched Overview, err error) tea.Cmd {
	h.Busy = false
	h.err = err
	if err == nil {
		h.Overview = fetched
		padSeries(&fetched.Stats.Minutes)
		h.Session.Queues.Update(fetched.Stats, h.Session.Now)
		h.RestoreSelection()
	}
	return nil
}

func (h *Screen) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		h.selectEntry(h.SelectedIndex - 1)
	case keymap.GoDown:
		h.selectEntry(h.SelectedIndex + 1)
	case keymap.GoTop:
		h.selectEntry(0)
	case keymap.GoBottom:
		h.selectEntry(len(h.Entries()) - 1)
	case keymap.ProblemsOnly:
		return h.Host.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}})
	case keymap.ShowInfo:
		return h.openSubscription()
	case keymap.Open:
		if all := h.Entries(); h.SelectedIndex < len(all) {
			return all[h.SelectedIndex].open()
		}
	}
	return nil
}

func (h *Screen) Status() string {
	if h.Stats == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d disabled   %d in flight   %s",
		display.Count(h.Stats.Subscriptions, "subscription", "subscriptions"), h.Stats.Disabled,
		h.Stats.InHand.InFlight, display.Count(h.Stats.Daemons, "daemon", "daemons"))
}

func (h *Screen) View() string {
	var lines []string
	switch {
	case h.Stats != nil:
		lines = h.dashboard()
	case h.err != nil && ui.SignedOut(h.err):
		lines = h.fitLines("  You are not signed in.", "",
			"  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" or :login to sign in.")
	case h.err != nil && client.Is(h.err, client.Unauthorized):
		lines = append(h.fitLines("  Deliveries require the admin role.", "", "  Press 2 for records.", ""),
			h.viewLines(0)...)
	case h.err != nil:
		lines = h.fitLines("  "+ui.Describe(h.err), "",
			"  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" retries, :records shows records.")
	default:
		lines = h.fitLines("  Deliveries " + strings.Repeat(h.Session.Theme.Loading, 3))
	}
	for len(lines) < h.Height {
		lines = append(lines, strings.Repeat(" ", h.Width))
	}
	return strings.Join(lines[:h.Height], "\n")
}

func (h *Screen) fitLines(texts ...string) []string {
	return record.Texts(texts, func(text string) string { return h.Session.Theme.Fit(text, h.Width, false) })
}

// dashboard draws the loaded overview.
func (h *Screen) dashboard() []string {
	t := h.Session.Theme
	c := chart{session: h.Session, stats: h.Stats, failures: h.Failures, width: h.Width, height: h.Height}
	title := []theme.Span{{Text: " Messages per minute", Role: theme.Breadcrumb}}
	rate := []theme.Span{{Text: c.rate(), Role: theme.Label}}
	lines := append([]string{t.Compose(h.Width, title, rate)}, c.bars()...)
	if h.Height >= lowHeight {
		lines = append(lines, c.hours())
	}
	lines = append(append(append(append(lines, h.space()...), h.statusCounts()), h.space()...), h.groupLines()...)
	for _, part := range [][]string{
		h.captureLines(len(h.shownGroups())),
		h.viewLines(len(h.shownGroups()) + len(h.Lagging)),
	} {
		if part != nil {
			lines = append(append(lines, h.space()...), part...)
		}
	}
	return append(lines, h.recent()...)
}

// space returns the blank line between parts of the screen, if it is high enough.
func (h *Screen) space() []string {
	if h.Height < roomyHeight {
		return nil
	}
	return []string{theme.Spaces(h.Width)}
}

// Heights of the screen from which it has the time axis, and blank lines between its parts.
const (
	lowHeight   = 12
	roomyHeight = 16
)

// entry is an item of the first screen that can be opened.
type entry struct {
	Key  string // identifies the entry after a refresh
	open func() tea.Cmd
}

// Entries returns groups of failures, captures, saved views and failures in the order of their lines.
func (h *Screen) Entries() []entry {
	all := h.fixedEntries()
	for _, m := range h.shownFailures() {
		all = append(all, entry{"message " + m.MessageID, func() tea.Cmd {
			return h.Host.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m})
		}})
	}
	return all
}

// fixedEntries returns the entries above the recent failures.
func (h *Screen) fixedEntries() []entry {
	var all []entry
	for _, g := range h.shownGroups() {
		all = append(all, entry{"group " + g.SubscriptionID + " " + g.Result, func() tea.Cmd {
			return h.Host.Open(ui.MessagesTarget{MessageFilter: g.filter(h.Session.Queues.Known[g.SubscriptionID].EventName)})
		}})
	}
	for _, c := range h.Lagging {
		all = append(all, entry{"capture " + c.Kind, func() tea.Cmd {
			kind, ok := h.Session.Registry.Lookup(c.Kind)
			if !ok {
				return nil
			}
			return h.Host.Open(ui.ChangesTarget{Kind: kind})
		}})
	}
	for _, v := range h.visibleViews() {
		all = append(all, entry{"view " + v.Name, func() tea.Cmd { return h.Host.Open(ui.ViewTarget{View: v}) }})
	}
	return all
}

// openSubscription opens the subscription of the selected endpoint or failure.
func (h *Screen) openSubscription() tea.Cmd {
	queue, ok := h.selectedQueue()
	if !ok {
		h.Host.Notify(ui.Info, "select an endpoint or a failure first")
		return nil
	}
	return h.Host.Open(ui.SubscriptionTarget{Queue: queue})
}

// selectedQueue returns the queue of the selected entry, false if it has none.
func (h *Screen) selectedQueue() (wire.Queue, bool) {
	id := ""
	if groups := h.shownGroups(); h.SelectedIndex < len(groups) {
		id = groups[h.SelectedIndex].SubscriptionID
	} else if i := h.SelectedIndex - len(h.fixedEntries()); i >= 0 && i < len(h.shownFailures()) {
		id = h.Failures[i].SubscriptionID
	}
	queue, ok := h.Session.Queues.Known[id]
	return queue, ok
}

// selectEntry selects the entry at an index, limited to the entries.
func (h *Screen) selectEntry(i int) {
	all := h.Entries()
	h.SelectedIndex = max(0, min(i, len(all)-1))
	if len(all) > 0 {
		h.SelectedKey = all[h.SelectedIndex].Key
	}
}

// RestoreSelection selects the same entry after a refresh. It selects the first
// entry until the user has moved.
func (h *Screen) RestoreSelection() {
	all := h.Entries()
	if i := slices.IndexFunc(all, func(e entry) bool { return e.Key == h.SelectedKey }); i >= 0 {
		h.SelectedIndex = i
		return
	}
	h.SelectedIndex = max(0, min(h.SelectedIndex, len(all)-1))
	if h.SelectedKey == "" {
		h.SelectedIndex = 0
	}
}

// heightAround returns the number of lines of all but the groups and the recent failures.
func (h *Screen) heightAround() int {
	c, n := chart{height: h.Height}, 3+2*len(h.space()) // titles of chart and groups, and the numbers of messages
	if h.Height >= lowHeight {
		n++
	}
	for _, part := range []int{len(h.Lagging), len(h.visibleViews())} {
		if part > 0 {
			n += len(h.space()) + 1 + part
		}
	}
	return n + c.rows() + c.failedRows()
}

// recentLines is the height of the recent failures with their title, if there are many
// groups.
const recentLines = 5

// shownGroups returns the groups that fit.
func (h *Screen) shownGroups() []Group {
	return h.Groups[:min(len(h.Groups), max(1, h.Height-h.heightAround()-recentLines))]
}

// shownFailures returns the failures that fit below the groups.
func (h *Screen) shownFailures() []wire.Message {
	if h.Stats == nil {
		return nil
	}
	const titles = 2 // of the failures, and the blank line before it
	return h.Failures[:max(0, min(len(h.Failures), h.Height-h.heightAround()-max(1, len(h.shownGroups()))-titles))]
}
