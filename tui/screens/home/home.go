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
	err           error  // of the last request
	SelectedIndex int    // index of the selected entry
	SelectedKey   string // key of the selected entry
	views         viewCounts
}

// New returns the screen.
func New(h ui.Host) *Screen {
	b := ui.NewBase(h)
	return &Screen{Base: b, views: viewCounts{session: b.Session}}
}

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
	return tea.Batch(ui.Fetch(h.Ctx, h, fetchOverview, h.OnFetched), h.views.update(h.Ctx, h))
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
	if !h.Session.MayPoll() || h.Busy || h.Host.Front() != ui.Screen(h) {
		return nil
	}
	maxAge := maxStatsAge
	if h.due {
		maxAge = ui.PollInterval
	}
	if h.Session.Now.Sub(h.RequestedAt) < maxAge {
		return nil
	}
	return h.Poll()
}

// OnFetched shows the fetched overview.
func (h *Screen) OnFetched(fetched Overview, err error) tea.Cmd {
	h.Busy = false
	h.err = err
	if err != nil {
		return nil // View shows it
	}
	h.Overview = fetched
	padSeries(&h.Stats.Minutes)
	h.Session.Queues.Update(h.Stats, h.Session.Now)
	h.RestoreSelection()
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
		entries := h.Entries()
		if h.SelectedIndex < len(entries) {
			return entries[h.SelectedIndex].open()
		}
	}
	return nil
}

func (h *Screen) Status() string {
	if h.Stats == nil {
		return ""
	}
	subscriptions := display.Count(h.Stats.Subscriptions, "subscription", "subscriptions")
	daemons := display.Count(h.Stats.Daemons, "daemon", "daemons")
	return fmt.Sprintf("%s, %d disabled   %d in flight   %s",
		subscriptions, h.Stats.Disabled, h.Stats.InHand.InFlight, daemons)
}

func (h *Screen) View() string {
	var lines []string
	switch {
	case h.Stats != nil:
		lines = h.dashboard()
	case h.err != nil:
		lines = h.errorLines()
	default:
		lines = h.fitLines("  Deliveries " + strings.Repeat(h.Session.Theme.Loading, 3))
	}
	return strings.Join(h.fill(lines, h.Height), "\n")
}

// fill returns height lines, of which the last ones are blank.
func (h *Screen) fill(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, theme.Spaces(h.Width))
	}
	return lines[:height]
}

// Panels returns the parts of the overview below each other. The last one has the rest of the
// screen.
func (h *Screen) Panels() []theme.Panel {
	if h.Stats == nil {
		lines := strings.Split(h.View(), "\n")
		return []theme.Panel{{Width: h.Width, Height: h.Height, Focused: true, Lines: lines}}
	}
	var panels []theme.Panel
	y := 0
	sections := h.sections()
	for i, p := range sections {
		height := min(len(p.lines), h.Height-y)
		if i == len(sections)-1 {
			height = h.Height - y
		}
		if height <= 0 {
			break
		}
		panels = append(panels, theme.Panel{
			Y:       y,
			Width:   h.Width,
			Height:  height,
			Title:   []theme.Span{{Text: p.title, Role: p.titleRole()}},
			Note:    p.note,
			Focused: p.hasSelection,
			Lines:   h.fill(p.lines, height),
		})
		y += height + 1
	}
	return panels
}

// errorLines draws why there is no overview, and how the user can change that.
func (h *Screen) errorLines() []string {
	key := keymap.KeyFor(keymap.Everywhere, keymap.Refresh)
	if ui.SignedOut(h.err) {
		return h.fitLines("  You are not signed in.", "", "  "+key+" or :login to sign in.")
	}
	if client.Is(h.err, client.Unauthorized) {
		lines := h.fitLines("  Deliveries require the admin role.", "", "  Press 2 for records.", "")
		if views := h.viewLines(0); len(views) > 0 {
			lines = append(lines, h.Session.Theme.Paint(theme.Breadcrumb, h.Session.Theme.Fit(" Saved views", h.Width, false)))
			lines = append(lines, views...)
		}
		return lines
	}
	return h.fitLines("  "+ui.Describe(h.err), "", "  "+key+" retries, :records shows records.")
}

// fitLines draws a line for each text.
func (h *Screen) fitLines(texts ...string) []string {
	return record.Texts(texts, func(text string) string { return h.Session.Theme.Fit(text, h.Width, false) })
}

// section is a part of the overview.
type section struct {
	title        string
	note         []theme.Span
	lines        []string
	hasSelection bool // one of its entries is selected
}

// titleRole returns the role of the title.
func (p section) titleRole() theme.Role {
	if p.hasSelection {
		return theme.Title
	}
	return theme.Breadcrumb
}

// sections returns the parts that are not empty.
func (h *Screen) sections() []section {
	c := chart{session: h.Session, stats: h.Stats, failures: h.Failures, width: h.Width, height: h.Height}
	bars := c.bars()
	if h.Height >= lowHeight {
		bars = append(bars, c.hours())
	}
	groups := len(h.shownGroups())
	fixed := len(h.fixedEntries())
	failures := len(h.shownFailures())
	all := []section{
		{title: "Messages per minute", note: c.rate(), lines: bars},
		{title: "Messages", lines: []string{h.statusCounts()}},
		{title: h.groupTitle(), lines: h.groupLines(), hasSelection: h.selects(0, groups)},
		{
			title:        "Changes are late",
			lines:        h.captureLines(groups),
			hasSelection: h.selects(groups, groups+len(h.Lagging)),
		},
		{
			title:        "Saved views",
			lines:        h.viewLines(groups + len(h.Lagging)),
			hasSelection: h.selects(groups+len(h.Lagging), fixed),
		},
		{title: "Recent failures", lines: h.recent(), hasSelection: h.selects(fixed, fixed+failures)},
	}
	return slices.DeleteFunc(all, func(p section) bool { return len(p.lines) == 0 })
}

// selects reports whether the selected entry is one of those from an index to another.
func (h *Screen) selects(from, to int) bool { return from <= h.SelectedIndex && h.SelectedIndex < to }

// dashboard draws the loaded overview without frames.
func (h *Screen) dashboard() []string {
	var lines []string
	for _, p := range h.sections() {
		if p.title != "Messages" { // the numbers have labels
			title := []theme.Span{{Text: " " + p.title, Role: theme.Breadcrumb}}
			lines = append(lines, h.Session.Theme.Compose(h.Width, title, p.note))
		}
		lines = append(lines, p.lines...)
	}
	return lines
}

// lowHeight is the height of the screen from which it has the time axis.
const lowHeight = 12

// entry is an item of the first screen that can be opened.
type entry struct {
	Key  string // identifies the entry after a refresh
	open func() tea.Cmd
}

// Entries returns groups of failures, captures, saved views and recent failures in the order of
// their lines.
func (h *Screen) Entries() []entry {
	entries := h.fixedEntries()
	for _, m := range h.shownFailures() {
		target := ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m}
		entries = append(entries, entry{
			Key:  "message " + m.MessageID,
			open: func() tea.Cmd { return h.Host.Open(target) },
		})
	}
	return entries
}

// fixedEntries returns the entries above the recent failures.
func (h *Screen) fixedEntries() []entry {
	var entries []entry
	for _, g := range h.shownGroups() {
		entries = append(entries, entry{
			Key: "group " + g.SubscriptionID + " " + g.Result,
			open: func() tea.Cmd {
				event := h.Session.Queues.Known[g.SubscriptionID].EventName
				return h.Host.Open(ui.MessagesTarget{MessageFilter: g.filter(event)})
			},
		})
	}
	for _, c := range h.Lagging {
		entries = append(entries, entry{
			Key:  "capture " + c.Kind,
			open: func() tea.Cmd { return h.openChanges(c.Kind) },
		})
	}
	for _, v := range h.visibleViews() {
		entries = append(entries, entry{
			Key:  "view " + v.Name,
			open: func() tea.Cmd { return h.Host.Open(ui.ViewTarget{View: v}) },
		})
	}
	return entries
}

// openChanges opens the changes of a kind, unless it no longer exists.
func (h *Screen) openChanges(name string) tea.Cmd {
	kind, ok := h.Session.Registry.Lookup(name)
	if !ok {
		return nil
	}
	return h.Host.Open(ui.ChangesTarget{Kind: kind})
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
	queue, ok := h.Session.Queues.Known[h.selectedSubscription()]
	return queue, ok
}

// selectedSubscription returns the SubscriptionID of the selected group or failure, empty for
// other entries.
func (h *Screen) selectedSubscription() string {
	groups := h.shownGroups()
	if h.SelectedIndex < len(groups) {
		return groups[h.SelectedIndex].SubscriptionID
	}
	failures := h.shownFailures()
	i := h.SelectedIndex - len(h.fixedEntries())
	if i >= 0 && i < len(failures) {
		return failures[i].SubscriptionID
	}
	return ""
}

// selectEntry selects the entry at an index, limited to the entries.
func (h *Screen) selectEntry(i int) {
	entries := h.Entries()
	h.SelectedIndex = max(0, min(i, len(entries)-1))
	if len(entries) > 0 {
		h.SelectedKey = entries[h.SelectedIndex].Key
	}
}

// RestoreSelection selects the same entry after a refresh. It selects the first
// entry until the user has moved.
func (h *Screen) RestoreSelection() {
	entries := h.Entries()
	i := slices.IndexFunc(entries, func(e entry) bool { return e.Key == h.SelectedKey })
	if i >= 0 {
		h.SelectedIndex = i
		return
	}
	h.SelectedIndex = max(0, min(h.SelectedIndex, len(entries)-1))
	if h.SelectedKey == "" {
		h.SelectedIndex = 0
	}
}

// heightAround returns the number of lines of all parts but the groups and the recent failures,
// with one line for each title.
func (h *Screen) heightAround() int {
	c := chart{height: h.Height}
	lines := c.rows() + c.failedRows()
	if h.Height >= lowHeight {
		lines++
	}
	lines += 2 // numbers of messages
	lines += 2 // title of the groups, and those of their columns
	for _, entries := range []int{len(h.Lagging), len(h.visibleViews())} {
		if entries > 0 {
			lines += 1 + entries
		}
	}
	return lines
}

// recentLines is the height of the recent failures with their title, if there are many
// groups.
const recentLines = 4

// shownGroups returns the groups that fit.
func (h *Screen) shownGroups() []Group {
	room := max(1, h.Height-h.heightAround()-recentLines)
	return h.Groups[:min(len(h.Groups), room)]
}

// shownFailures returns the failures that fit below the groups.
func (h *Screen) shownFailures() []wire.Message {
	if h.Stats == nil {
		return nil
	}
	const head = 1                             // the title
	groupLines := max(1, len(h.shownGroups())) // "none" without groups
	room := max(0, h.Height-h.heightAround()-groupLines-head)
	return h.Failures[:min(len(h.Failures), room)]
}
